//! Tables as the parser's planner sees them.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, TimeUnit};
use datafusion_common::config::ConfigOptions;
use datafusion_common::{DataFusionError, TableReference};
use datafusion_expr::logical_plan::builder::LogicalTableSource;
use datafusion_expr::planner::{ContextProvider, ExprPlanner};
use datafusion_expr::{AggregateUDF, HigherOrderUDF, ScalarUDF, TableSource, WindowUDF};
use datafusion_functions::core::planner::CoreFunctionPlanner;
use datafusion_functions::datetime::planner::DatetimeFunctionPlanner;
use datafusion_functions::unicode::planner::UnicodeFunctionPlanner;
use datafusion_functions_aggregate::planner::AggregateFunctionPlanner;
use datafusion_functions_window::planner::WindowFunctionPlanner;
use madrigal_tables::{Frame, Kind, Number, Unit};

/// Tables and functions by name.
pub(super) struct Tables {
    tables: HashMap<String, Arc<dyn TableSource>>,
    functions: HashMap<String, Arc<ScalarUDF>>,
    aggregates: HashMap<String, Arc<AggregateUDF>>,
    windows: HashMap<String, Arc<WindowUDF>>,
    planners: Vec<Arc<dyn ExprPlanner>>,
    options: ConfigOptions,
}

/// The digits of the longest number within a range.
fn digits(number: &Number) -> u8 {
    let most = number
        .least
        .unsigned_abs()
        .max(number.greatest.unsigned_abs());
    let digits = most.checked_ilog10().map_or(1, |log| log + 1);
    u8::try_from(digits.min(38)).unwrap_or(38)
}

/// The type of a column in the planner's eyes.
fn data_type(kind: &Kind) -> DataType {
    match kind {
        Kind::Bool => DataType::Boolean,
        Kind::Text { .. } | Kind::Choice(_) => DataType::Utf8,
        Kind::Ratio(..) => DataType::Float64,
        Kind::Number(number) => match number.unit {
            Unit::One
                if i64::try_from(number.least).is_ok()
                    && i64::try_from(number.greatest).is_ok() =>
            {
                DataType::Int64
            }
            Unit::One => DataType::Decimal128(38, 0),
            Unit::Decimal(scale) => {
                let precision = digits(number).max(scale);
                DataType::Decimal128(precision, i8::try_from(scale).unwrap_or(38))
            }
            Unit::Day => DataType::Date32,
            Unit::Microsecond => DataType::Timestamp(TimeUnit::Microsecond, None),
        },
    }
}

/// Functions by their names and aliases.
fn named<T>(
    functions: Vec<Arc<T>>,
    names: impl Fn(&T) -> (&str, &[String]),
) -> HashMap<String, Arc<T>> {
    let mut all = HashMap::new();
    for function in functions {
        let (name, aliases) = names(&function);
        for name in std::iter::once(name).chain(aliases.iter().map(String::as_str)) {
            all.insert(name.to_owned(), Arc::clone(&function));
        }
    }
    all
}

impl Tables {
    pub(super) fn new(tables: &[(String, Frame)]) -> Self {
        let source = |frame: &Frame| -> Arc<dyn TableSource> {
            let fields = frame
                .columns()
                .iter()
                .map(|column| Field::new(&column.name, data_type(&column.kind), column.nullable));
            let schema = Schema::new(fields.collect::<Vec<Field>>());
            Arc::new(LogicalTableSource::new(Arc::new(schema)))
        };
        let functions = datafusion_functions::all_default_functions();
        let aggregates = datafusion_functions_aggregate::all_default_aggregate_functions();
        let windows = datafusion_functions_window::all_default_window_functions();
        Self {
            tables: tables
                .iter()
                .map(|(name, frame)| (name.clone(), source(frame)))
                .collect(),
            functions: named(functions, |one| (one.name(), one.aliases())),
            aggregates: named(aggregates, |one| (one.name(), one.aliases())),
            windows: named(windows, |one| (one.name(), one.aliases())),
            planners: vec![
                Arc::new(CoreFunctionPlanner::default()),
                Arc::new(DatetimeFunctionPlanner),
                Arc::new(UnicodeFunctionPlanner),
                Arc::new(AggregateFunctionPlanner),
                Arc::new(WindowFunctionPlanner),
            ],
            options: ConfigOptions::default(),
        }
    }
}

impl ContextProvider for Tables {
    fn get_table_source(
        &self,
        name: TableReference,
    ) -> Result<Arc<dyn TableSource>, DataFusionError> {
        self.tables.get(name.table()).cloned().ok_or_else(|| {
            let mut known: Vec<&str> = self.tables.keys().map(String::as_str).collect();
            known.sort_unstable();
            DataFusionError::Plan(format!(
                "there is no table {}; there are {}",
                name.table(),
                known.join(", ")
            ))
        })
    }

    fn get_expr_planners(&self) -> &[Arc<dyn ExprPlanner>] {
        &self.planners
    }

    fn get_function_meta(&self, name: &str) -> Option<Arc<ScalarUDF>> {
        self.functions.get(name).cloned()
    }

    fn get_higher_order_meta(&self, _name: &str) -> Option<Arc<HigherOrderUDF>> {
        None
    }

    fn get_aggregate_meta(&self, name: &str) -> Option<Arc<AggregateUDF>> {
        self.aggregates.get(name).cloned()
    }

    fn get_window_meta(&self, name: &str) -> Option<Arc<WindowUDF>> {
        self.windows.get(name).cloned()
    }

    fn get_variable_type(&self, _names: &[String]) -> Option<DataType> {
        None
    }

    fn options(&self) -> &ConfigOptions {
        &self.options
    }

    fn udf_names(&self) -> Vec<String> {
        self.functions.keys().cloned().collect()
    }

    fn higher_order_function_names(&self) -> Vec<String> {
        Vec::new()
    }

    fn udaf_names(&self) -> Vec<String> {
        self.aggregates.keys().cloned().collect()
    }

    fn udwf_names(&self) -> Vec<String> {
        self.windows.keys().cloned().collect()
    }
}
