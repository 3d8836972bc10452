//! Ways to a server: TLS over TCP or in a WebSocket, or another one in tests.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use madrigal_net::rustls::ClientConnection as Tls;
use madrigal_net::tls::{ClientTls, TlsError, Wire, server_name};
use madrigal_websocket::{Address, TunnelError, connect};
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Silence after which the system asks whether the other machine is there.
const ALIVE: Duration = Duration::from_secs(40);

/// Time within which a tunnel is made.
const TUNNEL: Duration = Duration::from_secs(30);

/// A stream of bytes each way.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// A connection to a server, before the first message.
pub type Dialed = Wire<Box<dyn Stream>>;

/// Makes connections to the servers of a service.
pub trait Dial: Send + Sync {
    /// Connects to the server at a place of the list, and makes sure that it is that server.
    fn dial(&self, server: usize) -> BoxFuture<'_, Result<Dialed, DialError>>;
}

/// Reasons why there is no connection to a server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DialError {
    /// Nobody answers.
    #[error(
        "{address} cannot be reached: {source}; check the address, and whether the server is up"
    )]
    Unreachable {
        /// The address.
        address: String,
        /// Answer of the system.
        source: io::Error,
    },
    /// There is no way through a server's WebSocket.
    #[error("{address} (`websocket`): {source}")]
    WebSocket {
        /// The address.
        address: String,
        /// Reason.
        source: TunnelError,
    },
    /// Somebody else answers, or TLS failed.
    #[error(transparent)]
    Tls(#[from] TlsError),
}

impl DialError {
    /// Whether it may work later.
    pub(crate) fn may_pass(&self) -> bool {
        match self {
            Self::Unreachable { .. } => true,
            Self::WebSocket { source, .. } => source.may_pass(),
            Self::Tls(error) => matches!(error, TlsError::Io { .. } | TlsError::Closed { .. }),
        }
    }
}

/// TLS with pinned servers, over TCP or through the tunnel of a WebSocket.
#[derive(Debug)]
pub(crate) struct TlsDial {
    pub(crate) tls: ClientTls,
    /// Addresses of the servers' WebSockets, where they have one.
    pub(crate) websockets: Vec<Option<Address>>,
}

impl TlsDial {
    async fn tcp(address: &str) -> io::Result<Box<dyn Stream>> {
        let socket = TcpStream::connect(address).await?;
        // Messages are put together here: none waits for another.
        socket.set_nodelay(true)?;
        // A wait for a job may be long, and a machine that is gone says nothing.
        let alive = TcpKeepalive::new()
            .with_time(ALIVE)
            .with_interval(ALIVE / 4);
        SockRef::from(&socket).set_tcp_keepalive(&alive)?;
        Ok(Box::new(socket))
    }

    async fn tunnel(address: &Address) -> Result<Box<dyn Stream>, DialError> {
        let fault = |source| DialError::WebSocket {
            address: address.to_string(),
            source,
        };
        let late = || TunnelError::Unreachable(io::ErrorKind::TimedOut.into());
        let made = timeout(TUNNEL, connect(address)).await;
        let tunnel = made.unwrap_or_else(|_| Err(late())).map_err(fault)?;
        Ok(Box::new(tunnel))
    }
}

impl Dial for TlsDial {
    fn dial(&self, server: usize) -> BoxFuture<'_, Result<Dialed, DialError>> {
        Box::pin(async move {
            let (config, link) = self.tls.dial_config(server)?;
            let socket = match self.websockets.get(server) {
                Some(Some(address)) => Self::tunnel(address).await?,
                _ => {
                    let address = link.peer().address;
                    let unreachable = |source| DialError::Unreachable {
                        address: address.clone(),
                        source,
                    };
                    Self::tcp(&address).await.map_err(unreachable)?
                }
            };
            let tls = Tls::new(config, server_name()).map_err(TlsError::Setup)?;
            let mut wire = Wire::tls(socket, tls.into());
            let shaken = wire.handshake().await;
            shaken.map_err(|error| link.explain_io(error))?;
            if let Some(connection) = wire.connection() {
                link.check(connection)?;
            }
            Ok(wire)
        })
    }
}

/// A way that connections share.
pub(crate) type SharedDial = Arc<dyn Dial>;
