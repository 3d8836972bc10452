//! Tells the cost of a program, for each operation, before it runs.

use madrigal_circuit::Goal;
use madrigal_core::time::{Link, Rates};
use madrigal_core::{Party, Phase};
use madrigal_engine::{OperationEstimate, Plan};
use madrigal_operations::SortRounds;
use madrigal_program::Planned;
use serde::Serialize;

use crate::costs::Costs;
use crate::failure::Result;
use crate::figures::json_text;
use crate::flagged::FlaggedProgram;
use crate::numbers::{Table, bytes, count, counted, seconds, table};
use crate::rates;
use crate::reach::Network;
use crate::steps::{self, Step, StepCosts};

/// The answer, as JSON has it.
#[derive(Serialize)]
struct Explanation<'a> {
    /// Name of the program.
    program: &'a str,
    /// Number of parties.
    parties: usize,
    /// Sharings that are mixed, as in A+B.
    mix: String,
    /// Goal of circuits: `size` or `depth`.
    circuits: &'static str,
    /// Whether circuits on masked bits do two layers of ANDs in a round.
    two_layers_a_round: bool,
    /// Whether the least or greatest of many elements is found in groups, of which all members are compared at once.
    in_groups: bool,
    /// Rounds of sorts of rows: `many`, as without any, `few` or `fewest`.
    sort_rounds: &'static str,
    /// Origin of the correlations, or `none`.
    correlations: String,
    /// Network, as `--network` was given.
    network: String,
    /// Threads that each party is taken to compute with.
    threads: usize,
    /// Order of setup and online.
    phases: String,
    /// Cost of setup, of the party that has most of each.
    setup: Costs,
    /// Cost of the online phase, of the party that has most of each.
    online: Costs,
    /// Time from the opening of the job to its finish, by an estimate.
    total_seconds: f64,
    /// Memory for correlations, values, and where the round trip is long messages under way, as far as they are there
    /// at the same time.
    memory_bytes: usize,
    /// Ways in which each secret `if` and `match` is computed, a line for each.
    conditionals: Vec<String>,
    /// Costs of computing all branches, where branches share their cost.
    multiplexed: Option<Multiplexed>,
    /// Ways to compute conditionals that were compared, of which the fastest is taken.
    considered: Vec<Considered>,
    /// Sharing of bits that each part of the program is in, where there were several to choose from, a line for each.
    held: Vec<String>,
    /// The fastest plan with all bits in one sharing, where there were several to choose from.
    single: Option<Single>,
    /// Steps in their order, of a query on tables; other programs have none.
    steps: Vec<StepCosts>,
    /// Operations, each at the party that it costs most.
    operations: Vec<Operation>,
}

/// A program with all bits in one sharing: of the party that has most of each.
#[derive(Serialize)]
struct Single {
    /// Sharings that are mixed, as in A+B.
    mix: String,
    /// Time by an estimate, at the rates by which all parties choose alike.
    seconds: f64,
    /// Time of the program as it was chosen, by the same estimate.
    chosen_seconds: f64,
    /// Bytes sent in setup and online.
    bytes_sent: u64,
}

/// A program all of whose branches are computed: of the party that has most of each.
#[derive(Serialize)]
struct Multiplexed {
    /// Time by an estimate.
    total_seconds: f64,
    /// Payload of the party that sends most.
    bytes_sent: u64,
}

/// A way to compute conditionals, with what the program costs then: of the party that has most of each.
#[derive(Serialize)]
struct Considered {
    /// The way, in words.
    how: &'static str,
    /// Time on this network at the rates by which all parties choose.
    seconds: f64,
    /// Payload of the party that sends most.
    bytes_sent: u64,
}

/// One operation's part, at the party that has most of it.
#[derive(Debug, Clone, Serialize)]
pub struct Operation {
    /// Name of the operation with its version and parameters, as parties compare it.
    pub name: String,
    /// Place that asked for it: in a program the line of its source.
    pub source: String,
    /// Sorts of its results: number of elements, element, sharing.
    pub makes: Vec<String>,
    /// Blocks of elements that it is done in.
    pub blocks: usize,
    /// Correlations that it uses up, as `--triples` of `madrigal precompute` writes them.
    pub correlations: String,
    /// Cost of these correlations if they were made by themselves, without base OTs.
    pub setup: Costs,
    /// Cost online; rounds are its own, and operations side by side share them.
    pub online: Costs,
}

impl Operation {
    fn new(estimate: OperationEstimate, timed: bool) -> Self {
        let cost = estimate.cost;
        let needs = match cost.needs.is_empty() {
            true => String::new(),
            false => cost.needs.to_string(),
        };
        Self {
            name: cost.name.unwrap_or_default(),
            source: cost.label,
            makes: cost.sorts.iter().map(ToString::to_string).collect(),
            blocks: estimate.blocks,
            correlations: needs,
            setup: Costs::new(&estimate.setup, timed.then_some(estimate.setup_time.total)),
            online: Costs::new(&cost.online, timed.then_some(estimate.online_time.total)),
        }
    }
}

/// Gives each operation of a plan with the cost at the party that it costs most, with times if it is known at which rates
/// and over which links.
pub fn operations(plan: &Plan, surroundings: Option<(&Rates, &Link)>) -> Vec<Operation> {
    let (rates, link) = surroundings.unwrap_or((
        &Rates::ZEN_5,
        &Link {
            latency: 0.0,
            bytes_per_second: None,
        },
    ));
    let of = |party| {
        let estimates = plan.estimates(party, rates, link).into_iter();
        let made = |estimate| Operation::new(estimate, surroundings.is_some());
        estimates.map(made).collect::<Vec<_>>()
    };
    let all = Party::all(plan.spec().graph.parties()).map(of);
    let most = |mut most: Vec<Operation>, next: Vec<Operation>| {
        for (most, next) in most.iter_mut().zip(next) {
            most.setup = most.setup.most(next.setup);
            most.online = most.online.most(next.online);
        }
        most
    };
    all.reduce(most).unwrap_or_default()
}

/// Gives the costs of setup and online of a plan at the party that has most of each, with their times.
pub fn phases(plan: &Plan, rates: &Rates, link: &Link) -> [Costs; 2] {
    let of = |party| {
        let (cost, time) = (plan.cost(party), plan.time(party, rates, link));
        [
            Costs::new(&cost.setup, Some(time.setup.total)),
            Costs::new(&cost.online, Some(time.online.total)),
        ]
    };
    let most = |[setup, online]: [Costs; 2], other: [Costs; 2]| {
        [setup.most(other[0]), online.most(other[1])]
    };
    let parties = plan.spec().graph.parties();
    Party::all(parties).map(of).reduce(most).unwrap_or_default()
}

/// Gives the seconds of the party that takes longest, on machines with these rates over such links.
pub fn slowest(plan: &Plan, rates: &Rates, link: &Link) -> f64 {
    let parties = Party::all(plan.spec().graph.parties());
    let total = |party| plan.time(party, rates, link).total;
    parties.map(total).fold(0.0, f64::max)
}

/// Gives the bytes of the party that keeps most.
pub fn most_memory(plan: &Plan) -> usize {
    let parties = Party::all(plan.spec().graph.parties());
    let memory = parties.map(|party| plan.memory(party));
    memory.max().unwrap_or(0)
}

/// Gives the goal of circuits in a word.
pub fn saving(goal: Goal) -> &'static str {
    match goal {
        Goal::Size => "size",
        Goal::Depth => "depth",
    }
}

/// Tells where the correlations of a plan come from; `none` where it uses none.
pub fn origin(plan: &Plan) -> String {
    match plan.needs().is_empty() {
        true => "none".to_owned(),
        false => plan.spec().origin.to_string(),
    }
}

/// Operations as a table, those that cost nothing at all in one line at its end; with the places where a
/// program asks for them, if it is one.
pub fn operations_table(operations: &[Operation], sources: bool) -> Table {
    let timed = operations.iter().any(|one| one.online.seconds.is_some());
    let mut header = vec!["operation", "makes"];
    header.extend(timed.then_some("setup"));
    header.push("sends in setup");
    header.extend(timed.then_some("online"));
    header.extend(["sends online", "rounds", "correlations"]);
    let mut table = table(&header);
    let costs = |one: &&Operation| {
        let (setup, online) = (&one.setup, &one.online);
        setup.messages + online.messages + online.aes_blocks + online.bytes_received > 0
    };
    let local = operations.iter().filter(|one| !costs(one)).count();
    for one in operations.iter().filter(costs) {
        let mut row = vec![
            match sources {
                true => format!("{}  {}", short(&one.source), without_digests(&one.name)),
                false => without_digests(&one.name).to_owned(),
            },
            one.makes.join(", "),
        ];
        row.extend(one.setup.seconds.map(seconds));
        row.push(bytes(one.setup.bytes_sent));
        row.extend(one.online.seconds.map(seconds));
        row.push(bytes(one.online.bytes_sent));
        row.push(count(one.online.rounds));
        row.push(one.correlations.clone());
        table.add_row(row);
    }
    if local > 0 {
        let local = counted(local as u64, "operation");
        let mut row = vec![format!("{local} without messages")];
        row.resize(header.len(), String::new());
        table.add_row(row);
    }
    table
}

/// A name without what tells two circuits of one name apart, which is for scripts.
fn without_digests(name: &str) -> &str {
    let digests = name.strip_suffix(')').and_then(|name| name.rfind(" ("));
    let end = digests.filter(|&at| name[at..].contains(" compiled "));
    &name[..end.unwrap_or(name.len())]
}

/// A place in the source without its folders.
fn short(source: &str) -> &str {
    let end = source.find([' ', ':']).unwrap_or(source.len());
    let start = source[..end].rfind('/').map_or(0, |at| at + 1);
    &source[start..]
}

pub(crate) fn explain<H>(made: &FlaggedProgram<'_, H>, steps: &[Step]) -> Result<String> {
    let flags = made.flags;
    let network = &flags.net.network;
    let planned = made.planner().plan(flags.own_threads())?;
    explain_plan(made.name, &planned, steps, network, flags.json)
}

/// Tells the cost of a planned program over a network, and of its steps if it has some.
pub(crate) fn explain_plan(
    name: &str,
    planned: &Planned,
    steps: &[Step],
    network_name: &str,
    as_json: bool,
) -> Result<String> {
    let network = Network::parse(network_name)?;
    let (plan, rates, link) = (
        &planned.plan,
        rates::measure(planned.plan.trial().as_ref())?,
        network.link(),
    );
    let parties = plan.spec().graph.parties();
    let [setup, online] = phases(plan, &rates, &link);
    let sent = |plan: &Plan| -> u64 {
        Party::all(parties)
            .map(|party| Phase::ALL.map(|phase| plan.cost(party).phase(phase).bytes_sent))
            .map(|bytes| bytes.iter().sum())
            .max()
            .unwrap_or(0)
    };
    let multiplexed = planned.multiplexed.as_deref().map(|plan| Multiplexed {
        total_seconds: slowest(plan, &rates, &link),
        bytes_sent: sent(plan),
    });
    let single = planned.single.as_deref().map(|single| Single {
        mix: single.mix.to_string(),
        seconds: single.seconds_at(&Rates::ZEN_5),
        chosen_seconds: planned.seconds_at(&Rates::ZEN_5),
        bytes_sent: sent(&single.plan),
    });
    let held = planned.held.iter().filter(|_| single.is_some());
    let held = held
        .map(|held| short(&held.to_string()).to_owned())
        .collect();
    let conditionals = planned.conditionals.iter();
    let conditionals = conditionals.map(|conditional| short(&conditional.to_string()).to_owned());
    let considered = planned.considered.iter().map(|one| Considered {
        how: one.how,
        seconds: one.seconds,
        bytes_sent: one.bytes_sent,
    });
    let explanation = Explanation {
        program: name,
        parties,
        mix: planned.mix.to_string(),
        circuits: saving(planned.goal),
        two_layers_a_round: planned.pairs,
        in_groups: planned.groups,
        sort_rounds: match planned.sort_rounds {
            SortRounds::Many => "many",
            SortRounds::Few => "few",
            SortRounds::Fewest => "fewest",
        },
        correlations: origin(plan),
        network: network_name.to_owned(),
        threads: plan.spec().threads,
        phases: plan.phases().to_string(),
        setup,
        online,
        total_seconds: slowest(plan, &rates, &link),
        memory_bytes: most_memory(plan),
        conditionals: conditionals.collect(),
        multiplexed,
        considered: considered.collect(),
        held,
        single,
        steps: steps::costs(steps, planned, &rates, &link),
        operations: operations(plan, Some((&rates, &link))),
    };
    if as_json {
        return json_text(&explanation);
    }
    Ok(explanation.text(&steps::sent_online(planned)))
}

impl Explanation<'_> {
    /// `sent` is the payload that each party sends online.
    fn text(&self, sent: &[u64]) -> String {
        let phase = |name: &str, costs: &Costs| {
            let time = costs.seconds.map_or_else(String::new, seconds);
            format!(
                "{name}: about {time}, {} sent by the party that sends most, {}, {}\n",
                bytes(costs.bytes_sent),
                counted(costs.messages, "message"),
                counted(costs.rounds, "round"),
            )
        };
        let mut choices: String = (self.conditionals.iter())
            .map(|conditional| format!("{conditional}\n"))
            .collect();
        if let Some(multiplexed) = &self.multiplexed {
            choices += &format!(
                "with all branches computed and multiplexed: about {}, {} sent\n",
                seconds(multiplexed.total_seconds),
                bytes(multiplexed.bytes_sent),
            );
        }
        if self.considered.len() > 1 {
            choices += "the fastest of what was compared, at the rates by which all parties choose alike:\n";
        }
        for one in self.considered.iter().filter(|_| self.considered.len() > 1) {
            let (time, sent) = (seconds(one.seconds), bytes(one.bytes_sent));
            choices += &format!("- {}: about {time}, {sent} sent\n", one.how);
        }
        for held in &self.held {
            choices += &format!("{held}\n");
        }
        if let Some(single) = &self.single {
            let [time, chosen] = [single.seconds, single.chosen_seconds].map(seconds);
            choices += &format!(
                "the best single mix, {}: about {time}, where this takes {chosen} at the rates by which all\n\
                 parties choose alike; {} sent\n",
                single.mix,
                bytes(single.bytes_sent),
            );
        }
        if !self.steps.is_empty() {
            let whole = [&self.setup, &self.online];
            choices += &format!("\n{}\n", steps::steps_table(&self.steps, whole, sent));
            if self.setup.messages > 0 {
                choices += "Setup does not add up: each step's is that of its correlations made by themselves, without base OTs,\n\
                            which belong to no step; made together, correlations share rounds and batches.\n";
            }
        }
        format!(
            "{}: {} parties of {} each, mix {}, circuits of little {}{}{}{}, correlations {}; network {}, phases {}.\n\
             {}{}together: about {}, at most {} of memory\n{choices}\n{}\n\n\
             Bytes, messages and rounds are exact; those of an operation or a step are its own, and what is\n\
             done side by side shares rounds. Times are estimates for machines like this one.\n",
            self.program,
            self.parties,
            counted(self.threads as u64, "thread"),
            self.mix,
            self.circuits,
            match self.two_layers_a_round {
                true => " (two layers of ANDs a round)",
                false => "",
            },
            match self.in_groups {
                true => " (the least and greatest found in groups)",
                false => "",
            },
            match self.sort_rounds {
                "many" => "",
                "few" => " (sorts of few rounds)",
                _ => " (sorts of the fewest rounds)",
            },
            self.correlations,
            self.network,
            self.phases,
            phase("setup", &self.setup),
            phase("online", &self.online),
            seconds(self.total_seconds),
            bytes(self.memory_bytes as u64),
            operations_table(&self.operations, true),
        )
    }
}
