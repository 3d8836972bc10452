//! A source on several threads: right for every kind, wherever calls are cut, at the declared cost; no
//! thread repeats another.

use std::task::Poll;

use madrigal_core::{Party, PhaseCost, Ring};
use madrigal_correlations::{Kind, MatrixShape, Scratch, Source, Width};
use madrigal_correlations_make::{Extension, OtCosts, OtSource};
use madrigal_net::{Context, Result};
use madrigal_testkit::{World, seed};

/// What one party has of all calls: strings of integers, in the order of [`calls`].
type Strings = Vec<Vec<u128>>;

/// The bits that a thread has are a multiple of this.
const UNIT: usize = 1 << 16;

/// Counts of successive calls: on all threads, on some of them (the others are idle), on all again.
const BITS: [usize; 7] = [400_003, 7, 0, 90_000, 65_536, 65_537, 200_000];
const RINGS: [usize; 4] = [5_001, 0, 3, 2_100];
const VECTORS: [usize; 3] = [20_001, 0, 100];
const LENGTH: usize = 21;
const SHAPE: MatrixShape = MatrixShape {
    rows: 3,
    inner: 4,
    columns: 5,
};

fn integers<T: Ring>(elements: &[T]) -> Vec<u128> {
    elements.iter().map(|element| element.to_u128()).collect()
}

async fn calls(context: Context, extension: Extension, threads: usize) -> Result<Strings> {
    let mut source = OtSource::with_threads(&context, extension, threads).await?;
    let mut strings = Strings::new();
    for count in BITS {
        let mut triples = source.bit_triples(count, &|_| {}).await?;
        let mut scratch = Scratch::default();
        let bits = triples.take(count, &mut scratch)?;
        for string in [bits.a, bits.b, bits.c] {
            let bit = |i: usize| u128::from(string[i / 8] >> (i % 8) & 1);
            strings.push((0..count).map(bit).collect());
        }
        let mut bits = source.shared_bits::<u16>(count, &|_| {}).await?;
        strings.push(integers(bits.take(count).b));
    }
    for count in RINGS {
        let mut triples = source.ring_triples::<u64>(count, &|_| {}).await?;
        let triples = triples.take(count);
        strings.extend([triples.a, triples.b, triples.c].map(integers));
        let mut squares = source.square_pairs::<u32>(count, &|_| {}).await?;
        let squares = squares.take(count);
        strings.extend([squares.a, squares.c].map(integers));
    }
    for count in VECTORS {
        let mut vectors = source.vector_triples(LENGTH, count, &|_| {}).await?;
        let vectors = vectors.take(count);
        let packed = |strings: &[u8]| {
            let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |n, &b| n << 8 | u128::from(b));
            strings.chunks(LENGTH.div_ceil(8)).map(number).collect()
        };
        strings.push(integers(vectors.a));
        strings.extend([vectors.b, vectors.c].map(packed));
    }
    let matrix = source.matrix_triple::<u16>(SHAPE, &|_| {}).await?;
    strings.extend(matrix.take().iter().map(|matrix| integers(matrix)));
    Ok(strings)
}

fn declared(costs: &mut OtCosts) -> PhaseCost {
    let mut total = costs.base();
    for count in BITS {
        total += costs.call(Kind::BitTriples, count);
        total += costs.call(Kind::SharedBits(Width::of::<u16>()), count);
    }
    for count in RINGS {
        total += costs.call(Kind::RingTriples(Width::of::<u64>()), count);
        total += costs.call(Kind::SquarePairs(Width::of::<u32>()), count);
    }
    for count in VECTORS {
        total += costs.call(Kind::VectorTriples { length: LENGTH }, count);
    }
    total + costs.call(Kind::MatrixTriples(Width::of::<u16>(), SHAPE), 1)
}

fn check(extension: Extension, parties: usize, threads: usize) {
    let about = format!("{extension}, {parties} parties, {threads} threads");
    let results = World::light(parties, seed()).run(|context| calls(context, extension, threads));
    let mut shares = Vec::new();
    for (me, (strings, cost)) in Party::all(parties).zip(results) {
        let mut costs = OtCosts::with_threads(extension, threads, me, parties);
        assert_eq!(cost.setup, declared(&mut costs), "{me}: {about}");
        shares.push(strings);
    }
    let column = |at: usize| -> Vec<Vec<u128>> {
        shares.iter().map(|strings| strings[at].clone()).collect()
    };
    let xor = |at: usize| fold(&column(at), |x, y| x ^ y);
    let sum = |at: usize| fold(&column(at), u128::wrapping_add);
    let mut at = 0;
    for count in BITS {
        let [a, b, c] = [xor(at), xor(at + 1), xor(at + 2)];
        for i in 0..count {
            assert_eq!(c[i], a[i] & b[i], "triple {i} of {count}, {about}");
        }
        for (i, bit) in sum(at + 3).into_iter().enumerate() {
            assert!(bit as u16 <= 1, "bit {i} of {count}, {about}");
        }
        for share in &shares[0][at..at + 3] {
            unlike(share, threads, &about);
        }
        at += 4;
    }
    for count in RINGS {
        let [a, b, c, x, y] = [0, 1, 2, 3, 4].map(|column| sum(at + column));
        for i in 0..count {
            let product = (a[i] as u64).wrapping_mul(b[i] as u64);
            assert_eq!(c[i] as u64, product, "triple {i} of {count}, {about}");
            let square = (x[i] as u32).wrapping_mul(x[i] as u32);
            assert_eq!(y[i] as u32, square, "square {i} of {count}, {about}");
        }
        at += 5;
    }
    for count in VECTORS {
        let [a, b, c] = [xor(at), xor(at + 1), xor(at + 2)];
        for i in 0..count {
            assert_eq!(c[i], a[i] * b[i], "vector {i} of {count}, {about}");
        }
        at += 3;
    }
    let [a, b, c] = [sum(at), sum(at + 1), sum(at + 2)];
    for (i, c) in c.iter().enumerate() {
        let (row, column) = (i / SHAPE.columns, i % SHAPE.columns);
        let terms = (0..SHAPE.inner).map(|k| {
            let b = b[k * SHAPE.columns + column] as u16;
            (a[row * SHAPE.inner + k] as u16).wrapping_mul(b)
        });
        let product = terms.fold(0, u16::wrapping_add);
        assert_eq!(*c as u16, product, "element {i}, {about}");
    }
}

fn fold(columns: &[Vec<u128>], f: fn(u128, u128) -> u128) -> Vec<u128> {
    let mut all = columns[0].clone();
    for column in &columns[1..] {
        all.iter_mut().zip(column).for_each(|(x, y)| *x = f(*x, *y));
    }
    all
}

/// Shares of random bits: the parts of different threads agree in about every second bit.
fn unlike(bits: &[u128], threads: usize, about: &str) {
    let part = bits.len().max(1).div_ceil(threads).next_multiple_of(UNIT);
    for (i, one) in bits.chunks(part).enumerate() {
        for other in bits
            .chunks(part)
            .skip(i + 1)
            .filter(|other| other.len() > 1000)
        {
            let equal = one.iter().zip(other).filter(|(x, y)| x == y).count();
            let len = other.len() as f64;
            let deviation = (2.0 * equal as f64 - len).abs() / len.sqrt();
            assert!(deviation < 7.0, "{deviation} deviations, {about}");
        }
    }
}

/// Long vectors are worth more threads than short ones.
#[test]
fn what_is_worth_a_thread() {
    let start = |length, threads| {
        let me = Party::new(0);
        let mut costs = OtCosts::with_threads(Extension::default(), threads, me, 2);
        costs.call(Kind::VectorTriples { length }, 8192)
    };
    assert_eq!(start(100, 1), start(100, 8));
    let (one, eight) = (start(1 << 17, 1), start(1 << 17, 8));
    assert!(one.bytes_sent < eight.bytes_sent && one.rounds == eight.rounds);
}

/// A call that is given up half way leaves a source that says so.
#[test]
fn given_up() {
    for threads in [1, 2] {
        World::light(2, seed()).run(|context| async move {
            let mut source =
                OtSource::with_threads(&context, Extension::default(), threads).await?;
            {
                let call = source.shared_bits::<u32>(5_000, &|_| {});
                let mut call = std::pin::pin!(call);
                std::future::poll_fn(|task| {
                    let ended = call.as_mut().poll(task).is_ready();
                    assert!(!ended, "it breathes on its way");
                    Poll::Ready(())
                })
                .await;
            }
            let error = source.shared_bits::<u32>(10, &|_| {}).await.err();
            let error = error.map(|error| error.to_string()).unwrap_or_default();
            assert!(error.contains("was given up"), "{error}");
            Ok(())
        });
    }
}

#[test]
fn two_parties() {
    for threads in [1, 2, 5] {
        check(Extension::default(), 2, threads);
    }
    check(Extension::IKNP, 2, 3);
}

#[test]
fn three_and_five_parties() {
    check(Extension::default(), 3, 3);
    check(Extension::default(), 5, 2);
}

#[test]
fn silent_ots() {
    check(Extension::Silent, 2, 2);
}

/// So many that silent OTs, too, are worth several threads, in two calls.
#[test]
fn many_silent_ots() {
    const COUNTS: [usize; 2] = [4_500_001, 2_200_000];
    let results = World::light(2, seed()).run(|context| async move {
        let mut source = OtSource::with_threads(&context, Extension::Silent, 3).await?;
        let mut strings = Vec::new();
        for count in COUNTS {
            let mut triples = source.bit_triples(count, &|_| {}).await?;
            let mut scratch = Scratch::default();
            let bits = triples.take(count, &mut scratch)?;
            strings.push([bits.a, bits.b, bits.c].map(<[u8]>::to_vec));
        }
        Ok(strings)
    });
    for (me, (_, cost)) in Party::all(2).zip(&results) {
        let mut costs = OtCosts::with_threads(Extension::Silent, 3, me, 2);
        let declared = COUNTS.iter().fold(costs.base(), |sum, &count| {
            sum + costs.call(Kind::BitTriples, count)
        });
        assert_eq!(cost.setup, declared, "{me}");
    }
    let [(x, _), (y, _)] = &results[..] else {
        panic!("two parties");
    };
    for ((x, y), count) in x.iter().zip(y).zip(COUNTS) {
        // The last byte may hold bits beyond the triples.
        for i in 0..count / 8 {
            let [a, b, c] = [0, 1, 2].map(|string| x[string][i] ^ y[string][i]);
            assert_eq!(c, a & b, "byte {i} of {count}");
        }
        // A thread's portion has 2^21 triples.
        let b = &x[1];
        let same = b.iter().zip(&b[1 << 18..]).filter(|(x, y)| x == y).count();
        assert!(same < b.len() / 64, "threads repeat each other");
    }
}

#[test]
fn many_calls_cost_what_each_of_them_does() {
    for extension in Extension::all() {
        for (threads, parties) in [(1, 2), (3, 2), (2, 3)] {
            for me in Party::all(parties) {
                let mut each = OtCosts::with_threads(extension, threads, me, parties);
                let mut all = each.clone();
                for (count, times) in [(0, 3), (70_000, 1), (3_000_001, 0), (3_000_001, 7), (8, 2)]
                {
                    let mut sum = PhaseCost::default();
                    (0..times).for_each(|_| sum += each.call(Kind::BitTriples, count));
                    let about = format!("{extension}, {threads} threads, {times} x {count}");
                    assert_eq!(
                        all.calls(Kind::BitTriples, count, times),
                        sum,
                        "{me}: {about}"
                    );
                }
            }
        }
    }
}
