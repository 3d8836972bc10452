//! A TLS connection over a socket that does not wait: bytes each way, several records at a time.
//!
//! rustls takes 4 KiB of cipher text at once, a quarter of a record. A system call reads up to [`CAME_BYTES`],
//! of which it is handed what it takes.

use std::io::{self, BufRead, IoSlice, Write};

use bytes::BytesMut;

use super::queue::Queue;

/// Cipher text asked of the socket at once: three records, which the nearest caches still hold when TLS takes
/// them. `R` over loopback does some 5 % more products with it than with 256 KiB on a Zen 4.
pub(super) const CAME_BYTES: usize = 48 * 1024;
/// Plain bytes given to TLS at once: eight of its records; with twice as many fewer products on a Zen 3.
const GIVEN_BYTES: usize = 128 * 1024;
/// Pieces of these bytes.
const GIVEN_PIECES: usize = 32;

/// Both directions of one connection whose handshake is over.
pub(super) struct Records {
    tls: rustls::Connection,
}

impl Records {
    pub(super) fn new(tls: rustls::Connection) -> Self {
        Self { tls }
    }

    /// Cipher text waits for the socket.
    pub(super) fn pending(&self) -> bool {
        self.tls.wants_write()
    }

    /// Writes as much of `queue` as the socket takes; what it does not take stays here, encrypted.
    pub(super) fn write(&mut self, queue: &mut Queue, socket: &mut impl Write) -> io::Result<()> {
        loop {
            while self.tls.wants_write() {
                self.tls.write_tls(socket)?;
            }
            if queue.is_empty() {
                return Ok(());
            }
            // All at once: a piece by itself, a header say, would be a record by itself.
            let mut pieces = [IoSlice::new(&[]); GIVEN_PIECES];
            let count = queue.fill(&mut pieces, GIVEN_BYTES);
            let taken = self.tls.writer().write_vectored(&pieces[..count])?;
            queue.consume(taken);
        }
    }

    /// Appends to `plain` what the cipher text that `came` says, nothing at the end of the socket; gives its
    /// bytes, 0 at the end.
    pub(super) fn read(&mut self, came: &[u8], plain: &mut BytesMut) -> io::Result<usize> {
        let before = plain.len();
        let mut rest = came;
        loop {
            // With nothing left this tells TLS of the end.
            let taken = self.tls.read_tls(&mut rest)?;
            let state = self.tls.process_new_packets().map_err(io::Error::other)?;
            let mut expected = state.plaintext_bytes_to_read();
            while expected > 0 {
                let mut reader = self.tls.reader();
                let chunk = reader.fill_buf()?;
                let length = chunk.len();
                plain.extend_from_slice(chunk);
                reader.consume(length);
                expected -= length;
            }
            if state.peer_has_closed() && plain.len() == before {
                return Ok(0);
            }
            if rest.is_empty() || taken == 0 {
                return Ok(came.len());
            }
        }
    }

    /// Says goodbye, if the socket takes it at once.
    pub(super) fn end(&mut self, socket: &mut impl Write) {
        self.tls.send_close_notify();
        let _ = self.tls.write_tls(socket);
    }
}
