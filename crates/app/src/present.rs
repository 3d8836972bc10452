//! The parties of this process: all of a computation, each a thread, or one of several machines.

use std::path::Path;
use std::time::Duration;

use madrigal_core::Party;
use madrigal_engine::Progress;
use madrigal_net::Session;

use crate::clients::Server;
use crate::everyone::everyone;
use crate::failure::{Result, Usage};
use crate::flags::{Net, TransportArg, Who};
use crate::progress::Bars;
use crate::reach::Network;
use crate::remote::RemoteParty;
use crate::stores::{StoreFiles, check_local};
use crate::wanted::is_wanted;

/// The parties of this process.
pub enum Present<'a> {
    /// All parties of the computation, each a thread.
    All {
        /// Number of parties.
        parties: usize,
        /// Network between the parties.
        network: Network,
        /// Flags of what is between the parties.
        net: &'a Net,
    },
    /// One of several machines.
    One(Box<RemoteParty<'a>>),
}

impl Who {
    /// Checks that parties run in this process.
    ///
    /// # Errors
    /// [`Usage::NobodyHere`] without `--local` and `--party`.
    pub fn check(&self) -> Result<(), Usage> {
        match (self.local, self.party) {
            (None, None) => Err(Usage::NobodyHere),
            _ => Ok(()),
        }
    }
}

impl<'a> Present<'a> {
    /// Takes the parties that the flags name. One of several machines listens from now on.
    ///
    /// # Errors
    /// [`Failure`](crate::failure::Failure): flags that name nobody, those of a network that is none, and all that
    /// [`RemoteParty::new`] refuses.
    pub fn new(who: &Who, net: &'a Net) -> Result<Self> {
        Ok(match who.local {
            Some(parties) => Self::All {
                parties,
                network: Network::parse(&net.network)?,
                net,
            },
            None => Self::One(Box::new(RemoteParty::new(who, net, 0)?)),
        })
    }

    /// Number of parties of the computation.
    pub fn parties(&self) -> usize {
        match self {
            Self::All { parties, .. } => *parties,
            Self::One(party) => party.parties(),
        }
    }

    /// The one party that runs here, as share files are for it; `None` where all do.
    pub fn server(&self) -> Option<Server> {
        match self {
            Self::All { .. } => None,
            Self::One(party) => Some(Server::from(&**party)),
        }
    }

    /// The one party that runs here; `None` where all do.
    pub fn me(&self) -> Option<Party> {
        match self {
            Self::All { .. } => None,
            Self::One(party) => Some(Party::new(party.me())),
        }
    }

    /// Names of all parties in the list of them; none where all run here.
    pub fn names(&self) -> Vec<String> {
        match self {
            Self::All { .. } => Vec::new(),
            Self::One(party) => party.names(),
        }
    }

    /// Lists the parties that run here.
    pub fn here(&self) -> Vec<Party> {
        let all = || Party::all(self.parties()).collect();
        self.me().map_or_else(all, |me| vec![me])
    }

    /// Transport between the parties.
    pub fn transport(&self) -> TransportArg {
        match self {
            Self::All { net, .. } => net.transport.unwrap_or(TransportArg::Tcp),
            Self::One(party) => party.transport(),
        }
    }

    /// Time after which a computation is given up, if there is one.
    pub fn deadline(&self) -> Option<Duration> {
        match self {
            Self::All { net, .. } => net.patience.deadline,
            Self::One(party) => party.patience().deadline,
        }
    }

    /// Lists the stores of the parties here: those below `directory` where all run here, else the directory itself,
    /// whose key is in the file `key`.
    pub(crate) fn stores(&self, directory: &Path, key: Option<&Path>) -> Vec<StoreFiles> {
        match self {
            Self::All { parties, .. } => (0..*parties)
                .map(|me| StoreFiles::local(directory, me))
                .collect(),
            Self::One(party) => vec![StoreFiles::remote(directory, key, party.identity())],
        }
    }

    /// Checks that a directory has the stores of all parties, where they run here, or none.
    ///
    /// # Errors
    /// [`Failure`](crate::failure::Failure) if it holds stores of more or fewer parties.
    pub(crate) fn check_stores(&self, directory: &Path) -> Result<()> {
        match self {
            Self::All { parties, .. } => check_local(directory, *parties),
            Self::One(_) => Ok(()),
        }
    }

    /// Does `work` as each party here, on this many threads, in one session with the others. `work` gets a function that
    /// shows its progress, unless `quiet`.
    ///
    /// # Errors
    /// [`Failure`](crate::failure::Failure): parties that do not meet; those of the session, and of `work`.
    pub fn run<T: Send>(
        self,
        threads: usize,
        quiet: bool,
        work: impl AsyncFn(&Session, &dyn Fn(Progress)) -> Result<T> + Sync,
    ) -> Result<Vec<(Party, T)>> {
        is_wanted()?;
        let (here, transport) = (self.here(), self.transport());
        let bars = Bars::new(here.len(), quiet);
        let done = match self {
            Self::All {
                parties,
                network,
                net,
            } => everyone(
                transport,
                network,
                parties,
                threads,
                &net.patience,
                async |session: &Session| {
                    let me = session.me().index();
                    bars.met();
                    work(session, &|progress| bars.update(me, progress.into())).await
                },
            ),
            Self::One(party) => {
                bars.meeting();
                let party = party.with_threads(threads).with_quiet(quiet);
                let done = party.in_session(async |session| {
                    bars.met();
                    work(session, &|progress| bars.update(0, progress.into())).await
                });
                done.map(|done| vec![done])
            }
        };
        bars.clear();
        Ok(here.into_iter().zip(done?).collect())
    }
}
