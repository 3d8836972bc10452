//! Expressions on the columns of a row.

mod check;
pub(crate) mod dates;
mod pattern;
mod root;
mod secret;
mod show;

use std::ops;

use serde::{Deserialize, Serialize};

use crate::column::Value;
use crate::kind::{Kind, Number, Unit};

pub(crate) use check::{Typed, both, comparable, divided, find, product, typed};
pub(crate) use dates::calendar;
pub use dates::{DatePart, days_of};
pub(crate) use root::root;
pub(crate) use secret::{Cell, Scope, constant, fit, text_of_codes, widest};

/// Value computed of the columns of each row. Missing values are treated as in SQL: what is computed of one is missing, but for `and`,
/// `or`, tests for missing values, and `case`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expression {
    /// The column of this name.
    Column(String),
    /// A public value.
    Literal(Literal),
    /// The opposite truth value.
    Not(Box<Self>),
    /// The number with the other sign.
    Negate(Box<Self>),
    /// Whether the value is missing.
    IsNull(Box<Self>),
    /// Two values combined.
    Binary(Operator, Box<Self>, Box<Self>),
    /// The value beside the first condition that is true, or the last one; missing if there is none.
    Case(Vec<(Self, Self)>, Option<Box<Self>>),
    /// Whether a text is like a pattern: `%` stands for any characters, `_` for one, and a character after `\` for itself.
    Like(Box<Self>, String),
    /// Whether the value is one of these.
    Among(Box<Self>, Vec<Literal>),
    /// A part of a date.
    Part(DatePart, Box<Self>),
    /// Characters of a text: from this place, counted from 0, as many.
    Piece(Box<Self>, usize, usize),
    /// The first value that is not missing.
    Coalesce(Vec<Self>),
    /// The number with another kind: rounded to its digits after the point, halves away from zero. A number that the kind's range does not
    /// hold is missing, as is a text that is longer: an error would tell all parties of it.
    Cast(Box<Self>, Kind),
    /// The square root, with as many of six digits after the point as 128 bits have room for, the rest cut off; missing of a negative number.
    Root(Box<Self>),
}

/// A public value, with what it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Literal {
    /// The value.
    pub value: Value,
    /// The unit, where the value is a number.
    pub unit: Unit,
}

/// How two values are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operator {
    /// The sum.
    Plus,
    /// The difference.
    Minus,
    /// The product.
    Times,
    /// The quotient, missing where the divisor is 0.
    Over,
    /// The quotient of integers cut off towards zero, missing where the divisor is 0.
    WholeOver,
    /// The rest that [`WholeOver`](Self::WholeOver) leaves, with the sign of the first.
    Rest,
    /// Whether they are equal.
    Equal,
    /// Whether they are not equal.
    Differ,
    /// Whether the first is less.
    Less,
    /// Whether the first is less or equal.
    AtMost,
    /// Whether the first is greater.
    Greater,
    /// Whether the first is greater or equal.
    AtLeast,
    /// Whether both are true.
    And,
    /// Whether one at least is true.
    Or,
}

impl Literal {
    /// A missing value.
    pub const NULL: Self = Self {
        value: Value::Null,
        unit: Unit::One,
    };

    /// An integer.
    pub const fn integer(value: i128) -> Self {
        Self::number(value, Unit::One)
    }

    /// A number in units.
    pub const fn number(value: i128, unit: Unit) -> Self {
        Self {
            value: Value::Number(value),
            unit,
        }
    }

    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            value: Value::Text(text.into()),
            unit: Unit::One,
        }
    }

    /// A truth value.
    pub const fn bool(value: bool) -> Self {
        Self {
            value: Value::Bool(value),
            unit: Unit::One,
        }
    }

    /// Kind of the literal; `None` for a missing value, which is of any kind.
    pub(crate) fn kind(&self) -> Option<Kind> {
        match &self.value {
            Value::Null => None,
            Value::Bool(_) => Some(Kind::Bool),
            Value::Number(value) => Some(Kind::Number(Number::new(self.unit, *value, *value))),
            Value::Text(text) => Some(Kind::choice([text.as_str()])),
        }
    }
}

/// The column of a name.
pub fn col(name: impl Into<String>) -> Expression {
    Expression::Column(name.into())
}

/// A public value: an integer, a truth value or a text, or a [`Literal`].
pub fn lit(value: impl Into<Literal>) -> Expression {
    Expression::Literal(value.into())
}

/// A decimal number with `digits` digits after the point, in units of the last one: `decimal(5, 2)` is 0.05.
pub const fn decimal(units: i128, digits: u8) -> Expression {
    Expression::Literal(Literal::number(units, Unit::with_digits(digits)))
}

/// A date.
///
/// # Panics
/// If there is no such day in the calendar.
pub fn date(year: i32, month: u32, day: u32) -> Expression {
    let days = days_of(year, month, day).expect("a day of the calendar");
    Expression::Literal(Literal::number(days.into(), Unit::Day))
}

macro_rules! literals {
    ($($type:ty),*) => {$(
        impl From<$type> for Literal {
            fn from(value: $type) -> Self {
                Self::integer(value.into())
            }
        }
    )*};
}
literals!(i8, i16, i32, i64, i128, u8, u16, u32, u64);

impl From<bool> for Literal {
    fn from(value: bool) -> Self {
        Self::bool(value)
    }
}

impl From<&str> for Literal {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl<T: Into<Literal>> From<T> for Expression {
    fn from(value: T) -> Self {
        lit(value)
    }
}

macro_rules! operators {
    ($($(#[$doc:meta])* $name:ident: $operator:ident;)*) => {$(
        $(#[$doc])*
        #[must_use]
        pub fn $name(self, other: impl Into<Self>) -> Self {
            self.binary(Operator::$operator, other)
        }
    )*};
}

impl Expression {
    operators! {
        /// Whether the values are equal.
        equals: Equal;
        /// Whether the values are not equal.
        differs: Differ;
        /// Whether the value is less.
        less: Less;
        /// Whether the value is less or equal.
        at_most: AtMost;
        /// Whether the value is greater.
        greater: Greater;
        /// Whether the value is greater or equal.
        at_least: AtLeast;
        /// Whether both are true.
        and: And;
        /// Whether one at least is true.
        or: Or;
        /// The quotient of integers cut off towards zero, missing where the divisor is 0.
        whole_over: WholeOver;
    }

    /// Two values combined.
    #[must_use]
    pub fn binary(self, operator: Operator, other: impl Into<Self>) -> Self {
        Self::Binary(operator, Box::new(self), Box::new(other.into()))
    }

    /// Whether the value is missing.
    #[must_use]
    pub fn is_null(self) -> Self {
        Self::IsNull(Box::new(self))
    }

    /// Whether a text is like a pattern: [`Like`](Self::Like).
    #[must_use]
    pub fn like(self, pattern: impl Into<String>) -> Self {
        Self::Like(Box::new(self), pattern.into())
    }

    /// Whether the value is one of these.
    #[must_use]
    pub fn among<T: Into<Literal>>(self, values: impl IntoIterator<Item = T>) -> Self {
        Self::Among(Box::new(self), values.into_iter().map(Into::into).collect())
    }

    /// Whether the value is from `least` to `greatest`, both included.
    #[must_use]
    pub fn between(self, least: impl Into<Self>, greatest: impl Into<Self>) -> Self {
        self.clone().at_least(least).and(self.at_most(greatest))
    }

    /// The square root: [`Root`](Self::Root).
    #[must_use]
    pub fn root(self) -> Self {
        Self::Root(Box::new(self))
    }

    /// The year of a date.
    #[must_use]
    pub fn year(self) -> Self {
        Self::Part(DatePart::Year, Box::new(self))
    }

    /// Characters of a text: from a place, counted from 0, as many.
    #[must_use]
    pub fn piece(self, from: usize, length: usize) -> Self {
        Self::Piece(Box::new(self), from, length)
    }

    /// `yes` where this is true, else `no`.
    #[must_use]
    pub fn then(self, yes: impl Into<Self>, no: impl Into<Self>) -> Self {
        Self::Case(vec![(self, yes.into())], Some(Box::new(no.into())))
    }

    /// The expressions that this one is directly made of.
    pub(crate) fn parts(&self) -> Vec<&Self> {
        match self {
            Self::Column(_) | Self::Literal(_) => Vec::new(),
            Self::Not(one)
            | Self::Negate(one)
            | Self::IsNull(one)
            | Self::Like(one, _)
            | Self::Among(one, _)
            | Self::Part(_, one)
            | Self::Piece(one, ..)
            | Self::Cast(one, _)
            | Self::Root(one) => vec![one],
            Self::Binary(_, one, other) => vec![one, other],
            Self::Case(branches, otherwise) => {
                let branches = branches.iter().flat_map(|(when, then)| [when, then]);
                branches.chain(otherwise.as_deref()).collect()
            }
            Self::Coalesce(all) => all.iter().collect(),
        }
    }

    /// The expression with others in place of the columns that `find` knows.
    pub(crate) fn replaced(&self, find: &dyn Fn(&str) -> Option<Self>) -> Self {
        let boxed = |one: &Self| Box::new(one.replaced(find));
        match self {
            Self::Column(name) => find(name).unwrap_or_else(|| self.clone()),
            Self::Literal(_) => self.clone(),
            Self::Not(one) => Self::Not(boxed(one)),
            Self::Negate(one) => Self::Negate(boxed(one)),
            Self::IsNull(one) => Self::IsNull(boxed(one)),
            Self::Like(one, pattern) => Self::Like(boxed(one), pattern.clone()),
            Self::Among(one, values) => Self::Among(boxed(one), values.clone()),
            Self::Part(part, one) => Self::Part(*part, boxed(one)),
            Self::Piece(one, from, length) => Self::Piece(boxed(one), *from, *length),
            Self::Cast(one, kind) => Self::Cast(boxed(one), kind.clone()),
            Self::Root(one) => Self::Root(boxed(one)),
            Self::Binary(operator, one, other) => Self::Binary(*operator, boxed(one), boxed(other)),
            Self::Case(branches, otherwise) => Self::Case(
                branches
                    .iter()
                    .map(|(when, then)| (when.replaced(find), then.replaced(find)))
                    .collect(),
                otherwise.as_deref().map(boxed),
            ),
            Self::Coalesce(all) => {
                Self::Coalesce(all.iter().map(|one| one.replaced(find)).collect())
            }
        }
    }

    /// Number of levels of expressions within each other.
    pub(crate) fn depth(&self) -> usize {
        let (mut level, mut deepest) = (vec![self], 0);
        while !level.is_empty() {
            level = level.into_iter().flat_map(Self::parts).collect();
            deepest += 1;
        }
        deepest
    }

    /// Number of times that it reads a column.
    pub(crate) fn times_read(&self, name: &str) -> usize {
        match self {
            Self::Column(own) => usize::from(own == name),
            other => other
                .parts()
                .into_iter()
                .map(|part| part.times_read(name))
                .sum(),
        }
    }

    /// Names of the columns that it reads, each once, in the order of their first use.
    pub fn columns(&self) -> Vec<&str> {
        let mut names = Vec::new();
        self.read(&mut names);
        names
    }

    fn read<'a>(&'a self, names: &mut Vec<&'a str>) {
        if let Self::Column(name) = self
            && !names.contains(&name.as_str())
        {
            names.push(name);
        }
        self.parts().into_iter().for_each(|part| part.read(names));
    }

    /// The conditions that must all be true for this one to be.
    pub(crate) fn conditions(&self) -> Vec<&Self> {
        match self {
            Self::Binary(Operator::And, one, other) => {
                let mut all = one.conditions();
                all.extend(other.conditions());
                all
            }
            _ => vec![self],
        }
    }
}

impl ops::Not for Expression {
    type Output = Self;

    fn not(self) -> Self {
        Self::Not(Box::new(self))
    }
}

impl ops::Neg for Expression {
    type Output = Self;

    fn neg(self) -> Self {
        Self::Negate(Box::new(self))
    }
}

macro_rules! arithmetic {
    ($($trait:ident $method:ident $operator:ident;)*) => {$(
        impl<T: Into<Expression>> ops::$trait<T> for Expression {
            type Output = Self;

            fn $method(self, other: T) -> Self {
                self.binary(Operator::$operator, other)
            }
        }
    )*};
}
arithmetic! {
    Add add Plus;
    Sub sub Minus;
    Mul mul Times;
    Div div Over;
    Rem rem Rest;
}

impl Operator {
    /// The comparison of the same two the other way round, if this is a comparison.
    pub(crate) const fn flipped(self) -> Option<Self> {
        Some(match self {
            Self::Equal => Self::Equal,
            Self::Differ => Self::Differ,
            Self::Less => Self::Greater,
            Self::AtMost => Self::AtLeast,
            Self::Greater => Self::Less,
            Self::AtLeast => Self::AtMost,
            _ => return None,
        })
    }

    /// The sign between the two, as SQL writes it.
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Plus => "+",
            Self::Minus => "-",
            Self::Times => "*",
            Self::Over => "/",
            Self::WholeOver => "//",
            Self::Rest => "%",
            Self::Equal => "=",
            Self::Differ => "<>",
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::Greater => ">",
            Self::AtLeast => ">=",
            Self::And => "and",
            Self::Or => "or",
        }
    }
}
