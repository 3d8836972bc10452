//! Smallest vertex cuts.

use std::collections::VecDeque;

/// An edge to this vertex, and how much more may flow; the edge back is its neighbour, `index ^ 1`.
#[derive(Debug, Clone, Copy)]
struct Edge {
    to: u32,
    left: u32,
}

const WITHOUT_LIMIT: u32 = u32::MAX / 2;
const SOURCE: usize = 0;
const SINK: usize = 1;

/// A graph whose vertices are to be separated: sources from what is wanted.
///
/// Each vertex is two here with an edge of one unit between them, so that a flow passes it once; the largest flow is
/// as large as the smallest cut (Menger). Dinic's algorithm, whose phases are of the order of the
/// square root of the vertices at most where all limits are one (Even and Tarjan 1975).
pub(super) struct Separation {
    edges: Vec<Edge>,
    /// Edges of each vertex.
    of: Vec<Vec<u32>>,
}

impl Separation {
    /// Makes `vertices` vertices, without edges.
    pub(super) fn new(vertices: usize) -> Self {
        let mut graph = Self {
            edges: Vec::new(),
            of: vec![Vec::new(); 2 + 2 * vertices],
        };
        for vertex in 0..vertices {
            graph.edge(Self::enter(vertex), Self::leave(vertex), 1);
        }
        graph
    }

    const fn enter(vertex: usize) -> usize {
        2 + 2 * vertex
    }

    const fn leave(vertex: usize) -> usize {
        3 + 2 * vertex
    }

    fn edge(&mut self, from: usize, to: usize, limit: u32) {
        for (at, edge) in [(from, (to, limit)), (to, (from, 0))] {
            let (to, left) = edge;
            self.of[at].push(self.edges.len() as u32);
            self.edges.push(Edge {
                to: to as u32,
                left,
            });
        }
    }

    pub(super) fn source(&mut self, vertex: usize) {
        self.edge(SOURCE, Self::enter(vertex), WITHOUT_LIMIT);
    }

    pub(super) fn wanted(&mut self, vertex: usize) {
        self.edge(Self::leave(vertex), SINK, WITHOUT_LIMIT);
    }

    /// `to` is made of `from`.
    pub(super) fn arrow(&mut self, from: usize, to: usize) {
        self.edge(Self::leave(from), Self::enter(to), WITHOUT_LIMIT);
    }

    /// Gives the fewest vertices such that each way from a source to what is wanted passes one; of all such sets the
    /// one nearest to what is wanted. Ascending.
    pub(super) fn cut(mut self) -> Vec<usize> {
        while let Some(distance) = self.distances() {
            let mut next = vec![0; self.of.len()];
            while self.path(&distance, &mut next) {}
        }
        let reaches = self.reaches_sink();
        let vertices = 0..(self.of.len() - 2) / 2;
        vertices
            .filter(|&vertex| !reaches[Self::enter(vertex)] && reaches[Self::leave(vertex)])
            .collect()
    }

    /// Computes distances from the source, over edges that have something left; none if the sink is not reached.
    fn distances(&self) -> Option<Vec<u32>> {
        let mut distance = vec![u32::MAX; self.of.len()];
        distance[SOURCE] = 0;
        let mut queue = VecDeque::from([SOURCE]);
        while let Some(at) = queue.pop_front() {
            for &edge in &self.of[at] {
                let Edge { to, left } = self.edges[edge as usize];
                if left > 0 && distance[to as usize] == u32::MAX {
                    distance[to as usize] = distance[at] + 1;
                    queue.push_back(to as usize);
                }
            }
        }
        (distance[SINK] != u32::MAX).then_some(distance)
    }

    /// One unit more along a shortest path, if there is one left. `next`: of each vertex the first edge that may
    /// lead on.
    fn path(&mut self, distance: &[u32], next: &mut [usize]) -> bool {
        let mut path: Vec<u32> = Vec::new();
        let mut at = SOURCE;
        while at != SINK {
            let on = self.of[at][next[at]..].iter().position(|&edge| {
                let Edge { to, left } = self.edges[edge as usize];
                left > 0 && distance[to as usize] == distance[at] + 1
            });
            if let Some(skipped) = on {
                next[at] += skipped;
                let edge = self.of[at][next[at]];
                path.push(edge);
                at = self.edges[edge as usize].to as usize;
            } else {
                // Nothing leads on from here: back, and not here again.
                next[at] = self.of[at].len();
                let Some(edge) = path.pop() else {
                    return false;
                };
                at = self.edges[edge as usize ^ 1].to as usize;
                next[at] += 1;
            }
        }
        for edge in path {
            self.edges[edge as usize].left -= 1;
            self.edges[edge as usize ^ 1].left += 1;
        }
        true
    }

    fn reaches_sink(&self) -> Vec<bool> {
        let mut reaches = vec![false; self.of.len()];
        reaches[SINK] = true;
        let mut open = vec![SINK];
        while let Some(at) = open.pop() {
            for &edge in &self.of[at] {
                let from = self.edges[edge as usize].to as usize;
                if !reaches[from] && self.edges[edge as usize ^ 1].left > 0 {
                    reaches[from] = true;
                    open.push(from);
                }
            }
        }
        reaches
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Vertices that are made of others, sources, what is wanted.
    fn separation(arrows: &[(usize, usize)], sources: usize, wanted: &[usize]) -> Vec<usize> {
        let vertices = arrows.iter().map(|&(_, to)| to + 1).max().unwrap();
        let mut graph = Separation::new(vertices.max(sources));
        (0..sources).for_each(|vertex| graph.source(vertex));
        arrows.iter().for_each(|&(from, to)| graph.arrow(from, to));
        wanted.iter().for_each(|&vertex| graph.wanted(vertex));
        graph.cut()
    }

    #[test]
    fn the_nearest_of_the_smallest_cuts() {
        // Three sources, of which two sums are wanted.
        let sums = [(0, 3), (1, 3), (1, 4), (2, 4)];
        assert_eq!(separation(&sums, 3, &[3, 4]), [3, 4]);
        // One of them once more: three now.
        assert_eq!(separation(&sums, 3, &[1, 3, 4]), [1, 3, 4]);
        // All that is wanted comes through one vertex.
        let neck = [(0, 2), (1, 2), (2, 3), (2, 4)];
        assert_eq!(separation(&neck, 2, &[3, 4]), [2]);
        // A source that nobody wants.
        assert_eq!(separation(&sums, 3, &[3]), [3]);
        // A flow that must be led another way: 0 to 3 and 1 to 2.
        let crossed = [(0, 2), (0, 3), (1, 2)];
        assert_eq!(separation(&crossed, 2, &[2, 3]), [2, 3]);
    }

    proptest::proptest! {
        #[test]
        fn cuts_are_as_small_as_can_be(
            sources in 1_usize..5,
            operands in proptest::collection::vec(0_usize..1000, 2..16),
            wanted in 0_usize..1 << 12,
        ) {
            let vertices = sources + operands.len().div_ceil(2);
            let operand = |(i, from): (usize, &usize)| {
                let to = sources + i / 2;
                (from % to, to)
            };
            let arrows: Vec<_> = operands.iter().enumerate().map(operand).collect();
            let wanted: Vec<usize> = (0..vertices).filter(|v| wanted >> v & 1 == 1).collect();
            let separates = |cut: usize| {
                let mut open: Vec<bool> = (0..vertices).map(|v| v < sources).collect();
                for to in 0..vertices {
                    let made = arrows.iter().any(|&(from, sum)| sum == to && open[from]);
                    open[to] = (open[to] || made) && cut >> to & 1 == 0;
                }
                wanted.iter().all(|&vertex| !open[vertex])
            };
            let cut = separation(&arrows, sources, &wanted);
            proptest::prop_assert!(separates(cut.iter().map(|&vertex| 1 << vertex).sum()));
            let smallest = (0..1 << vertices).filter(|&cut| separates(cut));
            let smallest = smallest.map(usize::count_ones).min();
            proptest::prop_assert_eq!(Some(cut.len() as u32), smallest);
        }
    }
}
