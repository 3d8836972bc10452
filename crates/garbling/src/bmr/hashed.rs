//! Shares of the products of masks, from the rows that wires have: each row is an OT already.

use core::fmt;

use madrigal_core::{Zeroizing, bits};
use madrigal_kernels::{self as kernels, Block, Kernels, ROWS_PER_KEY, RowHash};

use crate::bmr::shape::{Gates, Instance, Shape};
use crate::bmr::wires::Keys;
use crate::bmr::{MaskWalk, place_of};
use crate::chunk::Program;
use crate::error::{GarblingError, check_length};
use crate::label::Offset;

/// Rows of one kind that are hashed at a time: those of one key, whole bytes.
const AT_ONCE: usize = ROWS_PER_KEY as usize;

/// Rows that one party has of the correlated OTs with a peer, [`Shape::products`] each way.
#[derive(Clone, Copy)]
pub struct PeerRows<'a> {
    /// Rows q of the OTs whose sender we are, with our offset for Delta.
    pub sent: &'a [Block],
    /// Rows `t = q ^ r Delta` of the OTs whose receiver we are, for our choices r, which are the same with all peers.
    pub received: &'a [Block],
}

impl fmt::Debug for PeerRows<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PeerRows({})", self.sent.len())
    }
}

/// The lowest bits of hashes of the first operand's rows of all ANDs of a block of lanes, in planes as those of
/// [`MaskWalk`]: what a party tells its peers, and its shares of products.
pub struct Hashed {
    /// The sum of all peers' hashes of what we received and of what we sent.
    share: Zeroizing<Vec<u8>>,
    /// Sums, for each peer, of both hashes of what it was sent.
    both: Vec<Zeroizing<Vec<u8>>>,
}

impl Hashed {
    /// Goes through the circuit with the rows, as party `me`. `ots` are with each peer. Rows
    /// are numbered from `first`, a multiple of 1024: each number may come only once in an
    /// instance ([`Shape::hashed_rows`]).
    ///
    /// # Errors
    /// [`GarblingError`] if lengths do not fit.
    pub fn new(
        program: &Program<'_>,
        (instance, first): (Instance, u64),
        me: usize,
        offset: &Offset,
        shape: Shape,
        ots: &[PeerRows<'_>],
    ) -> Result<Self, GarblingError> {
        let layered = program.layered();
        let (peers, lanes) = (ots.len(), shape.lanes);
        check_length("peers", shape.parties - 1, peers)?;
        for with in ots {
            for rows in [with.sent, with.received] {
                check_length("correlated OTs", shape.products(layered), rows.len())?;
            }
        }
        let bytes = shape.plane_bytes(layered);
        let plane = || Zeroizing::new(vec![0; bytes]);
        let peer_of = |place: usize| place + usize::from(place >= me);
        let mut work = RowBuffers {
            first,
            offset: offset.expose(),
            waiting: 0,
            done: 0,
            buffers: (0..2 * peers).map(|_| Keys::zeros(AT_ONCE)).collect(),
            hashes: (0..peers)
                .map(|place| {
                    let peer = peer_of(place);
                    let sent = instance.product_hash(me, peer);
                    [sent, instance.product_hash(peer, me)]
                })
                .collect(),
            made: Self {
                share: plane(),
                both: (0..peers).map(|_| plane()).collect(),
            },
        };

        if shape.gates == Gates::ThreeOts {
            let mut row = Keys::zeros(2 * peers * lanes);
            for number in 0..layered.and_count() {
                // The second plane is of the first operand.
                take_rows(&mut row, ots, 8 * bytes + number * lanes, lanes);
                work.add(&row, lanes, number);
            }
            work.hash();
            return Ok(work.made);
        }
        // Each wire's rows: what was received from all peers, then what was sent to them; without its key.
        let width = 2 * peers * lanes;
        let mut arena = Keys::zeros((layered.rows() + 2) * width);
        if bytes > 0 {
            for (row, &wire) in layered.inputs().iter().enumerate() {
                let place = 8 * shape.gates.planes() * bytes + wire as usize * lanes;
                take_rows(&mut arena[row * width..][..width], ots, place, lanes);
            }
        }
        flip(&mut arena, width, 0, me, peers, offset);
        let kernels = Kernels::detect();
        let mut at = 0;
        for chunk in program.cut(usize::MAX) {
            kernels.label_rows(&mut arena, width, chunk.local);
            for (number, and) in (at / lanes.max(1)..).zip(chunk.ands) {
                work.add(&arena[and.a as usize * width..][..width], lanes, number);
            }
            for (i, and) in chunk.ands.iter().enumerate() {
                let row = &mut arena[and.dst as usize * width..][..width];
                take_rows(row, ots, at + i * lanes, lanes);
            }
            at += chunk.ands.len() * lanes;
        }
        work.hash();
        Ok(work.made)
    }

    /// Makes the message to a peer, a plane: which of our bits is to be multiplied with its.
    ///
    /// # Errors
    /// [`GarblingError`] if `masks` are of another circuit.
    pub fn message(&self, place: usize, masks: &MaskWalk) -> Result<Vec<u8>, GarblingError> {
        let [_, b] = masks.operands();
        check_length("bytes of a plane", self.share.len(), b.len())?;
        let mut message = self.both[place].to_vec();
        kernels::xor_into(&mut message, b);
        Ok(message)
    }

    /// Our share of the products of the operands' masks, a plane, given the sum of what all peers have told. `flips` say where
    /// masks of the first operands are not the choices of the rows: our own, and the sum of all peers', which go through the
    /// circuit as masks do.
    ///
    /// # Errors
    /// [`GarblingError`] if something is no plane.
    pub fn share(
        self,
        masks: &MaskWalk,
        told: &[u8],
        [own, theirs]: [&[u8]; 2],
    ) -> Result<Zeroizing<Vec<u8>>, GarblingError> {
        let ([a, b], mut share) = (masks.operands(), self.share);
        for plane in [a, told, own, theirs] {
            check_length("bytes of a plane", share.len(), plane.len())?;
        }
        let bits = a.iter().zip(b).zip(told).zip(own.iter().zip(theirs));
        for (share, (((a, b), told), (own, theirs))) in share.iter_mut().zip(bits) {
            // Our masks' own product; those of the choices that we had; and where a peer's were others.
            *share ^= (a & b) ^ ((a ^ own) & told) ^ (b & theirs);
        }
        bits::clear_tail(&mut share, masks.count());
        Ok(share)
    }
}

impl fmt::Debug for Hashed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hashed({} peers)", self.both.len())
    }
}

/// Takes one wire's rows from `place` on: those received from all peers, then those sent.
pub(crate) fn take_rows(row: &mut [Block], ots: &[PeerRows<'_>], place: usize, lanes: usize) {
    let (received, sent) = row.split_at_mut(ots.len() * lanes);
    for (k, with) in ots.iter().enumerate() {
        received[k * lanes..][..lanes].copy_from_slice(&with.received[place..][..lanes]);
        sent[k * lanes..][..lanes].copy_from_slice(&with.sent[place..][..lanes]);
    }
}

/// Adds a NOT, in the row behind the last but one: all but party 0 add their offset to what they have sent to
/// party 0, since that one's share of the mask changes. `own` is how many strings come before the rows.
pub(crate) fn flip(
    arena: &mut [Block],
    width: usize,
    own: usize,
    me: usize,
    peers: usize,
    offset: &Offset,
) {
    let lanes = width / (own + 2 * peers).max(1);
    let start = arena.len() - width;
    if me > 0 {
        let place = own + peers + place_of(me, 0);
        arena[start + place * lanes..][..lanes].fill(offset.expose());
    }
}

/// Rows on their way through the hash.
struct RowBuffers {
    first: u64,
    offset: Block,
    /// Rows of each kind in the buffers, and those before.
    waiting: usize,
    done: usize,
    /// Rows that were received from each peer, then rows that were sent.
    buffers: Vec<Keys>,
    /// Hashes, for each peer, of what was sent and of what was received.
    hashes: Vec<[RowHash; 2]>,
    made: Hashed,
}

impl RowBuffers {
    /// Takes the rows of one AND, and hashes what makes a group whole.
    fn add(&mut self, rows: &[Block], lanes: usize, number: usize) {
        let tweak = Block::new(0, number as u64);
        let mut taken = 0;
        while taken < lanes {
            let now = (lanes - taken).min(AT_ONCE - self.waiting);
            for (buffer, rows) in self.buffers.iter_mut().zip(rows.chunks(lanes)) {
                let to = &mut buffer[self.waiting..][..now];
                for (to, &row) in to.iter_mut().zip(&rows[taken..]) {
                    *to = row ^ tweak;
                }
            }
            self.waiting += now;
            taken += now;
            if self.waiting == AT_ONCE {
                self.hash();
            }
        }
    }

    fn hash(&mut self) {
        let (count, first) = (self.waiting, self.first + self.done as u64);
        let bytes = bits::bytes_for(count);
        let place = self.done / 8..self.done / 8 + bytes;
        let peers = self.hashes.len();
        let mut out = Zeroizing::new([0; AT_ONCE / 8]);
        let out = &mut out[..bytes];
        for (k, [sent, received]) in self.hashes.iter().enumerate() {
            let share = &mut self.made.share[place.clone()];
            received.hash_bits(first, Block::ZERO, &self.buffers[k][..count], out);
            kernels::xor_into(share, out);
            let rows = &self.buffers[peers + k][..count];
            sent.hash_bits(first, Block::ZERO, rows, out);
            kernels::xor_into(share, out);
            let both = &mut self.made.both[k][place.clone()];
            both.copy_from_slice(out);
            sent.hash_bits(first, self.offset, rows, out);
            kernels::xor_into(both, out);
        }
        self.done += count;
        self.waiting = 0;
    }
}
