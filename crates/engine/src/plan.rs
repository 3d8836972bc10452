//! Programs planned: in which parts, blocks and order, and what that costs.

use std::collections::HashMap;
use std::sync::Arc;

use madrigal_core::time::{Link, Rates};
use madrigal_core::{Cost, Digest256, MAX_PARTIES, Party, PhaseCost, domains};
use madrigal_correlations::{Kind, Needs};
use madrigal_correlations_make::{MAX_THREADS, Origin, SupplyCosts};
use madrigal_net::Fact;
use madrigal_protocols::Opening;
use sha2::{Digest, Sha256};

use crate::graph::{Graph, Node};
use crate::phases::Phases;
use crate::policy::{Policy, Soonest};
use crate::price::{Ahead, Limits, Price};
use crate::schedule::Schedule;
use crate::sort::Sort;

/// The usual limit for a party's triples: 160 MiB.
pub const TRIPLE_MEMORY: usize = 160 << 20;

/// The fact that names the origin of the correlations.
pub const CORRELATIONS: &str = "correlations";

/// Specification of a plan: the computation, and how it is done.
#[derive(Debug, Clone)]
pub struct PlanSpec {
    /// The computation.
    pub graph: Arc<Graph>,
    /// Where correlations come from.
    pub origin: Origin,
    /// How masked values become known.
    pub opening: Opening,
    /// The order of the phases; `None` is sequential where the correlations fit `memory`.
    /// Sequential ones, asked for, have tables of Y2 in setup where what is kept fits six times as much; else they
    /// travel online, but for few.
    pub phases: Option<Phases>,
    /// Bytes that the correlations kept by one party may take, with what is under way of the messages that make
    /// them.
    pub memory: usize,
    /// Threads that each party computes with when online, 1 to [`MAX_THREADS`]; all have as many.
    pub threads: usize,
    /// Line between any two parties, as they expect it: as much is under way as it takes.
    pub line: Link,
    /// Rule for which operations go first where several could begin; all parties have the same one.
    pub policy: Arc<dyn Policy>,
    /// Facts of the caller's own that all parties must agree on, beside those of the plan.
    pub also: Vec<Fact>,
}

impl PlanSpec {
    /// `graph` on one thread, with the usual correlations, for a local network.
    pub fn new(graph: Graph) -> Self {
        Self {
            graph: Arc::new(graph),
            origin: Origin::default(),
            opening: Opening::Direct,
            phases: None,
            memory: TRIPLE_MEMORY,
            threads: 1,
            line: Link::default(),
            policy: Arc::new(Soonest),
            also: Vec::new(),
        }
    }

    /// Makes a specification of the same on this many threads, before the online phase and in it.
    #[must_use]
    pub fn on_threads(self, threads: usize) -> Self {
        let origin = match self.origin {
            Origin::Ot {
                extension,
                matrices,
                ..
            } => Origin::Ot {
                extension,
                threads,
                matrices,
            },
            other => other,
        };
        Self {
            origin,
            threads,
            ..self
        }
    }

    /// Numbers of threads of the phases.
    fn all_threads(&self) -> [usize; 2] {
        match self.origin {
            Origin::Ot { threads, .. } => [threads, self.threads],
            _ => [self.threads; 2],
        }
    }
}

/// A program with its order: known before the first byte is sent, the same at all parties.
#[derive(Debug, Clone)]
pub struct Plan {
    spec: PlanSpec,
    schedule: Arc<Schedule>,
    phases: Phases,
}

/// Why a program cannot be planned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// Too few or too many parties.
    #[error(
        "at least 2 and at most {most} parties compute, not {parties}; a dealer takes one of the {MAX_PARTIES} places of a session"
    )]
    Parties {
        /// Number of parties that were asked for.
        parties: usize,
        /// The most parties that there can be, without helpers.
        most: usize,
    },
    /// No threads, or too many.
    #[error("a party computes with 1 to {MAX_THREADS} threads, not {threads}; take another number")]
    Threads {
        /// Number of threads that were asked for.
        threads: usize,
    },
    /// Too many blocks for a plan.
    #[error(
        "the program would be cut into {blocks} blocks; allow more memory for correlations, or give fewer elements at a time"
    )]
    TooManyBlocks {
        /// Number of blocks.
        blocks: usize,
    },
    /// The origin has none of a kind.
    #[error(
        "the program needs {kind} (correlated OTs, for garbled values that do not come from party 0 alone), which the {origin} has not; make the correlations by oblivious transfer"
    )]
    Correlations {
        /// Kind that is missing.
        kind: Box<Kind>,
        /// Where correlations come from.
        origin: Origin,
    },
    /// The correlations do not fit.
    #[error(
        "sequential phases keep all {needed} bytes of correlations, more than the {memory} bytes that are allowed; interleave the phases, or allow more"
    )]
    Memory {
        /// Bytes needed.
        needed: u128,
        /// Bytes allowed.
        memory: usize,
    },
}

/// Bytes of messages under way in a setup by oblivious transfer, of the memory for correlations: at most half of it.
fn under_way(spec: &PlanSpec) -> usize {
    match spec.origin {
        Origin::Ot { .. } => {
            let peers = spec.graph.parties() - 1;
            let all = (spec.line.under_way() as usize).saturating_mul(peers);
            all.min(spec.memory / 2)
        }
        _ => 0,
    }
}

/// How often correlations are in memory while they are made: rows of correlated OTs that several threads make are put
/// together.
fn copies(spec: &PlanSpec) -> usize {
    match spec.origin {
        Origin::Ot { threads, .. } if threads > 1 && spec.graph.is_garbled() => 2,
        _ => 1,
    }
}

impl Plan {
    /// Cuts a program into blocks and puts them in order.
    ///
    /// # Errors
    /// [`PlanError`] if parts of the specification do not fit together.
    pub fn new(spec: PlanSpec) -> Result<Self, PlanError> {
        let parties = spec.graph.parties();
        let most = MAX_PARTIES - spec.origin.helpers();
        if !(2..=most).contains(&parties) {
            return Err(PlanError::Parties { parties, most });
        }
        let wrong = |threads: &usize| !(1..=MAX_THREADS).contains(threads);
        if let Some(threads) = spec.all_threads().into_iter().find(wrong) {
            return Err(PlanError::Threads { threads });
        }
        let threads = spec.threads;
        // Interleaved, one part is used while the next is made.
        let copies = copies(&spec);
        let part_bytes = (spec.memory - under_way(&spec)) / (1 + copies);
        let mut limits = Limits {
            opening: spec.opening,
            threads,
            line: spec.line,
            block_needs: part_bytes / (2 * threads).min(MOST_SHARES),
            block_memory: spec.memory / 2,
            ahead: match spec.phases {
                Some(Phases::Interleaved) => Ahead::Nothing,
                _ => Ahead::All,
            },
        };
        let cut = |limits: &Limits| {
            Schedule::new(&spec.graph, limits, &*spec.policy)
                .map_err(|blocks| PlanError::TooManyBlocks { blocks })
        };
        let mut schedule = match cut(&limits) {
            // Blocks as long as one thread has, rather than none.
            Err(PlanError::TooManyBlocks { .. }) if threads > 1 => {
                limits.block_needs = part_bytes / 2;
                cut(&limits)
            }
            cut => cut,
        }?;
        let most = match spec.phases {
            Some(Phases::Sequential) => KEPT_TIMES * spec.memory as u128,
            _ => FEW_TABLES,
        };
        let garbled = spec.graph.nodes().iter().any(Node::of_tables);
        if garbled && schedule.ahead && u128::from(schedule.kept_bytes(None)) > most {
            schedule = cut(&Limits {
                ahead: Ahead::ButTables,
                ..limits
            })?;
        }
        let needs = schedule.needs();
        let kinds = needs.kinds();
        let foreign = kinds.iter().find(|(kind, _)| !spec.origin.serves(*kind));
        if let Some(&(kind, _)) = foreign {
            let (kind, origin) = (Box::new(kind), spec.origin.clone());
            return Err(PlanError::Correlations { kind, origin });
        }
        // Correlations that are used up in setup are not kept after it.
        let later = match schedule.ahead {
            true => schedule.later_needs(),
            false => needs.clone(),
        };
        let kept = u128::from(schedule.kept_bytes(None)) / KEPT_TIMES;
        let needed = (copies as u128 * later.share_bytes()).max(kept);
        let phases = match spec.phases {
            _ if needed == 0 && !schedule.ahead => Phases::Sequential,
            Some(Phases::Sequential) if needed > spec.memory as u128 => {
                let memory = spec.memory;
                return Err(PlanError::Memory { needed, memory });
            }
            Some(phases) => phases,
            None if needed > spec.memory as u128 => Phases::Interleaved,
            None => Phases::Sequential,
        };
        if phases == Phases::Interleaved && schedule.ahead {
            schedule = cut(&Limits {
                ahead: Ahead::Nothing,
                ..limits
            })?;
        }
        let streams =
            phases == Phases::Interleaved && may_stream(&spec, &needs) && schedule.stream();
        if !streams {
            schedule.divide(match phases {
                Phases::Sequential if !schedule.ahead => None,
                // Making each part takes a few rounds.
                Phases::Sequential if needs.share_bytes() <= FEW.min(part_bytes as u128) => None,
                Phases::Sequential => Some(part_bytes),
                Phases::Interleaved => Some(part_bytes),
            });
        }
        Ok(Self {
            spec,
            schedule: Arc::new(schedule),
            phases,
        })
    }

    /// Plans as [`new`](Self::new) does. But where the phases are left open and interleaved ones would take markedly less time, since
    /// rounds on the parties' line pass while Boolean triples are made, they are interleaved. Estimated at
    /// fixed rates, so that all parties come to the same.
    ///
    /// # Errors
    /// [`PlanError`] if parts of the specification do not fit together.
    pub fn fastest(spec: PlanSpec) -> Result<Self, PlanError> {
        let open = spec.phases.is_none();
        let plan = Self::new(spec)?;
        let spec = &plan.spec;
        let sequential = plan.phases == Phases::Sequential && !plan.schedule.ahead;
        if !(open && sequential && may_stream(spec, &plan.needs())) {
            return Ok(plan);
        }
        // The slowest party's.
        let time = |plan: &Self| {
            let all = Party::all(spec.graph.parties());
            let times = all.map(|me| plan.time(me, &Rates::ZEN_5, &spec.line));
            times
                .max_by(|a, b| a.total.total_cmp(&b.total))
                .unwrap_or_default()
        };
        let before = time(&plan);
        // The most seconds that can be saved.
        let rounds = before.online.waiting.min(before.setup.total);
        let worth = before.total * WORTH;
        if rounds <= worth {
            return Ok(plan);
        }
        let streamed = Self::new(PlanSpec {
            phases: Some(Phases::Interleaved),
            ..spec.clone()
        })?;
        let saves = || before.total - time(&streamed).total > worth;
        Ok(match streamed.schedule.stream {
            Some(_) if saves() => streamed,
            _ => plan,
        })
    }

    /// Specification of the plan.
    pub fn spec(&self) -> &PlanSpec {
        &self.spec
    }

    /// The order of the phases.
    pub fn phases(&self) -> Phases {
        self.phases
    }

    /// All correlations.
    pub fn needs(&self) -> Needs {
        self.schedule.needs()
    }

    /// Tells in words where correlations come from: `none` where there is nothing to make and nobody who would.
    pub fn correlations_in_words(&self) -> String {
        match &self.spec.origin {
            origin if origin.helpers() == 0 && self.needs().is_empty() => "none".to_owned(),
            origin => origin.to_string(),
        }
    }

    /// Correlations that are made at once, part by part.
    pub fn parts(&self) -> &[Needs] {
        &self.schedule.parts
    }

    /// Pieces of work that go on side by side.
    pub fn strands(&self) -> usize {
        self.schedule.strands.len()
    }

    /// The most elements of a block.
    pub fn block_lanes(&self) -> usize {
        self.schedule.widest_block()
    }

    /// The most blocks of one region that are under way at once.
    pub fn blocks_under_way(&self) -> usize {
        self.schedule.under_way()
    }

    /// Cost of a party, to the byte.
    pub fn cost(&self, me: Party) -> Cost {
        let parties = self.spec.graph.parties();
        let needs = self.needs();
        let mut costs = self.spec.origin.costs(me, parties);
        let mut setup = costs.start(&needs);
        for part in &self.schedule.parts {
            setup += costs.fill(part);
        }
        let from_source = matches!(self.spec.origin, Origin::Ot { .. }) && !needs.is_empty();
        if self.spec.graph.is_garbled() && !from_source {
            // An offset is drawn.
            setup.aes_blocks += 1;
        }
        if self.schedule.ahead {
            let graph = &self.spec.graph;
            let prepared = self.schedule.setup_cost(graph, me, &self.supply_rounds());
            let rounds = setup.rounds.max(prepared.rounds);
            setup += prepared;
            setup.rounds = rounds;
        }
        Cost {
            setup,
            online: self.schedule.cost(me),
        }
    }

    /// By part, the rounds that each party has heard of when it has its correlations.
    fn supply_rounds(&self) -> Vec<Vec<u64>> {
        let parties = self.spec.graph.parties();
        let needs = self.needs();
        let mut all: Vec<_> = Party::all(parties)
            .map(|party| self.spec.origin.costs(party, parties))
            .collect();
        // Messages to a dealer beside requests end the job: nobody has heard of them.
        let first = |costs: &SupplyCosts| match self.spec.origin {
            Origin::Dealer => 0,
            _ => costs.start(&needs).rounds,
        };
        let mut rounds: Vec<u64> = all.iter().map(first).collect();
        let mut after = |part: &Needs| {
            let parties = all.iter_mut().zip(&mut rounds);
            parties.for_each(|(costs, rounds)| *rounds += costs.fill(part).rounds);
            rounds.clone()
        };
        self.schedule.parts.iter().map(&mut after).collect()
    }

    /// Cost of each operation for a party, blocks added up; rounds say nothing, for operations share them.
    pub fn operations(&self, me: Party) -> Vec<OperationCost> {
        let graph = &self.spec.graph;
        let nodes = graph.nodes().iter();
        let mut operations: Vec<OperationCost> = nodes
            .enumerate()
            .map(|(operation, node)| OperationCost {
                operation,
                name: node.operation.as_ref().map(|operation| operation.name()),
                label: node.label.clone(),
                sorts: node.outputs.clone(),
                ahead: PhaseCost::default(),
                online: PhaseCost::default(),
                needs: Needs::new(),
            })
            .collect();
        for (node, price, blocks) in self.prices() {
            let operation = &mut operations[node];
            operation.ahead += price.setup.costs[me.index()].times(blocks as u64);
            operation.online += price.online.cost(me).times(blocks as u64);
            for (kind, count) in price.needs.kinds() {
                operation.needs.add(kind, count * blocks);
            }
        }
        operations
    }

    /// Price of blocks of one length, for each operation, and the number of these blocks: few entries, where tasks are
    /// many.
    pub(crate) fn prices(&self) -> Vec<(usize, &Price, usize)> {
        let mut places: HashMap<(u32, *const Price), usize> = HashMap::new();
        let mut prices: Vec<(usize, &Price, usize)> = Vec::new();
        for task in &self.schedule.tasks {
            let price = &*task.price;
            let place = places.entry((task.node, price)).or_insert(prices.len());
            match prices.get_mut(*place) {
                Some((_, _, blocks)) => *blocks += 1,
                None => prices.push((task.node as usize, price, 1)),
            }
        }
        prices
    }

    pub(crate) fn schedule(&self) -> &Arc<Schedule> {
        &self.schedule
    }

    /// Blocks of all operations together, and how many of one are under way at once.
    pub fn blocks(&self) -> String {
        format!(
            "{} of at most {} elements, {} at once",
            self.schedule.tasks.len(),
            self.block_lanes(),
            self.blocks_under_way()
        )
    }

    /// SHA-256 of what is computed, and in which blocks and order.
    pub fn digest(&self) -> [u8; 32] {
        let mut hash = Sha256::new_with_prefix(domains::PROGRAM_PLAN);
        hash.update(self.spec.graph.digest());
        self.schedule.digest(&mut hash);
        hash.finalize().into()
    }

    /// Bytes that one party keeps at most: correlations, values, and where the round trip is long the messages of
    /// the setup that are under way.
    pub fn memory(&self, me: Party) -> usize {
        let copies = copies(&self.spec);
        let bytes = |part: &Needs| part.share_bytes() as usize;
        let parts = &self.schedule.parts;
        let correlations = match &parts[..] {
            // Triples that are handed out as they are made are copied, and all other correlations stay.
            [others, triples] if self.schedule.stream.is_some() => {
                copies * bytes(others) + 2 * bytes(triples)
            }
            _ => {
                let beside = usize::from(parts.len() > 1);
                (beside + copies) * parts.iter().map(bytes).max().unwrap_or(0)
            }
        };
        let kept = self.schedule.kept_bytes(Some(me)) as usize;
        let values = self.schedule.value_bytes(&self.spec.graph, me);
        let messages = match under_way(&self.spec) {
            0 => 0,
            messages => {
                // A stream that ends before windows are full has no more under way than its bytes.
                let setup = self.cost(me).setup;
                messages.min((setup.bytes_sent + setup.bytes_received) as usize)
            }
        };
        correlations + values + kept + messages
    }

    /// Facts that a party which helps without computing is told of the job, to serve it by. All else that the parties
    /// agree on contains digests, of constants and of opened values among others, by which one who does not know
    /// these could test guesses.
    pub(crate) fn told_helpers(&self) -> Vec<Fact> {
        let spec = &self.spec;
        vec![
            ("parties".to_owned(), spec.graph.parties().to_string()),
            (CORRELATIONS.to_owned(), spec.origin.to_string()),
        ]
    }

    /// Facts that the computing parties must agree on.
    pub fn facts(&self) -> Vec<Fact> {
        let spec = &self.spec;
        let line = format!(
            "{:.6} s, {}",
            spec.line.latency,
            match spec.line.bytes_per_second {
                Some(rate) => format!("{rate:.0} bytes/s"),
                None => "any bandwidth".to_owned(),
            }
        );
        // The caller's say most plainly in what programs differ; then comes what people say, then what follows from it.
        let mut facts = spec.also.clone();
        let own = [
            ("parties", spec.graph.parties().to_string()),
            ("threads", spec.threads.to_string()),
            ("line", line),
            ("broadcast", spec.opening.to_string()),
            ("operations", spec.graph.len().to_string()),
            (CORRELATIONS, self.correlations_in_words()),
            ("phases", self.phases.to_string()),
            ("memory for correlations", spec.memory.to_string()),
            ("policy", spec.policy.name()),
        ]
        .map(|(name, value)| (name.to_owned(), value));
        facts.extend(own);
        if spec.graph.nodes().iter().any(Node::of_tables) {
            let tables = match self.schedule.keeps_tables() {
                true => "sent in setup",
                false => "sent online",
            };
            facts.push(("garbled tables".to_owned(), tables.to_owned()));
        }
        // Who computes something else learns where the two programs part.
        let lines: Vec<String> = spec.graph.describe().collect();
        let (shown, others) = lines.split_at(lines.len().min(SHOWN));
        for (index, line) in shown.iter().enumerate() {
            facts.push((format!("operation {index}"), line.clone()));
        }
        let each = others.len().div_ceil(SHOWN_GROUPS).max(1);
        for (group, lines) in others.chunks(each).enumerate() {
            let first = SHOWN + group * each;
            let name = format!("operations {first} to {}", first + lines.len() - 1);
            let mut hash = Sha256::new_with_prefix(domains::OPERATIONS);
            for line in lines {
                hash.update((line.len() as u64).to_le_bytes());
                hash.update(line);
            }
            facts.push((name, Digest256::from(hash.finalize()).to_string()));
        }
        facts.push(("program".to_owned(), Digest256(self.digest()).to_string()));
        facts
    }
}

/// Whether Boolean triples may be handed out as they are made: where OTs make them, one after the other; where they
/// are most of all correlations, for the others come before them; and where all fit the memory with a copy.
fn may_stream(spec: &PlanSpec, needs: &Needs) -> bool {
    let all = needs.share_bytes();
    let others = needs.without_bit_triples().share_bytes();
    matches!(spec.origin, Origin::Ot { .. })
        && 2 * others < all
        && 2 * all <= (spec.memory - under_way(spec)) as u128
}

/// The part of a plan's time that interleaved phases have to save where nobody asked for them: with sequential ones
/// setup and online are measured by themselves, and no input is used before all correlations are there.
const WORTH: f64 = 0.05;

/// The most blocks that the correlations of one part are made for, where each of them needs many: on more threads blocks would be
/// so short that rounds take longer than is gained.
const MOST_SHARES: usize = 32;

/// Tables and labels that are made in setup and kept until they are used may take this many times the memory
/// for correlations: that they are there before the inputs is what they are for.
const KEPT_TIMES: u128 = 6;

/// Bytes of correlations that are made at once where they are used up before inputs are there: while more are made,
/// preparations go on with the first.
const FEW: u128 = 8 << 20;
/// Tables of Y2, with all else that is kept from setup, that are made and sent before inputs are there where nobody
/// asks for sequential phases: more are faster when they are evaluated while they are made, and then take no memory.
const FEW_TABLES: u128 = 1 << 20;

/// Operations that facts show one by one. A job has 64 facts at most: the other operations come in groups.
const SHOWN: usize = 32;
/// Groups of operations that facts have digests of.
const SHOWN_GROUPS: usize = 8;

/// One operation's part of a plan.
#[derive(Debug, Clone)]
pub struct OperationCost {
    /// Place of the operation in the graph, inputs counted.
    pub operation: usize,
    /// Name of the operation; `None` for an input.
    pub name: Option<String>,
    /// Where it comes from.
    pub label: String,
    /// Sorts of the results.
    pub sorts: Vec<Sort>,
    /// Bytes, messages and AES blocks of [preparing](crate::Operation::prepare) it, beside its correlations.
    pub ahead: PhaseCost,
    /// Bytes, messages and AES blocks online.
    pub online: PhaseCost,
    /// The correlations it uses up.
    pub needs: Needs,
}
