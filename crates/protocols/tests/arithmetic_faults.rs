//! Arithmetic GMW when things go wrong, and what a party sees when they do not: over faulty networks every
//! party ends right or with an error that names somebody; messages of wrong lengths name their sender;
//! what a party receives has the same distribution whatever the inputs are.
#![allow(clippy::print_stdout, clippy::unwrap_used)] // what was tried; helpers

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::common::additive::{Dealer, worker};
use crate::common::values;
use madrigal_core::{Party, Phase};
use madrigal_kernels::{Block, Prg};
use madrigal_net::transport::{Fault, mesh};
use madrigal_net::{Context, Error, Result};
use madrigal_protocols::Opening;
use madrigal_protocols::arithmetic::{ArithmeticGmw, MatrixShape};
use madrigal_testkit::places::{self, Counts};
use madrigal_testkit::{Transcript, World, impatient, must_end_well, run_with_fault, seed};

/// Every operation that sends something, on shares of `inputs`; gives the shares of the results.
async fn program(
    gmw: &mut ArithmeticGmw,
    dealer: Dealer,
    x: &[u16],
    y: &[u16],
    b: &[u8],
) -> Result<Vec<u16>> {
    let count = x.len();
    let [x, y] = [(0, x), (1, y)].map(|(label, v)| dealer.share(label, v));
    let b = dealer.share_bits(2, b);
    let mut z: [Vec<u16>; 6] = std::array::from_fn(|_| vec![0; count]);
    let [product, square, masked, bits, composed, chosen] = &mut z;
    gmw.mul(&mut dealer.triples(3, count), &x, &y, product)
        .await?;
    gmw.square(&mut dealer.pairs(4, count), &x, square).await?;
    let shape = MatrixShape {
        rows: count,
        inner: 1,
        columns: 2,
    };
    let mut matrix = gmw.mask(dealer.matrices(5, shape), &x).await?;
    gmw.masked_product(&mut matrix, &y[..1], 1, masked).await?;
    gmw.inject(&mut dealer.bits(6, count), &b, bits).await?;
    let stride = b.len() / 3;
    let mut shared = dealer.bits(7, 3 * count);
    gmw.compose(&mut shared, &b, stride, composed).await?;
    let (mut shared, mut triples) = (dealer.bits(8, count), dealer.triples(9, count));
    gmw.bit_times(&mut shared, &mut triples, &b, &y, chosen)
        .await?;
    Ok(z.concat())
}

fn expected(x: &[u16], y: &[u16], b: &[u8]) -> Vec<u16> {
    let count = x.len();
    let bit = |row: usize, i: usize| u16::from(b[row * b.len() / 3 + i / 8] >> (i % 8) & 1);
    let each = |f: &dyn Fn(usize) -> u16| (0..count).map(f).collect::<Vec<_>>();
    [
        each(&|i| x[i].wrapping_mul(y[i])),
        each(&|i| x[i].wrapping_mul(x[i])),
        each(&|i| x[i].wrapping_mul(y[0])),
        each(&|i| bit(0, i)),
        each(&|i| bit(0, i) + 2 * bit(1, i) + 4 * bit(2, i)),
        each(&|i| bit(0, i) * y[i]),
    ]
    .concat()
}

fn inputs(seed: u64, count: usize) -> (Vec<u16>, Vec<u16>, Vec<u8>) {
    let b = values(seed, 2, 3 * count.div_ceil(8));
    (values(seed, 0, count), values(seed, 1, count), b)
}

async fn opened(context: Context, seed: u64, count: usize, opening: Opening) -> Result<Vec<u16>> {
    let (me, parties) = (context.me(), context.parties());
    let mut gmw = worker(&context, opening)?;
    let (x, y, b) = inputs(seed, count);
    let dealer = Dealer { seed, parties, me };
    let z = program(&mut gmw, dealer, &x, &y, &b).await?;
    let all: Vec<Party> = Party::all(parties).collect();
    Ok(gmw.open(&z, &all).await?.unwrap().to_vec())
}

fn try_fault(seed: u64) -> bool {
    let parties = 2 + (seed >> 16) as usize % 2;
    let fault = Fault {
        at: (seed >> 8) as u32 % 14,
        ..Fault::random(seed, parties)
    };
    let opening = if seed.is_multiple_of(2) {
        Opening::Direct
    } else {
        Opening::Relay
    };
    // The longer ones travel in several frames.
    let count = if seed.is_multiple_of(5) { 80_000 } else { 9 };
    let (x, y, b) = inputs(seed, count);
    let right = expected(&x, &y, &b);
    let trial = |patience| {
        let (world, limit) = impatient(parties, seed, patience);
        let right = right.clone();
        let program = move |context| opened(context, seed, count, opening);
        let is_right = move |_, output: &Vec<u16>| *output == right;
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
        for _ in 0..8 {
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

/// Party `cheater` sends party 0 a message of another length than the operation's.
fn wrong_length(
    opening: Opening,
    length: usize,
    operation: impl AsyncFn(&mut ArithmeticGmw, Dealer) -> Result<()> + Sync,
) {
    let seed = seed();
    let cheater = Party::new(1);
    let results = World::light(3, seed).run_over(mesh(3), |context| {
        let operation = &operation;
        async move {
            let me = context.me();
            if me != cheater {
                let dealer = Dealer {
                    seed,
                    parties: 3,
                    me,
                };
                return operation(&mut worker(&context, opening)?, dealer).await;
            }
            let context = context.enter(Phase::Online, "arithmetic");
            let mut channel = context.channel(Party::new(0))?;
            channel.send(vec![0; length]).await?;
            // Nothing comes here, but for the others' errors.
            let mut silent = context.step("silent").channel(Party::new(0))?;
            silent.recv(1).await.map(drop)
        }
    });
    for (me, result) in results.iter().enumerate() {
        let error = result.as_ref().unwrap_err();
        let named = matches!(error, Error::Length { peer, .. } if *peer == cheater);
        assert!(me != 0 || named, "{length}: {error}");
        assert!(me == 1 || error.culprit() == Some(cheater), "{error}");
    }
}

#[test]
fn messages_of_a_wrong_length_name_their_sender() {
    let x = [1_u32, 2, 3];
    for opening in [Opening::Direct, Opening::Relay] {
        for wrong in [-1, 1] {
            let length = |right: i32| (right + wrong) as usize;
            wrong_length(opening, length(12), async |gmw, dealer| {
                let all: Vec<Party> = Party::all(3).collect();
                gmw.open(&dealer.share(0, &x), &all).await.map(drop)
            });
            wrong_length(opening, length(24), async |gmw, dealer| {
                gmw.mul(&mut dealer.triples(0, 3), &x, &x, &mut [0; 3])
                    .await
            });
            wrong_length(opening, length(12), async |gmw, dealer| {
                gmw.square(&mut dealer.pairs(0, 3), &x, &mut [0; 3]).await
            });
            wrong_length(opening, length(24), async |gmw, dealer| {
                let shape = MatrixShape {
                    rows: 1,
                    inner: 3,
                    columns: 1,
                };
                let triple = dealer.matrices(0, shape);
                gmw.products(triple, &x, &x, &mut [0]).await
            });
            wrong_length(opening, length(2), async |gmw, dealer| {
                let mut shared = dealer.bits::<u32>(0, 9);
                gmw.compose(&mut shared, &[0; 3], 1, &mut [0; 3]).await
            });
            wrong_length(opening, length(25), async |gmw, dealer| {
                let (mut shared, mut triples) = (dealer.bits(0, 3), dealer.triples(1, 3));
                gmw.bit_times(&mut shared, &mut triples, &[5], &x, &mut [0; 3])
                    .await
            });
        }
    }
}

/// Bytes that `to` receives in `runs` runs on shares of `value`; nothing is opened.
fn received(
    value: u16,
    parties: usize,
    opening: Opening,
    to: Party,
    runs: u64,
    seed: u64,
) -> Counts {
    let mut counts = Counts::new();
    for run in 0..runs {
        let seed = seed.wrapping_add(run);
        let (transcript, transports) = Transcript::of(to, mesh(parties));
        let results = World::light(parties, seed).run_over(transports, |context| async move {
            let me = context.me();
            let mut gmw = worker(&context, opening)?;
            let dealer = Dealer { seed, parties, me };
            let b = [value as u8; 3];
            program(&mut gmw, dealer, &[value; 8], &[value; 8], &b).await
        });
        assert!(results.iter().all(Result::is_ok), "{results:?}");
        places::add(&mut counts, &transcript, None);
    }
    counts
}

#[test]
fn no_party_learns_of_the_inputs() {
    for (parties, to, opening) in [
        (2, 0, Opening::Direct),
        (2, 1, Opening::Relay),
        (3, 1, Opening::Direct),
        (3, 0, Opening::Relay),
        (3, 2, Opening::Relay),
    ] {
        let (seed, to) = (seed(), Party::new(to));
        let a = received(0x0000, parties, opening, to, 150, seed);
        let other = seed ^ 0x5555_0000_0000_0000;
        let b = received(0xa7ff, parties, opening, to, 150, other);
        let (largest, bits) = places::compare(&a, &b);
        println!("{to} of {parties}, {opening}: {bits} bits, at most {largest:.1} deviations");
        assert!(bits > 1000);
        assert!(
            largest < 6.5,
            "{to} of {parties}, {opening}: {largest:.1} deviations"
        );
    }
}
