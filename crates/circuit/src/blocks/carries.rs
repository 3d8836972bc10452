//! The carry out of a sum: one after the other, or by the best network.

use super::same_width;
use crate::builder::{Builder, Goal, Wire};
use crate::networks::{CarryBit, Passing, carry_network};

impl Builder {
    /// The carry of `a + b + carry`. For size an AND a bit, in a chain; for depth log2(width + 1) ANDs in a
    /// row, and 2.1 to 2.5 a bit in all.
    pub(super) fn carry_out(&mut self, a: &[Wire], b: &[Wire], carry: Wire) -> Wire {
        same_width(a, b);
        match (self.goal(), a.len()) {
            (_, 0) => carry,
            (Goal::Size, _) => {
                let bits = a.iter().zip(b);
                bits.fold(carry, |carry, (&a, &b)| self.majority(b, carry, a))
            }
            (Goal::Depth, width) => self.network(a, b, carry, &[width])[0],
        }
    }

    /// The carry of `a + b` out of its lowest `at` bits, at least one, and out of all of them. For size as
    /// many ANDs as bits, in a chain; for depth in as few layers as the second one takes, the first being a
    /// part of it where that is fewer ANDs than both by themselves.
    ///
    /// # Panics
    /// If there are not as many bits.
    pub fn carries(&mut self, a: &[Wire], b: &[Wire], at: usize) -> [Wire; 2] {
        same_width(a, b);
        assert!((1..=a.len()).contains(&at), "{at} of {} bits", a.len());
        let none = self.constant(false);
        match self.goal() {
            Goal::Size => {
                let low = self.carry_out(&a[..at], &b[..at], none);
                [low, self.carry_out(&a[at..], &b[at..], low)]
            }
            Goal::Depth => {
                let carries = self.network(a, b, none, &[at, a.len()]);
                [carries[0], carries[1]]
            }
        }
    }

    /// Makes the carries out of the lowest `end` bits, for each of `ends`.
    fn network(&mut self, a: &[Wire], b: &[Wire], carry: Wire, ends: &[usize]) -> Vec<Wire> {
        let network = carry_network(ends);
        let mut made: Vec<Wire> = Vec::with_capacity(network.steps.len());
        for step in &network.steps {
            let wire = match step.makes {
                CarryBit::Own(bit) => self.and(a[bit], b[bit]),
                CarryBit::Majority(bit, below) => {
                    let below = below.map_or(carry, |step| made[step]);
                    self.majority(b[bit], below, a[bit])
                }
                CarryBit::Carry { own, passes, below } => {
                    // A block cannot both make a carry and pass one on.
                    let passes = self.passing(a, b, passes, &made);
                    let passed = self.and(passes, made[below]);
                    self.xor(made[own], passed)
                }
                CarryBit::Passing(upper, lower) => {
                    let [upper, lower] =
                        [upper, lower].map(|passes| self.passing(a, b, passes, &made));
                    self.and(upper, lower)
                }
            };
            made.push(wire);
        }
        network.carries.iter().map(|&step| made[step]).collect()
    }

    fn passing(&mut self, a: &[Wire], b: &[Wire], passes: Passing, made: &[Wire]) -> Wire {
        match passes {
            Passing::Bit(bit) => self.xor(a[bit], b[bit]),
            Passing::Step(step) => made[step],
        }
    }
}
