//! Logical plans as steps on tables.

use datafusion_expr::LogicalPlan;
use datafusion_expr::expr::Sort as SortExpr;
use datafusion_expr::logical_plan::{Aggregate, FetchType, Limit, SkipType, Sort};
use madrigal_tables::{Expression, Frame, SortKey, col};

use super::expression::expression;
use super::told::told_of;
use super::{Result, unsupported};

/// Makes steps of plans: columns are named as the plan names them, with their tables.
pub(super) struct Steps<'a> {
    pub(super) tables: &'a [(String, Frame)],
    /// The most pairs of rows of a join of many with many.
    pub(super) pairs: Option<usize>,
}

/// Names of a plan's columns.
pub(super) fn names(plan: &LogicalPlan) -> Vec<String> {
    let of = |(qualifier, field): (Option<&datafusion_common::TableReference>, &_)| {
        datafusion_common::Column::from((qualifier, field)).flat_name()
    };
    plan.schema().iter().map(of).collect()
}

impl Steps<'_> {
    pub(super) fn frame(&self, plan: &LogicalPlan) -> Result<Frame> {
        Ok(match plan {
            LogicalPlan::TableScan(scan) => {
                let name = scan.table_name.table();
                let found = self.tables.iter().find(|table| table.0 == name);
                let Some((_, frame)) = found else {
                    return unsupported(format!("the table {name}"));
                };
                let fields = scan.projected_schema.fields();
                let columns = names(plan).into_iter().zip(fields);
                let columns = columns.map(|(new, field)| (new, col(field.name())));
                let mut frame = frame.select(columns.collect::<Vec<_>>())?;
                for filter in &scan.filters {
                    frame = frame.filter(expression(filter)?)?;
                }
                frame
            }
            LogicalPlan::SubqueryAlias(alias) => {
                let input = self.frame(&alias.input)?;
                self.renamed(&input, plan)?
            }
            LogicalPlan::Projection(projection) => {
                let input = self.frame(&projection.input)?;
                let values = projection.expr.iter().map(expression);
                let columns = names(plan).into_iter().zip(values);
                let columns = columns
                    .map(|(name, value)| Ok((name, value?)))
                    .collect::<Result<Vec<_>>>()?;
                input.select(columns)?
            }
            LogicalPlan::Filter(filter) => {
                let input = self.frame(&filter.input)?;
                input.filter(expression(&filter.predicate)?)?
            }
            LogicalPlan::Aggregate(aggregate) => self.groups(aggregate, plan)?,
            LogicalPlan::Join(join) => self.join(join, plan)?,
            LogicalPlan::Sort(sort) => self.sort(sort)?,
            LogicalPlan::Limit(limit) => self.limit(limit)?,
            LogicalPlan::Union(union) => {
                let inputs = union.inputs.iter().map(|input| self.frame(input));
                let inputs = inputs.collect::<Result<Vec<_>>>()?;
                let Some((first, rest)) = inputs.split_first() else {
                    return unsupported("a union of nothing");
                };
                self.renamed(&first.union(rest)?, plan)?
            }
            LogicalPlan::Subquery(subquery) => self.frame(&subquery.subquery)?,
            LogicalPlan::Statement(_)
            | LogicalPlan::Dml(_)
            | LogicalPlan::Ddl(_)
            | LogicalPlan::Copy(_) => {
                return unsupported("a statement that changes tables");
            }
            LogicalPlan::EmptyRelation(_) | LogicalPlan::Values(_) => {
                return unsupported("a query without a table");
            }
            LogicalPlan::Window(window) => self.windows(window, plan)?,
            other => return unsupported(format!("{}", other.display())),
        })
    }

    /// Renames the columns as the plan does.
    pub(super) fn renamed(&self, frame: &Frame, plan: &LogicalPlan) -> Result<Frame> {
        let columns = names(plan).into_iter().zip(frame.columns());
        let columns: Vec<(String, Expression)> = columns
            .map(|(new, column)| (new, col(&column.name)))
            .collect();
        Ok(frame.select(columns)?)
    }

    fn groups(&self, aggregate: &Aggregate, plan: &LogicalPlan) -> Result<Frame> {
        let input = self.frame(&aggregate.input)?;
        let names = names(plan);
        let (key_names, told_names) = names.split_at(aggregate.group_expr.len());
        let mut more: Vec<(String, Expression)> = Vec::new();
        let mut keys = Vec::new();
        for (name, key) in key_names.iter().zip(&aggregate.group_expr) {
            match expression(key)? {
                Expression::Column(column) => keys.push(column),
                value => {
                    more.push((name.clone(), value));
                    keys.push(name.clone());
                }
            }
        }
        let input = match more.is_empty() {
            true => input,
            false => input.with_columns(more)?,
        };
        // A key that is named twice is one.
        let mut once: Vec<String> = Vec::new();
        for key in &keys {
            if !once.contains(key) {
                once.push(key.clone());
            }
        }
        let mut told = Vec::new();
        for (name, value) in told_names.iter().zip(&aggregate.aggr_expr) {
            told.push((name.clone(), told_of(value)?));
        }
        let grouped = input.group(once, told)?;
        let columns = key_names
            .iter()
            .zip(&keys)
            .map(|(name, key)| (name.clone(), col(key)))
            .chain(told_names.iter().map(|name| (name.clone(), col(name))));
        Ok(grouped.select(columns.collect::<Vec<_>>())?)
    }

    fn sort(&self, sort: &Sort) -> Result<Frame> {
        let input = self.frame(&sort.input)?;
        let own: Vec<String> = input
            .columns()
            .iter()
            .map(|column| column.name.clone())
            .collect();
        let Order {
            keys,
            computed: more,
        } = order(&sort.expr)?;
        let sorted = match more.is_empty() {
            true => input.sort(keys)?,
            false => {
                let own = own.iter().map(|name| (name.clone(), col(name)));
                let own = own.collect::<Vec<_>>();
                input.with_columns(more)?.sort(keys)?.select(own)?
            }
        };
        Ok(match sort.fetch {
            Some(rows) => sorted.first(rows)?,
            None => sorted,
        })
    }

    fn limit(&self, limit: &Limit) -> Result<Frame> {
        let input = self.frame(&limit.input)?;
        let (skip, fetch) = (limit.get_skip_type()?, limit.get_fetch_type()?);
        match (skip, fetch) {
            (SkipType::Literal(0), FetchType::Literal(None)) => Ok(input),
            (SkipType::Literal(skip), FetchType::Literal(rows)) => {
                Ok(input.slice(skip, rows.unwrap_or(usize::MAX))?)
            }
            _ => unsupported("a limit or an offset that is no number"),
        }
    }
}

/// An order of rows.
pub(super) struct Order {
    pub(super) keys: Vec<SortKey>,
    /// The columns among the keys that are computed first.
    pub(super) computed: Vec<(String, Expression)>,
}

/// The order that a query names.
pub(super) fn order(exprs: &[SortExpr]) -> Result<Order> {
    let mut computed: Vec<(String, Expression)> = Vec::new();
    let mut keys = Vec::new();
    for (number, one) in exprs.iter().enumerate() {
        let column = match expression(&one.expr)? {
            Expression::Column(name) => name,
            value => {
                let name = format!("order {number}\u{0}");
                computed.push((name.clone(), value));
                name
            }
        };
        keys.push(SortKey {
            column,
            descending: !one.asc,
            nulls_first: one.nulls_first,
        });
    }
    Ok(Order { keys, computed })
}
