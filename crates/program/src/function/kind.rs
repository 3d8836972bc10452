//! Names of the functions, and how exact they are.

use std::fmt;

/// Bits after the point that results are right to: more would take as many pieces as there is no use for.
pub(crate) const PRECISION: u32 = 24;

/// Bits below the last place of a result that a spline computes with.
pub(super) const GUARD: u32 = 4;

/// A function's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// 1 / (1 + e^-x)
    Sigmoid,
    Tanh,
    Erf,
    /// relu(x) - gelu(x), for gelu(x) = x (1 + erf(x / sqrt 2)) / 2.
    BelowGelu,
    /// relu(x) - gelu(x), for gelu(x) = x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2.
    BelowTanhGelu,
    /// relu(x) - x sigmoid(x)
    BelowSilu,
    /// ln(1 + e^x) - relu(x)
    AboveSoftplus,
    /// e^-|x|, less than 1.
    Decay,
    Exp,
    /// ln x
    Log,
    /// 1 / x
    Reciprocal,
    /// 1 / x of numbers that are not below 0.
    PositiveReciprocal,
    Root,
    InverseRoot,
    /// The inverse square root with more bits after the point, as a factor of products.
    FineInverseRoot,
    /// 1 / x in two parts, as quotients take it.
    Inverse,
    /// x times an inverse.
    Quotient,
}

impl Kind {
    /// All kinds.
    pub(super) const ALL: [Self; 17] = [
        Self::Sigmoid,
        Self::Tanh,
        Self::Erf,
        Self::BelowGelu,
        Self::BelowTanhGelu,
        Self::BelowSilu,
        Self::AboveSoftplus,
        Self::Decay,
        Self::Exp,
        Self::Log,
        Self::Reciprocal,
        Self::PositiveReciprocal,
        Self::Root,
        Self::InverseRoot,
        Self::FineInverseRoot,
        Self::Inverse,
        Self::Quotient,
    ];
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sigmoid => "sigmoid",
            Self::Tanh => "tanh",
            Self::Erf => "erf",
            Self::BelowGelu => "ReLU less GELU",
            Self::BelowTanhGelu => "ReLU less GELU by tanh",
            Self::BelowSilu => "ReLU less SiLU",
            Self::AboveSoftplus => "softplus less ReLU",
            Self::Decay => "exponential of -|x|",
            Self::Exp => "exponential",
            Self::Log => "logarithm",
            Self::Reciprocal => "reciprocal",
            Self::PositiveReciprocal => "reciprocal of positive numbers",
            Self::Root => "square root",
            Self::InverseRoot => "inverse square root",
            Self::FineInverseRoot => "fine inverse square root",
            Self::Inverse => "inverse in parts",
            Self::Quotient => "quotient",
        })
    }
}
