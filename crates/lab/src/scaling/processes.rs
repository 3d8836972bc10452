//! The processes of a run, and its figures.

use madrigal_app::processes::{self, Group};

use super::messages::{Assignment, Done, Figures, Used};
use crate::args::TransportArg;
use crate::exit::Result;

/// The command of a process of this benchmark.
pub(crate) const COMMAND: &str = "scaling-party";

/// Figures of a run.
pub(crate) struct Once {
    /// Operations of the run.
    pub ops: u64,
    pub parties: Vec<Figures>,
    pub processes: Vec<Used>,
    /// TCP connections between all parties; none over memory.
    pub connections: usize,
    /// Seconds of the slowest of several copies of the work, see [`copies`]; `None` where they did not run.
    pub copies_seconds: Option<f64>,
}

impl Once {
    /// Seconds of the slowest party.
    pub(crate) fn seconds(&self) -> f64 {
        slowest(&self.parties)
    }

    /// Memory of all processes at their peaks; `None` where the system does not tell.
    pub(crate) fn memory(&self) -> Option<u64> {
        self.processes.iter().map(|used| used.peak_rss_bytes).sum()
    }
}

fn slowest(parties: &[Figures]) -> f64 {
    let seconds = parties.iter().map(|party| party.seconds);
    seconds.fold(0.0, f64::max)
}

/// Runs the work once, in fresh processes.
pub(crate) fn once(assignment: &Assignment, parties: usize) -> Result<Once> {
    let is_alone = assignment.transport == TransportArg::Memory;
    let all: Vec<Done> = processes::run(COMMAND, &tasks(assignment, parties))?;
    let ops = all.first().map_or(0, |done| done.ops);
    let used: Vec<Used> = all.iter().map(|done| done.used).collect();
    let ends = used.iter().map(|used| used.connections);
    // Where the system does not tell, each pair has one. A party that is late to look no longer sees those of others that have gone.
    let connections = match ends.sum::<Option<usize>>() {
        Some(ends) => ends.div_ceil(2),
        None => parties * (parties - 1) / 2,
    };
    Ok(Once {
        ops,
        parties: all.into_iter().flat_map(|done| done.parties).collect(),
        processes: used,
        connections: if is_alone { 0 } else { connections },
        copies_seconds: None,
    })
}

/// Runs copies of the work at the same time, which share nothing but the machine, and gives the seconds of the slowest one:
/// by then, all of them are done. All begin when all are ready.
pub(crate) fn copies(assignment: &Assignment, parties: usize, copies: usize) -> Result<f64> {
    let tasks = tasks(assignment, parties);
    let mut all = Vec::new();
    for _ in 0..copies {
        all.push(Group::start(COMMAND, &tasks)?);
    }
    let mut meetings = Vec::new();
    for group in &mut all {
        meetings.push(group.ready()?);
    }
    for (meeting, group) in meetings.iter().zip(&mut all) {
        group.begin(meeting)?;
    }
    let mut most: f64 = 0.0;
    for group in all {
        for done in group.done::<Done>()? {
            most = most.max(slowest(&done.parties));
        }
    }
    Ok(most)
}

/// A task for each party, or over memory one for all of them.
fn tasks(assignment: &Assignment, parties: usize) -> Vec<Assignment> {
    let is_alone = assignment.transport == TransportArg::Memory;
    let processes = if is_alone { 1 } else { parties };
    let task = |me| Assignment {
        me: (!is_alone).then_some(me),
        ..assignment.clone()
    };
    (0..processes).map(task).collect()
}
