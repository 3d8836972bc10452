//! A question to the operation port of a server on this machine: whether it lives, and whether it is ready.

use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, ToSocketAddrs as _};
use std::time::{Duration, Instant};

/// Time for the whole question, from the search for the address to the end of the answer.
const WITHIN: Duration = Duration::from_secs(4);
/// The longest answer that is read, in bytes: a line for each of a few hundred kinds.
const MOST: u64 = 1 << 18;

/// A question about a server's health.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question {
    /// Whether the process lives: it listens.
    Alive,
    /// Whether it can do all that it is there for.
    Ready,
}

/// A server's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Whether it is as was asked.
    pub yes: bool,
    /// Lines of the answer: what is wrong, where something is.
    pub lines: Vec<String>,
}

/// Reason why there was no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// Nobody answers at the address.
    #[error("nobody answers at {address} (`operation`) within {} s: {source}", WITHIN.as_secs())]
    NoAnswer {
        /// The address.
        address: String,
        /// Reason.
        source: io::Error,
    },
    /// Somebody else answers.
    #[error(
        "what answers at {address} (`operation`) is no server of a service: it begins with `{got}`"
    )]
    Other {
        /// The address.
        address: String,
        /// The first line of the answer.
        got: String,
    },
}

/// Asks the server whose operation port is at this address of this machine, which is the one of its service's file.
///
/// # Errors
/// [`AskError`].
pub fn ask(address: &str, question: Question) -> Result<Answer, AskError> {
    let no_answer = |source| AskError::NoAnswer {
        address: address.to_owned(),
        source,
    };
    let answer = asked(address, question).map_err(no_answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.lines().next().unwrap_or_default();
    let code = status
        .strip_prefix("HTTP/1.1 ")
        .and_then(|rest| rest.get(..3));
    let yes = match code {
        Some("200") => true,
        Some("503") => false,
        _ => {
            return Err(AskError::Other {
                address: address.to_owned(),
                got: status
                    .chars()
                    .take(80)
                    .filter(|c| !c.is_control())
                    .collect(),
            });
        }
    };
    let lines = body.lines().map(|line| {
        // The answer is for a terminal.
        line.chars().filter(|c| !c.is_control()).collect()
    });
    let lines = lines.collect();
    Ok(Answer { yes, lines })
}

fn asked(address: &str, question: Question) -> io::Result<String> {
    let until = Instant::now() + WITHIN;
    let left = || {
        let left = until.saturating_duration_since(Instant::now());
        match left.is_zero() {
            true => Err(io::Error::from(io::ErrorKind::TimedOut)),
            false => Ok(left),
        }
    };
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    let mut stream = None;
    for place in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&here(place), left()?) {
            Ok(connected) => {
                stream = Some(connected);
                break;
            }
            Err(error) => last = error,
        }
    }
    let mut stream = stream.ok_or(last)?;
    let path = match question {
        Question::Alive => "/healthz",
        Question::Ready => "/readyz",
    };
    let text = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.set_write_timeout(Some(left()?))?;
    stream.write_all(text.as_bytes())?;
    let mut answer = Vec::new();
    let mut some = [0; 4096];
    // Piece by piece, as a time for each read is none for all of them.
    while (answer.len() as u64) < MOST {
        stream.set_read_timeout(Some(left()?))?;
        match stream.read(&mut some) {
            Ok(0) => break,
            Ok(count) => answer.extend_from_slice(&some[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// Where a server on this machine is reached that listens at an address: one that listens at all addresses is at the machine's own.
fn here(at: SocketAddr) -> SocketAddr {
    let ip = match at.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, at.port())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    /// Somebody who answers one question with this text.
    fn answers(text: &'static str) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut some = [0; 1024];
            let _ = stream.read(&mut some);
            stream.write_all(text.as_bytes()).unwrap();
        });
        address
    }

    #[test]
    fn answers_are_told() {
        let no = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 8\r\n\r\nservers: waiting\nkind a: no\x07\n";
        let answer = ask(&answers(no), Question::Ready).unwrap();
        assert!(!answer.yes);
        assert_eq!(answer.lines, ["servers: waiting", "kind a: no"]);
        let yes = ask(&answers("HTTP/1.1 200 OK\r\n\r\nready\n"), Question::Ready);
        assert!(yes.unwrap().yes);
    }

    #[test]
    fn whoever_else_answers_is_told_from_a_server() {
        for text in ["SSH-2.0-x\r\n", "HTTP/1.1 404 Not Found\r\n\r\n", ""] {
            let error = ask(&answers(text), Question::Ready).unwrap_err();
            assert!(matches!(error, AskError::Other { .. }), "{error}");
        }
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = free.local_addr().unwrap().to_string();
        drop(free);
        let error = ask(&address, Question::Ready).unwrap_err();
        assert!(error.to_string().contains("nobody answers"), "{error}");
    }

    /// Somebody who takes the connection and says nothing keeps nobody waiting.
    #[test]
    fn silence_has_an_end() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let begun = Instant::now();
        let error = ask(&address, Question::Alive).unwrap_err();
        assert!(matches!(error, AskError::NoAnswer { .. }), "{error}");
        assert!(begun.elapsed() < WITHIN * 2);
        drop(listener);
    }

    #[test]
    fn all_addresses_are_this_machine() {
        let at = |text: &str| here(text.parse().unwrap()).to_string();
        assert_eq!(at("0.0.0.0:9100"), "127.0.0.1:9100");
        assert_eq!(at("[::]:9100"), "[::1]:9100");
        assert_eq!(at("192.0.2.7:9100"), "192.0.2.7:9100");
    }
}
