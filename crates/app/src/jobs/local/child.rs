//! One party of a local run, in its own process.

use std::cell::Cell;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::time::{Duration, Instant};

use madrigal_core::{Party, Zeroizing};
use madrigal_engine::serve;
use madrigal_net::identity::{Identity, Validity};
use madrigal_net::roster::Roster;
use madrigal_net::tls::TlsParty;
use madrigal_net::transport::Security;
use sha2::{Digest, Sha256};

use super::wire::{self, Assignment, Event, Meeting};
use crate::failure::{Failure, Result, Status};
use crate::flags::TransportArg;
use crate::jobs::party::{PartyOutcome, Prepared, Runs};
use crate::jobs::source::ReadCircuit;
use crate::jobs::task::{Input, Own, Task};
use crate::numbers::hex;
use crate::reach::{Network, Way};

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

    // Port 0: the system gives a free one, and it stays ours.
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    let listener = listener.map_err(Failure::system("cannot listen on the loopback interface"))?;
    let address = listener
        .local_addr()
        .map_err(Failure::system("cannot listen"))?;
    // A key for this run alone; it never leaves this process.
    let identity = match assignment.transport {
        TransportArg::Tls => Some(Identity::generate(Validity::days(1)?)?),
        _ => None,
    };
    let ready = Event::Ready {
        address: address.to_string(),
        key: identity
            .as_ref()
            .map(|identity| identity.fingerprint().to_string()),
    };
    let told = wire::send(&mut io::stdout().lock(), &ready);
    told.map_err(Failure::system("the starter has gone"))?;

    let meeting: Option<Meeting> =
        wire::receive(&mut input).map_err(Failure::system("cannot read the addresses"))?;
    let meeting = meeting.ok_or_else(|| Failure::bug("a party process without addresses"))?;
    drop(input);
    die_with_the_starter();

    let security = match &identity {
        None => Security::Clear,
        Some(identity) => Security::Tls(TlsParty::new(identity, Arc::new(roster(&meeting)?))?),
    };
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
    let way = Way {
        me: Party::checked(assignment.me, meeting.addresses.len()).map_err(Failure::bug)?,
        addresses: &meeting.addresses,
        listener,
        security: &security,
        network: Network::parse(&assignment.network)?,
        patience: &assignment.patience,
        threads: match &prepared {
            Some(_) => assignment.task.own_threads(),
            None => 0,
        },
        name: "",
        observe: &|_| {},
    };
    let outcome = way.in_session(async |session| match &mut prepared {
        Some(prepared) => prepared.work(session, runs, &observe).await,
        None => {
            serve(session, assignment.patience.deadline).await?;
            Ok(PartyOutcome::of_helper(assignment.me))
        }
    })?;
    Ok((outcome, assignment.deliver))
}

fn roster(meeting: &Meeting) -> Result<Roster> {
    let mut parties = Vec::new();
    for (address, key) in meeting.addresses.iter().zip(&meeting.keys) {
        let address = address.parse().map_err(Failure::bug)?;
        let key = key.parse().map_err(Failure::bug)?;
        parties.push((address, key));
    }
    Ok(Roster::local(parties)?)
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

/// The starter keeps our standard input open as long as it lives.
fn die_with_the_starter() {
    std::thread::spawn(|| {
        let _ = io::stdin().lock().read_to_end(&mut Vec::new());
        std::process::exit(1);
    });
}
