//! `run`: a query, computed.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;

use madrigal_app::failure::{Failure, Result};
use madrigal_app::figures::{print, print_bytes, print_text_as_json};
use madrigal_app::files::{self, Output, write_result};
use madrigal_app::from_file::FromFile;
use madrigal_app::holders::HolderArg;
use madrigal_app::read::read_file;
use madrigal_app::receivers::Receivers;
use madrigal_app::share_files::job_of;
use madrigal_app::steps::Step;
use madrigal_app::terminal::stderr;
use madrigal_net::Fact;
use madrigal_net::roster::Roster;
use madrigal_program::{Array, Holder};
use madrigal_sql::files::{Format, Schema, bytes, read};
use madrigal_sql::plan_with_pairs;
use madrigal_tables::{Answer, Data, Fault, Frame, Query, QueryError};

use super::args::{Ask, Run, TableArg};
use super::failure::Unfit;
use super::told;

/// Name of the program where no client brings a table.
const NAME: &str = "query";
/// Number of parties where no flag says so.
const PARTIES: usize = 3;

pub fn run(args: &mut Run) -> Result<()> {
    let format = match &args.out {
        None => None,
        Some(path) => {
            let format = Format::of(path);
            Some(format.ok_or_else(|| Unfit::Format(path.display().to_string()))?)
        }
    };
    let output = Output {
        flag: "--out",
        action: "write the result",
        path: args.out.as_deref(),
    };
    files::check(args.ask.tables.iter().map(|table| &*table.file), &[output])?;
    let asked = Asked::new(&args.ask)?;
    args.flags.take_query_shares(args.shares.take())?;
    if args.explain {
        return asked.explain(args);
    }
    let job = OnceCell::new();
    let (query, arrays) = (RefCell::new(None), RefCell::new(Vec::new()));
    // Outputs come in their order, and a party gets all of them or none.
    let sink = |_: &str, array: &Array| {
        arrays.borrow_mut().push(array.clone());
        Ok(true)
    };
    let (json, quiet) = (args.flags.json(), args.flags.quiet());
    let report = args.flags.run(
        |parties, me| {
            let made = asked.query(parties)?;
            if !quiet {
                let _ = write!(stderr(), "{}", asked.learnt(&made));
            }
            let is_here = |owner: &HolderArg| me.is_none_or(|me| owner.party() == Some(me.index()));
            let data = asked.values(parties, is_here)?;
            let inputs = made.inputs(data.iter().map(|(name, data)| (*name, data)));
            let program = FromFile {
                name: job.get_or_init(|| asked.job(&made)),
                program: made.computation().clone(),
                lengths: asked.facts(),
                inputs: Some(inputs),
            };
            *query.borrow_mut() = Some(made);
            Ok(program)
        },
        &sink,
    )?;
    let arrays = arrays.take();
    let arrays: Vec<_> = arrays.iter().map(Some).collect();
    let answer = query.take().and_then(|query| query.answer(&arrays));
    let out = args.out.as_deref().zip(format);
    tell(&report, answer.as_ref(), out, json, args.csv)
}

/// Writes the result where it is to go.
fn tell(
    report: &str,
    answer: Option<&Answer>,
    out: Option<(&Path, Format)>,
    json: bool,
    csv: bool,
) -> Result<()> {
    match (out, answer) {
        (Some((path, format)), Some(answer)) => {
            let content =
                bytes(answer, format).map_err(|error| Unfit::Result(error.to_string()))?;
            write_result(path, &|to| to.write_all(&content))?;
            match json {
                true => print_text_as_json(report),
                false => Ok(()),
            }
        }
        _ if json => print_text_as_json(&told::json(report, answer)?),
        (_, Some(answer)) if csv => print_bytes(answer.to_string().as_bytes()),
        (_, Some(answer)) => print(told::shown(answer).as_bytes()),
        (_, None) => print(report.as_bytes()),
    }
}

/// The owner of a table, who must be a client or one of `parties` parties.
fn owner(table: &TableArg, parties: usize) -> Result<Holder> {
    let holder = table.owner.holder(parties);
    Ok(holder.map_err(|_| Unfit::Table {
        name: table.name.clone(),
        problem: format!(
            "party {} owns it, and there are {parties} parties, numbered from 0",
            table.owner
        ),
    })?)
}

/// A query with all that everybody knows of its tables.
pub struct Asked {
    text: String,
    pub tables: Vec<TableArg>,
    /// A schema for each, whose table has the name that the query gives it.
    schemas: Vec<Schema>,
    to: Receivers,
    /// The most rows of a join of many with many.
    pairs: Option<usize>,
}

impl Asked {
    pub fn new(args: &Ask) -> Result<Self> {
        let text = match args.query.strip_prefix('@') {
            None => args.query.clone(),
            Some(path) => {
                let path = Path::new(path);
                let text = String::from_utf8(read_file("read the query", path)?);
                text.map_err(|_| {
                    let problem = std::io::Error::other("it is no text in UTF-8");
                    Failure::file("read the query", path)(problem)
                })?
            }
        };
        if let Some(one) = (args.schemas.iter())
            .find(|schema| !args.tables.iter().any(|table| table.name == schema.name))
        {
            let name = one.name.clone();
            return Err(Unfit::Schema { name }.into());
        }
        let mut schemas: Vec<Schema> = Vec::new();
        for table in &args.tables {
            if schemas.iter().any(|one| one.name == table.name) {
                return Err(Unfit::Table {
                    name: table.name.clone(),
                    problem: "two tables have this name: give one of them another".into(),
                }
                .into());
            }
            let named = args.schemas.iter().find(|schema| schema.name == table.name);
            let beside = table.file.with_extension("toml");
            let path = named.map_or(&beside, |schema| &schema.file);
            let schema = Schema::read(path).map_err(Unfit::from)?;
            schemas.push(Schema {
                name: table.name.clone(),
                ..schema
            });
        }
        Ok(Self {
            text,
            tables: args.tables.clone(),
            schemas,
            to: args.to.clone(),
            pairs: args.pairs,
        })
    }

    /// The query as a program of `parties` parties.
    pub fn query(&self, parties: usize) -> Result<Query> {
        let mut tables = Vec::new();
        for (table, schema) in self.tables.iter().zip(&self.schemas) {
            let unfit = |problem: String| Unfit::Table {
                name: table.name.clone(),
                problem,
            };
            let frame = Frame::table(schema.table(owner(table, parties)?));
            let frame = frame.map_err(|fault: Fault| unfit(fault.to_string()))?;
            tables.push((table.name.clone(), frame));
        }
        let planned = plan_with_pairs(&self.text, &tables, self.pairs);
        let frame = planned.map_err(Unfit::from)?;
        let to = self.to.parties(parties)?;
        let query = Query::new(&frame, parties, to);
        Ok(query.map_err(|error: QueryError| Unfit::from(error))?)
    }

    /// The values of tables whose owners are here.
    pub fn values(
        &self,
        parties: usize,
        is_here: impl Fn(&HolderArg) -> bool,
    ) -> Result<Vec<(&str, Data)>> {
        let tables = self.tables.iter().zip(&self.schemas);
        let here = tables.filter(|(table, _)| is_here(&table.owner));
        let values = here.map(|(table, schema)| {
            let read = read(&table.file, schema, owner(table, parties)?);
            Ok((&*table.name, read.map_err(Unfit::from)?.1))
        });
        values.collect()
    }

    /// Name of the program. Where clients bring tables it is that of this query on tables of these schemas and for these receivers alone:
    /// clients' shares are bound to it, and serve no other query.
    pub fn job(&self, query: &Query) -> String {
        if self
            .tables
            .iter()
            .all(|table| table.owner.client().is_none())
        {
            return NAME.to_owned();
        }
        let mut facts = self.facts();
        let outputs = query.computation().outputs().iter();
        let to = outputs.flat_map(|port| port.to.iter().map(ToString::to_string));
        let to: BTreeSet<String> = to.collect();
        facts.push((
            "--to".to_owned(),
            to.into_iter().collect::<Vec<_>>().join(", "),
        ));
        facts.push((
            "parties".to_owned(),
            query.computation().parties().to_string(),
        ));
        job_of(NAME, &facts)
    }

    /// What parties compare before they compute: a program alone does not tell what its numbers mean.
    fn facts(&self) -> Vec<Fact> {
        let mut facts = vec![("the query".to_owned(), self.text.clone())];
        if let Some(pairs) = self.pairs {
            facts.push(("--pairs".to_owned(), pairs.to_string()));
        }
        for (table, schema) in self.tables.iter().zip(&self.schemas) {
            facts.push((format!("--table {}", table.name), table.owner.to_string()));
            facts.push((format!("the schema of {}", table.name), schema.to_toml()));
        }
        facts.sort();
        facts
    }

    pub fn learnt(&self, query: &Query) -> String {
        let to = match &self.to {
            Receivers::All => "All parties learn".to_owned(),
            Receivers::These(parties) => {
                let parties: Vec<String> = parties.iter().map(ToString::to_string).collect();
                format!("Parties {} alone learn", parties.join(", "))
            }
        };
        let owners = self.tables.iter().map(|table| match &table.owner {
            HolderArg::Party(party) => format!("party {party}"),
            HolderArg::Client(name) => format!("client {name}"),
        });
        let tables: Vec<(&Schema, String)> = self.schemas.iter().zip(owners).collect();
        told::learnt(&tables, query, &to, query.frame().most_rows())
    }

    fn explain(&self, args: &mut Run) -> Result<()> {
        let parties = match (args.flags.local(), args.flags.roster()) {
            (Some(parties), _) => parties,
            (None, Some(list)) => Roster::load(list)?.len(),
            (None, None) => PARTIES,
        };
        let query = self.query(parties)?;
        let program = FromFile {
            name: &self.job(&query),
            program: query.computation().clone(),
            lengths: self.facts(),
            inputs: None,
        };
        let json = args.flags.json();
        let told = program.explain_steps(&mut args.flags, &Step::all(query.steps()))?;
        match json {
            true => print_text_as_json(&told),
            false => print(format!("{}\n{told}", self.learnt(&query)).as_bytes()),
        }
    }
}
