//! Sorting networks: which two places are compared, whatever the values.

use crate::builder::{Builder, Wire};

/// Layers of comparators that sort `count` values, by Batcher's odd-even merging ("Sorting networks
/// and their applications", 1968): about count log2(count)^2 / 4 comparators in log2(count)
/// (log2(count) + 1) / 2 layers. A comparator (i, j) has i < j and puts the smaller value at i; those of
/// a layer touch each place once at most.
pub fn sorting_network(count: usize) -> Vec<Vec<(usize, usize)>> {
    let mut layers = Vec::new();
    let mut run = 1;
    while run < count {
        let mut distance = run;
        while distance > 0 {
            let mut layer = Vec::new();
            let first = distance % run;
            for start in (first..count.saturating_sub(distance)).step_by(2 * distance) {
                for low in start..(start + distance).min(count - distance) {
                    if low / (2 * run) == (low + distance) / (2 * run) {
                        layer.push((low, low + distance));
                    }
                }
            }
            layers.push(layer);
            distance /= 2;
        }
        run *= 2;
    }
    layers
}

impl Builder {
    /// Sorts unsigned numbers of one width, the smallest first: two ANDs for each comparator and bit.
    /// Numbers may carry others along; equal ones may change places.
    pub fn sort(&mut self, numbers: &mut [Vec<Wire>], along: &mut [Vec<Wire>]) {
        for (low, high) in sorting_network(numbers.len()).into_iter().flatten() {
            let swap = self.less(&numbers[high], &numbers[low]);
            for values in [&mut *numbers, &mut *along] {
                if let Ok([a, b]) = values.get_disjoint_mut([low, high]) {
                    (*a, *b) = self.swap_if(swap, a, b);
                }
            }
        }
    }
}
