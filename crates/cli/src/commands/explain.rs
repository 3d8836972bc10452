//! `explain`: what a run will cost, from its plan.

use std::sync::Arc;

use madrigal_core::{Party, Phase, PhaseCost};
use madrigal_engine::{Choice, Circuit, Origin, Plan};
use madrigal_kernels::{Kernels, ceilings};
use madrigal_net::transport::Profile;
use serde::Serialize;

use crate::args::Explain;
use crate::exit::Result;
use crate::machine::BLOCKS_PER_HASH;
use crate::reach::Network;
use crate::stats::{CircuitFigures, bytes, count, print, print_json, seconds, table};
use crate::work::{Job, read_netlist};

/// The answer, as JSON has it.
#[derive(Serialize)]
struct Explanation {
    circuit: CircuitFigures,
    lanes: u64,
    protocol: String,
    phases: String,
    broadcast: String,
    network: String,
    triples: usize,
    /// Where these come from.
    correlations: String,
    /// Why this OT extension; `null` without OT.
    extension_because: Option<String>,
    parties: Vec<PartyCost>,
}

#[derive(Serialize)]
struct PartyCost {
    party: usize,
    setup: PhaseEstimate,
    online: PhaseEstimate,
    /// Triples and rows that are there at once; not the program itself.
    memory_bytes: usize,
}

#[derive(Serialize)]
struct PhaseEstimate {
    rounds: u64,
    bytes_sent: u64,
    bytes_received: u64,
    messages: u64,
    aes_blocks: u64,
    /// A guess from this machine's speed and the network's profile; all else here is exact.
    estimated_seconds: f64,
}

pub fn run(args: Explain) -> Result<()> {
    let network = Network::parse(&args.network)?;
    let circuit = Arc::new(Circuit::new(&read_netlist(&args.work.circuit)?));
    let mut job = Job::from_flags(&args.work, args.parties, &circuit)?;
    job.lanes = args.work.lanes.unwrap_or(1);
    job.how.over.or_network(&args.network);
    let choice = job.extension(&circuit);
    let plan = job.plan(Arc::clone(&circuit))?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let cores = cores.min(plan.spec().threads) as f64;
    let blocks_per_second =
        BLOCKS_PER_HASH * cores * ceilings::measure(Kernels::detect()).hash.rate;
    let explanation = explain(&plan, choice, &args.network, network.0, blocks_per_second);
    if args.json {
        return print_json(&explanation);
    }
    print(explanation.text(&plan).as_bytes())
}

fn explain(
    plan: &Plan,
    choice: Choice,
    name: &str,
    network: Option<Profile>,
    blocks_per_second: f64,
) -> Explanation {
    let spec = plan.spec();
    let party = |party: Party| {
        let cost = plan.cost(party);
        let phase =
            |phase| PhaseEstimate::new(cost.phase(phase), spec.parties, network, blocks_per_second);
        PartyCost {
            party: party.index(),
            setup: phase(Phase::Setup),
            online: phase(Phase::Online),
            memory_bytes: plan.triple_bytes() + plan.row_bytes(party),
        }
    };
    Explanation {
        circuit: CircuitFigures::new(&spec.circuit),
        lanes: spec.lanes as u64,
        protocol: spec.protocol.to_string(),
        phases: plan.phases().to_string(),
        broadcast: spec.opening.to_string(),
        network: name.to_owned(),
        triples: plan.triples(),
        correlations: spec.origin.to_string(),
        extension_because: match spec.origin {
            Origin::Ot { .. } if plan.triples() > 0 => Some(choice.reason),
            _ => None,
        },
        parties: Party::all(spec.parties).map(party).collect(),
    }
}

impl PhaseEstimate {
    /// Links work side by side, each with an even share of the bytes; computing and sending overlap,
    /// rounds do not.
    fn new(
        cost: &PhaseCost,
        parties: usize,
        network: Option<Profile>,
        blocks_per_second: f64,
    ) -> Self {
        let compute = cost.aes_blocks as f64 / blocks_per_second;
        let wait = network.map_or(0.0, |profile| {
            profile.latency.as_secs_f64() * cost.rounds as f64
        });
        let transfer = network.map_or(0.0, |profile| {
            let bytes = cost.bytes_sent / (parties as u64 - 1).max(1);
            profile
                .busy(usize::try_from(bytes).unwrap_or(usize::MAX))
                .as_secs_f64()
        });
        Self {
            rounds: cost.rounds,
            bytes_sent: cost.bytes_sent,
            bytes_received: cost.bytes_received,
            messages: cost.messages,
            aes_blocks: cost.aes_blocks,
            estimated_seconds: compute.max(transfer) + wait,
        }
    }
}

impl Explanation {
    fn text(&self, plan: &Plan) -> String {
        let mut costs = table(&[
            "party",
            "phase",
            "rounds",
            "sends",
            "receives",
            "messages",
            "AES blocks",
            "memory",
            "time",
        ]);
        for party in &self.parties {
            for (name, phase) in [("setup", &party.setup), ("online", &party.online)] {
                let first = name == "setup";
                costs.add_row([
                    if first {
                        party.party.to_string()
                    } else {
                        String::new()
                    },
                    name.to_owned(),
                    count(phase.rounds),
                    bytes(phase.bytes_sent),
                    bytes(phase.bytes_received),
                    count(phase.messages),
                    count(phase.aes_blocks),
                    if first {
                        bytes(party.memory_bytes as u64)
                    } else {
                        String::new()
                    },
                    format!("~{}", seconds(phase.estimated_seconds)),
                ]);
            }
        }
        let origin = match &self.extension_because {
            Some(reason) => format!("Triples from {}: {reason}.\n", self.correlations),
            None if self.triples > 0 => format!("Triples from {}.\n", self.correlations),
            None => String::new(),
        };
        format!(
            "{}: protocol {}, {} lanes, {} ANDs in {} layers each; {} triples; phases {}, broadcast {}, {} parts.\n\
             {origin}\n\
             {costs}\n\nRounds, bytes, messages and blocks are exact. Times are estimates for this machine and the\n\
             network `{}`: hashing or sending, whichever takes longer, and the waiting for rounds.\n",
            self.circuit.name,
            self.protocol,
            count(self.lanes),
            count(self.circuit.compiled_and as u64),
            count(self.circuit.compiled_depth as u64),
            count(self.triples as u64),
            self.phases,
            self.broadcast,
            plan.parts().len(),
            self.network,
        )
    }
}
