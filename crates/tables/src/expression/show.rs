//! Expressions as text, much as SQL writes them.

use std::fmt;

use super::{Expression, Literal};
use crate::column::Value;
use crate::kind::{Decimal, Unit};

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.value, self.unit) {
            (Value::Null, _) => f.write_str("null"),
            (Value::Bool(value), _) => write!(f, "{value}"),
            (Value::Number(value), Unit::Day) => match i32::try_from(*value) {
                Ok(days) if (-719_162..=2_932_896).contains(&days) => {
                    let (year, month, day) = super::dates::calendar(days);
                    write!(f, "date '{year:04}-{month:02}-{day:02}'")
                }
                _ => write!(f, "day {value}"),
            },
            (Value::Number(value), Unit::Microsecond) => write!(f, "{value} us"),
            (Value::Number(value), unit) => Decimal(*value, unit.digits().unwrap_or(0)).fmt(f),
            (Value::Text(text), _) => write!(f, "'{}'", text.replace('\'', "''")),
        }
    }
}

impl Literal {
    /// The value as the name of a column: a text or a date without quotes.
    pub(crate) fn title(&self) -> String {
        match (&self.value, self.unit) {
            (Value::Text(text), _) => text.clone(),
            (Value::Number(_), Unit::Day) => {
                let shown = self.to_string();
                let date = shown
                    .strip_prefix("date '")
                    .map(|text| text.trim_end_matches('\''));
                date.unwrap_or(&shown).to_owned()
            }
            _ => self.to_string(),
        }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Column(name) => f.write_str(name),
            Self::Literal(literal) => literal.fmt(f),
            Self::Not(one) => write!(f, "not {}", Inner(one)),
            Self::Negate(one) => write!(f, "-{}", Inner(one)),
            Self::IsNull(one) => write!(f, "{} is null", Inner(one)),
            Self::Binary(operator, one, other) => {
                write!(f, "{} {} {}", Inner(one), operator.sign(), Inner(other))
            }
            Self::Case(branches, otherwise) => {
                f.write_str("case")?;
                for (when, then) in branches {
                    write!(f, " when {when} then {then}")?;
                }
                if let Some(otherwise) = otherwise {
                    write!(f, " else {otherwise}")?;
                }
                f.write_str(" end")
            }
            Self::Like(one, pattern) => write!(f, "{} like '{pattern}'", Inner(one)),
            Self::Among(one, values) => {
                let values: Vec<String> = values.iter().map(Literal::to_string).collect();
                write!(f, "{} in ({})", Inner(one), values.join(", "))
            }
            Self::Part(part, one) => {
                write!(f, "{}({one})", format!("{part:?}").to_lowercase())
            }
            Self::Piece(one, from, length) => {
                write!(f, "substring({one}, {}, {length})", from + 1)
            }
            Self::Coalesce(all) => {
                let all: Vec<String> = all.iter().map(Self::to_string).collect();
                write!(f, "coalesce({})", all.join(", "))
            }
            Self::Root(one) => write!(f, "sqrt({one})"),
            Self::Cast(one, kind) => write!(f, "cast({one} as {kind})"),
        }
    }
}

/// An expression within another one, in brackets where it is made of several.
struct Inner<'a>(&'a Expression);

impl fmt::Display for Inner<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Expression::Binary(..)
            | Expression::Not(_)
            | Expression::Negate(_)
            | Expression::IsNull(_)
            | Expression::Like(..)
            | Expression::Among(..) => write!(f, "({})", self.0),
            one => one.fmt(f),
        }
    }
}
