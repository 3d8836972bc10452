//! Reasons why there is no tunnel.

use std::io;

use tokio_tungstenite::tungstenite;
use tokio_tungstenite::tungstenite::http::StatusCode;

/// Reason why there is no tunnel.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TunnelError {
    /// A text that is no address.
    #[error(
        "`{0}` is no address of a WebSocket: it has the form ws://host:port/path or wss://host/path"
    )]
    Address(String),
    /// Nobody answers.
    #[error("it cannot be reached: {0}")]
    Unreachable(#[source] io::Error),
    /// A name that no certificate has.
    #[error("`{0}` is no name that a certificate can have")]
    Name(String),
    /// No certificates that are trusted.
    #[error(
        "the system has no certificates that it trusts: install them, or use ws:// and another protection"
    )]
    NoRoots,
    /// TLS failed.
    #[error("the TLS of wss came to nothing: {0}")]
    Tls(#[source] io::Error),
    /// An answer that is no WebSocket's.
    #[error(
        "the answer has the status {0}: the address is not that of a server's WebSocket, or a proxy does not pass it on"
    )]
    Status(StatusCode),
    /// A server that does not name the subprotocol.
    #[error("it answers as a WebSocket, but not for the subprotocol `madrigal`")]
    Protocol,
    /// Anything else that is no handshake.
    #[error("the handshake came to nothing: {0}")]
    Handshake(String),
}

impl TunnelError {
    pub(crate) fn handshake(error: tungstenite::Error) -> Self {
        match error {
            tungstenite::Error::Http(response) => Self::Status(response.status()),
            other => Self::Handshake(other.to_string()),
        }
    }

    /// Whether it may work later.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Unreachable(_) | Self::Handshake(_) => true,
            Self::Status(status) => status.is_server_error(),
            Self::Tls(error) => error.kind() == io::ErrorKind::UnexpectedEof,
            Self::Address(_) | Self::Name(_) | Self::NoRoots | Self::Protocol => false,
        }
    }
}
