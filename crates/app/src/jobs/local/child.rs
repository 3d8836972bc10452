//! One party of a local run, in its own process.

use std::cell::Cell;
use std::ffi::OsString;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use madrigal_core::{Party, Zeroizing};
use madrigal_engine::serve;
use madrigal_net::Session;
use sha2::{Digest, Sha256};

use super::wire::{self, Assignment, Event, Meeting};
use crate::failure::{Failure, Result, Status};
use crate::jobs::party::{PartyOutcome, Prepared, Runs};
use crate::jobs::source::ReadCircuit;
use crate::jobs::task::{Input, Own, Task};
use crate::numbers::hex;
use crate::processes::party::{Listening, end_with_the_starter};
use crate::reach::Network;

/// Between two reports of progress.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

/// The argument of a process that is to be a party.
pub const COMMAND: &str = "child";

/// The variable that is set for a process which may tell what is wrong in its data, as its starter may.
pub const SHOW_VALUES: &str = "MADRIGAL_CHILD_SHOWS_VALUES";

/// Tells whether a process with these arguments is to be a party. A program asks this before it reads its flags: to know all of them
/// takes megabytes.
pub fn is_one(arguments: &[OsString]) -> bool {
    matches!(arguments, [only] if only == COMMAND)
}

/// Takes part as the starter says, and tells it the outcome.
pub fn run() -> u8 {
    if std::env::var_os(SHOW_VALUES).is_some() {
        madrigal_core::text::show_own_data();
    }
    let told = match take_part() {
        Ok((outcome, deliver)) => tell_outcome(outcome, deliver),
        Err(failure) => wire::send(
            &mut io::stdout().lock(),
            &Event::Failed {
                status: failure.status(),
                message: crate::terminal::sentence(&failure),
                echo: failure.is_echo(),
            },
        ),
    };
    // The starter reads what went wrong from standard output; if it has gone, nobody wants to know.
    if told.is_ok() {
        0
    } else {
        Status::Internal as u8
    }
}

fn take_part() -> Result<(PartyOutcome, bool)> {
    let lost = Failure::system("this command is started by `madrigal run --local` alone");
    let mut input = io::stdin().lock();
    let assignment: Option<Assignment> = wire::receive(&mut input).map_err(lost)?;
    let assignment = assignment.ok_or_else(|| Failure::bug("a party process without a task"))?;
    let mut bytes = |length| {
        let text = wire::receive_bytes(&mut input, length);
        text.map_err(Failure::system("cannot read what the starter sends"))
    };
    let circuit = assignment.circuit.map(&mut bytes).transpose()?;
    let values = assignment.input.map(|(name, length)| {
        let text = Zeroizing::new(bytes(length)?);
        Ok::<_, Failure>(Input { name, text })
    });
    let own = Own {
        input: values.transpose()?,
        dealt: Vec::new(),
        store: assignment.store,
    };
    // A dealer knows nothing of the job.
    let mut prepared = if assignment.me < assignment.task.parties() {
        let circuit = match (circuit, &assignment.task) {
            (Some(text), Task::Compute(job)) => {
                let read = ReadCircuit::of(&job.circuit.name(), &text, None)?;
                Some(Arc::new(read.compiled()))
            }
            _ => None,
        };
        let (task, me) = (&assignment.task, assignment.me);
        Some(Prepared::new(task, me, circuit, &own)?)
    } else {
        None
    };
    drop(own);

    let listening = Listening::new(assignment.transport)?;
    let ready = Event::Ready(listening.ready());
    let told = wire::send(&mut io::stdout().lock(), &ready);
    told.map_err(Failure::system("the starter has gone"))?;

    let meeting: Option<Meeting> =
        wire::receive(&mut input).map_err(Failure::system("cannot read the addresses"))?;
    let meeting = meeting.ok_or_else(|| Failure::bug("a party process without addresses"))?;
    drop(input);
    end_with_the_starter();

    let reported = Cell::new(Instant::now());
    let observe = |progress: madrigal_engine::Progress| {
        if progress.done < progress.total && reported.get().elapsed() < PROGRESS_INTERVAL {
            return;
        }
        reported.set(Instant::now());
        let told = wire::send(&mut io::stdout().lock(), &Event::Progress(progress.into()));
        if told.is_err() {
            // The starter has gone, and with it whoever wants the result.
            std::process::exit(1);
        }
    };
    let runs = Runs {
        first_job: 1,
        patience: &assignment.patience,
    };
    let me = Party::checked(assignment.me, meeting.addresses.len()).map_err(Failure::bug)?;
    let link = (Network::parse(&assignment.network)?, &assignment.patience);
    let threads = match &prepared {
        Some(_) => assignment.task.own_threads(),
        None => 0,
    };
    let work = async |session: &Session| match &mut prepared {
        Some(prepared) => prepared.work(session, runs, &observe).await,
        None => {
            serve(session, assignment.patience.deadline).await?;
            Ok(PartyOutcome::of_helper(assignment.me))
        }
    };
    let outcome = listening.meet_over(me, &meeting, link, threads, work)?;
    Ok((outcome, assignment.deliver))
}

fn tell_outcome(outcome: PartyOutcome, deliver: bool) -> io::Result<()> {
    let mut digest = None;
    if let Some(output) = &outcome.output {
        let mut text = Digested::default();
        output.write_to(&mut text)?;
        digest = Some(text);
    }
    let bytes = digest.as_ref().map(|text| text.bytes);
    let mut to = io::stdout().lock();
    wire::send(
        &mut to,
        &Event::Done {
            figures: outcome.figures,
            digest: digest.map(|text| hex(&text.digest.finalize())),
            bytes: bytes.filter(|_| deliver),
        },
    )?;
    if let Some(output) = outcome.output.filter(|_| deliver) {
        output.write_to(&mut to)?;
    }
    to.flush()
}

/// A text of which only the digest and the length are kept.
#[derive(Default)]
struct Digested {
    digest: Sha256,
    bytes: usize,
}

impl Write for Digested {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.digest.update(text);
        self.bytes += text.len();
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
