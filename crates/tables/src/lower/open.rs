//! Rows opened.

use madrigal_program::{Array, Program, Receivers};

use super::relation::{Relation, full};
use crate::column::{Column, Value};
use crate::error::Fault;
use crate::expression::{constant, text_of_codes};
use crate::kind::{Kind, Number};

/// Name of the output that says which rows count.
const ROWS: &str = "which rows count";

/// Where the columns of a result are among a program's outputs.
#[derive(Debug, Clone)]
pub(crate) struct Opened {
    columns: Vec<OpenedColumn>,
    valid: Option<usize>,
    rows: usize,
}

#[derive(Debug, Clone)]
struct OpenedColumn {
    kind: Kind,
    parts: Vec<usize>,
    present: Option<usize>,
}

impl Relation {
    /// Opens the rows that count, and of others which they are. Unless the order follows from what the rows contain, they come in one that
    /// nobody knows.
    pub(crate) fn open(
        self,
        program: &mut Program,
        to: impl Receivers + Clone,
    ) -> Result<(Opened, Vec<Column>), Fault> {
        let mut relation = self;
        for (column, cell) in relation.columns.iter_mut().zip(&mut relation.cells) {
            let mut scope = crate::expression::Scope {
                program: &mut *program,
                columns: &[],
                cells: &[],
            };
            let divided = scope.divided(cell.clone())?;
            let rows = relation.rows;
            *cell = divided.full(rows);
            column.kind = cell.kind.clone();
        }
        let relation = relation.settled();
        let mut columns = Vec::new();
        for (column, cell) in relation.columns.iter().zip(&relation.cells) {
            let counts = match (&cell.present, &relation.valid) {
                (Some(present), Some(valid)) => Some(present.and(valid)),
                (one, other) => one.clone().or_else(|| other.clone()),
            };
            let mut parts = Vec::new();
            // Elements are as narrow as the kind lets them be.
            for (number, (part, element)) in cell.parts.iter().zip(cell.kind.elements()).enumerate()
            {
                let part = crate::expression::fit(part, element);
                let shown = match &counts {
                    Some(counts) => {
                        let zero = constant(program, element, 0);
                        counts.select(&part, &zero)
                    }
                    None => part,
                };
                let shown = full(&shown, relation.rows);
                let name = match number {
                    0 => column.name.clone(),
                    _ => format!("{}, part {number}", column.name),
                };
                parts.push(program.open_tensor(Some(&name), &shown, to.clone()));
            }
            let present = cell.present.as_ref().and(counts).map(|counts| {
                let name = format!("{}, present", column.name);
                program.open_tensor(Some(&name), &full(&counts, relation.rows), to.clone())
            });
            columns.push(OpenedColumn {
                kind: cell.kind.clone(),
                parts,
                present,
            });
        }
        let valid = relation
            .valid
            .as_ref()
            .map(|valid| program.open_tensor(Some(ROWS), &full(valid, relation.rows), to.clone()));
        let opened = Opened {
            columns,
            valid,
            rows: relation.rows,
        };
        Ok((opened, relation.columns))
    }
}

impl Opened {
    /// The rows that count, in their order; `None` for a party that does not get them.
    pub(crate) fn rows(&self, arrays: &[Option<&Array>]) -> Option<Vec<Vec<Value>>> {
        let codes = |place: usize| -> Option<Vec<u128>> {
            let codes: Vec<u128> = (*arrays.get(place)?)?.codes().collect();
            (codes.len() == self.rows).then_some(codes)
        };
        let valid = match self.valid {
            Some(place) => codes(place)?,
            None => vec![1; self.rows],
        };
        let count = valid.iter().filter(|valid| **valid == 1).count();
        let mut rows: Vec<Vec<Value>> = Vec::new();
        rows.resize_with(count, Vec::new);
        for column in &self.columns {
            let parts: Vec<Vec<u128>> = column
                .parts
                .iter()
                .map(|&place| codes(place))
                .collect::<Option<_>>()?;
            let present = match column.present {
                Some(place) => Some(codes(place)?),
                None => None,
            };
            let places = (0..valid.len()).filter(|&row| valid[row] == 1);
            for (made, row) in rows.iter_mut().zip(places) {
                let there = present.as_ref().is_none_or(|present| present[row] == 1);
                let own: Vec<u128> = parts.iter().map(|part| part[row]).collect();
                made.push(if there {
                    value(&column.kind, &own)
                } else {
                    Value::Null
                });
            }
        }
        Some(rows)
    }
}

/// The value that elements stand for.
fn value(kind: &Kind, codes: &[u128]) -> Value {
    match kind {
        Kind::Bool => Value::Bool(codes[0] == 1),
        Kind::Number(number) => Value::Number(extended(number, codes[0])),
        Kind::Choice(texts) => match usize::try_from(codes[0]).ok().and_then(|at| texts.get(at)) {
            Some(text) => Value::Text(text.clone()),
            None => Value::Null,
        },
        Kind::Text { .. } => {
            let bytes = text_of_codes(codes, kind);
            Value::Text(String::from_utf8_lossy(&bytes).into_owned())
        }
        // Ratios are divided before they are opened.
        Kind::Ratio(..) => Value::Null,
    }
}

/// The number of an element in two's complement.
pub(crate) fn extended(number: &Number, code: u128) -> i128 {
    let element = number.element();
    let unused = 128 - element.bits();
    match element.is_signed() {
        true => (code << unused) as i128 >> unused,
        false => code as i128,
    }
}
