//! `madrigal-lab scaling`: how work scales with the threads of a party.
//!
//! Each run is a set of fresh processes, one for each party, or over memory one for all of them. Runs of different
//! numbers of threads take turns, so that what else this machine does hits all alike. Wall time tells little where a
//! machine has fewer cores than all parties have threads: processor time of all threads, and that of the busiest one,
//! stand beside it.

mod line;
mod messages;
mod network;
mod party;
mod plots;
mod processes;
mod processor;
mod row;
mod workloads;

pub use party::run as take_part;

use crate::args::BenchScaling;
use crate::exit::Result;
use crate::measured::{Rows, Watch, is_wanted, select};
use crate::numbers::rate;
use crate::progress::Steps;
use line::Line;
use messages::Assignment;
use processes::Once;
use row::{Beside, ScalingRow};
use workloads::Workload;

pub fn run(args: &BenchScaling) -> Result<()> {
    let wanted = |name: &str| is_wanted(&args.only, name);
    let wanted = select(workloads::all(), wanted, |workload| workload.name)?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads: Vec<Vec<usize>> = wanted
        .iter()
        .map(|workload| threads_of(&args.threads, workload.parties, cores))
        .collect();
    let runs = threads.iter().map(Vec::len).sum::<usize>() as u64 * u64::from(args.repeat);
    let steps = Steps::new(runs, args.json);
    let mut rows = Rows::new(args.json);
    let mut told = Vec::new();
    let mut line = Line::default();
    let mut aes = Vec::new();
    for (workload, threads) in wanted.iter().zip(&threads) {
        let mut runs: Vec<Vec<Once>> = threads.iter().map(|_| Vec::new()).collect();
        let watches: Vec<Watch> = threads
            .iter()
            .map(|threads| Watch::new(threads * workload.parties))
            .collect();
        for turn in 0..args.repeat {
            for (at, &threads) in threads.iter().enumerate() {
                steps.name(&format!("{}, {threads} threads", workload.name));
                steps.advance();
                let assignment = assignment(args, workload, threads, turn == 0);
                watches[at].look();
                let once = processes::once(&assignment, workload.parties)?;
                watches[at].look();
                line.look(once.connections)?;
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
}
