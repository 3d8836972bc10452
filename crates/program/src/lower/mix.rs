//! Sharings of a program.

use std::fmt;
use std::str::FromStr;

use madrigal_engine::Sharing;
use madrigal_operations::{BACKENDS, Backend, Numbers};
use thiserror::Error;

/// The sharing for arithmetic (sums, products) and the sharing for the rest (comparisons, bits, shifts).
///
/// Read from and written as letters: `A+B`, `B` (all of it), `R` (both, among three parties), and with
/// garbled circuits for bits `A+Y`, `Y` and, between two parties, `A+Y2`, `Y2`; also between two parties, with
/// masks that are drawn before inputs are there, `alpha+beta`, `alpha+Y2` and `beta`.
///
/// ```
/// use madrigal_program::lower::Mix;
/// let mix: Mix = "A+B".parse()?;
/// assert_eq!(mix.to_string(), "A+B");
/// assert!("B+A".parse::<Mix>().is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Mix {
    /// The sharing of sums and products; of bits, where a circuit does sums and products too.
    arithmetic: Sharing,
    /// The sharing of everything else.
    bits: Sharing,
    /// Whether conversions must be written in the program.
    manual: bool,
}

impl Mix {
    /// `A+B`: arithmetic by addition, the rest by bits; for any number of parties.
    pub const AB: Self = Self::of(Sharing::A, Sharing::B);
    /// `B`: circuits for everything; for any number of parties.
    pub const B: Self = Self::of(Sharing::B, Sharing::B);
    /// `R`: three servers.
    pub const R: Self = Self::of(Sharing::R, Sharing::R);

    /// `A+Y`: arithmetic by addition, the rest in circuits that all parties garble.
    pub const AY: Self = Self::of(Sharing::A, Sharing::Y);
    /// `Y`: circuits that all parties garble, for everything.
    pub const Y: Self = Self::of(Sharing::Y, Sharing::Y);
    /// `A+Y2`: two parties; arithmetic by addition, the rest in circuits that party 0 garbles.
    pub const AY2: Self = Self::of(Sharing::A, Sharing::Y2);
    /// `Y2`: two parties, circuits that party 0 garbles, for everything.
    pub const Y2: Self = Self::of(Sharing::Y2, Sharing::Y2);

    /// `alpha+beta`: two parties; setup knows the program, and online a product opens its result alone.
    pub const ALPHA_BETA: Self = Self::of(Sharing::ALPHA, Sharing::BETA);
    /// `alpha+Y2`: two parties; masked arithmetic, the rest in circuits that party 0 garbles.
    pub const ALPHA_Y2: Self = Self::of(Sharing::ALPHA, Sharing::Y2);
    /// `beta`: two parties, circuits on masked bits for everything.
    pub const BETA: Self = Self::of(Sharing::BETA, Sharing::BETA);

    /// All mixes, by the records of the protocols: each protocol of ring elements with the sharings of bits that it has
    /// conversions for, and each protocol of bits for everything.
    pub fn all() -> impl Iterator<Item = Self> {
        let pairs = BACKENDS.iter().flat_map(|ring| {
            let with = ring.numbers.iter().flat_map(|numbers| numbers.with);
            with.map(|&bits| Self::of(ring.sharing, bits))
        });
        let alone = BACKENDS.iter().filter(|backend| backend.bits.is_some());
        let alone = alone.map(|backend| Self::of(backend.sharing, backend.sharing));
        pairs.chain(alone.filter(|mix| !mix.arithmetic_is_in_a_ring()))
    }

    /// The mixes in which `parties` parties compute products and comparisons without a circuit for each product, those
    /// that are the fastest more often first.
    pub const fn usual(parties: usize) -> &'static [Self] {
        match parties {
            2 => &[Self::ALPHA_BETA, Self::AB, Self::AY2, Self::ALPHA_Y2],
            3 => &[Self::R, Self::AB, Self::AY],
            _ => &[Self::AB, Self::AY],
        }
    }

    const fn of(arithmetic: Sharing, bits: Sharing) -> Self {
        Self {
            arithmetic,
            bits,
            manual: false,
        }
    }

    /// Switches off conversions that the program does not ask for: an operator on a value that is in another sharing than it
    /// needs is an error that names its line. [`Secret::to`](crate::Secret::to) converts.
    #[must_use]
    pub const fn manual(self) -> Self {
        Self {
            manual: true,
            ..self
        }
    }

    /// The sharing of sums and products.
    pub const fn arithmetic(self) -> Sharing {
        self.arithmetic
    }

    /// The sharing of everything else.
    pub const fn bits(self) -> Sharing {
        self.bits
    }

    /// Whether sums and products are done on ring elements, and not by circuits.
    pub fn arithmetic_is_in_a_ring(self) -> bool {
        self.numbers().is_some()
    }

    /// Record of the protocol of sums and products on ring elements, if these are not done by circuits.
    pub(crate) fn numbers(self) -> Option<&'static Numbers> {
        Backend::of(self.arithmetic).numbers.as_ref()
    }

    /// The sharing of ring elements, also where they are only asked for by name.
    pub fn ring(self) -> Sharing {
        match self.arithmetic_is_in_a_ring() {
            true => self.arithmetic,
            false => Backend::of(self.bits).bits().ring,
        }
    }

    /// Counts the parties, of `parties`, that may be corrupted together, semi-honest, and learn nothing of the others.
    pub fn withstands(self, parties: usize) -> usize {
        let both = [self.arithmetic, self.bits].map(Backend::of);
        let least = both.map(|backend| backend.withstands(parties));
        least[0].min(least[1])
    }

    /// Whether conversions must be written in the program.
    pub const fn is_manual(self) -> bool {
        self.manual
    }
}

impl Default for Mix {
    fn default() -> Self {
        Self::AB
    }
}

impl fmt::Display for Mix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.arithmetic == self.bits {
            true => self.bits.fmt(f),
            false => write!(f, "{}+{}", self.arithmetic, self.bits),
        }
    }
}

/// A text that names no mix.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{found:?} is no mix of sharings; there are {}", Mix::all().map(|mix| mix.to_string()).collect::<Vec<_>>().join(", "))]
pub struct MixError {
    /// The text.
    pub found: String,
}

impl FromStr for Mix {
    type Err = MixError;

    fn from_str(text: &str) -> Result<Self, MixError> {
        Self::all()
            .find(|mix| mix.to_string() == text)
            .ok_or_else(|| MixError { found: text.into() })
    }
}
