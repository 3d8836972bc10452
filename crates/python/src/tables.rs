//! Tables, queries on them, and their results. Kinds, expressions and the like are JSON, as the crate of tables writes them.

use madrigal_core::Party;
use madrigal_program::{Array, Client, Holder};
use madrigal_tables::{
    Aggregate, count, count_distinct, count_rows, deviation, greatest, least, mean, sum, variance,
};
use madrigal_tables::{
    Column, Expression, Extent, Fault, Frame as Inner, Join, Literal, Operator, Quantile,
    Query as InnerQuery, SortKey, Value, Window,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use serde::de::DeserializeOwned;

use crate::arrays::{Values, array_of, shape_of, type_of};
use crate::computation::Computation;
use crate::value_error;

fn fault(fault: Fault) -> PyErr {
    PyValueError::new_err(fault.to_string())
}

fn of_json<T: DeserializeOwned>(text: &str) -> PyResult<T> {
    serde_json::from_str(text).map_err(value_error)
}

/// A party by its number, or a client by its name.
#[derive(FromPyObject)]
pub enum Who {
    Party(usize),
    Client(String),
}

impl Who {
    fn holder(self) -> Holder {
        match self {
            Self::Party(party) => Party::new(party).into(),
            Self::Client(name) => Client::new(&name).into(),
        }
    }
}

/// What everybody knows of a table.
#[pyclass(frozen, module = "madrigal._native")]
pub struct Table(madrigal_tables::Table);

#[pymethods]
impl Table {
    #[new]
    fn new(
        name: &str,
        owner: Who,
        rows: usize,
        padded: bool,
        columns: &str,
        unique: Vec<Vec<String>>,
        least_group: usize,
    ) -> PyResult<Self> {
        let columns: Vec<Column> = of_json(columns)?;
        let mut table = madrigal_tables::Table::new(name, owner.holder(), rows, columns);
        if padded {
            table = table.padded();
        }
        for key in &unique {
            table = table.unique(&key.iter().map(String::as_str).collect::<Vec<_>>());
        }
        Ok(Self(table.with_least_group(least_group)))
    }

    fn frame(&self) -> PyResult<Frame> {
        Inner::table(self.0.clone()).map(Frame).map_err(fault)
    }
}

/// A column's values in Python.
#[derive(FromPyObject)]
enum Given<'py> {
    /// Integers of eight bytes, the lowest first, and whether each is there, a byte each.
    Numbers(Bound<'py, PyBytes>, Bound<'py, PyBytes>),
    /// Anything else, value by value.
    Values(Vec<Option<One>>),
}

/// A value in Python.
#[derive(FromPyObject)]
enum One {
    Bool(bool),
    Number(i128),
    Text(String),
}

fn value_of(one: Option<One>) -> Value {
    match one {
        Some(One::Bool(value)) => Value::Bool(value),
        Some(One::Number(value)) => Value::Number(value),
        Some(One::Text(text)) => Value::Text(text),
        None => Value::Null,
    }
}

/// The values of a table.
#[pyclass(frozen, module = "madrigal._native")]
pub struct Data(madrigal_tables::Data);

#[pymethods]
impl Data {
    /// Whether both have the same values.
    fn __eq__(&self, other: &Self) -> bool {
        self.0 == other.0
    }

    #[new]
    fn new(table: &Table, columns: &Bound<'_, PyList>) -> PyResult<Self> {
        let mut all: Vec<Vec<Value>> = Vec::new();
        for column in columns {
            all.push(match column.extract()? {
                Given::Numbers(numbers, present) => {
                    let numbers = numbers.as_bytes().as_chunks::<8>().0;
                    let present = present.as_bytes();
                    let value = |(at, bytes): (usize, &[u8; 8])| match present.get(at) {
                        Some(0) => Value::Null,
                        _ => Value::Number(i64::from_le_bytes(*bytes).into()),
                    };
                    numbers.iter().enumerate().map(value).collect()
                }
                Given::Values(values) => values.into_iter().map(value_of).collect(),
            });
        }
        madrigal_tables::Data::new(&table.0, all)
            .map(Self)
            .map_err(fault)
    }
}

/// A query on tables, step by step.
#[pyclass(frozen, module = "madrigal._native")]
pub struct Frame(Inner);

fn join_of(how: &str) -> PyResult<Join> {
    Ok(match how {
        "inner" => Join::Inner,
        "left" => Join::Left,
        "full" => Join::Full,
        "semi" => Join::Semi,
        "anti" => Join::Anti,
        other => {
            return Err(value_error(format!(
                "a join is inner, left, full, semi or anti, and not {other:?}"
            )));
        }
    })
}

/// A number that is told of rows: its name, the function, an expression, and the place of a quantile.
type Told = (String, String, Option<String>, Option<(u32, u32, bool)>);

/// Places before and after a row that a window reaches to; without them it is the whole partition.
type Reach = Option<(Option<usize>, Option<usize>)>;

fn value_or_one(value: Option<String>) -> PyResult<Expression> {
    match value {
        Some(value) => of_json(&value),
        None => Ok(Expression::Literal(Literal::integer(1))),
    }
}

fn aggregate(
    function: &str,
    value: Expression,
    place: Option<(u32, u32, bool)>,
) -> PyResult<Aggregate> {
    Ok(match (function, place) {
        ("rows", _) => count_rows(),
        ("count", _) => count(value),
        ("n_unique", _) => count_distinct(value),
        ("sum", _) => sum(value),
        ("mean", _) => mean(value),
        ("var", _) => variance(value),
        ("std", _) => deviation(value),
        ("min", _) => least(value),
        ("max", _) => greatest(value),
        ("quantile", Some((numerator, denominator, interpolated))) => {
            let place = Quantile {
                numerator,
                denominator,
                interpolated,
            };
            Aggregate::Quantile(value, place)
        }
        (other, _) => return Err(value_error(format!("no function {other}"))),
    })
}

fn aggregates(told: Vec<Told>) -> PyResult<Vec<(String, Aggregate)>> {
    let told = told.into_iter().map(|(name, function, value, place)| {
        Ok((name, aggregate(&function, value_or_one(value)?, place)?))
    });
    told.collect()
}

fn sort_keys(keys: Vec<(String, bool, bool)>) -> impl Iterator<Item = SortKey> {
    keys.into_iter()
        .map(|(column, descending, nulls_first)| SortKey {
            column,
            descending,
            nulls_first,
        })
}

#[pymethods]
impl Frame {
    /// Names, kinds as text, kinds as JSON, and whether values may be missing.
    #[getter]
    fn columns(&self) -> PyResult<Vec<(String, String, String, bool)>> {
        let columns = self.0.columns().iter().map(|column| {
            let kind = serde_json::to_string(&column.kind).map_err(value_error)?;
            Ok((
                column.name.clone(),
                column.kind.to_string(),
                kind,
                column.nullable,
            ))
        });
        columns.collect()
    }

    #[getter]
    fn most_rows(&self) -> usize {
        self.0.most_rows()
    }

    #[getter]
    fn sources(&self) -> Vec<String> {
        self.0.sources()
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn filter(&self, condition: &str) -> PyResult<Self> {
        let condition: Expression = of_json(condition)?;
        self.0.filter(condition).map(Self).map_err(fault)
    }

    fn select(&self, columns: &str) -> PyResult<Self> {
        let columns: Vec<(String, Expression)> = of_json(columns)?;
        self.0.select(columns).map(Self).map_err(fault)
    }

    fn with_columns(&self, columns: &str) -> PyResult<Self> {
        let columns: Vec<(String, Expression)> = of_json(columns)?;
        self.0.with_columns(columns).map(Self).map_err(fault)
    }

    fn join(
        &self,
        other: &Self,
        on: Vec<(String, String)>,
        how: &str,
        pairs: Option<usize>,
    ) -> PyResult<Self> {
        let on: Vec<(&str, &str)> = on.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        self.0
            .join_within(&other.0, &on, join_of(how)?, pairs)
            .map(Self)
            .map_err(fault)
    }

    fn join_where(
        &self,
        other: &Self,
        on: Vec<(String, String)>,
        own: &str,
        operator: &str,
        others: &str,
        how: &str,
    ) -> PyResult<Self> {
        let on: Vec<(&str, &str)> = on.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        let operator: Operator = of_json(operator)?;
        let joined = self
            .0
            .join_where(&other.0, &on, (own, operator, others), join_of(how)?);
        joined.map(Self).map_err(fault)
    }

    fn beside(&self, other: &Self) -> PyResult<Self> {
        self.0
            .beside(&other.0, Join::Inner)
            .map(Self)
            .map_err(fault)
    }

    /// Groups, with numbers that are told of them.
    fn group(
        &self,
        keys: Vec<String>,
        told: Vec<Told>,
        bound: Option<usize>,
        at_least: usize,
    ) -> PyResult<Self> {
        let aggregates = aggregates(told)?;
        let grouped = self
            .0
            .group_within(keys, aggregates, bound)
            .map_err(fault)?;
        match at_least {
            0 | 1 => Ok(Self(grouped)),
            least => grouped.with_least_group(least).map(Self).map_err(fault),
        }
    }

    /// Groups, with columns for public values of another column.
    fn pivot(
        &self,
        keys: Vec<String>,
        column: &str,
        values: &str,
        told: Vec<Told>,
    ) -> PyResult<Self> {
        let values: Vec<Literal> = of_json(values)?;
        self.0
            .pivot(keys, column, &values, &aggregates(told)?)
            .map(Self)
            .map_err(fault)
    }

    /// The rows with what windows tell of each: a name, a function, an expression, a number of places, and how far it reaches.
    fn window(
        &self,
        partition: Vec<String>,
        order: Vec<(String, bool, bool)>,
        functions: Vec<(String, String, Option<String>, usize, Reach)>,
    ) -> PyResult<Self> {
        let mut windows = Vec::new();
        for (name, function, value, places, reach) in functions {
            let value = value_or_one(value)?;
            let extent = match reach {
                None => Extent::Partition,
                Some((before, after)) => Extent::Rows { before, after },
            };
            let window = match &*function {
                "row_number" => Window::RowNumber,
                "rank" => Window::Rank,
                "dense_rank" => Window::DenseRank,
                "lag" => Window::Lag(value, places),
                "lead" => Window::Lead(value, places),
                "first" => Window::First(value, extent),
                "last" => Window::Last(value, extent),
                other => Window::Told(aggregate(other, value, None)?, extent),
            };
            windows.push((name, window));
        }
        self.0
            .window(partition, sort_keys(order), windows)
            .map(Self)
            .map_err(fault)
    }

    fn sort(&self, keys: Vec<(String, bool, bool)>) -> PyResult<Self> {
        self.0.sort(sort_keys(keys)).map(Self).map_err(fault)
    }

    fn slice(&self, skip: usize, rows: Option<usize>) -> PyResult<Self> {
        self.0
            .slice(skip, rows.unwrap_or(usize::MAX))
            .map(Self)
            .map_err(fault)
    }

    fn bound(&self, rows: usize) -> PyResult<Self> {
        self.0.bound(rows).map(Self).map_err(fault)
    }

    fn union(&self, others: Vec<PyRef<'_, Self>>) -> PyResult<Self> {
        let others: Vec<Inner> = others.iter().map(|other| other.0.clone()).collect();
        self.0.union(&others).map(Self).map_err(fault)
    }
}

/// A query in SQL on tables by name.
#[pyfunction]
pub fn sql(
    text: &str,
    tables: Vec<(String, PyRef<'_, Frame>)>,
    pairs: Option<usize>,
) -> PyResult<Frame> {
    let tables: Vec<(String, Inner)> = tables
        .into_iter()
        .map(|(name, frame)| (name, frame.0.clone()))
        .collect();
    planned(text, &tables, pairs).map(Frame)
}

#[cfg(feature = "sql")]
fn planned(text: &str, tables: &[(String, Inner)], pairs: Option<usize>) -> PyResult<Inner> {
    madrigal_sql::plan_with_pairs(text, tables, pairs).map_err(value_error)
}

#[cfg(not(feature = "sql"))]
fn planned(_: &str, _: &[(String, Inner)], _: Option<usize>) -> PyResult<Inner> {
    Err(value_error(
        "this build of the package has no SQL: build it with its feature `sql`, or write the query step by step",
    ))
}

/// A query made into a program.
#[pyclass(frozen, module = "madrigal._native")]
pub struct Query(InnerQuery);

/// A value as Python has it.
#[derive(IntoPyObject)]
pub enum Shown {
    Null(Option<u8>),
    Bool(bool),
    Number(i128),
    Text(String),
}

#[pymethods]
impl Query {
    #[new]
    fn new(frame: &Frame, parties: usize, to: Vec<Who>) -> PyResult<Self> {
        let to: Vec<Holder> = to.into_iter().map(Who::holder).collect();
        InnerQuery::new(&frame.0, parties, to)
            .map(Self)
            .map_err(value_error)
    }

    #[getter]
    fn computation(&self) -> Computation {
        Computation::new(self.0.computation().clone())
    }

    /// Steps with the rows that each works on.
    #[getter]
    fn steps(&self) -> Vec<(String, usize)> {
        self.0.steps()
    }

    fn __str__(&self) -> String {
        self.0.frame().to_string()
    }

    /// The values of tables by name, as inputs of the program.
    fn inputs(&self, data: Vec<(String, PyRef<'_, Data>)>) -> PyResult<Vec<(String, Values)>> {
        let data = data.iter().map(|(name, data)| (name.as_str(), &data.0));
        let inputs = self.0.inputs(data);
        let ports = self.0.computation().inputs();
        let mut all = Vec::new();
        for (place, port) in ports.iter().enumerate() {
            if let (Some(name), Some(array)) = (&port.name, inputs.value(ports, place)) {
                all.push((name.clone(), Values::of(&array)?));
            }
        }
        Ok(all)
    }

    /// Names, kinds as JSON, and the values of each column, of outputs by name: types, lengths and bytes.
    #[expect(clippy::type_complexity, reason = "as Python takes it")]
    fn answer(
        &self,
        outputs: Vec<(String, String, Vec<usize>, Vec<u8>)>,
    ) -> PyResult<Option<Vec<(String, String, Vec<Shown>)>>> {
        let mut arrays: Vec<(String, Array)> = Vec::new();
        for (name, element, axes, bytes) in outputs {
            arrays.push((
                name,
                array_of(type_of(&element)?, shape_of(&axes)?, &bytes)?,
            ));
        }
        let ports = self.0.computation().outputs().iter();
        let found: Vec<Option<&Array>> = ports
            .map(|port| {
                let named = arrays.iter().find(|one| Some(&one.0) == port.name.as_ref());
                named.map(|one| &one.1)
            })
            .collect();
        let Some(answer) = self.0.answer(&found) else {
            return Ok(None);
        };
        let mut columns = Vec::new();
        for (at, column) in answer.columns.iter().enumerate() {
            let kind = serde_json::to_string(&column.kind).map_err(value_error)?;
            let values = answer.rows.iter().map(|row| match row.get(at) {
                Some(Value::Bool(value)) => Shown::Bool(*value),
                Some(Value::Number(value)) => Shown::Number(*value),
                Some(Value::Text(text)) => Shown::Text(text.clone()),
                Some(Value::Null) | None => Shown::Null(None),
            });
            columns.push((column.name.clone(), kind, values.collect()));
        }
        Ok(Some(columns))
    }
}
