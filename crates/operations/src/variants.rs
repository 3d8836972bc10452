//! Ways of doing the same that papers describe beside those that are chosen here, so that both can be compared.

pub use madrigal_garbling::bmr::Gates;

/// Correlations that ANDs in [`Sharing::B`](madrigal_engine::Sharing::B) take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Ands {
    /// Boolean triples, and vector triples where these are to be had.
    #[default]
    Triples,
    /// Correlated OTs made before: one round online as well, and nothing in setup beside the extension's own (MOTION 6.2).
    Ots,
}

/// A conversion from one sharing to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Conversion {
    /// The one that is chosen.
    #[default]
    Chosen,
    /// The straightforward one, which the paper improves upon.
    Naive,
}

/// Ways in which operations are done: the chosen ones by default. Each is of one protocol or two, and others do as before.
///
/// A [`Circuit`](crate::Circuit::with_variants) is evaluated in them; conversions in graphs made by hand are operations of
/// their own ([`ShareToKeys`](crate::ShareToKeys), [`ComposeMasked`](crate::ComposeMasked)), which
/// [`varied`](crate::varied()) finds. Names of operations tell of them, so that parties compare them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Variants {
    /// Correlations of ANDs in B.
    pub ands: Ands,
    /// Correlated OTs of each AND in [`Sharing::Y`](madrigal_engine::Sharing::Y) (MOTION 6.3).
    pub gates: Gates,
    /// From B to Y (MOTION 7.2).
    pub to_garbled: Conversion,
    /// From B to A (MOTION 7.1).
    pub to_numbers: Conversion,
}
