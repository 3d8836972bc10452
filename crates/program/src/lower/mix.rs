//! Which sharing does what.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// How a value is shared among the parties.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Sharing {
    /// `A`: shares that add up to the value modulo 2^l, one for each party (arithmetic GMW).
    Arithmetic,
    /// `B`: for each bit shares whose XOR is the bit, one for each party (Boolean GMW).
    Boolean,
    /// `R`: three components, of which each of three parties has two; of a ring where arithmetic is done,
    /// of bits where not.
    Replicated,
    /// `Y`: labels of circuits that all parties garble together (BMR): a constant number of rounds.
    Garbled,
    /// `Y2`: labels of circuits that party 0 garbles and party 1 evaluates.
    GarbledByOne,
    /// `alpha`: a public part and shares of a mask that add up, between two parties (ABY2.0).
    Alpha,
    /// `beta`: the same of bits.
    Beta,
}

impl Sharing {
    const LETTERS: [(&'static str, Self); 7] = [
        ("A", Self::Arithmetic),
        ("B", Self::Boolean),
        ("R", Self::Replicated),
        ("Y", Self::Garbled),
        ("Y2", Self::GarbledByOne),
        ("alpha", Self::Alpha),
        ("beta", Self::Beta),
    ];

    /// Whether it has ring elements: replicated sharing has both.
    pub const fn has_ring(self) -> bool {
        matches!(self, Self::Arithmetic | Self::Replicated | Self::Alpha)
    }
}

impl fmt::Display for Sharing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = Self::LETTERS.iter().find(|(_, sharing)| sharing == self);
        f.write_str(letter.map_or("", |(letter, _)| letter))
    }
}

/// Which sharing does arithmetic (sums, products) and which does the rest (comparisons, bits, shifts).
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
    /// What sums and products are done in; what bits are in where a circuit does them too.
    arithmetic: Sharing,
    /// What everything else is done in.
    bits: Sharing,
    /// Whether conversions must be written in the program.
    manual: bool,
}

impl Mix {
    /// `A+B`: arithmetic by addition, the rest by bits; for any number of parties.
    pub const AB: Self = Self::of(Sharing::Arithmetic, Sharing::Boolean);
    /// `B`: circuits for everything; for any number of parties.
    pub const B: Self = Self::of(Sharing::Boolean, Sharing::Boolean);
    /// `R`: three servers.
    pub const R: Self = Self::of(Sharing::Replicated, Sharing::Replicated);

    /// `A+Y`: arithmetic by addition, the rest in circuits that all parties garble.
    pub const AY: Self = Self::of(Sharing::Arithmetic, Sharing::Garbled);
    /// `Y`: circuits that all parties garble, for everything.
    pub const Y: Self = Self::of(Sharing::Garbled, Sharing::Garbled);
    /// `A+Y2`: two parties; arithmetic by addition, the rest in circuits that party 0 garbles.
    pub const AY2: Self = Self::of(Sharing::Arithmetic, Sharing::GarbledByOne);
    /// `Y2`: two parties, circuits that party 0 garbles, for everything.
    pub const Y2: Self = Self::of(Sharing::GarbledByOne, Sharing::GarbledByOne);

    /// `alpha+beta`: two parties; setup knows the program, and online a product opens its result alone.
    pub const ALPHA_BETA: Self = Self::of(Sharing::Alpha, Sharing::Beta);
    /// `alpha+Y2`: two parties; masked arithmetic, the rest in circuits that party 0 garbles.
    pub const ALPHA_Y2: Self = Self::of(Sharing::Alpha, Sharing::GarbledByOne);
    /// `beta`: two parties, circuits on masked bits for everything.
    pub const BETA: Self = Self::of(Sharing::Beta, Sharing::Beta);

    const ALL: [Self; 10] = [
        Self::AB,
        Self::B,
        Self::R,
        Self::AY,
        Self::Y,
        Self::AY2,
        Self::Y2,
        Self::ALPHA_BETA,
        Self::ALPHA_Y2,
        Self::BETA,
    ];

    /// The mixes that so many parties can compute products and comparisons in without a circuit for each product, those
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

    /// The same without conversions of its own: an operator on a value that is in another sharing than it
    /// needs is an error that names its line. [`Secret::to`](crate::Secret::to) converts.
    #[must_use]
    pub const fn manual(self) -> Self {
        Self {
            manual: true,
            ..self
        }
    }

    /// What sums and products are done in.
    pub const fn arithmetic(self) -> Sharing {
        self.arithmetic
    }

    /// What everything else is done in.
    pub const fn bits(self) -> Sharing {
        self.bits
    }

    /// What ring elements are in, also where they are only asked for by name.
    pub const fn ring(self) -> Sharing {
        match (self.arithmetic, self.bits) {
            (ring, _) if ring.has_ring() => ring,
            (_, Sharing::Beta) => Sharing::Alpha,
            _ => Sharing::Arithmetic,
        }
    }

    /// How many of so many parties may be corrupted together, semi-honest, before they learn what is another one's.
    pub const fn withstands(self, parties: usize) -> usize {
        match (self.arithmetic, self.bits) {
            (Sharing::Replicated, _) | (_, Sharing::Replicated) => 1,
            _ => parties - 1,
        }
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
#[error("{found:?} is no mix of sharings; there are {}", Mix::ALL.map(|mix| mix.to_string()).join(", "))]
pub struct MixError {
    /// The text.
    pub found: String,
}

impl FromStr for Mix {
    type Err = MixError;

    fn from_str(text: &str) -> Result<Self, MixError> {
        let mut all = Self::ALL.into_iter();
        all.find(|mix| mix.to_string() == text)
            .ok_or_else(|| MixError { found: text.into() })
    }
}
