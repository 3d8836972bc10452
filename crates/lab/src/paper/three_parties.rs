//! Araki and others' Table 2 and Figures 4 and 5: AES-128 in protocol R on more and more cores.
//!
//! Each core has 12,800 blocks. The clock runs from blocks, one after the other in memory, to such blocks again: slicing them
//! into rows of bits and back is inside of it, as in the paper (section 5.1), and so is the agreement on the job.

use std::sync::Arc;
use std::thread;
use std::time::Instant;

use madrigal_circuit::{Netlist, Rows};
use madrigal_core::Party;
use madrigal_engine::{Plan, PlanSpec, Sharing};
use madrigal_kernels::{Block, Kernels, Prg};
use madrigal_net::Session;
use madrigal_operations::{Backend, Circuit, CircuitJob, run_rows};
use madrigal_protocols::replicated::PARTIES;

use super::bench::{Bench, Job, Quantity, Told};
use super::estimate::Estimate;
use super::published::Place;
use super::unit::Unit;
use crate::args::{Patience, TransportArg};
use crate::everyone::everyone;
use crate::exit::{Failure, Result};
use crate::known::Known;
use crate::reach::Network;

pub const NOTE: &str = "all three parties on this machine, each with one thread for each core of its row; the parties that bring keys and blocks slice \
                        them, and all slice the results back, inside of the clock.";

/// Cores of each party in the paper's rows, and blocks for each.
const CORES: [usize; 5] = [1, 5, 10, 16, 20];
const BLOCKS: usize = 12_800;
/// Runs without `--repeat`, as the paper has them.
const REPEAT: u32 = 5;

const BITS: usize = 128;
const BYTES: usize = BITS / 8;
/// Blocks that are compared with the circuit in the clear.
const CHECKED: usize = 64;

type Jobs = Result<Vec<Job<'static>>>;

#[derive(Clone, Copy, PartialEq)]
enum Which {
    Table,
    Throughput,
    Latency,
}

pub fn table(bench: &Bench<'_>, _: &Place) -> Jobs {
    Ok(jobs(bench, Which::Table))
}

pub fn throughput(bench: &Bench<'_>, _: &Place) -> Jobs {
    Ok(jobs(bench, Which::Throughput))
}

pub fn latency(bench: &Bench<'_>, _: &Place) -> Jobs {
    Ok(jobs(bench, Which::Latency))
}

fn jobs(bench: &Bench<'_>, which: Which) -> Vec<Job<'static>> {
    let each = bench.scaled(BLOCKS);
    let job = |cores: usize| {
        let row = format!("AES/{cores}");
        let blocks = Quantity::new(row.clone(), "blocks", Unit::PerSecond);
        let within = Quantity::new(row.clone(), "blocks, 95 % within", Unit::WithinPerSecond);
        let latency = Quantity::seconds(row, "latency");
        let quantities = match which {
            Which::Table => vec![blocks, within, latency],
            Which::Throughput => vec![blocks],
            Which::Latency => vec![latency],
        };
        Job::new(quantities, move |bench, place| {
            let there = thread::available_parallelism().map_or(1, usize::from);
            if cores > there {
                return Ok(Told::NotRun(format!("this machine has {there} cores")));
            }
            let repeat = bench.args.repeat.unwrap_or(REPEAT);
            let seconds = measure(cores, cores * each, repeat, Network::parse(&place.network)?)?;
            let blocks = seconds
                .iter()
                .map(|seconds| (cores * each) as f64 / seconds);
            let blocks = Estimate::of(blocks.collect());
            let within = Estimate::exact(blocks.within.unwrap_or_default());
            let latency = Estimate::of(seconds);
            Ok(Told::Values(match which {
                Which::Table => vec![blocks, within, latency],
                Which::Throughput => vec![blocks],
                Which::Latency => vec![latency],
            }))
        })
    };
    CORES.into_iter().map(job).collect()
}

/// Seconds of each run at the slowest party.
fn measure(threads: usize, blocks: usize, repeat: u32, network: Network) -> Result<Vec<f64>> {
    let netlist = Known::Aes.netlist()?;
    let job = CircuitJob {
        protocol: Backend::of(Sharing::R),
        owners: [0, 1].map(|owner| Some(Party::new(owner))).into(),
        to: Party::all(PARTIES).collect(),
        lanes: blocks,
        ..CircuitJob::new(Arc::new(Circuit::new(&netlist)), PARTIES)
    };
    let plan = Plan::new(PlanSpec {
        threads,
        line: network.link(),
        ..job.spec().map_err(Failure::bug)?
    });
    let plan = &plan.map_err(Failure::bug)?;
    let brought = [random(blocks)?, random(blocks)?];
    let expected = &expected(&netlist, &brought, blocks.min(CHECKED))?;
    let brought = &brought;
    let parties = everyone(
        TransportArg::Tcp,
        network,
        PARTIES,
        threads,
        &Patience::default(),
        async |session: &Session| {
            let mut seconds = Vec::new();
            for id in 1..=repeat {
                let begin = Instant::now();
                let own = match brought.get(session.me().index()) {
                    Some(blocks) => sliced(blocks, threads),
                    None => Rows::new(0, blocks),
                };
                let report = run_rows(session, id, plan, Arc::new(own), None, &|_| {}).await;
                let report = report.map_err(Failure::bug)?;
                let outputs = report.outputs.ok_or_else(|| Failure::bug("no outputs"))?;
                let made = blocks_of(&outputs, threads);
                seconds.push(begin.elapsed().as_secs_f64());
                if made.get(..expected.len()) != Some(&expected[..]) {
                    return Err(Failure::bug("AES-128: a wrong result"));
                }
            }
            Ok(seconds)
        },
    )?;
    let slowest = |run: usize| {
        parties
            .iter()
            .map(|seconds| seconds[run])
            .fold(0.0, f64::max)
    };
    Ok((0..repeat as usize).map(slowest).collect())
}

/// Random blocks, one after the other.
fn random(blocks: usize) -> Result<Vec<u8>> {
    let mut seed = [0; 16];
    getrandom::fill(&mut seed).map_err(Failure::bug)?;
    let mut bytes = vec![0; BYTES * blocks];
    Prg::new(Block::from_bytes(seed)).fill(&mut bytes);
    Ok(bytes)
}

/// The first results by the circuit in the clear.
fn expected(netlist: &Netlist, brought: &[Vec<u8>; 2], blocks: usize) -> Result<Vec<u8>> {
    let mut inputs = Rows::new(2 * BITS, blocks);
    for (value, brought) in brought.iter().enumerate() {
        for (lane, block) in brought.chunks_exact(BYTES).take(blocks).enumerate() {
            for bit in 0..BITS {
                inputs.set(
                    value * BITS + bit,
                    lane,
                    block[bit / 8] >> (bit % 8) & 1 == 1,
                );
            }
        }
    }
    let outputs = netlist.evaluate(&inputs).map_err(Failure::bug)?;
    let mut expected = vec![0; BYTES * blocks];
    for (lane, block) in expected.chunks_exact_mut(BYTES).enumerate() {
        for bit in (0..BITS).filter(|&bit| outputs.get(bit, lane)) {
            block[bit / 8] |= 1 << (bit % 8);
        }
    }
    Ok(expected)
}

/// Blocks as rows of bits: row i has bit i of each block. Each thread makes some of the rows.
fn sliced(blocks: &[u8], threads: usize) -> Rows {
    let lanes = blocks.len() / BYTES;
    let mut rows = Rows::new(BITS, lanes);
    let stride = rows.stride();
    // Whole bytes of the blocks for each thread.
    let bytes = BYTES.div_ceil(threads);
    let parts = rows.as_bytes_mut().chunks_mut(8 * bytes * stride);
    on_threads(parts.enumerate(), |(part, rows)| {
        let from = &blocks[part * bytes..];
        let kernels = Kernels::detect();
        kernels.transpose_bits(
            from,
            lanes,
            8 * (rows.len() / stride / 8),
            BYTES,
            rows,
            stride,
        );
    });
    rows
}

/// Rows of bits as blocks. Each thread makes some of the blocks.
fn blocks_of(rows: &Rows, threads: usize) -> Vec<u8> {
    let lanes = rows.lanes();
    let mut blocks = vec![0; BYTES * lanes];
    // Whole bytes of the rows for each thread.
    let each = 8 * lanes.div_ceil(8 * threads);
    let parts = blocks.chunks_mut(BYTES * each);
    on_threads(parts.enumerate(), |(part, blocks)| {
        let from = &rows.as_bytes()[part * each / 8..];
        let kernels = Kernels::detect();
        kernels.transpose_bits(
            from,
            BITS,
            blocks.len() / BYTES,
            rows.stride(),
            blocks,
            BYTES,
        );
    });
    blocks
}

/// Does each part on a thread of its own; the only one, and the first one, on this.
fn on_threads<T: Send>(mut parts: impl Iterator<Item = T>, work: impl Fn(T) + Sync) {
    let first = parts.next();
    thread::scope(|scope| {
        let work = &work;
        for part in parts {
            scope.spawn(move || work(part));
        }
        if let Some(first) = first {
            work(first);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_sliced_and_put_together_again() {
        for (count, threads) in [(1, 1), (7, 2), (64, 3), (130, 5), (1000, 20)] {
            let blocks = random(count).unwrap();
            let rows = sliced(&blocks, threads);
            for (lane, block) in blocks.chunks_exact(BYTES).enumerate() {
                for bit in 0..BITS {
                    let due = block[bit / 8] >> (bit % 8) & 1 == 1;
                    assert_eq!(rows.get(bit, lane), due, "{count} {threads} {bit} {lane}");
                }
            }
            assert_eq!(blocks_of(&rows, threads), blocks, "{count} {threads}");
        }
    }

    #[test]
    fn aes_is_right_on_several_threads() {
        for threads in [1, 2] {
            let seconds = measure(threads, 200, 2, Network::default()).unwrap();
            assert_eq!(seconds.len(), 2);
        }
    }
}
