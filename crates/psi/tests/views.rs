//! What a party receives does not depend on keys of the other one that it does not have.

use madrigal_core::Party;
use madrigal_kernels::{Block, Prg, meter};
use madrigal_net::Context;
use madrigal_testkit::seed;
use madrigal_testkit::transcripts::{must_agree, must_see_a_leak, ones_of};

use crate::common::{Trial, party, trial};

/// Bits of what `to` receives, where the other party's own keys are drawn anew in each run or are the same small numbers in all.
fn view(to: usize, seed: u64, drawn: bool) -> Vec<u32> {
    ones_of(2, Party::new(to), seed, async |context: Context, run| {
        let mut lists = trial(1, 20, 10, 10);
        let mut prg = Prg::new(Block::new(seed, run));
        for (i, key) in lists.lists[1 - to][20..].iter_mut().enumerate() {
            let small = Block::new(u64::MAX << 20, i as u64);
            *key = if drawn {
                meter::unmetered(|| prg.next_block())
            } else {
                small
            };
        }
        let Trial { .. } = lists;
        party(context, &lists, (1, false, 1)).await?;
        Ok(Vec::new())
    })
}

#[test]
fn what_a_party_receives_is_independent_of_the_others_keys() {
    must_see_a_leak();
    let seed = seed();
    for to in [0, 1] {
        let drawn = view(to, seed, true);
        let same = view(to, seed ^ 0x5555_0000_0000_0000, false);
        must_agree(
            &drawn,
            &same,
            &format!("to party {to}, MADRIGAL_SEED={seed}"),
        );
    }
}
