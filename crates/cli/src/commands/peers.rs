//! `doctor --peers`: pair by pair, so that one party that is out of reach does not hide the others.
//!
//! As for a run, each party dials those before it and accepts those after, under TLS with pinned
//! keys. The accepting side speaks first (see `madrigal_net::tls`). Then each in turn asks, and the
//! other answers: `P` and 8 bytes are sent back; `B`, a length, and that many bytes are acknowledged by
//! one byte; `E` ends the turn.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use madrigal_core::domains::DOCTOR;
use madrigal_net::identity::Identity;
use madrigal_net::roster::{Roster, RosterEntry, RosterError, RosterProblem};
use madrigal_net::rustls::pki_types::UnixTime;
use madrigal_net::rustls::{self, ConnectionCommon, SideData};
use madrigal_net::tls::{OtherSide, TlsError, TlsParty, handshake};
use serde::Serialize;

use crate::args::Doctor;
use crate::exit::{Failure, Result, Status, Usage};
use crate::progress::say;
use crate::remote::{identity_files, listen, load_identity};
use madrigal_app::failure::of_tls;

/// A peer that says nothing for this long is told as silent.
const SILENCE: Duration = Duration::from_secs(5);
const PINGS: usize = 15;
/// The first, and if that was quick, the second measure of bandwidth, in bytes.
const BULKS: [u32; 2] = [1 << 20, 32 << 20];
/// No peer makes us read more than this in one go.
const MAX_BULK: u32 = 64 << 20;

/// Report on the way to one party.
#[derive(Debug, Clone, Serialize)]
pub struct PeerReport {
    /// Number of the party in `parties.toml`.
    pub party: usize,
    /// Name of the party in `parties.toml`.
    pub name: String,
    /// Address of the party in `parties.toml`.
    pub address: String,
    /// Key that `parties.toml` pins; if there is no problem, the party has proved that it holds it.
    pub key: String,
    /// Round trip that was measured; `null` with a problem.
    pub round_trip_seconds: Option<f64>,
    /// Rate from us to the party; `null` with a problem.
    pub bytes_per_second: Option<f64>,
    /// Clock of the party minus ours; `null` with a problem.
    pub clock_difference_seconds: Option<f64>,
    /// Sentence that says what is wrong; `null` if all is well.
    pub problem: Option<Problem>,
}

/// Why a party is not there as it should be.
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub struct Problem {
    pub text: String,
    #[serde(skip)]
    pub status: Status,
}

/// Makes a problem of the network.
impl From<String> for Problem {
    fn from(text: String) -> Self {
        let status = Status::Network;
        Self { text, status }
    }
}

impl From<TlsError> for Problem {
    fn from(error: TlsError) -> Self {
        Self {
            text: error.to_string(),
            status: of_tls(&error),
        }
    }
}

#[derive(Clone, Copy)]
struct Found {
    round_trip: f64,
    bandwidth: f64,
    clock: f64,
}

/// Result of one connection: its party, as far as that is known, and what was found.
type News = (Option<usize>, Result<Found, Problem>);

pub fn examine(path: &Path, args: &Doctor) -> Result<Vec<PeerReport>> {
    let roster = Arc::new(Roster::load(path).map_err(unread)?);
    let identity = identity(args, &roster)?;
    if args.key.key_file.is_none() && identity.validity().ends_soon(UnixTime::now()) {
        say(format_args!(
            "our certificate is valid from {}: renew it in time with `madrigal keygen --renew`; key and fingerprint stay",
            identity.validity()
        ));
    }
    let tls = TlsParty::new(&identity, Arc::clone(&roster))?;
    let me = tls.party();
    let entries = roster.parties();
    let listener = listen(args.listen.as_deref(), &entries[me])?;
    listener
        .set_nonblocking(true)
        .map_err(Failure::system("cannot listen"))?;
    let until = Instant::now() + args.connect_timeout;
    let (sender, news) = mpsc::channel();
    for (peer, entry) in entries.iter().enumerate().take(me) {
        let (tls, sender, entry) = (tls.clone(), sender.clone(), entry.clone());
        thread::spawn(move || {
            let _ = sender.send((Some(peer), dial(&tls, peer, &entry, until)));
        });
    }
    if me + 1 < entries.len() {
        let sender = sender.clone();
        thread::spawn(move || accept_all(&listener, &tls, until, &sender));
    }
    // Else nobody would know when there is no more news to come.
    drop(sender);

    let mut found: BTreeMap<usize, Result<Found, Problem>> = BTreeMap::new();
    let mut turned_away = None;
    while found.len() < entries.len() - 1 {
        // Measuring may take longer than meeting.
        let rest = (until + SILENCE).saturating_duration_since(Instant::now());
        match news.recv_timeout(rest) {
            Ok((Some(peer), result)) if peer != me => {
                found.entry(peer).or_insert(result);
            }
            Ok((_, Err(problem))) => turned_away = Some(problem),
            Ok(_) => {}
            Err(_) => break,
        }
    }
    let report = |(party, entry): (usize, &RosterEntry)| {
        let limit = args.connect_timeout;
        let missing = || {
            let why = turned_away
                .as_ref()
                .map(|why: &Problem| format!("; somebody was refused: {}", why.text));
            let text = format!(
                "it did not connect to us within {limit:?}{}; start `madrigal doctor --peers` there at the same time, with our address",
                why.unwrap_or_default()
            );
            let status = turned_away
                .as_ref()
                .map_or(Status::Network, |why| why.status);
            Err(Problem { text, status })
        };
        let result = found.get(&party).cloned().unwrap_or_else(missing);
        PeerReport::new(party, entry, result)
    };
    Ok(entries
        .iter()
        .enumerate()
        .filter(|(party, _)| *party != me)
        .map(report)
        .collect())
}

/// Makes the failure of a list of parties; here the flag is another than elsewhere.
fn unread(error: RosterError) -> Failure {
    match (error.problem, error.file) {
        (RosterProblem::File { source }, Some(path)) => Failure::File {
            action: "read the list of parties that --peers names,",
            path,
            source,
        },
        (problem, file) => RosterError {
            problem,
            file,
            line: error.line,
        }
        .into(),
    }
}

impl PeerReport {
    fn new(party: usize, entry: &RosterEntry, result: Result<Found, Problem>) -> Self {
        let found = result.as_ref().ok();
        Self {
            party,
            name: entry.name.clone(),
            address: entry.address.to_string(),
            key: entry.key.to_string(),
            round_trip_seconds: found.map(|found| found.round_trip),
            bytes_per_second: found.map(|found| found.bandwidth),
            clock_difference_seconds: found.map(|found| found.clock),
            problem: result.err(),
        }
    }
}

/// Our identity: the one named, or the one whose key file bears a name of the roster.
fn identity(args: &Doctor, roster: &Roster) -> Result<Identity> {
    let (base, key) = (args.identity.as_deref(), &args.key);
    if base.is_some() || key.key_file.is_some() {
        return load_identity(base, key, "");
    }
    let mut here = roster
        .parties()
        .iter()
        .filter(|entry| identity_files(Path::new(&entry.name)).key.exists());
    match (here.next(), here.next()) {
        (Some(entry), None) => load_identity(None, key, &entry.name),
        _ => Err(Usage::WhoAmI.into()),
    }
}

fn dial(
    tls: &TlsParty,
    peer: usize,
    entry: &RosterEntry,
    until: Instant,
) -> Result<Found, Problem> {
    let address = entry.address.to_string();
    let stream = loop {
        match connect_once(&address, until) {
            Ok(stream) => break stream,
            Err(error) if Instant::now() + Duration::from_millis(100) > until => {
                return Err(format!(
                    "{address} could not be reached ({error}); see that `madrigal doctor --peers` runs there and that the address is right"
                )
                .into());
            }
            Err(_) => thread::sleep(Duration::from_millis(100)),
        }
    };
    let (connection, link) = tls.dial(peer)?;
    let (mut line, _) = PeerStream::secure(connection, stream, link)?;
    let clock = line.hear_greeting()?;
    line.greet()?;
    let found = line.ask(clock)?;
    line.answer()?;
    Ok(found)
}

fn connect_once(address: &str, until: Instant) -> io::Result<TcpStream> {
    let rest = until
        .saturating_duration_since(Instant::now())
        .max(Duration::from_millis(1));
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, rest) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Takes connections for as long as peers may come. The listener does not block.
fn accept_all(listener: &TcpListener, tls: &TlsParty, until: Instant, news: &Sender<News>) {
    while Instant::now() < until {
        let accepted = listener
            .accept()
            .and_then(|(stream, from)| stream.set_nonblocking(false).map(|()| (stream, from)));
        let Ok((stream, from)) = accepted else {
            thread::sleep(Duration::from_millis(20));
            continue;
        };
        let (tls, news) = (tls.clone(), news.clone());
        thread::spawn(move || {
            let _ = news.send(receive(&tls, stream, &from.to_string()));
        });
    }
}

fn receive(tls: &TlsParty, stream: TcpStream, from: &str) -> News {
    let accepted = tls.accept(from).map_err(Problem::from);
    let secured =
        accepted.and_then(|(connection, link)| PeerStream::secure(connection, stream, link));
    let (mut line, peer) = match secured {
        Ok(secured) => secured,
        Err(problem) => return (None, Err(problem)),
    };
    let talk = line.greet().and_then(|()| {
        let clock = line.hear_greeting()?;
        line.answer()?;
        line.ask(clock)
    });
    (Some(peer), talk)
}

/// A secured connection to a party that has proved who it is.
struct PeerStream<S> {
    stream: S,
    link: OtherSide,
}

impl<C, D> PeerStream<rustls::StreamOwned<C, TcpStream>>
where
    C: DerefMut + Deref<Target = ConnectionCommon<D>>,
    D: SideData,
{
    fn secure(
        mut connection: C,
        mut stream: TcpStream,
        link: OtherSide,
    ) -> Result<(Self, usize), Problem> {
        let set = stream
            .set_nodelay(true)
            .and_then(|()| stream.set_read_timeout(Some(SILENCE)))
            .and_then(|()| stream.set_write_timeout(Some(SILENCE)));
        set.map_err(|error| error.to_string())?;
        let peer = handshake(&mut connection, &mut stream, &link)?;
        let stream = rustls::StreamOwned::new(connection, stream);
        Ok((Self { stream, link }, peer))
    }
}

impl<S: Read + Write> PeerStream<S> {
    fn greet(&mut self) -> Result<(), Problem> {
        let mut greeting = DOCTOR.to_vec();
        greeting.extend_from_slice(&unix_millis().to_le_bytes());
        self.send(&greeting)
    }

    /// The peer's clock minus ours, in seconds.
    fn hear_greeting(&mut self) -> Result<f64, Problem> {
        let mut greeting = [0; 16];
        self.receive(&mut greeting)?;
        if greeting != *DOCTOR {
            let told = "it answers and has its key, but it runs no doctor now; start `madrigal doctor --peers` there at the same time";
            return Err(told.to_owned().into());
        }
        let mut clock = [0; 8];
        self.receive(&mut clock)?;
        Ok((i64::from_le_bytes(clock) as f64 - unix_millis() as f64) / 1e3)
    }

    /// Measures the way to the peer.
    fn ask(&mut self, clock: f64) -> Result<Found, Problem> {
        let mut times = Vec::with_capacity(PINGS);
        for _ in 0..PINGS {
            let start = Instant::now();
            self.send(b"P12345678")?;
            self.receive(&mut [0; 8])?;
            times.push(start.elapsed().as_secs_f64());
        }
        times.sort_by(f64::total_cmp);
        let mut bandwidth = 0.0;
        for bytes in BULKS {
            let start = Instant::now();
            self.send(&[&b"B"[..], &bytes.to_le_bytes()].concat())?;
            let part = [0; 64 << 10];
            for _ in 0..bytes as usize / part.len() {
                self.send(&part)?;
            }
            self.receive(&mut [0])?;
            let time = start.elapsed().as_secs_f64();
            bandwidth = f64::from(bytes) / time;
            if time > 0.2 {
                break;
            }
        }
        self.send(b"E")?;
        Ok(Found {
            round_trip: times[PINGS / 2],
            bandwidth,
            clock,
        })
    }

    /// Answers while the peer measures.
    fn answer(&mut self) -> Result<(), Problem> {
        let foreign = || {
            Problem {
                text: "it sent something else than a doctor does; install the same version of madrigal at both".to_owned(),
                status: Status::Peer,
            }
        };
        loop {
            let mut command = [0];
            self.receive(&mut command)?;
            match command[0] {
                b'P' => {
                    let mut ping = [0; 8];
                    self.receive(&mut ping)?;
                    self.send(&ping)?;
                }
                b'B' => {
                    let mut length = [0; 4];
                    self.receive(&mut length)?;
                    let mut rest = u32::from_le_bytes(length);
                    if rest > MAX_BULK {
                        return Err(foreign());
                    }
                    let mut part = [0; 64 << 10];
                    while rest > 0 {
                        let next = (rest as usize).min(part.len());
                        self.receive(&mut part[..next])?;
                        rest -= next as u32;
                    }
                    self.send(b"!")?;
                }
                b'E' => return Ok(()),
                _ => return Err(foreign()),
            }
        }
    }

    fn send(&mut self, bytes: &[u8]) -> Result<(), Problem> {
        let sent = self
            .stream
            .write_all(bytes)
            .and_then(|()| self.stream.flush());
        sent.map_err(|error| self.explain(error))
    }

    fn receive(&mut self, bytes: &mut [u8]) -> Result<(), Problem> {
        self.stream
            .read_exact(bytes)
            .map_err(|error| self.explain(error))
    }

    fn explain(&self, error: io::Error) -> Problem {
        match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                format!("it fell silent for {} s", SILENCE.as_secs()).into()
            }
            _ => self.link.explain_io(error).into(),
        }
    }
}

fn unix_millis() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as i64)
}
