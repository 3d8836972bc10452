//! The flags of each command.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Parser, Subcommand, ValueHint};
use madrigal_app::failure::EXIT_STATUS;
use madrigal_app::from_file::ProgramFlags;
use madrigal_app::receivers::Receivers;

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
    /// Propose the schema of a file, for its owner to narrow and to hand to all parties: madrigal-sql schema claims.csv > claims.toml
    Schema(Schema),
}

#[derive(Args, Debug)]
#[command(after_help = EXIT_STATUS, mut_arg("inputs", |arg| arg.hide(true)))]
pub struct Run {
    /// The query, or after an @ a file that has it; the same at all parties
    #[arg(value_name = "SQL")]
    pub query: String,

    /// A table: its name in the query, its file (.csv or .parquet), and after a colon the party that owns it, or else party 0. Beside
    /// the file stands its schema, claims.toml for claims.csv, which all parties have; of tables of others a party needs the schema alone
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

    /// Write the result to a file, .csv or .parquet, in place of the terminal
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,

    /// Print the result as comma-separated values
    #[arg(long, conflicts_with_all = ["out", "json"])]
    pub csv: bool,

    /// Compute nothing: show the steps of the query with the rows that each works on, and what they cost. No file but schemas is read
    #[arg(long)]
    pub explain: bool,

    #[command(flatten)]
    pub flags: ProgramFlags,
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
}

/// `--table NAME=FILE[:OWNER]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableArg {
    pub name: String,
    pub file: PathBuf,
    pub owner: usize,
}

impl FromStr for TableArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = "expected NAME=FILE or NAME=FILE:OWNER, for example claims=claims.csv:1";
        let (name, rest) = text.split_once('=').ok_or(wrong)?;
        let owned = rest
            .rsplit_once(':')
            .and_then(|(file, owner)| Some((file, owner.parse().ok()?)));
        let (file, owner) = owned.unwrap_or((rest, 0));
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
        let of = |text: &str| text.parse::<TableArg>().map(|one| (one.file, one.owner));
        assert_eq!(of("a=b.csv"), Ok(("b.csv".into(), 0)));
        assert_eq!(of("a=b.csv:2"), Ok(("b.csv".into(), 2)));
        assert_eq!(of("a=c:b.csv"), Ok(("c:b.csv".into(), 0)));
        assert_eq!(of("a=x=y.csv:1"), Ok(("x=y.csv".into(), 1)));
        for wrong in ["a", "a=", "=b", "a=:1"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
