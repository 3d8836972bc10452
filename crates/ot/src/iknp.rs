//! OT extension of Ishai et al. with the optimisations of Asharov et al. (motion.txt 5.1.2),
//! streamed in chunks.
//!
//! The base OTs run with the roles swapped: the extension *receiver* holds the two seeds of each
//! of [`KAPPA`] columns, the extension *sender* the one that Delta's bit selects. For `m` OTs with
//! choices r and generator streams G:
//!
//! 1. The receiver computes t_j = G(s_{j,0}), sends u_j = t_j ^ G(s_{j,1}) ^ r for every column j,
//!    and transposes t into rows t_i.
//! 2. The sender computes q_j = G(s_{j,Delta_j}) ^ Delta_j u_j and transposes: q_i = t_i ^ r_i Delta.
//!
//! What becomes of the rows is the business of the [flavours](crate::flavour).
//!
//! # Message
//! The OTs of one call are cut into chunks of [`CHUNK`], the last one shorter. A chunk of c OTs is
//! sent as 128 columns one after the other, each of `ceil(c / 128) * 16` bytes; so `m` OTs take
//! `16 * ceil(m / 128) * 128` bytes ([`message_len`]). A call for `CHUNK` OTs, k times over, sends
//! the same bytes as one call for `k * CHUNK`.
//!
//! # Both sides in step
//! Every chunk moves each column's generator on by `ceil(c / 128)` blocks, so the two parties must
//! make their calls with the same sequence of `m`. A call that returns an error has moved nothing.
//!
//! # Security
//! Semi-honest, static. Column j of u is masked by the one stream the sender does not know, so u is
//! pseudorandom whatever r is (PRG: AES-128 in counter mode). Delta never leaves the sender; no
//! branch or index depends on it.

use core::fmt;

use madrigal_kernels::{Block, Prg, transpose_128, xor};
use zeroize::{Zeroize, Zeroizing};

use crate::{
    Delta, Instance, KAPPA, Tweaks,
    error::{Message, OtError, check_argument, check_message},
    flavour,
    select::clear_padding,
};

/// OTs per chunk. Columns, message and rows take 16 bytes each per OT: 384 KiB, within the
/// second-level cache of most processors, and 64 blocks per column keep AES busy. Measured on a
/// Zen 5 core with 1 MiB: 16384 is 2% faster, 4096 is 4% slower, 2048 and 32768 lose more.
pub const CHUNK: usize = 8192;

/// Bytes of one column of a full chunk.
const COLUMN_BYTES: usize = CHUNK / 8;

/// Distance of columns in the local matrix: one cache line more than a column, because with a
/// power of two all columns of a tile would compete for the same few cache sets (3% at this chunk
/// size, 8% at twice it).
const STRIDE: usize = COLUMN_BYTES + 64;

/// Length in bytes of the receiver's message for `m` OTs.
pub const fn message_len(m: usize) -> usize {
    m.div_ceil(KAPPA).saturating_mul(KAPPA * 16)
}

/// Bytes of one column of a chunk of `m` OTs.
const fn column_len(m: usize) -> usize {
    m.div_ceil(KAPPA) * (KAPPA / 8)
}

/// What both sides share: the place in the stream and the working memory.
struct Extension {
    instance: Instance,
    next_index: u64,
    /// KAPPA columns, [`STRIDE`] apart. Secret.
    columns: Zeroizing<Vec<u8>>,
    /// Rows of a chunk that nobody outside asks for; empty until then. Secret.
    rows: Zeroizing<Vec<Block>>,
}

impl Extension {
    fn new(instance: Instance) -> Self {
        Extension {
            instance,
            next_index: 0,
            columns: Zeroizing::new(vec![0; KAPPA * STRIDE]),
            rows: Zeroizing::default(),
        }
    }

    /// The OTs of one call, chunk by chunk: (first row, number of rows, place in the message).
    fn chunks(m: usize) -> impl Iterator<Item = (usize, usize, core::ops::Range<usize>)> {
        (0..m).step_by(CHUNK).map(move |first| {
            let len = CHUNK.min(m - first);
            let start = first * (KAPPA / 8);
            (first, len, start..start + message_len(len))
        })
    }

    fn tweaks(&mut self, m: usize) -> Tweaks {
        let first = self.next_index;
        self.next_index += m as u64;
        Tweaks::new(self.instance, first, m)
    }

    /// Lends the rows out for the length of a call, grown to a chunk of `m` OTs.
    fn take_rows(&mut self, m: usize) -> Zeroizing<Vec<Block>> {
        let mut rows = core::mem::take(&mut self.rows);
        if rows.len() < m.min(CHUNK) {
            rows = Zeroizing::new(vec![Block::ZERO; m.min(CHUNK)]);
        }
        rows
    }

    fn transpose(&self, rows: &mut [Block]) {
        let whole = rows.len() / KAPPA * KAPPA;
        let (body, tail) = rows.split_at_mut(whole);
        if !body.is_empty() {
            transpose_128(&self.columns, STRIDE, body);
        }
        if !tail.is_empty() {
            let mut tile = Zeroizing::new([Block::ZERO; KAPPA]);
            transpose_128(&self.columns[whole / 8..], STRIDE, &mut *tile);
            tail.copy_from_slice(&tile[..tail.len()]);
        }
    }
}

/// The sender of extended OTs: holds Delta and one stream per column.
pub struct IknpSender {
    delta: Delta,
    streams: Vec<Prg>,
    extension: Extension,
}

impl IknpSender {
    /// Starts an instance from the keys of [`KAPPA`] base OTs in which this party was the
    /// receiver with the choices [`Delta::choice_bits`].
    ///
    /// # Errors
    /// [`OtError::ArgumentLength`] if there are not [`KAPPA`] keys.
    pub fn new(instance: Instance, delta: Delta, keys: &[Block]) -> Result<Self, OtError> {
        check_argument("keys", KAPPA, keys.len())?;
        Ok(IknpSender {
            delta,
            streams: keys.iter().map(|&key| Prg::new(key)).collect(),
            extension: Extension::new(instance),
        })
    }

    /// The offset between a row's two meanings.
    pub fn delta(&self) -> &Delta {
        &self.delta
    }

    /// Reads the receiver's message for `m` OTs and writes the rows q_i.
    ///
    /// # Errors
    /// [`OtError::MessageLength`] for the message, [`OtError::ArgumentLength`] unless there are
    /// `m` rows.
    pub fn extend(&mut self, u: &[u8], m: usize, rows: &mut [Block]) -> Result<Tweaks, OtError> {
        check_argument("rows", m, rows.len())?;
        check_message(Message::Extension, u, message_len(m))?;
        for (first, len, place) in Extension::chunks(m) {
            self.extend_chunk(&u[place], &mut rows[first..first + len]);
        }
        Ok(self.extension.tweaks(m))
    }

    /// Reads the receiver's message for `m` OTs and writes the two random bits of each, packed:
    /// [`extend`](Self::extend) and [`flavour::sender_random_bits`] chunk by chunk, so that the
    /// rows never leave the cache.
    ///
    /// # Errors
    /// [`OtError::MessageLength`] for the message, [`OtError::ArgumentLength`] unless `k0` and
    /// `k1` have `ceil(m / 8)` bytes.
    pub fn extend_bits(
        &mut self,
        u: &[u8],
        m: usize,
        k0: &mut [u8],
        k1: &mut [u8],
    ) -> Result<(), OtError> {
        check_argument("k0", m.div_ceil(8), k0.len())?;
        check_argument("k1", m.div_ceil(8), k1.len())?;
        check_message(Message::Extension, u, message_len(m))?;
        let mut buffer = self.extension.take_rows(m);
        for (first, len, place) in Extension::chunks(m) {
            let rows = &mut buffer[..len];
            self.extend_chunk(&u[place], rows);
            let out = first / 8..(first + len).div_ceil(8);
            let tweaks = self.extension.tweaks(len);
            let (k0, k1) = (&mut k0[out.clone()], &mut k1[out]);
            flavour::sender_random_bits(&self.delta, tweaks, rows, k0, k1)?;
        }
        self.extension.rows = buffer;
        Ok(())
    }

    fn extend_chunk(&mut self, u: &[u8], rows: &mut [Block]) {
        let len = column_len(rows.len());
        let delta = self.delta.expose();
        let columns = self.extension.columns.chunks_exact_mut(STRIDE);
        let streams = self.streams.iter_mut();
        for (j, ((q, u), stream)) in columns.zip(u.chunks_exact(len)).zip(streams).enumerate() {
            let q = &mut q[..len];
            stream.fill(q);
            xor_masked(q, u, Block::mask(delta.bit(j)));
        }
        self.extension.transpose(rows);
    }
}

impl fmt::Debug for IknpSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IknpSender")
            .field("instance", &self.extension.instance)
            .finish_non_exhaustive()
    }
}

/// The receiver of extended OTs: holds both streams of every column.
pub struct IknpReceiver {
    streams: Vec<[Prg; 2]>,
    extension: Extension,
}

impl IknpReceiver {
    /// Starts an instance from the keys of [`KAPPA`] base OTs in which this party was the sender.
    ///
    /// # Errors
    /// [`OtError::ArgumentLength`] if there are not [`KAPPA`] pairs of keys.
    pub fn new(instance: Instance, keys: &[[Block; 2]]) -> Result<Self, OtError> {
        check_argument("keys", KAPPA, keys.len())?;
        Ok(IknpReceiver {
            streams: keys.iter().map(|pair| pair.map(Prg::new)).collect(),
            extension: Extension::new(instance),
        })
    }

    /// For `m` OTs with the given packed choices (`ceil(m / 8)` bytes), writes the message to send
    /// ([`message_len`] bytes) and the rows t_i.
    ///
    /// # Errors
    /// [`OtError::ArgumentLength`] for the argument of the wrong length.
    pub fn extend(
        &mut self,
        choices: &[u8],
        m: usize,
        u: &mut [u8],
        rows: &mut [Block],
    ) -> Result<Tweaks, OtError> {
        check_argument("choices", m.div_ceil(8), choices.len())?;
        check_argument("rows", m, rows.len())?;
        check_argument("u", message_len(m), u.len())?;
        for (first, len, place) in Extension::chunks(m) {
            self.extend_chunk(
                &choices[first / 8..],
                &mut u[place],
                &mut rows[first..first + len],
            );
        }
        Ok(self.extension.tweaks(m))
    }

    /// For `m` OTs with the given packed choices, writes the message to send and the chosen random
    /// bit of each OT, packed: the counterpart of [`IknpSender::extend_bits`].
    ///
    /// # Errors
    /// [`OtError::ArgumentLength`] for the argument of the wrong length: `u` has [`message_len`]
    /// bytes, `choices` and `out` have `ceil(m / 8)`.
    pub fn extend_bits(
        &mut self,
        choices: &[u8],
        m: usize,
        u: &mut [u8],
        out: &mut [u8],
    ) -> Result<(), OtError> {
        check_argument("choices", m.div_ceil(8), choices.len())?;
        check_argument("out", m.div_ceil(8), out.len())?;
        check_argument("u", message_len(m), u.len())?;
        let mut buffer = self.extension.take_rows(m);
        for (first, len, place) in Extension::chunks(m) {
            let rows = &mut buffer[..len];
            self.extend_chunk(&choices[first / 8..], &mut u[place], rows);
            let tweaks = self.extension.tweaks(len);
            let out = &mut out[first / 8..(first + len).div_ceil(8)];
            flavour::receiver_random_bits(tweaks, rows, out)?;
        }
        self.extension.rows = buffer;
        Ok(())
    }

    /// `choices` may go on past the chunk.
    fn extend_chunk(&mut self, choices: &[u8], u: &mut [u8], rows: &mut [Block]) {
        let len = column_len(rows.len());
        let used = rows.len().div_ceil(8);
        let mut r = [0u8; COLUMN_BYTES];
        r[..used].copy_from_slice(&choices[..used]);
        clear_padding(&mut r, rows.len());

        let columns = self.extension.columns.chunks_exact_mut(STRIDE);
        let streams = self.streams.iter_mut();
        for ((t, u), [zero, one]) in columns.zip(u.chunks_exact_mut(len)).zip(streams) {
            let t = &mut t[..len];
            zero.fill(t);
            xor(u, t, &r[..len]);
            one.xor_into(u);
        }
        r.zeroize();
        self.extension.transpose(rows);
    }
}

impl fmt::Debug for IknpReceiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IknpReceiver")
            .field("instance", &self.extension.instance)
            .finish_non_exhaustive()
    }
}

/// `dst ^= src & mask` with a secret mask of all zeros or all ones, for slices of equal length, a
/// multiple of 16. Words in fixed groups, because the compiler turns those into vectors.
fn xor_masked(dst: &mut [u8], src: &[u8], mask: Block) {
    let mask = mask.lo();
    let (dst_groups, dst_rest) = dst.as_chunks_mut::<64>();
    let (src_groups, src_rest) = src.as_chunks::<64>();
    for (dst, src) in dst_groups.iter_mut().zip(src_groups) {
        xor_masked_words(dst, src, mask);
    }
    xor_masked_words(dst_rest, src_rest, mask);
}

#[inline(always)]
fn xor_masked_words(dst: &mut [u8], src: &[u8], mask: u64) {
    let (dst, src) = (dst.as_chunks_mut::<8>().0, src.as_chunks::<8>().0);
    for (dst, src) in dst.iter_mut().zip(src) {
        let word = u64::from_ne_bytes(*dst) ^ (u64::from_ne_bytes(*src) & mask);
        *dst = word.to_ne_bytes();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost;

    /// The declared AES blocks are what the generators were asked for.
    #[test]
    fn generators_move_as_declared() {
        let instance = Instance {
            sender: 0,
            receiver: 1,
            stream: 0,
        };
        let keys = vec![[Block::ZERO, Block::ONES]; KAPPA];
        for m in [0, 1, 128, 129, CHUNK, CHUNK + 1, 3 * CHUNK + 1000] {
            let mut receiver = IknpReceiver::new(instance, &keys).unwrap();
            let mut sender = IknpSender::new(
                instance,
                Delta::from_block(Block::ZERO),
                &[Block::ZERO; KAPPA],
            )
            .unwrap();
            let (mut u, mut rows) = (vec![0; message_len(m)], vec![Block::ZERO; m]);
            let _ = receiver
                .extend(&vec![0; m.div_ceil(8)], m, &mut u, &mut rows)
                .unwrap();
            let _ = sender.extend(&u, m, &mut rows).unwrap();
            let cost = cost::extension(m as u64);
            let blocks = |streams: &mut dyn Iterator<Item = &Prg>| -> u64 {
                streams.map(Prg::position).sum()
            };
            assert_eq!(
                blocks(&mut receiver.streams.iter().flatten()),
                cost.receiver_aes
            );
            assert_eq!(blocks(&mut sender.streams.iter()), cost.sender_aes);
        }
    }
}
