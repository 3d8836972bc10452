//! Operations on ring elements, through the library.

use std::time::Instant;

use madrigal_core::{Party, Phase, Ring};
use madrigal_kernels::rings::multiply_add;
use madrigal_kernels::{Block, Prg};
use madrigal_net::Session;
use madrigal_protocols::replicated::{MatrixShape, PARTIES, ReplicatedRings, RingShares};

use super::Workload;
use super::measured::{Measured, Part};
use crate::args::{BenchR3, TransportArg};
use crate::exit::{Failure, Result};
use crate::local::everyone;

/// Elements of a batch: what stays in the caches, as in a longer computation on pieces.
const PRODUCTS: usize = 1 << 16;
const COMPARISONS: usize = 1 << 18;
/// Rows and columns of matrices.
const SIZE: usize = 1000;
/// Results of a run that are opened and checked.
const CHECKED: usize = 64;

#[derive(Clone, Copy)]
enum Kind {
    Products,
    /// Signs of differences, which do not overflow.
    Comparisons,
    Truncations,
    Injections,
    /// Counted in products of elements.
    Matrices,
    /// The products of elements that the parties do by themselves in that, and nothing else.
    LocalProducts,
}

pub(super) fn workloads(args: &BenchR3) -> Vec<Workload> {
    let scaled = |count: usize| (count as f64 * args.scale).ceil().max(1.0) as usize;
    let size = (SIZE as f64 * args.scale.min(1.0).cbrt()).ceil() as usize;
    let batches = |count: usize| ((1 << 25) / count).clamp(1, 256);
    let many =
        |name, kind, count: usize| workload::<u64>(name, kind, scaled(count), batches(count));
    vec![
        many("mul64", Kind::Products, PRODUCTS),
        many("lt64", Kind::Comparisons, COMPARISONS),
        many("trunc64", Kind::Truncations, COMPARISONS),
        many("inject64", Kind::Injections, COMPARISONS),
        workload::<u64>("matmul64", Kind::Matrices, size, 1),
        workload::<u32>("matmul32", Kind::Matrices, size, 1),
        workload::<u64>("matmul64/alone", Kind::LocalProducts, size, 1),
    ]
}

fn workload<T: Ring>(name: &'static str, kind: Kind, count: usize, batches: usize) -> Workload {
    let ops = match kind {
        Kind::Matrices | Kind::LocalProducts => count.pow(3),
        _ => count * batches,
    };
    Workload {
        name,
        measure: Box::new(move |transport, repeat| {
            measure::<T>(kind, count, batches, ops, transport, repeat)
        }),
    }
}

fn measure<T: Ring>(
    kind: Kind,
    count: usize,
    batches: usize,
    ops: usize,
    transport: TransportArg,
    repeat: u32,
) -> Result<Measured> {
    let parties = everyone(transport, PARTIES, async |session: &Session| {
        let job = session.job(1, &[], None).await?;
        let mut rings = ReplicatedRings::new(job.context().enter(Phase::Online, "bench"))?;
        let mut parts = Vec::new();
        for _ in 0..=repeat {
            let before = job.spent(Phase::Online);
            let (start, end, right) = run::<T>(kind, &mut rings, count, batches).await?;
            if !right {
                return Err(Failure::bug("a wrong result"));
            }
            let after = job.spent(Phase::Online);
            let part = Part {
                seconds: 0.0,
                bytes: after.bytes_sent - before.bytes_sent,
                aes: after.aes_blocks - before.aes_blocks,
                rounds: after.rounds - before.rounds,
            };
            parts.push((start, end, part));
        }
        job.finish().await?;
        // The first run warms caches and connections.
        Ok(parts.split_off(1))
    })?;
    Ok(Measured::together(ops, &from_first_to_last(&parties)))
}

/// Gives each run the time from the first party's start to the last one's end: where cores are fewer
/// than parties, none may begin late and be quick.
fn from_first_to_last(parties: &[Vec<(Instant, Instant, Part)>]) -> Vec<Vec<Part>> {
    let time = |run: usize| {
        let all = || parties.iter().map(|parts| &parts[run]);
        let ends = all()
            .map(|part| part.0)
            .min()
            .zip(all().map(|part| part.1).max());
        ends.map_or(0.0, |(start, end)| (end - start).as_secs_f64())
    };
    let timed = |parts: &Vec<(Instant, Instant, Part)>| {
        let part = |(run, part): (usize, &(Instant, Instant, Part))| Part {
            seconds: time(run),
            ..part.2
        };
        parts.iter().enumerate().map(part).collect()
    };
    parties.iter().map(timed).collect()
}

/// Shares of numbers from -2^(l-2) to 2^(l-2): no difference of two overflows.
async fn numbers<T: Ring>(
    rings: &mut ReplicatedRings,
    count: usize,
    seed: u64,
) -> madrigal_net::Result<RingShares<T>> {
    let mut owned = [0; PARTIES];
    owned[0] = count;
    let own: Vec<T> = if rings.me() == Party::new(0) {
        let mut bytes = vec![0; count * T::BYTES];
        Prg::new(Block::new(seed, 0)).fill(&mut bytes);
        let half = T::ONE.shl(T::BITS - 2);
        let number = |bytes| T::read(bytes).shr(1).sub(half);
        bytes.chunks_exact(T::BYTES).map(number).collect()
    } else {
        Vec::new()
    };
    let [shares, _, _] = rings.share(&own, owned).await?;
    Ok(shares)
}

/// One run: its start and end, and whether the results that were looked at are right.
async fn run<T: Ring>(
    kind: Kind,
    rings: &mut ReplicatedRings,
    count: usize,
    batches: usize,
) -> Result<(Instant, Instant, bool)> {
    let elements = match kind {
        Kind::Matrices | Kind::LocalProducts => count * count,
        _ => count,
    };
    let (x, y) = (
        numbers::<T>(rings, elements, 1).await?,
        numbers::<T>(rings, elements, 2).await?,
    );
    let bits = rings.random_bit_rows(1, count);
    let mut z = RingShares::zeros(elements);
    together(rings).await?;
    let start = Instant::now();
    match kind {
        Kind::Products => {
            for _ in 0..batches {
                rings.mul_into(&x, &y, &mut z).await?;
            }
        }
        Kind::Comparisons => {
            let mut less = rings.less_than_near(&x, &y).await?;
            for _ in 1..batches {
                less = rings.less_than_near(&x, &y).await?;
            }
            let end = Instant::now();
            let less = rings.inject::<T>(&less).await?;
            let ([x, y], less) = (open(rings, [&x, &y]).await?, open(rings, [&less]).await?);
            let right = |i: usize| less[0][i].bit(0) == x[i].sub(y[i]).bit(T::BITS - 1);
            return Ok((start, end, (0..x.len()).all(right)));
        }
        Kind::Truncations => {
            for _ in 0..batches {
                z = rings.truncate(&x, 16).await?;
            }
            let end = Instant::now();
            let [x, z] = open(rings, [&x, &z]).await?;
            // Rounded down, whatever the sign.
            let right = |i: usize| x[i].sub(z[i].shl(16)).shr(16) == T::ZERO;
            return Ok((start, end, (0..x.len()).all(right)));
        }
        Kind::Injections => {
            for _ in 0..batches {
                z = rings.inject(&bits).await?;
            }
            let end = Instant::now();
            let [z] = open(rings, [&z]).await?;
            let right = z.iter().all(|&z| z == T::ZERO || z == T::ONE);
            return Ok((start, end, right));
        }
        Kind::Matrices => {
            let shape = MatrixShape {
                rows: count,
                inner: count,
                columns: count,
            };
            z = rings.matrix_product(&x, &y, shape).await?;
        }
        Kind::LocalProducts => {
            let [[x0, x1], [y0, y1]] = [x.components(), y.components()];
            let mut sum = vec![T::ZERO; elements];
            multiply_add(x0, y0, &mut sum, count, count);
            multiply_add(x1, y1, &mut sum, count, count);
            std::hint::black_box(sum);
        }
    }
    let end = Instant::now();
    let right = match kind {
        Kind::Products => {
            let [x, y, z] = open(rings, [&x, &y, &z]).await?;
            (0..x.len()).all(|i| z[i] == x[i].mul(y[i]))
        }
        Kind::Matrices => {
            // The first element: the first row by the first column.
            let firsts: Vec<_> = (0..count)
                .map(|i| y.slice(i * count..i * count + 1))
                .collect();
            let column = RingShares::concat(&firsts.iter().collect::<Vec<_>>());
            let all = [Party::new(0), Party::new(1), Party::new(2)];
            let row = rings.open(&x.slice(0..count), &all).await?;
            let column = rings.open(&column, &all).await?;
            let [first] = open(rings, [&z]).await?;
            let products = row.iter().flatten().zip(column.iter().flatten());
            let sum = products.fold(T::ZERO, |sum, (x, y)| sum.add(x.mul(*y)));
            first[0] == sum
        }
        _ => true,
    };
    Ok((start, end, right))
}

/// The first elements of each, for all parties.
async fn open<T: Ring, const N: usize>(
    rings: &mut ReplicatedRings,
    shares: [&RingShares<T>; N],
) -> Result<[Vec<T>; N]> {
    let all = [Party::new(0), Party::new(1), Party::new(2)];
    let mut opened = [const { Vec::new() }; N];
    for (opened, shares) in opened.iter_mut().zip(shares) {
        let some = shares.slice(0..shares.len().min(CHECKED));
        let values = rings.open(&some, &all).await?;
        *opened = values
            .ok_or_else(|| Failure::bug("an opening to all is for us too"))?
            .to_vec();
    }
    Ok(opened)
}

/// Nobody goes on before all are here.
async fn together(rings: &mut ReplicatedRings) -> Result<()> {
    let one = RingShares::<u8>::zeros(1);
    for _ in 0..PARTIES {
        rings.mul(&one, &one).await?;
    }
    Ok(())
}
