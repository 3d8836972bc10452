//! Costs of a run, for people and for scripts. The JSON is described in `docs/STATISTICS.md`.

use madrigal_operations::Circuit;
use serde::Serialize;

use super::task::PlannedCircuit;
use crate::flags::TransportArg;
use crate::holders::HolderArg;
use crate::numbers::{Table, hex};
use crate::provenance::Provenance;
use crate::runs::{PartyRuns, PartyStatistics, all_costs};

/// A job, and what it cost.
#[derive(Debug, Serialize)]
pub struct Statistics {
    /// Version of the program.
    pub madrigal: &'static str,
    /// Who ran it, when, where and how.
    pub provenance: Provenance,
    /// Letter of the protocol, as `--protocol` has it; `Y2 by three halves` with that garbling.
    pub protocol: String,
    /// The circuit.
    pub circuit: CircuitFigures,
    /// Number of times that the circuit is evaluated, side by side.
    pub lanes: u64,
    /// Owner of each input value: a party's number, or a client's name.
    pub owners: Vec<HolderArg>,
    /// Those who get the result: parties' numbers, and clients' names.
    pub to: Vec<HolderArg>,
    /// Order of setup and online as planned, even where the flag said `auto`.
    pub phases: String,
    /// Way of opening values as planned, even where the flag said `auto`.
    pub broadcast: String,
    /// Origin of the correlations: `ot` and the extension, `dealer`, `store`, or `none` where nothing needs any.
    pub correlations: String,
    /// Threads for which the work was planned: the least number of all parties.
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
        Self {
            madrigal: env!("CARGO_PKG_VERSION"),
            provenance: Provenance::of_process(),
            protocol: job.protocol.name.to_owned(),
            circuit: CircuitFigures::new(&job.circuit),
            lanes: job.lanes as u64,
            owners: planned.owners.clone(),
            to: planned.to.clone(),
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
        all_costs(self.parties.iter().flatten())
    }
}
