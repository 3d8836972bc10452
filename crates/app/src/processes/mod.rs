//! Parties as processes of one command: started, introduced to each other on this machine, and asked for what they have done.
//!
//! A command starts itself once more for each party, over memory once for all of them, with a command of its own that calls
//! [`take_part`]. The first line that a process reads is its task, and the second one where the others listen.

pub(crate) mod messages;
pub(crate) mod party;
mod processor;

use std::io::{self, BufReader};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use madrigal_core::Party;
use serde::Serialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use crate::failure::{Failure, Result, Status, first_cause};
use crate::jobs::PartyFailure;
use messages::{Event, receive, send};
pub use messages::{Figures, Meeting, Ready, Used};
pub use party::{Listening, Starter, take_part};
pub use processor::Clock;

/// Processes of one run, by their parties.
#[derive(Debug)]
pub struct Group(Vec<Process>);

impl Group {
    /// Starts a process for each task, as this program with that command.
    ///
    /// # Errors
    /// [`Failure`]: a process that the system does not start.
    pub fn start(command: &str, tasks: &[impl Serialize]) -> Result<Self> {
        let start = |task| Process::start(command, task);
        Ok(Self(tasks.iter().map(start).collect::<Result<_>>()?))
    }

    /// Waits until all processes are ready, and learns where the parties listen.
    ///
    /// # Errors
    /// [`Failure`]: that of a process.
    pub fn ready(&mut self) -> Result<Meeting> {
        let ready = |(party, process): (usize, &mut Process)| match process.hear::<IgnoredAny>()? {
            Some(Event::Ready(ready)) => Ok(ready),
            Some(Event::Failed {
                status, message, ..
            }) => {
                let party = Party::new(party);
                Err(PartyFailure {
                    party,
                    status,
                    message,
                }
                .into())
            }
            Some(Event::Done(_)) | None => Err(ended(party).into()),
        };
        self.0.iter_mut().enumerate().map(ready).collect()
    }

    /// Tells all processes where the parties listen: they begin.
    ///
    /// # Errors
    /// [`Failure`]: a process that cannot be told.
    pub fn begin(&mut self, meeting: &Meeting) -> Result<()> {
        self.0
            .iter_mut()
            .try_for_each(|process| process.tell(meeting))
    }

    /// Waits until all processes have finished, and gives what they tell.
    ///
    /// # Errors
    /// [`Failure`]: the first cause among those of the processes.
    pub fn done<D: DeserializeOwned>(mut self) -> Result<Vec<D>> {
        let (mut all, mut failures) = (Vec::new(), Vec::new());
        for (party, process) in self.0.iter_mut().enumerate() {
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
                Some(Event::Ready(_)) | None => failures.push((ended(party), false)),
            }
        }
        match first_cause(failures, |(_, echo)| *echo) {
            Some((failure, _)) => Err(failure.into()),
            None => Ok(all),
        }
    }
}

/// Runs the tasks once, each in a process of its own, and gives what these tell.
///
/// # Errors
/// [`Failure`]: that of a process.
pub fn run<D: DeserializeOwned>(command: &str, tasks: &[impl Serialize]) -> Result<Vec<D>> {
    let mut group = Group::start(command, tasks)?;
    let meeting = group.ready()?;
    group.begin(&meeting)?;
    group.done()
}

/// A process, which is killed if it still runs when this is dropped.
#[derive(Debug)]
struct Process {
    child: Child,
    /// Kept open: a process whose input ends goes.
    stdin: Option<ChildStdin>,
    stdout: Option<BufReader<ChildStdout>>,
}

impl Process {
    fn start(command: &str, task: &impl Serialize) -> Result<Self> {
        let program = std::env::current_exe();
        let program = program.map_err(Failure::system("cannot find this program"))?;
        let mut child = Command::new(program)
            .arg(command)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(Failure::system("cannot start a process"))?;
        let mut process = Self {
            stdin: child.stdin.take(),
            stdout: child.stdout.take().map(BufReader::new),
            child,
        };
        process.tell(task)?;
        Ok(process)
    }

    fn tell(&mut self, message: &impl Serialize) -> Result<()> {
        let sent = self.stdin.as_mut().map(|stdin| send(stdin, message));
        match sent {
            // A process that has gone already has told why, or its end tells it.
            Some(Err(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            Some(sent) => sent.map_err(Failure::system("cannot tell a process what to do")),
            None => Ok(()),
        }
    }

    fn hear<D: DeserializeOwned>(&mut self) -> Result<Option<Event<D>>> {
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

fn ended(party: usize) -> PartyFailure {
    PartyFailure {
        party: Party::new(party),
        status: Status::Network,
        message: "its process ended before the job was done; run the row again with --only"
            .to_owned(),
    }
}
