//! `madrigal-lab branches`: circuits with secret branches, as the papers on them measure: random branches of one size, of
//! which one is active, and nobody knows which.
//!
//! `plain` computes every branch as it stands and multiplexes; `motif`, `masked` and `merged` are the
//! engine's ways to share the cost. With `--products` branches are products of numbers (`rings.rs`). All parties
//! are threads of this process. Each result is compared with that in the clear; bytes and OTs are those of the
//! plan, which tests hold against counters.

mod measure;
mod rings;

use madrigal_circuit::branches::Random;
use serde::Serialize;
use std::sync::Arc;

use crate::args::BenchBranches;
use crate::exit::{Failure, Result, Usage};
use crate::figures::{print, print_json_line};
use crate::machine::Machine;
use crate::measured::is_wanted;
use crate::numbers::{bytes, count, rate, seconds, wide_table};
use crate::progress::Steps;
use crate::reach::Network;
use crate::spread::Spread;
use measure::{Counted, Planned, Times};
pub(super) use measure::{Setting, Way, measure};

/// A network of the papers (MOTIF 9.1, Masked Triples 8.3), or any other one.
pub(super) fn network(text: &str) -> Result<Network> {
    Network::parse(match text {
        "lan" => "2ms,1Gbps",
        "shared-lan" => "2ms,50Mbps",
        "wan" => "20ms,100Mbps",
        other => other,
    })
}

/// One line of JSON, one row of the table. Bytes are those that the party sends which sends most.
#[derive(Serialize)]
struct Line {
    name: String,
    setup_bytes: u64,
    online_bytes: u64,
    total_bytes: u64,
    /// OTs of all parties together.
    ots: u64,
    rounds: u64,
    /// Medians, of the slowest party; everything included.
    seconds: f64,
    setup_seconds: f64,
    online_seconds: f64,
    base_ots_seconds: f64,
    beyond_base_ots_seconds: f64,
    parties: usize,
    branches: usize,
    lanes: usize,
    extension: String,
    /// Plain's total bytes, setup bytes and seconds beyond base OTs, as multiples of these.
    less_total_bytes: Option<f64>,
    less_setup_bytes: Option<f64>,
    faster_beyond_base_ots: Option<f64>,
    repeats: usize,
}

pub fn run(args: &BenchBranches) -> Result<()> {
    let shape = Random {
        layers: args.layers as usize,
        ands: args.ands as usize,
        xors: args.ands as usize,
        ..Random::PAPER
    };
    let setting = Setting {
        parties: args.parties,
        extension: args.extension,
        lanes: args.lanes as usize,
        transport: args.transport,
        network: args
            .network
            .as_deref()
            .map_or(Ok(Network::new(None)), network)?,
        repeat: args.repeat,
    };
    let name = |way: Measured, branches: u16| format!("{}/b{branches}", way.name());
    let ways = match args.products {
        None => Way::ALL.map(Measured::Bits).to_vec(),
        Some(products) => {
            let products = products as usize;
            let rings = |way| Measured::Rings(way, products);
            rings::Way::ALL.map(rings).to_vec()
        }
    };
    let all = || {
        let branches = args.branches.iter();
        branches.flat_map(|&b| ways.iter().map(move |&way| (way, b)))
    };
    let wanted: Vec<_> = all()
        .filter(|&(way, branches)| is_wanted(&args.only, &name(way, branches)))
        .collect();
    if wanted.is_empty() {
        let names: Vec<_> = all().map(|(way, branches)| name(way, branches)).collect();
        let names = names.join(", ");
        return Err(Usage::NothingToMeasure { names }.into());
    }
    let machine = Machine::measure()?;
    let steps = Steps::new(wanted.len() as u64, args.json);
    let mut rows = (!args.json).then(|| {
        wide_table(&[
            "name",
            "setup, sent by one",
            "total, sent by one",
            "OTs",
            "rounds",
            "total time",
            "online",
            "beyond base OTs",
            "setup bytes saved",
            "total bytes saved",
            "faster",
        ])
    });
    let mut plain: Option<(u16, Line)> = None;
    for (way, branches) in wanted {
        let name = name(way, branches);
        steps.name(&name);
        steps.advance();
        let mut line = match way {
            Measured::Bits(way) => {
                let made = shape.conditional(branches.into(), args.seed);
                let circuit = made.map_err(|error| {
                    Failure::from(madrigal_app::failure::Usage::Branches(error))
                })?;
                let circuit = Arc::new(circuit);
                let plan = way.plan(&circuit, &setting)?;
                let times = measure(&circuit, &plan, &setting)?;
                line(name, way.branches(&circuit), &plan, times, &setting)
            }
            Measured::Rings(way, products) => {
                let branches = usize::from(branches).max(2);
                let sizes = [args.layers as usize, products];
                let rings = rings::Rings::new(way, branches, sizes, args.seed, &setting)?;
                let times = rings.measure(&setting)?;
                line(name, branches, &rings.planned, times, &setting)
            }
        };
        if let Some((same, plain)) = plain.as_ref().filter(|plain| plain.0 == branches) {
            debug_assert_eq!(*same, branches);
            let times = |plain: u64, ours: u64| Some(plain as f64 / ours as f64);
            line.less_total_bytes = times(plain.total_bytes, line.total_bytes);
            line.less_setup_bytes = times(plain.setup_bytes, line.setup_bytes);
            line.faster_beyond_base_ots =
                Some(plain.beyond_base_ots_seconds / line.beyond_base_ots_seconds);
        }
        match &mut rows {
            Some(table) => {
                table.add_row(line.row());
            }
            None => print_json_line(&line)?,
        }
        if way.is_plain() {
            plain = Some((branches, line));
        }
    }
    steps.clear();
    let Some(table) = rows else {
        return Ok(());
    };
    let text = format!(
        "{} parties on {} cores, {}, median of {} runs; {} by each core, loopback TCP carries {}, a \
         round trip takes {}.\n\n{table}\n",
        args.parties,
        machine.cores,
        args.extension,
        args.repeat,
        rate(machine.aes_blocks, " AES blocks/s"),
        rate(machine.loopback_bytes_per_second, "B/s"),
        seconds(machine.loopback_round_trip_seconds),
    );
    print(text.as_bytes())
}

/// What is measured.
#[derive(Clone, Copy)]
enum Measured {
    /// Circuits.
    Bits(Way),
    /// Branches of so many products.
    Rings(rings::Way, usize),
}

impl Measured {
    const fn name(self) -> &'static str {
        match self {
            Self::Bits(way) => way.name(),
            Self::Rings(way, _) => way.name(),
        }
    }

    /// Tells whether others are compared with it.
    fn is_plain(self) -> bool {
        match self {
            Self::Bits(way) => way == Way::Plain,
            Self::Rings(way, _) => way == rings::Way::All,
        }
    }
}

fn line(
    name: String,
    branches: usize,
    plan: &Planned,
    times: Vec<Times>,
    setting: &Setting,
) -> Line {
    let Counted {
        setup_bytes,
        online_bytes,
        ots,
        rounds,
    } = plan.counted();
    let median = |pick: fn(&Times) -> f64| Spread::of(times.iter().map(pick).collect()).median;
    Line {
        name,
        setup_bytes,
        online_bytes,
        total_bytes: setup_bytes + online_bytes,
        ots,
        rounds,
        seconds: median(|times| times.total),
        setup_seconds: median(|times| times.setup),
        online_seconds: median(|times| times.online),
        base_ots_seconds: median(|times| times.base_ots),
        beyond_base_ots_seconds: median(|times| (times.total - times.base_ots).max(1e-6)),
        parties: setting.parties,
        branches,
        lanes: setting.lanes,
        extension: setting.extension.to_string(),
        less_total_bytes: None,
        less_setup_bytes: None,
        faster_beyond_base_ots: None,
        repeats: times.len(),
    }
}

impl Line {
    fn row(&self) -> Vec<String> {
        let times = |times: Option<f64>| times.map(|x| format!("{x:.2} x")).unwrap_or_default();
        vec![
            self.name.clone(),
            bytes(self.setup_bytes),
            bytes(self.total_bytes),
            count(self.ots),
            self.rounds.to_string(),
            seconds(self.seconds),
            seconds(self.online_seconds),
            seconds(self.beyond_base_ots_seconds),
            times(self.less_setup_bytes),
            times(self.less_total_bytes),
            times(self.faster_beyond_base_ots),
        ]
    }
}
