//! Joins of plans.

use arrow::datatypes::DataType;
use datafusion_common::{JoinType, NullEquality};
use datafusion_expr::logical_plan::Join;
use datafusion_expr::{BinaryExpr, Expr, LogicalPlan, Operator as Sign};
use madrigal_tables::{Expression, Frame, Join as How, Kind, Literal, Operator, Value, col, lit};

use super::expression::{expression, name_of};
use super::steps::{Steps, names};
use super::{Result, unsupported};

/// A table with the columns that it is joined by.
struct Side {
    frame: Frame,
    names: Vec<String>,
    /// Whether keys that are missing are equal, as `intersect` and `except` have it.
    nulls_are_equal: bool,
}

impl Side {
    fn has(&self, value: &Expression) -> bool {
        let own = |name: &&str| self.names.iter().any(|own| own == name);
        value.columns().iter().all(own)
    }

    /// Leaves out rows for which those of these conditions that are on this side's columns alone are not true. Gives the other conditions.
    fn keep(&mut self, conditions: Vec<Expression>) -> Result<Vec<Expression>> {
        let (own, others): (Vec<_>, Vec<_>) = conditions.into_iter().partition(|one| self.has(one));
        for condition in own {
            self.frame = self.frame.filter(condition)?;
        }
        Ok(others)
    }

    fn is_nullable(&self, name: &str) -> bool {
        let found = self.frame.columns().iter().find(|one| one.name == name);
        found.is_some_and(|column| column.nullable)
    }

    /// A public value of a column's kind.
    fn any_value(&self, name: &str) -> Result<Expression> {
        let found = self.frame.columns().iter().find(|one| one.name == name);
        Ok(match found.map(|column| &column.kind) {
            Some(Kind::Bool) => lit(false),
            Some(Kind::Number(number)) => {
                Expression::Literal(Literal::number(number.least, number.unit))
            }
            Some(Kind::Choice(texts)) => lit(texts.first().map_or("", String::as_str)),
            Some(Kind::Text { .. }) => lit(""),
            _ => return unsupported("rows that are compared by quotients that may be missing"),
        })
    }

    /// The name of a column with a value, which is computed if there is none.
    fn column(&mut self, value: Expression, number: usize) -> Result<String> {
        if let Expression::Column(name) = value {
            return Ok(name);
        }
        let name = format!(
            "key {number} of {}",
            self.names.first().map_or("", String::as_str)
        );
        self.frame = self.frame.with_columns([(name.clone(), value)])?;
        Ok(name)
    }
}

/// Numbers of columns that say whether keys are missing, and of those that have others for them.
const MISSING: usize = 10_000;
const THERE: usize = 20_000;

/// A key without casts that change no value, which comparisons do by themselves.
fn bare<'a>(expr: &'a Expr, frame: &Frame) -> &'a Expr {
    match expr {
        Expr::Alias(alias) => bare(&alias.expr, frame),
        Expr::Cast(cast) => {
            let inner = bare(&cast.expr, frame);
            let Expr::Column(column) = inner else {
                return expr;
            };
            let name = name_of(column);
            let found = frame.columns().iter().find(|column| column.name == name);
            let kept = match (found.map(|column| &column.kind), cast.field.data_type()) {
                (Some(Kind::Number(number)), to) => match (number.unit.digits(), to) {
                    (Some(_), to) if to.is_floating() => true,
                    (Some(digits), DataType::Decimal128(_, scale)) => {
                        i16::from(digits as i8) <= i16::from(*scale)
                    }
                    (Some(0), to) => *to == DataType::Int64,
                    _ => false,
                },
                (Some(Kind::Text { .. } | Kind::Choice(_)), to) => to.is_string(),
                _ => false,
            };
            if kept { inner } else { expr }
        }
        other => other,
    }
}

/// The parts of a condition that must all be true, but for those that always are.
fn conditions(expr: Option<&Expr>) -> Result<Vec<Expression>> {
    Ok(match expr {
        None => Vec::new(),
        Some(Expr::BinaryExpr(BinaryExpr {
            left,
            op: Sign::And,
            right,
        })) => [conditions(Some(left))?, conditions(Some(right))?].concat(),
        Some(one) => {
            let made = expression(one)?;
            if made == lit(true) {
                Vec::new()
            } else {
                vec![made]
            }
        }
    })
}

impl Steps<'_> {
    pub(super) fn join(&self, join: &Join, plan: &LogicalPlan) -> Result<Frame> {
        let nulls_are_equal = join.null_equality == NullEquality::NullEqualsNull;
        let side = |plan: &LogicalPlan| -> Result<Side> {
            Ok(Side {
                frame: self.frame(plan)?,
                names: names(plan),
                nulls_are_equal,
            })
        };
        let (left, right) = (side(&join.left)?, side(&join.right)?);
        let flipped = || join.on.iter().map(|(a, b)| (b, a)).collect::<Vec<_>>();
        let on = || join.on.iter().map(|(a, b)| (a, b)).collect::<Vec<_>>();
        let filter = join.filter.as_ref();
        let joined = match join.join_type {
            JoinType::Inner => self.pairs(left, right, &on(), filter, How::Inner)?,
            JoinType::Left => self.pairs(left, right, &on(), filter, How::Left)?,
            JoinType::Right => self.pairs(right, left, &flipped(), filter, How::Left)?,
            JoinType::Full => self.pairs(left, right, &on(), filter, How::Full)?,
            JoinType::LeftSemi => self.partners(left, right, &on(), filter, How::Semi)?,
            JoinType::LeftAnti if join.null_aware => {
                let anti = self.partners(left, right, &on(), filter, How::Anti)?;
                return self.not_in(join, anti);
            }
            JoinType::LeftAnti => self.partners(left, right, &on(), filter, How::Anti)?,
            JoinType::RightSemi => self.partners(right, left, &flipped(), filter, How::Semi)?,
            JoinType::RightAnti => self.partners(right, left, &flipped(), filter, How::Anti)?,
            JoinType::LeftMark => {
                let mark = names(plan).pop().unwrap_or_default();
                self.marked(left, right, &on(), filter, &mark)?
            }
            JoinType::RightMark => {
                let mark = names(plan).pop().unwrap_or_default();
                self.marked(right, left, &flipped(), filter, &mark)?
            }
        };
        let wanted = names(plan);
        Ok(joined.select(wanted.iter().map(|name| (name.clone(), col(name))))?)
    }

    /// Rows of both tables side by side.
    fn pairs(
        &self,
        mut left: Side,
        mut right: Side,
        on: &[(&Expr, &Expr)],
        filter: Option<&Expr>,
        how: How,
    ) -> Result<Frame> {
        let mut later = conditions(filter)?;
        if how == How::Left {
            // Rows of the other table that a condition rules out are nobody's partners.
            later = right.keep(later)?;
        }
        if let (true, Some(condition)) = (how != How::Inner, later.first()) {
            return unsupported(format!("an outer join with the condition {condition}"));
        }
        let mut joined = match on.is_empty() {
            true => self.beside(left, right, how)?,
            false => {
                let keys = self.keys(&mut left, &mut right, on)?;
                let keys: Vec<(&str, &str)> =
                    keys.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
                left.frame
                    .join_within(&right.frame, &keys, how, self.pairs)?
            }
        };
        for condition in later {
            joined = joined.filter(condition)?;
        }
        Ok(joined)
    }

    /// Every row with the only row of the other table.
    fn beside(&self, left: Side, right: Side, how: How) -> Result<Frame> {
        Ok(match left.frame.beside(&right.frame, how) {
            Ok(frame) => frame,
            Err(fault) => match how {
                How::Inner => right.frame.beside(&left.frame, how).map_err(|_| fault)?,
                _ => return Err(fault.into()),
            },
        })
    }

    fn keys(
        &self,
        left: &mut Side,
        right: &mut Side,
        on: &[(&Expr, &Expr)],
    ) -> Result<Vec<(String, String)>> {
        let mut keys = Vec::new();
        for (number, (own, others)) in on.iter().enumerate() {
            let own = left.column(expression(bare(own, &left.frame))?, number)?;
            let others = right.column(expression(bare(others, &right.frame))?, number)?;
            let is_nullable = left.is_nullable(&own) || right.is_nullable(&others);
            if !(left.nulls_are_equal && is_nullable) {
                keys.push((own, others));
                continue;
            }
            // Whether a key is missing is a key of its own, and a public value stands for one that is.
            let missing = [(&mut *left, &own), (&mut *right, &others)]
                .map(|(side, key)| side.column(col(key).is_null(), number + MISSING));
            let stand_in = left.any_value(&own)?;
            let there = [(&mut *left, &own), (&mut *right, &others)].map(|(side, key)| {
                let value = Expression::Coalesce(vec![col(key), stand_in.clone()]);
                side.column(value, number + THERE)
            });
            for pair in [missing, there] {
                let [own, others] = pair;
                keys.push((own?, others?));
            }
        }
        Ok(keys)
    }

    /// Rows of a table that have partners in another one, or have none.
    fn partners(
        &self,
        mut left: Side,
        mut right: Side,
        on: &[(&Expr, &Expr)],
        filter: Option<&Expr>,
        how: How,
    ) -> Result<Frame> {
        let mut compared: Option<(String, Operator, String)> = None;
        let rest = right.keep(conditions(filter)?)?;
        let (own_conditions, both): (Vec<_>, Vec<_>) =
            rest.into_iter().partition(|one| left.has(one));
        for condition in both {
            let (own, operator, others) = match &condition {
                Expression::Binary(operator, one, other) if left.has(one) && right.has(other) => {
                    (one, *operator, other)
                }
                Expression::Binary(operator, one, other) if left.has(other) && right.has(one) => {
                    (other, flipped(*operator), one)
                }
                _ => return unsupported(format!("a subquery with the condition {condition}")),
            };
            if compared.is_some() {
                return unsupported("a subquery that is compared in two columns");
            }
            let own = left.column((**own).clone(), 1000)?;
            let others = right.column((**others).clone(), 1000)?;
            compared = Some((own, operator, others));
        }
        let keys = self.keys(&mut left, &mut right, on)?;
        let keys: Vec<(&str, &str)> = keys.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        if keys.is_empty() {
            return unsupported("a subquery that is not bound to its row by an equal column");
        }
        let condition = own_conditions.into_iter().reduce(Expression::and);
        let found = |frame: &Frame, how: How| match &compared {
            Some((own, operator, others)) => {
                frame.join_where(&right.frame, &keys, (own, *operator, others), how)
            }
            None => frame.join(&right.frame, &keys, how),
        };
        Ok(match (condition, how) {
            (None, _) => found(&left.frame, how)?,
            (Some(condition), How::Semi) => found(&left.frame.filter(condition)?, how)?,
            // A row for which the condition is not true has no partner.
            (Some(condition), _) => {
                let holds = Expression::Coalesce(vec![condition, lit(false)]);
                let with = found(&left.frame.filter(holds.clone())?, how)?;
                with.union(&[left.frame.filter(!holds)?])?
            }
        })
    }

    /// Every row, with a column that says whether it has a partner.
    fn marked(
        &self,
        mut left: Side,
        mut right: Side,
        on: &[(&Expr, &Expr)],
        filter: Option<&Expr>,
        mark: &str,
    ) -> Result<Frame> {
        if let Some(condition) = right.keep(conditions(filter)?)?.first() {
            return unsupported(format!("a subquery with the condition {condition}"));
        }
        let keys = self.keys(&mut left, &mut right, on)?;
        let nullable = |frame: &Frame, name: &str| {
            frame
                .columns()
                .iter()
                .any(|column| column.name == name && column.nullable)
        };
        if keys
            .iter()
            .any(|(own, others)| nullable(&left.frame, own) || nullable(&right.frame, others))
        {
            return unsupported(
                "a condition beside others on a subquery whose values may be missing",
            );
        }
        if right.frame.least_group() > 1 {
            return unsupported("a subquery on rows of which nothing is told but of groups");
        }
        let (own, others): (Vec<&str>, Vec<&str>) =
            keys.iter().map(|(a, b)| (a.as_str(), b.as_str())).unzip();
        let found = format!("{mark} found");
        let distinct = right.frame.only(&others)?.distinct()?;
        let distinct = distinct.with_columns([(found.clone(), lit(true))])?;
        let keys: Vec<(&str, &str)> = own.into_iter().zip(others).collect();
        let joined = left.frame.join(&distinct, &keys, How::Left)?;
        let marked = Expression::Coalesce(vec![col(&found), lit(false)]);
        Ok(joined.with_columns([(mark.to_owned(), marked)])?)
    }

    /// `not in`, which is true of no row if a value that is compared is missing, unless there is none to compare with.
    fn not_in(&self, join: &Join, anti: Frame) -> Result<Frame> {
        if join.on.len() > 1 || join.filter.is_some() {
            return unsupported(
                "not in (...) with values that may be missing and a subquery bound to its row",
            );
        }
        let (own, other) = &join.on[0];
        let right = self.frame(&join.right)?;
        if right.least_group() > 1 {
            return unsupported("a subquery on rows of which nothing is told but of groups");
        }
        let (all, there) = ("number of rows", "number of values");
        let counts = right.group(
            Vec::<String>::new(),
            vec![
                (all.into(), madrigal_tables::count_rows()),
                (
                    there.into(),
                    madrigal_tables::count(expression(bare(other, &right))?),
                ),
            ],
        )?;
        let none = || {
            Expression::Literal(Literal {
                value: Value::Number(0),
                ..Literal::integer(0)
            })
        };
        let keep = col(all)
            .equals(none())
            .or((!expression(bare(own, &anti))?.is_null()).and(col(all).equals(col(there))));
        let kept = anti.beside(&counts, How::Inner)?.filter(keep)?;
        let names = anti.columns().iter().map(|column| column.name.clone());
        Ok(kept.select(
            names
                .map(|name| (name.clone(), col(name)))
                .collect::<Vec<_>>(),
        )?)
    }
}

const fn flipped(operator: Operator) -> Operator {
    match operator {
        Operator::Less => Operator::Greater,
        Operator::AtMost => Operator::AtLeast,
        Operator::Greater => Operator::Less,
        Operator::AtLeast => Operator::AtMost,
        other => other,
    }
}
