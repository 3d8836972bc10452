//! The flags of `stats`: statistics of tables that several parties hold.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum, ValueHint};
use madrigal_app::agreed::AgreedFlags;
use madrigal_stats::{Decimal, Fraction, Held, MOST_PLACES, Value, table};

use super::EXIT_STATUS;

/// Lines below the flags.
const BELOW_FLAGS: &str = "\
With --local N the tables are those of the first parties, in order; with --party I there is one, or none at a party that only
helps. Columns are named as in the first line of the tables; a name that has a comma is put in quotes: --mean '\"a, b\",c'.
Numbers have a decimal point, dates are as 2024-02-29; empty cells and NA are missing values, and count nowhere.

";

#[derive(Args, Debug)]
#[command(after_help = below())]
pub struct Stats {
    /// The tables (CSV)
    #[arg(value_name = "TABLE.csv", value_hint = ValueHint::FilePath)]
    pub tables: Vec<PathBuf>,

    /// Who holds what: rows, with the same columns at each party, or columns, of the same rows in the same order
    #[arg(
        long,
        value_name = "WHAT",
        default_value = "rows",
        help_heading = "Question"
    )]
    pub held: HeldArg,

    /// Number of rows
    #[arg(long, help_heading = "Question")]
    pub rows: bool,

    /// Number of values of each of these columns
    #[arg(long, value_name = "COLUMNS", help_heading = "Question")]
    pub count: Vec<Names>,

    /// Sum of each of these columns
    #[arg(long, value_name = "COLUMNS", help_heading = "Question")]
    pub sum: Vec<Names>,

    /// Mean of each of these columns; opens sum and count
    #[arg(long, value_name = "COLUMNS", help_heading = "Question")]
    pub mean: Vec<Names>,

    /// Variance, as of a sample, and standard deviation of each of these columns; opens the count too
    #[arg(long, value_name = "COLUMNS", help_heading = "Question")]
    pub var: Vec<Names>,

    /// Correlation of two columns, of rows in which both have a value; opens variances and covariance times the square of
    /// the count. Give it again for further pairs
    #[arg(long, value_name = "COLUMN,COLUMN", help_heading = "Question")]
    pub corr: Vec<Names>,

    /// Histogram of each of these columns: how many values are between each two edges of --bins, below the first, and from the
    /// last on
    #[arg(long, value_name = "COLUMNS", help_heading = "Question")]
    pub histogram: Vec<Names>,

    /// Edges of the histograms, which are public: of all, or of one column
    #[arg(long, value_name = "[COLUMN=]EDGES", help_heading = "Question")]
    pub bins: Vec<Bins>,

    /// Quantiles of each of these columns, at the fractions of --at: the least value that so large a part of all is not above
    #[arg(long, value_name = "COLUMNS", help_heading = "Question")]
    pub quantiles: Vec<Names>,

    /// Fractions of the quantiles, from 0 for the least value to 1 for the greatest
    #[arg(
        long,
        value_name = "FRACTIONS",
        default_value = "0.25,0.5,0.75",
        help_heading = "Question"
    )]
    pub at: Fractions,

    /// Each statistic of each group by this column; a row without a group counts nowhere
    #[arg(
        long,
        value_name = "COLUMN",
        requires = "groups",
        help_heading = "Question"
    )]
    pub by: Option<String>,

    /// The groups, which are public. A table that has another one is refused before anything is sent
    #[arg(long, value_name = "NAMES", requires = "by", help_heading = "Question")]
    pub groups: Option<Names>,

    /// Put rows of all other groups together in one more
    #[arg(long, requires = "by", help_heading = "Question")]
    pub other: bool,

    /// Withhold what rests on fewer values than this, all parties' together or all but one party's; 1 withholds nothing
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..), help_heading = "Question")]
    pub least: u32,

    /// Fill up each party's rows to N for quantiles, so that nobody learns how many rows a party has
    #[arg(long, value_name = "N", help_heading = "Question")]
    pub pad: Option<usize>,

    /// Digits after the point of a column; more in a table are refused [default: the most that any party's values have]
    #[arg(long, value_name = "COLUMN=N", help_heading = "Question")]
    pub decimals: Vec<Places>,

    /// Least and greatest value of a column; others in a table are refused. Quantiles of small ranges take less time
    #[arg(long, value_name = "COLUMN=LEAST:GREATEST", help_heading = "Question")]
    pub range: Vec<Range>,

    /// Character that separates cells, or `tab`
    #[arg(long, value_name = "CHARACTER", default_value = ",", value_parser = delimiter)]
    pub delimiter: char,

    /// Do not ask whether to go on after all that parties will learn has been told
    #[arg(long)]
    pub yes: bool,

    /// Say what it costs, for tables of --local, and compute nothing
    #[arg(long, requires = "local")]
    pub explain: bool,

    /// Print JSON: answers and costs
    #[arg(long)]
    pub json: bool,

    /// Print answers alone
    #[arg(long, short)]
    pub quiet: bool,

    /// Let errors tell what stands in one's own table and is wrong there; else they tell the place alone
    #[arg(long)]
    pub show_values: bool,

    #[command(flatten)]
    pub run: AgreedFlags,
}

fn below() -> String {
    format!("{BELOW_FLAGS}{EXIT_STATUS}")
}

/// Names of columns or groups.
#[derive(Debug, Clone)]
pub struct Names(pub Vec<String>);

/// `[COLUMN=]EDGES`
#[derive(Debug, Clone)]
pub struct Bins {
    pub column: Option<String>,
    pub edges: Vec<Value>,
}

/// Fractions of quantiles.
#[derive(Debug, Clone)]
pub struct Fractions(pub Vec<Fraction>);

/// `COLUMN=N`
#[derive(Debug, Clone)]
pub struct Places {
    pub column: String,
    pub places: u32,
}

/// `COLUMN=LEAST:GREATEST`
#[derive(Debug, Clone)]
pub struct Range {
    pub column: String,
    pub least: Value,
    pub greatest: Value,
}

/// Who holds what.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeldArg {
    /// Each party has rows of its own, with the same columns
    Rows,
    /// Each party has columns of its own, of the same rows in the same order
    Columns,
}

impl From<HeldArg> for Held {
    fn from(held: HeldArg) -> Self {
        match held {
            HeldArg::Rows => Self::Rows,
            HeldArg::Columns => Self::Columns,
        }
    }
}

impl FromStr for Names {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = table::names(text).map_err(|error| error.to_string())?;
        match names.is_empty() || names.iter().any(String::is_empty) {
            true => Err("expected names with commas between them, for example pay,age".into()),
            false => Ok(Self(names)),
        }
    }
}

impl FromStr for Bins {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (column, edges) = match text.rsplit_once('=') {
            Some((column, edges)) => (Some(column.to_owned()), edges),
            None => (None, text),
        };
        let edge = |text: &str| Value::read(text.trim()).map_err(|why| format!("{text:?} {why}"));
        let edges = edges.split(',').map(edge).collect::<Result<_, _>>()?;
        Ok(Self { column, edges })
    }
}

impl FromStr for Fractions {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fraction = |text: &str| {
            let found = Fraction::read(text.trim());
            found
                .ok_or("expected fractions from 0 to 1 with up to six digits, for example 0.25,0.5")
        };
        let all: Result<Vec<_>, _> = text.split(',').map(fraction).collect();
        Ok(Self(all?))
    }
}

impl FromStr for Places {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.rsplit_once('=');
        let parts = parts.and_then(|(column, places)| Some((column, places.parse().ok()?)));
        match parts.filter(|&(_, places)| places <= MOST_PLACES) {
            Some((column, places)) => Ok(Self {
                column: column.to_owned(),
                places,
            }),
            None => Err(format!(
                "expected COLUMN=N with at most {MOST_PLACES} digits after the point, for example pay=2"
            )),
        }
    }
}

impl FromStr for Range {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.rsplit_once('=').and_then(|(column, range)| {
            let (least, greatest) = range.split_once(':')?;
            let read = |text| Value::read(text).ok();
            Some((column, read(least)?, read(greatest)?))
        });
        let (column, least, greatest) =
            parts.ok_or("expected COLUMN=LEAST:GREATEST, for example age=0:120")?;
        Ok(Self {
            column: column.to_owned(),
            least,
            greatest,
        })
    }
}

/// A character between cells.
fn delimiter(text: &str) -> Result<char, String> {
    let mut characters = text.chars();
    match (text, characters.next(), characters.next()) {
        ("tab", ..) => Ok('\t'),
        (_, Some(one), None) if !one.is_alphanumeric() && !"\"\n\r.-+ ".contains(one) => Ok(one),
        _ => Err("expected one character such as `;`, or `tab`".into()),
    }
}

/// The number that an edge or fraction has, for facts.
pub fn told(value: &Value) -> String {
    match value {
        Value::Number(Decimal { units, places }) => {
            madrigal_stats::decimal((*units).into(), *places)
        }
        Value::Date(days) => madrigal_stats::Day(*days).to_string(),
    }
}
