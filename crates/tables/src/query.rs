//! Queries as programs on secrets, and their results.

use std::collections::HashMap;
use std::fmt;

use madrigal_program::lower::Mix;
use madrigal_program::{
    Array, Computation, Inputs, Outputs, Program, ProgramError, Receivers, Shape,
};

use crate::column::{Column, Right, Value};
use crate::data::Data;
use crate::error::Fault;
use crate::frame::{Frame, Node};
use crate::kind::{Decimal, Kind, Unit};
use crate::lower::{Input, Lowering, Opened, Port};

/// A query made into a program, which parties run like any other.
#[derive(Debug)]
pub struct Query {
    frame: Frame,
    computation: Computation,
    ports: Vec<Port>,
    opened: Opened,
    columns: Vec<Column>,
    rows: Vec<usize>,
}

/// A query that cannot be made into a program.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// Something that is wrong with the query.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// Something that is wrong with its program.
    #[error("the query makes no program: {0}")]
    Program(#[from] ProgramError),
}

impl Query {
    /// The query of `parties` parties whose result is told to some of them.
    ///
    /// # Errors
    /// Columns that may not be shown, tables of which groups alone may be told, and queries that are wrong in another way.
    pub fn new(
        frame: &Frame,
        parties: usize,
        receivers: impl Receivers + Clone,
    ) -> Result<Self, QueryError> {
        for column in frame.columns.iter() {
            if column.right < Right::Shown {
                return Err(frame.refused(column, "shows it").into());
            }
        }
        if frame.facts.least_group > 1 {
            return Err(Fault::Other(format!(
                "tables {} let nothing be told but of groups of {} rows or more, and this query shows rows: group them",
                frame.sources().join(", "),
                frame.facts.least_group
            ))
            .into());
        }
        let mut names: HashMap<&str, &crate::Table> = HashMap::new();
        let mut twice = None;
        frame.visit(&mut |step| {
            if let Node::Table(table) = &*step.node
                && names
                    .insert(&table.name, table)
                    .is_some_and(|other| other != &**table)
            {
                twice = Some(table.name.clone());
            }
        });
        if let Some(name) = twice {
            return Err(Fault::Other(format!("two different tables are named {name:?}")).into());
        }
        let frame = frame.optimised()?;
        let mut program = Program::new(parties);
        // Tables are shuffled at a fraction of the cost there.
        if parties == 3 {
            program = program.with_default(Mix::R);
        }
        let mut lowering = Lowering::new(&mut program, &frame);
        let relation = lowering.lower(&frame)?;
        let (ports, rows) = (lowering.ports, lowering.rows);
        // The last step is that rows are shuffled, divided and opened.
        program.part(Some(rows.len() as u32));
        let (opened, columns) = relation.open(&mut program, receivers)?;
        program.part(None);
        Ok(Self {
            computation: program.finish()?,
            frame,
            ports,
            opened,
            columns,
            rows,
        })
    }

    /// The program.
    pub const fn computation(&self) -> &Computation {
        &self.computation
    }

    /// The steps that are computed, in their order.
    pub const fn frame(&self) -> &Frame {
        &self.frame
    }

    /// The columns of the result.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The values of tables as the program's inputs: of those that are given.
    pub fn inputs<'a>(&self, data: impl IntoIterator<Item = (&'a str, &'a Data)>) -> Inputs {
        let data: HashMap<&str, &Data> = data.into_iter().collect();
        let mut inputs = Inputs::new();
        for (port, input) in self.ports.iter().zip(self.computation.inputs()) {
            let Some(data) = data.get(port.table.as_str()) else {
                continue;
            };
            let array = match port.what {
                Input::Valid => data.valid.clone(),
                Input::Present(column) => {
                    data.columns.get(column).and_then(|own| own.present.clone())
                }
                Input::Part(column, part) => {
                    let own = data.columns.get(column);
                    own.and_then(|own| own.parts.get(part))
                        .map(|own| widened(own, port))
                }
            };
            if let Some(array) = array {
                inputs = inputs.with_array(input.name.as_deref(), array);
            }
        }
        inputs
    }

    /// The result, of the program's outputs; `None` for a party that does not get it.
    pub fn result(&self, outputs: &Outputs) -> Option<Answer> {
        self.answer(&outputs.arrays().collect::<Vec<_>>())
    }

    /// The result, of the arrays that the program opens, in the order of its outputs; `None` if one that is needed is not there.
    pub fn answer(&self, outputs: &[Option<&Array>]) -> Option<Answer> {
        Some(Answer {
            columns: self.columns.clone(),
            rows: self.opened.rows(outputs)?,
        })
    }

    /// Steps in words, with the rows that each gives; the opening of the result comes last. The place of each is the number of its part
    /// ([`Program::part`]), by which a plan tells what the step costs.
    pub fn steps(&self) -> Vec<(String, usize)> {
        let mut steps = Vec::new();
        self.frame.visit(&mut |step| steps.push(step.words()));
        let mut steps: Vec<_> = steps.into_iter().zip(self.rows.iter().copied()).collect();
        let opened = self.rows.last().copied().unwrap_or(0);
        steps.push(("result opened".into(), opened));
        steps
    }
}

/// The elements of an array in a wider type.
fn widened(array: &Array, port: &Port) -> Array {
    let own = array.element();
    if own == port.element {
        return array.clone();
    }
    let unused = 128 - own.bits();
    let codes = array.codes().map(|code| match own.is_signed() {
        true => ((code << unused) as i128 >> unused) as u128,
        false => code,
    });
    let shape = Shape::checked(&[codes.len()]).expect("a length in memory");
    Array::from_codes(port.element, &shape, codes).expect("as many elements")
}

/// The rows that a query gives.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The columns.
    pub columns: Vec<Column>,
    /// A value for each column, row by row.
    pub rows: Vec<Vec<Value>>,
}

impl Answer {
    /// A value as text: numbers with their digits, dates as 2024-02-29; nothing for a missing one.
    pub fn text(&self, row: usize, column: usize) -> String {
        let kind = self.columns.get(column).map(|column| &column.kind);
        let value = self.rows.get(row).and_then(|row| row.get(column));
        match (value, kind) {
            (Some(value), Some(kind)) => shown(value, kind),
            _ => String::new(),
        }
    }
}

/// A value as text.
fn shown(value: &Value, kind: &Kind) -> String {
    match (value, kind) {
        (Value::Null, _) => String::new(),
        (Value::Bool(value), _) => value.to_string(),
        (Value::Text(text), _) => text.clone(),
        (Value::Number(value), Kind::Number(number)) => match number.unit {
            Unit::Day => day(*value),
            Unit::Microsecond => {
                const DAY: i128 = 86_400_000_000;
                let time = value.rem_euclid(DAY);
                let seconds = time / 1_000_000;
                format!(
                    "{} {:02}:{:02}:{:02}.{:06}",
                    day(value.div_euclid(DAY)),
                    seconds / 3600,
                    seconds / 60 % 60,
                    seconds % 60,
                    time % 1_000_000
                )
            }
            unit => Decimal(*value, unit.digits().unwrap_or(0)).to_string(),
        },
        (Value::Number(value), _) => value.to_string(),
    }
}

fn day(days: i128) -> String {
    match i32::try_from(days) {
        Ok(days) if (-719_162..=2_932_896).contains(&days) => {
            let (year, month, day) = crate::expression::calendar(days);
            format!("{year:04}-{month:02}-{day:02}")
        }
        _ => days.to_string(),
    }
}

impl fmt::Display for Answer {
    /// The rows as comma-separated values, with names in the first line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = |text: String| match text.contains(['"', ',', '\n', '\r']) {
            true => format!("\"{}\"", text.replace('"', "\"\"")),
            false => text,
        };
        let names = self
            .columns
            .iter()
            .map(|column| quoted(column.name.clone()));
        writeln!(f, "{}", names.collect::<Vec<_>>().join(","))?;
        for row in 0..self.rows.len() {
            let values = (0..self.columns.len()).map(|column| quoted(self.text(row, column)));
            writeln!(f, "{}", values.collect::<Vec<_>>().join(","))?;
        }
        Ok(())
    }
}
