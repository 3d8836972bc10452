//! `explain`: what a run will cost, from its plan, and about how long it will take.

use std::sync::Arc;

use madrigal_app::explain::{Operation, operations, operations_table};
use madrigal_core::time::{Rates, Time};
use madrigal_core::{Party, Phase, PhaseCost};
use madrigal_engine::PlanTime;
use madrigal_net::transport::Profile;
use madrigal_operations::{CircuitJob, Scheme};
use serde::Serialize;

use super::costs::{Counts, costs_table};
use crate::args::Explain;
use crate::exit::Result;
use crate::figures::{print, print_json};
use crate::jobs::{BranchWay, CircuitFigures, PlannedCircuit};
use crate::numbers::{counted, rate, seconds};
use crate::rates;
use crate::reach::Network;

/// The answer, as JSON has it.
#[derive(Serialize)]
struct Explanation {
    /// The circuit.
    circuit: CircuitFigures,
    /// Number of times that the circuit is evaluated, side by side.
    lanes: u64,
    /// Letter of the protocol.
    protocol: String,
    /// Order of setup and online as planned.
    phases: String,
    /// Way of opening values as planned.
    broadcast: String,
    /// Network, as given.
    network: String,
    /// Threads that each party is taken to compute with.
    threads: usize,
    /// Boolean triples that the job uses.
    triples: usize,
    /// Origin of the correlations.
    correlations: String,
    /// Reason why this OT extension was chosen; `null` if none is used.
    extension_because: Option<String>,
    /// How branches of the circuit share their cost; `null` if it has none.
    branches: Option<Branches>,
    /// Time that the job takes over the network of `--network`, by an estimate; `null` if none is named.
    expected: Option<Expected>,
    /// Party i.
    parties: Vec<PartyCost>,
    /// Operations, each at the party that it costs most; times are `null` if no network is named.
    operations: Vec<Operation>,
}

/// How branches of a circuit share their cost.
#[derive(Serialize)]
struct Branches {
    /// Conditionals, those in branches included.
    conditionals: usize,
    /// The most branches of a conditional.
    most_branches: usize,
    /// The way that is taken: `motif`, `masked`, `merged`, or `all` where all branches are computed and multiplexed.
    way: &'static str,
    /// Ways that were compared, at fixed rates, so that all parties come to the same; none where there was no choice.
    ways: Vec<BranchWay>,
    /// Reason why branches of the protocol share no cost; `null` if they do.
    because: Option<&'static str>,
}

/// How long the slowest party is expected to take, in seconds.
#[derive(Serialize)]
struct Expected {
    /// Time of setup at the slowest party, if every party has an otherwise idle machine like this one.
    setup_seconds: f64,
    /// Time of the online phase at the slowest party.
    online_seconds: f64,
    /// Time from the opening of the job to its finish at all parties.
    total_seconds: f64,
    /// Rates of one core of this machine, as measured for the estimate.
    rates: MachineRates,
}

/// Rates of this machine, as measured for the estimate.
#[derive(Serialize)]
struct MachineRates {
    /// AES blocks.
    aes_blocks_per_second: f64,
    /// Base OTs, for each side on its own.
    base_ots_per_second: f64,
    /// Bytes handed to the operating system or taken from it.
    network_bytes_per_second: f64,
    /// Time from sending a message until its receiver goes to work, without any network.
    hop_seconds: f64,
}

#[derive(Serialize)]
struct PartyCost {
    /// Number of the party.
    party: usize,
    /// Cost of setup.
    setup: PhaseEstimate,
    /// Cost of the online phase.
    online: PhaseEstimate,
    /// Memory for triples, rows, and where the round trip is long messages under way, as far as they are there at the
    /// same time, without the program itself.
    memory_bytes: usize,
}

#[derive(Serialize)]
struct PhaseEstimate {
    /// Counts, which are exact.
    #[serde(flatten)]
    counts: Counts,
    /// The least time that the network allows, without any computing; `null` if none is named, like the fields below.
    least_seconds: Option<f64>,
    /// Time by an estimate, computing included.
    expected_seconds: Option<f64>,
    /// Time with all threads at work. This time and the two that follow overlap: their sum may be larger.
    computing_seconds: Option<f64>,
    /// Time with the busiest link at work.
    sending_seconds: Option<f64>,
    /// Time with messages in transit.
    waiting_seconds: Option<f64>,
}

pub fn run(args: Explain) -> Result<()> {
    if args.work.hycc.hycc.is_some() {
        return super::hycc::explain(&args);
    }
    let network = Network::parse(&args.network)?;
    let circuit = Arc::new(args.work.read()?.compiled());
    let mut job = args.work.job(args.among.parties(), &circuit)?;
    job.lanes = args.work.lanes.unwrap_or(1);
    let here = args.among.here().then(|| args.among.parties());
    job.how.settle(&args.network, here);
    let planned = job.plan(circuit)?;
    let machine = match network.profile {
        Some(_) => Some(rates::measure(planned.plan.trial().as_ref())?),
        None => None,
    };
    let explanation = explain(&planned, &args.network, network.profile.zip(machine));
    if args.json {
        return print_json(&explanation);
    }
    print(explanation.text(&planned).as_bytes())
}

fn explain(
    planned: &PlannedCircuit,
    name: &str,
    surroundings: Option<(Profile, Rates)>,
) -> Explanation {
    let PlannedCircuit {
        job,
        plan,
        choice,
        ways,
        ..
    } = planned;
    let party = |party: Party| {
        let cost = plan.cost(party);
        let time = surroundings
            .map(|(profile, rates)| plan.time(party, &rates, &Network::new(Some(profile)).link()));
        let phase = |phase: Phase| {
            let mut estimate = PhaseEstimate::new(cost.phase(phase));
            if let Some(((profile, _), time)) = surroundings.zip(time) {
                estimate.tell_times(
                    least(cost.phase(phase), job.parties, &profile),
                    time.phase(phase),
                );
            }
            estimate
        };
        let cost = PartyCost {
            party: party.index(),
            setup: phase(Phase::Setup),
            online: phase(Phase::Online),
            memory_bytes: plan.memory(party),
        };
        (cost, time)
    };
    let priced = surroundings.map(|(profile, rates)| (rates, Network::new(Some(profile)).link()));
    let priced = priced.as_ref().map(|(rates, link)| (rates, link));
    let (parties, times): (Vec<_>, Vec<_>) = Party::all(job.parties).map(party).unzip();
    let times: Vec<PlanTime> = times.into_iter().flatten().collect();
    Explanation {
        circuit: CircuitFigures::new(&job.circuit),
        lanes: job.lanes as u64,
        protocol: job.protocol.name.to_owned(),
        phases: plan.phases().to_string(),
        broadcast: plan.spec().opening.to_string(),
        network: name.to_owned(),
        threads: plan.spec().threads,
        triples: planned.triples(),
        correlations: plan.correlations_in_words(),
        extension_because: (choice.as_ref())
            .filter(|_| planned.triples() > 0)
            .map(|choice| choice.reason.clone()),
        branches: Branches::of(job, ways),
        expected: surroundings.map(|(_, rates)| Expected::new(&times, &rates)),
        parties,
        operations: operations(plan, priced),
    }
}

/// Gives the seconds of the network alone: each round waits for a message to arrive. Links work side by side: the
/// fullest has no less than an even share of the bytes.
fn least(cost: &PhaseCost, parties: usize, profile: &Profile) -> f64 {
    let wait = profile.latency.as_secs_f64() * cost.rounds as f64;
    let bytes = cost.bytes_sent / (parties as u64 - 1).max(1);
    let busy = profile.busy(usize::try_from(bytes).unwrap_or(usize::MAX));
    wait.max(busy.as_secs_f64())
}

impl Branches {
    fn of(job: &CircuitJob, ways: &[BranchWay]) -> Option<Self> {
        let (conditionals, most_branches) = job.circuit.branching()?.conditionals();
        let shares = job.protocol.bits().branches;
        Some(Self {
            conditionals,
            most_branches,
            way: job.branches.map_or("all", Scheme::name),
            ways: ways.to_vec(),
            because: shares.err(),
        })
    }

    fn text(&self) -> String {
        let how = match self.way {
            "all" => "all branches are computed and multiplexed".to_owned(),
            way => format!("branches share their cost as `--branches {way}` has it"),
        };
        let because = self.because.map(|why| format!(", {why}"));
        let other = |way: &BranchWay| format!("{} {}", way.way, seconds(way.seconds));
        let others: Vec<String> = self.ways.iter().map(other).collect();
        let others = match others.is_empty() {
            true => String::new(),
            false => format!(" (compared at fixed rates: {})", others.join(", ")),
        };
        format!(
            "{} of up to {} branches: {how}{}{others}.\n",
            counted(self.conditionals as u64, "conditional"),
            self.most_branches,
            because.unwrap_or_default(),
        )
    }
}

impl Expected {
    fn new(times: &[PlanTime], rates: &Rates) -> Self {
        let slowest = |pick: fn(&PlanTime) -> f64| times.iter().map(pick).fold(0.0, f64::max);
        Self {
            setup_seconds: slowest(|time| time.setup.total),
            online_seconds: slowest(|time| time.online.total),
            total_seconds: slowest(|time| time.total),
            rates: MachineRates {
                aes_blocks_per_second: rates.aes_blocks,
                base_ots_per_second: rates.base_ots,
                network_bytes_per_second: rates.network_bytes,
                hop_seconds: rates.hop,
            },
        }
    }
}

impl PhaseEstimate {
    /// Makes an estimate that has the exact counts alone.
    fn new(cost: &PhaseCost) -> Self {
        Self {
            counts: cost.into(),
            least_seconds: None,
            expected_seconds: None,
            computing_seconds: None,
            sending_seconds: None,
            waiting_seconds: None,
        }
    }

    fn tell_times(&mut self, least: f64, time: &Time) {
        self.least_seconds = Some(least);
        self.expected_seconds = Some(time.total);
        self.computing_seconds = Some(time.computing);
        self.sending_seconds = Some(time.sending);
        self.waiting_seconds = Some(time.waiting);
    }
}

impl Explanation {
    fn text(&self, planned: &PlannedCircuit) -> String {
        let plan = &planned.plan;
        let costs = self.parties.iter().map(|party| {
            let phase = |phase: &'_ PhaseEstimate| -> Vec<String> {
                let times = [phase.least_seconds, phase.expected_seconds];
                times.into_iter().flatten().map(seconds).collect()
            };
            let phases = [&party.setup, &party.online];
            let phases = phases.map(|one| (&one.counts, phase(one)));
            (party.party, party.memory_bytes, phases)
        });
        let costs = match self.expected {
            Some(_) => costs_table(costs, &["network at least", "expected"]),
            None => costs_table(costs, &[]),
        };
        let origin = match &self.extension_because {
            Some(reason) => format!("Triples from {}: {reason}.\n", self.correlations),
            None if self.triples > 0 => format!("Triples from {}.\n", self.correlations),
            None => String::new(),
        };
        let branches = self.branches.as_ref().map(Branches::text);
        let branches = branches.unwrap_or_default();
        let times = match &self.expected {
            Some(expected) => format!(
                "\n\nOver the network `{}` the job takes about {}: setup about {}, online about {}.\n\
                 This is an estimate, computing included, if every party has a machine like this one to\n\
                 itself (as measured now: {}, {}{}).",
                self.network,
                seconds(expected.total_seconds),
                seconds(expected.setup_seconds),
                seconds(expected.online_seconds),
                rate(expected.rates.aes_blocks_per_second, "AES blocks/s"),
                rate(expected.rates.base_ots_per_second, "base OTs/s"),
                match plan.trial() {
                    Some(_) => "; the job's correlations by a trial",
                    None => "",
                },
            ),
            None => String::new(),
        };
        format!(
            "{}: protocol {}, {} for each party, {}, {} in {} each; {}; phases {}, broadcast {}, {}.\n\
             {branches}{origin}\n\
             {costs}\n\n{}\n\n\
             Rounds, bytes, messages and blocks are exact. What an operation sends in setup is what its\n\
             correlations would take if they were made by themselves, without base OTs.{times}\n",
            self.circuit.name,
            self.protocol,
            counted(self.threads as u64, "thread"),
            counted(self.lanes, "lane"),
            counted(self.circuit.compiled_and as u64, "AND"),
            counted(self.circuit.compiled_depth as u64, "layer"),
            counted(self.triples as u64, "triple"),
            self.phases,
            self.broadcast,
            counted(plan.parts().len() as u64, "part"),
            operations_table(&self.operations, false),
        )
    }
}
