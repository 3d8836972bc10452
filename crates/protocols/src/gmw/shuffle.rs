//! Shuffles between two parties: rows in an order that neither knows, as each puts them into one of its own.
//!
//! # Switches by OTs
//! A party permutes rows that are shared: it knows the order, and the other one must not, nor may it see more than shares. Its
//! order is that of the switches of a network (`network.rs`). The other party has a mask for each row on each line of the
//! network (Mohassel and Sadeghian, EUROCRYPT 2013, section 3, "oblivious switching network"): a switch of lines with masks a_0 and
//! a_1 gets a random r, behind it the masks are b_0 = a_0 - r and b_1 = a_1 + r. Who permutes then needs
//!
//! | switch | upper line | lower line |
//! |---|---|---|
//! | straight | a_0 - b_0 = r | a_1 - b_1 = -r |
//! | crossed | a_1 - b_0 = r + d | a_0 - b_1 = -(r + d) |
//!
//! with d = a_1 - a_0: one string u = r + s d of an OT with choice s, which is a row long. The paper takes fresh masks on both
//! lines and strings of two rows; here both depend on one r, which keeps one row of two from the wire. Added up along its way
//! through the network that is D = p(a) - b for the order p, masks a before and b behind. A message x - a then suffices to permute
//! x, as p(x - a) + D = p(x) - b (Chase, Ghosh and Poburinnaya, ASIACRYPT 2020, section 3.1, "share translation").
//!
//! Random OTs give the sender two seeds h_0, h_1 and the receiver h_c of a random c; the receiver tells f = s ^ c. With the
//! strings r_i that a generator makes of h_{i ^ f}, the sender sets r = r_0 and sends e = r_0 + d - r_1, and the receiver has
//! r_s + s e = u. These seeds are *chosen numbers* of 128 bits ([`madrigal_correlations::ChosenNumbers`]), of which the sender knows u and its
//! share z of c u: h_0 = -z, h_1 = u - z, and the receiver's share of c u is h_c. Made by OT they take nothing but the OT; dealers
//! and stores have them, too.
//!
//! Nothing of this depends on what is shuffled: [`BooleanGmw::draw_shuffle`] does it ahead. Then P_1 sends x_1 - a of its shares,
//! P_0 permutes and sends what it has less the mask of its own, and P_1 permutes.
//!
//! | operation, n rows of w bytes, S = sum of ceil(log2 i) for i up to n | rounds | sent by each |
//! |---|---|---|
//! | [`draw_shuffle`](BooleanGmw::draw_shuffle) | 2 | S bits and S w bytes |
//! | [`shuffle`](BooleanGmw::shuffle) | 2, if P_1 begins | n w bytes |
//!
//! and S random OTs each way. Bits are masked by XOR, numbers in their rings: of bits minus is plus.
//!
//! # Security
//! Against one semi-honest party. Each permutation is uniform and one party's own, so each lacks one of the two. A sender of masks sees f
//! of each switch, under a c that is uniform, and x - a of the other's shuffle. A receiver sees e under the one of r_0, r_1 that
//! it lacks, which is pseudorandom. The next switches' masks may depend on that string, too, but those of earlier ones do not: from the last
//! switch to the first one each e is as random, whatever a. And x - a is under that: given all it has seen, all shares x are as likely.
//! The receiver's share of the result is that message in another order plus D, so it fits any share of the sender's.
//!
//! A party indexes memory by its own permutation: who watches its caches learns of one, as who watches its memory does.

use std::fmt;
use std::ops::Range;

use bytes::Bytes;
use futures_util::future::try_join;
use madrigal_core::{Party, PhaseCost, Zeroizing, bits, domains};
use madrigal_correlations::{ChosenNumbers, ChosenShares};
use madrigal_kernels::{self as kernels, Block, Stretch, marks};
use madrigal_net::{Channel, Context, Receiver, Result, Sender, breathe};
use sha2::{Digest, Sha256};

use super::network::{Walk, route, switches};
use super::table::gather;
use super::{BooleanGmw, LEADER, RowFormat, Table};
use crate::Rounds;
use crate::permutations::{permutation, permutation_blocks};

/// Bytes of corrections in a message: they stay in the second level cache between being computed and being sent.
const PIECE: usize = 64 << 10;

/// Random OTs of seeds for a shuffle, one for each switch and direction.
#[derive(Debug)]
pub struct ShuffleOts {
    /// Chosen numbers that this party knows.
    pub sent: ChosenNumbers<u128>,
    /// Chosen numbers that the other party knows.
    pub received: ChosenNumbers<u128>,
}

/// A shuffle of a number of rows, made ahead; good for one table. Wiped when dropped.
pub struct Shuffle {
    rows: usize,
    format: RowFormat,
    /// Our permutation: the old place of each row.
    order: Zeroizing<Vec<u32>>,
    /// Rows that P_0 adds before it sends, and that P_1 subtracts.
    sent: Zeroizing<Vec<u8>>,
    /// Rows that are P_0's share of the result, and that P_1 adds to get its own.
    kept: Zeroizing<Vec<u8>>,
}

impl fmt::Debug for Shuffle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Shuffle({} rows, {:?})", self.rows, self.format)
    }
}

impl Shuffle {
    /// Bytes of memory that a shuffle takes.
    pub fn bytes(format: &RowFormat, rows: usize) -> usize {
        rows * (2 * format.bytes() + size_of::<u32>())
    }
}

/// Blocks to which a seed is stretched: none where it is long enough.
fn stretched(format: &RowFormat) -> usize {
    match format.bytes().div_ceil(size_of::<Block>()) {
        0 | 1 => 0,
        blocks => blocks,
    }
}

/// Switches whose corrections are in one message.
fn switches_of_a_piece(format: &RowFormat) -> usize {
    (PIECE / format.bytes().max(1)).max(1)
}

/// Strings of the seeds of some switches.
struct Strings {
    each: usize,
    stretch: Stretch,
    seeds: Zeroizing<Vec<Block>>,
    blocks: Zeroizing<Vec<Block>>,
}

impl Strings {
    /// Room for the strings of a piece.
    fn new(format: &RowFormat, stretch: Stretch) -> Self {
        let (piece, each) = (switches_of_a_piece(format), stretched(format));
        Self {
            each,
            stretch,
            seeds: Zeroizing::zeros(piece),
            blocks: Zeroizing::zeros(piece * each),
        }
    }

    /// Makes the strings of a piece, whose seeds are in place.
    fn make(&mut self, context: &Context, piece: &Range<usize>) {
        let (stretch, each) = (&mut self.stretch, self.each);
        if each > 0 {
            let seeds = &self.seeds[..piece.len()];
            let blocks = &mut self.blocks[..piece.len() * each];
            context.metered_now(|| stretch.stretch_blocks(piece.start, seeds, each, blocks));
        }
    }

    /// The string of a switch of those.
    fn of(&self, number: usize) -> &[u8] {
        kernels::blocks_as_bytes(match self.each {
            0 => &self.seeds[number..][..1],
            each => &self.blocks[number * each..][..each],
        })
    }
}

/// Numbers of the switches in each message.
fn pieces(format: &RowFormat, count: usize) -> impl Iterator<Item = Range<usize>> {
    let each = switches_of_a_piece(format);
    let starts = (0..count).step_by(each);
    starts.map(move |start| start..count.min(start + each))
}

/// Work of the party with the masks.
struct Masks<'a> {
    format: &'a RowFormat,
    walk: Walk,
    ots: ChosenShares<'a, u128>,
    /// Choices of the OTs, XOR with 1 where a switch is crossed.
    flips: &'a [u8],
    /// Strings of straight switches, and of crossed ones.
    strings: [Strings; 2],
}

impl Masks<'_> {
    /// Sends all corrections.
    async fn send(&mut self, context: &Context, to: &mut Sender) -> Result<()> {
        let (width, count) = (self.format.bytes(), self.ots.flags.len());
        for piece in pieces(self.format, count) {
            for (number, at) in piece.clone().enumerate() {
                let seeds = self.seeds(at);
                for (strings, seed) in self.strings.iter_mut().zip(seeds) {
                    strings.seeds[number] = seed;
                }
            }
            for strings in &mut self.strings {
                strings.make(context, &piece);
            }
            let mut corrections = vec![0; piece.len() * width];
            let ([straight, crossed], format) = (&self.strings, self.format);
            self.walk.advance(piece.len(), |number, from, to| {
                let keys = [straight, crossed].map(|strings| strings.of(number));
                let correction = &mut corrections[number * width..][..width];
                format.mask_switch(keys, from, to, correction);
            });
            // Each is under a string that the receiver lacks.
            marks::public(&mut corrections[..]);
            to.send(Bytes::from(corrections)).await?;
            // A party whose messages fit the window lets others have them.
            breathe().await;
        }
        Ok(())
    }

    /// Seeds of the strings of a straight switch and of a crossed one: those of choices 0 and 1, or the other way round where the
    /// receiver says so.
    fn seeds(&self, at: usize) -> [Block; 2] {
        let (number, product) = (self.ots.numbers[at], self.ots.products[2 * at + 1]);
        let (zero, one) = (product.wrapping_neg(), number.wrapping_sub(product));
        let flip = u128::from(self.flips[at / 8] >> (at % 8) & 1).wrapping_neg();
        let swap = (zero ^ one) & flip;
        [zero ^ swap, one ^ swap].map(Block::from)
    }
}

/// Work of the party with the order.
struct Differences<'a> {
    format: &'a RowFormat,
    walk: Walk,
    ots: ChosenShares<'a, u128>,
    crossed: &'a [u8],
    strings: Strings,
}

impl Differences<'_> {
    /// Receives all corrections.
    async fn receive(&mut self, context: &Context, from: &mut Receiver) -> Result<()> {
        let width = self.format.bytes();
        for piece in pieces(self.format, self.crossed.len()) {
            for (number, at) in piece.clone().enumerate() {
                self.strings.seeds[number] = self.ots.products[2 * at + 1].into();
            }
            self.strings.make(context, &piece);
            let corrections = from.recv(piece.len() * width).await?;
            let (strings, format) = (&self.strings, self.format);
            let crossed = &self.crossed[piece.clone()];
            self.walk.advance(piece.len(), |number, from, to| {
                let correction = &corrections[number * width..][..width];
                let key = strings.of(number);
                format.differ_switch(crossed[number], key, correction, from, to);
            });
        }
        Ok(())
    }
}

impl BooleanGmw {
    /// Draws the permutations of a shuffle of `rows` rows, and makes what it takes of random OTs. Two rounds, before there is any row.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network, and a peer's message with bits past its end.
    ///
    /// # Panics
    /// If there are more or fewer than two parties, 2^32 rows or more, or fewer OTs than [`shuffle_ots`](Self::shuffle_ots) says.
    pub async fn draw_shuffle(
        &mut self,
        format: &RowFormat,
        rows: usize,
        ots: &mut ShuffleOts,
    ) -> Result<Shuffle> {
        assert!(u32::try_from(rows).is_ok(), "{rows} rows are too many");
        let (me, count, width) = (self.context.me(), switches(rows), format.bytes());
        let peer = self.only_peer();
        let mut prg = self.context.private_prg();
        let order = permutation(&mut prg, rows);
        let mut masks = Zeroizing::zeros(rows * width);
        prg.fill(&mut masks);
        let (sent, received) = (ots.sent.take(count), ots.received.take(count));

        let crossed = route(&order);
        let mut flips = vec![0; bits::bytes_for(count)];
        for (at, (crossed, chosen)) in crossed.iter().zip(received.flags).enumerate() {
            flips[at / 8] |= (crossed ^ chosen) << (at % 8);
        }
        // Each is under a choice that is used once.
        marks::public(&mut flips[..]);
        let flips = match count {
            0 => Bytes::new(),
            _ => {
                let expected = flips.len();
                let Channel { tx, rx } = &mut self.channels[0];
                madrigal_net::exchange_one(tx, flips, rx, expected).await?
            }
        };
        if !bits::tail_is_clear(&flips, count) {
            return Err(self.channels[0].refuse("bits past the end of a string"));
        }

        let (first, context) = (self.stretched, &self.context);
        self.stretched += count as u64;
        let stretch = |sender, receiver| Stretch::new(string_key(context, sender, receiver), first);
        let mut masking = Masks {
            format,
            walk: Walk::new(rows, width, masks.clone()),
            ots: sent,
            flips: &flips,
            strings: [0, 1].map(|_| Strings::new(format, stretch(me, peer))),
        };
        let mut differing = Differences {
            format,
            walk: Walk::new(rows, width, Zeroizing::zeros(rows * width)),
            ots: received,
            crossed: &crossed,
            strings: Strings::new(format, stretch(peer, me)),
        };
        // All of both ways is one round: nothing waits for what comes.
        let beside = [context.beside(), context.beside()];
        let Channel { tx, rx } = &mut self.channels[0];
        tx.count_in(&beside[0]);
        rx.count_in(&beside[1]);
        try_join(masking.send(context, tx), differing.receive(context, rx)).await?;
        context.join(&beside[1]);
        tx.count_in(context);
        rx.count_in(context);

        let behind = masking.walk.finish();
        let mut differences = differing.walk.finish();
        let (sent, kept) = if me == LEADER {
            format.sub(&mut differences, &masks);
            (differences, behind)
        } else {
            let mut kept = gather(&behind, width, &order);
            format.add(&mut kept, &differences);
            (masks, kept)
        };
        Ok(Shuffle {
            rows,
            format: format.clone(),
            order,
            sent,
            kept,
        })
    }

    /// Puts rows into an order that nobody knows. P_1 sends, then P_0 does.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network.
    ///
    /// # Panics
    /// If the shuffle is for another number of rows, or rows of another format.
    pub async fn shuffle(&mut self, by: Shuffle, table: Table) -> Result<Table> {
        assert_eq!(
            (by.rows, &by.format),
            (table.rows, &table.format),
            "rows of a shuffle"
        );
        let Table {
            format,
            rows,
            bytes: mut share,
        } = table;
        if share.is_empty() {
            return Ok(Table {
                format,
                rows,
                bytes: share,
            });
        }
        let (width, me) = (format.bytes(), self.context.me());
        let Channel { tx, rx } = &mut self.channels[0];
        let message = |share: &[u8]| {
            let mut message = share.to_vec();
            // Each row is under a mask that is used once.
            marks::public(&mut message[..]);
            Bytes::from(message)
        };
        let bytes = if me == LEADER {
            let theirs = rx.recv(share.len()).await?;
            format.add(&mut share, &theirs);
            drop(theirs);
            let mut permuted = gather(&share, width, &by.order);
            format.add(&mut permuted, &by.sent);
            tx.send(message(&permuted)).await?;
            by.kept
        } else {
            format.sub(&mut share, &by.sent);
            tx.send(message(&share)).await?;
            let theirs = rx.recv(share.len()).await?;
            let mut permuted = gather(&theirs, width, &by.order);
            format.add(&mut permuted, &by.kept);
            permuted
        };
        Ok(Table {
            format,
            rows,
            bytes,
        })
    }

    /// The other one of two parties.
    fn only_peer(&self) -> Party {
        match &self.channels[..] {
            [channel] => channel.peer(),
            others => panic!("two parties shuffle, not {}", others.len() + 1),
        }
    }

    /// Random OTs of each direction for a shuffle of this many rows.
    pub const fn shuffle_ots(rows: usize) -> usize {
        switches(rows)
    }

    /// Cost of [`draw_shuffle`](Self::draw_shuffle) for each party, without the OTs, and but for rounds.
    pub fn draw_shuffle_cost(format: &RowFormat, rows: usize) -> PhaseCost {
        let (count, width) = (switches(rows), format.bytes());
        let bytes = (bits::bytes_for(count) + count * width) as u64;
        let pieces = count.div_ceil(switches_of_a_piece(format)) as u64;
        let strings = 3 * count as u64 * stretched(format) as u64;
        let masks = (rows * width).div_ceil(size_of::<Block>()) as u64;
        PhaseCost {
            bytes_sent: bytes,
            bytes_received: bytes,
            messages: pieces + u64::from(count > 0),
            aes_blocks: permutation_blocks(rows) + masks + strings,
            ..PhaseCost::default()
        }
    }

    /// Counts the rounds of [`draw_shuffle`](Self::draw_shuffle).
    pub fn draw_shuffle_rounds(rows: usize, rounds: &mut Rounds) {
        if switches(rows) > 0 {
            rounds.open(crate::Opening::Direct, &[0, 1].map(Party::new));
            rounds.open(crate::Opening::Direct, &[0, 1].map(Party::new));
        }
    }

    /// The messages of [`shuffle`](Self::shuffle), one after the other: from, to, bytes.
    pub fn shuffle_messages(format: &RowFormat, rows: usize) -> Vec<(Party, Party, u64)> {
        let bytes = (rows * format.bytes()) as u64;
        let [first, second] = [0, 1].map(Party::new);
        let both = [(second, first, bytes), (first, second, bytes)];
        both.into_iter().filter(|_| bytes > 0).collect()
    }
}

/// The public key under which seeds of one direction are stretched.
fn string_key(context: &Context, sender: Party, receiver: Party) -> Block {
    let mut hash = Sha256::new()
        .chain_update(domains::GMW_SHUFFLES)
        .chain_update(context.public_id());
    for party in [sender, receiver] {
        hash.update((party.index() as u64).to_le_bytes());
    }
    let digest: [u8; 32] = hash.finalize().into();
    Block::from_bytes(*digest.first_chunk().unwrap_or(&[0; 16]))
}
