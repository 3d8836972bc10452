//! Operations on ring elements, through the library.

use std::time::Instant;

use madrigal_core::{Party, Phase, Ring};
use madrigal_kernels::rings::multiply_add;
use madrigal_kernels::{Block, Prg};
use madrigal_net::{Context, Error, Session, block_on, on_threads};
use madrigal_protocols::replicated::{
    MatrixShape, PARTIES, Product, ReplicatedRings, RingShares, RingView,
};

use super::ceilings::{Measured, Part};
use super::setting::Setting;
use super::workload::Workload;
use crate::args::{BenchR3, Patience};
use crate::everyone::everyone;
use crate::exit::{Failure, Result};
use crate::reach::Network;

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
    /// Each number where it is not negative, else zero: its sign, and a product with that.
    Relus,
    Truncations(Truncation),
    Injections,
    /// Counted in products of elements.
    Matrices,
    /// The products of elements that each party computes for matrices, without messages.
    LocalProducts,
}

#[derive(Clone, Copy)]
enum Truncation {
    Exact,
    /// Operations on numbers whose highest two bits are the same.
    Near,
    Probabilistic,
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
        many("relu64", Kind::Relus, COMPARISONS),
        many("trunc64", Kind::Truncations(Truncation::Exact), COMPARISONS),
        many(
            "trunc64/near",
            Kind::Truncations(Truncation::Near),
            COMPARISONS,
        ),
        many(
            "trunc64/probabilistic",
            Kind::Truncations(Truncation::Probabilistic),
            COMPARISONS,
        ),
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
        measure: Box::new(move |setting| {
            let run = async move |rings: &mut ReplicatedRings| {
                run::<T>(kind, rings, count, batches).await
            };
            measure(run, ops, setting)
        }),
    }
}

/// The start and the end of a run, and whether the results that were looked at are right.
type Timed = (Instant, Instant, bool);

/// Has each thread of each party do `run`, again and again.
fn measure(
    run: impl AsyncFn(&mut ReplicatedRings) -> Result<Timed> + Copy + Send + Sync + 'static,
    ops: usize,
    setting: &Setting,
) -> Result<Measured> {
    let parties = everyone(
        setting.transport,
        Network::new(None),
        PARTIES,
        setting.threads,
        &Patience::default(),
        async |session: &Session| {
            let job = session.job(1, &[], None).await?;
            let context = job.context().enter(Phase::Online, "bench");
            let runs = on_each(context, setting, run).await?;
            let spent = job.spent(Phase::Online);
            job.finish().await?;
            let count = runs.len() as u64;
            let part = Part {
                seconds: 0.0,
                bytes: spent.bytes_sent / count,
                aes: spent.aes_blocks / count,
                rounds: spent.rounds / count,
            };
            if runs.iter().flatten().any(|(.., right)| !right) {
                return Err(Failure::bug("a wrong result"));
            }
            Ok((runs, part))
        },
    )?;
    let runs = (0..=setting.repeat as usize).map(|run| {
        let all = parties.iter().flat_map(|(runs, _)| &runs[run]);
        from_first_to_last(all.copied())
    });
    // The first run, which warms caches and connections, is left out.
    let times: Vec<f64> = runs.skip(1).collect();
    let parties: Vec<Vec<Part>> = parties
        .iter()
        .map(|&(_, part)| {
            times
                .iter()
                .map(|&seconds| Part { seconds, ..part })
                .collect()
        })
        .collect();
    Ok(Measured::together(ops * setting.threads, &parties))
}

/// The runs of a party, each of all its threads. One thread is the party's own, which has its sockets
/// too.
async fn on_each(
    context: Context,
    setting: &Setting,
    run: impl AsyncFn(&mut ReplicatedRings) -> Result<Timed> + Copy + Send + Sync + 'static,
) -> Result<Vec<Vec<Timed>>> {
    let mut runs = Vec::new();
    if setting.threads == 1 {
        let mut rings = ReplicatedRings::new(context)?;
        for _ in 0..=setting.repeat {
            runs.push(vec![run(&mut rings).await?]);
        }
        return Ok(runs);
    }
    let fork = |thread: usize| ReplicatedRings::new(context.fork(&format!("thread {thread}")));
    let mut rings = (0..setting.threads)
        .map(fork)
        .collect::<Result<Vec<_>, _>>()?;
    for _ in 0..=setting.repeat {
        let work = rings.into_iter().map(|mut rings| {
            move |_: &dyn Fn(())| {
                let timed = block_on(run(&mut rings)).map_err(|failure| Error::Ended {
                    reason: failure.to_string(),
                })?;
                Ok((rings, timed))
            }
        });
        let times;
        (rings, times) = on_threads(&context, work, |()| {})
            .await?
            .into_iter()
            .unzip();
        runs.push(times);
    }
    Ok(runs)
}

/// Seconds from the first start to the last end: where cores are fewer than parties, none may begin
/// late and be quick.
fn from_first_to_last(all: impl Iterator<Item = Timed> + Clone) -> f64 {
    let start = all.clone().map(|timed| timed.0).min();
    let end = all.map(|timed| timed.1).max();
    let time = start.zip(end).map(|(start, end)| end - start);
    time.map_or(0.0, |time| time.as_secs_f64())
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

/// One run.
async fn run<T: Ring>(
    kind: Kind,
    rings: &mut ReplicatedRings,
    count: usize,
    batches: usize,
) -> Result<Timed> {
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
        Kind::Relus => {
            for _ in 0..batches {
                let negative = rings.negative(&x).await?;
                let below = rings.bit_times(&negative, &x).await?;
                z = x.clone();
                z.sub_assign(&below);
            }
            let end = Instant::now();
            let [x, z] = open(rings, [&x, &z]).await?;
            let right = |i: usize| match x[i].bit(T::BITS - 1) {
                0 => z[i] == x[i],
                _ => z[i] == T::ZERO,
            };
            return Ok((start, end, (0..x.len()).all(right)));
        }
        Kind::Truncations(how) => {
            for _ in 0..batches {
                z = match how {
                    Truncation::Exact => rings.truncate(&x, 16).await?,
                    Truncation::Near => rings.truncate_near(&x, 16).await?,
                    Truncation::Probabilistic => rings.truncate_probabilistic(&x, 16).await?,
                };
            }
            let end = Instant::now();
            let [x, z] = open(rings, [&x, &z]).await?;
            // Rounded down, whatever the sign; or perhaps up. An error by 2^48 is no difference here.
            let right = |i: usize| {
                let less = x[i].sub(z[i].shl(16));
                let up = less.add(T::ONE.shl(16)).shr(16) == T::ZERO;
                less.shr(16) == T::ZERO || up && matches!(how, Truncation::Probabilistic)
            };
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
            z = rings.products(&x, &y, &Product::Matrices(1, shape)).await?;
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
            let column = RingShares::concat(&firsts.iter().map(RingView::from).collect::<Vec<_>>());
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

/// Waits until all parties are here.
async fn together(rings: &mut ReplicatedRings) -> Result<()> {
    let one = RingShares::<u8>::zeros(1);
    for _ in 0..PARTIES {
        rings.mul(&one, &one).await?;
    }
    Ok(())
}
