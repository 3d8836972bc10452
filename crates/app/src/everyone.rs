//! All parties as threads of this process, over any transport.

use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::thread;

use madrigal_core::Party;
use madrigal_net::identity::{Identity, Validity};
use madrigal_net::roster::Roster;
use madrigal_net::tls::TlsParty;
use madrigal_net::transport::{Security, mesh};
use madrigal_net::{Session, block_on};

use crate::failure::{Failure, Result, first_cause};
use crate::flags::{Patience, TransportArg};
use crate::reach::{Network, Way};
use crate::stop::Group;

/// Does `work` as each of `parties` parties, in one session over this network; gives their results, in order. Each
/// party computes on `threads` threads.
///
/// # Errors
/// [`Failure`] of the first party whose failure is no echo of another one's.
pub fn everyone<T: Send>(
    transport: TransportArg,
    network: Network,
    parties: usize,
    threads: usize,
    patience: &Patience,
    work: impl AsyncFn(&Session) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let (work, all) = (&work, Party::all(parties));
    match transport {
        TransportArg::Memory => on_threads(all.zip(mesh(parties)).map(|(me, transport)| {
            let work = async move |session: &Session| work(session).await;
            move || block_on(network.in_session(me, parties, transport, patience, threads, work))
        })),
        TransportArg::Tcp | TransportArg::Tls => {
            let listeners: Vec<TcpListener> = all
                .clone()
                .map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))
                .collect::<Result<_, _>>()
                .map_err(Failure::system("cannot listen on the loopback interface"))?;
            let addresses: Vec<String> = listeners
                .iter()
                .map(|listener| Ok(listener.local_addr()?.to_string()))
                .collect::<Result<_, std::io::Error>>()
                .map_err(Failure::system("cannot listen"))?;
            let security = securities(transport, &addresses)?;
            let addresses = &addresses;
            on_threads(
                all.zip(listeners)
                    .zip(&security)
                    .map(|((me, listener), security)| {
                        let way = Way {
                            me,
                            addresses,
                            listener,
                            security,
                            network,
                            patience,
                            threads,
                            name: "",
                            observe: &|_| {},
                        };
                        let work = async move |session: &Session| work(session).await;
                        move || way.in_session(work)
                    }),
            )
        }
    }
}

/// Makes keys for this run alone, if the transport is TLS.
fn securities(transport: TransportArg, addresses: &[String]) -> Result<Vec<Security>> {
    if transport != TransportArg::Tls {
        return Ok(addresses.iter().map(|_| Security::Clear).collect());
    }
    let identities = addresses
        .iter()
        .map(|_| Identity::generate(Validity::days(1)?));
    let identities = identities.collect::<Result<Vec<_>, _>>()?;
    let mut parties = Vec::new();
    for (address, identity) in addresses.iter().zip(&identities) {
        parties.push((
            address.parse().map_err(Failure::bug)?,
            identity.fingerprint(),
        ));
    }
    let roster = Arc::new(Roster::local(parties)?);
    let security = |identity| Ok(Security::Tls(TlsParty::new(identity, Arc::clone(&roster))?));
    identities.iter().map(security).collect()
}

/// Runs all at the same time; of several failures, gives the first that is no echo.
fn on_threads<T: Send>(
    work: impl Iterator<Item = impl FnOnce() -> Result<T> + Send>,
) -> Result<Vec<T>> {
    let results: Vec<Result<T>> = thread::scope(|scope| {
        let group = Group::current();
        let spawn = |work| {
            let group = group.clone();
            scope.spawn(move || Group::enter(group, work))
        };
        let threads: Vec<_> = work.map(spawn).collect();
        let join = |thread: thread::ScopedJoinHandle<'_, _>| {
            let panicked = |_| Err(Failure::bug("a party's thread panicked"));
            thread.join().unwrap_or_else(panicked)
        };
        threads.into_iter().map(join).collect()
    });
    let mut done = Vec::new();
    let mut failures = Vec::new();
    for result in results {
        match result {
            Ok(result) => done.push(result),
            Err(failure) => failures.push(failure),
        }
    }
    match first_cause(failures, Failure::is_echo) {
        Some(failure) => Err(failure),
        None => Ok(done),
    }
}
