//! The flags of each command.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Parser, Subcommand, ValueHint};
use madrigal_app::failure::EXIT_STATUS;
use madrigal_app::flags::{TransportArg, threads};
use madrigal_app::from_file::ProgramFlags;
use madrigal_app::holders::HolderArg;
use madrigal_app::receivers::{Receivers, client};
use madrigal_program::lower::Mix;
use madrigal_sql::files::{Format, Noise};
use madrigal_tables::MOST_PAIRS;

/// Queries in SQL on tables that several parties hold, without any of them showing its own
#[derive(Parser, Debug)]
#[command(name = "madrigal-sql", version, after_help = EXIT_STATUS, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand, Debug)]
pub enum Command {
    /// Compute a query, with --local as all parties or with --party as one of them
    Run(Box<Run>),
    /// Cut the tables of a client, which computes nothing, into sealed files for the parties that will compute this query
    Share(Box<Share>),
    /// Propose the schema of a file, for its owner to narrow and to hand to all parties: madrigal-sql schema claims.csv > claims.toml
    Schema(Schema),
    /// Compute the queries of TPC-H among three parties on this machine, and compare their results with those of DuckDB
    Tpch(Tpch),
    /// A process of `tpch`, which starts it.
    #[command(hide = true, after_help = EXIT_STATUS)]
    TpchParty,
}

/// A query.
#[derive(Args, Debug)]
pub struct Ask {
    /// The query, or after an @ a file that has it; the same at all parties
    #[arg(value_name = "SQL")]
    pub query: String,

    /// A table: its name in the query, its file (.csv or .parquet), and after a colon the party that owns it, or else party 0, or the
    /// name of the client that does. Beside the file stands its schema, claims.toml for claims.csv, which all have; of tables of others
    /// a party needs the schema alone
    #[arg(
        long = "table",
        short = 't',
        value_name = "NAME=FILE[:OWNER]",
        required = true
    )]
    pub tables: Vec<TableArg>,

    /// The schema of a table, where it has another name
    #[arg(long = "schema", value_name = "NAME=FILE.toml")]
    pub schemas: Vec<SchemaArg>,

    /// Parties that get the result, with commas between them, or all; the same at all parties
    #[arg(long, value_name = "PARTIES|all", default_value = "all")]
    pub to: Receivers,

    /// The most rows of each join of two tables that may both have a key many times; the same at all parties. The work follows from it, and
    /// where a join has more rows the query ends and all parties learn that
    #[arg(long, value_name = "ROWS", value_parser = rows)]
    pub pairs: Option<usize>,
}

/// Flags of programs that a query has no use for: it brings its inputs itself, and clients' shares are for it alone.
const UNUSED: [&str; 3] = ["inputs", "shared_inputs", "job"];

#[derive(Args, Debug)]
#[command(after_help = EXIT_STATUS, mut_args(|arg| match UNUSED.contains(&arg.get_id().as_str()) {
    true => arg.hide(true),
    false => arg,
}))]
pub struct Run {
    #[command(flatten)]
    pub ask: Ask,

    /// Directory with this party's share files of clients' tables, which clients have made with `madrigal sql share`
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "local")]
    pub shares: Option<PathBuf>,

    /// Write the result to a file, .csv or .parquet, in place of the terminal
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,

    /// Print the result as comma-separated values
    #[arg(long, conflicts_with_all = ["out", "json"])]
    pub csv: bool,

    /// Compute nothing: show who learns what, and the steps of the query with the rows, bytes, rounds and seconds of each, for as many
    /// parties as --local or the list of --parties says, or else three. No file but schemas and this list is read
    #[arg(long)]
    pub explain: bool,

    #[command(flatten)]
    pub flags: ProgramFlags,
}

#[derive(Args, Debug)]
#[command(after_help = EXIT_STATUS)]
pub struct Share {
    #[command(flatten)]
    pub ask: Ask,

    /// The file that lists the parties, each with its sealing key
    #[arg(long = "parties", value_name = "parties.toml", value_hint = ValueHint::FilePath)]
    pub roster: PathBuf,

    /// Name of this client, whose tables are named in --table: letters, digits, `-`, `_` and `.`
    #[arg(long, value_name = "CLIENT", value_parser = client)]
    pub client: String,

    /// Mix of protocols that the parties compute the query in [default: among three R, else A+B]
    #[arg(long, value_name = "MIX")]
    pub mix: Option<Mix>,

    /// Directory for a file for each party and each column that the query reads; created if it does not exist
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
}

#[derive(Args, Debug)]
#[command(after_help = EXIT_STATUS)]
pub struct Schema {
    /// The file: .csv or .parquet
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: PathBuf,

    /// List all texts of a column, which everybody learns then: comparing them costs least
    #[arg(long = "choice", value_name = "COLUMN")]
    pub choices: Vec<String>,

    /// Hide the number of rows: add a random number to it, so that the bound that everybody learns is (epsilon, delta)-differentially
    /// private for tables that differ in one row, or with each=N in the N rows that one person has at most. Each call for the same rows
    /// spends epsilon and delta again. The bound alone is private: kinds that the values decide on, which comments name, may tell of
    /// single rows
    #[arg(long, value_name = "epsilon=E,delta=D")]
    pub hide_rows: Option<Noise>,
}

#[derive(Args, Debug)]
#[command(after_help = EXIT_STATUS)]
pub struct Tpch {
    /// Scale of the tables: at 1, six million lines of orders
    #[arg(long, value_name = "F", value_parser = scale, default_value = "0.01")]
    pub scale: f64,

    /// Compute these queries alone
    #[arg(long, value_name = "q1,...", value_delimiter = ',')]
    pub only: Vec<String>,

    /// memory: all parties in one process; tcp, tls: one process per party
    #[arg(long, value_name = "KIND", default_value = "tls")]
    pub transport: TransportArg,

    /// Threads that each party computes with
    #[arg(long, value_name = "N", value_parser = threads, default_value = "1")]
    pub threads: usize,

    /// Number of runs; the median, the least and the most are reported
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repeat: u32,

    /// Interpreter of Python with the module duckdb, which results are compared with
    #[arg(long, value_name = "PYTHON", default_value = "python3", value_hint = ValueHint::CommandName)]
    pub python: PathBuf,

    /// Do not compare results
    #[arg(long)]
    pub skip_check: bool,

    /// Print JSON: one object per line for each query
    #[arg(long)]
    pub json: bool,
}

/// A number of rows that a join may have.
fn rows(text: &str) -> Result<usize, String> {
    let rows: Option<usize> = text.parse().ok();
    rows.filter(|rows| (1..=MOST_PAIRS).contains(rows))
        .ok_or_else(|| format!("expected a number of rows from 1 to {MOST_PAIRS}"))
}

fn scale(text: &str) -> Result<f64, String> {
    let scale: Option<f64> = text.parse().ok();
    let fits = |scale: &f64| (0.001..=1000.0).contains(scale);
    scale
        .filter(fits)
        .ok_or_else(|| "expected a factor from 0.001 to 1000".to_owned())
}

/// `--table NAME=FILE[:OWNER]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableArg {
    pub name: String,
    pub file: PathBuf,
    pub owner: HolderArg,
}

impl FromStr for TableArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = "expected NAME=FILE or NAME=FILE:OWNER, for example claims=claims.csv:1";
        let (name, rest) = text.split_once('=').ok_or(wrong)?;
        let owned = rest.rsplit_once(':').and_then(|(file, owner)| {
            let owner: HolderArg = owner.parse().ok()?;
            // Colons may be in names of files.
            let is_owner = owner.party().is_some() || Format::of(file.as_ref()).is_some();
            is_owner.then_some((file, owner))
        });
        let (file, owner) = owned.unwrap_or((rest, HolderArg::Party(0)));
        if name.is_empty() || file.is_empty() {
            return Err(wrong.into());
        }
        Ok(Self {
            name: name.to_owned(),
            file: file.into(),
            owner,
        })
    }
}

/// `--schema NAME=FILE.toml`
#[derive(Debug, Clone)]
pub struct SchemaArg {
    pub name: String,
    pub file: PathBuf,
}

impl FromStr for SchemaArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('=');
        let (name, file) = parts
            .filter(|(name, file)| !name.is_empty() && !file.is_empty())
            .ok_or("expected NAME=FILE.toml, for example claims=claims.toml")?;
        Ok(Self {
            name: name.to_owned(),
            file: file.into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn tables_have_owners() {
        let of = |text: &str| {
            let table: Result<TableArg, String> = text.parse();
            table.map(|one| (one.file.display().to_string(), one.owner.to_string()))
        };
        let owned = |file: &str, owner: &str| Ok((file.to_owned(), owner.to_owned()));
        assert_eq!(of("a=b.csv"), owned("b.csv", "0"));
        assert_eq!(of("a=b.csv:2"), owned("b.csv", "2"));
        assert_eq!(of("a=b.parquet:alice"), owned("b.parquet", "alice"));
        assert_eq!(of("a=c:b.csv"), owned("c:b.csv", "0"));
        assert_eq!(of("a=c:b.csv:b.csv"), owned("c:b.csv", "b.csv"));
        assert_eq!(of("a=b.csv:al/ice"), owned("b.csv:al/ice", "0"));
        assert_eq!(of("a=x=y.csv:1"), owned("x=y.csv", "1"));
        for wrong in ["a", "a=", "=b", "a=:1"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
