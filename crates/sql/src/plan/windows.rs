//! Window functions.

use datafusion_common::ScalarValue;
use datafusion_expr::expr::{Sort, WindowFunction, WindowFunctionDefinition};
use datafusion_expr::logical_plan::Window as Plan;
use datafusion_expr::{Expr, LogicalPlan, WindowFrame, WindowFrameBound, WindowFrameUnits};
use madrigal_tables::{Expression, Extent, Frame, Literal, Unit, Value, Window, col};

use super::expression::expression;
use super::steps::{Order, Steps, names, order};
use super::told::Call;
use super::{Result, unsupported};

/// Functions over the same partitions in the same order.
struct Shared<'a> {
    partition: &'a [Expr],
    order: &'a [Sort],
    functions: Vec<(String, Window)>,
}

impl Steps<'_> {
    /// The rows with what each window function tells of them: those of one partition and order are computed together.
    pub(super) fn windows(&self, window: &Plan, plan: &LogicalPlan) -> Result<Frame> {
        let input = self.frame(&window.input)?;
        let own = input.columns().len();
        let names = names(plan);
        let mut all: Vec<Shared<'_>> = Vec::new();
        for (name, expr) in names[own..].iter().zip(&window.window_expr) {
            let function = called(expr)?;
            let params = &function.params;
            let made = (name.clone(), told(function)?);
            let same = |one: &&mut Shared<'_>| {
                one.partition == params.partition_by && one.order == params.order_by
            };
            match all.iter_mut().find(same) {
                Some(shared) => shared.functions.push(made),
                None => all.push(Shared {
                    partition: &params.partition_by,
                    order: &params.order_by,
                    functions: vec![made],
                }),
            }
        }
        let mut frame = input;
        for shared in all {
            let mut partition = Vec::new();
            let Order {
                keys,
                computed: mut more,
            } = order(shared.order)?;
            for (number, expr) in shared.partition.iter().enumerate() {
                match expression(expr)? {
                    Expression::Column(name) => partition.push(name),
                    // A public value is the same in all rows.
                    Expression::Literal(_) => {}
                    value => {
                        let name = format!("partition {number}\u{0}");
                        more.push((name.clone(), value));
                        partition.push(name);
                    }
                }
            }
            if !more.is_empty() {
                frame = frame.with_columns(more)?;
            }
            frame = frame.window(partition, keys, shared.functions)?;
        }
        let columns = names.iter().map(|name| (name.clone(), col(name)));
        Ok(frame.select(columns.collect::<Vec<_>>())?)
    }
}

fn called(expr: &Expr) -> Result<&WindowFunction> {
    match expr {
        Expr::Alias(alias) => called(&alias.expr),
        Expr::WindowFunction(function) => Ok(function),
        other => unsupported(format!("{other}")),
    }
}

/// The function and the rows around each that it is told of.
fn told(function: &WindowFunction) -> Result<Window> {
    let params = &function.params;
    if params.null_treatment.is_some() {
        return unsupported("a window function with a word on missing values");
    }
    let name = match &function.fun {
        WindowFunctionDefinition::AggregateUDF(aggregate) => {
            let name = aggregate.name();
            // Values by their place in a window, which are aggregates where there is none.
            if !matches!(name, "first_value" | "last_value") {
                let call = Call {
                    name,
                    arguments: &params.args,
                    filter: params.filter.as_deref(),
                    distinct: params.distinct,
                    order: &[],
                };
                return Ok(Window::Told(
                    call.told()?,
                    extent(params_frame(function), params.order_by.is_empty())?,
                ));
            }
            name
        }
        WindowFunctionDefinition::WindowUDF(window) => window.name(),
    };
    if params.filter.is_some() || params.distinct {
        return unsupported(format!("{name}(...) with a filter or distinct"));
    }
    let value = || match params.args.first() {
        Some(value) => expression(value),
        None => unsupported(format!("{name} of nothing")),
    };
    let places = || match params.args.get(1) {
        None => Ok(1),
        Some(places) => match expression(places)? {
            Expression::Literal(Literal {
                value: Value::Number(number),
                unit: Unit::One,
            }) => match usize::try_from(number) {
                Ok(places) => Ok(places),
                Err(_) => unsupported(format!("{name} of a negative number of rows")),
            },
            _ => unsupported(format!(
                "{name} of a number of rows that is not whole and public"
            )),
        },
    };
    let is_without_default = match params.args.get(2) {
        None => true,
        Some(default) => expression(default)? == Expression::Literal(Literal::NULL),
    };
    if !is_without_default {
        return unsupported(format!("{name} with a value for rows that have no other"));
    }
    let around = || extent(params_frame(function), params.order_by.is_empty());
    Ok(match name {
        "row_number" => Window::RowNumber,
        "rank" => Window::Rank,
        "dense_rank" => Window::DenseRank,
        "lag" => Window::Lag(value()?, places()?),
        "lead" => Window::Lead(value()?, places()?),
        "first_value" => Window::First(value()?, around()?),
        "last_value" => Window::Last(value()?, around()?),
        other => return unsupported(format!("the window function {other}")),
    })
}

const fn params_frame(function: &WindowFunction) -> &WindowFrame {
    &function.params.window_frame
}

/// The rows around each.
fn extent(frame: &WindowFrame, is_without_order: bool) -> Result<Extent> {
    let places = |bound: &WindowFrameBound, is_before: bool| -> Result<Option<usize>> {
        let (value, ahead) = match bound {
            WindowFrameBound::CurrentRow => return Ok(Some(0)),
            WindowFrameBound::Preceding(value) => (value, true),
            WindowFrameBound::Following(value) => (value, false),
        };
        if ahead != is_before {
            return match value {
                // The row itself.
                ScalarValue::UInt64(Some(0)) => Ok(Some(0)),
                _ => unsupported("a window without its own row"),
            };
        }
        Ok(match value {
            value if value.is_null() => None,
            ScalarValue::UInt64(Some(places)) => usize::try_from(*places).ok(),
            _ => return unsupported("a window that reaches rows by their values"),
        })
    };
    let (before, after) = (
        places(&frame.start_bound, true),
        places(&frame.end_bound, false),
    );
    match frame.units {
        WindowFrameUnits::Rows => Ok(Extent::Rows {
            before: before?,
            after: after?,
        }),
        WindowFrameUnits::Range => match (before?, after?) {
            (None, None) => Ok(Extent::Partition),
            (None, Some(0)) if is_without_order => Ok(Extent::Partition),
            (None, Some(0)) => Ok(Extent::Peers),
            _ => unsupported("a window that reaches rows by their values"),
        },
        WindowFrameUnits::Groups => unsupported("a window of groups"),
    }
}
