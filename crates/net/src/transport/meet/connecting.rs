//! A connection that is being made: bytes each way, in the clear or under TLS, and why it failed.

use std::io;

use bytes::{Buf, BytesMut};
use tokio::net::TcpStream;

use super::error::ConnectError;
use crate::tls::OtherSide;
use crate::transport::connection::{Met, Nonblocking};

/// A connection that is being made.
pub(super) struct Connecting<'a> {
    stream: TcpStream,
    address: &'a str,
    tls: Option<(rustls::Connection, OtherSide)>,
    early: BytesMut,
}

impl<'a> Connecting<'a> {
    pub(super) fn new(stream: TcpStream, address: &'a str) -> Result<Self, ConnectError> {
        // Sizes of buffers are left to the system, which lets them grow as the line needs: one of our own
        // would end that (docs/NETWORKS.md).
        //
        // Without this option each round waits 40 ms for the other side's delayed acknowledgement.
        stream
            .set_nodelay(true)
            .map_err(|source| ConnectError::system("setting TCP_NODELAY", source))?;
        Ok(Self {
            stream,
            address,
            tls: None,
            early: BytesMut::new(),
        })
    }

    /// Runs the TLS handshake; gives the party that the other side has proved to be.
    pub(super) async fn secure(
        &mut self,
        mut connection: rustls::Connection,
        link: OtherSide,
    ) -> Result<usize, ConnectError> {
        connection.set_buffer_limit(None);
        self.tls = Some((connection, link));
        while self
            .tls
            .as_ref()
            .is_some_and(|(tls, _)| tls.is_handshaking() || tls.wants_write())
        {
            self.push().await?;
            if self
                .tls
                .as_ref()
                .is_some_and(|(tls, _)| tls.is_handshaking())
            {
                self.pull().await?;
            }
        }
        let Some((tls, link)) = &self.tls else {
            unreachable!("it was set above")
        };
        Ok(link.peer_party(tls)?)
    }

    pub(super) fn address(&self) -> &str {
        self.address
    }

    fn explain(&self, error: io::Error) -> ConnectError {
        match &self.tls {
            Some((_, link)) => ConnectError::Tls(link.explain_io(error)),
            None => ConnectError::system(format!("speaking with {}", self.address), error),
        }
    }

    /// Writes what TLS has to write.
    async fn push(&mut self) -> Result<(), ConnectError> {
        while let Some((tls, _)) = &mut self.tls {
            if !tls.wants_write() {
                break;
            }
            match tls.write_tls(&mut Nonblocking(&self.stream)) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.stream
                        .writable()
                        .await
                        .map_err(|error| self.explain(error))?;
                }
                Err(error) => {
                    // The reason why the other side went may be there to be read.
                    let explained = self.explain(error);
                    return Err(self.pull().await.err().unwrap_or(explained));
                }
            }
        }
        Ok(())
    }

    /// Reads once, and appends what it means to `early`.
    async fn pull(&mut self) -> Result<(), ConnectError> {
        loop {
            self.stream
                .readable()
                .await
                .map_err(|error| self.explain(error))?;
            let came = match &mut self.tls {
                Some((tls, _)) => tls.read_tls(&mut Nonblocking(&self.stream)),
                None => self.stream.try_read_buf(&mut self.early),
            };
            match came {
                Ok(0) => return Err(self.explain(io::ErrorKind::UnexpectedEof.into())),
                Ok(_) => break,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(self.explain(error)),
            }
        }
        let Some((tls, link)) = &mut self.tls else {
            return Ok(());
        };
        match tls.process_new_packets() {
            Ok(state) => {
                let start = self.early.len();
                self.early
                    .resize(start + state.plaintext_bytes_to_read(), 0);
                let read = io::Read::read_exact(&mut tls.reader(), &mut self.early[start..]);
                read.map_err(|error| self.explain(error))
            }
            Err(error) => {
                let error = link.explain(&error);
                // The alert tells the other side why; it is small enough to leave at once.
                let _ = tls.write_tls(&mut Nonblocking(&self.stream));
                Err(error.into())
            }
        }
    }

    pub(super) async fn send(&mut self, bytes: &[u8]) -> Result<(), ConnectError> {
        if let Some((tls, _)) = &mut self.tls {
            let written = io::Write::write_all(&mut tls.writer(), bytes);
            written.map_err(|error| self.explain(error))?;
            return self.push().await;
        }
        let mut rest = bytes;
        while rest.has_remaining() {
            self.stream
                .writable()
                .await
                .map_err(|error| self.explain(error))?;
            match self.stream.try_write(rest) {
                Ok(written) => rest.advance(written),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(self.explain(error)),
            }
        }
        Ok(())
    }

    /// The next bytes of the other side.
    pub(super) async fn receive<const N: usize>(&mut self) -> Result<[u8; N], ConnectError> {
        while self.early.len() < N {
            self.pull().await?;
        }
        let mut bytes = [0; N];
        self.early.copy_to_slice(&mut bytes);
        Ok(bytes)
    }

    /// The connection, with what has been read beyond what was received.
    pub(super) fn into_met(self) -> Met {
        Met {
            stream: self.stream,
            tls: self.tls.map(|(tls, _)| tls),
            early: self.early,
        }
    }
}
