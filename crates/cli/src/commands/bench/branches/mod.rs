//! `bench branches`: circuits with secret branches, as the papers on them measure: random branches of one size, of
//! which one is active, and nobody knows which.
//!
//! `plain` computes every branch as it stands and multiplexes; `motif`, `masked` and `merged` are the
//! engine's ways to share the cost. All parties are threads of this process. Each result is compared with
//! the circuit's in the clear; bytes and OTs are those of the plan, which tests hold against counters.

mod measure;

use madrigal_circuit::branches::{Branching, Random};
use serde::Serialize;
use std::sync::Arc;

use super::measured::is_wanted;
use crate::args::BenchBranches;
use crate::exit::{Failure, Result, Usage};
use crate::machine::Machine;
use crate::numbers::{bytes, count, rate, seconds, table};
use crate::progress::Steps;
use crate::reach::Network;
use crate::stats::{Spread, print, print_json_line};
use measure::Counted;
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
    /// Of all parties together.
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
    let name = |way: Way, branches: u16| format!("{}/b{branches}", way.name());
    let all = || {
        args.branches
            .iter()
            .flat_map(|&b| Way::ALL.map(|way| (way, b)))
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
        table(&[
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
        let made = shape.conditional(branches.into(), args.seed);
        let circuit = made.map_err(|error| Failure::from(Usage::Random(error)))?;
        let mut line = line(name, way, &Arc::new(circuit), &setting)?;
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
        if way == Way::Plain {
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

fn line(name: String, way: Way, circuit: &Arc<Branching>, setting: &Setting) -> Result<Line> {
    let plan = way.plan(circuit, setting)?;
    let Counted {
        setup_bytes,
        online_bytes,
        ots,
        rounds,
    } = plan.counted();
    let times = measure(circuit, &plan, setting)?;
    let median =
        |pick: fn(&measure::Times) -> f64| Spread::of(times.iter().map(pick).collect()).median;
    Ok(Line {
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
        branches: way.branches(circuit),
        lanes: setting.lanes,
        extension: setting.extension.to_string(),
        less_total_bytes: None,
        less_setup_bytes: None,
        faster_beyond_base_ots: None,
        repeats: times.len(),
    })
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
