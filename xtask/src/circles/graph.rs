//! Circles of a graph: nodes that reach themselves.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The nodes that each node points to.
pub(crate) type Graph = BTreeMap<usize, BTreeSet<usize>>;

/// The strongly connected components of more than one node, the smallest first.
pub(crate) fn components(graph: &Graph) -> Vec<BTreeSet<usize>> {
    let mut left: BTreeSet<usize> = graph.keys().copied().collect();
    let mut found = Vec::new();
    let reach: BTreeMap<usize, BTreeSet<usize>> = left
        .iter()
        .map(|&node| (node, reached(graph, node)))
        .collect();
    while let Some(node) = left.pop_first() {
        let back = |other: &usize| reach.get(other).is_some_and(|of| of.contains(&node));
        let mut component: BTreeSet<usize> = reach[&node].iter().copied().filter(back).collect();
        component.insert(node);
        left.retain(|node| !component.contains(node));
        if component.len() > 1 {
            found.push(component);
        }
    }
    found.sort_by_key(BTreeSet::len);
    found
}

fn reached(graph: &Graph, from: usize) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut open = vec![from];
    while let Some(node) = open.pop() {
        for &next in graph.get(&node).into_iter().flatten() {
            if found.insert(next) {
                open.push(next);
            }
        }
    }
    found
}

/// The shortest cycle through each arrow of a component, the shortest first, each told once.
pub(crate) fn cycles(graph: &Graph, component: &BTreeSet<usize>) -> Vec<Vec<usize>> {
    let mut found = BTreeSet::new();
    for &from in component {
        for &to in graph.get(&from).into_iter().flatten() {
            if let Some(mut cycle) = way(graph, component, to, from) {
                let least = (0..cycle.len()).min_by_key(|&at| cycle[at]);
                cycle.rotate_left(least.unwrap_or_default());
                found.insert((cycle.len(), cycle));
            }
        }
    }
    found.into_iter().map(|(_, cycle)| cycle).collect()
}

/// The shortest way inside a component, with both of its ends.
fn way(graph: &Graph, inside: &BTreeSet<usize>, from: usize, to: usize) -> Option<Vec<usize>> {
    let mut before = BTreeMap::from([(from, from)]);
    let mut open = VecDeque::from([from]);
    while let Some(node) = open.pop_front() {
        if node == to {
            let mut way = vec![to];
            let mut at = to;
            while at != from {
                at = before[&at];
                way.push(at);
            }
            way.reverse();
            return Some(way);
        }
        for &next in graph.get(&node).into_iter().flatten() {
            if inside.contains(&next) && !before.contains_key(&next) {
                before.insert(next, node);
                open.push_back(next);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(arrows: &[(usize, usize)]) -> Graph {
        let mut graph = Graph::new();
        for &(from, to) in arrows {
            graph.entry(from).or_default().insert(to);
            graph.entry(to).or_default();
        }
        graph
    }

    #[test]
    fn a_line_has_no_circle() {
        assert!(components(&graph(&[(0, 1), (1, 2), (0, 2)])).is_empty());
    }

    #[test]
    fn circles_come_by_size_and_their_cycles_by_length() {
        let graph = graph(&[(0, 1), (1, 2), (2, 0), (2, 1), (3, 4), (4, 3), (4, 0)]);
        let components = components(&graph);
        assert_eq!(components, [[3, 4].into(), BTreeSet::from([0, 1, 2])]);
        assert_eq!(cycles(&graph, &components[0]), [vec![3, 4]]);
        assert_eq!(cycles(&graph, &components[1]), [vec![1, 2], vec![0, 1, 2]]);
    }
}
