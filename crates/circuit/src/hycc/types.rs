//! Types of variables.

use std::fmt;

/// Depth to which types may be nested.
pub(super) const MOST_NESTED: usize = 32;

/// A variable's type. Its bits lie one after the other: the first element or member first, of each number
/// the lowest bit first.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Type {
    /// An integer.
    Integer {
        /// Number of bits, at least 1.
        bits: u32,
        /// Whether the integer is in two's complement.
        signed: bool,
    },
    /// A bit.
    Bool,
    /// Elements of one type.
    Array {
        /// Number of elements.
        len: u32,
        /// Type of each element.
        element: Box<Type>,
    },
    /// Members by name.
    Struct(Vec<(String, Type)>),
}

/// A number or a bit within a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leaf {
    /// The first bit, among those of the value.
    pub first: usize,
    /// Number of bits.
    pub bits: u32,
    /// Whether the bits are a number in two's complement.
    pub signed: bool,
}

impl Type {
    /// Bits of a value; saturates.
    pub fn bits(&self) -> u64 {
        match self {
            Self::Integer { bits, .. } => u64::from(*bits),
            Self::Bool => 1,
            Self::Array { len, element } => u64::from(*len).saturating_mul(element.bits()),
            Self::Struct(members) => members
                .iter()
                .fold(0, |sum: u64, (_, member)| sum.saturating_add(member.bits())),
        }
    }

    /// The numbers and bits of a value, in order: as many as bits, at most.
    pub fn leaves(&self) -> Vec<Leaf> {
        let mut leaves = Vec::new();
        self.collect(&mut 0, &mut leaves);
        leaves
    }

    fn collect(&self, first: &mut usize, leaves: &mut Vec<Leaf>) {
        let mut leaf = |bits: u32, signed| {
            leaves.push(Leaf {
                first: *first,
                bits,
                signed,
            });
            *first += bits as usize;
        };
        match self {
            Self::Integer { bits, signed } => leaf(*bits, *signed),
            Self::Bool => leaf(1, false),
            Self::Array { len, element } if element.bits() > 0 => {
                (0..*len).for_each(|_| element.collect(first, leaves));
            }
            Self::Array { .. } => {}
            Self::Struct(members) => members
                .iter()
                .for_each(|(_, member)| member.collect(first, leaves)),
        }
    }
}

/// Written as in C, where it has a word for it: `int32[4]`, `{x: uint8, y: bool[3]}`.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer { bits, signed: true } => write!(f, "int{bits}"),
            Self::Integer { bits, .. } => write!(f, "uint{bits}"),
            Self::Bool => f.write_str("bool"),
            Self::Array { len, element } => write!(f, "{element}[{len}]"),
            Self::Struct(members) => {
                f.write_str("{")?;
                for (place, (name, member)) in members.iter().enumerate() {
                    let between = if place > 0 { ", " } else { "" };
                    write!(f, "{between}{name}: {member}")?;
                }
                f.write_str("}")
            }
        }
    }
}
