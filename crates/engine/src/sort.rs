//! Sorts of values: who holds which part of how many elements of what.

use std::fmt;

use madrigal_core::{MAX_PARTIES, Party};
use madrigal_correlations::Width;

/// How the parties hold a value. A protocol makes a constant of its own with [`Sharing::new`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Sharing {
    name: &'static str,
    components: u8,
    /// Whether a bit's share is labels of 128 bits.
    labels: bool,
    /// Whether it is a public part and a share of a mask.
    masks: bool,
    /// Parties that know a clear value, a bit each; none for what is shared.
    holders: u64,
}

impl Sharing {
    /// Boolean GMW: the XOR of one share of each party.
    pub const B: Self = Self::new("B", 1);
    /// Arithmetic GMW: the sum of one share of each party.
    pub const A: Self = Self::new("A", 1);
    /// Replicated among three parties, bits or ring elements.
    pub const R: Self = Self::new("R", 2);
    /// Garbled by party 0, evaluated by party 1.
    pub const Y2: Self = Self::garbled("Y2");
    /// Garbled and evaluated by all.
    pub const Y: Self = Self::garbled("Y");
    /// Ring elements of two parties: a public part, and a share of its mask (ABY2.0).
    pub const ALPHA: Self = Self::masked("alpha");
    /// Bits of two parties: a public part, and a share of its mask (ABY2.0).
    pub const BETA: Self = Self::masked("beta");
    /// Clear, known to all.
    pub const PUBLIC: Self = Self {
        holders: u64::MAX,
        ..Self::new("clear", 1)
    };

    /// A sharing by its protocol's name, where each party holds `components` parts, each as long as the
    /// value.
    pub const fn new(name: &'static str, components: usize) -> Self {
        Self {
            name,
            components: components as u8,
            labels: false,
            masks: false,
            holders: 0,
        }
    }

    /// A sharing by its protocol's name, where all know a public part, the first component, and each party
    /// has a share of its mask, the second one, which comes from what was done before inputs were there.
    pub const fn masked(name: &'static str) -> Self {
        Self {
            masks: true,
            ..Self::new(name, 2)
        }
    }

    /// A sharing of bits by its protocol's name, where each party holds labels of a wire.
    pub const fn garbled(name: &'static str) -> Self {
        Self {
            labels: true,
            ..Self::new(name, 1)
        }
    }

    /// Clear, known to these parties alone.
    pub fn clear(to: &[Party]) -> Self {
        let holders = to.iter().fold(0, |all, party| all | 1 << party.index());
        Self {
            holders,
            ..Self::PUBLIC
        }
    }

    /// The protocol's name, or `clear`.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// Parts that each party holds, each as long as the value.
    pub const fn components(self) -> usize {
        self.components as usize
    }

    /// Whether a bit's share is labels of 128 bits.
    pub const fn has_labels(self) -> bool {
        self.labels
    }

    /// Whether a share is a public part and a share of its mask.
    pub const fn has_masks(self) -> bool {
        self.masks
    }

    /// Whether a part of a share may be there before any input is: then operations on it can be
    /// [prepared](crate::Operation::prepare) only where those that made it were.
    pub const fn begins_ahead(self) -> bool {
        self.labels || self.masks
    }

    /// Whether the value is in the clear, at least at one party.
    pub const fn is_clear(self) -> bool {
        self.holders != 0
    }

    /// Whether `party` knows the value itself.
    pub const fn is_known_to(self, party: Party) -> bool {
        self.holders >> party.index() & 1 == 1
    }

    /// Whether all of `parties` parties know the value itself.
    pub fn is_public(self, parties: usize) -> bool {
        Party::all(parties).all(|party| self.is_known_to(party))
    }
}

const _: () = assert!(MAX_PARTIES <= u64::BITS as usize);

impl fmt::Display for Sharing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        if self.is_clear() && self.holders != u64::MAX {
            let known = |index: &usize| self.holders >> index & 1 == 1;
            let numbers: Vec<_> = (0..MAX_PARTIES)
                .filter(known)
                .map(|index| index.to_string())
                .collect();
            write!(f, " to {}", numbers.join(","))?;
        }
        Ok(())
    }
}

/// Bytes of a label.
pub(crate) const LABEL_BYTES: usize = 16;

/// Kind of each element of a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Element {
    /// So many bits, each in a plane of its own (a row of one bit for each element).
    Bits(usize),
    /// An element of Z_2^l.
    Ring(Width),
}

impl Element {
    /// Bits of one element.
    pub fn bits(self) -> usize {
        match self {
            Self::Bits(bits) => bits,
            Self::Ring(width) => width.bits(),
        }
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bits(bits) => write!(f, "{bits} bits"),
            Self::Ring(width) => write!(f, "u{}", width.bits()),
        }
    }
}

/// A value's sharing, element and length.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Sort {
    /// Who holds what.
    pub sharing: Sharing,
    /// Kind of each element.
    pub element: Element,
    /// Number of elements.
    pub len: usize,
}

impl Sort {
    /// `len` elements.
    pub const fn new(sharing: Sharing, element: Element, len: usize) -> Self {
        Self {
            sharing,
            element,
            len,
        }
    }

    /// Sort with another number of elements.
    #[must_use]
    pub const fn of_len(self, len: usize) -> Self {
        Self { len, ..self }
    }

    /// Sort of the same elements in another sharing.
    #[must_use]
    pub const fn shared(self, sharing: Sharing) -> Self {
        Self { sharing, ..self }
    }

    /// Bytes that one party's part takes in memory.
    pub fn bytes(&self) -> usize {
        let one = match self.element {
            Element::Bits(planes) if self.sharing.has_labels() => planes * self.len * LABEL_BYTES,
            Element::Bits(planes) => planes * madrigal_circuit::Rows::stride_for(self.len),
            Element::Ring(width) => width.bits() / 8 * self.len,
        };
        one * self.sharing.components()
    }
}

impl fmt::Display for Sort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} x {} ({})", self.len, self.element, self.sharing)
    }
}
