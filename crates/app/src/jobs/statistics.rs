//! Costs of a run, for people and for scripts. The JSON is described in `docs/STATISTICS.md`.

use madrigal_core::PhaseCost;
use madrigal_engine::{Outcome, StoreReport};
use madrigal_operations::Circuit;
use serde::{Deserialize, Serialize};

use super::task::PlannedCircuit;
use crate::figures::PhaseFigures;
use crate::flags::TransportArg;
use crate::numbers::{Table, bytes, count, hex, seconds, table};
use crate::spread::Spread;

/// Report of one party on one run.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct RunFigures {
    /// Cost before any input was needed.
    pub setup: PhaseFigures,
    /// Cost with inputs.
    pub online: PhaseFigures,
    /// Time from the opening of the job to its finish at all parties.
    pub total_seconds: f64,
    /// Bytes sent with headers and control messages.
    pub wire_bytes_sent: u64,
}

/// Report of one party on all runs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PartyRuns {
    /// Number of the party.
    pub party: usize,
    /// Costs of each run.
    pub runs: Vec<RunFigures>,
    /// Memory that the party's process took at most, where the system tells it.
    pub peak_rss_bytes: Option<u64>,
}

/// A job, and what it cost.
#[derive(Debug, Serialize)]
pub struct Statistics {
    /// Version of the program.
    pub madrigal: &'static str,
    /// Letter of the protocol, as `--protocol` has it; `Y2 by three halves` with that garbling.
    pub protocol: String,
    /// The circuit.
    pub circuit: CircuitFigures,
    /// Number of times that the circuit is evaluated, side by side.
    pub lanes: u64,
    /// Owner of each input value.
    pub owners: Vec<usize>,
    /// Parties that get the result.
    pub to: Vec<usize>,
    /// Order of setup and online as planned, even where the flag said `auto`.
    pub phases: String,
    /// Way of opening values as planned, even where the flag said `auto`.
    pub broadcast: String,
    /// Origin of the correlations: `ot` and the extension, `dealer`, `store`, or `none` where nothing needs any.
    pub correlations: String,
    /// Threads that each party computes with.
    pub threads: usize,
    /// Transport, as given.
    pub transport: TransportArg,
    /// Network, as given.
    pub network: String,
    /// Number of runs.
    pub repeat: u32,
    /// Party i; `null` if it ran on another machine.
    pub parties: Vec<Option<PartyStatistics>>,
}

/// A circuit, as statistics name it.
#[derive(Debug, Serialize)]
pub struct CircuitFigures {
    /// Name of the file.
    pub name: String,
    /// SHA-256 of the netlist's meaning (not of the file's bytes), in hexadecimal.
    pub digest: String,
    /// Widths of the input values, in bits.
    pub inputs: Vec<u32>,
    /// Widths of the output values, in bits.
    pub outputs: Vec<u32>,
    /// Gates, as the file has them; so are the five counts that follow.
    pub gates: u64,
    /// Wires.
    pub wires: u64,
    /// ANDs.
    pub and: u64,
    /// XORs.
    pub xor: u64,
    /// Inverters.
    pub inv: u64,
    /// ORs.
    pub or: u64,
    /// Longest path to an output, in ANDs and ORs.
    pub depth: u32,
    /// Longest path to an output, in gates of any kind.
    pub total_depth: u32,
    /// ANDs of the compiled circuit, without dead gates.
    pub compiled_and: usize,
    /// Layers of the compiled circuit.
    pub compiled_depth: usize,
}

/// Costs of one party. Seconds are the median of all runs.
#[derive(Debug, Serialize)]
pub struct PartyStatistics {
    /// Number of the party.
    pub party: usize,
    /// Cost before any input was needed; base OTs are part of every run's setup.
    pub setup: PhaseStatistics,
    /// Cost with inputs.
    pub online: PhaseStatistics,
    /// Time from the opening of the job to its finish at all parties, without connecting and greeting; the median of
    /// all runs.
    pub total_seconds: f64,
    /// Spread of this time.
    pub total_spread: Spread,
    /// Bytes sent with headers and control messages, without TLS, TCP and IP.
    pub wire_bytes_sent: u64,
    /// Peak memory of the process; `null` where the system does not tell it. With `--transport memory` all parties
    /// share one process.
    pub peak_rss_bytes: Option<u64>,
    /// Each run.
    pub runs: Vec<RunFigures>,
}

/// Costs of a phase. Seconds are the median of all runs; the counts are the same in each run.
#[derive(Debug, Serialize)]
pub struct PhaseStatistics {
    /// Costs of the phase.
    #[serde(flatten)]
    pub figures: PhaseFigures,
    /// Spread of the seconds, which are the median of all runs; counts are the same in each run.
    pub seconds_spread: Spread,
}

impl<Outputs> From<&Outcome<Outputs>> for RunFigures {
    fn from(report: &Outcome<Outputs>) -> Self {
        Self {
            setup: (&report.setup).into(),
            online: (&report.online).into(),
            total_seconds: report.total.as_secs_f64(),
            wire_bytes_sent: report.wire_bytes_sent,
        }
    }
}

/// A store takes setup alone.
impl From<&StoreReport> for RunFigures {
    fn from(report: &StoreReport) -> Self {
        Self {
            setup: (&report.setup).into(),
            online: PhaseFigures::new(0.0, &PhaseCost::default()),
            total_seconds: report.setup.time.as_secs_f64(),
            wire_bytes_sent: report.wire_bytes_sent,
        }
    }
}

impl CircuitFigures {
    /// Counts what a circuit has.
    pub fn new(circuit: &Circuit) -> Self {
        let stats = circuit.stats();
        Self {
            name: circuit.name().to_owned(),
            digest: hex(&circuit.digest()),
            inputs: circuit.inputs().to_vec(),
            outputs: circuit.outputs().to_vec(),
            gates: stats.gates,
            wires: stats.wires,
            and: stats.and,
            xor: stats.xor,
            inv: stats.inv,
            or: stats.or,
            depth: stats.and_depth,
            total_depth: stats.total_depth,
            compiled_and: circuit.layered().and_count(),
            compiled_depth: circuit.layered().depth(),
        }
    }
}

impl Statistics {
    /// Puts together what the parties of this machine report.
    pub fn new(
        planned: &PlannedCircuit,
        transport: TransportArg,
        network: &str,
        figures: &[PartyRuns],
    ) -> Self {
        let PlannedCircuit { job, plan, .. } = planned;
        let spec = plan.spec();
        let mut parties: Vec<Option<PartyStatistics>> = (0..job.parties).map(|_| None).collect();
        for party in figures {
            parties[party.party] = Some(PartyStatistics::new(party));
        }
        let indices =
            |parties: &[madrigal_core::Party]| parties.iter().map(|p| p.index()).collect();
        Self {
            madrigal: env!("CARGO_PKG_VERSION"),
            protocol: job.protocol.name.to_owned(),
            circuit: CircuitFigures::new(&job.circuit),
            lanes: job.lanes as u64,
            owners: indices(&job.owners),
            to: indices(&job.to),
            phases: plan.phases().to_string(),
            broadcast: spec.opening.to_string(),
            correlations: plan.correlations_in_words(),
            threads: spec.threads,
            transport,
            network: network.to_owned(),
            repeat: figures.first().map_or(0, |party| party.runs.len() as u32),
            parties,
        }
    }

    /// Lists the costs in a table, a row for each party and phase.
    pub fn table(&self) -> Table {
        let mut table = table(&[
            "party",
            "phase",
            "time",
            "sent",
            "received",
            "messages",
            "rounds",
            "AES blocks",
            "peak memory",
        ]);
        for party in self.parties.iter().flatten() {
            for (name, phase) in [("setup", &party.setup), ("online", &party.online)] {
                let figures = &phase.figures;
                let memory = party.peak_rss_bytes.filter(|_| name == "online");
                table.add_row([
                    if name == "setup" {
                        party.party.to_string()
                    } else {
                        String::new()
                    },
                    name.to_owned(),
                    time_with(figures.seconds, &phase.seconds_spread, self.repeat),
                    bytes(figures.bytes_sent),
                    bytes(figures.bytes_received),
                    count(figures.messages),
                    count(figures.rounds),
                    count(figures.aes_blocks),
                    memory.map(bytes).unwrap_or_default(),
                ]);
            }
        }
        table
    }
}

impl PartyStatistics {
    fn new(party: &PartyRuns) -> Self {
        let spread =
            |pick: fn(&RunFigures) -> f64| Spread::of(party.runs.iter().map(pick).collect());
        let phase = |pick: fn(&RunFigures) -> &PhaseFigures| {
            let spread = Spread::of(party.runs.iter().map(|run| pick(run).seconds).collect());
            let figures = party.runs.first().map(pick).copied();
            PhaseStatistics {
                figures: PhaseFigures {
                    seconds: spread.median,
                    ..figures.unwrap_or_else(|| PhaseFigures::new(0.0, &PhaseCost::default()))
                },
                seconds_spread: spread,
            }
        };
        let total = spread(|run| run.total_seconds);
        Self {
            party: party.party,
            setup: phase(|run| &run.setup),
            online: phase(|run| &run.online),
            total_seconds: total.median,
            total_spread: total,
            wire_bytes_sent: party.runs.first().map_or(0, |run| run.wire_bytes_sent),
            peak_rss_bytes: party.peak_rss_bytes,
            runs: party.runs.clone(),
        }
    }
}

fn time_with(median: f64, spread: &Spread, repeat: u32) -> String {
    let text = seconds(median);
    if repeat < 2 {
        return text;
    }
    format!("{text} ± {}", seconds(spread.standard_deviation))
}
