//! Queries in SQL, made into steps on tables.
//!
//! The parser and the logical plans are DataFusion's, and so is what makes joins of subqueries. Of its optimiser those rules are used that
//! change what a query says; how it is computed on secrets, [`Frame`] decides.

mod context;
mod expression;
mod joins;
mod steps;
mod told;
mod windows;

use datafusion_common::DataFusionError;
use datafusion_common::config::ConfigOptions;
use datafusion_common::tree_node::{Transformed, TreeNode};
use datafusion_expr::utils::merge_schema;
use datafusion_expr::{BinaryExpr, Distinct, Expr, ExprSchemable, LogicalPlan, Operator as Sign};
use datafusion_optimizer::analyzer::Analyzer;
use datafusion_optimizer::decorrelate_lateral_join::DecorrelateLateralJoin;
use datafusion_optimizer::decorrelate_predicate_subquery::DecorrelatePredicateSubquery;
use datafusion_optimizer::eliminate_cross_join::EliminateCrossJoin;
use datafusion_optimizer::eliminate_duplicated_expr::EliminateDuplicatedExpr;
use datafusion_optimizer::eliminate_outer_join::EliminateOuterJoin;
use datafusion_optimizer::extract_equijoin_predicate::ExtractEquijoinPredicate;
use datafusion_optimizer::push_down_filter::PushDownFilter;
use datafusion_optimizer::replace_distinct_aggregate::ReplaceDistinctWithAggregate;
use datafusion_optimizer::scalar_subquery_to_join::ScalarSubqueryToJoin;
use datafusion_optimizer::simplify_expressions::SimplifyExpressions;
use datafusion_optimizer::{Optimizer, OptimizerContext, OptimizerRule};
use datafusion_sql::planner::{ParserOptions, SqlToRel};
use datafusion_sql::sqlparser::dialect::GenericDialect;
use datafusion_sql::sqlparser::parser::{Parser, ParserError};
use madrigal_tables::{Expression, Fault, Frame, col};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A text that is no query on the tables.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SqlError {
    /// The text is not SQL.
    #[error("this is no SQL: {0}")]
    Parse(#[from] ParserError),
    /// It names what there is not, or mixes types.
    #[error("{}", words(.0))]
    Plan(#[from] DataFusionError),
    /// It cannot be done on secrets as it is written.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// It asks for something that is not there yet.
    #[error("{what} cannot be computed on secret tables yet{instead}")]
    Unsupported {
        /// The part of the query.
        what: String,
        /// A way round, with what separates it.
        instead: String,
    },
    /// It is not one query.
    #[error("one query is asked for, and the text has {0} statements")]
    Statements(usize),
}

/// The error without the words that its origin puts before it.
fn words(error: &DataFusionError) -> String {
    match error {
        DataFusionError::Context(_, inner) => words(inner),
        DataFusionError::Diagnostic(_, inner) => words(inner),
        DataFusionError::SchemaError(error, _) => error.to_string(),
        DataFusionError::Plan(text) => text.clone(),
        other => other.to_string(),
    }
}

pub(crate) type Result<T> = std::result::Result<T, SqlError>;

pub(crate) fn unsupported<T>(what: impl Into<String>) -> Result<T> {
    Err(SqlError::Unsupported {
        what: what.into(),
        instead: String::new(),
    })
}

/// The rows that a query in SQL asks for, of tables by name.
///
/// `select` with joins, subqueries, grouping, ordering and limits, and common table expressions. Names are in lower case unless they
/// are quoted; numbers such as 0.05 are exact decimals; the quotient of integers is cut off, as in PostgreSQL.
///
/// # Errors
/// A text that is no such query, and one that [`Frame`] refuses.
pub fn plan(sql: &str, tables: &[(String, Frame)]) -> Result<Frame> {
    plan_with_pairs(sql, tables, None)
}

/// The rows that a query asks for, in which tables may be joined of which neither has each key once: each such join has `pairs` rows at most, and
/// where there are more the query ends with an error that tells that alone.
///
/// # Errors
/// In the same cases as [`plan()`].
pub fn plan_with_pairs(
    sql: &str,
    tables: &[(String, Frame)],
    pairs: Option<usize>,
) -> Result<Frame> {
    if sql.len() > LONGEST {
        return unsupported(format!(
            "a query of {} bytes (at most {LONGEST})",
            sql.len()
        ));
    }
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK);
        let planned = thread.spawn_scoped(scope, || planned(sql, tables, pairs));
        match planned.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(planned)) => planned,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(error) => unsupported(format!("a query without a thread for it ({error})")),
        }
    })
}

/// Bytes of the longest query.
const LONGEST: usize = 1 << 16;
/// Bytes of the stack for what is nested in a query of that length: the parser, the planner and its rules call themselves for each level. A system
/// gives memory for those that are used.
const STACK: usize = 1 << 30;

fn planned(sql: &str, tables: &[(String, Frame)], pairs: Option<usize>) -> Result<Frame> {
    let statements = Parser::parse_sql(&GenericDialect {}, sql)?;
    let [statement] = &statements[..] else {
        return Err(SqlError::Statements(statements.len()));
    };
    let context = context::Tables::new(tables);
    let options = ParserOptions {
        parse_float_as_decimal: true,
        map_string_types_to_utf8view: false,
        ..ParserOptions::default()
    };
    let planner = SqlToRel::new_with_options(&context, options);
    let logical = planner.sql_statement_to_plan(statement.clone())?;
    let is_first_of =
        |step: &LogicalPlan| Ok(matches!(step, LogicalPlan::Distinct(Distinct::On(_))));
    if logical.exists(is_first_of)? {
        return unsupported("distinct on");
    }
    let logical = with_whole_quotients(simplified(logical)?)?;
    let frame = steps::Steps { tables, pairs }.frame(&logical)?;
    with_plain_names(&frame, &logical)
}

/// The plan with quotients of integers as such, by the types that the planner knows.
fn with_whole_quotients(plan: LogicalPlan) -> Result<LogicalPlan> {
    let changed = plan.transform_up(|step| {
        let schema = merge_schema(&step.inputs());
        step.map_expressions(|expr| {
            expr.transform_up(|one| {
                let Expr::BinaryExpr(BinaryExpr {
                    left,
                    op: Sign::Divide,
                    right,
                }) = &one
                else {
                    return Ok(Transformed::no(one));
                };
                let whole =
                    |side: &Expr| Ok::<_, DataFusionError>(side.get_type(&schema)?.is_integer());
                match whole(left)? && whole(right)? {
                    false => Ok(Transformed::no(one)),
                    true => Ok(Transformed::yes(Expr::BinaryExpr(BinaryExpr {
                        left: left.clone(),
                        op: Sign::IntegerDivide,
                        right: right.clone(),
                    }))),
                }
            })
        })
    })?;
    Ok(changed.data)
}

/// The plan without subqueries, with joins where conditions name the keys.
fn simplified(plan: LogicalPlan) -> Result<LogicalPlan> {
    let mut options = ConfigOptions::default();
    // A subquery of one row is joined, as all others are.
    options
        .optimizer
        .enable_physical_uncorrelated_scalar_subquery = false;
    let analyzed = Analyzer::new().execute_and_check(plan, &options, |_, _| {})?;
    let rules: Vec<Arc<dyn OptimizerRule + Send + Sync>> = vec![
        Arc::new(SimplifyExpressions::new()),
        Arc::new(ReplaceDistinctWithAggregate::new()),
        Arc::new(DecorrelatePredicateSubquery::new()),
        Arc::new(ScalarSubqueryToJoin::new()),
        Arc::new(DecorrelateLateralJoin::new()),
        Arc::new(ExtractEquijoinPredicate::new()),
        Arc::new(EliminateDuplicatedExpr::new()),
        Arc::new(EliminateCrossJoin::new()),
        Arc::new(EliminateOuterJoin::new()),
        Arc::new(PushDownFilter::new()),
    ];
    let config = OptimizerContext::new_with_config_options(Arc::new(options));
    Ok(Optimizer::with_rules(rules).optimize(analyzed, &config, |_, _| {})?)
}

/// The columns under the names that a reader of the result expects: without their tables', where that leaves them different.
fn with_plain_names(frame: &Frame, plan: &LogicalPlan) -> Result<Frame> {
    let mut taken = BTreeSet::new();
    let columns = plan
        .schema()
        .iter()
        .zip(frame.columns())
        .map(|((_, field), column)| {
            let mut name = field.name().clone();
            if !taken.insert(name.clone()) {
                name = column.name.clone();
                taken.insert(name.clone());
            }
            (name, col(&column.name))
        });
    let columns: Vec<(String, Expression)> = columns.collect();
    Ok(frame.select(columns)?)
}
