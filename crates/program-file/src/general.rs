//! Files for any lengths, from programs that were recorded for some.
//!
//! A front end that knows its arrays' lengths while it records makes a program for these alone. Recorded for several choices of
//! lengths, its messages are alike but for numbers, and each of those is a polynomial of the lengths, which its values tell: of
//! degree 1 in each of up to three lengths, or the square of one. What the values do not tell is no polynomial of that kind, and
//! more choices than there are terms show it.
//!
//! A program that does something else for lengths that were not among the choices (larger ones, say) is not seen through: its
//! author must not decide by lengths what is computed.

use std::collections::HashMap;

use madrigal_program::Type;
use thiserror::Error;

use crate::file::ProgramFile;
use crate::lengths::known;
use crate::proto::{self, Length, length::Sort};

/// Why programs for some lengths are none for all.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum GeneralError {
    /// Too few choices of lengths.
    #[error("{wanted} programs for different lengths are needed, and there are {found}")]
    Few {
        /// Programs that are needed.
        wanted: usize,
        /// Programs that there are.
        found: usize,
    },
    /// Something that is not alike in the programs.
    #[error(
        "{what} depends on the lengths in a way that a file cannot say; give the lengths when it is saved"
    )]
    Different {
        /// The part of the program.
        what: String,
    },
}

/// Terms of the polynomials: products of dimensions, by their numbers.
fn terms(dimensions: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for a in 0..dimensions {
        all.push(vec![a]);
        all.push(vec![a, a]);
        for b in a + 1..dimensions {
            all.push(vec![a, b]);
            all.extend((b + 1..dimensions).map(|c| vec![a, b, c]));
        }
    }
    all
}

/// Number of choices of lengths that [`general`] needs.
pub fn choices(dimensions: usize) -> usize {
    match dimensions {
        0 => 1,
        _ => terms(dimensions).len() + 2,
    }
}

/// A file for any lengths of the dimensions of these names, of messages that were recorded for some. Lengths of the choices must be
/// in no polynomial relation: primes of different sizes are good.
///
/// # Errors
/// [`GeneralError`]: too few choices, and parts of the program that no polynomial says.
pub fn general(
    names: &[String],
    samples: &[(Vec<usize>, ProgramFile)],
) -> Result<ProgramFile, GeneralError> {
    let wanted = choices(names.len());
    if samples.len() < wanted {
        let found = samples.len();
        return Err(GeneralError::Few { wanted, found });
    }
    let lengths = samples.iter().map(|(lengths, _)| {
        let lengths = lengths.iter().map(|&length| length as i128);
        lengths.collect::<Vec<i128>>()
    });
    let mut fitting = Fitting {
        lengths: lengths.collect(),
        terms: terms(names.len()),
        table: (0..names.len())
            .map(|number| Length {
                sort: Sort::Dimension.into(),
                left: number as i64,
                right: 0,
            })
            .collect(),
        known: HashMap::new(),
        operations: Vec::new(),
    };
    let messages: Vec<&proto::Program> = samples.iter().map(|(_, file)| file.message()).collect();
    let mut message = messages[0].clone();
    fitting.operations.clone_from(&message.operations);
    message.dimensions = names.to_vec();
    for (at, port) in message.inputs.iter_mut().enumerate() {
        let axes = collected(&messages, |message| Some(&message.inputs.get(at)?.axes));
        let what = || format!("the shape of input {at}");
        port.axes = fitting.numbers(axes, &what)?;
    }
    if let Some(graph) = &mut message.graph {
        let graphs: Option<Vec<_>> = messages
            .iter()
            .map(|message| message.graph.as_ref())
            .collect();
        let graphs = graphs.ok_or_else(|| different("the program"))?;
        fitting.graph(graph, &graphs, &message.files)?;
    }
    message.operations.clone_from(&fitting.operations);
    message.lengths = fitting.table;
    // What is not a number must be the same.
    for other in &messages[1..] {
        let alike = |message: &proto::Program| {
            let ports = message.inputs.iter();
            let ports: Vec<_> = ports
                .map(|port| (port.owner.clone(), port.name.clone(), port.r#type.clone()))
                .collect();
            let outputs = message.outputs.clone();
            (
                message.parties,
                message.mix.clone(),
                ports,
                outputs,
                message.requirements.clone(),
            )
        };
        if alike(messages[0]) != alike(other) {
            return Err(different("what the program takes, gives or requires"));
        }
    }
    Ok(ProgramFile::of_message(message))
}

fn different(what: &str) -> GeneralError {
    GeneralError::Different { what: what.into() }
}

/// One part of each message, if all have it.
fn collected<'a, T, P: ?Sized>(
    all: &[&'a T],
    part: impl Fn(&'a T) -> Option<&'a P>,
) -> Option<Vec<&'a P>> {
    all.iter().map(|&one| part(one)).collect()
}

struct Fitting {
    /// Lengths of the dimensions in each sample.
    lengths: Vec<Vec<i128>>,
    terms: Vec<Vec<usize>>,
    table: Vec<Length>,
    /// Numbers of lengths that are in the table, as files write them.
    known: HashMap<(i32, i64, i64), i64>,
    /// Names of operations, to which that of a ratio may come.
    operations: Vec<String>,
}

impl Fitting {
    fn graph(
        &mut self,
        made: &mut proto::Graph,
        graphs: &[&proto::Graph],
        files: &[String],
    ) -> Result<(), GeneralError> {
        let same = |graph: &&proto::Graph| {
            graph.nodes.len() == graphs[0].nodes.len() && graph.results == graphs[0].results
        };
        if !graphs.iter().all(same) {
            return Err(different("the number of operations"));
        }
        for (at, node) in made.nodes.iter_mut().enumerate() {
            let nodes: Vec<&proto::Node> = graphs.iter().map(|graph| &graph.nodes[at]).collect();
            let name = self.operations.get(node.operation as usize);
            let name = name.cloned().unwrap_or_default();
            let place = node.place.unwrap_or_default();
            let file = files.get(place.file as usize).map_or("?", |file| file);
            let what = || format!("{file}:{}: {name}", place.line);
            let first = nodes[0];
            let same = |node: &&proto::Node| {
                (
                    node.operation,
                    &node.operands,
                    &node.texts,
                    node.bodies.len(),
                ) == (
                    first.operation,
                    &first.operands,
                    &first.texts,
                    first.bodies.len(),
                )
            };
            if !nodes.iter().all(same) {
                return Err(different(&what()));
            }
            let numbers: Vec<&Vec<i64>> = nodes.iter().map(|node| &node.lengths).collect();
            if nodes.iter().any(|node| node.data != first.data) {
                self.number(node, &nodes, &what)?;
                continue;
            }
            node.lengths = self.numbers(Some(numbers), &what)?;
            for (at, body) in node.bodies.iter_mut().enumerate() {
                let bodies: Vec<&proto::Graph> =
                    nodes.iter().map(|node| &node.bodies[at]).collect();
                self.graph(body, &bodies, files)?;
            }
        }
        Ok(())
    }

    /// A public number that depends on the lengths becomes their ratio with 1.
    fn number(
        &mut self,
        made: &mut proto::Node,
        nodes: &[&proto::Node],
        what: &dyn Fn() -> String,
    ) -> Result<(), GeneralError> {
        let wrong = || different(&what());
        let name = self.operations.get(made.operation as usize);
        let element = made
            .texts
            .first()
            .and_then(|text| text.parse::<Type>().ok());
        let (Some("constant"), Some(element), true) = (
            name.map(String::as_str),
            element,
            nodes.iter().all(|node| node.lengths.is_empty()),
        ) else {
            return Err(wrong());
        };
        let value = |node: &&proto::Node| {
            let mut word = [0; 16];
            word.get_mut(..node.data.len())?.copy_from_slice(&node.data);
            let unused = 8 * (16 - node.data.len() as u32);
            let code = i128::from_le_bytes(word);
            let code = if element.is_signed() {
                code << unused >> unused
            } else {
                code
            };
            let step = 1_i128 << element.fraction();
            (code % step == 0).then_some(code / step)
        };
        let values: Option<Vec<i128>> = nodes.iter().map(value).collect();
        let number = self.fit(&values.ok_or_else(wrong)?).ok_or_else(wrong)?;
        let ratio = self.operations.iter().position(|name| name == "ratio");
        let ratio = ratio.unwrap_or_else(|| {
            self.operations.push("ratio".into());
            self.operations.len() - 1
        });
        made.operation = ratio as u32;
        made.lengths = vec![number, known(1)];
        made.data.clear();
        Ok(())
    }

    fn numbers(
        &mut self,
        samples: Option<Vec<&Vec<i64>>>,
        what: &dyn Fn() -> String,
    ) -> Result<Vec<i64>, GeneralError> {
        let wrong = || different(&what());
        let samples = samples.ok_or_else(wrong)?;
        let count = samples[0].len();
        if samples.iter().any(|one| one.len() != count) {
            return Err(wrong());
        }
        let mut made = Vec::with_capacity(count);
        for at in 0..count {
            // Numbers of samples are known ones, which stand doubled.
            let values: Vec<i128> = samples.iter().map(|one| i128::from(one[at] >> 1)).collect();
            made.push(self.fit(&values).ok_or_else(wrong)?);
        }
        Ok(made)
    }

    /// The number whose values in the samples these are.
    fn fit(&mut self, values: &[i128]) -> Option<i64> {
        if values.iter().all(|value| *value == values[0]) {
            return i64::try_from(values[0]).ok().map(known);
        }
        let rows = self.lengths.iter().map(|lengths| {
            let term = |term: &Vec<usize>| term.iter().map(|&at| lengths[at]).product();
            self.terms.iter().map(term).collect::<Vec<i128>>()
        });
        let rows: Vec<Vec<i128>> = rows.collect();
        let factors = solve(&rows[..self.terms.len()], &values[..self.terms.len()])?;
        let holds = |(row, value): (&Vec<i128>, &i128)| {
            let sum: i128 = row
                .iter()
                .zip(&factors)
                .map(|(term, factor)| term * factor)
                .sum();
            sum == *value
        };
        if !rows.iter().zip(values).all(holds) {
            return None;
        }
        let mut sum: Option<i64> = None;
        for (term, &factor) in self.terms.clone().iter().zip(&factors) {
            if factor == 0 {
                continue;
            }
            let mut product: Option<i64> = None;
            for &dimension in term {
                // The dimensions stand first in the table.
                let dimension = 2 * dimension as i64 + 1;
                product = Some(match product {
                    Some(product) => self.of(Sort::Product, product, dimension),
                    None => dimension,
                });
            }
            let size = known(i64::try_from(factor.abs()).ok()?);
            let part = match product {
                Some(product) if factor.abs() == 1 => product,
                Some(product) => self.of(Sort::Product, product, size),
                None => size,
            };
            sum = Some(match (sum, factor > 0) {
                (None, true) => part,
                (None, false) => self.of(Sort::Difference, known(0), part),
                (Some(sum), true) => self.of(Sort::Sum, sum, part),
                (Some(sum), false) => self.of(Sort::Difference, sum, part),
            });
        }
        Some(sum.unwrap_or(0))
    }

    /// A length of the table.
    fn of(&mut self, sort: Sort, left: i64, right: i64) -> i64 {
        let table = &mut self.table;
        *self
            .known
            .entry((sort.into(), left, right))
            .or_insert_with(|| {
                table.push(Length {
                    sort: sort.into(),
                    left,
                    right,
                });
                2 * (table.len() as i64 - 1) + 1
            })
    }
}

/// The whole numbers that solve as many equations, if whole numbers do.
fn solve(rows: &[Vec<i128>], values: &[i128]) -> Option<Vec<i128>> {
    let count = rows.len();
    let mut all: Vec<Vec<i128>> = rows.to_vec();
    for (row, value) in all.iter_mut().zip(values) {
        row.push(*value);
    }
    // Elimination without fractions (Bareiss): divisions are exact.
    let mut before = 1;
    for column in 0..count {
        let pivot = (column..count).find(|&row| all[row][column] != 0)?;
        all.swap(column, pivot);
        let (above, below) = all.split_at_mut(column + 1);
        let pivot = &above[column];
        for row in below {
            let first = row[column];
            for at in column..=count {
                let left = pivot[column].checked_mul(row[at])?;
                let right = first.checked_mul(pivot[at])?;
                row[at] = left.checked_sub(right)? / before;
            }
        }
        before = pivot[column];
    }
    let mut found = vec![0_i128; count];
    for row in (0..count).rev() {
        let mut left = all[row][count];
        for at in row + 1..count {
            left = left.checked_sub(all[row][at].checked_mul(found[at])?)?;
        }
        if left % all[row][row] != 0 {
            return None;
        }
        found[row] = left / all[row][row];
    }
    Some(found)
}
