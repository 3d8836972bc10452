//! Expressions of SQL as expressions on columns.

use arrow::datatypes::{DataType, TimeUnit};
use datafusion_common::{Column, ScalarValue};
use datafusion_expr::expr::{Case, InList, Like, ScalarFunction};
use datafusion_expr::{BinaryExpr, Expr, Operator as Sign};
use madrigal_tables::{
    DatePart, Expression, Kind, Literal, Number, Operator, Unit, Value, col, lit,
};

use super::{Result, unsupported};

/// The name of a column within steps.
pub(super) fn name_of(column: &Column) -> String {
    column.flat_name()
}

/// An expression on columns that are named as the plan's are.
pub(super) fn expression(expr: &Expr) -> Result<Expression> {
    let boxed = |one: &Expr| Ok::<_, super::SqlError>(Box::new(expression(one)?));
    Ok(match expr {
        Expr::Alias(alias) => expression(&alias.expr)?,
        Expr::Column(column) => col(name_of(column)),
        Expr::Literal(value, _) => literal(value)?.into_expression(),
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => binary(left, *op, right)?,
        Expr::Not(one) => Expression::Not(boxed(one)?),
        Expr::IsNull(one) | Expr::IsUnknown(one) => expression(one)?.is_null(),
        Expr::IsNotNull(one) | Expr::IsNotUnknown(one) => !expression(one)?.is_null(),
        Expr::IsTrue(one) => Expression::Coalesce(vec![expression(one)?, lit(false)]),
        Expr::IsNotTrue(one) => !Expression::Coalesce(vec![expression(one)?, lit(false)]),
        Expr::IsFalse(one) => Expression::Coalesce(vec![!expression(one)?, lit(false)]),
        Expr::IsNotFalse(one) => !Expression::Coalesce(vec![!expression(one)?, lit(false)]),
        Expr::Negative(one) => Expression::Negate(boxed(one)?),
        Expr::Between(between) => {
            let value = expression(&between.expr)?;
            let within = value.between(expression(&between.low)?, expression(&between.high)?);
            if between.negated { !within } else { within }
        }
        Expr::Case(case) => self::case(case)?,
        Expr::Like(like) => self::like(like)?,
        Expr::InList(list) => among(list)?,
        Expr::Cast(cast) => casted(&cast.expr, cast.field.data_type())?,
        Expr::ScalarFunction(function) => self::function(function)?,
        other => return unsupported(format!("{other}")),
    })
}

fn operator(sign: Sign) -> Option<Operator> {
    Some(match sign {
        Sign::Plus => Operator::Plus,
        Sign::Minus => Operator::Minus,
        Sign::Multiply => Operator::Times,
        Sign::Modulo => Operator::Rest,
        Sign::Eq => Operator::Equal,
        Sign::NotEq => Operator::Differ,
        Sign::Lt => Operator::Less,
        Sign::LtEq => Operator::AtMost,
        Sign::Gt => Operator::Greater,
        Sign::GtEq => Operator::AtLeast,
        Sign::And => Operator::And,
        Sign::Or => Operator::Or,
        _ => return None,
    })
}

fn binary(left: &Expr, sign: Sign, right: &Expr) -> Result<Expression> {
    let (one, other) = (expression(left)?, expression(right)?);
    let pattern = |other: &Expr| match other {
        Expr::Literal(value, _) => match literal(value)?.value {
            Value::Text(text) => Ok(text),
            _ => unsupported("a pattern that is no text"),
        },
        other => unsupported(format!("a pattern that is not public, {other},")),
    };
    Ok(match sign {
        Sign::Divide => one / other,
        Sign::IntegerDivide => one.whole_over(other),
        // Equal, where two missing values are equal, too.
        Sign::IsNotDistinctFrom | Sign::IsDistinctFrom => {
            let equal = Expression::Coalesce(vec![
                one.clone().equals(other.clone()),
                one.is_null().and(other.is_null()),
            ]);
            if sign == Sign::IsDistinctFrom {
                !equal
            } else {
                equal
            }
        }
        Sign::LikeMatch => one.like(pattern(right)?),
        Sign::NotLikeMatch => !one.like(pattern(right)?),
        sign => match operator(sign) {
            Some(operator) => one.binary(operator, other),
            None => return unsupported(format!("the operator {sign}")),
        },
    })
}

fn case(case: &Case) -> Result<Expression> {
    let mut branches = Vec::new();
    for (when, then) in &case.when_then_expr {
        let when = expression(when)?;
        let when = match &case.expr {
            Some(value) => expression(value)?.equals(when),
            None => when,
        };
        branches.push((when, expression(then)?));
    }
    let otherwise = match &case.else_expr {
        Some(otherwise) => Some(Box::new(expression(otherwise)?)),
        None => None,
    };
    Ok(Expression::Case(branches, otherwise))
}

fn like(like: &Like) -> Result<Expression> {
    if like.case_insensitive {
        return unsupported("ilike");
    }
    if !matches!(like.escape_char, None | Some('\\')) {
        return unsupported("like with an escape character other than \\");
    }
    let one = expression(&like.expr)?;
    let Expr::Literal(value, _) = &*like.pattern else {
        return unsupported("a pattern that is not public");
    };
    let Value::Text(pattern) = literal(value)?.value else {
        return unsupported("a pattern that is no text");
    };
    let found = one.like(pattern);
    Ok(if like.negated { !found } else { found })
}

fn among(list: &InList) -> Result<Expression> {
    let one = expression(&list.expr)?;
    let mut literals = Vec::new();
    let mut others: Option<Expression> = None;
    for value in &list.list {
        match expression(value)? {
            Expression::Literal(literal) => literals.push(literal),
            other => {
                let equal = one.clone().equals(other);
                others = Some(match others {
                    Some(others) => others.or(equal),
                    None => equal,
                });
            }
        }
    }
    let found = Expression::Among(Box::new(one), literals);
    let found = match others {
        Some(others) => found.or(others),
        None => found,
    };
    Ok(if list.negated { !found } else { found })
}

/// A value in another type; what is only another way of writing the same numbers changes nothing.
fn casted(one: &Expr, to: &DataType) -> Result<Expression> {
    let value = expression(one)?;
    let whole = |bits: u32, signed: bool| {
        let greatest = (1_i128 << (bits - u32::from(signed))) - 1;
        Kind::integer(if signed { -greatest - 1 } else { 0 }, greatest)
    };
    let kind = match to {
        DataType::Float16 | DataType::Float32 | DataType::Float64 => return Ok(value),
        DataType::Boolean => Kind::Bool,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => return Ok(value),
        DataType::Dictionary(_, to) => return casted(one, to),
        DataType::Int8 => whole(8, true),
        DataType::Int16 => whole(16, true),
        DataType::Int32 => whole(32, true),
        DataType::Int64 => whole(64, true),
        DataType::UInt8 => whole(8, false),
        DataType::UInt16 => whole(16, false),
        DataType::UInt32 => whole(32, false),
        DataType::UInt64 => whole(64, false),
        // Ranges are known more exactly than by digits, so a number of digits is no limit.
        DataType::Decimal128(_, scale)
        | DataType::Decimal64(_, scale)
        | DataType::Decimal32(_, scale) => match u8::try_from(*scale) {
            Ok(scale) if scale <= 38 => Kind::decimal(38, scale),
            _ => return unsupported(format!("the type {to}")),
        },
        DataType::Date32 => Kind::date(),
        DataType::Timestamp(TimeUnit::Microsecond, _) => Kind::time(),
        other => return unsupported(format!("the type {other}")),
    };
    Ok(match value {
        // Public numbers are in another unit at once.
        Expression::Literal(literal) => match (&literal.value, &kind) {
            (Value::Number(number), Kind::Number(to)) => match moved(*number, literal.unit, to) {
                Some(number) => Expression::Literal(Literal::number(number, to.unit)),
                None => Expression::Cast(Box::new(Expression::Literal(literal)), kind),
            },
            _ => Expression::Cast(Box::new(Expression::Literal(literal)), kind),
        },
        value => Expression::Cast(Box::new(value), kind),
    })
}

/// A number in a unit of as many digits or more.
fn moved(number: i128, from: Unit, to: &Number) -> Option<i128> {
    let more = to.unit.digits()?.checked_sub(from.digits()?)?;
    let number = number.checked_mul(10_i128.checked_pow(more.into())?)?;
    to.contains(number).then_some(number)
}

fn function(function: &ScalarFunction) -> Result<Expression> {
    let arguments: Vec<Expression> = function
        .args
        .iter()
        .map(expression)
        .collect::<Result<_>>()?;
    let number = |at: usize| match arguments.get(at) {
        Some(Expression::Literal(Literal {
            value: Value::Number(number),
            ..
        })) => Some(*number),
        _ => None,
    };
    let text = |at: usize| match arguments.get(at) {
        Some(Expression::Literal(Literal {
            value: Value::Text(text),
            ..
        })) => Some(text.clone()),
        _ => None,
    };
    let escaped = |text: String| {
        let special = |character: char| matches!(character, '%' | '_' | '\\');
        let parts = text.chars().flat_map(|character| {
            special(character)
                .then_some('\\')
                .into_iter()
                .chain([character])
        });
        parts.collect::<String>()
    };
    Ok(match (function.name(), &arguments[..]) {
        ("date_part", [_, value]) => {
            let part = match text(0).unwrap_or_default().to_ascii_lowercase().as_str() {
                "year" => DatePart::Year,
                "month" => DatePart::Month,
                "day" => DatePart::Day,
                other => return unsupported(format!("the part {other} of a date")),
            };
            Expression::Part(part, Box::new(value.clone()))
        }
        ("substr" | "substring", [value, ..]) => {
            let from = number(1).and_then(|from| usize::try_from(from).ok());
            let length = match arguments.len() {
                2 => Some(usize::MAX),
                _ => number(2).and_then(|length| usize::try_from(length).ok()),
            };
            match (from, length) {
                (Some(from @ 1..), Some(length)) => value.clone().piece(from - 1, length),
                _ => return unsupported("substring from a place that is not public and positive"),
            }
        }
        ("left", [value, _]) => match number(1).and_then(|length| usize::try_from(length).ok()) {
            Some(length) => value.clone().piece(0, length),
            None => return unsupported("left of a length that is not public"),
        },
        ("starts_with", [value, _]) if text(1).is_some() => value
            .clone()
            .like(escaped(text(1).unwrap_or_default()) + "%"),
        ("ends_with", [value, _]) if text(1).is_some() => value
            .clone()
            .like("%".to_owned() + &escaped(text(1).unwrap_or_default())),
        ("contains", [value, _]) if text(1).is_some() => value
            .clone()
            .like(format!("%{}%", escaped(text(1).unwrap_or_default()))),
        ("coalesce", _) => Expression::Coalesce(arguments),
        ("sqrt", [value]) => value.clone().root(),
        ("round", [value, ..]) => {
            let digits = match arguments.len() {
                1 => Some(0),
                _ => number(1).and_then(|digits| u8::try_from(digits).ok()),
            };
            match digits {
                Some(digits) if digits <= 38 => {
                    Expression::Cast(Box::new(value.clone()), Kind::decimal(38, digits))
                }
                _ => return unsupported("round to a number of digits that is not public"),
            }
        }
        ("date_trunc", [_, value]) => {
            match text(0).unwrap_or_default().to_ascii_lowercase().as_str() {
                "day" => value.clone(),
                "month" => {
                    let day = Expression::Part(DatePart::Day, Box::new(value.clone()));
                    value.clone() - (day - 1)
                }
                other => return unsupported(format!("date_trunc to a {other}")),
            }
        }
        ("abs", [value]) => value.clone().less(0).then(-value.clone(), value.clone()),
        ("nullif", [one, other]) => {
            let null = Expression::Literal(Literal::NULL);
            let equal = Expression::Coalesce(vec![one.clone().equals(other.clone()), lit(false)]);
            Expression::Case(vec![(equal, null)], Some(Box::new(one.clone())))
        }
        (name, _) => return unsupported(format!("the function {name}")),
    })
}

/// A public value on its way.
pub(super) struct Public {
    value: Value,
    unit: Unit,
}

impl Public {
    fn into_expression(self) -> Expression {
        Expression::Literal(Literal {
            value: self.value,
            unit: self.unit,
        })
    }
}

pub(super) fn literal(value: &ScalarValue) -> Result<Public> {
    let number = |number: Option<i128>, unit: Unit| Public {
        value: number.map_or(Value::Null, Value::Number),
        unit,
    };
    let text = |text: &Option<String>| Public {
        value: text.clone().map_or(Value::Null, Value::Text),
        unit: Unit::One,
    };
    if value.is_null() {
        return Ok(number(None, Unit::One));
    }
    Ok(match value {
        ScalarValue::Boolean(Some(value)) => Public {
            value: Value::Bool(*value),
            unit: Unit::One,
        },
        ScalarValue::Int8(value) => number(value.map(i128::from), Unit::One),
        ScalarValue::Int16(value) => number(value.map(i128::from), Unit::One),
        ScalarValue::Int32(value) => number(value.map(i128::from), Unit::One),
        ScalarValue::Int64(value) => number(value.map(i128::from), Unit::One),
        ScalarValue::UInt8(value) => number(value.map(i128::from), Unit::One),
        ScalarValue::UInt16(value) => number(value.map(i128::from), Unit::One),
        ScalarValue::UInt32(value) => number(value.map(i128::from), Unit::One),
        ScalarValue::UInt64(value) => number(value.map(i128::from), Unit::One),
        ScalarValue::Decimal128(Some(value), _, scale) => match u8::try_from(*scale) {
            Ok(scale) => number(Some(*value), Unit::with_digits(scale)),
            Err(_) => return unsupported("a decimal number with digits before the unit"),
        },
        ScalarValue::Float32(Some(value)) => shortest(f64::from(*value))?,
        ScalarValue::Float64(Some(value)) => shortest(*value)?,
        ScalarValue::Utf8(value) | ScalarValue::LargeUtf8(value) | ScalarValue::Utf8View(value) => {
            text(value)
        }
        ScalarValue::Dictionary(_, value) => literal(value)?,
        ScalarValue::Date32(value) => number(value.map(i128::from), Unit::Day),
        ScalarValue::TimestampMicrosecond(value, _) => {
            number(value.map(i128::from), Unit::Microsecond)
        }
        ScalarValue::TimestampNanosecond(Some(value), _) => {
            number(Some(i128::from(value.div_euclid(1000))), Unit::Microsecond)
        }
        ScalarValue::IntervalDayTime(Some(interval)) if interval.milliseconds == 0 => {
            number(Some(interval.days.into()), Unit::One)
        }
        ScalarValue::IntervalMonthDayNano(Some(interval))
            if interval.months == 0 && interval.nanoseconds == 0 =>
        {
            number(Some(interval.days.into()), Unit::One)
        }
        other => return unsupported(format!("the value {other}")),
    })
}

/// A floating-point number as the decimal one that it is written as.
fn shortest(value: f64) -> Result<Public> {
    let text = format!("{value}");
    let (whole, rest) = text.split_once('.').unwrap_or((&text, ""));
    let number: Option<i128> = format!("{whole}{rest}").parse().ok();
    match (number, u8::try_from(rest.len())) {
        (Some(number), Ok(digits)) if digits <= 38 => Ok(Public {
            value: Value::Number(number),
            unit: Unit::with_digits(digits),
        }),
        _ => unsupported(format!("the number {value}")),
    }
}
