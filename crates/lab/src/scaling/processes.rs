//! The processes of a run: started, introduced to each other, and asked for its figures.

use std::io::{self, BufReader};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use madrigal_app::failure::first_cause;
use madrigal_core::Party;

use super::messages::{Assignment, Done, Event, Figures, Meeting, Used, receive, send};
use crate::args::TransportArg;
use crate::exit::{Failure, Result};
use crate::jobs::PartyFailure;

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
    let mut processes = start(assignment, parties)?;
    ready(&mut processes)?.tell(&mut processes)?;
    let all = done(&mut processes)?;
    let ops = all.first().map_or(0, |done| done.ops);
    let used: Vec<Used> = all.iter().map(|done| done.used).collect();
    let ends = used.iter().map(|used| used.connections);
    // Where the system does not tell, each pair has one.
    let connections = match ends.sum::<Option<usize>>() {
        Some(ends) => ends / 2,
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
    let mut all = Vec::new();
    for _ in 0..copies {
        all.push(start(assignment, parties)?);
    }
    let mut meetings = Vec::new();
    for processes in &mut all {
        meetings.push(ready(processes)?);
    }
    for (meeting, processes) in meetings.iter().zip(&mut all) {
        meeting.tell(processes)?;
    }
    let mut most: f64 = 0.0;
    for processes in &mut all {
        for done in done(processes)? {
            most = most.max(slowest(&done.parties));
        }
    }
    Ok(most)
}

/// Starts a process for each party, or over memory one for all of them.
fn start(assignment: &Assignment, parties: usize) -> Result<Vec<Process>> {
    let is_alone = assignment.transport == TransportArg::Memory;
    let processes = if is_alone { 1 } else { parties };
    let start = |me| {
        let me = (!is_alone).then_some(me);
        Process::start(&Assignment {
            me,
            ..assignment.clone()
        })
    };
    (0..processes).map(start).collect()
}

/// A process, which is killed if it still runs when this is dropped.
struct Process {
    child: Child,
    /// Kept open: a process whose input ends goes.
    stdin: Option<ChildStdin>,
    stdout: Option<BufReader<ChildStdout>>,
}

impl Process {
    fn start(assignment: &Assignment) -> Result<Self> {
        let program = std::env::current_exe();
        let program = program.map_err(Failure::system("cannot find this program"))?;
        let mut child = Command::new(program)
            .arg(COMMAND)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(Failure::system("cannot start a process"))?;
        let mut process = Self {
            stdin: child.stdin.take(),
            stdout: child.stdout.take().map(BufReader::new),
            child,
        };
        process.tell(assignment)?;
        Ok(process)
    }

    fn tell(&mut self, message: &impl serde::Serialize) -> Result<()> {
        let sent = self.stdin.as_mut().map(|stdin| send(stdin, message));
        match sent {
            // A process that has gone already has told why, or its end tells it.
            Some(Err(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            Some(sent) => sent.map_err(Failure::system("cannot tell a process what to do")),
            None => Ok(()),
        }
    }

    fn hear(&mut self) -> Result<Option<Event>> {
        let heard = self.stdout.as_mut().map(receive);
        let heard = heard.transpose();
        Ok(heard
            .map_err(Failure::system("cannot read what a process tells"))?
            .flatten())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.stdin.take());
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

/// Waits until all processes are ready, and learns where the parties listen.
fn ready(processes: &mut [Process]) -> Result<Meeting> {
    let mut meeting = Meeting {
        addresses: Vec::new(),
        keys: Vec::new(),
    };
    for (party, process) in processes.iter_mut().enumerate() {
        match process.hear()? {
            Some(Event::Ready { address, key }) => {
                meeting.addresses.extend(address);
                meeting.keys.extend(key);
            }
            Some(Event::Failed {
                status, message, ..
            }) => {
                let party = Party::new(party);
                return Err(PartyFailure {
                    party,
                    status,
                    message,
                }
                .into());
            }
            Some(Event::Done(_)) | None => return Err(ended(party).into()),
        }
    }
    Ok(meeting)
}

impl Meeting {
    /// Tells all processes where the parties listen: they begin.
    fn tell(&self, processes: &mut [Process]) -> Result<()> {
        let mut processes = processes.iter_mut();
        processes.try_for_each(|process| process.tell(self))
    }
}

/// Waits until all processes have finished or failed.
fn done(processes: &mut [Process]) -> Result<Vec<Done>> {
    let (mut all, mut failures) = (Vec::new(), Vec::new());
    for (party, process) in processes.iter_mut().enumerate() {
        match process.hear()? {
            Some(Event::Done(done)) => all.push(done),
            Some(Event::Failed {
                status,
                message,
                echo,
            }) => {
                let party = Party::new(party);
                let failure = PartyFailure {
                    party,
                    status,
                    message,
                };
                failures.push((failure, echo));
            }
            Some(Event::Ready { .. }) | None => failures.push((ended(party), false)),
        }
    }
    match first_cause(failures, |(_, echo)| *echo) {
        Some((failure, _)) => Err(failure.into()),
        None => Ok(all),
    }
}

fn ended(party: usize) -> PartyFailure {
    PartyFailure {
        party: Party::new(party),
        status: madrigal_app::failure::Status::Network,
        message: "its process ended before the job was done; run the row again with --only"
            .to_owned(),
    }
}
