//! Questions: which statistics of which columns, among whom, of which groups; public, and the same at all parties.

use std::collections::BTreeSet;

use crate::cell::{DAYS, Decimal, Kind, LIMIT, Value};

/// The most rows of all parties together.
pub const MOST_ROWS: usize = 1 << 22;

/// Who holds what of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// Each party has rows of its own, with the same columns.
    Rows,
    /// Each party has columns of its own, of the same rows in the same order.
    Columns,
}

/// A statistic that is asked for. Columns are places in [`Question::columns`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ask {
    /// Number of rows.
    Rows,
    /// Number of values that are not missing.
    Count(usize),
    /// Sum of the values.
    Sum(usize),
    /// Mean of the values.
    Mean(usize),
    /// Variance of the values, as of a sample.
    Variance(usize),
    /// Correlation of two columns, of rows in which both have a value.
    Correlation(usize, usize),
    /// Numbers of values below the first edge, between each two, and from the last edge on.
    Histogram(usize, Vec<Value>),
    /// Quantiles: the least value that so large a part of the values is not above.
    Quantiles(usize, Vec<Fraction>),
}

/// A fraction from 0 to 1, in lowest terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fraction {
    /// The upper part.
    pub parts: u32,
    /// The lower part.
    pub of: u32,
}

/// Groups of rows, by a column whose values are names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Groups {
    /// Name of the column.
    pub column: String,
    /// Names of the groups, in the order in which they are told.
    pub names: Vec<String>,
    /// Whether there is a last group of all other names.
    pub other: bool,
}

/// A column of numbers or dates that is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// Name of the column.
    pub name: String,
    /// Digits after the point, where the question says so; else the most that any party's values have.
    pub places: Option<u32>,
    /// Least and greatest value, where the question says so.
    pub range: Option<(Value, Value)>,
}

/// The whole question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Who holds what.
    pub held: Held,
    /// The columns that statistics are of.
    pub columns: Vec<Asked>,
    /// The statistics.
    pub asks: Vec<Ask>,
    /// Groups, if there are any.
    pub by: Option<Groups>,
    /// Fewest members of a group that is told of.
    pub least: u32,
    /// Number of rows that each party's are filled up to, so that nobody learns how many it has.
    pub pad: Option<usize>,
}

/// Reasons why a question cannot be answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QuestionError {
    /// No statistic.
    #[error("no statistic is asked for")]
    Nothing,
    /// A statistic that is asked for twice.
    #[error("{0} is asked for twice")]
    Twice(String),
    /// No groups, or one twice.
    #[error("the groups of {column} are to be named, each once")]
    Groups {
        /// Name of the column.
        column: String,
    },
    /// A column that is to be a number and a group.
    #[error("column {0} has the groups, and can have no other statistic")]
    Group(String),
    /// A fewest number that no group is below.
    #[error("the fewest members of a group are 1 at least")]
    Least,
    /// Edges of a histogram that do not rise.
    #[error("the edges of the histogram of {0} are to rise, and to be numbers or dates alike")]
    Edges(String),
    /// A range without values.
    #[error(
        "the range of {0} is to go from its least to its greatest value, both numbers or dates"
    )]
    Range(String),
    /// A correlation of a column with itself.
    #[error("the correlation of {0} with itself is 1")]
    Itself(String),
    /// Rows that are filled up to a number that cannot be, or where that hides nothing.
    #[error(
        "rows are filled up to {most} at most, and only where each party has rows of its own and quantiles are asked for: nothing else tells how many rows a party has"
    )]
    Pad {
        /// The most.
        most: usize,
    },
    /// More than is answered at once.
    #[error("{what} are {found}, and at most {most} at once are answered")]
    Many {
        /// Subject.
        what: &'static str,
        /// Number that is asked for.
        found: usize,
        /// Most.
        most: usize,
    },
    /// A statistic that a column of this kind does not have, or a range or edges of another kind.
    #[error("{what} of column {column}, which has {found}, is not to be had: {why}")]
    Kind {
        /// Statistic.
        what: String,
        /// Name of the column.
        column: String,
        /// Kind of its values.
        found: Kind,
        /// Reason.
        why: &'static str,
    },
}

/// The most groups, edges, fractions, columns and statistics.
pub const MOST: usize = 1_000;

impl Fraction {
    /// Reads a decimal number from 0 to 1 with up to six digits after the point.
    pub fn read(text: &str) -> Option<Self> {
        let number = Decimal::read(text).ok().filter(|one| one.places <= 6)?;
        let units = number
            .scaled(6)
            .filter(|units| (0..=1_000_000).contains(units))?;
        let (parts, of) = (units as u32, 1_000_000);
        let (mut a, mut b) = (of, parts);
        while b > 0 {
            (a, b) = (b, a % b);
        }
        Some(Self {
            parts: parts / a,
            of: of / a,
        })
    }

    /// The fraction as a number.
    pub fn number(self) -> f64 {
        f64::from(self.parts) / f64::from(self.of)
    }
}

impl Groups {
    /// Number of groups, that of other names included.
    pub fn count(&self) -> usize {
        self.names.len() + usize::from(self.other)
    }

    /// Name of a group.
    pub fn name(&self, group: usize) -> &str {
        self.names.get(group).map_or("(other)", String::as_str)
    }
}

impl Ask {
    /// Columns that it is of.
    pub fn columns(&self) -> Vec<usize> {
        match *self {
            Self::Rows => Vec::new(),
            Self::Correlation(first, second) => vec![first, second],
            Self::Count(one)
            | Self::Sum(one)
            | Self::Mean(one)
            | Self::Variance(one)
            | Self::Histogram(one, _)
            | Self::Quantiles(one, _) => vec![one],
        }
    }

    /// Word for the statistic.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Rows | Self::Count(_) => "count",
            Self::Sum(_) => "sum",
            Self::Mean(_) => "mean",
            Self::Variance(_) => "variance",
            Self::Correlation(..) => "correlation",
            Self::Histogram(..) => "histogram",
            Self::Quantiles(..) => "quantiles",
        }
    }
}

impl Question {
    /// Checks all that can be without a table.
    ///
    /// # Errors
    /// [`QuestionError`] for the first thing that is wrong.
    pub fn check(&self) -> Result<(), QuestionError> {
        if self.asks.is_empty() {
            return Err(QuestionError::Nothing);
        }
        if self.least == 0 {
            return Err(QuestionError::Least);
        }
        let few = |what, found| match found <= MOST {
            true => Ok(()),
            false => Err(QuestionError::Many {
                what,
                found,
                most: MOST,
            }),
        };
        let hides = self.held == Held::Rows && !self.quantile_columns().is_empty();
        if self
            .pad
            .is_some_and(|pad| !hides || pad == 0 || pad > MOST_ROWS)
        {
            return Err(QuestionError::Pad { most: MOST_ROWS });
        }
        few("statistics", self.asks.len())?;
        few("columns", self.columns.len())?;
        if let Some(by) = &self.by {
            few("groups", by.count())?;
            let names: BTreeSet<&String> = by.names.iter().collect();
            let wrong = by.names.is_empty() || names.len() < by.names.len();
            if wrong || by.names.iter().any(String::is_empty) {
                let column = by.column.clone();
                return Err(QuestionError::Groups { column });
            }
            if let Some(one) = self.columns.iter().find(|one| one.name == by.column) {
                return Err(QuestionError::Group(one.name.clone()));
            }
        }
        for one in &self.columns {
            let ordered = one.range.is_none_or(|(least, greatest)| {
                let both = least.units(9).zip(greatest.units(9));
                let both = both.or(least.units(0).zip(greatest.units(0)));
                least.kind() == greatest.kind() && both.is_some_and(|(least, most)| least < most)
            });
            if !ordered {
                return Err(QuestionError::Range(one.name.clone()));
            }
        }
        for (place, ask) in self.asks.iter().enumerate() {
            if self.asks[..place].contains(ask) {
                return Err(QuestionError::Twice(self.title(ask)));
            }
            match ask {
                Ask::Correlation(first, second) if first == second => {
                    return Err(QuestionError::Itself(self.columns[*first].name.clone()));
                }
                Ask::Histogram(column, edges) => {
                    few("edges", edges.len())?;
                    let kind = edges.first().map(|edge| edge.kind());
                    let places = edges.iter().map(|edge| edge.places()).max().unwrap_or(0);
                    let units: Option<Vec<i64>> =
                        edges.iter().map(|one| one.units(places)).collect();
                    let rising = units.is_some_and(|units| units.is_sorted_by(|a, b| a < b));
                    let alike = edges.iter().all(|edge| Some(edge.kind()) == kind);
                    if edges.is_empty() || !rising || !alike {
                        return Err(QuestionError::Edges(self.columns[*column].name.clone()));
                    }
                }
                Ask::Quantiles(_, at) => few("quantiles", at.len())?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Checks that a column of this kind has the statistics that are asked of it.
    ///
    /// # Errors
    /// [`QuestionError::Kind`] for the first that it lacks.
    pub fn check_kind(&self, column: usize, found: Kind) -> Result<(), QuestionError> {
        let wrong = |what: &str, why| {
            let (what, column) = (what.to_owned(), self.columns[column].name.clone());
            Err(QuestionError::Kind {
                what,
                column,
                found,
                why,
            })
        };
        let other = |value: &Value| value.kind() != found;
        if self.columns[column]
            .range
            .is_some_and(|(least, _)| other(&least))
        {
            return wrong("that range", "its ends are of another kind");
        }
        for ask in self
            .asks
            .iter()
            .filter(|ask| ask.columns().contains(&column))
        {
            match ask {
                Ask::Sum(_) if found == Kind::Date => {
                    return wrong("the sum", "days do not add up; ask for the mean");
                }
                Ask::Histogram(_, edges) if edges.iter().any(other) => {
                    return wrong("the histogram", "its edges are of another kind");
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Number of groups; 1 where there are none.
    pub fn groups(&self) -> usize {
        self.by.as_ref().map_or(1, Groups::count)
    }

    /// Columns whose quantiles are asked for, each once, in order.
    pub fn quantile_columns(&self) -> Vec<usize> {
        let mut columns: Vec<usize> = Vec::new();
        for ask in &self.asks {
            if let Ask::Quantiles(column, _) = ask
                && !columns.contains(column)
            {
                columns.push(*column);
            }
        }
        columns
    }

    /// Digits after the point that the question itself has of a column.
    pub fn places(&self, column: usize) -> u32 {
        let asked = &self.columns[column];
        let ends = asked.range.iter().flat_map(|&(least, most)| [least, most]);
        let edges = self.asks.iter().filter_map(|ask| match ask {
            Ask::Histogram(of, edges) if *of == column => Some(edges.iter().copied()),
            _ => None,
        });
        let all = ends.chain(edges.flatten()).map(Value::places);
        all.chain(asked.places).max().unwrap_or(0)
    }

    /// Least and greatest value that a column can have, in units of its last place.
    pub fn range(&self, column: usize, kind: Kind, places: u32) -> (i64, i64) {
        let given = self.columns[column].range;
        let given = given.and_then(|(least, most)| least.units(places).zip(most.units(places)));
        given.unwrap_or(match kind {
            Kind::Number => (1 - LIMIT, LIMIT - 1),
            Kind::Date => DAYS,
        })
    }

    /// The statistic and its columns, as in `mean pay`.
    pub fn title(&self, ask: &Ask) -> String {
        let columns = ask.columns().into_iter();
        let names: Vec<&str> = columns.map(|one| &*self.columns[one].name).collect();
        match names.is_empty() {
            true => "count of rows".to_owned(),
            false => format!("{} {}", ask.word(), names.join(", ")),
        }
    }
}
