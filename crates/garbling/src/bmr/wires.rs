//! Shares and keys that a party has of shared wires, in blocks of lanes.

use core::fmt;
use core::ops::{Deref, DerefMut};

use madrigal_circuit::Rows;
use madrigal_core::{Aligned, bits};
use madrigal_kernels::{self as kernels, Block, Kernels, Prg};

use crate::error::{GarblingError, check_length};
use crate::label::{Offset, colours};

/// Keys of wires, wiped when they are dropped.
#[derive(Default)]
pub struct Keys(Aligned<Block>);

impl Keys {
    /// Makes `len` zero blocks.
    pub fn zeros(len: usize) -> Self {
        Self(Aligned::zeros(len))
    }

    /// Another length; see [`Aligned::resize`].
    pub(crate) fn resize(&mut self, len: usize) {
        self.0.resize(len);
    }

    /// A copy.
    pub(crate) fn copy_of(keys: &[Block]) -> Self {
        Self(keys.into())
    }
}

impl Deref for Keys {
    type Target = [Block];

    fn deref(&self) -> &[Block] {
        &self.0
    }
}

impl DerefMut for Keys {
    fn deref_mut(&mut self) -> &mut [Block] {
        &mut self.0
    }
}

/// Shows how many there are.
impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Keys({})", self.0.len())
    }
}

/// The setup part of wires, a row for each: our shares of their masks, and our keys of 0.
pub struct WireSetup {
    masks: Rows,
    zero: Keys,
}

impl WireSetup {
    /// Makes `rows` wires with mask 0 and keys zero: those of the constant 0.
    pub fn new(rows: usize, lanes: usize) -> Self {
        Self {
            masks: Rows::new(rows, lanes),
            zero: Keys::zeros(rows * lanes),
        }
    }

    /// Fresh wires. `masked`: whether our shares of the masks are random; if not, they are zero, for the caller
    /// to set ([`masks_mut`](Self::masks_mut)).
    pub fn random(rows: usize, lanes: usize, masked: bool, random: &mut Prg) -> Self {
        let fill = |bytes: &mut [u8]| random.fill(bytes);
        Self::random_with(rows, lanes, masked, fill)
    }

    /// Draws wires as [`random`](Self::random) does, from any source of random bytes: it is asked for the keys first,
    /// `16 rows lanes` bytes, then, if `masked`, for the masks, [`Rows::stride`] bytes for each row.
    pub fn random_with(
        rows: usize,
        lanes: usize,
        masked: bool,
        mut fill: impl FnMut(&mut [u8]),
    ) -> Self {
        let mut part = Self::new(rows, lanes);
        fill(kernels::blocks_as_bytes_mut(&mut part.zero));
        Kernels::detect().clear_colours(&mut part.zero);
        if masked {
            fill(part.masks.as_bytes_mut());
            part.masks.clear_padding();
        }
        part
    }

    /// Number of wires.
    pub fn rows(&self) -> usize {
        self.masks.rows()
    }

    /// Lanes of each.
    pub fn lanes(&self) -> usize {
        self.masks.lanes()
    }

    /// Our shares of the masks.
    pub fn masks(&self) -> &Rows {
        &self.masks
    }

    /// Gives the masks, to be written.
    pub fn masks_mut(&mut self) -> &mut Rows {
        &mut self.masks
    }

    /// Our keys of 0 of one wire, for each lane.
    ///
    /// # Panics
    /// If there is no such wire.
    pub fn zero(&self, row: usize) -> &[Block] {
        &self.zero[row * self.lanes()..][..self.lanes()]
    }

    /// Gives the keys of 0 of a wire, to be written. Their lowest bits are zero.
    ///
    /// # Panics
    /// If there is no such wire.
    pub fn zero_mut(&mut self, row: usize) -> &mut [Block] {
        let lanes = self.lanes();
        &mut self.zero[row * lanes..][..lanes]
    }

    /// All keys of 0, row by row.
    pub fn zeros(&self) -> &[Block] {
        &self.zero
    }

    /// The wires of several parts, one after the other: of all inputs of a circuit, for one.
    ///
    /// # Errors
    /// [`GarblingError`] if they differ in lanes.
    pub fn concat(parts: &[&Self]) -> Result<Self, GarblingError> {
        let lanes = parts.first().map_or(0, |part| part.lanes());
        let mut all = Self::new(parts.iter().map(|part| part.rows()).sum(), lanes);
        let mut row = 0;
        for part in parts {
            check_length("lanes of wires", lanes, part.lanes())?;
            all.zero[row * lanes..][..part.zero.len()].copy_from_slice(&part.zero);
            for from in 0..part.rows() {
                all.masks
                    .row_mut(row + from)
                    .copy_from_slice(part.masks.row(from));
            }
            row += part.rows();
        }
        Ok(all)
    }

    /// Our active keys of the wires, row by row, for public colours.
    ///
    /// # Errors
    /// [`GarblingError`] if `colours` have another shape.
    pub fn activate(&self, offset: &Offset, colours: &Rows) -> Result<Keys, GarblingError> {
        check_length("rows of colours", self.rows(), colours.rows())?;
        check_length("lanes of colours", self.lanes(), colours.lanes())?;
        let mut keys = Keys::zeros(self.zero.len());
        let lanes = self.lanes().max(1);
        let rows = keys.chunks_mut(lanes).zip(self.zero.chunks(lanes));
        for (row, (keys, zero)) in rows.enumerate() {
            offset.encode(zero, colours.row(row), keys);
        }
        Ok(keys)
    }
}

impl fmt::Debug for WireSetup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WireSetup({} x {} lanes)", self.rows(), self.lanes())
    }
}

/// The online part of wires: the active keys of all parties, `parties * lanes` blocks for each wire, party by
/// party. Every party has the same. They tell nothing to who does not know the masks, and are wiped all
/// the same.
pub struct ActiveKeys {
    parties: usize,
    rows: usize,
    lanes: usize,
    keys: Keys,
}

impl ActiveKeys {
    /// Makes `rows` wires with keys zero: those of the constant 0.
    pub fn new(parties: usize, rows: usize, lanes: usize) -> Self {
        Self {
            parties,
            rows,
            lanes,
            keys: Keys::zeros(parties * rows * lanes),
        }
    }

    /// Parties.
    pub fn parties(&self) -> usize {
        self.parties
    }

    /// Number of wires.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Lanes of each.
    pub fn lanes(&self) -> usize {
        self.lanes
    }

    /// The keys of one wire: those of each party for all lanes, party by party.
    ///
    /// # Panics
    /// If there is no such wire.
    pub fn row(&self, row: usize) -> &[Block] {
        let width = self.parties * self.lanes;
        &self.keys[row * width..][..width]
    }

    /// Gives the active keys of a wire, to be written.
    ///
    /// # Panics
    /// If there is no such wire.
    pub fn row_mut(&mut self, row: usize) -> &mut [Block] {
        let width = self.parties * self.lanes;
        &mut self.keys[row * width..][..width]
    }

    /// Sets all keys of one party, 16 bytes for each wire and lane, wire by wire.
    ///
    /// # Errors
    /// [`GarblingError`] if there is another number of bytes.
    ///
    /// # Panics
    /// If there is no such party.
    pub fn set_party(&mut self, party: usize, keys: &[u8]) -> Result<(), GarblingError> {
        check_length("bytes of keys", 16 * self.rows * self.lanes, keys.len())?;
        assert!(party < self.parties, "party {party} of {}", self.parties);
        let (lanes, each) = (self.lanes, 16 * self.lanes);
        for (row, keys) in (0..self.rows).zip(keys.chunks(each.max(1))) {
            let to = &mut self.row_mut(row)[party * lanes..][..lanes];
            kernels::blocks_as_bytes_mut(to).copy_from_slice(keys);
        }
        Ok(())
    }

    /// The colours of all wires, by the keys of one party: any, if all are honest.
    ///
    /// # Panics
    /// If there is no such party.
    pub fn colours(&self, party: usize) -> Rows {
        let mut all = Rows::new(self.rows, self.lanes);
        let bytes = bits::bytes_for(self.lanes);
        for row in 0..self.rows {
            let keys = &self.row(row)[party * self.lanes..][..self.lanes];
            colours(keys, &mut all.row_mut(row)[..bytes]);
        }
        all
    }

    /// The wires of several parts, one after the other.
    ///
    /// # Errors
    /// [`GarblingError`] if they differ in parties or lanes.
    pub fn concat(parts: &[&Self]) -> Result<Self, GarblingError> {
        let (parties, lanes) = parts
            .first()
            .map_or((0, 0), |part| (part.parties, part.lanes));
        let rows = parts.iter().map(|part| part.rows).sum();
        let mut all = Self::new(parties, rows, lanes);
        let mut at = 0;
        for part in parts {
            check_length("parties of wires", parties, part.parties)?;
            check_length("lanes of wires", lanes, part.lanes)?;
            all.keys[at..][..part.keys.len()].copy_from_slice(&part.keys);
            at += part.keys.len();
        }
        Ok(all)
    }
}

impl fmt::Debug for ActiveKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rows, lanes, parties) = (self.rows, self.lanes, self.parties);
        write!(f, "ActiveKeys({rows} x {lanes} lanes, {parties} parties)")
    }
}
