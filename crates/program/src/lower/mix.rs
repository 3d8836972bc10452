//! Sharings of a program.

use std::fmt;
use std::str::FromStr;

use madrigal_engine::Sharing;
use madrigal_operations::{BACKENDS, Backend, Numbers};
use thiserror::Error;

/// The sharing for arithmetic (sums, products) and the sharings for the rest (comparisons, bits, shifts).
///
/// Read from and written as letters: `A+B`, `B` (all of it), `R` (both, among three parties), and with
/// garbled circuits for bits `A+Y`, `Y` and, between two parties, `A+Y2`, `Y2`; also between two parties, with
/// masks that are drawn before inputs are there, `alpha+beta`, `alpha+Y2` and `beta`.
///
/// A mix may have several sharings of bits, as `A+B+Y`, `alpha+beta+Y2` or `B+Y2` have: any that are kept alike between
/// the stages of a run, since that is what bits go through from one to the other. [`Secret::to`](crate::Secret::to) says where
/// a value shall be, and [`Computation::plan`](crate::Computation::plan) chooses where the program does not.
/// [`Mix::AUTO`], `auto`, leaves the choice among all mixes to the plan.
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
    /// Further sharings of bits, in the order of the protocols' records.
    more: [Option<Sharing>; MORE],
    /// Whether conversions must be written in the program.
    manual: bool,
    /// Whether the plan chooses among all mixes.
    auto: bool,
}

/// The most sharings of bits that a mix has beside its first one.
const MORE: usize = 2;

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
            more: [None; MORE],
            manual: false,
            auto: false,
        }
    }

    /// `auto`: the plan chooses, by the model of time at fixed rates, among the mixes that the program's parties can run, and in
    /// those with several sharings of bits for each operation. Where nothing is planned, it is [`Mix::AB`].
    ///
    /// Mixes differ in how many corrupted parties they [withstand](Self::withstands): whoever needs more than one among three
    /// parties names a mix.
    pub const AUTO: Self = Self {
        auto: true,
        ..Self::AB
    };

    /// Whether the plan chooses among all mixes.
    pub const fn is_auto(self) -> bool {
        self.auto
    }

    /// The mix with one more sharing of bits; nothing if it has no conversions for that one, has it already, or has as many as
    /// there can be.
    pub fn and(self, bits: Sharing) -> Option<Self> {
        let all: Vec<Sharing> = self.all_bits().collect();
        let order = self.order();
        let known = order.contains(&bits) && !all.contains(&bits) && all.len() <= MORE;
        let alike = Backend::of(bits).kept.sharing == Backend::of(self.bits).kept.sharing;
        if !known || !alike {
            return None;
        }
        let mut wanted = order.into_iter();
        let mut wanted = wanted
            .by_ref()
            .filter(|one| *one == bits || all.contains(one));
        let first = wanted.next()?;
        Some(Self {
            arithmetic: match self.arithmetic_is_in_a_ring() {
                true => self.arithmetic,
                false => first,
            },
            bits: first,
            more: std::array::from_fn(|_| wanted.next()),
            ..self
        })
    }

    /// The sharings of bits that a mix with this arithmetic can have, in the order in which names list them.
    fn order(self) -> Vec<Sharing> {
        match self.numbers() {
            Some(numbers) => numbers.with.to_vec(),
            None => {
                let alone = BACKENDS
                    .iter()
                    .filter(|one| one.bits.is_some() && one.numbers.is_none());
                alone.map(|one| one.sharing).collect()
            }
        }
    }

    /// All sharings of bits, that of [`Mix::bits`] first.
    pub fn all_bits(self) -> impl Iterator<Item = Sharing> {
        std::iter::once(self.bits).chain(self.more.into_iter().flatten())
    }

    /// The mixes of one sharing of bits that this one is made of.
    pub fn singles(self) -> impl Iterator<Item = Self> {
        self.all_bits().map(move |bits| Self {
            arithmetic: match self.arithmetic_is_in_a_ring() {
                true => self.arithmetic,
                false => bits,
            },
            bits,
            more: [None; MORE],
            ..self
        })
    }

    /// The sharing of bits in which branches of a conditional share their cost, if one is there.
    pub(crate) fn with_branches(self) -> Option<Sharing> {
        self.all_bits()
            .find(|&bits| Backend::of(bits).bits().branches.is_ok())
    }

    /// The sharing of bits in which as many parties shuffle rows, if one is there.
    pub(crate) fn with_shuffles(self, parties: usize) -> Option<Sharing> {
        self.all_bits().find(|&bits| {
            let sort = Backend::of(bits).bits().sort.as_ref();
            sort.is_some_and(|sort| sort.parties.contains(&parties))
        })
    }

    /// The sharing of bits in which parties draw random bits together, if one is there.
    pub(crate) fn with_joint_bits(self) -> Option<Sharing> {
        self.all_bits()
            .find(|&bits| Backend::of(bits).bits().joint.is_some())
    }

    /// The mixes in which parties draw random bits together.
    pub(crate) fn that_draw() -> Vec<String> {
        let able = Self::all().filter(|mix| mix.with_joint_bits().is_some());
        able.map(|mix| mix.to_string()).collect()
    }

    /// The mixes in which rows are shuffled, with how many parties can.
    pub(crate) fn that_shuffle() -> Vec<String> {
        let named = |mix: Self| {
            let sort = Backend::of(mix.bits).bits().sort.as_ref()?;
            let (least, most) = (*sort.parties.start(), *sort.parties.end());
            Some(match least == most {
                true => format!("{mix} of {least} parties"),
                false => format!("{mix} of {least} to {most} parties"),
            })
        };
        Self::all().filter_map(named).collect()
    }

    /// The mix with those of its sharings of bits that something is in; with the first one, if nothing is in any.
    pub(crate) fn with_only(self, used: impl Fn(Sharing) -> bool) -> Self {
        let mut singles = self.singles().filter(|single| used(single.bits));
        let first = singles.next().or_else(|| self.singles().next());
        let first = first.unwrap_or(self);
        singles.fold(first, |mix, single| mix.and(single.bits).unwrap_or(mix))
    }

    /// Whether it has several sharings of bits.
    pub fn has_several(self) -> bool {
        self.more[0].is_some()
    }

    /// Whether parties of this number can run all of its protocols.
    pub fn is_for(self, parties: usize) -> bool {
        let all = self.all_bits().chain([self.arithmetic]);
        all.map(Backend::of)
            .all(|one| one.parties.contains(&parties))
    }

    /// The mixes of several sharings of bits, as many as `parties` parties can run: for each protocol of ring elements, and for
    /// circuits alone, the largest ones.
    pub fn of_several(parties: usize) -> Vec<Self> {
        let mut largest: Vec<Self> = Vec::new();
        for single in Self::all().filter(|mix| mix.is_for(parties)) {
            let joined = largest.iter_mut().find_map(|mix| {
                let same = mix.arithmetic_is_in_a_ring() == single.arithmetic_is_in_a_ring()
                    && (!mix.arithmetic_is_in_a_ring() || mix.arithmetic == single.arithmetic);
                let more = same.then(|| mix.and(single.bits)).flatten()?;
                *mix = more;
                Some(())
            });
            if joined.is_none() {
                largest.push(single);
            }
        }
        largest.retain(|mix| mix.has_several());
        largest
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
        let all = self.all_bits().map(Backend::of);
        let least = all.map(|backend| backend.withstands(parties)).min();
        let arithmetic = Backend::of(self.arithmetic).withstands(parties);
        least.map_or(arithmetic, |least| least.min(arithmetic))
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
        if self.auto {
            return f.write_str(AUTO);
        }
        if self.arithmetic != self.bits {
            write!(f, "{}+", self.arithmetic)?;
        }
        self.bits.fmt(f)?;
        let mut more = self.more.iter().flatten();
        more.try_for_each(|bits| write!(f, "+{bits}"))
    }
}

/// The name of the mix that the plan chooses.
const AUTO: &str = "auto";

/// A text that names no mix.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "{found:?} is no mix of sharings; there are {}, several of them together as in {}, and {AUTO}",
    listed(Mix::all()),
    listed(several())
)]
pub struct MixError {
    /// The text.
    pub found: String,
}

fn listed(mixes: impl Iterator<Item = Mix>) -> String {
    let names: Vec<String> = mixes.map(|mix| mix.to_string()).collect();
    names.join(", ")
}

/// Some mixes of several sharings of bits, to show how they are written.
fn several() -> impl Iterator<Item = Mix> {
    let more = Mix::AB.and(Sharing::Y);
    more.into_iter().chain(Mix::ALPHA_BETA.and(Sharing::Y2))
}

impl FromStr for Mix {
    type Err = MixError;

    fn from_str(text: &str) -> Result<Self, MixError> {
        let error = || MixError { found: text.into() };
        if text == AUTO {
            return Ok(Self::AUTO);
        }
        let singles = || Self::all().map(|mix| (mix.to_string(), mix));
        if let Some((_, mix)) = singles().find(|(name, _)| name == text) {
            return Ok(mix);
        }
        // The longest name of a single mix that it begins with, and one more sharing after the other.
        let begins = |name: &str| text.strip_prefix(name)?.strip_prefix('+');
        let found = singles().filter_map(|(name, mix)| Some((begins(&name)?, mix)));
        let (rest, mut mix) = found.min_by_key(|(rest, _)| rest.len()).ok_or_else(error)?;
        for name in rest.split('+') {
            let more = Backend::named(name).and_then(|backend| mix.and(backend.sharing));
            mix = more.ok_or_else(error)?;
        }
        // Each mix has one name.
        Some(mix)
            .filter(|mix| mix.to_string() == text)
            .ok_or_else(error)
    }
}
