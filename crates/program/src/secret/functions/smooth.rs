//! Smooth functions of one number.

use crate::element::{Fixed, FixedWord};
use crate::error::Source;
use crate::function::Kind;
use crate::secret::{Secret, Tensor};

/// A function of each element, with the words of [`Secret`]'s.
macro_rules! functions {
    ($($name:ident: $how:ident $kind:ident;)*) => {$(
        #[doc = concat!("[`Secret::", stringify!($name), "`] of numbers with a fixed point.")]
        #[track_caller]
        pub fn $name(&self) -> Self {
            self.$how(Kind::$kind, Source::here())
        }
    )*};
}

impl Tensor {
    functions! {
        sigmoid: smooth Sigmoid;
        tanh: smooth Tanh;
        erf: smooth Erf;
        gelu: relu_less BelowGelu;
        gelu_tanh: relu_less BelowTanhGelu;
        silu: relu_less BelowSilu;
        softplus: relu_and AboveSoftplus;
        exp: smooth Exp;
        ln: smooth Log;
        reciprocal: smooth Reciprocal;
        sqrt: smooth Root;
        inverse_sqrt: smooth InverseRoot;
    }

    /// A function of each element, as numbers of the same type.
    pub(super) fn smooth(&self, kind: Kind, at: Source) -> Self {
        self.function(kind, self.element(), at)
    }

    /// ReLU less a function.
    fn relu_less(&self, kind: Kind, at: Source) -> Self {
        self.positive_part(at).less_by(&self.smooth(kind, at), at)
    }

    /// ReLU and a function.
    fn relu_and(&self, kind: Kind, at: Source) -> Self {
        self.positive_part(at).added(&self.smooth(kind, at), at)
    }
}

/// Functions of all numbers of the type, but where it says otherwise.
impl<W: FixedWord, const F: u32> Secret<Fixed<W, F>> {
    forward! {
        /// `1 / (1 + e^-x)`, within 2^-F.
        sigmoid();
        /// The hyperbolic tangent, within 2^-F.
        tanh();
        /// The error function, `2 / sqrt(pi)` times the integral of `e^(-t^2)` from 0 to x, within 2^-F.
        erf();
        /// GELU, `x (1 + erf(x / sqrt(2))) / 2`, within 2^-F: [`relu`](Secret::relu) less a function of |x| that
        /// goes to 0.
        gelu();
        /// GELU as it is often approximated, `x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2`, within 2^-F
        /// of that. It costs what [`gelu`](Secret::gelu) does, and is there for networks trained with it.
        gelu_tanh();
        /// SiLU or swish, `x / (1 + e^-x)`, within 2^-F.
        silu();
        /// `ln(1 + e^x)`, within 2^-F, where that is in the type's range.
        softplus();
        /// `e^x`, within 2^-F, or 2^-(F + 1) of itself if that is more: from x = ln 2 on. The greatest number
        /// where it is more than that.
        exp();
        /// The natural logarithm, within 2^-F; of 0 and of numbers below it that of 2^-(F + 1). It must be in the
        /// type's range, as it always is with 7 bits before the point, or with 4 if F is 22 at most.
        ln();
        /// `1 / x`, within 2^-F, or 2^-(F + 1) of itself if that is more: for |x| below 1/2. The greatest
        /// number, or its negative, where it is more than that; 0 counts as 2^-(F + 1).
        reciprocal();
        /// The square root, within 2^-F, or 2^-(F + 1) of itself if that is more: from x = 4 on. 0 of numbers
        /// below 0.
        sqrt();
        /// `1 / sqrt(x)`, within 2^-F, or 2^-(F + 1) of itself if that is more: for x below 1/4. The greatest
        /// number where it is more than that; 0, and what is below, counts as 2^-(F + 1).
        inverse_sqrt();
    }
}
