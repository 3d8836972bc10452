//! Protocol R over rings when things go wrong: over faulty networks every party ends right or with an
//! error that names somebody; messages of wrong lengths name their sender; wrong shares are found
//! where both copies of a component are seen, and nowhere else.
#![allow(clippy::print_stdout, clippy::unwrap_used)] // what was tried; helpers

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::common::{dealt, run, signed, values, worker};
use madrigal_core::{Party, Phase};
use madrigal_kernels::{Block, Prg};
use madrigal_net::transport::{Fault, mesh};
use madrigal_net::{Context, Error, Result};
use madrigal_protocols::replicated::{
    Column, Keys, Masking, ReplicatedRings, RingShares, SharesError, combine, deal,
};
use madrigal_testkit::{World, impatient, must_end_well, run_with_fault, seed};

const AT_ONCE: u64 = 8;

/// x y of party 0's and party 1's inputs, cut by 7 bits and 3 more where it is below the third one's.
async fn program(context: Context, seed: u64, count: usize) -> Result<Vec<u32>> {
    let mut rings = worker(&context)?;
    let own = values::<u32>(seed, rings.me().index() as u64, count);
    let [x, y, z] = rings.share(&own, [count; 3]).await?;
    let product = rings.mul(&x, &y).await?;
    let cut = rings.truncate(&product, 7).await?;
    let cut = rings.truncate_near(&cut, 3).await?;
    rings.truncate_probabilistic(&z, 7).await?;
    let less = rings.less_than(&product, &z).await?;
    let chosen = rings.select(&less, &cut, &product).await?;
    let all: Vec<Party> = Party::all(3).collect();
    Ok(rings.open(&chosen, &all).await?.unwrap())
}

fn expected(seed: u64, count: usize) -> Vec<u32> {
    let [x, y, z] = [0, 1, 2].map(|owner| values::<u32>(seed, owner, count));
    (0..count)
        .map(|i| {
            let product = x[i].wrapping_mul(y[i]);
            if signed(product) < signed(z[i]) {
                (product as i32 >> 10) as u32
            } else {
                product
            }
        })
        .collect()
}

/// The first party's numbers in the order of their lowest bits, all or few, as unsigned ones.
async fn sorting(context: Context, seed: u64, count: usize, bits: usize) -> Result<Vec<u32>> {
    let mut rings = worker(&context)?;
    let own = values::<u32>(seed, rings.me().index() as u64, count);
    let [x, ..] = rings.share(&own, [count; 3]).await?;
    let mut keys = Keys::none(count);
    let mut all = Keys::none(count);
    all.push(&rings.decompose(&x).await?);
    keys.push(&all.planes(0..bits));
    let sorted = rings.sort(&keys, vec![(Masking::Sums, x).into()]).await?;
    let columns = sorted.expect("luck").columns;
    let Ok([Column::U32(_, x)]) = <[Column; 1]>::try_from(columns) else {
        panic!("a column of another kind");
    };
    let all: Vec<Party> = Party::all(3).collect();
    Ok(rings.open(&x, &all).await?.unwrap())
}

/// A fault anywhere in a sort, of few rows and of several levels of comparisons, or by keys whose rows are counted.
#[test]
fn sorts_under_random_faults_end_right_or_with_an_error() {
    let seed = seed();
    let fired = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for thread in 0..AT_ONCE {
            let fired = &fired;
            scope.spawn(move || {
                for trial in 0..5 {
                    let number = AT_ONCE * trial + thread;
                    let seed = Prg::new(Block::new(seed, number)).next_block().lo();
                    let count = if trial % 2 == 0 { 9 } else { 600 };
                    let bits = if trial < 3 { 32 } else { 2 };
                    let fault = Fault {
                        at: (seed >> 8) as u32 % 40,
                        ..Fault::random(seed, 3)
                    };
                    let mut right = values::<u32>(seed, 0, count);
                    right.sort_by_key(|x| u64::from(*x) % (1 << bits));
                    let trial = |patience| {
                        let (world, limit) = impatient(3, seed, patience);
                        let right = right.clone();
                        let program = move |context| sorting(context, seed, count, bits);
                        let is_right = move |_, output: &Vec<u32>| *output == right;
                        run_with_fault(&world, fault, limit, program, is_right)
                    };
                    let ended = must_end_well(&format!("a sort with {fault:?}"), trial);
                    fired.fetch_add(ended.fired.into(), Relaxed);
                }
            });
        }
    });
    let fired = fired.into_inner();
    println!("the fault came in {fired} of 40");
    assert!(fired > 8, "some faults should come");
}

fn try_fault(seed: u64) -> bool {
    let fault = Fault {
        at: (seed >> 8) as u32 % 30,
        ..Fault::random(seed, 3)
    };
    // The longer ones travel in several pieces and blocks.
    let count = if seed.is_multiple_of(3) { 70_000 } else { 9 };
    let right = expected(seed, count);
    let trial = |patience| {
        let (world, limit) = impatient(3, seed, patience);
        let right = right.clone();
        let program = move |context| program(context, seed, count);
        let is_right = move |_, output: &Vec<u32>| *output == right;
        run_with_fault(&world, fault, limit, program, is_right)
    };
    must_end_well(&format!("MADRIGAL_FAULT={seed}"), trial).fired
}

#[test]
fn programs_under_random_faults_end_right_or_with_an_error() {
    if let Ok(text) = std::env::var("MADRIGAL_FAULT") {
        try_fault(text.parse().unwrap());
        return;
    }
    let wanted = std::env::var("MADRIGAL_FAULTS").ok();
    let trials = wanted.map_or(100, |text| text.parse().unwrap());
    let seed = seed();
    let (next, fired) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Relaxed);
                    if number >= trials {
                        return;
                    }
                    let seed = Prg::new(Block::new(seed, number)).next_block().lo();
                    fired.fetch_add(u64::from(try_fault(seed)), Relaxed);
                }
            });
        }
    });
    let fired = fired.load(Relaxed);
    println!("{trials} trials, the fault came in {fired}");
    assert!(fired * 4 > trials, "most faults should come");
}

/// The smallest window and batches far longer than it.
#[test]
fn long_batches_pass_the_smallest_window() {
    let seed = seed();
    let world = World::new(3, seed).with_limits(|limits| limits.window = madrigal_net::MIN_WINDOW);
    let count = 300_000;
    let results = world.run(|context| program(context, seed, count));
    let right = expected(seed, count);
    assert!(results.iter().all(|(output, _)| *output == right));
    let count = 80_000;
    for bits in [32, 3] {
        let results = world.run(|context| sorting(context, seed, count, bits));
        let mut right = values::<u32>(seed, 0, count);
        right.sort_by_key(|x| u64::from(*x) % (1 << bits));
        assert!(results.iter().all(|(output, _)| *output == right));
    }
}

/// `cheater` sends a message of one byte too few to `to` where the protocol has another one.
fn short_message(
    cheater: usize,
    to: usize,
    step: &str,
    operation: impl AsyncFn(&mut ReplicatedRings, &RingShares<u64>) -> Result<()> + Sync,
) {
    let seed = seed();
    let x = dealt(seed, 0, &[1_u64, 2, 3]);
    let results = World::new(3, seed).run_over(mesh(3), |context| {
        let (operation, x) = (&operation, &x);
        async move {
            let me = context.me();
            if me.index() != cheater {
                return operation(&mut worker(&context)?, &x[me.index()]).await;
            }
            let context = context.enter(Phase::Online, "rings");
            let context = match step {
                "" => context,
                step => context.step(step),
            };
            let mut channel = context.channel(Party::new(to))?;
            channel.send(vec![0; 23]).await?;
            // Nothing comes here, but for the others' errors.
            let mut silent = context.step("silent").channel(Party::new(to))?;
            silent.recv(1).await.map(drop)
        }
    });
    let error = results[to].as_ref().unwrap_err();
    assert!(
        matches!(error, Error::Length { peer, .. } if peer.index() == cheater),
        "{step}: {error}"
    );
    for (me, result) in results.iter().enumerate() {
        let error = result.as_ref().unwrap_err();
        assert!(
            me == cheater || error.culprit() == Some(Party::new(cheater)),
            "{error}"
        );
    }
}

#[test]
fn messages_of_a_wrong_length_name_their_sender() {
    short_message(1, 0, "", async |rings, x| rings.mul(x, x).await.map(drop));
    short_message(2, 1, "", async |rings, x| {
        rings.dot(x, x, 1).await.map(drop)
    });
    short_message(0, 1, "", async |rings, x| {
        rings.open(x, &[Party::new(1)]).await.map(drop)
    });
    short_message(0, 1, "", async |rings, _| {
        let own = [0_u64; 3];
        let own = if rings.me().index() == 0 {
            &own[..]
        } else {
            &[]
        };
        rings.share(own, [3, 0, 0]).await.map(drop)
    });
    for (cheater, to) in [(0, 1), (1, 0)] {
        short_message(cheater, to, "", async |rings, x| {
            rings.truncate_probabilistic(x, 3).await.map(drop)
        });
    }
    short_message(0, 1, "way 0", async |rings, x| {
        rings.truncate(x, 3).await.map(drop)
    });
    for (cheater, to) in [(0, 1), (1, 2), (2, 1)] {
        short_message(cheater, to, "way 0", async |rings, _| {
            let bits = rings.random_bit_rows(1, 3);
            rings.inject::<u64>(&bits).await.map(drop)
        });
    }
    short_message(0, 1, "way 0", async |rings, x| {
        rings.negative(x).await.map(drop)
    });
}

/// Semi-honest security leaves this open: a server with wrong shares falsifies the result, without a
/// notice where it is opened; but a client that sees both copies of each component finds it out.
#[test]
fn a_server_that_cheats_changes_results_and_clients_can_see_it() {
    let seed = seed();
    let x = dealt(seed, 0, &[5_u64, 7]);
    let results = run(
        seed,
        "a cheating server",
        async |rings| {
            let me = rings.me();
            let mut mine = x[me.index()].clone();
            if me.index() == 1 {
                let [first, second] = mine.components();
                let first = first.iter().map(|x| x.wrapping_add(1)).collect();
                mine = RingShares::from_components(first, second.to_vec()).unwrap();
            }
            Ok(mine)
        },
        |_| {},
    );
    assert_eq!(
        combine(&results).unwrap_err(),
        SharesError::Copies {
            first: Party::new(0),
            second: Party::new(1),
            element: 0
        }
    );
}

#[test]
fn shares_that_cannot_be_are_refused() {
    let mut rng = Prg::new(Block::new(1, 2));
    let error = RingShares::<u8>::from_components(vec![1], vec![]).unwrap_err();
    assert!(error.to_string().contains("1 first components"), "{error}");
    let [a, b, _] = deal(&[1_u16, 2], &mut rng);
    let [_, _, c] = deal(&[1_u16], &mut rng);
    let error = combine(&[a, b, c]).unwrap_err();
    assert!(error.to_string().contains("party 2"), "{error}");
    let shares = deal(&[0x1234_5678_u64; 3], &mut rng);
    assert_eq!(combine(&shares).unwrap(), [0x1234_5678; 3]);
    assert_eq!(format!("{:?}", shares[0]), "RingShares(3 of 64 bits)");
}
