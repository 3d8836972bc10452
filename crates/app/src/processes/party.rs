//! A process that takes part in a run: one party over a socket, or all of them over memory.

use std::io::{self, Read as _};
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;

use madrigal_core::Party;
use madrigal_net::Session;
use madrigal_net::identity::{Identity, Validity};
use madrigal_net::roster::Roster;
use madrigal_net::tls::TlsParty;
use madrigal_net::transport::Security;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::messages::{Event, Meeting, Ready, receive, send};
use crate::failure::{Failure, Result};
use crate::flags::{Patience, TransportArg};
use crate::reach::{Network, Way};

/// Who started this process.
#[derive(Debug)]
pub struct Starter(());

/// Does the task that the starter gives, and tells it the outcome.
///
/// # Errors
/// [`Failure`]: a starter that has gone. Others are told to it.
pub fn take_part<A: DeserializeOwned, D: Serialize>(
    work: impl FnOnce(A, Starter) -> Result<D>,
) -> Result<()> {
    let told = match task().and_then(|task| work(task, Starter(()))) {
        Ok(done) => Event::Done(done),
        Err(failure) => Event::Failed {
            status: failure.status(),
            message: failure.to_string(),
            echo: failure.is_echo(),
        },
    };
    let told = send(&mut io::stdout().lock(), &told);
    told.map_err(Failure::system("the starter has gone"))
}

fn task<A: DeserializeOwned>() -> Result<A> {
    let lost = Failure::system("this command is started by this program alone");
    let task: Option<A> = receive(&mut io::stdin().lock()).map_err(lost)?;
    task.ok_or_else(|| Failure::bug("a process without a task"))
}

impl Starter {
    /// Tells the starter that all is ready, and waits until it says where the parties are. From then on this process ends when the
    /// starter does.
    ///
    /// # Errors
    /// [`Failure`]: a starter that has gone.
    pub fn begin(self, ready: Ready) -> Result<Meeting> {
        let told = send(&mut io::stdout().lock(), &Event::<()>::Ready(ready));
        told.map_err(Failure::system("the starter has gone"))?;
        let mut input = io::stdin().lock();
        let meeting = receive(&mut input).map_err(Failure::system("cannot read the addresses"))?;
        let meeting = meeting.ok_or_else(|| Failure::bug("a process without addresses"))?;
        drop(input);
        end_with_the_starter();
        Ok(meeting)
    }
}

/// A party that others can reach.
#[derive(Debug)]
pub struct Listening {
    listener: TcpListener,
    address: String,
    /// A key for this run alone; it never leaves this process.
    identity: Option<Identity>,
}

impl Listening {
    /// Listens at a port that the system gives, with TLS under a key for this run.
    ///
    /// # Errors
    /// [`Failure`]: no port.
    pub fn new(transport: TransportArg) -> Result<Self> {
        // Port 0: the system gives a free one, and it stays ours.
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
        let listener =
            listener.map_err(Failure::system("cannot listen on the loopback interface"))?;
        let address = listener.local_addr();
        let address = address.map_err(Failure::system("cannot listen"))?;
        let identity = match transport {
            TransportArg::Tls => Some(Identity::generate(Validity::days(1)?)?),
            TransportArg::Tcp | TransportArg::Memory => None,
        };
        Ok(Self {
            listener,
            address: address.to_string(),
            identity,
        })
    }

    /// Address and key by which the others reach this party.
    pub fn ready(&self) -> Ready {
        let key = self
            .identity
            .as_ref()
            .map(|identity| identity.fingerprint());
        Ready {
            address: Some(self.address.clone()),
            key: key.map(|key| key.to_string()),
        }
    }

    /// Meets the others, and does work in their session.
    ///
    /// # Errors
    /// [`Failure`]: parties that do not meet, and that of the work.
    pub fn meet<T>(
        self,
        me: Party,
        meeting: &Meeting,
        threads: usize,
        work: impl AsyncFnOnce(&Session) -> Result<T>,
    ) -> Result<T> {
        let link = (Network::new(None), &Patience::default());
        self.meet_over(me, meeting, link, threads, work)
    }

    /// Meets the others over a network that links are made to behave like, with this patience, and does work in their session.
    ///
    /// # Errors
    /// [`Failure`]: parties that do not meet, and that of the work.
    pub fn meet_over<T>(
        self,
        me: Party,
        meeting: &Meeting,
        (network, patience): (Network, &Patience),
        threads: usize,
        work: impl AsyncFnOnce(&Session) -> Result<T>,
    ) -> Result<T> {
        let security = match &self.identity {
            None => Security::Clear,
            Some(identity) => Security::Tls(TlsParty::new(identity, Arc::new(roster(meeting)?))?),
        };
        let way = Way {
            me,
            addresses: &meeting.addresses,
            listener: self.listener,
            security: &security,
            network,
            patience,
            threads,
            name: "",
            observe: &|_| {},
        };
        way.in_session(work)
    }
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

/// Ends this process when its standard input does: the starter keeps it open as long as it lives.
pub(crate) fn end_with_the_starter() {
    std::thread::spawn(|| {
        let _ = io::stdin().lock().read_to_end(&mut Vec::new());
        std::process::exit(1);
    });
}
