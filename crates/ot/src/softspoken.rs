//! SoftSpokenOT (Roy, "SoftSpokenOT: Quieter OT Extension from Small-Field Silent VOLE in the
//! Minicrypt Model", Crypto 2022, ePrint 2022/192): OT extension with 128 / k bits per OT instead
//! of IKNP's 128, for `2^k / k` times the generator work of one column. The semi-honest variant,
//! with no universal hash of the leaves; [`check`] has the consistency check for k = 1.
//!
//! # Derivation
//! The [`KAPPA`] columns are cut into blocks of k ([`FieldBits`]). Per block, the extension
//! receiver knows seeds s_x for all `2^k` strings x of k bits; the sender knows all but that for
//! its k bits of Delta, from a punctured tree over the block's k base OTs (one message from the
//! receiver at the start, [`FieldBits::setup_len`]). G is the generator, AES-128 in counter mode;
//! all sums are XOR, per OT.
//!
//! 1. The receiver computes u' = sum of G(s_x), a bit per OT, and v = sum of x G(s_x), k bits per
//!    OT. It sends c = u' ^ r for its choices r: one column per block.
//! 2. The sender computes w = sum of (x ^ Delta) G(s_x). Where x = Delta the factor is zero, so it
//!    needs no seed that it does not have. And w = v ^ Delta u'.
//! 3. It adds Delta c: w ^ Delta c = v ^ Delta r.
//!
//! So its k columns are those of the receiver plus Delta_j r: the relation q_i = t_i ^ r_i Delta of
//! IKNP once all blocks' columns stand side by side and are transposed. For k = 1 it *is* IKNP with
//! the optimisations of Asharov et al. (MOTION 5.1.2), message for message: s_1 and s_0 are the two
//! keys of the base OT, and nothing is sent ahead.
//!
//! In the paper's words (sections 3 and 4) this is subspace VOLE over F_{2^k} with the repetition
//! code; F_{2^k} is but a vector space here, as no product of two elements of it is ever formed.
//!
//! # Message
//! OTs are cut into chunks of [`CHUNK`], the last one shorter, and a chunk of c OTs is sent as [`FieldBits::blocks`] columns one after the other,
//! each of `ceil(c / 128) * 16` bytes. A call for `CHUNK` OTs, n times over, sends the same bytes as
//! one call for `n * CHUNK`. Both parties must make their calls with the same sequence of `m`. A
//! call that returns an error has moved nothing.
//!
//! # Security
//! Semi-honest, static; with [`check`] and k = 1 also against a malicious party. Against the sender: in each block c is masked by G(s_Delta), which appears
//! in nothing else that it sees; the tree's sums are masked by base keys that it does not have. So
//! its view is pseudorandom whatever r is, if AES-128 is a pseudorandom permutation. Against the
//! receiver: nothing is sent to it. Delta stays uniform given all that it sees, and the rows t_i are
//! its own coins: what the [hash](crate::flavour#the-hash) asks for.
//!
//! The sender lacks one leaf of each block, and on each level above one node of which it sees a child. All of these
//! keys have numbers of their own in the counter's upper half ([`Instance`] begins them), so that what the sender
//! sees of one is no target for a guess of another.
//!
//! No branch or index depends on Delta or on choices. The sender keeps seed x at x ^ Delta, so its
//! gap is at 0 whatever Delta is, and its factors x ^ Delta are the places themselves.
//!
//! # Work
//! Per OT the receiver makes `leaves / 128` AES blocks ([`FieldBits::leaves`]: 2, 2, 2.7, 4, 6.3, 11.5,
//! 20, 32 for k = 1 to 8), the sender one less for each block of columns, and adds each to sums
//! twice; with vectors its last round does one of the two ([`Leaves`]). Both write 16 bytes of
//! columns, transpose them, and write 16 bytes of rows; the message is `16 / k` bytes. A
//! random OT hashes on top: 2 AES blocks at the sender, one at the receiver.
//!
//! Beside AES there is nearly the same for every k, about 1 ns on a Zen 5 core (docs/BENCHMARKS.md has
//! the measurements): the columns' way through the second-level cache, the transposition, and the
//! rows' way out (a full chunk of columns does not fit the first level). At k = 8 it hides behind the
//! AES units, and the 704 KiB of round keys stream from the
//! second level. To go on from there one would fold a tile of 2048 OTs of all blocks before
//! transposing it; but then all round keys are read for each tile, 22 bytes per OT at k = 2 where
//! the columns cost 32, so there is little to win.

pub mod check;
mod layout;
mod pprf;

use core::fmt;

use madrigal_core::Wipe;
use madrigal_kernels::{Block, Leaves};

pub use layout::FieldBits;

use crate::{
    Delta, Instance, KAPPA, Tweaks,
    cost::{self, Cost},
    error::{Message, OtError, check_argument, check_message},
    extension::{Choices, Chosen, ExtensionReceiver, ExtensionSender, Pairs, Selected},
    matrix::{COLUMN_BYTES, Matrix, STRIDE, column_len},
    select::clear_padding,
};

/// OTs per chunk of the message.
pub const CHUNK: usize = crate::matrix::CHUNK;

/// The OTs of one call, chunk by chunk: (first row, number of rows, place in the message).
fn chunks(k: FieldBits, m: usize) -> impl Iterator<Item = (usize, usize, core::ops::Range<usize>)> {
    (0..m).step_by(CHUNK).map(move |first| {
        let len = CHUNK.min(m - first);
        let start = k.message_len(first);
        (first, len, start..start + k.message_len(len))
    })
}

/// The sender of extended OTs: holds Delta and all leaves of each block but one.
pub struct SoftSpokenSender {
    k: FieldBits,
    delta: Delta,
    blocks: Vec<Leaves>,
    matrix: Matrix,
}

impl SoftSpokenSender {
    /// Starts an instance from the keys of [`KAPPA`] base OTs, in which this party was the
    /// receiver with the choices [`Delta::choice_bits`], and the receiver's message of
    /// [`FieldBits::setup_len`] bytes.
    ///
    /// The keys serve this instance alone: of two from the same keys the sender would learn where the
    /// receiver's choices differ. For several, run more base OTs ([`threads`](crate::threads)).
    ///
    /// # Errors
    /// [`OtError::ArgumentLength`] if there are not [`KAPPA`] keys, [`OtError::MessageLength`] for
    /// the message.
    pub fn new(
        instance: Instance,
        k: FieldBits,
        delta: Delta,
        keys: &[Block],
        setup: &[u8],
    ) -> Result<Self, OtError> {
        check_argument("keys", KAPPA, keys.len())?;
        check_message(Message::ExtensionSetup, setup, k.setup_len())?;
        let mut sums = setup.as_chunks::<16>().0.as_chunks::<2>().0;
        let mut blocks = Vec::with_capacity(k.blocks());
        for (tree, columns) in k.columns().enumerate() {
            let number = instance.tree_number(tree);
            let (own, rest) = sums.split_at(columns.len() - 1);
            sums = rest;
            let bits = delta_bits(&delta, columns.start);
            let seeds = pprf::grow_punctured(&keys[columns], bits, own, number);
            blocks.push(Leaves::new(&seeds, number));
        }
        Ok(SoftSpokenSender {
            k,
            delta,
            blocks,
            matrix: Matrix::new(instance),
        })
    }

    fn read_chunk(&mut self, u: &[u8], m: usize) {
        let len = column_len(m);
        for ((columns, leaves), u) in self
            .k
            .columns()
            .zip(&mut self.blocks)
            .zip(u.chunks_exact(len))
        {
            let mask = delta_bits(&self.delta, columns.start);
            let matrix = self.matrix.columns_from(columns.start);
            leaves.fold_punctured(matrix, STRIDE, mask, u);
        }
    }
}

/// Eight bits of Delta from bit `start` on, zeros past the end.
fn delta_bits(delta: &Delta, start: usize) -> u8 {
    (u128::from(delta.expose()) >> start) as u8
}

impl ExtensionSender for SoftSpokenSender {
    fn delta(&self) -> &Delta {
        &self.delta
    }

    fn message_len(&self, m: usize) -> usize {
        self.k.message_len(m)
    }

    fn cost(&self, m: usize) -> Cost {
        cost::softspoken(self.k, m as u64)
    }

    fn extend(&mut self, u: &[u8], m: usize, rows: &mut [Block]) -> Result<Tweaks, OtError> {
        check_argument("rows", m, rows.len())?;
        check_message(Message::Extension, u, self.k.message_len(m))?;
        for (first, len, place) in chunks(self.k, m) {
            self.read_chunk(&u[place], len);
            self.matrix.rows(&mut rows[first..first + len]);
        }
        Ok(self.matrix.tweaks(m))
    }

    /// Given or random, the choices are the receiver's.
    fn extend_masks(
        &mut self,
        _: Choices,
        u: &[u8],
        m: usize,
        mut out: Pairs<'_>,
    ) -> Result<(), OtError> {
        out.check(m)?;
        check_message(Message::Extension, u, self.k.message_len(m))?;
        for (first, len, place) in chunks(self.k, m) {
            self.read_chunk(&u[place], len);
            self.matrix.for_tiles(len, |tile, tweaks, rows| {
                let ots = first + tile.start..first + tile.end;
                out.write(ots, &self.delta, tweaks, rows)
            })?;
        }
        Ok(())
    }
}

impl fmt::Debug for SoftSpokenSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SoftSpokenSender")
            .field("instance", &self.matrix.instance())
            .field("k", &self.k.get())
            .finish_non_exhaustive()
    }
}

/// The receiver of extended OTs: holds all leaves of each block.
pub struct SoftSpokenReceiver {
    k: FieldBits,
    blocks: Vec<Leaves>,
    matrix: Matrix,
}

impl SoftSpokenReceiver {
    /// Starts an instance from the keys of [`KAPPA`] base OTs in which this party was the sender.
    /// Returns the message to send before the first extension, [`FieldBits::setup_len`] bytes:
    /// none for k = 1. The keys serve this instance alone, see [`SoftSpokenSender::new`].
    ///
    /// # Errors
    /// [`OtError::ArgumentLength`] if there are not [`KAPPA`] pairs of keys.
    pub fn new(
        instance: Instance,
        k: FieldBits,
        keys: &[[Block; 2]],
    ) -> Result<(Self, Vec<u8>), OtError> {
        check_argument("keys", KAPPA, keys.len())?;
        let mut setup = Vec::with_capacity(k.setup_len());
        let blocks = (k.columns().enumerate())
            .map(|(tree, columns)| {
                let number = instance.tree_number(tree);
                Leaves::new(&pprf::grow(&keys[columns], number, &mut setup), number)
            })
            .collect();
        let receiver = SoftSpokenReceiver {
            k,
            blocks,
            matrix: Matrix::new(instance),
        };
        Ok((receiver, setup))
    }

    /// `choices` may go on past the chunk.
    fn write_chunk(&mut self, choices: &[u8], m: usize, u: &mut [u8]) {
        let len = column_len(m);
        let used = m.div_ceil(8);
        let mut r = [0u8; COLUMN_BYTES];
        r[..used].copy_from_slice(&choices[..used]);
        clear_padding(&mut r, m);
        for ((columns, leaves), u) in self
            .k
            .columns()
            .zip(&mut self.blocks)
            .zip(u.chunks_exact_mut(len))
        {
            let matrix = self.matrix.columns_from(columns.start);
            leaves.fold(matrix, STRIDE, &r[..len], u);
        }
        r.wipe();
    }
}

impl ExtensionReceiver for SoftSpokenReceiver {
    fn message_len(&self, m: usize) -> usize {
        self.k.message_len(m)
    }

    fn cost(&self, m: usize) -> Cost {
        cost::softspoken(self.k, m as u64)
    }

    fn extend(
        &mut self,
        choices: &[u8],
        m: usize,
        u: &mut [u8],
        rows: &mut [Block],
    ) -> Result<Tweaks, OtError> {
        check_argument("choices", m.div_ceil(8), choices.len())?;
        check_argument("rows", m, rows.len())?;
        check_argument("u", self.k.message_len(m), u.len())?;
        for (first, len, place) in chunks(self.k, m) {
            self.write_chunk(&choices[first / 8..], len, &mut u[place]);
            self.matrix.rows(&mut rows[first..first + len]);
        }
        Ok(self.matrix.tweaks(m))
    }

    fn extend_masks(
        &mut self,
        choices: Chosen<'_>,
        m: usize,
        u: &mut [u8],
        mut out: Selected<'_>,
    ) -> Result<(), OtError> {
        choices.check(m)?;
        out.check(m)?;
        check_argument("message", self.k.message_len(m), u.len())?;
        let choices = choices.draw(m);
        for (first, len, place) in chunks(self.k, m) {
            self.write_chunk(&choices[first / 8..], len, &mut u[place]);
            self.matrix.for_tiles(len, |tile, tweaks, rows| {
                out.write(first + tile.start..first + tile.end, tweaks, rows)
            })?;
        }
        Ok(())
    }
}

impl fmt::Debug for SoftSpokenReceiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SoftSpokenReceiver")
            .field("instance", &self.matrix.instance())
            .field("k", &self.k.get())
            .finish_non_exhaustive()
    }
}
