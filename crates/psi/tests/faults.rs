//! Faults of the network, and messages that no honest party sends: each party ends with the right result or one error.
#![allow(clippy::print_stdout, reason = "tells what was tried")]

use std::sync::{Arc, Mutex};

use madrigal_core::{Party, Zeroizing};
use madrigal_kernels::{Block, Prg};
use madrigal_net::Context;
use madrigal_net::transport::{Fault, mesh};
use madrigal_psi::{
    BinsPlan, List, ListFailed, Matched, PsiPlan, Role, Security, Sizes, intersect, receive_bins,
    send_bins,
};
use madrigal_testkit::{
    Change, Deviating, Deviation, Transcript, World, impatient, must_end_well, run_with_fault, seed,
};

use crate::common::{How, Outcome, Plain, Trial, party, trial};

#[test]
fn each_party_ends_with_the_result_or_an_error() {
    let seed = seed();
    let mut prg = Prg::new(Block::new(seed, 3));
    let mut fired = 0;
    for _ in 0..30 {
        let number = prg.next_block().lo();
        let how = How::new(
            1 + number as usize % 3,
            number & 8 != 0,
            1 + (number >> 4) as usize % 2,
        );
        let how = if number & 64 == 0 {
            how
        } else {
            how.malicious()
        };
        let lists = Arc::new(trial(number, 40, 20, 30));
        let fault = Fault {
            at: (number >> 8) as u32 % 30,
            ..Fault::random(number, 2)
        };
        let again = format!("MADRIGAL_SEED={seed}, fault {number}");
        let tried = must_end_well(&again, |patience| {
            let (world, limit) = impatient(2, number, patience);
            let (judge, lists) = (Arc::clone(&lists), Arc::clone(&lists));
            let right = move |me: Party, (heard, _): &Outcome| {
                let learns = me == Party::new(0) || how.replies;
                *heard == learns.then(|| judge.common.clone())
            };
            let program = move |context: Context| {
                let lists = Arc::clone(&lists);
                async move { party(context, &lists, how).await }
            };
            run_with_fault(&world, fault, limit, program, right)
        });
        fired += u32::from(tried.fired);
    }
    println!("{fired} of 30 faults happened (MADRIGAL_SEED={seed})");
    assert!(fired > 10);
}

/// Bins whose tags are equal: known to nobody but this test.
async fn in_bins(context: Context, lists: Arc<Trial>) -> madrigal_net::Result<Vec<u64>> {
    let plan = BinsPlan::new(
        Sizes {
            receiver: 60,
            sender: 70,
        },
        false,
    )
    .unwrap();
    let digests = &lists.lists[context.me().index()];
    let tags = match context.me().index() {
        0 => {
            receive_bins(&context, &plan, Party::new(1), digests)
                .await?
                .found
                .tags
        }
        _ => {
            send_bins(&context, &plan, Party::new(0), digests, &[])
                .await?
                .tags
        }
    };
    Ok(tags.to_vec())
}

/// Where both parties end with tags, as many are equal as there are common keys.
#[test]
fn bins_come_to_a_result_or_an_error() {
    let seed = seed();
    let mut prg = Prg::new(Block::new(seed, 4));
    let mut fired = 0;
    for _ in 0..15 {
        let number = prg.next_block().lo();
        let lists = Arc::new(trial(number, 40, 20, 30));
        let fault = Fault {
            at: (number >> 8) as u32 % 24,
            ..Fault::random(number, 2)
        };
        let again = format!("MADRIGAL_SEED={seed}, fault {number}");
        let tried = must_end_well(&again, |patience| {
            let (world, limit) = impatient(2, number, patience);
            let lists = Arc::clone(&lists);
            let program = move |context: Context| in_bins(context, Arc::clone(&lists));
            let seen: Mutex<[Option<Vec<u64>>; 2]> = Mutex::default();
            let right = move |me: Party, tags: &Vec<u64>| {
                let mut seen = seen.lock().unwrap();
                seen[me.index()] = Some(tags.clone());
                let [Some(first), Some(second)] = &*seen else {
                    return true;
                };
                first.iter().zip(second).filter(|(a, b)| a == b).count() == 40
            };
            run_with_fault(&world, fault, limit, program, right)
        });
        fired += u32::from(tried.fired);
    }
    assert!(fired > 4, "{fired} of 15 faults happened");
}

/// Whatever a party sends in the places of its messages, the other one ends: with an error, or with some of its own keys. Where parties may be malicious, these
/// are keys that both have.
#[test]
fn messages_of_any_content_end_well() {
    let seed = seed();
    let lists = trial(seed, 40, 20, 30);
    let both = How::new(1, true, 1);
    for change in Change::ALL {
        for (deviator, only, how) in [
            (0, None, both),
            (1, None, both),
            (0, Some(5), both),
            (1, Some(5), both),
            (1, Some(7), both),
        ] {
            deviates(&lists, how, (deviator, Deviation { change, only, seed }));
        }
    }
}

/// Runs parties of which one deviates; gives their errors.
pub(crate) fn deviates(
    lists: &Trial,
    how: How,
    (deviator, deviation): (usize, Deviation),
) -> [Option<String>; 2] {
    let deviator = Party::new(deviator);
    let (seen, transports) = Transcript::of(deviator, mesh(2));
    let transports = Deviating::all(transports, deviator, Some(deviation), &seen);
    let world = World::light(2, deviation.seed);
    let ended = world.run_over(transports, |context: Context| party(context, lists, how));
    let mut errors = [None, None];
    for (me, ended) in ended.into_iter().enumerate() {
        let heard = match ended {
            Ok(((heard, _), _)) => heard.unwrap_or_default(),
            Err(error) => {
                errors[me] = Some(error.to_string());
                continue;
            }
        };
        let own: Vec<u128> = lists.lists[me].iter().map(|&key| key.into()).collect();
        assert!(heard.iter().all(|key| own.contains(key)), "{deviation:?}");
        if how.security == Security::Malicious && me != deviator.index() {
            assert!(heard.is_subset(&lists.common), "{how:?} {deviation:?}");
        }
    }
    errors
}

/// A list that fails in one of its partitions.
struct Broken(Plain);

impl List for Broken {
    fn digests(&self, partition: usize) -> Result<Zeroizing<Vec<Block>>, ListFailed> {
        if partition == 1 {
            Err(ListFailed)
        } else {
            self.0.digests(partition)
        }
    }

    fn matched(&self, partition: usize, matched: Matched) -> Result<(), ListFailed> {
        self.0.matched(partition, matched)
    }
}

/// Both parties end, and the other one is told that the list failed and no more.
#[test]
fn a_list_that_fails_ends_the_run_for_both() {
    let trial = trial(seed(), 40, 20, 30);
    for broken in [0, 1] {
        let plan = PsiPlan::new(
            Sizes {
                receiver: 60,
                sender: 70,
            },
            2,
            false,
        )
        .unwrap();
        let run = async |context: Context| {
            let me = context.me();
            let list = Plain::new(&trial.lists[me.index()], 2);
            let list: Arc<dyn List> = match me.index() == broken {
                true => Arc::new(Broken(list)),
                false => Arc::new(list),
            };
            let role = Role::of(me, Party::new(0));
            intersect(&context, &plan, role, list, 1, |_| ()).await
        };
        let ended = World::light(2, seed()).run_over(mesh(2), run);
        for (party, ended) in ended.into_iter().enumerate() {
            let error = ended.map(drop).unwrap_err().to_string();
            assert!(
                error.contains("its list cannot be matched as it is"),
                "party {party}: {error}"
            );
        }
    }
}
