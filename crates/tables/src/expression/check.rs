//! Kinds of expressions, with the ranges that follow.

use super::{Expression, Literal, Operator};
use crate::column::{Column, Value};
use crate::error::Fault;
use crate::kind::{DIGITS, Kind, Number, Unit};

/// Kind of an expression: none if it is missing in all rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Typed {
    pub(crate) kind: Option<Kind>,
    pub(crate) nullable: bool,
}

impl Typed {
    fn of(kind: Kind, nullable: bool) -> Self {
        Self {
            kind: Some(kind),
            nullable,
        }
    }
}

type Result<T> = std::result::Result<T, Fault>;

/// The kind of an expression on these columns.
pub(crate) fn typed(expression: &Expression, columns: &[Column]) -> Result<Typed> {
    let of = |one: &Expression| typed(one, columns);
    let wrong = |found: &Typed, wanted: &'static str| Fault::Kind {
        what: expression.to_string(),
        wanted,
        found: found.kind.as_ref().map_or("null".into(), Kind::to_string),
    };
    let bool = |one: &Expression| -> Result<Typed> {
        let found = of(one)?;
        match &found.kind {
            None | Some(Kind::Bool) => Ok(Typed {
                kind: Some(Kind::Bool),
                ..found
            }),
            _ => Err(wrong(&found, "a truth value")),
        }
    };
    let text = |one: &Expression| -> Result<Typed> {
        let found = of(one)?;
        match &found.kind {
            None | Some(Kind::Text { .. } | Kind::Choice(_)) => Ok(found),
            _ => Err(wrong(&found, "a text")),
        }
    };
    Ok(match expression {
        Expression::Column(name) => {
            let column = find(columns, name)?;
            Typed::of(column.kind.clone(), column.nullable)
        }
        Expression::Literal(Literal {
            value: Value::Text(text),
            ..
        }) if text.contains('\0') => {
            return Err(Fault::Other(
                "a text has a zero byte, which texts of tables never have".into(),
            ));
        }
        Expression::Literal(literal) => Typed {
            kind: literal.kind(),
            nullable: literal.value == Value::Null,
        },
        Expression::Not(one) => bool(one)?,
        Expression::Negate(one) => {
            let found = of(one)?;
            let kind = match &found.kind {
                None => None,
                Some(Kind::Number(number)) => Some(Kind::Number(negated(number)?)),
                Some(Kind::Ratio(above, below)) => Some(Kind::Ratio(negated(above)?, *below)),
                Some(_) => return Err(wrong(&found, "a number")),
            };
            Typed { kind, ..found }
        }
        Expression::IsNull(one) => {
            of(one)?;
            Typed::of(Kind::Bool, false)
        }
        Expression::Binary(Operator::And | Operator::Or, one, other) => {
            let nullable = bool(one)?.nullable | bool(other)?.nullable;
            Typed::of(Kind::Bool, nullable)
        }
        Expression::Binary(operator, one, other) => {
            let (one, other) = (of(one)?, of(other)?);
            let nullable = one.nullable | other.nullable;
            let (Some(a), Some(b)) = (&one.kind, &other.kind) else {
                let kind = operator.flipped().map(|_| Kind::Bool);
                return Ok(Typed {
                    kind,
                    nullable: true,
                });
            };
            if operator.flipped().is_some() {
                comparable(a, b).map_err(|fault| fault.within(expression))?;
                return Ok(Typed::of(Kind::Bool, nullable));
            }
            let kind = arithmetic(*operator, a, b).map_err(|fault| fault.within(expression))?;
            let divides = matches!(
                operator,
                Operator::Over | Operator::WholeOver | Operator::Rest
            );
            Typed::of(kind, nullable || divides && may_be_zero(b))
        }
        Expression::Case(branches, otherwise) => {
            let mut kind: Option<Kind> = None;
            let mut nullable = otherwise.is_none();
            for (when, _) in branches {
                bool(when)?;
            }
            let values = branches.iter().map(|(_, then)| then);
            for value in values.chain(otherwise.as_deref()) {
                let found = of(value)?;
                nullable |= found.nullable;
                kind = both(kind, found.kind).map_err(|fault| fault.within(expression))?;
            }
            Typed { kind, nullable }
        }
        Expression::Coalesce(all) => {
            let mut kind: Option<Kind> = None;
            let mut nullable = true;
            for one in all {
                let found = of(one)?;
                nullable &= found.nullable;
                kind = both(kind, found.kind).map_err(|fault| fault.within(expression))?;
            }
            Typed { kind, nullable }
        }
        Expression::Like(one, pattern) => {
            let found = text(one)?;
            let single = super::pattern::parts(pattern).contains(&super::pattern::Part::Any);
            if let (Some(Kind::Text { ascii: false, .. }), true) = (&found.kind, single) {
                return Err(Fault::NotAscii {
                    what: expression.to_string(),
                });
            }
            Typed::of(Kind::Bool, found.nullable)
        }
        Expression::Among(one, values) => {
            let found = of(one)?;
            let mut nullable = found.nullable;
            for literal in values {
                match (&found.kind, literal.kind()) {
                    (Some(kind), Some(other)) => {
                        comparable(kind, &other).map_err(|fault| fault.within(expression))?;
                    }
                    _ => nullable = true,
                }
            }
            Typed::of(Kind::Bool, nullable)
        }
        Expression::Part(_, one) => {
            let found = of(one)?;
            let nullable = found.nullable;
            match found.kind {
                None => found,
                Some(Kind::Number(number)) if number.unit == Unit::Day => {
                    let range = part_range(expression, &number);
                    Typed::of(Kind::Number(range), nullable)
                }
                Some(_) => return Err(wrong(&found, "a date")),
            }
        }
        Expression::Piece(one, from, length) => {
            let found = text(one)?;
            let nullable = found.nullable;
            match found.kind {
                None => found,
                Some(Kind::Choice(texts)) => {
                    let pieces = texts.iter().map(|text| piece(text, *from, *length));
                    Typed::of(Kind::choice(pieces), nullable)
                }
                Some(Kind::Text { bytes, ascii: true }) => {
                    let bytes = bytes.saturating_sub(*from).min(*length);
                    Typed::of(Kind::Text { bytes, ascii: true }, nullable)
                }
                Some(_) => {
                    return Err(Fault::NotAscii {
                        what: expression.to_string(),
                    });
                }
            }
        }
        Expression::Root(one) => {
            let found = of(one)?;
            let (Some(kind), nullable) = (&found.kind, found.nullable) else {
                return Ok(found);
            };
            let Some((above, _)) = fraction(kind).filter(|one| one.0.unit.digits().is_some())
            else {
                return Err(wrong(&found, "a number"));
            };
            let root = super::root(kind).map_err(|fault| fault.within(expression))?;
            Typed::of(Kind::Number(root), nullable || above.least < 0)
        }
        Expression::Cast(one, kind) => {
            let found = of(one)?;
            let (from, to) = (&found.kind, kind);
            let goes = match (from, to) {
                (None, _) => true,
                (Some(Kind::Bool), Kind::Number(number)) => number.unit.digits().is_some(),
                (Some(Kind::Number(from)), Kind::Number(to)) => {
                    from.unit == to.unit
                        || from.unit.digits().is_some() && to.unit.digits().is_some()
                }
                (Some(Kind::Ratio(..)), Kind::Number(to)) => to.unit.digits().is_some(),
                (Some(Kind::Choice(_) | Kind::Text { .. }), Kind::Text { .. }) => true,
                (Some(from), to) => from == to,
            };
            if !goes {
                return Err(wrong(&found, "a value that can be cast so"));
            }
            let nullable = found.nullable || may_not_fit(from.as_ref(), to)?;
            Typed::of(cast_kind(from.as_ref(), to), nullable)
        }
    })
}

/// Whether a cast may meet values that its kind does not hold.
fn may_not_fit(from: Option<&Kind>, to: &Kind) -> Result<bool> {
    Ok(match (from, to) {
        (Some(Kind::Number(from)), Kind::Number(to)) => {
            let within =
                |end: i128| rounded(end, from.unit, to.unit).is_some_and(|end| to.contains(end));
            !(within(from.least) && within(from.greatest))
        }
        (Some(Kind::Ratio(above, below)), to) => {
            return may_not_fit(Some(&Kind::Number(divided(above, below)?)), to);
        }
        (Some(from @ (Kind::Text { .. } | Kind::Choice(_))), Kind::Text { bytes, .. }) => {
            text_size(from).0 > *bytes
        }
        _ => false,
    })
}

/// The kind that a cast gives: numbers keep a range that is narrower than the one that is asked for.
fn cast_kind(from: Option<&Kind>, to: &Kind) -> Kind {
    match (from, to) {
        (Some(Kind::Choice(texts)), Kind::Text { bytes, .. }) => Kind::Text {
            bytes: *bytes,
            ascii: texts.iter().all(|text| text.is_ascii()),
        },
        (Some(Kind::Text { ascii, .. }), Kind::Text { bytes, .. }) => Kind::Text {
            bytes: *bytes,
            ascii: *ascii,
        },
        (Some(Kind::Number(from)), Kind::Number(to)) => {
            let moved = |end: i128| rounded(end, from.unit, to.unit);
            match (moved(from.least), moved(from.greatest)) {
                (Some(least), Some(greatest)) => {
                    let least = least.clamp(to.least, to.greatest);
                    let greatest = greatest.clamp(to.least, to.greatest);
                    Kind::Number(Number::new(to.unit, least, greatest))
                }
                _ => Kind::Number(*to),
            }
        }
        _ => to.clone(),
    }
}

/// A number in another unit, cut off towards zero; `None` beyond 128 bits.
pub(crate) fn rescaled(value: i128, from: Unit, to: Unit) -> Option<i128> {
    let (Some(from), Some(to)) = (from.digits(), to.digits()) else {
        return Some(value);
    };
    match from <= to {
        true => value.checked_mul(ten(to - from)?),
        false => Some(value / ten(from - to)?),
    }
}

/// A number in another unit, rounded where that has fewer digits, halves away from zero; `None` beyond 128 bits.
pub(crate) fn rounded(value: i128, from: Unit, to: Unit) -> Option<i128> {
    let (Some(a), Some(b)) = (from.digits(), to.digits()) else {
        return Some(value);
    };
    match a <= b {
        true => rescaled(value, from, to),
        false => {
            let half = ten(a - b)? / 2;
            rescaled(
                value.checked_add(if value < 0 { -half } else { half })?,
                from,
                to,
            )
        }
    }
}

/// A power of ten.
pub(crate) fn ten(digits: u8) -> Option<i128> {
    10_i128.checked_pow(digits.into())
}

/// The column of a name.
pub(crate) fn find<'a>(columns: &'a [Column], name: &str) -> Result<&'a Column> {
    let found = columns.iter().find(|column| column.name == name);
    found.ok_or_else(|| Fault::NoColumn {
        name: name.into(),
        known: columns.iter().map(|column| column.name.clone()).collect(),
    })
}

/// Characters of a text.
pub(crate) fn piece(text: &str, from: usize, length: usize) -> String {
    text.chars().skip(from).take(length).collect()
}

fn beyond() -> Fault {
    Fault::Range {
        what: String::new(),
    }
}

fn negated(number: &Number) -> Result<Number> {
    let negate = |end: i128| end.checked_neg().ok_or_else(beyond);
    Ok(Number::new(
        number.unit,
        negate(number.least)?,
        negate(number.greatest)?,
    ))
}

/// Whether a divisor may be 0.
pub(crate) fn may_be_zero(kind: &Kind) -> bool {
    match kind {
        Kind::Number(number) | Kind::Ratio(number, _) => number.contains(0),
        _ => false,
    }
}

/// Both ends of what an operation makes of two ranges, which it takes its ends from.
fn corners(
    one: &Number,
    other: &Number,
    unit: Unit,
    of: impl Fn(i128, i128) -> Option<i128>,
) -> Result<Number> {
    let pairs = [one.least, one.greatest]
        .into_iter()
        .flat_map(|a| [other.least, other.greatest].map(|b| (a, b)));
    let ends: Option<Vec<i128>> = pairs.map(|(a, b)| of(a, b)).collect();
    let ends = ends.ok_or_else(beyond)?;
    let least = ends.iter().copied().min().unwrap_or(0);
    let greatest = ends.iter().copied().max().unwrap_or(0);
    Ok(Number::new(unit, least, greatest))
}

/// A range in another unit of as many digits or more.
pub(crate) fn in_unit(number: &Number, unit: Unit) -> Result<Number> {
    let end = |end: i128| rescaled(end, number.unit, unit).ok_or_else(beyond);
    Ok(Number::new(unit, end(number.least)?, end(number.greatest)?))
}

pub(crate) fn sum(one: &Number, other: &Number, minus: bool) -> Result<Number> {
    let unit = match (one.unit, other.unit, minus) {
        (Unit::Day, Unit::Day, true) | (Unit::Microsecond, Unit::Microsecond, true) => Unit::One,
        (Unit::Day, Unit::One, _) | (Unit::One, Unit::Day, false) => Unit::Day,
        (a, b, _) => match (a.digits(), b.digits()) {
            (Some(a), Some(b)) => Unit::with_digits(a.max(b)),
            _ => return Err(Fault::mixed(one, other)),
        },
    };
    let (one, other) = (in_unit(one, unit)?, in_unit(other, unit)?);
    corners(&one, &other, unit, |a, b| match minus {
        true => a.checked_sub(b),
        false => a.checked_add(b),
    })
}

pub(crate) fn product(one: &Number, other: &Number) -> Result<Number> {
    let (Some(a), Some(b)) = (one.unit.digits(), other.unit.digits()) else {
        return Err(Fault::mixed(one, other));
    };
    let digits = a
        .checked_add(b)
        .filter(|digits| *digits <= 38)
        .ok_or_else(beyond)?;
    corners(one, other, Unit::with_digits(digits), i128::checked_mul)
}

/// Numerator and denominator of a number or a ratio.
pub(crate) fn fraction(kind: &Kind) -> Option<(Number, Number)> {
    match kind {
        Kind::Number(number) => Some((*number, Number::new(Unit::One, 1, 1))),
        Kind::Ratio(above, below) => Some((*above, *below)),
        _ => None,
    }
}

fn arithmetic(operator: Operator, one: &Kind, other: &Kind) -> Result<Kind> {
    let mixed = || Fault::mixed(one, other);
    if let (Kind::Number(a), Kind::Number(b)) = (one, other) {
        return Ok(match operator {
            Operator::Plus => Kind::Number(sum(a, b, false)?),
            Operator::Minus => Kind::Number(sum(a, b, true)?),
            Operator::Times => Kind::Number(product(a, b)?),
            Operator::Over => quotient(one, other)?,
            Operator::WholeOver | Operator::Rest => {
                if (a.unit, b.unit) != (Unit::One, Unit::One) {
                    return Err(mixed());
                }
                // No quotient is further from 0 than the dividend; no rest is as far as the divisor.
                let most = match operator {
                    Operator::WholeOver => a.least.unsigned_abs().max(a.greatest.unsigned_abs()),
                    _ => {
                        let divisor = b.least.unsigned_abs().max(b.greatest.unsigned_abs());
                        let dividend = a.least.unsigned_abs().max(a.greatest.unsigned_abs());
                        dividend.min(divisor.saturating_sub(1))
                    }
                };
                let most = i128::try_from(most).map_err(|_| beyond())?;
                let positive = a.least >= 0 && (operator == Operator::Rest || b.least >= 0);
                Kind::integer(if positive { 0 } else { -most }, most)
            }
            _ => return Err(mixed()),
        });
    }
    let (Some((a, b)), Some((c, d))) = (fraction(one), fraction(other)) else {
        return Err(mixed());
    };
    Ok(match operator {
        Operator::Plus | Operator::Minus => {
            let (ad, cb) = (product(&a, &d)?, product(&c, &b)?);
            Kind::Ratio(
                sum(&ad, &cb, operator == Operator::Minus)?,
                product(&b, &d)?,
            )
        }
        Operator::Times => Kind::Ratio(product(&a, &c)?, product(&b, &d)?),
        Operator::Over => quotient(one, other)?,
        _ => return Err(mixed()),
    })
}

/// The quotient of two numbers or ratios: numerators get the sign, and no denominator is 0.
fn quotient(one: &Kind, other: &Kind) -> Result<Kind> {
    let (Some((a, b)), Some((c, d))) = (fraction(one), fraction(other)) else {
        return Err(Fault::mixed(one, other));
    };
    let (above, below) = (product(&a, &d)?, product(&b, &c)?);
    let (above, below) = match below.least < 0 {
        true => (above.with(&negated(&above)?), below.with(&negated(&below)?)),
        false => (above, below),
    };
    // Where the divisor is 0 the quotient is missing, and the denominator 1.
    let least = below.least.max(1);
    let below = Number::new(below.unit, least, below.greatest.max(least));
    Ok(Kind::Ratio(above, below))
}

/// Checks that two kinds can be compared.
pub(crate) fn comparable(one: &Kind, other: &Kind) -> Result<()> {
    let texts = |kind: &Kind| matches!(kind, Kind::Text { .. } | Kind::Choice(_));
    match (one, other) {
        (Kind::Bool, Kind::Bool) => Ok(()),
        _ if texts(one) && texts(other) => Ok(()),
        _ => {
            let (Some((a, b)), Some((c, d))) = (fraction(one), fraction(other)) else {
                return Err(Fault::mixed(one, other));
            };
            // Both sides of the products are to have room.
            let (ad, cb) = (product_of(&a, &d)?, product_of(&c, &b)?);
            aligned(&ad, &cb).map(|_| ())
        }
    }
}

/// A product in which 1 leaves dates what they are.
pub(crate) fn product_of(one: &Number, other: &Number) -> Result<Number> {
    match *other {
        Number {
            unit: Unit::One,
            least: 1,
            greatest: 1,
        } => Ok(*one),
        _ => product(one, other),
    }
}

/// Two ranges in the same unit.
pub(crate) fn aligned(one: &Number, other: &Number) -> Result<[Number; 2]> {
    if one.unit == other.unit {
        return Ok([*one, *other]);
    }
    let (Some(a), Some(b)) = (one.unit.digits(), other.unit.digits()) else {
        return Err(Fault::mixed(one, other));
    };
    let unit = Unit::with_digits(a.max(b));
    Ok([in_unit(one, unit)?, in_unit(other, unit)?])
}

/// The kind that holds the values of both.
pub(crate) fn both(one: Option<Kind>, other: Option<Kind>) -> Result<Option<Kind>> {
    let (Some(one), Some(other)) = (&one, &other) else {
        return Ok(one.or(other));
    };
    if one == other {
        return Ok(Some(one.clone()));
    }
    Ok(Some(match (one, other) {
        (Kind::Number(a), Kind::Number(b)) => {
            let [a, b] = aligned(a, b)?;
            Kind::Number(a.with(&b))
        }
        (Kind::Choice(a), Kind::Choice(b)) => Kind::choice(a.iter().chain(b.iter()).cloned()),
        (Kind::Text { .. } | Kind::Choice(_), Kind::Text { .. } | Kind::Choice(_)) => {
            let [(a, first), (b, second)] = [one, other].map(text_size);
            Kind::Text {
                bytes: a.max(b),
                ascii: first && second,
            }
        }
        _ => {
            let (Some((a, b)), Some((c, d))) = (fraction(one), fraction(other)) else {
                return Err(Fault::mixed(one, other));
            };
            let ([a, c], [b, d]) = (aligned(&a, &c)?, aligned(&b, &d)?);
            Kind::Ratio(a.with(&c), b.with(&d))
        }
    }))
}

/// Length in bytes, and whether all characters take one.
pub(crate) fn text_size(kind: &Kind) -> (usize, bool) {
    match kind {
        Kind::Text { bytes, ascii } => (*bytes, *ascii),
        Kind::Choice(texts) => (
            texts.iter().map(String::len).max().unwrap_or(0),
            texts.iter().all(|text| text.is_ascii()),
        ),
        _ => (0, true),
    }
}

/// The number that a ratio is once it is divided.
pub(crate) fn divided(above: &Number, below: &Number) -> Result<Number> {
    let (unit, up) = divided_unit(above, below);
    let end = |end: i128| -> Result<i128> {
        let scaled = end.checked_mul(ten(up).ok_or_else(beyond)?);
        scaled.ok_or_else(beyond)
    };
    let (least, greatest) = (end(above.least)?, end(above.greatest)?);
    let quotient = |end: i128| [end / below.least, end / below.greatest];
    let ends = [quotient(least), quotient(greatest)].concat();
    Ok(Number::new(
        unit,
        ends.iter().copied().min().unwrap_or(0),
        ends.iter().copied().max().unwrap_or(0),
    ))
}

/// The unit of a quotient once it is divided, and by how many digits the numerator is moved up before.
pub(crate) fn divided_unit(above: &Number, below: &Number) -> (Unit, u8) {
    let (above, below) = (
        above.unit.digits().unwrap_or(0),
        below.unit.digits().unwrap_or(0),
    );
    // value = above / 10^a / (below / 10^b): with `up` digits more above, a + up - b are after the point.
    let digits = DIGITS.max(above.saturating_sub(below));
    (Unit::with_digits(digits), (digits + below) - above)
}

fn part_range(expression: &Expression, number: &Number) -> Number {
    let year = |days: i128| {
        let days = days.clamp(-719_162, 2_932_896) as i32;
        i128::from(super::dates::calendar(days).0)
    };
    let (least, greatest) = match expression {
        Expression::Part(super::DatePart::Year, _) => (year(number.least), year(number.greatest)),
        Expression::Part(super::DatePart::Month, _) => (1, 12),
        _ => (1, 31),
    };
    Number::new(Unit::One, least, greatest)
}

impl Literal {
    /// The value in the units of a kind; `None` if the kind has no such value.
    pub(crate) fn in_kind(&self, kind: &Kind) -> Option<u128> {
        match (&self.value, kind) {
            (Value::Bool(value), Kind::Bool) => Some((*value).into()),
            (Value::Number(value), Kind::Number(number)) => {
                Some(rescaled(*value, self.unit, number.unit)? as u128)
            }
            (Value::Text(text), Kind::Choice(texts)) => {
                texts.binary_search(text).ok().map(|place| place as u128)
            }
            _ => None,
        }
    }
}
