//! Messages to one server in protocol R have the same distribution whatever the clients' inputs are:
//! each bit by itself, and each bit's sum with the ones next to it and with the same bit of the
//! message before. Also when another server has wrong shares, and under every fault that the test
//! kit knows. Other joint distributions are not looked at.
#![allow(clippy::print_stdout, clippy::unwrap_used)] // helpers

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use crate::common::worker;
use madrigal_core::Party;
use madrigal_kernels::{Block, Prg, meter::unmetered};
use madrigal_net::transport::{Fault, FaultKind, Faulty, mesh};
use madrigal_net::{Context, Result};
use madrigal_protocols::replicated::{
    Column, Depth, Keys, Masking, MatrixShape, Product, RingShares, deal,
};
use madrigal_testkit::places::{Counts, Lengths, add, compare};
use madrigal_testkit::{Transcript, World, seed};

/// Elements of each batch: a byte per row of bits.
const COUNT: usize = 8;

/// Every operation that sends something, on dealt shares; nothing is opened.
async fn program(context: Context, inputs: u16, run: u64, cheater: Option<Party>) -> Result<()> {
    let mut rings = worker(&context)?;
    let me = rings.me();
    let mut client = Prg::new(Block::new(run, 77));
    let [x, y] = [0, 1].map(|_| {
        let mut x = unmetered(|| deal(&[inputs; COUNT], &mut client))[me.index()].clone();
        if cheater == Some(me) {
            x.add_assign(&RingShares::from_components(vec![3; COUNT], vec![5; COUNT]).unwrap());
        }
        x
    });
    rings.mul(&x, &y).await?;
    rings.dot(&x, &y, 2).await?;
    let shape = MatrixShape {
        rows: 2,
        inner: 4,
        columns: 2,
    };
    rings.products(&x, &y, &Product::Matrices(1, shape)).await?;
    rings.truncate_probabilistic(&x, 5).await?;
    for depth in [Depth::Ripple, Depth::Tree] {
        rings.set_depth(Some(depth));
        let less = rings.less_than(&x, &y).await?;
        rings.bit_times(&less, &x).await?;
        let bits = rings.decompose(&y).await?;
        rings.compose::<u16>(&bits).await?;
        rings.truncate(&x, 5).await?;
        rings.truncate_near(&x, 5).await?;
    }
    let equal = rings.equal(&x, &y).await?;
    rings.inject::<u16>(&equal).await?;
    // Keys are all alike, or all different.
    let mut rows = x.clone();
    rows.scale_each(&std::array::from_fn::<u16, COUNT, _>(|i| i as u16));
    let mut keys = Keys::none(COUNT);
    keys.push(&rings.decompose(&rows).await?);
    let columns: Vec<Column> = vec![(Masking::Sums, x).into(), (Masking::Bits, y).into()];
    let sorted = rings.sort(&keys, columns.clone()).await?;
    assert!(sorted.is_some());
    // Wrong shares may give places that are refused.
    if cheater.is_none() {
        let mut few = Keys::none(COUNT);
        few.push(&keys.planes(0..2));
        assert!(rings.sort(&few, columns).await?.is_some());
    }
    Ok(())
}

fn lengths(to: Party, seed: u64) -> Lengths {
    let (transcript, transports) = Transcript::of(to, mesh(3));
    let program = |context| program(context, 0, seed, None);
    World::new(3, seed).run_over(transports, program);
    let places = transcript.places().into_iter();
    places.map(|(place, bytes)| (place, bytes.len())).collect()
}

/// Counts what `to` receives in `runs` runs in which the clients put in `inputs`.
fn count(
    inputs: u16,
    to: Party,
    runs: u64,
    seed: u64,
    cheater: Option<Party>,
    fault: Option<Fault>,
) -> Counts {
    let counts = Mutex::new(Counts::new());
    let protocol = fault.map(|_| lengths(to, seed));
    let next = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                loop {
                    let run = next.fetch_add(1, Relaxed);
                    if run >= runs {
                        return;
                    }
                    let seed = seed.wrapping_add(run);
                    let (transcript, transports) = Transcript::of(to, mesh(3));
                    let world = World::new(3, seed).with_limits(|limits| {
                        if fault.is_some() {
                            limits.silence = Duration::from_millis(300);
                            limits.stall = Duration::from_millis(600);
                            limits.patience = Duration::from_millis(600);
                        }
                    });
                    let program = |context| program(context, inputs, seed, cheater);
                    match fault {
                        None => {
                            let results = world.run_over(transports, program);
                            assert!(results.iter().all(Result::is_ok), "{results:?}");
                        }
                        // The result of a fault is no concern of this test.
                        Some(fault) => {
                            world.run_over(Faulty::all(transports, fault), program);
                        }
                    }
                    add(&mut counts.lock().unwrap(), &transcript, protocol.as_ref());
                }
            });
        }
    });
    counts.into_inner().unwrap()
}

fn check(to: usize, runs: u64, cheater: Option<usize>, fault: Option<Fault>) -> usize {
    let seed = seed();
    let (to, cheater) = (Party::new(to), cheater.map(Party::new));
    let a = count(0x0000, to, runs, seed, cheater, fault);
    let other = seed ^ 0x5555_0000_0000_0000;
    let b = count(0xa7ff, to, runs, other, cheater, fault);
    let (largest, bits) = compare(&a, &b);
    println!("{to}, cheater {cheater:?}, {fault:?}: {bits} bits, at most {largest:.1} deviations");
    assert!(
        largest < 6.5,
        "one bit differs by {largest:.1} standard deviations: {to}, cheater {cheater:?}, {fault:?}"
    );
    bits
}

#[test]
fn no_server_learns_of_the_inputs() {
    for to in 0..3 {
        assert!(check(to, 150, None, None) > 1000);
    }
}

#[test]
fn nor_while_another_one_has_wrong_shares() {
    for to in 0..3 {
        assert!(check(to, 100, Some((to + 1) % 3), None) > 1000);
        assert!(check(to, 100, Some((to + 2) % 3), None) > 1000);
    }
}

#[test]
fn nor_while_another_one_misbehaves_on_the_network() {
    for (i, &kind) in FaultKind::ALL.iter().enumerate() {
        let (to, party) = (i % 3, (i + 1 + i / 3 % 2) % 3);
        let fault = Fault {
            kind,
            party: Party::new(party),
            peer: Party::new(if i.is_multiple_of(2) {
                to
            } else {
                3 - to - party
            }),
            at: 12,
            seed: i as u64,
        };
        check(to, 40, None, Some(fault));
    }
}

/// The comparison sees what it should.
#[test]
fn a_leak_would_be_seen() {
    let place = (Party::new(0), 1, 2);
    let counts = |ones| Counts::from([(place, vec![(20, 40), (ones, 40)])]);
    let (fair, leaky, none) = (counts(20), counts(40), counts(0));
    assert!(compare(&fair, &fair).0 < 6.5);
    assert!(compare(&none, &leaky).0 > 6.5);
}
