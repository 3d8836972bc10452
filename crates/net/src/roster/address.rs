//! Where a party is dialed.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

/// The longest host name, in characters (RFC 1035, section 2.3.4).
const MAX_HOST: usize = 253;

/// A host and a port, written `host:port`, `192.0.2.1:port` or `[2001:db8::1]:port`. Names are
/// kept in lower case and not looked up.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    /// An IPv6 address stands here without brackets.
    host: String,
    port: u16,
}

impl Address {
    /// The host name or IP address, without brackets: with [`Address::port`] it makes what
    /// `ToSocketAddrs` takes.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port; never 0.
    pub fn port(&self) -> u16 {
        self.port
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

impl TryFrom<SocketAddr> for Address {
    type Error = AddressError;

    fn try_from(address: SocketAddr) -> Result<Self, AddressError> {
        Self::of_ip(address.ip(), address.port())
    }
}

impl Address {
    fn of_ip(ip: IpAddr, port: u16) -> Result<Self, AddressError> {
        if ip.is_unspecified() || ip.is_multicast() {
            return Err(AddressError::NotDialable);
        }
        if port == 0 {
            return Err(AddressError::Port);
        }
        Ok(Self {
            host: ip.to_string(),
            port,
        })
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let (host, port) = text.rsplit_once(':').ok_or(AddressError::Shape)?;
        // `parse` would take a sign.
        let digits = !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
        let port = port.parse().ok().filter(|port| digits && *port != 0);
        let port: u16 = port.ok_or(AddressError::Port)?;
        if let Some(inner) = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')) {
            let ip: Ipv6Addr = inner.parse().map_err(|_| AddressError::Host)?;
            return Self::of_ip(ip.into(), port);
        }
        if let Ok(ip) = host.parse::<IpAddr>() {
            return match ip {
                IpAddr::V4(_) => Self::of_ip(ip, port),
                IpAddr::V6(_) => Err(AddressError::Brackets),
            };
        }
        if host.contains(':') {
            return Err(AddressError::Brackets);
        }
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
        if host.is_empty() || host.len() > MAX_HOST || !host.bytes().all(plain) {
            return Err(AddressError::Host);
        }
        Ok(Self {
            host: host.to_ascii_lowercase(),
            port,
        })
    }
}

/// A text that is no [`Address`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// No colon.
    #[error("expected `host:port`, found no `:`; write for example `alice.example.org:7700`")]
    Shape,
    /// The port is no number from 1 to 65535.
    #[error("the port is not a number from 1 to 65535; write for example `alice.example.org:7700`")]
    Port,
    /// Neither a host name nor an IP address.
    #[error(
        "the host is neither a name nor an IP address; write for example `alice.example.org:7700` or `192.0.2.1:7700`"
    )]
    Host,
    /// An IPv6 address without brackets.
    #[error("an IPv6 address stands in brackets, for example `[2001:db8::1]:7700`")]
    Brackets,
    /// An address that one can listen on, but not dial.
    #[error(
        "other parties cannot dial this address; give the one at which they reach the party, not the one it listens on"
    )]
    NotDialable,
}
