//! The shape of a block, what it costs, and what its hash is bound to: all parties compute it alike.

use madrigal_circuit::Layered;
use madrigal_core::{KeyNumbers, bits, domains};
use madrigal_kernels::{ANDS_PER_KEY, Block, GateHash, ROWS_PER_KEY, RowHash, column_bytes};
use sha2::{Digest, Sha256};

use crate::chunk::{Chunk, Program};

/// Fewer lanes than this, and several gates of a layer share a piece, for which their keys are copied; from here
/// on a gate has its own.
const WIDE: usize = ANDS_PER_KEY / 2 + 1;

/// Keys of an arena that stay near a core: 2 MiB. Beyond a second-level cache of half of that, what fewer lanes
/// cost, rows of a few keys, is still more than what memory takes.
const KEYS_IN_CACHE: usize = 1 << 17;

/// Lanes of a block: as for two parties, but the tables of a block are in memory all at once.
const LANES_OF_A_BLOCK: core::ops::RangeInclusive<usize> = 16..=64;

/// The name of one instance of garbling by all parties: no two in the world have the same. It gives the
/// hash keys of its pieces, which are numbered from 0 over its whole life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Instance {
    /// Identifier of the session and step, the same for all parties. It is public, but nobody should know
    /// it before the run.
    pub session: [u8; 32],
    /// Tells apart several instances there.
    pub stream: u64,
}

impl Instance {
    /// The hash of its gates (SHA-256 as a random oracle gives the key).
    pub(crate) fn hash(&self) -> GateHash {
        GateHash::new(self.key(domains::BMR_HASH, &[]))
    }

    /// The hash of rows whose offset is `sender`'s and whose choices are `receiver`'s.
    pub(crate) fn product_hash(&self, sender: usize, receiver: usize) -> RowHash {
        RowHash::new(self.key(domains::BMR_PRODUCTS, &[sender as u64, receiver as u64]))
    }

    /// The numbers of the seeds of a party's blocks, one for each piece.
    pub(crate) fn key_numbers(&self, party: usize) -> KeyNumbers {
        KeyNumbers::from_digest(&self.digest(domains::BMR_KEY_NUMBERS, &[party as u64]))
    }

    fn key(&self, domain: &[u8], numbers: &[u64]) -> Block {
        let digest = self.digest(domain, numbers);
        Block::from_bytes(*digest.first_chunk().unwrap_or(&[0; 16]))
    }

    fn digest(&self, domain: &[u8], numbers: &[u64]) -> [u8; 32] {
        let mut hash = Sha256::new()
            .chain_update(domain)
            .chain_update(self.session)
            .chain_update(self.stream.to_le_bytes());
        for number in numbers {
            hash.update(number.to_le_bytes());
        }
        hash.finalize().into()
    }
}

/// Correlated OTs that go into an AND, in each direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Gates {
    /// Two, and one for each input of the circuit: operands bring theirs along.
    #[default]
    TwoOts,
    /// Three for each AND, none for inputs: the variant of Ben-Efraim et al. that the paper begins with.
    ThreeOts,
}

impl Gates {
    /// Planes of OTs, of one for each AND and lane.
    pub(crate) const fn planes(self) -> usize {
        match self {
            Self::TwoOts => 2,
            Self::ThreeOts => 3,
        }
    }
}

/// A block of lanes that goes through a circuit, with N parties.
///
/// The ANDs are cut into *pieces*, each of which has a key of the hash: with 33 lanes or more, up to 64 lanes of
/// one gate; with fewer, the lanes of `64 / lanes` gates. A column of a chunk is the columns of its pieces,
/// one after the other: 48 bytes for each AND and lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Parties, at least 2.
    pub parties: usize,
    /// Rows of the arena, of wires that are alive.
    pub rows: usize,
    /// Lanes.
    pub lanes: usize,
    /// OTs of an AND.
    pub gates: Gates,
}

impl Shape {
    /// Number of lanes that a block should have, so that the active keys of a circuit with `rows` live rows stay
    /// in a core's cache: a power of two from 16 to 64.
    pub fn lanes_in_cache(rows: usize, parties: usize) -> usize {
        let (least, most) = LANES_OF_A_BLOCK.into_inner();
        let fit = KEYS_IN_CACHE / (rows * parties).max(1);
        1 << fit.clamp(least, most).ilog2()
    }

    /// Bytes of one column of `ands` ANDs in one chunk.
    pub fn column_bytes(&self, ands: usize) -> usize {
        column_bytes(ands * self.lanes)
    }

    /// ANDs of a circuit, each counted in every lane.
    pub fn and_lanes(&self, program: &Layered) -> usize {
        program.and_count() * self.lanes
    }

    /// Bytes of a plane, one bit for each AND and lane of a circuit.
    pub fn plane_bytes(&self, program: &Layered) -> usize {
        bits::bytes_for(self.and_lanes(program))
    }

    /// Bytes of a plane of inputs: a bit for each input bit and lane. None if there are no ANDs, or three OTs for each: then
    /// no input needs rows.
    fn input_bytes(&self, program: &Layered) -> usize {
        match (self.and_lanes(program), self.gates) {
            (0, _) | (_, Gates::ThreeOts) => 0,
            (_, Gates::TwoOts) => bits::bytes_for(program.input_bits() * self.lanes),
        }
    }

    /// Bytes in which a party tells where masks are not the choices of OTs, before the product of masks is there: those of
    /// inputs, or of both operands of each AND.
    pub fn flip_bytes(&self, program: &Layered) -> usize {
        match self.gates {
            Gates::TwoOts => self.input_bytes(program),
            Gates::ThreeOts => 2 * self.plane_bytes(program),
        }
    }

    /// Number of correlated OTs that each ordered pair needs: for each of two planes and that of inputs, or of three planes, one
    /// for each bit of its bytes.
    pub fn products(&self, program: &Layered) -> usize {
        8 * (self.gates.planes() * self.plane_bytes(program) + self.input_bytes(program))
    }

    /// Strings of a wire within a circuit: one's key of 0, and with each peer what was received and what was sent, where
    /// wires have that.
    pub(crate) fn width(&self) -> usize {
        match self.gates {
            Gates::TwoOts => 1 + 2 * (self.parties - 1),
            Gates::ThreeOts => 1,
        }
    }

    /// Rows that [`Hashed::new`](crate::bmr::Hashed::new) numbers in a circuit: how many numbers a block takes.
    pub fn hashed_rows(&self, program: &Layered) -> u64 {
        (self.and_lanes(program) as u64).next_multiple_of(ROWS_PER_KEY)
    }

    /// Pieces of `ands` ANDs in one chunk.
    pub fn pieces(&self, ands: usize) -> u64 {
        match self.lanes {
            0 => 0,
            lanes if lanes < WIDE => ands.div_ceil(ANDS_PER_KEY / lanes) as u64,
            lanes => ands as u64 * lanes.div_ceil(ANDS_PER_KEY) as u64,
        }
    }

    /// Pieces of a whole circuit: how many numbers a block takes.
    pub fn pieces_of(&self, program: &Layered) -> u64 {
        program
            .layers()
            .map(|layer| self.pieces(layer.ands.len()))
            .sum()
    }

    /// Cuts the circuit into chunks whose columns have `bytes` bytes at most, but the ANDs of one piece at
    /// least. All parties must cut alike.
    pub fn chunks<'c>(
        &self,
        program: &'c Program<'_>,
        bytes: usize,
    ) -> impl Iterator<Item = Chunk<'c>> + Clone + use<'c> {
        // Whole pieces, whatever the lanes, so that cutting adds none.
        let unit = self.gates_per_piece();
        let most = (bytes / self.column_bytes(unit).max(1)).max(1) * unit;
        program.cut(most)
    }

    /// AES blocks of [`Hashed::new`](crate::bmr::Hashed::new): of each AND's first operand, with each peer both
    /// hashes of what was sent and the one of what was received.
    pub fn hashed_aes(&self, program: &Layered) -> u64 {
        3 * (self.parties as u64 - 1) * self.and_lanes(program) as u64
    }

    /// AES blocks of [`Garbling::garble`](crate::bmr::Garbling::garble) for `ands` ANDs: four hashes for each
    /// column, and the result's key.
    pub fn garble_aes(&self, ands: usize) -> u64 {
        (4 * self.parties as u64 + 1) * (ands * self.lanes) as u64
    }

    /// AES blocks of [`Evaluation::evaluate`](crate::bmr::Evaluation::evaluate) for `ands` ANDs: two hashes of each
    /// party's keys for each column but the party's own, and its own key.
    pub fn evaluate_aes(&self, ands: usize) -> u64 {
        let parties = self.parties as u64;
        (2 * parties * (parties - 1) + 1) * (ands * self.lanes) as u64
    }

    /// Gates that share a piece.
    pub(crate) fn gates_per_piece(&self) -> usize {
        if self.lanes < WIDE {
            ANDS_PER_KEY / self.lanes.max(1)
        } else {
            1
        }
    }
}
