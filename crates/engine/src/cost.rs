//! What a plan costs, by arithmetic alone.

use madrigal_core::{Cost, Party, PhaseCost};
use madrigal_protocols::Rounds;

use crate::evaluator;
use crate::plan::Plan;

impl Plan {
    /// What a party will spend, to the byte.
    pub fn cost(&self, me: Party) -> Cost {
        let parties = self.spec().parties;
        let mut costs = self.spec().origin.costs(me, parties);
        let mut setup = costs.start(&self.needs());
        let mut online = PhaseCost::default();
        let mut clock = Rounds::new(parties);
        // Parts and blocks of one length cost the same: a plan of a billion lanes is not gone through.
        for (lanes, parts) in lengths(self.spec().lanes, self.part_lanes()) {
            setup += costs.bit_triples_times(self.part_triples(&(0..lanes)), parts);
            for (block, blocks) in lengths(lanes, self.block_lanes()) {
                let one = evaluator::block_cost(self, me, block, &mut Rounds::new(parties));
                online += one.times(blocks * parts);
            }
            // The first worker has the most blocks, and rounds do not depend on their length.
            let blocks = self.blocks(0..lanes).len().div_ceil(self.workers()) as u64;
            clock.repeat(blocks * parts, |clock| {
                evaluator::block_cost(self, me, lanes, clock);
            });
        }
        online.rounds = clock.of(me);
        Cost { setup, online }
    }
}

/// The lengths of the pieces of at most `size` that `count` are cut into, and how many there are of each.
fn lengths(count: usize, size: usize) -> impl Iterator<Item = (usize, u64)> {
    let size = size.max(1);
    let all = [(size, (count / size) as u64), (count % size, 1)];
    all.into_iter()
        .filter(|&(length, times)| length > 0 && times > 0)
}
