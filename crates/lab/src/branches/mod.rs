//! `madrigal-lab branches`: circuits with secret branches, as the papers on them measure: random branches of one size, of
//! which one is active, and nobody knows which.
//!
//! `plain` computes every branch as it stands and multiplexes; `motif`, `masked` and `merged` are the
//! engine's ways to share the cost. With `--products` branches are products of numbers (`rings.rs`). All parties
//! are threads of this process. Each result is compared with that in the clear; bytes and OTs are those of the
//! plan, which tests hold against counters.

mod measure;
mod rings;

use std::sync::Arc;

use madrigal_app::failure;
use madrigal_circuit::branches::{Layering, Random};
use serde::Serialize;

use crate::args::BenchBranches;
use crate::exit::Result;
use crate::graphs;
use crate::machine::Machine;
use crate::measured::{Row, Rows, is_wanted, select};
use crate::numbers::{bytes, count, rate, seconds};
use crate::progress::Steps;
use crate::reach::Network;
use measure::{Counted, Planned};
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
struct BranchesRow {
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
        layering: Layering::default(),
        runs: graphs::Setting {
            transport: args.transport,
            network: (args.network.as_deref()).map_or(Ok(Network::new(None)), network)?,
            threads: 1,
            repeat: args.repeat,
        },
    };
    let ways = match args.products {
        None => Way::ALL.map(Measured::Bits).to_vec(),
        Some(products) => {
            let products = products as usize;
            let rings = |way| Measured::Rings(way, products);
            rings::Way::ALL.map(rings).to_vec()
        }
    };
    let mut all = Vec::new();
    for &branches in &args.branches {
        all.extend(
            (ways.iter()).map(|&way| (format!("{}/b{branches}", way.name()), way, branches)),
        );
    }
    let wanted = |name: &str| is_wanted(&args.only, name);
    let wanted = select(all, wanted, |(name, ..)| name)?;
    let machine = Machine::measure()?;
    let steps = Steps::new(wanted.len() as u64, args.json);
    let mut rows = Rows::new(args.json);
    let mut plain: Option<(u16, BranchesRow)> = None;
    for (name, way, branches) in wanted {
        steps.name(&name);
        steps.advance();
        let mut line = match way {
            Measured::Bits(way) => {
                let made = shape.conditional(branches.into(), args.seed);
                let circuit = Arc::new(made.map_err(failure::Usage::Branches)?);
                let plan = way.plan(&circuit, &setting)?;
                let measured = measure(&circuit, &plan, &setting)?;
                BranchesRow::new(name, way.branches(&circuit), &plan, &measured, &setting)
            }
            Measured::Rings(way, products) => {
                let branches = usize::from(branches).max(2);
                let sizes = [args.layers as usize, products];
                let rings = rings::Rings::new(way, branches, sizes, args.seed, &setting)?;
                let measured = rings.measure(&setting)?;
                BranchesRow::new(name, branches, &rings.planned, &measured, &setting)
            }
        };
        if let Some((_, plain)) = plain.as_ref().filter(|plain| plain.0 == branches) {
            let times = |plain: u64, ours: u64| Some(plain as f64 / ours as f64);
            line.less_total_bytes = times(plain.total_bytes, line.total_bytes);
            line.less_setup_bytes = times(plain.setup_bytes, line.setup_bytes);
            line.faster_beyond_base_ots =
                Some(plain.beyond_base_ots_seconds / line.beyond_base_ots_seconds);
        }
        rows.add(&line)?;
        if way.is_plain() {
            plain = Some((branches, line));
        }
    }
    steps.clear();
    rows.print(|table| {
        format!(
            "{} parties on {} cores, {}, median of {} runs; {} by each core, loopback TCP carries {}, a \
             round trip takes {}.\n\n{table}\n",
            args.parties,
            machine.cores,
            args.extension,
            args.repeat,
            rate(machine.aes_blocks, " AES blocks/s"),
            rate(machine.loopback_bytes_per_second, "B/s"),
            seconds(machine.loopback_round_trip_seconds),
        )
    })
}

/// Branches that are measured, and the way.
#[derive(Clone, Copy)]
enum Measured {
    /// Circuits.
    Bits(Way),
    /// Branches of this number of products.
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

impl BranchesRow {
    fn new(
        name: String,
        branches: usize,
        plan: &Planned,
        measured: &graphs::Measured,
        setting: &Setting,
    ) -> Self {
        let Counted {
            setup_bytes,
            online_bytes,
            ots,
            rounds,
        } = plan.counted();
        Self {
            name,
            setup_bytes,
            online_bytes,
            total_bytes: setup_bytes + online_bytes,
            ots,
            rounds,
            seconds: measured.median(|times| times.total),
            setup_seconds: measured.median(|times| times.setup),
            online_seconds: measured.median(|times| times.online),
            base_ots_seconds: measured.median(|times| times.base_ots),
            beyond_base_ots_seconds: measured.median(|times| times.beyond_base_ots),
            parties: setting.parties,
            branches,
            lanes: setting.lanes,
            extension: setting.extension.to_string(),
            less_total_bytes: None,
            less_setup_bytes: None,
            faster_beyond_base_ots: None,
            repeats: measured.times.len(),
        }
    }
}

impl Row for BranchesRow {
    const HEADER: &'static [&'static str] = &[
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
    ];

    fn cells(&self) -> Vec<String> {
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
