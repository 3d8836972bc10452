//! One real party: its place in `parties.toml`, its key, its port.

use std::net::{TcpListener, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use madrigal_core::Party;
use madrigal_net::Session;
use madrigal_net::identity::{Identity, IdentityFiles, Validity};
use madrigal_net::roster::{Roster, RosterEntry};
use madrigal_net::rustls::pki_types::UnixTime;
use madrigal_net::tls::TlsParty;
use madrigal_net::transport::{Meeting, Security};

use crate::failure::{Failure, Result, Usage};
use crate::flags::{KeyFlags, Net, Patience, TransportArg, Who};
use crate::progress::Voice;
use crate::reach::{Network, Way};

/// A party on this machine, among others on theirs.
pub struct RemoteParty<'a> {
    me: usize,
    /// Number of the roster's parties that compute; a dealer comes after them.
    parties: usize,
    roster: Arc<Roster>,
    security: Security,
    listener: TcpListener,
    network: Network,
    net: &'a Net,
    /// Base name of the files with our key; `None` without TLS.
    identity: Option<PathBuf>,
    /// Threads that it computes with; 0 at the dealer.
    threads: usize,
    waits: Waits,
    /// Validity of our certificate, if it ends soon.
    ending: Option<Validity>,
}

impl<'a> RemoteParty<'a> {
    /// Reads roster and key, and listens: one of the parties that compute, with a dealer or without.
    ///
    /// # Errors
    /// [`Failure`]: files that are missing or wrong, flags that do not go together, a port that is taken.
    pub fn new(who: &Who, net: &'a Net, helpers: usize) -> Result<Self> {
        let (Some(me), Some(path)) = (who.party, &who.roster) else {
            return Err(Usage::NobodyHere.into());
        };
        let roster = Roster::load(path)?;
        let parties = roster.len();
        if me >= parties {
            return Err(not_listed(me, parties, path));
        }
        let all = if helpers == 0 {
            roster
        } else {
            with_dealer(&roster, path)?
        };
        Self::listening(me, parties, all, path, who, net)
    }

    /// Reads roster and key, and listens: the dealer.
    ///
    /// # Errors
    /// [`Failure`] in the same cases as [`new`](Self::new).
    pub fn dealer(who: &Who, net: &'a Net) -> Result<Self> {
        let path = who.roster.as_deref().ok_or(Usage::NobodyHere)?;
        let roster = Roster::load(path)?;
        let parties = roster.len();
        Self::listening(
            parties,
            parties,
            with_dealer(&roster, path)?,
            path,
            who,
            net,
        )
    }

    fn listening(
        me: usize,
        parties: usize,
        roster: Roster,
        path: &Path,
        who: &Who,
        net: &'a Net,
    ) -> Result<Self> {
        let network = Network::parse(&net.network)?;
        let roster = Arc::new(roster);
        let entry = roster
            .party(me)
            .ok_or_else(|| not_listed(me, roster.len(), path))?;
        let (mut base, mut validity) = (None, None);
        let security = match net.transport {
            Some(TransportArg::Memory) => {
                return Err(Usage::LocalTransport {
                    transport: "memory",
                }
                .into());
            }
            Some(TransportArg::Tcp) if !net.insecure => return Err(Usage::Insecure.into()),
            Some(TransportArg::Tcp) => Security::Clear,
            Some(TransportArg::Tls) | None => {
                let identity = load_identity(who.identity.as_deref(), &who.key, &entry.name)?;
                let owner = roster.by_key(&identity.fingerprint());
                if let Some(owner) = owner.filter(|&owner| owner != me) {
                    return Err(match parties {
                        dealer if me == dealer => Usage::NotDealersKey { owner },
                        dealer if owner == dealer => Usage::DealersKey { party: me },
                        _ => Usage::OtherKey { party: me, owner },
                    }
                    .into());
                }
                if who.key.key_file.is_none() {
                    base = Some(identity_base(who.identity.as_deref(), &entry.name));
                    validity = Some(identity.validity());
                }
                Security::Tls(TlsParty::presenting(&identity, Arc::clone(&roster), me)?)
            }
        };
        let listener = listen(who.listen.as_deref(), entry)?;
        let waits = Waits::new(&roster, parties);
        let now = UnixTime::now();
        let validity = validity.filter(|validity: &Validity| validity.ends_soon(now));
        let ending = validity.filter(|validity| validity.contains(now));
        Ok(Self {
            me,
            parties,
            roster,
            security,
            listener,
            network,
            net,
            identity: base,
            threads: usize::from(me < parties),
            waits,
            ending,
        })
    }

    /// Makes the same party compute on this many threads.
    #[must_use]
    pub fn with_threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// Sets whether the party says nothing while it waits for the others.
    #[must_use]
    pub fn with_quiet(mut self, quiet: bool) -> Self {
        self.waits.quiet = quiet;
        self
    }

    /// Number of this party.
    pub fn me(&self) -> usize {
        self.me
    }

    /// Name of this party in `parties.toml`.
    pub fn name(&self) -> &str {
        let entry = self.roster.party(self.me);
        entry.map_or("", |entry| &entry.name)
    }

    /// Names of the parties that compute.
    pub fn names(&self) -> Vec<String> {
        let entries = self.roster.parties().iter().take(self.parties);
        entries.map(|entry| entry.name.clone()).collect()
    }

    /// Number of parties that compute.
    pub fn parties(&self) -> usize {
        self.parties
    }

    /// Transport that the parties talk over.
    pub fn transport(&self) -> TransportArg {
        match self.security {
            Security::Clear => TransportArg::Tcp,
            Security::Tls(_) => TransportArg::Tls,
        }
    }

    /// Addresses at which the parties are dialed.
    pub fn addresses(&self) -> Vec<String> {
        self.roster
            .parties()
            .iter()
            .map(|party| party.address.to_string())
            .collect()
    }

    /// Base name of the files with this party's key; `None` without TLS.
    pub fn identity(&self) -> Option<&Path> {
        self.identity.as_deref()
    }

    /// Times that it waits.
    pub fn patience(&self) -> &'a Patience {
        &self.net.patience
    }

    /// Meets the other parties and does `work` in a session with them. A party whose certificate they must refuse
    /// meets them all the same: if it stayed away, they would wait without a reason.
    ///
    /// # Errors
    /// [`Failure`]: parties that do not meet; those of the session, and of `work`.
    pub fn in_session<T>(self, work: impl AsyncFnOnce(&Session) -> Result<T>) -> Result<T> {
        let addresses = self.addresses();
        // After those who compute; to itself it is no news.
        let dealer = (addresses.len() > self.parties && self.me < self.parties)
            .then(|| Party::new(self.parties));
        let observe = |meeting: Meeting<'_>| self.waits.tell(&meeting);
        let way = Way {
            me: Party::checked(self.me, addresses.len()).map_err(Failure::bug)?,
            addresses: &addresses,
            listener: self.listener,
            security: &self.security,
            network: self.network,
            patience: &self.net.patience,
            threads: self.threads,
            name: self.net.session.as_deref().unwrap_or_default(),
            observe: &observe,
        };
        let objection = match &self.security {
            Security::Tls(tls) => tls.objection().err(),
            Security::Clear => None,
        };
        if let Some(objection) = &objection {
            self.waits.voice.warn(format_args!(
                "{objection} (the others are told as they come)"
            ));
        }
        if let Some(validity) = self.ending.filter(|_| !self.waits.quiet) {
            self.waits.voice.warn(format_args!(
                "our certificate is valid from {validity}: renew it in time with `madrigal keygen --renew`; key and fingerprint stay"
            ));
        }
        let work = async |session: &Session| {
            self.waits.compare_clocks(session);
            work(session).await
        };
        let done = match (way.in_session(work), objection) {
            (Err(Failure::Connect(_)), Some(objection)) => Err(objection.into()),
            (result, _) => result,
        };
        done.map_err(|failure: Failure| failure.naming(dealer))
    }
}

/// Clocks that differ by more seconds than this are told.
const CLOCKS: u64 = 120;

/// Messages that a party shows while it waits.
struct Waits {
    /// Names of the others.
    names: Vec<String>,
    quiet: bool,
    /// Way to say it: the parties meet on other threads, too.
    voice: Voice,
}

impl Waits {
    /// Names the first `parties` of a roster, and a dealer if the roster has one entry more.
    fn new(roster: &Roster, parties: usize) -> Self {
        let name = |(at, entry): (usize, &RosterEntry)| match at < parties {
            true => format!("party {at} `{}`", entry.name),
            false => format!("the dealer `{}`", entry.name),
        };
        Self {
            names: roster.parties().iter().enumerate().map(name).collect(),
            quiet: false,
            voice: Voice::here(),
        }
    }

    /// A certificate is judged by each party's own clock, so one that is wrong is told before it matters.
    fn compare_clocks(&self, session: &Session) {
        for party in session.me().others(session.parties()) {
            let (Some(ahead), Some(name)) =
                (session.clock_ahead(party), self.names.get(party.index()))
            else {
                continue;
            };
            if !self.quiet && ahead.unsigned_abs() > CLOCKS {
                let way = if ahead > 0 { "ahead of" } else { "behind" };
                let minutes = ahead.unsigned_abs() / 60;
                self.voice.warn(format_args!(
                    "the clock of {name} is {minutes} min {way} ours: set the one that is wrong, certificates are judged by it"
                ));
            }
        }
    }

    fn tell(&self, meeting: &Meeting<'_>) {
        match meeting {
            _ if self.quiet => {}
            Meeting::Waiting { missing } => {
                let names = missing
                    .iter()
                    .filter_map(|party| self.names.get(party.index()));
                let names: Vec<&str> = names.map(String::as_str).collect();
                self.voice
                    .say(format_args!("waiting for {}", names.join(", ")));
            }
            Meeting::Refused { why, last } => {
                let rest = match last {
                    true => "; of more such refusals nothing is said until the end of the wait",
                    false => "",
                };
                let text = format_args!("refused: {why} (the wait goes on{rest})");
                self.voice.warn(text);
            }
            _ => {}
        }
    }
}

fn not_listed(party: usize, parties: usize, roster: &Path) -> Failure {
    let roster = roster.to_owned();
    let usage = Usage::NotListed {
        party,
        parties,
        roster,
    };
    usage.into()
}

fn with_dealer(roster: &Roster, path: &Path) -> Result<Roster> {
    let found = roster.with_dealer();
    Ok(found.ok_or_else(|| Usage::NoDealer {
        roster: path.to_owned(),
    })?)
}

/// Reads `BASE.key` and `BASE.crt`; without a base, the files with the party's name. A key of `--key-file` gets a
/// certificate for a day, which is longer than parties take to meet.
///
/// # Errors
/// [`Failure`]: files that are missing or wrong.
pub fn load_identity(base: Option<&Path>, key: &KeyFlags, name: &str) -> Result<Identity> {
    let mode = key.key_mode.into();
    Ok(match &key.key_file {
        Some(file) => Identity::from_key(&descriptor(file), mode, Validity::days(1)?)?,
        None => Identity::load_with(&identity_files(&identity_base(base, name)), mode)?,
    })
}

/// Gives the path that `fd:N` stands for.
fn descriptor(file: &Path) -> PathBuf {
    let number = file.to_str().and_then(|text| text.strip_prefix("fd:"));
    match number.filter(|number| number.parse::<u32>().is_ok()) {
        Some(number) => Path::new("/dev/fd").join(number),
        None => file.to_owned(),
    }
}

fn identity_base(flag: Option<&Path>, name: &str) -> PathBuf {
    flag.unwrap_or(Path::new(name)).to_owned()
}

/// The two files of an identity.
pub fn identity_files(base: &Path) -> IdentityFiles {
    IdentityFiles {
        key: with_ending(base, ".key"),
        certificate: with_ending(base, ".crt"),
    }
}

/// The file of the sealing key that is beside an identity.
pub fn sealing_file(base: &Path) -> PathBuf {
    with_ending(base, ".sealing.key")
}

/// The path with more at its end, whatever bytes its name has.
fn with_ending(base: &Path, ending: &str) -> PathBuf {
    let mut path = base.as_os_str().to_owned();
    path.push(ending);
    path.into()
}

/// Listens where the flag says, or on the port of our address: on loopback if the address is
/// loopback, else on all interfaces.
///
/// # Errors
/// [`Failure`]: a port that is taken, or not ours.
pub fn listen(flag: Option<&str>, entry: &RosterEntry) -> Result<TcpListener> {
    let port = entry.address.port();
    let wanted = match flag {
        Some(flag) => vec![flag.to_owned()],
        None if is_loopback(entry.address.host()) => vec![entry.address.to_string()],
        // Where there is IPv6, the first takes IPv4 as well.
        None => vec![format!("[::]:{port}"), format!("0.0.0.0:{port}")],
    };
    let mut last = None;
    for address in &wanted {
        match TcpListener::bind(address.as_str()) {
            Ok(listener) => return Ok(listener),
            Err(source) => last = Some(source),
        }
    }
    Err(Failure::Listen {
        address: wanted.join(" or "),
        source: last.unwrap_or_else(|| std::io::ErrorKind::InvalidInput.into()),
    })
}

fn is_loopback(host: &str) -> bool {
    let resolved = (host, 0)
        .to_socket_addrs()
        .map(|mut all| all.all(|one| one.ip().is_loopback()));
    resolved.unwrap_or(false)
}
