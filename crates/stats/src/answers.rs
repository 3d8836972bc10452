//! Answers: what was opened, as numbers for people and scripts.

use madrigal_core::text::plain;
use madrigal_program::Outputs;
use serde::Serialize;
use serde_json::{Number, Value as Json};

use crate::card::{Agreed, AgreedColumn};
use crate::cell::{Day, Kind, decimal};
use crate::program::{Answering, Handle};
use crate::question::{Ask, Held, Question};

/// JSON that is a number or a text.
pub type NumberOrText = Json;

/// One number, of one group.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OneAnswer {
    /// Statistic: `count`, `sum`, `mean`, `variance`, `correlation`, `histogram` or `quantiles`.
    pub statistic: &'static str,
    /// Columns that it is of.
    pub columns: Vec<String>,
    /// Group; `null` where there are none.
    pub group: Option<String>,
    /// Part of the values that are not above a quantile.
    pub at: Option<f64>,
    /// Edge of a bin from which on values are in it; `null` for the first bin.
    pub from: Option<String>,
    /// Edge of a bin below which values are in it; `null` for the last bin.
    pub to: Option<String>,
    /// Whether it is withheld, because too few members are in the group or bin.
    pub withheld: bool,
    /// Number of values that it is of, where that is opened too.
    pub count: Option<u64>,
    /// The number: a text where it is a date, or a sum that JSON's numbers do not hold; `null` where it is withheld, or where
    /// there is none.
    pub value: Option<NumberOrText>,
    /// Standard deviation, beside a variance.
    pub deviation: Option<f64>,
    /// The number as people read it.
    #[serde(skip)]
    text: String,
}

/// All answers of a question, in its order, and within each statistic in that of the groups.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answers {
    /// The answers.
    pub answers: Vec<OneAnswer>,
    /// Fewest members of a group or bin that is told of.
    pub least: u32,
    /// Whether there are groups.
    #[serde(skip)]
    grouped: bool,
    /// Whether each party has rows of its own.
    #[serde(skip)]
    rows: bool,
}

/// The most units of a sum that is a number of JSON's as well.
const EXACT: u64 = 1 << 53;

impl Answers {
    /// Reads the outputs of the question's program.
    pub fn new(
        question: &Question,
        agreed: &Agreed,
        answering: &Answering,
        outputs: &Outputs,
    ) -> Self {
        let mut all = Vec::new();
        for (ask, handle) in question.asks.iter().zip(&answering.handles) {
            let telling = Telling {
                question,
                agreed,
                ask,
            };
            telling.tell(*handle, outputs, &mut all);
        }
        Self {
            answers: all,
            least: question.least,
            grouped: question.by.is_some(),
            rows: question.held == Held::Rows,
        }
    }

    /// The answers as a table for people.
    pub fn text(&self) -> String {
        let mut rows = Vec::new();
        for answer in &self.answers {
            let title = match answer.columns.is_empty() {
                true => "count of rows".to_owned(),
                false => format!("{} {}", answer.statistic, answer.columns.join(", ")),
            };
            let mut row = vec![plain(&title).into_owned()];
            if self.grouped {
                row.push(plain(answer.group.as_deref().unwrap_or_default()).into_owned());
            }
            row.push(match (answer.at, &answer.from, &answer.to) {
                (Some(at), ..) => format!("at {at}"),
                (_, None, Some(to)) => format!("below {to}"),
                (_, Some(from), Some(to)) => format!("{from} to below {to}"),
                (_, Some(from), None) => format!("{from} and more"),
                _ => String::new(),
            });
            row.push(match answer.withheld {
                true => "withheld".to_owned(),
                false => answer.text.clone(),
            });
            let shown = !answer.withheld && !matches!(answer.statistic, "count" | "histogram");
            let count = answer.count.filter(|_| shown);
            row.push(count.map_or_else(String::new, |count| format!("of {count}")));
            rows.push(row);
        }
        let mut text = aligned(&rows);
        if self.answers.iter().any(|answer| answer.withheld) {
            let least = self.least;
            text += &format!("withheld: of fewer than {least} values");
            if self.rows {
                text += &format!(", or fewer than {least} besides those of one party");
            }
            let bins = self
                .answers
                .iter()
                .any(|answer| answer.statistic == "histogram");
            text += if bins {
                ", or to hide such a bin\n"
            } else {
                "\n"
            };
        }
        text
    }
}

/// Rows with two spaces between columns, none of which is empty.
fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..columns)
        .map(|column| width(column).unwrap_or(0))
        .collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, &width) in row.iter().zip(&widths).filter(|(_, width)| **width > 0) {
            line += &format!("{cell:width$}  ");
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// A statistic and what is known of it.
struct Telling<'a> {
    question: &'a Question,
    agreed: &'a Agreed,
    ask: &'a Ask,
}

impl Telling<'_> {
    fn tell(&self, handle: Handle, outputs: &Outputs, all: &mut Vec<OneAnswer>) {
        let groups = 0..self.question.groups();
        let withholds = self.question.least > 1;
        let gone = |none: bool| none && withholds;
        match handle {
            Handle::Count(count) => {
                let counts = outputs.get(count);
                all.extend(groups.map(|group| {
                    let count = counts[group];
                    self.answer(
                        group,
                        gone(count == 0),
                        Some(count),
                        number(count.into(), 0),
                    )
                }));
            }
            Handle::Sum(shown, sum) => {
                let (shown, sums) = (outputs.get(shown), outputs.get(sum));
                let places = self.column().places;
                all.extend(groups.map(|group| {
                    let sum = i128::from(sums[group]);
                    let told = match shown[group] {
                        true => number(sum, places),
                        false => nothing("no value"),
                    };
                    self.answer(group, gone(!shown[group]), None, told)
                }));
            }
            Handle::Mean(count, sum) => {
                let (counts, sums) = (outputs.get(count), outputs.get(sum));
                all.extend(groups.map(|group| {
                    let told = self.mean(counts[group], sums[group]);
                    self.answer(group, gone(counts[group] == 0), Some(counts[group]), told)
                }));
            }
            Handle::Variance(count, spread) => {
                let (counts, spreads) = (outputs.get(count), outputs.get(spread));
                let scale = 10_f64.powi(self.column().places as i32);
                all.extend(groups.map(|group| {
                    let count = counts[group] as f64;
                    let variance = (counts[group] > 1)
                        .then(|| spreads[group] as f64 / (count * (count - 1.0)) / scale / scale);
                    let deviation = variance.map(f64::sqrt);
                    let told = match (variance, deviation) {
                        (Some(variance), Some(deviation)) => {
                            let text =
                                format!("{} (deviation {})", digits(variance), digits(deviation));
                            (Number::from_f64(variance).map(Json::Number), text)
                        }
                        _ => nothing("none of fewer than 2 values"),
                    };
                    let gone = gone(counts[group] == 0);
                    OneAnswer {
                        deviation,
                        ..self.answer(group, gone, Some(counts[group]), told)
                    }
                }));
            }
            Handle::Correlation(shown, spreads) => {
                let (shown, spreads) = (outputs.get(shown), outputs.get(spreads));
                let groups_count = self.question.groups();
                all.extend(groups.map(|group| {
                    let [xx, yy, xy] =
                        [0, 1, 2].map(|at| spreads[at * groups_count + group] as f64);
                    let told = match xx > 0.0 && yy > 0.0 {
                        true => {
                            let r = (xy / (xx.sqrt() * yy.sqrt())).clamp(-1.0, 1.0);
                            (Number::from_f64(r).map(Json::Number), format!("{r:.6}"))
                        }
                        false => nothing("none, as one column does not vary"),
                    };
                    self.answer(group, gone(!shown[group]), None, told)
                }));
            }
            Handle::Histogram(counts) => self.histogram(&outputs.get(counts), withholds, all),
            Handle::Quantiles(shown, values) => {
                self.quantiles(&outputs.get(shown), &outputs.get(values), withholds, all);
            }
        }
    }

    fn histogram(&self, counts: &[i64], withholds: bool, all: &mut Vec<OneAnswer>) {
        let Ask::Histogram(_, edges) = self.ask else {
            return;
        };
        let column = self.column();
        let told =
            |edge: &crate::cell::Value| value(column, edge.units(column.places).unwrap_or(0));
        let edges: Vec<String> = edges.iter().map(told).map(|(_, text)| text).collect();
        let bins = edges.len() + 1;
        for (place, &count) in counts.iter().enumerate() {
            let (group, bin) = (place / bins, place % bins);
            let gone = withholds && count == 0;
            all.push(OneAnswer {
                from: bin.checked_sub(1).and_then(|bin| edges.get(bin)).cloned(),
                to: edges.get(bin).cloned(),
                ..self.answer(group, gone, Some(count), number(count.into(), 0))
            });
        }
    }

    fn quantiles(&self, shown: &[bool], values: &[i64], withholds: bool, all: &mut Vec<OneAnswer>) {
        let Ask::Quantiles(_, at) = self.ask else {
            return;
        };
        let column = self.column();
        for (place, &found) in values.iter().enumerate() {
            let (group, at) = (place / at.len(), at[place % at.len()]);
            let told = match shown[group] {
                true => value(column, found.saturating_add(column.range.0)),
                false => nothing("no value"),
            };
            let answer = self.answer(group, withholds && !shown[group], None, told);
            all.push(OneAnswer {
                at: Some(at.number()),
                ..answer
            });
        }
    }

    /// The mean of numbers, or of days as the day that it is in.
    fn mean(&self, count: i64, sum: i64) -> (Option<Json>, String) {
        let column = self.column();
        match (count, column.kind) {
            (0, _) => nothing("no value"),
            (count, Kind::Date) => value(column, sum.div_euclid(count)),
            (count, Kind::Number) => {
                let scale = 10_f64.powi(column.places as i32);
                let mean = sum as f64 / count as f64 / scale;
                // Rounded to four more digits than the values have.
                let units = i128::from(sum) * 10_000;
                let rounded = (2 * units + i128::from(count)).div_euclid(2 * i128::from(count));
                let text = decimal(rounded, column.places + 4);
                (Number::from_f64(mean).map(Json::Number), text)
            }
        }
    }

    fn column(&self) -> &AgreedColumn {
        let columns = self.ask.columns();
        &self.agreed.columns[columns.first().copied().unwrap_or(0)]
    }

    fn answer(
        &self,
        group: usize,
        withheld: bool,
        count: Option<i64>,
        (value, text): (Option<Json>, String),
    ) -> OneAnswer {
        let columns = self.ask.columns().into_iter();
        let by = self.question.by.as_ref();
        OneAnswer {
            statistic: self.ask.word(),
            columns: columns
                .map(|one| self.question.columns[one].name.clone())
                .collect(),
            group: by.map(|by| by.name(group).to_owned()),
            at: None,
            from: None,
            to: None,
            withheld,
            count: count
                .filter(|_| !withheld)
                .and_then(|count| u64::try_from(count).ok()),
            value: value.filter(|_| !withheld),
            deviation: None,
            text,
        }
    }
}

fn nothing(why: &str) -> (Option<Json>, String) {
    (None, why.to_owned())
}

/// A number of units.
fn number(units: i128, places: u32) -> (Option<Json>, String) {
    let text = decimal(units, places);
    let json = match units.unsigned_abs() <= EXACT.into() {
        true => serde_json::from_str(&text).ok(),
        false => Some(Json::String(text.clone())),
    };
    (json, text)
}

/// A value of a column.
fn value(column: &AgreedColumn, units: i64) -> (Option<Json>, String) {
    match column.kind {
        Kind::Number => number(units.into(), column.places),
        Kind::Date => {
            let text = Day(units).to_string();
            (Some(Json::String(text.clone())), text)
        }
    }
}

/// Seven digits of a number that is not negative, or all before the point.
fn digits(number: f64) -> String {
    let before = number.abs().max(1.0).log10().floor() as usize + 1;
    format!("{number:.*}", 7_usize.saturating_sub(before).max(2))
}
