//! Vector oblivious linear evaluation (VOLE) over GF(2^128), from silent OT: the sender has Delta and random keys K, the
//! receiver random values U and tags M = K + U Delta. Delta has 128 bits, of which 127 are random; the values have 64 or 128
//! bits: [`u64`] is the subfield GF(2^64) of [`madrigal_kernels::field`].
//!
//! It is the iteration of [silent OT](crate::silent) (Ferret, CCS 2020) with elements for bits, as Weng, Yang, Katz and Wang make it
//! over other fields ("Wolverine", S&P 2021, ePrint 2020/925), with half-trees (ePrint 2022/1431) whose leaves
//! are hashed. Only the sender speaks, so it takes no round beyond that of silent OT's beginning.
//!
//! # An iteration
//! 1. *Trees.* For each group of four, silent OTs with Delta make correlated trees: leaves v_j at the sender, and v_j + e_j Delta at
//!    the receiver, where e is one at a random place alpha. Both hash them under a public key of the group. Now the
//!    receiver knows all hashes but the one at alpha. An element of the base (K', U', M') gives the error: the sender
//!    sends K' plus the sum of its hashes; the receiver adds to that M' and all of its own, which gives H(v_alpha) + U' Delta for the place
//!    alpha. So the hashes are keys of values that are U' at alpha and zero elsewhere.
//! 2. *Code.* The public code, whose ones are drawn as in silent OT, is applied to the base's keys, to its values and to its
//!    tags: a linear map over the field of two elements, hence one that keeps M = K + U Delta.
//! 3. The last elements of an iteration are the base of the next one.
//!
//! The first base takes no message at all: B rows of OTs with random choices r_i, added up with the powers of x as factors, are the
//! element whose bits are the choices ([`VoleSender::new`]).
//!
//! ```
//! use madrigal_kernels::{Block, Kernels};
//! use madrigal_ot::{Delta, Instance, SeededRng, silent::*, vole::*};
//! # use rand_core::Rng;
//! # fn main() -> Result<(), madrigal_ot::OtError> {
//! # let mut rng = SeededRng::from_seed(Block::new(0, 1));
//! let m = 10_000;
//! let params = VoleParams::<u64>::for_elements(m as u64);
//! let silent = params.silent(m as u64);
//! # let delta = Delta::random_odd(&mut rng);
//! # let n = silent.base_rows();
//! # let mut choices = vec![0; n.div_ceil(8)];
//! # rng.fill_bytes(&mut choices);
//! # let q: Vec<Block> = (0..n).map(|_| Block::new(rng.next_u64(), rng.next_u64())).collect();
//! # let bit = |bits: &[u8], i: usize| bits[i / 8] >> (i % 8) & 1 == 1;
//! # let t: Vec<Block> =
//! #     (0..n).map(|i| q[i] ^ (delta.expose() & Block::mask(bit(&choices, i)))).collect();
//! # let instance = Instance { session: [7; 32], sender: 0, receiver: 1, stream: 1 };
//! // Silent OTs that have just begun, as the documentation of `silent` shows.
//! let ots = SilentSender::new(&mut rng, instance, silent, delta, &q)?;
//! let (mut sender, setup) = VoleSender::new(&mut rng, params, ots)?; // zero -> one: setup
//! let ots = SilentReceiver::new(instance, silent, &choices, &t)?;
//! let mut receiver = VoleReceiver::new(params, ots, &setup)?;
//!
//! let mut message = vec![0; sender.message_len(m)];
//! let (mut keys, mut tags, mut values) = (vec![Block::ZERO; m], vec![Block::ZERO; m], vec![0; m]);
//! sender.extend(m, &mut message, &mut keys)?; // zero -> one: message
//! receiver.extend(&message, m, &mut values, &mut tags)?;
//! Kernels::detect().field_multiply_add(sender.delta().expose(), &values, &mut keys);
//! assert!(keys == tags);
//! # Ok(())
//! # }
//! ```
//!
//! # Security
//! Semi-honest, static, as silent OT here; [below](#malicious-parties) is what it takes against malicious parties.
//!
//! - *Delta and keys.* The receiver sees silent OTs' message, the trees' level sums and one block for each tree. Level sums show
//!   nothing of Delta if the trees' hash is circular correlation robust (as for silent OT). The block is, but for what the receiver knows,
//!   H(v_alpha) + U' Delta, where it knows U' and v_alpha + Delta = w. So H must hide Delta although Delta is added to its result U' times.
//!   H(x) = pi(y x) + y x, with pi AES-128 as an ideal cipher under a public key for each group: the receiver sees pi(y (w + Delta)) + (y + U') Delta.
//!   y + U' is never 0 for U' in GF(2^64), and in GF(2^128) with a chance of 2^-128 for each tree, so both the input of pi and what is added to its
//!   output are bijections of Delta. Without the factor y they would cancel for U' = 1, and one decryption would give Delta.
//!   An evaluation of AES under a group's two keys hits a place of the 4 h nodes or of these four by its input or by its output, so q
//!   of them give Delta with a chance of at most 2 q 4 h / 2^127, as for silent OT: work of 2^121 with h = 7.
//!   Without the hash the receiver would know v_alpha + Delta beside v_alpha + U' Delta, and with them Delta.
//! - *Values.* The sender receives nothing; that they look random to it is the LPN assumption of [`VoleParams`],
//!   whose argument is not silent OT's: silent OT's own parameters would be broken here. The base's values and the trees' places are uniform.
//! - *Keys look random* to whoever knows Delta, U and M only as far as M = K + U Delta tells; one of K and M is what the other makes it.
//! - No branch and no address depends on a secret, as in silent OT.
//!
//! # Malicious parties
//! Nothing above notices a party that deviates. Whoever wants that has base OTs that withstand malicious parties, and beside them:
//!
//! 1. base rows of SoftSpoken with k = 1 and [its check](crate::softspoken::check), before the sender says anything else;
//! 2. [`VoleSender::checked`] and [`VoleReceiver::checked`];
//! 3. for each batch a [challenge](VoleReceiver::challenge), made when all of the batch's messages have come, whose answer the receiver
//!    [holds](Expected::check) against what it must be before anything that depends on the batch's tags reaches the sender.
//!
//! *A malicious receiver* speaks in the base rows and in challenges only. The check leaves it with rows that fit choices of its own, as if it had begun with these:
//! so it may choose values, but they have their tags under Delta. If it cheated in c columns it passed with a chance of 2^-c, and knows c bits of Delta.
//! - Choices that it picks must not tell Delta either. The trees are safe for any places. Leaves are safe as long as no U' is y (above), and who picks
//!   choices can make it y where values have 128 bits: a single tree would give Delta, and no check of M = K + U Delta sees it. So a checked sender draws the public seed of
//!   shifts, one shift s for each group of trees, when the base rows are fixed; both sides take U' + s for the errors of the group and K' + s Delta for their keys. U' hangs on the base's choices and on shifts of groups
//!   before, so that U' + s is y for any of n trees with a chance of n / 2^128. One shift for all trees would not do: an error that has it comes to be another iteration's U', where it cancels, and shifts of the
//!   base alone cancel in the sums of ten elements.
//! - A challenge with a wrong sum is a way to test guesses of Delta, one for each hash: work of 2^127.
//!
//! *A malicious sender* speaks in silent OTs, level sums and sums of leaves. The receiver's choices, places and values come from its own random base choices and
//! the public codes: marks in the lowest bits of its rows, which it sets itself whatever arrives. Hence a deviation can only make tags wrong, and
//! the batch's check finds wrong tags with all but a chance of 2^-128. It needs to look at what is used only: an error in an element that feeds the next iteration,
//! in a row of silent OT, or in a Delta that differs from the base OTs', is one of the tags of the elements that depend on it, and if there are none of those in any batch it has changed nothing.
//! - An error may depend on the receiver's base choices and places: a wrong level sum spoils one half of a tree or the other. A sender that guesses which
//!   can name the keys that fit, and passes if the guess is right. So it learns whether a guess is right, at the price of being found if not: a
//!   guess of c bits passes with a chance of about 2^-c. That is the functionality that Ferret and Wolverine (ePrint 2020/924, 2020/925) have, too, with one difference: they check each iteration's trees at once,
//!   where here guesses about several trees and iterations may come in one batch. LPN has to hold although such bits are known: one on the average before it is found, and that it is found tells another.
//! - Delta is the sender's choice but for its lowest bit, which is one, since rows carry their choices there: it is never zero.
//!
//! A corrupt party may pick its own outputs, as in all such functionalities: keys, or values and tags.
//! The tests of this module show each deviation found in checked instances and not found in others.
//!
//! # Cost
//! At either party, for an element: 2 AES blocks for trees and leaves, 2.5 for the code's indices, ten reads from a
//! table of 1 to 1.3 MB; the receiver reads its table of values, too, for which it makes the indices once more.
//! Eight blocks are sent for 128 elements, a byte for each, beside the silent OTs: 7 of them for 128 elements, and for setup
//! 64 times 13 312 (values of 64 bits; 0.1 MB) or 128 times 16 000 (0.2 MB).

mod check;
mod pack;
mod params;
mod receiver;
mod sender;
mod shifts;
#[cfg(test)]
mod tests;

use madrigal_core::Zeroizing;
use madrigal_kernels::field::times_y;
use madrigal_kernels::ggm::TREES;
use madrigal_kernels::{Block, RowHash};

pub use check::{ANSWER_BYTES, Answerer, CHALLENGE_BYTES, Expected, mask_elements};
pub use params::VoleParams;
pub use receiver::VoleReceiver;
pub use sender::VoleSender;

/// Elements of the first base that are made at a time: whole groups of silent OTs.
const PIECE: usize = 128;

/// Bytes of the public seed of shifts that a [checked](VoleSender::checked) sender draws.
pub const SHIFT_BYTES: usize = 16;

/// The hash H(x) = pi(y x) + y x of leaves, under the key of their group.
fn hashed(hash: &RowHash, leaves: &mut [Block], out: &mut [Block]) {
    leaves.iter_mut().for_each(|leaf| *leaf = times_y(*leaf));
    hash.hash_same_row(0, leaves, out);
}

/// The sum of the leaves of each tree.
fn sums(leaves: &[Block]) -> Zeroizing<[Block; TREES]> {
    let mut sums = Zeroizing::new([Block::ZERO; TREES]);
    for leaves in leaves.as_chunks::<TREES>().0 {
        for (sum, &leaf) in sums.iter_mut().zip(leaves) {
            *sum ^= leaf;
        }
    }
    sums
}

/// Bytes of the level sums of a group that has these leaves; the sums of its leaves come after them.
fn level_bytes(leaves: &[Block]) -> usize {
    16 * TREES * (leaves.len() / TREES).ilog2() as usize
}
