//! `explain`: what a run will cost, from its plan.

use std::sync::Arc;

use madrigal_core::{Party, Phase, PhaseCost};
use madrigal_engine::{Choice, Circuit, Origin, Plan};
use madrigal_net::transport::Profile;
use serde::Serialize;

use crate::args::Explain;
use crate::exit::Result;
use crate::numbers::{bytes, count, counted, seconds, table};
use crate::reach::Network;
use crate::source::read_netlist;
use crate::stats::{CircuitFigures, print, print_json};
use crate::work::Job;

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
    /// What the network alone takes, at least; `null` if none is named. All else here is exact.
    least_seconds: Option<f64>,
}

pub fn run(args: Explain) -> Result<()> {
    let network = Network::parse(&args.network)?;
    let circuit = Arc::new(Circuit::new(&read_netlist(&args.work.circuit)?));
    let mut job = Job::from_flags(&args.work, args.parties, &circuit)?;
    job.lanes = args.work.lanes.unwrap_or(1);
    job.how.over.or_network(&args.network);
    let choice = job.extension(&circuit);
    let plan = job.plan(Arc::clone(&circuit))?;
    let explanation = explain(&plan, choice, &args.network, network.0);
    if args.json {
        return print_json(&explanation);
    }
    print(explanation.text(&plan).as_bytes())
}

fn explain(plan: &Plan, choice: Choice, name: &str, network: Option<Profile>) -> Explanation {
    let spec = plan.spec();
    let party = |party: Party| {
        let cost = plan.cost(party);
        let phase = |phase| PhaseEstimate::new(cost.phase(phase), spec.parties, network);
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
        correlations: plan.correlations(),
        extension_because: match spec.origin {
            Origin::Ot { .. } if plan.triples() > 0 => Some(choice.reason),
            _ => None,
        },
        parties: Party::all(spec.parties).map(party).collect(),
    }
}

impl PhaseEstimate {
    /// Each round waits for a message to arrive. Links work side by side: the fullest has no less than
    /// an even share of the bytes.
    fn new(cost: &PhaseCost, parties: usize, network: Option<Profile>) -> Self {
        let least = |profile: Profile| {
            let wait = profile.latency.as_secs_f64() * cost.rounds as f64;
            let bytes = cost.bytes_sent / (parties as u64 - 1).max(1);
            let busy = profile.busy(usize::try_from(bytes).unwrap_or(usize::MAX));
            wait.max(busy.as_secs_f64())
        };
        Self {
            rounds: cost.rounds,
            bytes_sent: cost.bytes_sent,
            bytes_received: cost.bytes_received,
            messages: cost.messages,
            aes_blocks: cost.aes_blocks,
            least_seconds: network.map(least),
        }
    }
}

impl Explanation {
    fn text(&self, plan: &Plan) -> String {
        let timed = self.network != "none";
        let mut header = vec![
            "party",
            "phase",
            "rounds",
            "sends",
            "receives",
            "messages",
            "AES blocks",
            "memory",
        ];
        header.extend(timed.then_some("at least"));
        let mut costs = table(&header);
        for party in &self.parties {
            for (name, phase) in [("setup", &party.setup), ("online", &party.online)] {
                let first = name == "setup";
                let mut row = vec![
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
                ];
                row.extend(phase.least_seconds.map(seconds));
                costs.add_row(row);
            }
        }
        let origin = match &self.extension_because {
            Some(reason) => format!("Triples from {}: {reason}.\n", self.correlations),
            None if self.triples > 0 => format!("Triples from {}.\n", self.correlations),
            None => String::new(),
        };
        let times = if timed {
            format!(
                "\nTimes are what the network `{}` alone takes, at least; computing comes on top.",
                self.network
            )
        } else {
            String::new()
        };
        format!(
            "{}: protocol {}, {}, {} in {} each; {}; phases {}, broadcast {}, {}.\n\
             {origin}\n\
             {costs}\n\nRounds, bytes, messages and blocks are exact.{times}\n",
            self.circuit.name,
            self.protocol,
            counted(self.lanes, "lane"),
            counted(self.circuit.compiled_and as u64, "AND"),
            counted(self.circuit.compiled_depth as u64, "layer"),
            counted(self.triples as u64, "triple"),
            self.phases,
            self.broadcast,
            counted(plan.parts().len() as u64, "part"),
        )
    }
}
