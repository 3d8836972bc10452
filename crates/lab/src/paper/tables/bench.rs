//! Rows of tables, and how programs that stand for rows are measured.

use madrigal_circuit::Rows;
use madrigal_engine::{Graph, GraphError, Shares};
use madrigal_program::Plain;
use madrigal_program::lower::Mix;
use serde::Serialize;

use super::costs;
use super::published::{self, Part};
use crate::args::{BenchPaper, PaperArg, TransportArg};
use crate::exit::{Failure, Result};
use crate::figures::print_json_line;
use crate::graphs::{self, Measured, Times};
use crate::measured::{is_wanted, select};
use crate::programs::measure::{Setting, measure, measure_graph};
use crate::programs::workloads::{Random, Recorded, Recording};
use crate::progress::Steps;
use crate::reach::Network;

/// One row, for one number of parties and one network. Times are in seconds, of one operation, medians of the
/// slowest party.
#[derive(Serialize)]
pub(super) struct Row {
    pub table: u8,
    pub name: String,
    pub parties: usize,
    pub network: String,
    /// Operations side by side, over which the time is divided.
    pub ops: usize,
    pub seconds: f64,
    pub online_seconds: Option<f64>,
    pub paper_seconds: Option<f64>,
    pub paper_online_seconds: Option<f64>,
    /// The paper's seconds divided by ours.
    pub faster: Option<f64>,
}

/// Settings that all rows of a table are measured with.
pub(super) struct Bench<'a> {
    pub args: &'a BenchPaper,
    pub number: u8,
    pub steps: &'a Steps,
    pub rates: &'a madrigal_core::time::Rates,
}

/// A program that stands for a row.
pub(super) struct Case {
    pub name: String,
    pub mix: Mix,
    /// Operations side by side.
    pub ops: usize,
    /// Whether base OTs are part of the case.
    pub whole: bool,
    /// Rows of the paper's table that the case consists of.
    pub paper: Vec<Part>,
    pub make: CaseProgram,
}

pub(super) enum CaseProgram {
    Program(Box<Make>),
    /// Operations on the first party's bits: typed programs have one sharing of bits.
    Graph(fn(costs::Size) -> std::result::Result<Graph, GraphError>),
}

impl CaseProgram {
    pub fn program(make: impl Fn(&mut Random, usize) -> Recording + 'static) -> Self {
        Self::Program(Box::new(make))
    }
}

/// Records a program for a number of parties, with random inputs.
pub(super) type Make = dyn Fn(&mut Random, usize) -> Recording;

impl Bench<'_> {
    /// Picks the rows that are wanted.
    pub fn wanted<T>(&self, all: Vec<T>, name: impl Fn(&T) -> &str) -> Result<Vec<T>> {
        select(all, |name| is_wanted(&self.args.only, name), name)
    }

    /// Does something for each number of parties and each network.
    pub fn everywhere(
        &self,
        mut each: impl FnMut(usize, &str, Network) -> Result<()>,
    ) -> Result<()> {
        for parties in self.args.numbers_of_parties() {
            for name in &self.args.network {
                each(parties, name, Network::parse(name)?)?;
            }
        }
        Ok(())
    }

    /// Measures a table of programs.
    pub fn programs(&self, cases: impl Fn(usize) -> Vec<Case>) -> Result<Vec<Row>> {
        let published = published::of(self.number);
        let mut rows = Vec::new();
        self.everywhere(|parties, name, network| {
            for case in self.wanted(cases(parties), |case| &case.name)? {
                self.steps
                    .name(&format!("{} of {parties}, {name}", case.name));
                let measured = match &case.make {
                    CaseProgram::Program(make) => {
                        let recorded = make(&mut Random::new()?, parties).map_err(Failure::bug)?;
                        self.measure(case.mix, &recorded, network)?
                    }
                    CaseProgram::Graph(make) => {
                        let count = case.ops;
                        let graph = make(costs::Size { parties, count }).map_err(Failure::bug)?;
                        self.measure_bits(graph, network)?
                    }
                };
                let median = |pick: &dyn Fn(&Times) -> f64| measured.median(pick) / case.ops as f64;
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

    pub fn setting(&self, network: Network) -> Setting<'_> {
        Setting {
            runs: graphs::Setting {
                transport: TransportArg::Tcp,
                network,
                threads: 1,
                repeat: self.args.repeat,
            },
            rates: self.rates,
            // The paper's tables tell the online time of networks by itself.
            online: self.args.of == PaperArg::Motion2nx,
        }
    }

    /// Measures all runs of a program.
    pub fn measure(&self, mix: Mix, recorded: &Recorded, network: Network) -> Result<Measured> {
        Ok(measure(mix, recorded, &self.setting(network))?.0)
    }

    /// Measures all runs of operations on random bits.
    fn measure_bits(&self, graph: Graph, network: Network) -> Result<Measured> {
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
        measure_graph(graph, &inputs, &self.setting(network))
    }

    pub fn row(&self, name: String, parties: usize, network: &str, seconds: f64) -> Row {
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

    pub fn tell(&self, rows: &mut Vec<Row>, row: Row) -> Result<()> {
        if self.args.json {
            print_json_line(&row)?;
        }
        rows.push(row);
        Ok(())
    }
}

/// Draws random elements.
pub(super) fn random<T: Plain>(random: &mut Random, count: usize) -> Vec<T> {
    let words = random.words(count).into_iter();
    words.map(|word| T::decode(word.into())).collect()
}
