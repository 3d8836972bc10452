//! Correlations for N parties by OT: all parties at work, each on a thread, over the memory
//! transport.

use std::time::Instant;

use madrigal_core::{Phase, PhaseCost, Ring};
use madrigal_correlations::{MatrixShape, Scratch, Source as _};
use madrigal_correlations_make::{Extension, OtSource};
use madrigal_net::{Context, Session};

use super::bench::{Bench, Plan};
use super::sides::Measured;
use crate::args::{Patience, TransportArg};
use crate::everyone::everyone;
use crate::exit::{Failure, Result};
use crate::measured::Runs;
use crate::reach::Network;

/// Rows and columns of the matrices.
const SIZE: usize = 128;
const SHAPE: MatrixShape = MatrixShape {
    rows: SIZE,
    inner: SIZE,
    columns: SIZE,
};
/// Bits of the vectors.
const LENGTH: usize = 128;
/// Items of a run that are checked.
const SAMPLE: usize = 256;

#[derive(Clone, Copy)]
enum Kind {
    Bits,
    /// The width of the ring in bits, as in the others.
    Triples(usize),
    Squares,
    Matrix,
    /// Triples of matrices, made by encryption.
    LatticeMatrix,
    SharedBits(usize),
    Vectors,
}

pub(super) fn benches() -> Vec<Bench> {
    let mut all = vec![
        ("triple/bit/n2".to_owned(), Kind::Bits, 2),
        ("triple/bit/n3".to_owned(), Kind::Bits, 3),
    ];
    for width in [8, 16, 32, 64, 128] {
        all.push((format!("triple/u{width}/n2"), Kind::Triples(width), 2));
    }
    all.push(("triple/u64/n3".to_owned(), Kind::Triples(64), 3));
    all.push(("square/u64/n2".to_owned(), Kind::Squares, 2));
    for (name, kind) in [
        ("matrix", Kind::Matrix),
        ("matrix-lattice", Kind::LatticeMatrix),
    ] {
        all.push((format!("{name}/u64/{SIZE}x{SIZE}x{SIZE}/n2"), kind, 2));
    }
    for (width, parties) in [(32, 2), (64, 2), (32, 3), (64, 3)] {
        let name = format!("sharedbit/u{width}/n{parties}");
        all.push((name, Kind::SharedBits(width), parties));
    }
    all.push((format!("vector/{LENGTH}/n2"), Kind::Vectors, 2));
    all.into_iter()
        .map(|(name, kind, parties)| Bench::new(name, move |plan| measure(plan, kind, parties)))
        .collect()
}

impl Kind {
    /// Items of a run that takes about `ots` OTs between two parties; of matrices, products of
    /// elements.
    fn items(self, ots: usize) -> usize {
        let per_item = match self {
            Self::Bits | Self::Vectors => 2,
            Self::Triples(width) => 2 * width,
            Self::Squares => 64,
            Self::SharedBits(_) => 1,
            Self::Matrix | Self::LatticeMatrix => {
                return SIZE.pow(3) * (ots / (2 * SIZE * SIZE * 64)).max(1);
            }
        };
        (ots / per_item).max(1)
    }

    /// Bits of an element.
    fn width(self) -> usize {
        match self {
            Self::Bits | Self::Vectors => 1,
            Self::Triples(width) | Self::SharedBits(width) => width,
            Self::Squares | Self::Matrix | Self::LatticeMatrix => 64,
        }
    }

    async fn make(self, source: &mut OtSource, items: usize) -> madrigal_net::Result<Sample> {
        match self {
            Self::Bits => bits(source, items).await,
            Self::Triples(8) => triples::<u8>(source, items).await,
            Self::Triples(16) => triples::<u16>(source, items).await,
            Self::Triples(32) => triples::<u32>(source, items).await,
            Self::Triples(64) => triples::<u64>(source, items).await,
            Self::Triples(_) => triples::<u128>(source, items).await,
            Self::Squares => squares(source, items).await,
            Self::Matrix | Self::LatticeMatrix => matrices(source, items).await,
            Self::SharedBits(32) => shared_bits::<u32>(source, items).await,
            Self::SharedBits(_) => shared_bits::<u64>(source, items).await,
            Self::Vectors => vectors(source, items).await,
        }
    }
}

/// One party's shares of some of the items: `c[i]` is the sum of the products of a and b from i
/// `inner` on, `inner` of them.
#[derive(Clone, Default)]
struct Sample {
    inner: usize,
    a: Vec<u128>,
    b: Vec<u128>,
    c: Vec<u128>,
}

impl Sample {
    fn of<T: Ring>(a: &[T], b: &[T], c: &[T]) -> Self {
        let some = |all: &[T]| all.iter().take(SAMPLE).map(|x| x.to_u128()).collect();
        Self {
            inner: 1,
            a: some(a),
            b: some(b),
            c: some(c),
        }
    }
}

async fn bits(source: &mut OtSource, count: usize) -> madrigal_net::Result<Sample> {
    let mut triples = source.bit_triples(count, &|_| {}).await?;
    let mut scratch = Scratch::default();
    let some = triples.take(count.min(SAMPLE), &mut scratch)?;
    let spread = |bits: &[u8]| {
        (0..count.min(SAMPLE))
            .map(|i| super::outputs::bit(bits, i) as u128)
            .collect()
    };
    Ok(Sample {
        inner: 1,
        a: spread(some.a),
        b: spread(some.b),
        c: spread(some.c),
    })
}

async fn triples<T: Ring>(source: &mut OtSource, count: usize) -> madrigal_net::Result<Sample> {
    let mut triples = source.ring_triples::<T>(count, &|_| {}).await?;
    let some = triples.take(count);
    Ok(Sample::of(some.a, some.b, some.c))
}

async fn squares(source: &mut OtSource, count: usize) -> madrigal_net::Result<Sample> {
    let mut pairs = source.square_pairs::<u64>(count, &|_| {}).await?;
    let some = pairs.take(count);
    Ok(Sample::of(some.a, some.a, some.c))
}

/// A bit is its own square, and nothing else is, in a ring of 2^l elements.
async fn shared_bits<T: Ring>(source: &mut OtSource, count: usize) -> madrigal_net::Result<Sample> {
    let mut bits = source.shared_bits::<T>(count, &|_| {}).await?;
    let some = bits.take(count);
    Ok(Sample::of(some.b, some.b, some.b))
}

/// The sample is the last matrix' first row by each of its columns.
async fn matrices(source: &mut OtSource, products: usize) -> madrigal_net::Result<Sample> {
    let mut sample = Sample::default();
    for _ in 0..products / SIZE.pow(3) {
        let triple = source.matrix_triple::<u64>(SHAPE, &|_| {}).await?;
        let [a, b, c] = triple.take();
        let columns = (0..SIZE).flat_map(|j| (0..SIZE).map(move |i| i * SIZE + j));
        sample = Sample {
            inner: SIZE,
            a: (0..SIZE * SIZE).map(|i| a[i % SIZE].into()).collect(),
            b: columns.map(|place| b[place].into()).collect(),
            c: c[..SIZE].iter().map(|&c| c.into()).collect(),
        };
    }
    Ok(sample)
}

/// A bit by the first eight bits of its vector.
async fn vectors(source: &mut OtSource, count: usize) -> madrigal_net::Result<Sample> {
    let mut triples = source.vector_triples(LENGTH, count, &|_| {}).await?;
    let some = triples.take(count.min(SAMPLE));
    let all = || (0..some.a.len()).flat_map(|i| (0..8).map(move |j| (i, j)));
    let of = |vectors: &[u8]| {
        all()
            .map(|(i, j)| super::outputs::bit(vectors, i * LENGTH + j) as u128)
            .collect()
    };
    Ok(Sample {
        inner: 1,
        a: all().map(|(i, _)| some.a[i].into()).collect(),
        b: of(some.b),
        c: of(some.c),
    })
}

/// One run at one party.
struct Part {
    start: Instant,
    end: Instant,
    spent: PhaseCost,
    sample: Sample,
}

fn measure(plan: &Plan<'_>, kind: Kind, parties: usize) -> Result<Measured> {
    let items = kind.items(plan.ots);
    plan.watch.look();
    let (memory, repeat) = (TransportArg::Memory, plan.repeat);
    let (network, patience) = (Network::default(), Patience::default());
    let work = async |session: &Session| {
        let job = session.job(1, &[], None).await?;
        let spent = || job.spent(Phase::Setup);
        let setup = async |context: Context| {
            let mut source = OtSource::new(&context, Extension::default()).await?;
            if let Kind::LatticeMatrix = kind {
                source = source.with_lattice_matrices()?;
            }
            // The first call of a kind starts its extensions.
            kind.make(&mut source, 1.max(items.min(1024))).await?;
            Ok::<_, madrigal_net::Error>(source)
        };
        let start = Instant::now();
        let mut source = setup(job.context()).await?;
        let setup = start.elapsed().as_secs_f64();
        let mut parts = Vec::new();
        for _ in 0..repeat {
            let (start, before) = (Instant::now(), spent());
            let sample = kind.make(&mut source, items).await?;
            let (end, after) = (Instant::now(), spent());
            parts.push(Part {
                start,
                end,
                spent: PhaseCost {
                    bytes_sent: after.bytes_sent - before.bytes_sent,
                    aes_blocks: after.aes_blocks - before.aes_blocks,
                    ..PhaseCost::default()
                },
                sample,
            });
        }
        job.finish().await?;
        Ok((setup, parts))
    };
    let all = everyone(memory, network, parties, 1, &patience, work)?;
    let setup = all.iter().map(|(setup, _)| *setup).fold(0.0, f64::max);
    let all: Vec<_> = all.into_iter().map(|(_, parts)| parts).collect();
    together(plan, kind, items, setup, &all)
}

/// Makes the figures of the whole from all parties' parts.
fn together(
    plan: &Plan<'_>,
    kind: Kind,
    count: usize,
    setup: f64,
    all: &[Vec<Part>],
) -> Result<Measured> {
    let mut run = 0;
    let walls = plan.repeat(|| {
        let parts = || all.iter().map(|parts| &parts[run]);
        let start = parts().map(|part| part.start).min();
        let end = parts().map(|part| part.end).max();
        let samples: Vec<&Sample> = parts().map(|part| &part.sample).collect();
        check(kind.width(), &samples)?;
        run += 1;
        let wall = end.zip(start).map(|(end, start)| end - start);
        Ok(wall.unwrap_or_default().as_secs_f64())
    })?;
    let mean = |pick: fn(&PhaseCost) -> u64| {
        let sum: u64 = all.iter().flatten().map(|part| pick(&part.spent)).sum();
        sum as f64 / f64::from(plan.repeat)
    };
    Ok(Measured {
        runs: Runs {
            ops: count,
            seconds: walls,
            bytes: mean(|cost| cost.bytes_sent),
            aes: mean(|cost| cost.aes_blocks),
        },
        setup,
        by_aes: !matches!(kind, Kind::LatticeMatrix),
        sides: None,
        threads: all.len(),
    })
}

/// The sums of all parties' shares are products.
fn check(width: usize, samples: &[&Sample]) -> Result<()> {
    let mask = u128::MAX >> (128 - width);
    let sum = |pick: fn(&Sample) -> &Vec<u128>| {
        let mut sum = vec![0_u128; samples.first().map_or(0, |sample| pick(sample).len())];
        for sample in samples {
            for (sum, share) in sum.iter_mut().zip(pick(sample)) {
                *sum = sum.wrapping_add(*share) & mask;
            }
        }
        sum
    };
    let [a, b, c] = [sum(|s| &s.a), sum(|s| &s.b), sum(|s| &s.c)];
    let inner = samples.first().map_or(1, |sample| sample.inner.max(1));
    for (i, ((a, b), c)) in a.chunks(inner).zip(b.chunks(inner)).zip(&c).enumerate() {
        let products = a.iter().zip(b).map(|(a, b)| a.wrapping_mul(*b));
        let product = products.fold(0_u128, u128::wrapping_add) & mask;
        if product != *c {
            return Err(Failure::bug(format!(
                "item {i} is wrong: the shares of the product do not sum up to it"
            )));
        }
    }
    if c.is_empty() || c.len() > 128 && c.iter().all(|c| *c == 0) {
        return Err(Failure::bug("all products are zero"));
    }
    Ok(())
}
