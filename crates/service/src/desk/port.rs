//! The port of a server: parties and clients come to it, and the protocol that they ask TLS for tells them apart.

use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use madrigal_net::rustls::ServerConnection;
use madrigal_net::tls::{self, ServerTls, Wire, asked_protocols};
use madrigal_net::transport::HandOn;
use madrigal_websocket::accept;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream, lookup_host};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tracing::debug;

use super::connection::serve;
use super::office::Desk;
use crate::config::Limits;

/// Connections that have not shown yet who is there, in all and of one address.
const NEW: usize = 2048;
const NEW_OF_ONE: usize = 256;
/// Such connections from the other servers' addresses, beside those: strangers cannot take their places.
const NEW_OF_SERVERS: usize = 256;
const NEW_OF_A_SERVER: usize = 64;
/// Pause between two looks where the other servers are.
const RESOLVE: Duration = Duration::from_secs(60);

/// The port of a server.
pub(crate) struct Port {
    pub(crate) listener: TcpListener,
    /// Listens for clients that come through WebSockets.
    pub(crate) websocket: Option<TcpListener>,
    /// Takes connections of parties.
    pub(crate) parties: HandOn,
    pub(crate) desk: Arc<Desk>,
    pub(crate) tls: ServerTls,
    pub(crate) limits: Limits,
    pub(crate) connections: Connections,
    /// Addresses of the other servers, as the list has them.
    pub(crate) servers: Vec<String>,
}

/// Tasks of all connections. They end at the latest when the server does.
#[derive(Debug, Clone, Default)]
pub(crate) struct Connections(Arc<Mutex<JoinSet<()>>>);

impl Connections {
    fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Those that have ended are forgotten.
        while all.try_join_next().is_some() {}
        all.spawn(work);
    }

    /// Ends all of them.
    pub(crate) async fn end(&self) {
        let mut all = {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *all)
        };
        all.shutdown().await;
    }
}

/// Numbers of connections, in all and by place.
#[derive(Debug, Default)]
struct Counts(Mutex<(usize, HashMap<IpAddr, usize>)>);

/// A place among counted connections, given back when dropped.
struct Counted {
    counts: Arc<Counts>,
    place: IpAddr,
}

impl Counts {
    /// A place for a connection, if there is one.
    fn enter(self: &Arc<Self>, place: IpAddr, most: usize, most_of_one: usize) -> Option<Counted> {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (all, by_place) = &mut *counts;
        let of_place = by_place.get(&place).copied().unwrap_or(0);
        if *all >= most || of_place >= most_of_one {
            return None;
        }
        *all += 1;
        by_place.insert(place, of_place + 1);
        let counts = Arc::clone(self);
        Some(Counted { counts, place })
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut counts = self.counts.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (all, by_place) = &mut *counts;
        *all -= 1;
        if let Some(of_place) = by_place.get_mut(&self.place) {
            *of_place -= 1;
            if *of_place == 0 {
                by_place.remove(&self.place);
            }
        }
    }
}

/// Ways on which newcomers come.
#[derive(Debug, Clone, Copy)]
enum Way {
    Tcp,
    WebSocket,
}

/// Connections that have not shown yet who is there.
#[derive(Debug, Default)]
struct Newcomers {
    all: Arc<Counts>,
    of_servers: Arc<Counts>,
    /// Places of the other servers. They are found by their names, and may change.
    servers: Mutex<HashSet<IpAddr>>,
}

impl Newcomers {
    /// A place for a newcomer, if there is one. Where strangers have taken all, there still are some for the other servers.
    fn enter(&self, from: IpAddr) -> Option<Counted> {
        let place = place(from);
        let any = self.all.enter(place, NEW, NEW_OF_ONE);
        any.or_else(|| {
            let servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
            let known = servers.contains(&place);
            drop(servers);
            let enter = || {
                self.of_servers
                    .enter(place, NEW_OF_SERVERS, NEW_OF_A_SERVER)
            };
            known.then(enter).flatten()
        })
    }

    /// Takes note of where the other servers are now.
    fn are_at(&self, addresses: impl Iterator<Item = IpAddr>) {
        let places = addresses.map(place).collect();
        *self.servers.lock().unwrap_or_else(PoisonError::into_inner) = places;
    }

    /// Looks where the other servers are, again and again.
    async fn look(&self, servers: &[String]) {
        loop {
            let mut found = Vec::new();
            for server in servers {
                // One whose name is not found now keeps no others from being found.
                if let Ok(addresses) = lookup_host(server).await {
                    found.extend(addresses.map(|address| address.ip()));
                }
            }
            self.are_at(found.into_iter());
            sleep(RESOLVE).await;
        }
    }
}

impl Port {
    /// Takes connections until it is dropped.
    pub(crate) async fn work(self) {
        let (new, clients) = (Arc::<Newcomers>::default(), Arc::<Counts>::default());
        let port = Arc::new(self);
        let (looking, servers) = (Arc::clone(&new), port.servers.clone());
        let look = async move { looking.look(&servers).await };
        port.connections.spawn(look);
        let tcp = port.take(&port.listener, Way::Tcp, &new, &clients);
        match &port.websocket {
            None => tcp.await,
            Some(listener) => {
                let tunnels = port.take(listener, Way::WebSocket, &new, &clients);
                tokio::join!(tcp, tunnels);
            }
        }
    }

    /// Takes the connections that come to a listener.
    async fn take(
        self: &Arc<Self>,
        listener: &TcpListener,
        way: Way,
        new: &Arc<Newcomers>,
        clients: &Arc<Counts>,
    ) {
        loop {
            let (stream, from) = match listener.accept().await {
                Ok(accepted) => accepted,
                Err(_) => {
                    // Out of descriptors, or the newcomer has gone.
                    self.desk.meters.refuse("accept");
                    sleep(Duration::from_millis(10)).await;
                    continue;
                }
            };
            let Some(place) = new.enter(from.ip()) else {
                self.desk.meters.refuse("too many newcomers");
                continue;
            };
            let (port, clients) = (Arc::clone(self), Arc::clone(clients));
            self.connections.spawn(async move {
                match way {
                    Way::Tcp => port.receive(stream, from, place, &clients).await,
                    Way::WebSocket => port.receive_tunnel(stream, from, place, &clients).await,
                }
            });
        }
    }

    async fn receive(
        &self,
        stream: TcpStream,
        from: SocketAddr,
        new: Counted,
        clients: &Arc<Counts>,
    ) {
        let introduction = self.limits.introduction.0;
        let meters = &self.desk.meters;
        let asked = match timeout(introduction, asked_protocols(&stream)).await {
            Ok(Ok(asked)) => asked,
            Ok(Err(error)) => {
                debug!(%from, %error, "a newcomer does not speak TLS");
                return meters.refuse("no TLS");
            }
            Err(_) => return meters.refuse("silent"),
        };
        let asks = |protocol: &[u8]| asked.iter().any(|name| name == protocol);
        if asks(tls::ALPN) {
            if !self.parties.hand(stream, from) {
                meters.refuse("too many servers");
            }
            return;
        }
        if !asks(tls::CLIENT_ALPN) {
            debug!(%from, "a newcomer asks for another protocol");
            return meters.refuse("other protocol");
        }
        if stream.set_nodelay(true).is_ok() {
            self.receive_client(stream, from, new, clients).await;
        }
    }

    /// Takes a client that comes through a WebSocket.
    async fn receive_tunnel(
        &self,
        stream: TcpStream,
        from: SocketAddr,
        new: Counted,
        clients: &Arc<Counts>,
    ) {
        if stream.set_nodelay(true).is_err() {
            return;
        }
        let meters = &self.desk.meters;
        match timeout(self.limits.introduction.0, accept(stream)).await {
            Ok(Ok(tunnel)) => self.receive_client(tunnel, from, new, clients).await,
            Ok(Err(error)) => {
                debug!(%from, %error, "a newcomer asks for no WebSocket");
                meters.refuse("no WebSocket");
            }
            Err(_) => meters.refuse("silent"),
        }
    }

    /// Takes a client on a stream that protects nothing.
    async fn receive_client(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin,
        from: SocketAddr,
        new: Counted,
        clients: &Arc<Counts>,
    ) {
        let introduction = self.limits.introduction.0;
        let meters = &self.desk.meters;
        let (most, most_of_one) = (self.limits.connections, self.limits.connections_per_address);
        let Some(_client) = clients.enter(place(from.ip()), most, most_of_one) else {
            debug!(%from, "too many connections of clients");
            return meters.refuse("too many connections");
        };
        let Ok(connection) = ServerConnection::new(self.tls.config()) else {
            return meters.refuse("TLS");
        };
        let mut wire = Wire::tls(stream, connection.into());
        match timeout(introduction, wire.handshake()).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                debug!(%from, %error, "a client's TLS came to nothing");
                return meters.refuse("TLS");
            }
            Err(_) => return meters.refuse("silent"),
        }
        drop(new);
        let proved = wire
            .connection()
            .map(|tls| self.tls.client(tls, &from.to_string()));
        let key = match proved {
            Some(Ok(key)) => key,
            Some(Err(_)) | None => return meters.refuse("TLS"),
        };
        meters.connections.inc();
        // Boxed, so that what waits takes no more than it needs.
        Box::pin(serve(
            &self.desk,
            wire,
            key,
            introduction,
            self.limits.idle.0,
        ))
        .await;
        meters.connections.dec();
    }
}

/// The place of an address: whoever has one address of IPv6 usually has the 2^64 beside it.
fn place(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn strangers_cannot_take_the_places_of_servers() {
        let new = Newcomers::default();
        let server: IpAddr = [192, 0, 2, 1].into();
        new.are_at([server].into_iter());
        let stranger = |number: u32| IpAddr::from(Ipv4Addr::from(0x0a00_0000 + number));
        let mut held: Vec<Counted> = (0..NEW as u32)
            .filter_map(|number| new.enter(stranger(number)))
            .collect();
        assert_eq!(held.len(), NEW);
        assert!(new.enter(stranger(5000)).is_none());
        let of_server: Vec<Counted> = (0..1000).map_while(|_| new.enter(server)).collect();
        assert_eq!(of_server.len(), NEW_OF_A_SERVER);
        // One that moves has its places there; those of before are given back when they end.
        let moved: IpAddr = [192, 0, 2, 2].into();
        assert!(new.enter(moved).is_none());
        new.are_at([moved].into_iter());
        assert!(new.enter(moved).is_some());
        drop(of_server);
        assert!(new.enter(server).is_none());
        held.pop();
        assert!(new.enter(server).is_some());
    }
}
