//! Expressions computed on secrets.

mod compare;
mod convert;
mod numbers;
mod texts;

use madrigal_program::{Array, Plain, Program, Shape, Tensor, Type};

use super::check::{self, Typed};
use super::pattern;
use super::{Expression, Literal};
use crate::column::Column;
use crate::error::Fault;
use crate::kind::Kind;

pub(crate) use texts::text_of_codes;

/// The values of an expression or a column: the elements that the kind says, and whether each is there.
#[derive(Clone)]
pub(crate) struct Cell {
    pub(crate) kind: Kind,
    /// Elements of these types or wider ones, each an element for each row, or a single one for all.
    pub(crate) parts: Vec<Tensor>,
    /// Whether each value is there; all are without it. What is missing has any elements.
    pub(crate) present: Option<Tensor>,
    /// The public value, if it is one.
    literal: Option<Literal>,
}

type Result<T> = std::result::Result<T, Fault>;

/// The columns that expressions are computed of.
pub(crate) struct Scope<'a> {
    pub(crate) program: &'a mut Program,
    pub(crate) columns: &'a [Column],
    pub(crate) cells: &'a [Cell],
}

impl Cell {
    pub(crate) fn new(kind: Kind, parts: Vec<Tensor>, present: Option<Tensor>) -> Self {
        Self {
            kind,
            parts,
            present,
            literal: None,
        }
    }

    fn bool(value: Tensor, present: Option<Tensor>) -> Self {
        Self::new(Kind::Bool, vec![value], present)
    }

    fn with_present(mut self, present: Option<Tensor>) -> Self {
        self.present = present;
        self
    }

    fn one(&self) -> &Tensor {
        &self.parts[0]
    }
}

/// Whether both are there.
fn both_present(one: &Option<Tensor>, other: &Option<Tensor>) -> Option<Tensor> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.and(other)),
        (one, other) => one.clone().or_else(|| other.clone()),
    }
}

/// A type like `element` that is as wide as the widest of tensors.
pub(crate) fn widest<'a>(element: Type, tensors: impl IntoIterator<Item = &'a Tensor>) -> Type {
    let bits = tensors
        .into_iter()
        .map(|tensor| tensor.element().bits())
        .max();
    let bits = bits.unwrap_or(0).max(element.bits());
    let types = match element.is_signed() {
        true => [i8::TYPE, i16::TYPE, i32::TYPE, i64::TYPE, i128::TYPE],
        false => [u8::TYPE, u16::TYPE, u32::TYPE, u64::TYPE, u128::TYPE],
    };
    let wide = types.into_iter().find(|wide| wide.bits() == bits);
    wide.unwrap_or(element)
}

/// The elements in another type of integers, which holds them.
pub(crate) fn fit(tensor: &Tensor, element: Type) -> Tensor {
    match tensor.element() == element {
        true => tensor.clone(),
        false => tensor.cast(element),
    }
}

impl Scope<'_> {
    /// A public element.
    pub(super) fn constant(&mut self, element: Type, code: u128) -> Tensor {
        constant(self.program, element, code)
    }

    fn yes_or_no(&mut self, yes: bool) -> Tensor {
        self.constant(bool::TYPE, yes.into())
    }

    /// Rows in which a condition is there and true.
    pub(crate) fn truth(&mut self, condition: &Expression) -> Result<Tensor> {
        let cell = self.value(condition)?;
        Ok(match &cell.present {
            Some(present) => cell.one().and(present),
            None => cell.one().clone(),
        })
    }

    /// The values of an expression.
    pub(crate) fn value(&mut self, expression: &Expression) -> Result<Cell> {
        let typed = check::typed(expression, self.columns)?;
        let Typed {
            kind: Some(kind), ..
        } = typed
        else {
            return Ok(self.missing(Kind::Bool));
        };
        Ok(match expression {
            Expression::Column(name) => {
                let at = self.columns.iter().position(|column| column.name == *name);
                self.cells[at.expect("a column that was found")].clone()
            }
            Expression::Literal(literal) => self.literal(literal, &kind),
            Expression::Not(one) => {
                let one = self.value(one)?;
                Cell::bool(one.one().not(), one.present)
            }
            Expression::Negate(one) => {
                let mut one = self.value(one)?;
                let element = kind.elements()[0];
                one.parts[0] = fit(&one.parts[0], element).negate();
                Cell::new(kind, one.parts, one.present)
            }
            Expression::IsNull(one) => {
                let one = self.value(one)?;
                let missing = match one.present {
                    Some(present) => present.not(),
                    None => self.yes_or_no(false),
                };
                Cell::bool(missing, None)
            }
            Expression::Binary(operator, one, other) => {
                let known = |side: &Expression| check::typed(side, self.columns);
                let (first, second) = (known(one)?.kind, known(other)?.kind);
                if operator.flipped().is_some() && (first.is_none() || second.is_none()) {
                    return Ok(self.missing(Kind::Bool));
                }
                let (one, other) = (self.value(one)?, self.value(other)?);
                self.binary(*operator, one, other, &kind)?
            }
            Expression::Case(branches, otherwise) => {
                let mut chosen = match otherwise {
                    Some(otherwise) => {
                        let value = self.value(otherwise)?;
                        self.converted(value, &kind)?
                    }
                    None => self.missing(kind.clone()),
                };
                for (when, then) in branches.iter().rev() {
                    let when = self.truth(when)?;
                    let then = self.value(then)?;
                    let then = self.converted(then, &kind)?;
                    chosen = self.choice(&when, &then, &chosen);
                }
                chosen
            }
            Expression::Coalesce(all) => {
                let mut chosen = self.missing(kind.clone());
                for one in all.iter().rev() {
                    let one = self.value(one)?;
                    let one = self.converted(one, &kind)?;
                    chosen = match one.present.clone() {
                        None => one,
                        Some(present) => self.choice(&present, &one, &chosen),
                    };
                }
                chosen
            }
            Expression::Like(one, pattern) => {
                let one = self.value(one)?;
                let parts = pattern::parts(pattern);
                let found = match &one.kind {
                    Kind::Choice(texts) => {
                        let is_like = |text: &String| pattern::matches(&parts, text);
                        let members = texts.iter().map(is_like).collect::<Vec<_>>();
                        self.member(&one, &members)
                    }
                    _ => self.like(&one, &pattern::runs(&parts)),
                };
                Cell::bool(found, one.present)
            }
            Expression::Among(one, _) if check::typed(one, self.columns)?.kind.is_none() => {
                self.missing(Kind::Bool)
            }
            Expression::Among(one, values) => {
                let one = self.value(one)?;
                self.among(&one, values)?
            }
            Expression::Part(part, one) => {
                let one = self.value(one)?;
                self.date_part(*part, one, &kind)
            }
            Expression::Piece(one, from, length) => {
                let one = self.value(one)?;
                self.piece(one, [*from, *length], &kind)
            }
            Expression::Cast(one, _) => {
                let one = self.value(one)?;
                self.converted(one, &kind)?
            }
            Expression::Root(one) => {
                let one = self.value(one)?;
                self.root(one)?
            }
        })
    }

    /// A value that is missing.
    fn missing(&mut self, kind: Kind) -> Cell {
        let elements = kind.elements();
        let mut parts: Vec<Tensor> = elements
            .into_iter()
            .map(|element| self.constant(element, 0))
            .collect();
        if let Kind::Ratio(_, below) = &kind {
            parts[1] = self.constant(below.element(), 1);
        }
        let present = Some(self.yes_or_no(false));
        Cell::new(kind, parts, present)
    }

    fn literal(&mut self, literal: &Literal, kind: &Kind) -> Cell {
        let code = literal.in_kind(kind).unwrap_or(0);
        let part = self.constant(kind.elements()[0], code);
        Cell {
            literal: Some(literal.clone()),
            ..Cell::new(kind.clone(), vec![part], None)
        }
    }

    /// `yes` where a condition is true, else `no`, which is of the same kind.
    fn choice(&mut self, when: &Tensor, yes: &Cell, no: &Cell) -> Cell {
        let parts = yes.parts.iter().zip(&no.parts).zip(yes.kind.elements());
        let parts = parts
            .map(|((yes, no), element)| {
                let element = widest(element, [yes, no]);
                when.select(&fit(yes, element), &fit(no, element))
            })
            .collect();
        let present = match (&yes.present, &no.present) {
            (None, None) => None,
            (Some(yes), None) => Some(when.not().or(yes)),
            (None, Some(no)) => Some(when.or(no)),
            (Some(yes), Some(no)) => Some(when.select(yes, no)),
        };
        Cell::new(yes.kind.clone(), parts, present)
    }
}

/// A public element for all rows.
pub(crate) fn constant(p: &mut Program, element: Type, code: u128) -> Tensor {
    let shape = Shape::checked(&[]).expect("a single element");
    let array = Array::from_codes(element, &shape, std::iter::once(code));
    p.tensor_constant(array.expect("one element"))
}

/// Public elements, in a row.
fn public(p: &mut Program, element: Type, codes: impl ExactSizeIterator<Item = u128>) -> Tensor {
    let shape = Shape::checked(&[codes.len()]).expect("a length in memory");
    let array = Array::from_codes(element, &shape, codes);
    p.tensor_constant(array.expect("as many elements"))
}

/// A truth value for each row.
fn constant_rows(p: &mut Program, rows: &[usize], value: bool) -> Tensor {
    let one = constant(p, bool::TYPE, value.into());
    one.broadcast_to(rows.to_vec())
}
