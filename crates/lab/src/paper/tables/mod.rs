//! `madrigal-lab paper --table`: the tables of MOTION and MOTION2NX, ours beside theirs.
//!
//! Ours is a whole job, from the sharing of the operands to the opening of the result, all parties on this machine.
//! Where a row of the paper is an operation by itself, what it has for sharing and opening is added to it. Base OTs
//! are left out, as they are there, but for Tables 3 and 4, which have whole computations.

mod circuits;
mod costs;
mod gates;
mod integers;
mod matching;
mod networks;
mod ots;
mod primitives;
mod published;

use madrigal_circuit::Rows;
use madrigal_engine::{Graph, GraphError, Shares};
use madrigal_program::Plain;
use madrigal_program::lower::Mix;
use serde::Serialize;

use crate::args::{BenchPaper, PaperArg, TransportArg};
use crate::exit::{Failure, Result, Usage};
use crate::figures::{print, print_json_line};
use crate::machine::Machine;
use crate::measured::is_wanted;
use crate::numbers::{rate, wide_table};
use crate::programs::measure::{Setting, Times, measure, measure_graph};
use crate::programs::workloads::{Random, Recorded, Recording};
use crate::progress::Steps;
use crate::rates;
use crate::reach::Network;
use crate::spread::Spread;
use published::Part;

/// One row, for one number of parties and one network. Times are in seconds, of one operation, medians of the
/// slowest party.
#[derive(Serialize)]
struct Row {
    table: u8,
    name: String,
    parties: usize,
    network: String,
    /// Operations side by side, over which the time is divided.
    ops: usize,
    seconds: f64,
    online_seconds: Option<f64>,
    paper_seconds: Option<f64>,
    paper_online_seconds: Option<f64>,
    /// How many times as fast it is as the paper's.
    faster: Option<f64>,
}

/// What a table's rows are measured with.
struct Bench<'a> {
    args: &'a BenchPaper,
    number: u8,
    steps: &'a Steps,
    rates: &'a madrigal_core::time::Rates,
}

/// A program that stands for a row.
struct Case {
    name: String,
    mix: Mix,
    /// Operations side by side.
    ops: usize,
    /// Whether base OTs are part of the case.
    whole: bool,
    /// Rows of the paper's table that the case consists of.
    paper: Vec<Part>,
    make: Work,
}

enum Work {
    Program(Box<Make>),
    /// Operations on the first party's bits: typed programs have one sharing of bits.
    Graph(fn(costs::Size) -> std::result::Result<Graph, GraphError>),
}

impl Work {
    fn program(make: impl Fn(&mut Random, usize) -> Recording + 'static) -> Self {
        Self::Program(Box::new(make))
    }
}

/// Records a program for so many parties, with random inputs.
type Make = dyn Fn(&mut Random, usize) -> Recording;

/// The tables that measure something.
const MOTION: [u8; 6] = [2, 3, 4, 6, 7, 8];
const MOTION2NX: [u8; 3] = [1, 2, 3];

/// Refuses a table that there is not.
fn check(args: &BenchPaper, number: u8) -> Result<()> {
    let (there, networks) = match args.of {
        PaperArg::Motion => (&MOTION[..], false),
        PaperArg::Motion2nx => (&MOTION2NX[..], true),
    };
    if !there.contains(&number) {
        let there = there.iter().map(u8::to_string).collect::<Vec<_>>();
        let there = there.join(", ");
        return Err(Usage::NoSuchTable { number, there }.into());
    }
    if networks != args.model.is_some() {
        return Err(Usage::ModelOfTable { networks }.into());
    }
    if networks && args.parties.iter().any(|&parties| parties != 2) {
        return Err(Usage::TwoOfTable.into());
    }
    Ok(())
}

pub(super) fn run(args: &BenchPaper, number: u8) -> Result<()> {
    check(args, number)?;
    if (args.of, number) == (PaperArg::Motion, 6) {
        return costs::run(args);
    }
    let machine = Machine::measure()?;
    let rates = rates::measure(None)?;
    let steps = Steps::new(0, args.json);
    let bench = Bench {
        args,
        number,
        steps: &steps,
        rates: &rates,
    };
    let rows = match (&args.model, number) {
        (Some(model), _) => networks::rows(&bench, model)?,
        (None, 2) => ots::rows(&bench)?,
        (None, 3) => bench.programs(matching::cases)?,
        (None, 4) => circuits::rows(&bench)?,
        (None, 7) => bench.programs(|_| primitives::cases())?,
        (None, _) => bench.programs(|_| integers::cases())?,
    };
    steps.clear();
    if args.json {
        return Ok(());
    }
    let mut table = wide_table(&[
        "row",
        "parties",
        "network",
        "ours",
        "online",
        "the paper's",
        "online",
        "times as fast",
    ]);
    let some = |seconds: Option<f64>| seconds.map(time).unwrap_or_default();
    for row in &rows {
        table.add_row([
            row.name.clone(),
            row.parties.to_string(),
            row.network.clone(),
            time(row.seconds),
            some(row.online_seconds),
            some(row.paper_seconds),
            some(row.paper_online_seconds),
            row.faster.map(|by| format!("{by:.1}")).unwrap_or_default(),
        ]);
    }
    let of = match args.of {
        PaperArg::Motion => "MOTION",
        PaperArg::Motion2nx => "MOTION2NX",
    };
    let text = format!(
        "Table {number} of {of}, times of one operation. All parties on {} cores, {} by each, loopback TCP carries {}; \
         the paper's on servers of 16 cores each.\n\n{table}\n",
        machine.cores,
        rate(machine.aes_blocks, " AES blocks/s"),
        rate(machine.loopback_bytes_per_second, "B/s"),
    );
    print(text.as_bytes())
}

/// The paper has no two parties, but for what it compares with ABY.
fn numbers_of_parties(args: &BenchPaper) -> Vec<usize> {
    match &args.parties[..] {
        [] => vec![3],
        given => given.to_vec(),
    }
}

impl Bench<'_> {
    /// The rows that are wanted, or what there is instead.
    fn wanted<T>(&self, all: Vec<T>, name: impl Fn(&T) -> &str) -> Result<Vec<T>> {
        let only = &self.args.only;
        let (wanted, others): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|one| is_wanted(only, name(one)));
        if wanted.is_empty() {
            let names: Vec<_> = others.iter().map(&name).collect();
            let names = names.join(", ");
            return Err(Usage::NothingToMeasure { names }.into());
        }
        Ok(wanted)
    }

    /// Does something for each number of parties and each network.
    fn everywhere(&self, mut each: impl FnMut(usize, &str, Network) -> Result<()>) -> Result<()> {
        for parties in numbers_of_parties(self.args) {
            for name in &self.args.network {
                each(parties, name, Network::parse(name)?)?;
            }
        }
        Ok(())
    }

    /// A table of programs.
    fn programs(&self, cases: impl Fn(usize) -> Vec<Case>) -> Result<Vec<Row>> {
        let published = published::of(self.number);
        let mut rows = Vec::new();
        self.everywhere(|parties, name, network| {
            for case in self.wanted(cases(parties), |case| &case.name)? {
                self.steps
                    .name(&format!("{} of {parties}, {name}", case.name));
                let times = match &case.make {
                    Work::Program(make) => {
                        let recorded = make(&mut Random::new()?, parties).map_err(Failure::bug)?;
                        self.times(case.mix, &recorded, network)?
                    }
                    Work::Graph(make) => {
                        let count = case.ops;
                        let graph = make(costs::Size { parties, count }).map_err(Failure::bug)?;
                        self.times_of_bits(graph, network)?
                    }
                };
                let median = |pick: &dyn Fn(&Times) -> f64| {
                    Spread::of(times.iter().map(pick).collect()).median / case.ops as f64
                };
                let base = |times: &Times| if case.whole { 0.0 } else { times.base_ots };
                let total = median(&|times| (times.total - base(times)).max(times.online));
                let paper = published.sum(&case.paper, name, parties);
                let row = Row {
                    ops: case.ops,
                    online_seconds: Some(median(&|times| times.online)),
                    paper_seconds: paper,
                    faster: paper.map(|paper| paper / total),
                    ..self.row(case.name, parties, name, total)
                };
                self.tell(&mut rows, row)?;
            }
            Ok(())
        })?;
        Ok(rows)
    }

    fn setting(&self, network: Network) -> Setting<'_> {
        Setting {
            transport: TransportArg::Tcp,
            network,
            threads: 1,
            repeat: self.args.repeat,
            rates: self.rates,
            // Of networks the paper's tables tell online time by itself.
            online: self.args.of == PaperArg::Motion2nx,
        }
    }

    /// Measures the times of all runs.
    fn times(&self, mix: Mix, recorded: &Recorded, network: Network) -> Result<Vec<Times>> {
        Ok(measure(mix, recorded, &self.setting(network))?.times)
    }

    /// Measures the times of all runs of operations on random bits.
    fn times_of_bits(&self, graph: Graph, network: Network) -> Result<Vec<Times>> {
        let mut random = Random::new()?;
        let mut inputs = Vec::new();
        for &value in graph.inputs() {
            let sort = *graph.sort(value);
            let mut rows = Rows::new(sort.element.bits(), sort.len);
            for row in 0..rows.rows() {
                let words = random.words(rows.row(row).len() / 8);
                let bytes = words.iter().flat_map(|word| word.to_le_bytes());
                let to = rows.row_mut(row).iter_mut();
                to.zip(bytes).for_each(|(to, byte)| *to = byte);
            }
            rows.clear_padding();
            inputs.push(Shares::rows(sort.sharing, &rows));
        }
        Ok(measure_graph(graph, inputs, &self.setting(network))?.times)
    }

    fn row(&self, name: String, parties: usize, network: &str, seconds: f64) -> Row {
        Row {
            table: self.number,
            name,
            parties,
            network: network.to_owned(),
            ops: 1,
            seconds,
            online_seconds: None,
            paper_seconds: None,
            paper_online_seconds: None,
            faster: None,
        }
    }

    fn tell(&self, rows: &mut Vec<Row>, row: Row) -> Result<()> {
        if self.args.json {
            print_json_line(&row)?;
        }
        rows.push(row);
        Ok(())
    }
}

/// `3.42 µs`: three digits, whatever the unit.
fn time(seconds: f64) -> String {
    let units = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")];
    let fits = |(unit, _): &(f64, &str)| seconds >= *unit;
    let (unit, name) = units.into_iter().find(fits).unwrap_or(units[3]);
    let digits = match seconds / unit {
        value if value < 10.0 => 2,
        value if value < 100.0 => 1,
        _ => 0,
    };
    format!("{:.digits$} {name}", seconds / unit)
}

/// Random elements.
fn random<T: Plain>(random: &mut Random, count: usize) -> Vec<T> {
    let words = random.words(count).into_iter();
    words.map(|word| T::decode(word.into())).collect()
}
