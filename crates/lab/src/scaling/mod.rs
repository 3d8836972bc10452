//! `madrigal-lab scaling`: how work scales with the threads of a party.
//!
//! Each run is a set of fresh processes, one for each party, or over memory one for all of them. Runs of different
//! numbers of threads take turns, so that what else this machine does hits all alike. Wall time tells little where a
//! machine has fewer cores than all parties have threads: processor time of all threads, and that of the busiest one,
//! stand beside it.

pub(crate) mod line;
pub(crate) mod messages;
mod network;
mod party;
mod plots;
pub(crate) mod processes;
mod row;
pub(crate) mod workloads;

use std::collections::BTreeMap;

pub use party::run as take_part;

use crate::args::BenchScaling;
use crate::exit::{Result, Usage};
use crate::machine::available_memory;
use crate::measured::{Rows, Watch, is_wanted, select};
use crate::numbers::{bytes, rate};
use crate::progress::{Steps, say};
use line::Line;
use messages::Assignment;
use processes::Once;
use row::{Beside, ScalingRow};
use workloads::Workload;

pub fn run(args: &BenchScaling) -> Result<()> {
    if args.ceiling && !args.threads.is_empty() && !args.threads.contains(&1) {
        return Err(Usage::NothingToCompareWith.into());
    }
    let wanted = |name: &str| is_wanted(&args.only, name);
    let wanted = select(workloads::all(), wanted, |workload| workload.name)?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads: Vec<Vec<usize>> = wanted
        .iter()
        .map(|workload| threads_of(&args.threads, workload.parties, cores))
        .collect();
    // One thread needs no copies.
    let copies = |threads: &Vec<usize>| if args.ceiling { threads.len() - 1 } else { 0 };
    let runs = threads
        .iter()
        .map(|threads| threads.len() + copies(threads));
    let runs = runs.sum::<usize>() as u64 * u64::from(args.repeat);
    let steps = Steps::new(runs, args.json);
    let mut rows = Rows::new(args.json);
    let mut told = Vec::new();
    let mut line = Line::default();
    let mut aes = Vec::new();
    let mut left_out = BTreeMap::new();
    for (workload, threads) in wanted.iter().zip(&threads) {
        let mut runs: Vec<Vec<Once>> = threads.iter().map(|_| Vec::new()).collect();
        let watches: Vec<Watch> = threads
            .iter()
            .map(|threads| Watch::new(threads * workload.parties))
            .collect();
        for turn in 0..args.repeat {
            let mut memory = None;
            for (at, &threads) in threads.iter().enumerate() {
                steps.name(&format!("{}, {threads} threads", workload.name));
                steps.advance();
                let assignment = assignment(args, workload, threads, turn == 0);
                watches[at].look();
                let mut once = processes::once(&assignment, workload.parties)?;
                watches[at].look();
                line.look(once.connections)?;
                if threads == 1 {
                    memory = once.memory();
                    once.copies_seconds = args.ceiling.then(|| once.seconds());
                } else if args.ceiling {
                    let name = format!("{}, {threads} copies of one thread", workload.name);
                    steps.name(&name);
                    steps.advance();
                    match too_large(memory, threads, available_memory()) {
                        Some(why) => drop(left_out.insert(name, why)),
                        None => {
                            let one = self::assignment(args, workload, 1, false);
                            let seconds = processes::copies(&one, workload.parties, threads)?;
                            once.copies_seconds = Some(seconds);
                        }
                    }
                }
                runs[at].push(once);
            }
        }
        let mut first = None;
        for ((runs, watch), &threads) in runs.iter().zip(&watches).zip(threads) {
            let beside = Beside {
                cores,
                cores_free: watch.least(),
                aes: watch.aes(),
                line: &line,
            };
            let mut row = ScalingRow::new(workload, args.transport, threads, runs, &beside);
            if threads == 1 {
                first = Some(row.base());
            }
            row.against(first);
            aes.push(row.aes_blocks_per_second);
            rows.add(&row)?;
            told.push(row);
        }
    }
    steps.clear();
    if let Some(directory) = &args.plots {
        plots::write(&told, directory)?;
    }
    for (name, why) in left_out {
        say(format_args!("{name}: {why}; left out"));
    }
    let aes = aes.into_iter().fold(0.0, f64::max);
    rows.print(|table| {
        let runs = match args.repeat {
            1 => "one run".to_owned(),
            runs => format!("median of {runs} runs"),
        };
        format!(
            "All parties on {cores} cores, {runs}; {} by each core{line}. Where the parties have more threads than there are \
             cores, threads take turns: compare the busiest thread's time there.\n\n{table}\n",
            rate(aes, " AES blocks/s")
        )
    })
}

/// The numbers of threads that are measured, least first: powers of two up to the cores that a party has, unless others are
/// asked for.
fn threads_of(asked: &[usize], parties: usize, cores: usize) -> Vec<usize> {
    if asked.is_empty() {
        let powers = std::iter::successors(Some(1), |threads| Some(2 * threads));
        let most = (cores / parties).max(1);
        return powers.take_while(|threads| *threads <= most).collect();
    }
    let mut threads = asked.to_vec();
    threads.sort_unstable();
    threads.dedup();
    threads
}

/// Says why this many copies are too large for the machine, of which one takes the first memory; where either is unknown, they
/// are tried.
fn too_large(one: Option<u64>, copies: usize, available: Option<u64>) -> Option<String> {
    let wanted = one?.saturating_mul(copies as u64);
    let available = available?;
    (wanted > available).then(|| {
        let [wanted, available] = [wanted, available].map(bytes);
        format!("they would take {wanted}, and this machine has {available} to give")
    })
}

fn assignment(
    args: &BenchScaling,
    workload: &Workload,
    threads: usize,
    is_checked: bool,
) -> Assignment {
    Assignment {
        workload: workload.name.to_owned(),
        scale: args.scale,
        threads,
        transport: args.transport,
        me: None,
        is_checked,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_powers_of_two_up_to_the_cores_of_a_party() {
        assert_eq!(threads_of(&[], 2, 2), [1]);
        assert_eq!(threads_of(&[], 3, 2), [1]);
        assert_eq!(threads_of(&[], 2, 16), [1, 2, 4, 8]);
        assert_eq!(threads_of(&[], 3, 16), [1, 2, 4]);
        assert_eq!(threads_of(&[4, 1, 4], 3, 2), [1, 4]);
    }

    #[test]
    fn copies_that_do_not_fit_into_memory_are_left_out() {
        assert_eq!(too_large(Some(100), 8, Some(800)), None);
        let why = too_large(Some(100 << 20), 8, Some((800 << 20) - 1)).unwrap();
        assert!(why.starts_with("they would take 800.00 MiB"), "{why}");
        assert!(too_large(Some(u64::MAX), 8, Some(u64::MAX)).is_none());
        assert!(too_large(Some(u64::MAX), 8, Some(u64::MAX - 1)).is_some());
        assert_eq!(too_large(None, 8, Some(1)), None);
        assert_eq!(too_large(Some(1), 8, None), None);
    }
}
