//! Networks of switches that put rows into any order (Beauquier and Darrot, "On arbitrary size Waksman networks and their
//! vulnerability", Parallel Processing Letters 2002; Waksman, JACM 1968).
//!
//! A switch lets two rows pass straight or crossed. A network of n > 2 rows has a column of floor(n/2) switches, which send one row
//! of each pair to an upper network of floor(n/2) rows and the other one to a lower network of all other rows, and a column that
//! takes a row of each of both. An odd row passes through the lower network alone; of an even number of rows the last pair needs no
//! switch behind. So n rows take the sum of ceil(log2 i) over all i up to n, which is n log2 n - 1.1 n or less.
//!
//! Switches are numbered in the order in which a [`Walk`] comes by: the column in front, the upper network, the lower one, the
//! column behind. Smaller networks thus lie next to each other in memory and in messages.

use madrigal_core::Zeroizing;

/// Number of switches for this many rows.
pub(super) const fn switches(rows: usize) -> usize {
    if rows < 2 {
        return 0;
    }
    let columns = (rows - 1).ilog2() as usize + 1;
    rows * columns + 1 - (1 << columns)
}

/// Switches of the column behind, for this many rows.
const fn behind(rows: usize) -> usize {
    rows.div_ceil(2) - 1
}

/// Finds the switches that put rows into an order, which gives the old place of each row: a byte for each switch, 1 if crossed.
///
/// Memory is indexed by the order: who watches the caches of the party that knows it may learn it.
pub(super) fn route(order: &[u32]) -> Zeroizing<Vec<u8>> {
    let mut crossed = Zeroizing::zeros(switches(order.len()));
    route_into(order, &mut crossed);
    crossed
}

/// A place that nothing is known of yet.
const OPEN: u32 = u32::MAX;

fn route_into(order: &[u32], crossed: &mut [u8]) {
    let rows = order.len();
    if rows < 2 {
        return;
    }
    let half = rows / 2;
    let mut new_place: Zeroizing<Vec<u32>> = Zeroizing::zeros(rows);
    for (new, &old) in (0..).zip(order) {
        new_place[old as usize] = new;
    }
    let mut upper: Zeroizing<Vec<u32>> = Zeroizing::new(vec![OPEN; half]);
    let mut lower: Zeroizing<Vec<u32>> = Zeroizing::new(vec![OPEN; rows - half]);
    let (front, rest) = crossed.split_at_mut(half);
    let (inner_upper, rest) = rest.split_at_mut(switches(half));
    let (inner_lower, back) = rest.split_at_mut(switches(rows - half));

    // The last row comes out of the lower network. Then each row that does settles the way of the one beside it in front, and that
    // one of the one beside it behind, until the circle closes, or the chain ends at an odd row.
    for first in (0..rows - half).rev() {
        if lower[first] != OPEN {
            continue;
        }
        let start = (2 * first + 1).min(rows - 1);
        let mut new = start;
        loop {
            let old = order[new] as usize;
            lower[new / 2] = old as u32 / 2;
            if let Some(back) = back.get_mut(new / 2) {
                *back = u8::from(new.is_multiple_of(2));
            }
            let Some(front) = front.get_mut(old / 2) else {
                break;
            };
            *front = u8::from(old.is_multiple_of(2));
            let beside = old ^ 1;
            let to = new_place[beside] as usize;
            upper[to / 2] = beside as u32 / 2;
            new = to ^ 1;
            if new == start {
                break;
            }
        }
    }
    drop(new_place);
    route_into(&upper, inner_upper);
    drop(upper);
    route_into(&lower, inner_lower);
}

/// A part of a network that is still to be gone through.
#[derive(Clone, Copy)]
struct Task {
    what: What,
    /// First row.
    start: usize,
    rows: usize,
    /// Networks around it.
    depth: usize,
}

#[derive(Clone, Copy)]
enum What {
    Network,
    Front,
    Back,
}

/// Rows of some bytes on their way through a network, switch by switch. Wiped when dropped.
pub(super) struct Walk {
    width: usize,
    /// Networks of even depth have their rows in the first, the columns between write to the other one.
    rows: [Zeroizing<Vec<u8>>; 2],
    tasks: Vec<Task>,
    /// Switches of the task at hand that are done.
    at: usize,
}

/// Function that does a switch, by its number: of two rows it makes two.
pub(super) trait Switch: FnMut(usize, [&[u8]; 2], [&mut [u8]; 2]) {}

impl<F: FnMut(usize, [&[u8]; 2], [&mut [u8]; 2])> Switch for F {}

impl Walk {
    /// Begins with this many rows of `width` bytes each, one after the other.
    pub(super) fn new(number: usize, width: usize, rows: Zeroizing<Vec<u8>>) -> Self {
        assert_eq!(rows.len(), number * width, "bytes of rows");
        let whole = Task {
            what: What::Network,
            start: 0,
            rows: number,
            depth: 0,
        };
        let other = Zeroizing::zeros(rows.len());
        Self {
            width,
            rows: [rows, other],
            tasks: vec![whole],
            at: 0,
        }
    }

    /// Gives the rows behind the last switch.
    pub(super) fn finish(self) -> Zeroizing<Vec<u8>> {
        let [rows, _] = self.rows;
        rows
    }

    /// Goes through the next `count` switches, which get the numbers from 0 on.
    ///
    /// # Panics
    /// If there are fewer.
    pub(super) fn advance(&mut self, count: usize, mut switch: impl Switch) {
        let mut done = 0;
        while let Some(&task) = self.tasks.last() {
            let number = match task.what {
                What::Network => {
                    self.enter(task);
                    continue;
                }
                What::Front => task.rows / 2,
                What::Back => behind(task.rows),
            };
            let next = self.at..number.min(self.at + count - done);
            if next.is_empty() && self.at < number {
                break;
            }
            let each = next.clone().zip(done..);
            match task.what {
                What::Back => self.back(task, each, &mut switch),
                _ => self.front(task, each, &mut switch),
            }
            done += next.len();
            self.at = next.end;
            if self.at == number {
                self.pass(task);
                self.tasks.pop();
                self.at = 0;
            }
        }
        assert_eq!(done, count, "switches are left");
    }

    /// Puts the parts of a network in its place.
    fn enter(&mut self, task: Task) {
        self.tasks.pop();
        let (rows, half) = (task.rows, task.rows / 2);
        if rows < 2 {
            return;
        }
        let inner = |start, rows| Task {
            what: What::Network,
            start: task.start + start,
            rows,
            depth: task.depth + 1,
        };
        let column = |what| Task { what, ..task };
        self.tasks.extend([
            column(What::Back),
            inner(half, rows - half),
            inner(0, half),
            column(What::Front),
        ]);
    }

    /// The rows of a network, as they are outside and inside its columns.
    fn sides(&mut self, task: Task) -> [&mut [u8]; 2] {
        let bytes = task.start * self.width..(task.start + task.rows) * self.width;
        let [even, odd] = &mut self.rows;
        let (even, odd) = (&mut even[bytes.clone()], &mut odd[bytes]);
        match task.depth.is_multiple_of(2) {
            true => [even, odd],
            false => [odd, even],
        }
    }

    /// Does switches of a column in front.
    fn front(
        &mut self,
        task: Task,
        each: impl Iterator<Item = (usize, usize)>,
        switch: &mut impl Switch,
    ) {
        let width = self.width;
        let [outside, inside] = self.sides(task);
        let (upper, lower) = inside.split_at_mut(task.rows / 2 * width);
        for (at, number) in each {
            let pair = &outside[2 * at * width..][..2 * width];
            let to = [&mut *upper, &mut *lower].map(|rows| &mut rows[at * width..][..width]);
            switch(number, pair.split_at(width).into(), to);
        }
    }

    /// Does switches of a column behind.
    fn back(
        &mut self,
        task: Task,
        each: impl Iterator<Item = (usize, usize)>,
        switch: &mut impl Switch,
    ) {
        let width = self.width;
        let [outside, inside] = self.sides(task);
        let (upper, lower) = inside.split_at(task.rows / 2 * width);
        for (at, number) in each {
            let from = [upper, lower].map(|rows| &rows[at * width..][..width]);
            let pair = &mut outside[2 * at * width..][..2 * width];
            switch(number, from, pair.split_at_mut(width).into());
        }
    }

    /// Moves the rows that go past a column.
    fn pass(&mut self, task: Task) {
        let width = self.width;
        let (rows, half) = (task.rows, task.rows / 2);
        let [outside, inside] = self.sides(task);
        let last = (rows - 1) * width;
        match task.what {
            What::Back => {
                if rows.is_multiple_of(2) {
                    let upper = &inside[(half - 1) * width..half * width];
                    outside[last - width..last].copy_from_slice(upper);
                }
                outside[last..].copy_from_slice(&inside[last..]);
            }
            _ if !rows.is_multiple_of(2) => inside[last..].copy_from_slice(&outside[last..]),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows behind a network of switches, gone through in pieces of this length.
    fn through(crossed: &[u8], rows: &[u32], piece: usize) -> Vec<u32> {
        let bytes: Vec<u8> = rows.iter().flat_map(|row| row.to_le_bytes()).collect();
        let mut walk = Walk::new(rows.len(), 4, bytes.into());
        for crossed in crossed.chunks(piece) {
            walk.advance(crossed.len(), |number, from, to| {
                let swap = usize::from(crossed[number]);
                for (place, to) in to.into_iter().enumerate() {
                    to.copy_from_slice(from[place ^ swap]);
                }
            });
        }
        walk.advance(0, |_, _, _| panic!("no switch is left"));
        let bytes = walk.finish();
        let rows = bytes.chunks_exact(4);
        rows.map(|row| u32::from_le_bytes([row[0], row[1], row[2], row[3]]))
            .collect()
    }

    fn is_routed(order: &[u32], piece: usize) {
        let crossed = route(order);
        let rows: Vec<u32> = (0..order.len() as u32).map(|row| row + 1000).collect();
        let expected: Vec<u32> = order.iter().map(|&old| rows[old as usize]).collect();
        assert_eq!(through(&crossed, &rows, piece), expected, "{order:?}");
    }

    /// All orders of few rows, whatever the pieces.
    #[test]
    fn every_order_has_its_switches() {
        fn all(order: &mut Vec<u32>, from: usize) {
            if from == order.len() {
                for piece in [1, 2, 3, 100] {
                    is_routed(order, piece);
                }
            }
            for other in from..order.len() {
                order.swap(from, other);
                all(order, from + 1);
                order.swap(from, other);
            }
        }
        for rows in 0..8 {
            all(&mut (0..rows).collect(), 0);
        }
    }

    #[test]
    fn orders_of_many_rows_have_theirs() {
        for rows in [
            8_u32, 9, 15, 16, 17, 31, 64, 65, 100, 1000, 1023, 1024, 1025,
        ] {
            let steps = (1..rows).filter(|step| {
                let (mut a, mut b) = (*step, rows);
                while b > 0 {
                    (a, b) = (b, a % b);
                }
                a == 1
            });
            for step in steps.take(4) {
                let order: Vec<u32> = (0..rows).map(|row| (row * step + 3) % rows).collect();
                is_routed(&order, 7);
            }
            is_routed(&(0..rows).rev().collect::<Vec<_>>(), 64);
        }
    }

    #[test]
    fn the_number_of_switches_is_that_of_the_columns() {
        let mut sum = 0;
        for rows in 2..3000_usize {
            sum += (rows - 1).ilog2() as usize + 1;
            let inner = switches(rows / 2) + switches(rows.div_ceil(2));
            assert_eq!(switches(rows), rows / 2 + inner + behind(rows), "{rows}");
            assert_eq!(switches(rows), sum);
        }
        assert_eq!([0, 1, 2, 3, 4].map(switches), [0, 0, 1, 3, 5]);
    }
}
