//! The body of a file in pieces, sealed or in the clear, so that no whole body is in memory beside the value.

use std::io::{Read, Write};

use madrigal_core::{Zeroizing, domains};
use madrigal_net::sealing::{Opener, Piece, Sealer, TAG_BYTES};
use sha2::{Digest, Sha256};

use crate::error::ShareFault;

/// Bytes of the body in each piece but the last one.
pub(crate) const PIECE: usize = 1 << 16;

/// Bytes of the digest that ends a file in the clear.
pub(crate) const CHECK_BYTES: usize = 32;

/// Bytes that a body of `length` bytes takes in a file, after the capsule.
pub(crate) fn stored(length: u64, sealed: bool) -> u64 {
    match sealed {
        true => length + count(length) * TAG_BYTES as u64,
        false => length + CHECK_BYTES as u64,
    }
}

/// Number of pieces: an empty body has one, so that there is always a last one.
fn count(length: u64) -> u64 {
    length.div_ceil(PIECE as u64).max(1)
}

/// The digest of a file in the clear, begun with what precedes the body.
pub(crate) fn check_of(before: &[u8]) -> Sha256 {
    let check = Sha256::new_with_prefix(domains::SHARE_CHECK);
    check
        .chain_update((before.len() as u64).to_le_bytes())
        .chain_update(before)
}

/// How a body is protected.
pub(crate) enum Out {
    Sealed(Sealer),
    Clear(Sha256),
}

/// Writes a body.
pub(crate) struct BodyWriter<'a> {
    to: &'a mut dyn Write,
    out: Out,
    buffer: Zeroizing<Vec<u8>>,
}

impl<'a> BodyWriter<'a> {
    pub(crate) fn new(to: &'a mut dyn Write, out: Out) -> Self {
        let buffer = Zeroizing::new(Vec::with_capacity(PIECE));
        Self { to, out, buffer }
    }

    /// Writes the next bytes. A full piece is kept until others follow: it may be the last one.
    pub(crate) fn put(&mut self, mut bytes: &[u8]) -> Result<(), ShareFault> {
        while !bytes.is_empty() {
            if self.buffer.len() == PIECE {
                self.flush(Piece::Inner)?;
            }
            let fits = bytes.len().min(PIECE - self.buffer.len());
            self.buffer.extend(&bytes[..fits]);
            bytes = &bytes[fits..];
        }
        Ok(())
    }

    /// Writes the last piece, and the digest of a file in the clear.
    pub(crate) fn finish(mut self) -> Result<(), ShareFault> {
        self.flush(Piece::Last)?;
        if let Out::Clear(check) = self.out {
            self.to.write_all(&check.finalize())?;
        }
        Ok(())
    }

    fn flush(&mut self, place: Piece) -> Result<(), ShareFault> {
        match &mut self.out {
            Out::Sealed(sealer) => {
                let sealed = sealer
                    .seal(&self.buffer, place)
                    .map_err(ShareFault::Sealing)?;
                self.to.write_all(&sealed)?;
            }
            Out::Clear(check) => {
                check.update(&*self.buffer);
                self.to.write_all(&self.buffer)?;
            }
        }
        self.buffer.clear();
        Ok(())
    }
}

/// How a body was protected.
pub(crate) enum In {
    Sealed(Opener),
    Clear(Sha256),
}

/// Reads a body whose length is known.
pub(crate) struct BodyReader<'a> {
    from: &'a mut dyn Read,
    input: In,
    /// Bytes of the body that are in no piece that was read.
    left: u64,
    pieces_left: u64,
    piece: Zeroizing<Vec<u8>>,
    taken: usize,
}

impl<'a> BodyReader<'a> {
    pub(crate) fn new(from: &'a mut dyn Read, input: In, length: u64) -> Self {
        Self {
            from,
            input,
            left: length,
            pieces_left: count(length),
            piece: Zeroizing::default(),
            taken: 0,
        }
    }

    /// Reads the next bytes.
    pub(crate) fn fill(&mut self, mut out: &mut [u8]) -> Result<(), ShareFault> {
        while !out.is_empty() {
            if self.taken == self.piece.len() {
                self.next()?;
            }
            let ready = &self.piece[self.taken..];
            let fits = ready.len().min(out.len());
            out[..fits].copy_from_slice(&ready[..fits]);
            self.taken += fits;
            out = &mut out[fits..];
        }
        Ok(())
    }

    /// Reads a piece, and nothing beyond the body.
    fn next(&mut self) -> Result<(), ShareFault> {
        let length = self.left.min(PIECE as u64) as usize;
        self.pieces_left = self
            .pieces_left
            .checked_sub(1)
            .ok_or(ShareFault::Damaged { what: "its body" })?;
        self.left -= length as u64;
        let place = match self.pieces_left {
            0 => Piece::Last,
            _ => Piece::Inner,
        };
        self.piece = match &mut self.input {
            In::Sealed(opener) => {
                let mut sealed = vec![0; length + TAG_BYTES];
                self.from.read_exact(&mut sealed)?;
                let opened = opener.open(&sealed, place);
                opened.map_err(|source| ShareFault::Unopened {
                    what: "its body",
                    source,
                })?
            }
            In::Clear(check) => {
                let mut clear = Zeroizing::zeros(length);
                self.from.read_exact(&mut clear)?;
                check.update(&*clear);
                clear
            }
        };
        self.taken = 0;
        Ok(())
    }

    /// Reads what is left without use: the one piece of an empty body, and the digest of a file in the clear.
    pub(crate) fn finish(mut self) -> Result<(), ShareFault> {
        while self.pieces_left > 0 {
            self.next()?;
        }
        if let In::Clear(check) = self.input {
            let mut told = [0; CHECK_BYTES];
            self.from.read_exact(&mut told)?;
            if told != <[u8; CHECK_BYTES]>::from(check.finalize()) {
                return Err(ShareFault::Check);
            }
        }
        Ok(())
    }
}
