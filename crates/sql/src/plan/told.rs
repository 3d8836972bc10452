//! Functions that tell a number of several rows.

use datafusion_expr::Expr;
use datafusion_expr::expr::{AggregateFunction, Sort};
use madrigal_tables::{
    Aggregate as Told, Expression, Literal, Unit, Value, count, count_distinct, count_rows,
    deviation, greatest, least, mean, median, quantile, sum, variance,
};

use super::expression::expression;
use super::{Result, unsupported};

/// The number that an aggregate function tells of groups.
pub(super) fn told_of(expr: &Expr) -> Result<Told> {
    let function = match expr {
        Expr::Alias(alias) => return told_of(&alias.expr),
        Expr::AggregateFunction(function) => function,
        other => return unsupported(format!("{other}")),
    };
    let AggregateFunction { func, params } = function;
    Call {
        name: func.name(),
        arguments: &params.args,
        filter: params.filter.as_deref(),
        distinct: params.distinct,
        order: &params.order_by,
    }
    .told()
}

/// A call of an aggregate function.
pub(super) struct Call<'a> {
    pub(super) name: &'a str,
    pub(super) arguments: &'a [Expr],
    pub(super) filter: Option<&'a Expr>,
    pub(super) distinct: bool,
    pub(super) order: &'a [Sort],
}

impl Call<'_> {
    /// The number that it tells.
    pub(super) fn told(&self) -> Result<Told> {
        let place = match (self.name, self.arguments) {
            ("percentile_cont", [_, place]) => Some(place),
            (name, [_, _, ..]) => return unsupported(format!("{name}(...) of several values")),
            _ => None,
        };
        let argument = match self.arguments.first() {
            Some(argument) => expression(argument)?,
            None => Expression::Literal(Literal::integer(1)),
        };
        let argument = match self.filter {
            Some(filter) => Expression::Case(vec![(expression(filter)?, argument)], None),
            None => argument,
        };
        if let Some(place) = place {
            let descending = self.order.iter().any(|one| !one.asc);
            return at_place(argument, &expression(place)?, descending);
        }
        let is_public =
            matches!(&argument, Expression::Literal(literal) if literal.value != Value::Null);
        Ok(match (self.name, self.distinct) {
            ("count", false) if is_public => count_rows(),
            ("count", false) => count(argument),
            ("count", true) => count_distinct(argument),
            ("sum", false) => sum(argument),
            ("avg" | "mean", false) => mean(argument),
            ("min", _) => least(argument),
            ("max", _) => greatest(argument),
            ("var" | "var_samp" | "var_sample", false) => variance(argument),
            ("stddev" | "stddev_samp", false) => deviation(argument),
            ("median", false) => median(argument),
            (name, true) => return unsupported(format!("{name}(distinct ...)")),
            (name, false) => return unsupported(format!("the function {name}")),
        })
    }
}

/// A quantile at a public place.
fn at_place(value: Expression, place: &Expression, descending: bool) -> Result<Told> {
    let public = match place {
        Expression::Literal(Literal {
            value: Value::Number(number),
            unit,
        }) => unit_parts(*unit).and_then(|parts| Some((u32::try_from(*number).ok()?, parts))),
        _ => None,
    };
    match public {
        Some((number, parts)) if number <= parts => {
            let number = if descending { parts - number } else { number };
            let common = divisor(number, parts);
            Ok(quantile(value, number / common, parts / common))
        }
        _ => unsupported(
            "percentile_cont at a place that is no public number from 0 to 1 with six digits",
        ),
    }
}

/// Number of the unit's parts that make 1.
fn unit_parts(unit: Unit) -> Option<u32> {
    let digits = unit.digits().filter(|digits| *digits <= 6)?;
    Some(10_u32.pow(digits.into()))
}

/// The greatest common divisor (Euclid).
const fn divisor(mut one: u32, mut other: u32) -> u32 {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}
