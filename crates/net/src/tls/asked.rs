//! The protocols that a newcomer asks for, read ahead of its handshake.

use std::io;
use std::time::Duration;

use rustls::server::Acceptor;
use tokio::net::TcpStream;
use tokio::time::sleep;

/// Bytes of a newcomer's first message that are looked at: those of TLS are below 2 KiB, keys for later computers included.
const MOST: usize = 16 << 10;
/// Pause between two looks at a first message of which a part has come.
const PAUSE: Duration = Duration::from_millis(2);

/// The application protocols that a newcomer's TLS asks for, best first; nothing is taken from the stream, so that whoever serves
/// that protocol finds all of it. Waits for as long as the newcomer does: the caller bounds that.
///
/// # Errors
/// The stream's; [`io::ErrorKind::InvalidData`] where what comes is not TLS, or too long;
/// [`io::ErrorKind::UnexpectedEof`] where the newcomer has gone.
pub async fn asked_protocols(stream: &TcpStream) -> io::Result<Vec<Vec<u8>>> {
    let mut buffer = vec![0; MOST];
    let mut seen = 0;
    loop {
        let came = stream.peek(&mut buffer).await?;
        if came == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if came == seen {
            // Bytes that were seen stay readable, so nothing wakes us when more come.
            sleep(PAUSE).await;
            continue;
        }
        seen = came;
        let not_tls = |problem: &dyn std::fmt::Display| {
            io::Error::new(io::ErrorKind::InvalidData, problem.to_string())
        };
        let mut acceptor = Acceptor::default();
        let mut rest = &buffer[..came];
        while !rest.is_empty() {
            acceptor.read_tls(&mut rest)?;
        }
        match acceptor.accept() {
            Ok(Some(accepted)) => {
                let hello = accepted.client_hello();
                let asked = hello.alpn().into_iter().flatten();
                return Ok(asked.map(<[u8]>::to_vec).collect());
            }
            Ok(None) if came == MOST => return Err(not_tls(&"a first message without an end")),
            Ok(None) => {}
            Err((error, _)) => return Err(not_tls(&error)),
        }
    }
}
