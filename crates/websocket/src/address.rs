//! Addresses of tunnels.

use std::fmt;
use std::str::FromStr;

use tokio_tungstenite::tungstenite::http::Uri;

use crate::error::TunnelError;

/// An address such as `wss://relay.example/north`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    uri: Uri,
    host: String,
    port: u16,
    secure: bool,
}

impl Address {
    /// Name or number of the machine, without brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Port, also where the address leaves it out.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Whether the tunnel itself is under TLS.
    pub fn is_secure(&self) -> bool {
        self.secure
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.uri.fmt(f)
    }
}

impl FromStr for Address {
    type Err = TunnelError;

    fn from_str(text: &str) -> Result<Self, TunnelError> {
        let wrong = || TunnelError::Address(text.chars().take(200).collect());
        let uri: Uri = text.parse().map_err(|_| wrong())?;
        let (secure, usual) = match uri.scheme_str() {
            Some("ws") => (false, 80),
            Some("wss") => (true, 443),
            _ => return Err(wrong()),
        };
        let authority = uri.authority().ok_or_else(wrong)?;
        // A name before an `@` would be sent to nobody.
        if authority.as_str().contains('@') || authority.host().is_empty() {
            return Err(wrong());
        }
        let host = authority
            .host()
            .trim_start_matches('[')
            .trim_end_matches(']');
        // A port that is no number is not taken for one that is left out.
        let port = match authority.as_str().strip_prefix(authority.host()) {
            Some("") => usual,
            Some(port) => port
                .strip_prefix(':')
                .and_then(|port| port.parse().ok())
                .ok_or_else(wrong)?,
            None => return Err(wrong()),
        };
        Ok(Self {
            host: host.to_owned(),
            port,
            secure,
            uri,
        })
    }
}
