//! Facts that each party tells all others before they compute, and what all of them make of these.

use serde::{Deserialize, Serialize};

use crate::cell::{Kind, MOST_PLACES};
use crate::holding::Holding;
use crate::question::{Held, MOST_ROWS, Question, QuestionError};

/// A party's facts. They are public, and tell nothing but what [`learned`](fn@crate::learned) says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Card {
    /// Number of rows, where others must know it: as many as theirs, or to compute with each row.
    rows: Option<usize>,
    /// For each column of the question what it is here; nothing where it is not here.
    columns: Vec<Option<ColumnCard>>,
    /// Whether the column of groups is here.
    groups: bool,
    /// Whether anything is here.
    holds: bool,
}

/// Facts of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ColumnCard {
    /// `number` or `date`; nothing if no value is there.
    kind: Option<KindCard>,
    /// The most digits after the point.
    places: u32,
}

/// Kinds as cards name them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum KindCard {
    Number,
    Date,
}

/// The most bytes of a card.
pub const MOST_BYTES: usize = 1 << 16;

/// Reasons why the parties' parts do not go together. Parties come to the same.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AgreeError {
    /// A message that is no card of this question.
    #[error(
        "party {party} has told something else than its columns and rows ({why}); have it run the same version"
    )]
    Card {
        /// The party.
        party: usize,
        /// Reason.
        why: String,
    },
    /// A column that nobody holds.
    #[error("no party holds column {0}; correct the name, or the table of the party that should")]
    Nobody(String),
    /// A column that two parties hold.
    #[error(
        "column {column} is held by party {first} and by party {second}; take it out of one's table, or say that parties hold rows"
    )]
    Two {
        /// Name of the column.
        column: String,
        /// A party.
        first: usize,
        /// Another one.
        second: usize,
    },
    /// Different numbers of rows where each party has columns of the same.
    #[error(
        "party {first} has {first_rows} rows and party {second} has {second_rows}; all need the same rows in the same order, or say that parties hold rows"
    )]
    Rows {
        /// A party.
        first: usize,
        /// Rows of that party.
        first_rows: usize,
        /// Another one.
        second: usize,
        /// Rows of the other.
        second_rows: usize,
    },
    /// Different kinds of values.
    #[error(
        "column {column} has {first_kind} at party {first} and {second_kind} at party {second}; make them alike"
    )]
    Kinds {
        /// Name of the column.
        column: String,
        /// A party.
        first: usize,
        /// Kind of its values.
        first_kind: Kind,
        /// Another one.
        second: usize,
        /// Kind of its values.
        second_kind: Kind,
    },
    /// No party has a table.
    #[error("no party has a table; give one at least")]
    NoTable,
    /// A statistic that a column does not have.
    #[error("{0}")]
    Question(#[from] QuestionError),
}

/// Facts that all parties agree on: with the question they are all that the program depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agreed {
    /// Number of parties.
    pub parties: usize,
    /// Number of rows that each party's values are computed with, row by row, at least one; of no meaning where only sums
    /// are brought.
    pub rows: Vec<usize>,
    /// Whether each party holds anything.
    pub holds: Vec<bool>,
    /// The columns of the question.
    pub columns: Vec<AgreedColumn>,
    /// Party that holds the column of groups, where parties hold columns.
    pub group_holder: Option<usize>,
}

/// A column as all parties know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgreedColumn {
    /// Kind of its values.
    pub kind: Kind,
    /// Digits after the point that it is computed with.
    pub places: u32,
    /// Least and greatest value that it can have, in units of the last place.
    pub range: (i64, i64),
    /// Party that holds it, where parties hold columns.
    pub holder: Option<usize>,
}

impl Card {
    /// The facts of a party's part.
    pub fn new(question: &Question, holding: &Holding) -> Self {
        let columns = holding.columns.iter().map(|column| {
            let column = column.as_ref()?;
            let kind = column.kind.map(|kind| match kind {
                Kind::Number => KindCard::Number,
                Kind::Date => KindCard::Date,
            });
            Some(ColumnCard {
                kind,
                places: column.places,
            })
        });
        let holds = !holding.is_nothing() || (question.columns.is_empty() && holding.rows > 0);
        let each = question.held == Held::Columns || !question.quantile_columns().is_empty();
        Self {
            rows: (holds && each).then_some(question.pad.unwrap_or(holding.rows)),
            columns: columns.collect(),
            groups: holding.groups.is_some(),
            holds,
        }
    }

    /// The bytes that are told.
    pub fn bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

impl Agreed {
    /// Makes one agreement of all parties' cards.
    ///
    /// # Errors
    /// [`AgreeError`] for the first thing that does not go together.
    pub fn new(question: &Question, cards: &[Vec<u8>]) -> Result<Self, AgreeError> {
        let parties = cards.len();
        let read = cards.iter().enumerate();
        let cards = read.map(|(party, bytes)| card(question, party, parties, bytes));
        let cards: Vec<Card> = cards.collect::<Result<_, _>>()?;
        let each = cards.iter().enumerate();
        let mut rows: Vec<usize> = cards.iter().map(|card| card.rows.unwrap_or(0)).collect();
        let mut group_holder = None;
        match question.held {
            Held::Columns => {
                let mut told = each.filter_map(|(party, card)| Some((party, card.rows?)));
                let first = told.next();
                for (second, second_rows) in told {
                    if let Some((first, first_rows)) = first.filter(|one| one.1 != second_rows) {
                        return Err(AgreeError::Rows {
                            first,
                            first_rows,
                            second,
                            second_rows,
                        });
                    }
                }
                if let Some(by) = &question.by {
                    let holds = cards.iter().map(|card| card.groups);
                    group_holder = Some(only(&by.column, holds)?);
                }
            }
            Held::Rows => {}
        }
        // A row at least, that counts for nothing: programs have no empty values then.
        rows.iter_mut().for_each(|rows| *rows = (*rows).max(1));
        let columns = (0..question.columns.len()).map(|at| agreed(question, &cards, at));
        let columns = columns.collect::<Result<_, _>>()?;
        if !cards.iter().any(|card| card.holds) {
            return Err(AgreeError::NoTable);
        }
        Ok(Self {
            parties,
            rows,
            holds: cards.iter().map(|card| card.holds).collect(),
            columns,
            group_holder,
        })
    }

    /// Parties that hold anything.
    pub fn holders(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.parties).filter(|&party| self.holds[party])
    }
}

/// Reads a party's card.
fn card(
    question: &Question,
    party: usize,
    parties: usize,
    bytes: &[u8],
) -> Result<Card, AgreeError> {
    let wrong = |why: &str| AgreeError::Card {
        party,
        why: why.to_owned(),
    };
    let card: Card = serde_json::from_slice(bytes).map_err(|error| wrong(&error.to_string()))?;
    let columns = question.columns.len();
    let most = match question.held {
        Held::Rows => question.pad.unwrap_or(MOST_ROWS / parties.max(1)),
        Held::Columns => MOST_ROWS,
    };
    let places = card.columns.iter().flatten().map(|column| column.places);
    let here = card.columns.iter().flatten().count();
    let each = question.held == Held::Columns || !question.quantile_columns().is_empty();
    let whole =
        question.held == Held::Columns || here == columns && card.groups == question.by.is_some();
    match () {
        () if card.columns.len() != columns => Err(wrong("another number of columns")),
        () if places.max().unwrap_or(0) > MOST_PLACES => Err(wrong("too many digits")),
        () if card.rows.unwrap_or(0) > most => Err(wrong("too many rows")),
        () if card.rows.is_some() != (card.holds && each) => Err(wrong("its number of rows")),
        () if card.holds && !whole => Err(wrong("a part of the columns")),
        () if !card.holds && (here > 0 || card.groups) => Err(wrong("columns without rows")),
        () if card.groups && question.by.is_none() => Err(wrong("a column of groups")),
        () => Ok(card),
    }
}

/// The one party that holds a column.
fn only(column: &str, holds: impl Iterator<Item = bool>) -> Result<usize, AgreeError> {
    let column = || column.to_owned();
    let mut holders = holds
        .enumerate()
        .filter(|(_, holds)| *holds)
        .map(|(party, _)| party);
    let first = holders.next().ok_or_else(|| AgreeError::Nobody(column()))?;
    match holders.next() {
        None => Ok(first),
        Some(second) => Err(AgreeError::Two {
            column: column(),
            first,
            second,
        }),
    }
}

/// Makes of all cards what is agreed on of a column.
fn agreed(question: &Question, cards: &[Card], at: usize) -> Result<AgreedColumn, AgreeError> {
    let name = &question.columns[at].name;
    let holder = match question.held {
        Held::Rows => None,
        Held::Columns => Some(only(
            name,
            cards.iter().map(|card| card.columns[at].is_some()),
        )?),
    };
    let mut places = question.places(at);
    let mut found: Option<(usize, Kind)> = None;
    for (party, card) in cards.iter().enumerate() {
        let Some(column) = card.columns[at] else {
            continue;
        };
        places = places.max(column.places);
        let kind = column.kind.map(|kind| match kind {
            KindCard::Number => Kind::Number,
            KindCard::Date => Kind::Date,
        });
        match (found, kind) {
            (Some((first, first_kind)), Some(second_kind)) if first_kind != second_kind => {
                let (column, second) = (name.clone(), party);
                return Err(AgreeError::Kinds {
                    column,
                    first,
                    first_kind,
                    second,
                    second_kind,
                });
            }
            (None, Some(kind)) => found = Some((party, kind)),
            _ => {}
        }
    }
    let kind = found.map_or(Kind::Number, |(_, kind)| kind);
    // A column without any value is of any kind.
    if found.is_some() {
        question.check_kind(at, kind)?;
    }
    Ok(AgreedColumn {
        kind,
        places,
        range: question.range(at, kind, places),
        holder,
    })
}
