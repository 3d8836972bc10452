//! Elements of secrets: truth values, integers, and numbers with a fixed point.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;
use zeroize::Zeroize;

mod sealed {
    pub trait Sealed {}
}

/// The type of a value's elements, as the intermediate representation names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Type {
    bits: u32,
    signed: bool,
    fraction: u32,
}

impl Type {
    /// A truth value: one bit.
    pub const BOOL: Self = Self::unsigned(1);
    /// The type of places and counts.
    pub const PLACE: Self = Self::unsigned(32);

    /// Numbers of `bits` bits with `fraction` of them after the point, as [`Fixed`] has them: 16, 32, 64 or 128 bits,
    /// of which one at least is after the point, one before it, and one a sign.
    pub const fn fixed(bits: u32, fraction: u32) -> Option<Self> {
        let fits = fraction > 0 && fraction < bits.saturating_sub(1);
        match bits {
            16 | 32 | 64 | 128 if fits => Some(Self::of(bits, true, fraction)),
            _ => None,
        }
    }

    const fn of(bits: u32, signed: bool, fraction: u32) -> Self {
        Self {
            bits,
            signed,
            fraction,
        }
    }

    /// An unsigned integer; programs have integers of 1, 8, 16, 32, 64 or 128 bits.
    pub(crate) const fn unsigned(bits: u32) -> Self {
        Self::of(bits, false, 0)
    }

    /// A signed integer in two's complement.
    pub(crate) const fn signed(bits: u32) -> Self {
        Self::of(bits, true, 0)
    }

    /// Bits of an element: 1, 8, 16, 32, 64 or 128.
    pub const fn bits(self) -> u32 {
        self.bits
    }

    /// Whether the highest bit is a sign.
    pub const fn is_signed(self) -> bool {
        self.signed
    }

    /// Bits after the point; 0 for integers.
    pub const fn fraction(self) -> u32 {
        self.fraction
    }

    /// Whether it is `bool`.
    pub const fn is_bool(self) -> bool {
        self.bits == 1
    }

    /// The type with `by` more bits after the point, unless these become fewer than none.
    pub(crate) fn moved(self, by: i64) -> Option<Self> {
        let fraction = i64::from(self.fraction).checked_add(by)?;
        let fraction = u32::try_from(fraction).ok()?;
        Some(Self { fraction, ..self })
    }

    /// The integers that numbers of the type are kept in.
    pub(crate) const fn integer(self) -> Self {
        Self::of(self.bits, self.signed, 0)
    }

    /// The bits that an element has, set.
    pub(crate) const fn mask(self) -> u128 {
        u128::MAX >> (128 - self.bits)
    }

    /// The least number, in two's complement.
    pub(crate) const fn least(self) -> u128 {
        if self.signed { 1 << (self.bits - 1) } else { 0 }
    }

    /// The greatest number, in two's complement.
    pub(crate) const fn greatest(self) -> u128 {
        self.mask() ^ self.least()
    }

    /// Bits of the number nearest to `value`, or `None` if that is out of range or `value` is no number.
    pub(crate) fn nearest(self, value: f64) -> Option<u128> {
        let scaled = (value * 2f64.powi(self.fraction as i32)).round();
        let limit = 2f64.powi((self.bits - u32::from(self.signed)) as i32);
        let (least, code) = match self.signed {
            true => (-limit, scaled as i128 as u128),
            false => (0.0, scaled as u128),
        };
        (scaled >= least && scaled < limit).then_some(code & self.mask())
    }

    /// The number that an element's bits stand for, rounded to the 53 bits that `f64` has.
    pub fn number(self, code: u128) -> f64 {
        let whole = match self.signed {
            true => self.extend(code) as f64,
            false => code as f64,
        };
        whole / 2f64.powi(self.fraction as i32)
    }

    /// The encoding with copies of the sign above it.
    pub(crate) const fn extend(self, code: u128) -> i128 {
        let unused = 128 - self.bits;
        if self.signed {
            (code << unused) as i128 >> unused
        } else {
            code as i128
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = if self.signed { 'i' } else { 'u' };
        match (self.bits, self.fraction) {
            (1, _) => f.write_str("bool"),
            (bits, 0) => write!(f, "{letter}{bits}"),
            (bits, fraction) => write!(f, "Fixed<{letter}{bits}, {fraction}>"),
        }
    }
}

/// A text that names no type.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "{found:?} is no type of elements: there are bool, u8 to u128, i8 to i128, and numbers with a fixed point, as in `Fixed<i64, 16>` or `fixed(64, 16)`: 16, 32, 64 or 128 bits, of which 16 are after the point"
)]
pub struct TypeError {
    /// The text.
    pub found: String,
}

impl FromStr for Type {
    type Err = TypeError;

    /// Reads what `Display` writes, and `fixed(BITS, FRACTION)`.
    fn from_str(text: &str) -> Result<Self, TypeError> {
        let wrong = || TypeError { found: text.into() };
        let dense: String = text.split_whitespace().collect();
        let pair = |begin: &str, end: &str| {
            let inner = dense.strip_prefix(begin)?.strip_suffix(end)?;
            let (bits, fraction) = inner.split_once(',')?;
            Self::fixed(bits.parse().ok()?, fraction.parse().ok()?)
        };
        if let Some(fixed) = pair("Fixed<i", ">").or_else(|| pair("fixed(", ")")) {
            return Ok(fixed);
        }
        let widths = [8, 16, 32, 64, 128];
        let unsigned = widths.map(Self::unsigned);
        let signed = widths.map(Self::signed);
        let mut all = [Self::BOOL].into_iter().chain(unsigned).chain(signed);
        all.find(|one| one.to_string() == dense).ok_or_else(wrong)
    }
}

/// An element of secrets and of public arrays: `bool`, `u8` to `u128`, `i8` to `i128`, [`Fixed`].
pub trait Plain:
    sealed::Sealed + Copy + Default + PartialEq + fmt::Debug + Zeroize + Send + Sync + 'static
{
    /// The type's description.
    const TYPE: Type;

    /// The element's bits in two's complement, zeros above.
    fn encode(self) -> u128;

    /// The element with these bits; bits above its width are left out.
    fn decode(code: u128) -> Self;
}

/// Numbers, which are added, multiplied, divided and compared: integers and [`Fixed`].
pub trait Number: Plain {}

/// Integers, which are shifted and counted as well, and have roots and remainders.
pub trait Integer: Number + Bits {}

/// Integers without a sign: roots are taken of them, and they name places and amounts of shifts.
pub trait Unsigned: Integer {}

/// Numbers with a sign.
pub trait Signed: Number {}

/// Elements that `&`, `|`, `^` and `!` work on, bit by bit: `bool` and integers.
pub trait Bits: Plain {}

/// An integer that a [`Fixed`] is kept in: `i16`, `i32`, `i64` or `i128`.
pub trait FixedWord: Integer + Signed {}

impl sealed::Sealed for bool {}
impl Bits for bool {}
impl Plain for bool {
    const TYPE: Type = Type::BOOL;

    fn encode(self) -> u128 {
        self.into()
    }

    fn decode(code: u128) -> Self {
        code & 1 == 1
    }
}

macro_rules! integers {
    ($($word:ident of $unsigned:ident $describe:ident;)*) => {$(
        impl sealed::Sealed for $word {}
        impl Number for $word {}
        impl Integer for $word {}
        impl Bits for $word {}
        impl Plain for $word {
            const TYPE: Type = Type::$describe($word::BITS);

            #[inline(always)]
            fn encode(self) -> u128 {
                self as $unsigned as u128
            }

            #[inline(always)]
            fn decode(code: u128) -> Self {
                code as $word
            }
        }
    )*};
}
integers! {
    u8 of u8 unsigned; u16 of u16 unsigned; u32 of u32 unsigned; u64 of u64 unsigned; u128 of u128 unsigned;
    i8 of u8 signed; i16 of u16 signed; i32 of u32 signed; i64 of u64 signed; i128 of u128 signed;
}

macro_rules! marks {
    ($($mark:ident: $($word:ident)*;)*) => {$($(impl $mark for $word {})*)*};
}
marks! {
    Unsigned: u8 u16 u32 u64 u128;
    Signed: i8 i16 i32 i64 i128;
    FixedWord: i16 i32 i64 i128;
}

/// A number with `F` bits after the point, kept as the integer `W` of 2^F times its value: from
/// -2^(l-1-F) to 2^(l-1-F) less 2^-F in steps of 2^-F, for l bits of `W`.
///
/// Sums wrap as those of `W` do. A product is the product of the integers modulo 2^l, as a signed number,
/// divided by 2^F and rounded down: it is right to within 2^-F as long as it lies between -2^(l-1-2F) and
/// 2^(l-1-2F), and wrong beyond; [`Checked`](crate::Checked) says where that happens. A quotient is that of
/// the two numbers, rounded towards zero: less than 2^-F from the exact one, wherever that is in range; what
/// is out of range wraps, and by 0 all quotients are -2^-F.
///
/// ```
/// use madrigal_program::Fixed;
/// type Price = Fixed<i64, 16>;
/// assert_eq!(Price::from_f64(2.5).map(Price::to_f64), Some(2.5));
/// assert_eq!(Price::from_f64(1e30), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Fixed<W, const F: u32>(W);

impl<W: FixedWord, const F: u32> Fixed<W, F> {
    const FITS: () = assert!(
        F > 0 && F < W::TYPE.bits() - 1,
        "a fixed-point number has a bit at least after the point, one before it, and a sign"
    );

    /// The number that is `raw` steps of 2^-F.
    pub const fn from_raw(raw: W) -> Self {
        const { Self::FITS }
        Self(raw)
    }

    /// The number in steps of 2^-F.
    pub const fn raw(self) -> W {
        self.0
    }

    /// The nearest number, or `None` if that is out of range or `value` is none.
    pub fn from_f64(value: f64) -> Option<Self> {
        Self::TYPE.nearest(value).map(Self::decode)
    }

    /// The number, rounded to the 53 bits that `f64` has.
    pub fn to_f64(self) -> f64 {
        Self::TYPE.number(self.encode())
    }
}

impl<W: FixedWord, const F: u32> sealed::Sealed for Fixed<W, F> {}
impl<W: FixedWord, const F: u32> Number for Fixed<W, F> {}
impl<W: FixedWord, const F: u32> Signed for Fixed<W, F> {}

impl<W: FixedWord, const F: u32> Plain for Fixed<W, F> {
    const TYPE: Type = Type::of(W::TYPE.bits, true, F);

    fn encode(self) -> u128 {
        self.0.encode()
    }

    fn decode(code: u128) -> Self {
        Self::from_raw(W::decode(code))
    }
}

impl<W: FixedWord, const F: u32> Zeroize for Fixed<W, F> {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}

impl<W: FixedWord, const F: u32> fmt::Display for Fixed<W, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.to_f64(), f)
    }
}
