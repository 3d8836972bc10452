//! The operations of bit-sliced programs, and the shape of the rows that they work on.

/// A local operation on rows: every party does it on its own shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LocalOp {
    /// `dst = a ^ b`. `a != b`; `dst` may be `a` (then it is done in place), never `b`.
    Xor {
        /// Row written.
        dst: u32,
        /// Row read.
        a: u32,
        /// Row read.
        b: u32,
    },
    /// `dst = !a`; who leads inverts its share, the others copy theirs. `dst` may be `a`.
    Not {
        /// Row written.
        dst: u32,
        /// Row read.
        a: u32,
    },
    /// `dst = bit` in every lane; who leads takes the bit as its share, the others 0.
    Const {
        /// Row written.
        dst: u32,
        /// The constant.
        bit: bool,
    },
}

/// An AND of a layer: `dst = a & b`, with `a != b`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct And {
    /// Row written, once all ANDs of the layer have read their operands.
    pub dst: u32,
    /// Row read.
    pub a: u32,
    /// Row read.
    pub b: u32,
}

/// A step that makes sums of products of replicated sharings: one party's part, additively shared among the three.
///
/// A product is `a & b` of two rows of the arena, of shares x = (x0, x1) and y = (y0, y1) the cross terms
/// `(x0 & y0) ^ (x0 & y1) ^ (x1 & y0)`. The kept rows are of one component beside the arena.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SumStep {
    /// Adds a product to sum `to`.
    Multiply {
        /// Sum written.
        to: u32,
        /// Row read.
        a: u32,
        /// Row read.
        b: u32,
    },
    /// Keeps a product.
    Keep {
        /// Kept row written.
        to: u32,
        /// Row read.
        a: u32,
        /// Row read.
        b: u32,
    },
    /// Adds a product to what is kept.
    Add {
        /// Kept row written.
        to: u32,
        /// Row read.
        a: u32,
        /// Row read.
        b: u32,
    },
    /// Keeps `a ^ b` of what is kept; `to` may be one of them.
    Xor {
        /// Kept row written.
        to: u32,
        /// Kept row read.
        a: u32,
        /// Kept row read.
        b: u32,
    },
    /// Adds what is kept to sum `to`.
    Give {
        /// Sum written.
        to: u32,
        /// Kept row read.
        a: u32,
    },
    /// Adds `a ^ b` of what is kept to sum `to`.
    GiveXor {
        /// Sum written.
        to: u32,
        /// Kept row read.
        a: u32,
        /// Kept row read.
        b: u32,
    },
}

impl SumStep {
    /// The sum that it adds to.
    #[must_use]
    pub const fn sum(self) -> Option<u32> {
        match self {
            Self::Multiply { to, .. } | Self::Give { to, .. } | Self::GiveXor { to, .. } => {
                Some(to)
            }
            Self::Keep { .. } | Self::Add { .. } | Self::Xor { .. } => None,
        }
    }
}

/// Layout of rows in their arena.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowShape {
    /// Components of a share: 1, or 2 where shares are replicated.
    pub components: usize,
    /// Words of one component.
    pub stride: usize,
}

impl RowShape {
    /// Words of a row.
    #[must_use]
    pub const fn width(self) -> usize {
        self.components * self.stride
    }

    /// Gives the place of component `component` of row `row`.
    #[inline]
    #[must_use]
    pub const fn place(self, row: u32, component: usize) -> std::ops::Range<usize> {
        let start = row as usize * self.width() + component * self.stride;
        start..start + self.stride
    }
}
