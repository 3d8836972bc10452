//! A party's messages do not depend on keys of the other one that it does not have, nor on their payloads; where results are shares, on no key.

use madrigal_core::Party;
use madrigal_kernels::{Block, Prg, meter};
use madrigal_net::Context;
use madrigal_psi::{BinsPlan, PsiPlan, Role, Security, Sizes, intersect, receive_bins, send_bins};
use madrigal_testkit::seed;
use madrigal_testkit::transcripts::{must_agree, must_see_a_leak, ones_of};

use crate::common::{How, Plain, Trial, party, payload, trial};

/// The way in which lists are matched.
#[derive(Clone, Copy, Debug)]
enum What {
    Rows,
    Payloads,
    /// Rows or payloads, where parties may be malicious.
    Checked,
    Shares,
}

/// Keys that each party has, of which 20 are common.
const KEYS: u64 = 30;

async fn matched(context: &Context, lists: &Trial, what: What) -> madrigal_net::Result<()> {
    let me = context.me();
    let digests = &lists.lists[me.index()];
    let sizes = Sizes {
        receiver: KEYS,
        sender: KEYS,
    };
    match what {
        What::Rows => drop(party(context.clone(), lists, How::new(1, false, 1)).await?),
        What::Checked => {
            let plan = PsiPlan::new(sizes, 1, true).unwrap().with_payloads();
            let plan = plan.with_security(Security::Malicious);
            let list = std::sync::Arc::new(Plain::new(digests, 1));
            let role = Role::of(me, Party::new(0));
            intersect(context, &plan, role, list, 1, |_| ()).await?;
        }
        What::Payloads => {
            let plan = PsiPlan::new(sizes, 1, false).unwrap().with_payloads();
            let list = std::sync::Arc::new(Plain::new(digests, 1));
            let role = Role::of(me, Party::new(0));
            intersect(context, &plan, role, list, 1, |_| ()).await?;
        }
        What::Shares => {
            let plan = BinsPlan::new(sizes, true).unwrap();
            if me == Party::new(0) {
                drop(receive_bins(context, &plan, Party::new(1), digests).await?);
            } else {
                let payloads: Vec<u64> = digests.iter().map(|&key| payload(key)).collect();
                drop(send_bins(context, &plan, Party::new(0), digests, &payloads).await?);
            }
        }
    }
    Ok(())
}

/// Bits of what `to` receives, where the other party's own keys are drawn anew in each run or are the same small numbers in all. Shares are
/// made of lists that have no common key, or all of whose keys are.
fn view(to: usize, seed: u64, what: What, drawn: bool) -> Vec<u32> {
    ones_of(2, Party::new(to), seed, async |context: Context, run| {
        let own = KEYS as usize - 20;
        let mut lists = trial(1, 20, own, own);
        let mut prg = Prg::new(Block::new(seed, run));
        let known = lists.lists[to].clone();
        let first = if matches!(what, What::Shares) { 0 } else { 20 };
        for (i, key) in lists.lists[1 - to].iter_mut().enumerate().skip(first) {
            *key = match (what, drawn) {
                (_, true) => meter::unmetered(|| prg.next_block()),
                (What::Shares, false) => known[i],
                (_, false) => Block::new(u64::MAX << 20, i as u64),
            };
        }
        matched(&context, &lists, what).await?;
        Ok(Vec::new())
    })
}

fn must_not_depend(to: usize, what: What) {
    let seed = seed();
    let drawn = view(to, seed, what, true);
    let same = view(to, seed ^ 0x5555_0000_0000_0000, what, false);
    let about = format!("{what:?} to party {to}, MADRIGAL_SEED={seed}");
    must_agree(&drawn, &same, &about);
}

#[test]
fn what_a_party_receives_is_independent_of_the_others_keys() {
    must_see_a_leak();
    must_not_depend(1, What::Rows);
}

/// Tags are among what comes with payloads.
#[test]
fn payloads_and_hints_are_independent_of_the_senders_keys() {
    must_not_depend(0, What::Payloads);
    must_not_depend(0, What::Shares);
    must_not_depend(0, What::Checked);
}
