//! Streams of bytes in WebSocket messages (RFC 6455), for clients behind proxies that let nothing but HTTP through.
//!
//! A [`Tunnel`] is a stream like a TCP connection, and protects as little: TLS goes through it with the keys of both sides pinned, as it goes over TCP. A
//! proxy that ends the tunnel's own TLS sees sizes and times alone.
//!
//! | side | use |
//! |---|---|
//! | server | [`accept`] |
//! | client | [`Address`], [`connect`] |

mod address;
mod error;
mod tunnel;

use std::sync::Arc;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::http::{HeaderValue, StatusCode, header};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{accept_hdr_async_with_config, client_async_with_config};

pub use address::Address;
pub use error::TunnelError;
pub use tunnel::Tunnel;

/// The subprotocol that both sides name.
pub const PROTOCOL: &str = "madrigal";
/// The longest message, in bytes.
const MESSAGE: usize = 1 << 20;

/// A stream of bytes each way.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// A client's end of a tunnel.
pub type ClientTunnel = Tunnel<Box<dyn Stream>>;

fn config() -> WebSocketConfig {
    // An idle connection holds little.
    WebSocketConfig::default()
        .read_buffer_size(4 << 10)
        .write_buffer_size(0)
        .max_write_buffer_size(2 * MESSAGE)
        .max_message_size(Some(MESSAGE))
        .max_frame_size(Some(MESSAGE))
}

/// Takes a tunnel that a client makes. The caller bounds the time that this may take.
///
/// # Errors
/// [`TunnelError`]: a request that is no WebSocket's or asks for another subprotocol, which was told so, or a connection that was lost.
pub async fn accept<S>(stream: S) -> Result<Tunnel<S>, TunnelError>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    #[allow(
        clippy::result_large_err,
        reason = "the handshake takes refusals as responses"
    )]
    let judge = |request: &Request, mut response: Response| {
        let asked = request.headers().get_all(header::SEC_WEBSOCKET_PROTOCOL);
        let mut names = asked.iter().filter_map(|value| value.to_str().ok());
        let fits = names.any(|names| names.split(',').any(|name| name.trim() == PROTOCOL));
        if !fits {
            let mut refusal =
                ErrorResponse::new(Some(format!("ask for the subprotocol `{PROTOCOL}`\n")));
            *refusal.status_mut() = StatusCode::BAD_REQUEST;
            return Err(refusal);
        }
        let protocol = HeaderValue::from_static(PROTOCOL);
        let headers = response.headers_mut();
        headers.insert(header::SEC_WEBSOCKET_PROTOCOL, protocol);
        Ok(response)
    };
    let accepted = accept_hdr_async_with_config(stream, judge, Some(config())).await;
    Ok(Tunnel::new(accepted.map_err(TunnelError::handshake)?))
}

/// Makes a tunnel to a server, or to a proxy before it. The caller bounds the time that this may take.
///
/// # Errors
/// [`TunnelError`]: nobody answers, somebody answers who is no such server, or a certificate is not trusted.
pub async fn connect(address: &Address) -> Result<ClientTunnel, TunnelError> {
    let (host, port) = (address.host(), address.port());
    let socket = TcpStream::connect((host, port)).await;
    let socket = socket.map_err(TunnelError::Unreachable)?;
    socket.set_nodelay(true).map_err(TunnelError::Unreachable)?;
    let stream: Box<dyn Stream> = match address.is_secure() {
        false => Box::new(socket),
        true => {
            let name = ServerName::try_from(host.to_owned());
            let name = name.map_err(|_| TunnelError::Name(host.to_owned()))?;
            let tls = TlsConnector::from(Arc::new(trusted()?));
            let connected = tls.connect(name, socket).await;
            Box::new(connected.map_err(TunnelError::Tls)?)
        }
    };
    let request = address.to_string().into_client_request();
    let mut request = request.map_err(TunnelError::handshake)?;
    let protocol = HeaderValue::from_static(PROTOCOL);
    let headers = request.headers_mut();
    headers.insert(header::SEC_WEBSOCKET_PROTOCOL, protocol);
    let made = client_async_with_config(request, stream, Some(config())).await;
    let (stream, response) = made.map_err(TunnelError::handshake)?;
    let told = response.headers().get(header::SEC_WEBSOCKET_PROTOCOL);
    match told.is_some_and(|name| name == PROTOCOL) {
        true => Ok(Tunnel::new(stream)),
        false => Err(TunnelError::Protocol),
    }
}

/// TLS with the certificates that the system trusts.
fn trusted() -> Result<ClientConfig, TunnelError> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        return Err(TunnelError::NoRoots);
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(|error| TunnelError::Tls(std::io::Error::other(error)))?;
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}
