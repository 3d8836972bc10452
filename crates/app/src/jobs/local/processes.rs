//! Each party a process of its own, over loopback.
//!
//! A process reads its circuit and values, binds a free port of the system's choice and says so;
//! when all have, each is told where the others are. So no two runs can fight for a port, and what
//! is wrong with a file is said before anybody connects.

use std::io::{self, BufReader, Write};
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use madrigal_core::Party;
use sha2::{Digest, Sha256};

use super::job::{LocalOutcome, LocalRun, differing};
use super::wire::{self, Assignment, Event, Meeting, Ready};
use crate::failure::{Failure, Result, Status, first_cause};
use crate::jobs::fault::PartyFailure;
use crate::numbers::hex;
use crate::progress::Bars;
use crate::runs::PartyRuns;
use crate::stop::{self, Signal};

/// Time that the other parties have to report once one has failed.
const GRACE: Duration = Duration::from_secs(5);

/// News of one party's process.
enum News {
    Event(Event),
    /// The result that a `Done` announced.
    Result(Vec<u8>),
    /// The starter was told to stop; no process says this.
    Stopped(Signal),
    /// The process will say nothing more.
    Gone,
}

pub(super) fn run(local: &mut LocalRun<'_>, bars: &Bars) -> Result<LocalOutcome> {
    let (sender, news) = mpsc::channel();
    let mut processes = Processes(Vec::new());
    let stopped = sender.clone();
    // If nobody listens any more, the run is over.
    let _kept = stop::when_told(move |signal| drop(stopped.send((0, News::Stopped(signal)))));
    for me in 0..local.task.parties() + local.task.helpers() {
        processes.start(local, me, sender.clone())?;
    }
    drop(sender);
    (local.own, local.circuit_text) = (Vec::new(), None);
    processes.introduce(&news)?;
    let finished = processes.wait(&news, bars)?;
    together(local, finished)
}

/// The processes; those that still run when this is dropped are killed.
struct Processes(Vec<Process>);

struct Process {
    child: Child,
    stdin: Option<ChildStdin>,
}

/// Report of a party that has succeeded.
#[derive(Default)]
struct Finished {
    figures: Option<PartyRuns>,
    digest: Option<String>,
    output: Option<Vec<u8>>,
}

/// A party's failure, and whether it only echoes another's.
struct Failed {
    party: Party,
    status: Status,
    message: String,
    echo: bool,
}

impl Processes {
    fn start(
        &mut self,
        local: &LocalRun<'_>,
        me: usize,
        news: Sender<(usize, News)>,
    ) -> Result<()> {
        let command = super::again::command();
        let mut command = command.map_err(Failure::system("cannot find this program"))?;
        if madrigal_core::text::own_data_is_shown() {
            command.env(super::child::SHOW_VALUES, "1");
        }
        let mut child = command
            .arg(super::child::COMMAND)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(Failure::system("cannot start a process"))?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        self.0.push(Process { child, stdin });
        let own = local.own.get(me);
        let input = own.and_then(|own| own.input.as_ref());
        let circuit = local.circuit_text.as_deref().filter(|_| own.is_some());
        let assignment = Assignment {
            me,
            task: local.task.clone(),
            transport: local.transport,
            network: local.network.to_owned(),
            patience: *local.patience,
            circuit: circuit.map(<[u8]>::len),
            input: input.map(|input| (input.name.clone(), input.text.len())),
            store: own.and_then(|own| own.store.clone()),
            deliver: me == local.spokesman(),
        };
        if let Some(stdout) = stdout {
            thread::spawn(move || listen(me, BufReader::new(stdout), &news));
        }
        if let Some(stdin) = &mut self.0[me].stdin {
            let sent = wire::send(stdin, &assignment)
                .and_then(|()| stdin.write_all(circuit.unwrap_or_default()))
                .and_then(|()| stdin.write_all(input.map_or(&[], |input| &input.text)))
                .and_then(|()| stdin.flush());
            unless_gone(sent)?;
        }
        Ok(())
    }

    /// Waits until all processes listen, and tells each where.
    fn introduce(&mut self, news: &Receiver<(usize, News)>) -> Result<()> {
        let mut ready: Vec<Option<Ready>> = vec![None; self.0.len()];
        while ready.iter().any(Option::is_none) {
            let Ok((party, news)) = news.recv() else {
                return Err(Failure::bug("all party processes have gone"));
            };
            match news {
                News::Event(Event::Ready(own)) => ready[party] = Some(own),
                News::Event(Event::Failed {
                    status, message, ..
                }) => {
                    return Err(PartyFailure {
                        party: Party::new(party),
                        status,
                        message,
                    }
                    .into());
                }
                News::Gone => return Err(self.died(party).into()),
                News::Stopped(signal) => return Err(Failure::Stopped(signal)),
                News::Event(_) | News::Result(_) => {}
            }
        }
        let meeting: Meeting = ready.into_iter().flatten().collect();
        for process in &mut self.0 {
            if let Some(stdin) = &mut process.stdin {
                unless_gone(wire::send(stdin, &meeting))?;
            }
        }
        Ok(())
    }

    /// Waits until all parties have finished, or one has failed and the others have reported.
    fn wait(&mut self, news: &Receiver<(usize, News)>, bars: &Bars) -> Result<Vec<Finished>> {
        let mut finished: Vec<Finished> = self.0.iter().map(|_| Finished::default()).collect();
        let mut failed: Vec<Failed> = Vec::new();
        let mut gone = vec![false; self.0.len()];
        let mut until = None;
        while !gone.iter().all(|&gone| gone) {
            let (party, news) = match receive(news, until) {
                Ok(news) => news,
                Err(_) => break,
            };
            match news {
                News::Event(Event::Progress(step)) => bars.update(party, step),
                News::Event(Event::Done {
                    figures, digest, ..
                }) => {
                    finished[party].figures = Some(figures);
                    finished[party].digest = digest;
                }
                News::Result(output) => finished[party].output = Some(output),
                News::Event(Event::Failed {
                    status,
                    message,
                    echo,
                }) => {
                    failed.push(Failed {
                        party: Party::new(party),
                        status,
                        message,
                        echo,
                    });
                }
                News::Event(Event::Ready(_)) => {}
                News::Stopped(signal) => return Err(Failure::Stopped(signal)),
                News::Gone => {
                    gone[party] = true;
                    let told = failed.iter().any(|failed| failed.party.index() == party);
                    if finished[party].figures.is_none() && !told {
                        failed.push(self.died(party));
                    }
                }
            }
            if !failed.is_empty() {
                until = until.or(Some(Instant::now() + GRACE));
                // With the cause known, there is nothing to wait for.
                if failed.iter().any(|failed| !failed.echo) {
                    break;
                }
            }
        }
        match first_cause(failed, |failed| failed.echo) {
            Some(failed) => Err(failed.into()),
            None => Ok(finished),
        }
    }

    /// Tells how a process ended that said nothing of its own failure.
    fn died(&mut self, party: usize) -> Failed {
        let how = match self.0[party].child.wait() {
            Ok(status) => ending(status),
            Err(error) => error.to_string(),
        };
        Failed {
            party: Party::new(party),
            status: Status::Network,
            message: format!("its process ended before the job was done ({how})"),
            echo: false,
        }
    }
}

/// Drops the failure to tell a process something that has died already: its end is told as such.
fn unless_gone(sent: io::Result<()>) -> Result<()> {
    match sent {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        sent => sent.map_err(Failure::system("cannot tell a party's process what to do")),
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        for process in &mut self.0 {
            // The end of its input tells a process that still runs to go; the kill makes sure.
            drop(process.stdin.take());
            if !matches!(process.child.try_wait(), Ok(Some(_))) {
                let _ = process.child.kill();
            }
            let _ = process.child.wait();
        }
    }
}

impl From<Failed> for Failure {
    fn from(failed: Failed) -> Self {
        let ending = PartyFailure {
            party: failed.party,
            status: failed.status,
            message: failed.message,
        };
        ending.into()
    }
}

/// Reads what a process says until it ends.
fn listen(party: usize, mut from: impl io::BufRead, news: &Sender<(usize, News)>) {
    while let Ok(Some(event)) = wire::receive::<Event>(&mut from) {
        let announced = match &event {
            Event::Done { bytes, .. } => *bytes,
            _ => None,
        };
        // The result first: after `Done` a party is complete.
        if let Some(length) = announced {
            let Ok(output) = wire::receive_bytes(&mut from, length) else {
                break;
            };
            if news.send((party, News::Result(output))).is_err() {
                break;
            }
        }
        if news.send((party, News::Event(event))).is_err() {
            break;
        }
    }
    // If nobody listens any more, the run is over.
    drop(news.send((party, News::Gone)));
}

fn receive(
    news: &Receiver<(usize, News)>,
    until: Option<Instant>,
) -> Result<(usize, News), RecvTimeoutError> {
    match until {
        Some(until) => news.recv_timeout(until.saturating_duration_since(Instant::now())),
        None => news.recv().map_err(|_| RecvTimeoutError::Disconnected),
    }
}

fn ending(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("killed by signal {signal}");
    }
    status.to_string()
}

fn together(local: &LocalRun<'_>, mut finished: Vec<Finished>) -> Result<LocalOutcome> {
    let spokesman = local.spokesman();
    finished.truncate(local.task.parties());
    let output = finished[spokesman].output.take();
    let output = output.ok_or_else(|| Failure::bug("no result"))?;
    let digest = hex(&Sha256::digest(&output));
    for party in local.task.receivers() {
        if finished[party].digest.as_ref() != Some(&digest) {
            return Err(differing(party, spokesman));
        }
    }
    Ok(LocalOutcome {
        output,
        figures: finished
            .into_iter()
            .filter_map(|party| party.figures)
            .collect(),
    })
}
