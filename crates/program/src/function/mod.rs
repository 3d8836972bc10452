//! Functions of one number, and quotients of two, as circuits of few ANDs: exponentials, logarithms, roots, reciprocals, and the
//! sigmoids of neural networks.
//!
//! # How
//!
//! The number is there as bits, as for a comparison. Its highest bits choose a piece, by a one-hot code of as
//! many ANDs as there are pieces; the code chooses the piece's coefficients for nothing, because a sum of public
//! entries by XOR is local; and the lower bits go into a polynomial of degree 1 to 4 by Horner's rule, with as
//! many bits in each product as the result needs ([`spline`]). In front of that stands
//! - for functions that level off (sigmoid, tanh, erf, and what GELU, SiLU and softplus differ from ReLU by):
//!   nothing but the sign. What follows is done on |x|, and beyond the last piece nothing is chosen, so that it
//!   is 0 there ([`symmetric`]);
//! - for powers of x (1/x, sqrt, 1/sqrt) and ln: the number is shifted so that its highest 1 stands first, and
//!   the result back by as much, or half ([`normalised`]);
//! - for quotients: the same of the divisor, which is not shifted back; a second circuit of the dividend and what came of
//!   the divisor multiplies and shifts ([`quotient`]);
//! - for e^x: the product with log2(e), whose whole part is what the result is shifted by ([`exponential`]).
//!
//! For `Fixed<i64, 16>` that is 500 to 1,250 ANDs, the sum of shares in front of it included, with which all is
//! one circuit. The result has as few bits as its range needs, so that its way back to the ring is short.
//! `docs/FUNCTIONS.md` has a table.
//!
//! # What was rejected
//!
//! - *Polynomials in the ring.* Coefficients would be converted there (12 bytes for each bit and value in
//!   A), each product of 64 bits is 1,030 bytes of correlations, as much as a hundred ANDs, and cutting
//!   bits off afterwards is another sum of shares and another conversion: for degree 2 about as many bytes
//!   as all ANDs of the circuit, and nothing of it for numbers of 16 bits, whose products leave their type.
//! - *Comparisons with each breakpoint*: 64 ANDs each, where the one-hot code takes one.
//! - *Newton's or Goldschmidt's iteration* for 1/x and 1/sqrt: two or three rounds of products after a
//!   first guess that already takes the shift and a table.
//! - *Limits of `(1 + x / 2^k)^(2^k)`* for e^x: k squares, each with its truncation, and an error that
//!   grows with x.
//! - *Longer tables without a polynomial*: an AND for each entry, 2^F of them for F bits after the point.

mod exponential;
mod kind;
mod normalised;
mod quotient;
mod real;
mod spline;
mod symmetric;

use std::fmt;

use madrigal_circuit::{Builder, Wire};
use sha2::{Digest, Sha256};

use crate::element::Type;
use crate::ir::{EachForm, Elementwise};

use exponential::Exponential;
pub(crate) use kind::{Kind, PRECISION};
use normalised::Normalised;
use quotient::{Packing, Quotient};
use symmetric::Symmetric;

/// A function of numbers of one type.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Function {
    kind: Kind,
    from: Type,
    /// Type of the second operand, where there is one.
    second: Option<Type>,
    to: Type,
    /// Type that the results are meant as: `to` has no bits after the point.
    meant: Type,
    form: Form,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Form {
    Symmetric(Symmetric),
    Normalised(Normalised),
    Exponential(Exponential),
    Quotient(Quotient),
}

impl Function {
    /// The function for numbers with a fixed point, or `None` for others.
    pub(crate) fn new(kind: Kind, from: Type) -> Option<Self> {
        Self::with_results(kind, from, from)
    }

    /// A function whose results are numbers of another type with a fixed point, as a factor's are.
    pub(crate) fn with_results(kind: Kind, from: Type, to: Type) -> Option<Self> {
        if from.fraction() == 0 || !from.is_signed() {
            return None;
        }
        let meant = to;
        let mut second = None;
        let (form, to) = match kind {
            Kind::Exp => (Form::Exponential(Exponential::new(from)), from.integer()),
            Kind::Log
            | Kind::Reciprocal
            | Kind::PositiveReciprocal
            | Kind::Root
            | Kind::InverseRoot
            | Kind::FineInverseRoot => {
                let normalised = Normalised::new(kind, from, to);
                (Form::Normalised(normalised), to.integer())
            }
            Kind::Inverse => {
                let normalised = Normalised::new(kind, from, from);
                (Form::Normalised(normalised), Packing::new(from).to())
            }
            Kind::Quotient => {
                let quotient = Quotient::new(from);
                second = Some(quotient.second());
                (Form::Quotient(quotient), from.integer())
            }
            _ => {
                let symmetric = Symmetric::new(kind, from);
                let to = symmetric.result(from);
                (Form::Symmetric(symmetric), to)
            }
        };
        Some(Self {
            kind,
            from,
            second,
            to,
            meant,
            form,
        })
    }

    /// The function of this name.
    pub(crate) fn named(name: &str, from: Type, to: Type) -> Option<Self> {
        let kind = Kind::ALL
            .into_iter()
            .find(|kind| kind.to_string() == name)?;
        Self::with_results(kind, from, to)
    }

    /// Type of the numbers that the function takes.
    #[cfg(feature = "generator")]
    pub(crate) fn from(&self) -> Type {
        self.from
    }

    /// Type of integers that the function's results, times 2^fraction, are given as.
    #[cfg(feature = "generator")]
    pub(crate) fn to(&self) -> Type {
        self.to
    }

    /// Number of pieces, and their degree: none of a quotient, which has its inverse from elsewhere.
    fn size(&self) -> (usize, usize) {
        match &self.form {
            Form::Quotient(_) => (0, 0),
            Form::Symmetric(form) => form.spline.size(),
            Form::Normalised(form) => form.spline.size(),
            Form::Exponential(form) => form.spline.size(),
        }
    }
}

impl Elementwise for Function {
    fn name(&self) -> String {
        self.to_string()
    }

    fn label(&self) -> String {
        self.kind.to_string()
    }

    fn form(&self) -> Option<EachForm> {
        Some(EachForm::Function {
            name: self.kind.to_string(),
            from: self.from,
            to: self.meant,
        })
    }

    fn results(&self, operands: &[Type]) -> Result<Vec<Type>, String> {
        let own: Vec<Type> = [Some(self.from), self.second]
            .into_iter()
            .flatten()
            .collect();
        match operands == own {
            true => Ok(vec![self.to]),
            false => Err(format!("{operands:?}, and the function takes {own:?}")),
        }
    }

    // Results are steps of 2^-fraction of the type that the function takes: `to` has no bits after the point.
    fn range(&self) -> Option<(i128, i128)> {
        match &self.form {
            Form::Symmetric(form) => form.range(self.from),
            Form::Normalised(form) => form.range(self.from),
            Form::Exponential(form) => form.range(self.from),
            Form::Quotient(_) => {
                let most = (self.to.mask() >> 1) as i128;
                Some((-most, most))
            }
        }
    }

    fn evaluate(&self, operands: &[Vec<u128>]) -> Vec<Vec<u128>> {
        let second = |at: usize| operands.get(1).map_or(0, |codes| codes[at]);
        let result = |(at, &code): (usize, &u128)| {
            let number = self.from.extend(code);
            let result = match &self.form {
                Form::Quotient(form) => form.evaluate(self.from, number, second(at)),
                Form::Symmetric(form) => form.evaluate(self.from, number),
                Form::Normalised(form) => form.evaluate(self.from, number),
                Form::Exponential(form) => form.evaluate(self.from, number),
            };
            result as u128 & self.to.mask()
        };
        vec![operands[0].iter().enumerate().map(result).collect()]
    }

    fn build(&self, b: &mut Builder, operands: &[Vec<Wire>]) -> Vec<Vec<Wire>> {
        let x = &operands[0];
        let result = match &self.form {
            Form::Quotient(form) => form.build(self.from, b, x, &operands[1]),
            Form::Symmetric(form) => form.build(self.from, b, x),
            Form::Normalised(form) => form.build(self.from, b, x),
            Form::Exponential(form) => form.build(self.from, b, x),
        };
        let bits = self.to.bits() as usize;
        vec![match self.to.is_signed() {
            true => b.sign_extend(&result, bits),
            false => b.zero_extend(&result, bits),
        }]
    }
}

/// The kind with types and a hash of the tables, which parties compare.
impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (pieces, degree) = self.size();
        let mut hash = Sha256::new_with_prefix(madrigal_core::domains::PROGRAM_CONSTANT);
        let mut take = |words: &mut dyn Iterator<Item = i64>| {
            words.for_each(|word| hash.update(word.to_le_bytes()));
        };
        match &self.form {
            Form::Symmetric(form) => take(&mut form.spline.words()),
            Form::Normalised(form) => take(&mut form.words()),
            Form::Exponential(form) => take(&mut form.words()),
            Form::Quotient(_) => return write!(f, "{} as {}", self.kind, self.to),
        }
        let digest = madrigal_core::Digest256::from(hash.finalize());
        let Self { kind, to, .. } = self;
        if let (Kind::FineInverseRoot, Form::Normalised(form)) = (kind, &self.form) {
            write!(f, "{kind} to {} places, ", form.places())?;
        } else {
            write!(f, "{kind} ")?;
        }
        write!(f, "as {to}, {pieces} pieces of degree {degree}, {digest}")
    }
}
