//! `tpch`: the queries of TPC-H among three parties, each in processes of its own, and beside another system's results.

mod compare;
mod duckdb;
mod party;

use madrigal_app::failure::{Failure, Result};
use madrigal_app::figures::{print, print_json_line};
use madrigal_app::flags::TransportArg;
use madrigal_app::numbers::{bytes, count, seconds, wide_table};
use madrigal_app::processes;
use madrigal_app::progress::{Steps, say};
use madrigal_app::spread::Spread;
use madrigal_sql::tpch::{COUNT, TABLES, query, row_count, write_csv};
use serde::Serialize;

use super::args::Tpch;
use super::failure::Unfit;
pub use party::run as take_part;
use party::{Done, PARTIES, Task};

/// The command of a process of this benchmark.
pub const COMMAND: &str = "tpch-party";

/// Figures of a query.
#[derive(Debug, Serialize)]
struct Row {
    /// `q1` to `q22`.
    name: String,
    /// Scale of the tables.
    scale: f64,
    transport: TransportArg,
    parties: usize,
    /// Threads of each party.
    threads: usize,
    /// Seconds from the opening of the job to its finish at all parties, inputs and outputs included: the median.
    seconds: f64,
    minimum_seconds: f64,
    maximum_seconds: f64,
    /// Payload bytes that all parties send, in setup and online.
    bytes: u64,
    /// Rounds of the party that has most.
    rounds: u64,
    /// Peak memory of the largest process from when its tables are there: of a party, over memory of all of them; `null` where the
    /// system does not tell.
    peak_memory: Option<u64>,
    /// Rows of the result.
    rows: usize,
    /// Whether the result is that of DuckDB on the same tables; `null` where that is not there.
    right: Option<bool>,
    repeats: usize,
}

pub fn run(args: &Tpch) -> Result<()> {
    let numbers = wanted(&args.only)?;
    let steps = Steps::new(numbers.len() as u64 * u64::from(args.repeat), args.json);
    let expected = match args.skip_check {
        true => None,
        false => expected(args, &numbers)?,
    };
    let mut counts = Vec::new();
    for name in TABLES {
        counts.push((name.to_owned(), row_count(name, args.scale)));
    }
    let mut rows = Vec::new();
    // The others go on.
    let mut first_failure = None;
    for (at, &number) in numbers.iter().enumerate() {
        let mut runs = Vec::new();
        for _ in 0..args.repeat {
            steps.name(&format!("q{number}"));
            steps.advance();
            let task = |me| Task {
                query: number,
                scale: args.scale,
                counts: counts.clone(),
                threads: args.threads,
                transport: args.transport,
                me,
            };
            let tasks: Vec<Task> = match args.transport {
                TransportArg::Memory => vec![task(None)],
                _ => (0..PARTIES).map(|me| task(Some(me))).collect(),
            };
            match processes::run::<Done>(COMMAND, &tasks) {
                Ok(run) => runs.push(run),
                Err(failure) => {
                    say(format_args!("q{number}: {failure}"));
                    first_failure.get_or_insert(failure);
                    break;
                }
            }
        }
        if runs.len() < args.repeat as usize {
            continue;
        }
        let expected = expected.as_ref().map(|all| &all[at]);
        let text = query(number, args.scale).unwrap_or_default();
        let row = Row::new(args, number, &runs, |answer| {
            Some(compare::are_same(answer, expected?, &text))
        })?;
        if args.json {
            print_json_line(&row)?;
        }
        rows.push(row);
    }
    steps.clear();
    if !args.json && !rows.is_empty() {
        print(table(&rows, args).as_bytes())?;
    }
    let wrong = rows.iter().filter(|row| row.right == Some(false));
    let wrong: Vec<&str> = wrong.map(|row| &*row.name).collect();
    match first_failure {
        Some(failure) => Err(failure),
        None if !wrong.is_empty() => Err(Unfit::Wrong(wrong.join(", ")).into()),
        None => Ok(()),
    }
}

/// The numbers of the queries that are asked for.
fn wanted(only: &[String]) -> Result<Vec<usize>> {
    let mut numbers = Vec::new();
    for name in only {
        let number = name
            .strip_prefix('q')
            .and_then(|number| number.parse().ok());
        let number = number.filter(|number| (1..=COUNT).contains(number));
        numbers.push(number.ok_or_else(|| Unfit::NoQuery(name.clone()))?);
    }
    if numbers.is_empty() {
        numbers = (1..=COUNT).collect();
    }
    Ok(numbers)
}

/// The results of another system, if it is there.
fn expected(args: &Tpch, numbers: &[usize]) -> Result<Option<Vec<duckdb::Rows>>> {
    if let Some(problem) = duckdb::missing(&args.python) {
        say(format_args!(
            "results are not compared: {problem}; pip install duckdb, and name its interpreter with --python"
        ));
        return Ok(None);
    }
    let folder = duckdb::Folder::new()?;
    write_csv(args.scale, folder.path())
        .map_err(Failure::file("write tables into", folder.path()))?;
    let queries: Vec<String> = numbers
        .iter()
        .filter_map(|&number| query(number, args.scale))
        .collect();
    Ok(Some(duckdb::results(
        &args.python,
        folder.path(),
        &queries,
    )?))
}

impl Row {
    fn new(
        args: &Tpch,
        number: usize,
        runs: &[Vec<Done>],
        is_right: impl Fn(&party::Told) -> Option<bool>,
    ) -> Result<Self> {
        let slowest = |run: &Vec<Done>| {
            let parties = run.iter().flat_map(|done| &done.parties);
            parties.map(|party| party.seconds).fold(0.0, f64::max)
        };
        let time = Spread::of(runs.iter().map(slowest).collect());
        let first = || runs.iter().take(1).flatten().flat_map(|done| &done.parties);
        let peaks = runs.iter().flatten().map(|done| done.used.peak_rss_bytes);
        let mut answers = runs
            .iter()
            .flatten()
            .filter_map(|done| done.answer.as_ref());
        let answer = answers
            .next()
            .ok_or_else(|| Failure::bug("a run without a result"))?;
        Ok(Self {
            name: format!("q{number}"),
            scale: args.scale,
            transport: args.transport,
            parties: PARTIES,
            threads: args.threads,
            seconds: time.median,
            minimum_seconds: time.min,
            maximum_seconds: time.max,
            bytes: first().map(|party| party.bytes_sent).sum(),
            rounds: first().map(|party| party.rounds).max().unwrap_or(0),
            peak_memory: peaks.max().flatten(),
            rows: answer.rows.len(),
            right: is_right(answer),
            repeats: runs.len(),
        })
    }
}

fn table(rows: &[Row], args: &Tpch) -> String {
    let mut table = wide_table(&[
        "query",
        "time",
        "least",
        "most",
        "sent by all",
        "rounds",
        "peak memory",
        "rows",
        "right",
    ]);
    for row in rows {
        table.add_row([
            row.name.clone(),
            seconds(row.seconds),
            seconds(row.minimum_seconds),
            seconds(row.maximum_seconds),
            bytes(row.bytes),
            count(row.rounds),
            row.peak_memory.map(bytes).unwrap_or_default(),
            count(row.rows as u64),
            match row.right {
                None => String::new(),
                Some(true) => "yes".into(),
                Some(false) => "NO".into(),
            },
        ]);
    }
    let transport = match args.transport {
        TransportArg::Tls => "TLS",
        TransportArg::Tcp => "TCP",
        TransportArg::Memory => "memory",
    };
    let total: f64 = rows.iter().map(|row| row.seconds).sum();
    format!(
        "TPC-H at scale {}, {PARTIES} parties over {transport}; together {}.\n\n{table}\n",
        args.scale,
        seconds(total)
    )
}
