//! In which blocks and in which order operations are carried out, and what goes on side by side: the
//! same at all parties.
//!
//! Connected operations that work lane by lane form a *region*, which is cut into blocks of elements
//! that stay in cache; all others are called once for their whole vectors. An operation on a block is
//! a *task*. Tasks are put on *strands*, each of which does one after the other on channels of its own,
//! by list scheduling on the times that their bills declare; of what is ready, a [`Policy`] says what goes
//! first. A region has so many blocks under way as hide the line's latency, no more: a
//! block begins when an earlier one has ended.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use std::ops::Range;
use std::sync::Arc;

use madrigal_core::time::{Bill as PriceBill, Link, Rates, Time, Work};
use madrigal_core::{Party, PhaseCost};
use madrigal_correlations::Needs;
use madrigal_protocols::{Opening, Rounds};

use crate::bill::{Bill, Parts, Stage};
use crate::graph::{Graph, Node, Value};
use crate::policy::{Policy, Ready};
use crate::regions::{Region, blocks, lanes_of, regions};
use crate::sort::Sort;
use crate::strands::{Busy, Lead, PREPARERS, Strands};
use crate::stream::{StepOf, StreamTime};

/// The most tasks of a program: a plan goes through all of them.
const MAX_TASKS: usize = 1 << 20;
/// Parts that an interleaved program has at least, where there are blocks enough.
const MIN_PARTS: usize = 4;

/// What the cutting and the order depend on, beside the program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) opening: Opening,
    pub(crate) threads: usize,
    /// Between the parties, as they agreed to expect it.
    pub(crate) line: Link,
    /// Bytes that the correlations of one block may take.
    pub(crate) block_needs: usize,
    /// Bytes that blocks under way may take, all together.
    pub(crate) block_memory: usize,
    /// What is prepared before inputs are there.
    pub(crate) ahead: Ahead,
}

/// Which operations are prepared before inputs are there, of those that can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ahead {
    /// None.
    Nothing,
    /// All but those on values that two parties garble: tables travel online, and nobody keeps them.
    ButTables,
    /// All.
    All,
}

impl Ahead {
    fn prepares(self, node: &Node) -> bool {
        match self {
            Self::Nothing => false,
            Self::ButTables => node.prepares && !node.of_tables(),
            Self::All => node.prepares,
        }
    }
}

/// What one call of an operation costs: blocks of one length cost the same, but for rounds.
#[derive(Debug)]
pub(crate) struct Price {
    /// By party; of rounds, those of one call by itself.
    pub(crate) costs: Vec<PhaseCost>,
    /// Bytes of each party's fullest link.
    pub(crate) link_bytes: Vec<u64>,
    /// Of setup and of online.
    pub(crate) needs: Needs,
    /// Of online.
    pub(crate) later: Needs,
    pub(crate) row_bytes: u64,
    pub(crate) lead: Lead,
    pub(crate) nanoseconds: u64,
    /// How many of the Boolean triples each step takes.
    pub(crate) steps: Vec<usize>,
    /// What it costs to prepare it.
    pub(crate) setup: Stage,
    /// Bytes that each party keeps from then on.
    pub(crate) kept: Vec<u64>,
    /// Whether what is known of its results by then is known before the rest of it is done.
    pub(crate) known: bool,
}

/// An operation on a block of elements.
#[derive(Debug, Clone)]
pub(crate) struct Task {
    pub(crate) node: u32,
    pub(crate) block: u32,
    pub(crate) range: Range<usize>,
    pub(crate) price: Arc<Price>,
    pub(crate) strand: u32,
    /// Which preparer of the strand it is prepared by, if it is.
    pub(crate) preparer: u32,
    /// When it begins, in nanoseconds, by what is declared.
    pub(crate) begin: u64,
    /// What its correlations are made with.
    pub(crate) part: u32,
    /// A block, by its region and number, that must have ended before.
    pub(crate) after: Option<(u32, u32)>,
    /// The region and the number of the block.
    pub(crate) of: (u32, u32),
}

/// All tasks in the order in which they begin, and who does them.
#[derive(Debug, Clone)]
pub(crate) struct Schedule {
    /// In the order of their beginnings.
    pub(crate) tasks: Vec<Task>,
    /// The tasks of each strand, in order.
    pub(crate) strands: Vec<Vec<u32>>,
    /// Elements of a block of each operation; inputs are one block.
    pub(crate) lanes: Vec<usize>,
    regions: Vec<Region>,
    parties: usize,
    opening: Opening,
    /// The correlations of each part.
    pub(crate) parts: Vec<Needs>,
    /// Where the Boolean triples, which are the last part, are handed out as they are made: what gets them.
    pub(crate) stream: Option<Vec<StepOf>>,
    /// Rounds when all has ended.
    pub(crate) rounds: Rounds,
    /// Whether some tasks are prepared before inputs are there.
    pub(crate) ahead: bool,
    prepared: Ahead,
}

impl Schedule {
    /// Gives the number of tasks if there are too many.
    pub(crate) fn new(graph: &Graph, limits: &Limits, policy: &dyn Policy) -> Result<Self, usize> {
        let (regions, of) = regions(graph, limits);
        let tasks = |region: &Region| {
            let count = blocks(region.len, region.lanes);
            count.saturating_mul(region.nodes.len())
        };
        let tasks = regions.iter().map(tasks).fold(0, usize::saturating_add);
        if tasks > MAX_TASKS {
            return Err(tasks);
        }
        let lanes = lanes_of(graph, &regions, &of);
        let mut schedule = Self {
            tasks: Vec::new(),
            strands: Vec::new(),
            lanes,
            regions,
            parties: graph.parties(),
            opening: limits.opening,
            parts: Vec::new(),
            stream: None,
            rounds: Rounds::new(graph.parties()),
            ahead: graph.nodes().iter().any(|node| limits.ahead.prepares(node)),
            prepared: limits.ahead,
        };
        schedule.list(graph, limits, &of, policy);
        schedule.count_rounds(graph, limits);
        Ok(schedule)
    }

    /// Divides the tasks, in order, into parts whose correlations take no more than `bytes` each, where
    /// a task does not need more by itself; into one part where that is `None`.
    pub(crate) fn divide(&mut self, bytes: Option<usize>) {
        let total: u128 = self.needs().share_bytes();
        let most = match bytes {
            None => u128::MAX,
            Some(bytes) => (bytes as u128).min(total.div_ceil(MIN_PARTS as u128)),
        };
        let (mut parts, mut now, mut part_bytes) = (Vec::new(), Needs::new(), 0);
        for task in &mut self.tasks {
            let more = task.price.needs.share_bytes();
            if part_bytes > 0 && more > 0 && part_bytes + more > most {
                parts.push(std::mem::take(&mut now));
                part_bytes = 0;
            }
            part_bytes += more;
            now += &task.price.needs;
            task.part = parts.len() as u32;
        }
        parts.push(now);
        self.parts = parts;
    }

    /// The tasks of a part: parts lie one after the other.
    pub(crate) fn tasks_of(&self, part: u32) -> Range<usize> {
        let first = |part| self.tasks.partition_point(|task| task.part < part);
        first(part)..first(part + 1)
    }

    /// All correlations.
    pub(crate) fn needs(&self) -> Needs {
        let mut needs = Needs::new();
        self.tasks
            .iter()
            .for_each(|task| needs += &task.price.needs);
        needs
    }

    /// Whether a task is prepared before inputs are there.
    pub(crate) fn prepares(&self, graph: &Graph, task: u32) -> bool {
        self.prepared
            .prepares(graph.node(self.tasks[task as usize].node))
    }

    /// Whether tables of Y2 are made before inputs are there.
    pub(crate) fn keeps_tables(&self) -> bool {
        self.prepared == Ahead::All
    }

    /// What a party spends on preparing tasks, beside what `supply` says: by part, the rounds after which
    /// each party has its correlations.
    pub(crate) fn setup_cost(&self, graph: &Graph, me: Party, supply: &[Vec<u64>]) -> PhaseCost {
        if !self.ahead {
            return PhaseCost::default();
        }
        let parties = graph.parties();
        let supplied: Vec<Rounds> = supply.iter().map(|rounds| Rounds::at(rounds)).collect();
        let mut preparers = vec![Rounds::new(parties); self.strands.len() * PREPARERS];
        let mut made: HashMap<(u32, usize), Rounds> = HashMap::new();
        let mut cost = PhaseCost::default();
        let mut end = supplied.last().cloned().unwrap_or(Rounds::new(parties));
        for (index, task) in (0..).zip(&self.tasks) {
            if !self.prepares(graph, index) {
                continue;
            }
            let preparer = task.strand as usize * PREPARERS + task.preparer as usize;
            let mut clock = preparers[preparer].clone();
            clock.join(&supplied[task.part as usize]);
            for &input in &graph.node(task.node).inputs {
                let range = self.reads(graph, task, input);
                for piece in self.pieces(input.node, &range) {
                    if let Some(before) = made.get(&(input.node, piece)) {
                        clock.join(before);
                    }
                }
            }
            // Only the order of messages counts here, whichever way they are opened.
            let mut bill = Bill::after([clock, Rounds::new(parties)], parties, self.opening, true);
            bill_of(graph, task.node, task.range.len(), &mut bill);
            let Parts { setup, known, .. } = bill.into_parts();
            end.join(&setup.clock);
            let known = known.unwrap_or_else(|| setup.clock.clone());
            made.insert((task.node, task.block as usize), known);
            preparers[preparer] = setup.clock;
            cost += task.price.setup.costs[me.index()];
        }
        cost.rounds = end.of(me);
        cost
    }

    /// The correlations that are kept until tasks are online.
    pub(crate) fn later_needs(&self) -> Needs {
        let mut needs = Needs::new();
        self.tasks
            .iter()
            .for_each(|task| needs += &task.price.later);
        needs
    }

    /// Bytes that the party which keeps most keeps from preparing tasks until they are online.
    pub(crate) fn kept_bytes(&self, me: Option<Party>) -> u64 {
        let of = |party: usize| {
            self.tasks
                .iter()
                .map(|task| task.price.kept[party])
                .sum::<u64>()
        };
        match me {
            Some(me) => of(me.index()),
            None => (0..self.parties).map(of).max().unwrap_or(0),
        }
    }

    /// What a party spends when all is done.
    pub(crate) fn cost(&self, me: Party) -> PhaseCost {
        let spent = |task: &Task| task.price.costs[me.index()];
        let mut cost = self
            .tasks
            .iter()
            .fold(PhaseCost::default(), |sum, task| sum + spent(task));
        cost.rounds = self.rounds.of(me);
        cost
    }

    /// The blocks of the value of a node that cover `range`.
    pub(crate) fn pieces(&self, node: u32, range: &Range<usize>) -> Range<usize> {
        let lanes = self.lanes[node as usize];
        if range.is_empty() {
            // A vector without elements is one piece.
            return 0..1;
        }
        range.start / lanes..range.end.div_ceil(lanes)
    }

    /// The elements of an input that a task reads.
    pub(crate) fn reads(&self, graph: &Graph, task: &Task, input: Value) -> Range<usize> {
        let lane_wise = is_lane_wise(graph.node(task.node));
        if lane_wise {
            task.range.clone()
        } else {
            0..graph.sort(input).len
        }
    }

    /// The most elements of a block of any operation.
    pub(crate) fn widest_block(&self) -> usize {
        self.regions
            .iter()
            .map(|region| region.lanes.min(region.len))
            .max()
            .unwrap_or(0)
    }

    /// The most blocks of one region that are under way at once.
    pub(crate) fn under_way(&self) -> usize {
        let of = |region: &Region| region.under_way.min(blocks(region.len, region.lanes));
        self.regions.iter().map(of).max().unwrap_or(1)
    }

    /// Tasks that each block of each region has: when a block has ended.
    pub(crate) fn block_tasks(&self) -> Vec<(usize, usize)> {
        let of = |region: &Region| (region.nodes.len(), blocks(region.len, region.lanes));
        self.regions.iter().map(of).collect()
    }

    /// Seconds until the last task has ended, where each begins as soon as what it reads is there and its
    /// strand is free, and steps that get Boolean triples as they are made do when these come.
    pub(crate) fn longest_chain(
        &self,
        graph: &Graph,
        me: Party,
        rates: &Rates,
        link: &Link,
        supply: &StreamTime,
    ) -> f64 {
        let supplied = self.supplied(supply);
        let mut times: HashMap<*const Price, f64> = HashMap::new();
        let mut strands = vec![0.0_f64; self.strands.len()];
        let mut made: HashMap<(u32, usize), f64> = HashMap::new();
        let mut blocks: HashMap<(u32, u32), f64> = HashMap::new();
        let mut last = 0.0_f64;
        for (index, task) in self.tasks.iter().enumerate() {
            let mut begin = strands[task.strand as usize].max(supply.others);
            for &input in &graph.node(task.node).inputs {
                let range = self.reads(graph, task, input);
                for piece in self.pieces(input.node, &range) {
                    begin = made
                        .get(&(input.node, piece))
                        .map_or(begin, |end| begin.max(*end));
                }
            }
            if let Some(before) = task.after.and_then(|before| blocks.get(&before)) {
                begin = begin.max(*before);
            }
            let price = &*task.price;
            let own = times
                .entry(price)
                .or_insert_with(|| price.time(me, rates, link).total);
            let each = *own / price.steps.len() as f64;
            let mut end = begin;
            for step in 0..price.steps.len() {
                let at = supplied.get(&(index as u32, step as u32));
                end = at.map_or(end, |at| end.max(*at)) + each;
            }
            strands[task.strand as usize] = end;
            made.insert((task.node, task.block as usize), end);
            let block = blocks.entry(task.of).or_insert(0.0);
            *block = block.max(end);
            last = last.max(end);
        }
        last
    }

    /// Bytes of values that a party keeps at most: those of inputs and outputs, and what tasks in the
    /// order of the schedule have made and not yet read for the last time, with those that work.
    pub(crate) fn value_bytes(&self, graph: &Graph, me: Party) -> usize {
        let mut readers: HashMap<(u32, usize), usize> = HashMap::new();
        let mut reads = Vec::with_capacity(self.tasks.len());
        for task in &self.tasks {
            let mut own = Vec::new();
            for &input in &graph.node(task.node).inputs {
                let range = self.reads(graph, task, input);
                own.extend(
                    self.pieces(input.node, &range)
                        .map(|piece| (input.node, piece)),
                );
            }
            own.sort_unstable();
            own.dedup();
            own.iter()
                .for_each(|&piece| *readers.entry(piece).or_default() += 1);
            reads.push(own);
        }
        let bytes = |task: &Task| {
            let lane_wise = is_lane_wise(graph.node(task.node));
            let of = |sort: &Sort| match lane_wise {
                _ if sort.sharing.is_clear() && !sort.sharing.is_known_to(me) => 0,
                true => sort.of_len(task.range.len()).bytes(),
                false => sort.bytes(),
            };
            graph.node(task.node).outputs.iter().map(of).sum::<usize>()
        };
        let kept = |value: &Value| {
            let sort = graph.sort(*value);
            let known = !sort.sharing.is_clear() || sort.sharing.is_known_to(me);
            if known { sort.bytes() } else { 0 }
        };
        let fixed: usize = graph.inputs().iter().chain(graph.outputs()).map(kept).sum();
        let mut made: HashMap<(u32, usize), usize> = HashMap::new();
        let (mut now, mut most) = (0, 0);
        for (task, reads) in self.tasks.iter().zip(reads) {
            let own = bytes(task);
            now += own;
            most = most.max(now);
            for piece in reads {
                let left = readers.entry(piece).or_default();
                *left -= 1;
                if *left == 0 {
                    now -= made.remove(&piece).unwrap_or(0);
                }
            }
            let place = (task.node, task.block as usize);
            if readers.contains_key(&place) {
                made.insert(place, own);
            } else {
                now -= own;
            }
        }
        let at_work = |region: &Region| region.under_way * region.bytes_at_work;
        fixed + most + self.regions.iter().map(at_work).max().unwrap_or(0)
    }

    /// Adds who does what when.
    pub(crate) fn digest(&self, hash: &mut impl sha2::Digest) {
        for task in &self.tasks {
            let numbers = [task.node, task.block, task.strand, task.preparer, task.part];
            numbers
                .iter()
                .for_each(|number| hash.update(number.to_le_bytes()));
            hash.update((task.range.end as u64).to_le_bytes());
        }
        for of in self.stream.iter().flatten() {
            hash.update(of.task.to_le_bytes());
            hash.update(of.step.to_le_bytes());
        }
    }

    /// Puts tasks on strands.
    fn list(&mut self, graph: &Graph, limits: &Limits, of: &[Option<u32>], policy: &dyn Policy) {
        let mut tasks = self.all_tasks(graph, limits, of);
        let deps = self.dependencies(graph, &tasks);
        let mut readers: Vec<Vec<u32>> = vec![Vec::new(); tasks.len()];
        for (task, deps) in deps.iter().enumerate() {
            deps.iter()
                .for_each(|&dep| readers[dep as usize].push(task as u32));
        }
        // The longest way to the end from each task. Tasks stand in an order in which dependencies come
        // first, but for those between blocks, which are left out here.
        let mut way = vec![0; tasks.len()];
        for task in (0..tasks.len()).rev() {
            let after = readers[task].iter().map(|&next| way[next as usize]);
            way[task] = tasks[task].price.nanoseconds + after.max().unwrap_or(0);
        }
        let mut layer = vec![0_u32; tasks.len()];
        for (task, deps) in deps.iter().enumerate() {
            let sends = |dep: u32| {
                let price = &tasks[dep as usize].price;
                u32::from(price.costs.iter().any(|cost| cost.messages > 0))
            };
            let before = deps.iter().map(|&dep| layer[dep as usize] + sends(dep));
            layer[task] = before.max().unwrap_or(0);
        }
        let rank = |at: u64, task: usize| {
            policy.rank(&Ready {
                at,
                way: way[task],
                layer: layer[task],
                place: task as u32,
            })
        };
        let gates = Gates::new(&tasks, &self.regions);
        let mut waits: Vec<usize> = deps.iter().map(Vec::len).collect();
        for (task, gate) in gates.waits.iter().enumerate() {
            waits[task] += usize::from(gate.is_some());
        }
        let mut ready_at = vec![0_u64; tasks.len()];
        let mut open_tasks = gates.sizes.clone();
        let mut ready: BinaryHeap<Reverse<([u64; 2], u32)>> = BinaryHeap::new();
        for (task, waits) in (0..).zip(&waits) {
            if *waits == 0 {
                ready.push(Reverse((rank(0, task as usize), task)));
            }
        }
        let mut strands = Strands::default();
        let mut order = Vec::with_capacity(tasks.len());
        while let Some(Reverse((_, task))) = ready.pop() {
            let index = task as usize;
            let at = ready_at[index];
            let price = &tasks[index].price;
            let (strand, end) = strands.put(at, price.lead, price.nanoseconds);
            let begin = end - price.nanoseconds;
            tasks[index].begin = begin;
            tasks[index].strand = strand as u32;
            order.push(task);
            let mut ended = |next: usize, waits: &mut Vec<usize>| {
                ready_at[next] = ready_at[next].max(end);
                waits[next] -= 1;
                if waits[next] == 0 {
                    ready.push(Reverse((rank(ready_at[next], next), next as u32)));
                }
            };
            readers[index]
                .iter()
                .for_each(|&next| ended(next as usize, &mut waits));
            let block = tasks[index].of;
            let left = open_tasks.get_mut(&block).expect("each block is counted");
            *left -= 1;
            if *left == 0 {
                for &next in gates.of.get(&block).into_iter().flatten() {
                    ended(next as usize, &mut waits);
                }
            }
        }
        assert_eq!(order.len(), tasks.len(), "no task waits for itself");
        self.strands = vec![Vec::new(); strands.len()];
        let mut busy = vec![Busy::default(); strands.len()];
        let mut by_start = Vec::with_capacity(tasks.len());
        for (place, &task) in order.iter().enumerate() {
            let mut task = tasks[task as usize].clone();
            let strand = task.strand as usize;
            task.preparer = task.price.lead.preparer(&mut busy[strand]) as u32;
            self.strands[strand].push(place as u32);
            by_start.push(task);
        }
        self.tasks = by_start;
    }

    /// The tasks of all operations, dependencies first.
    fn all_tasks(&self, graph: &Graph, limits: &Limits, of: &[Option<u32>]) -> Vec<Task> {
        let mut prices: HashMap<(u32, usize), Arc<Price>> = HashMap::new();
        let mut tasks = Vec::new();
        // Block by block within a region would be the order of execution; here the order only has to be
        // one in which each comes after what it needs, and node by node is that.
        for (node, region) in (0..).zip(of) {
            let Some(region) = *region else {
                continue;
            };
            let shape = &self.regions[region as usize];
            for block in 0..blocks(shape.len, shape.lanes) {
                let range = block * shape.lanes..((block + 1) * shape.lanes).min(shape.len);
                let price = prices
                    .entry((node, range.len()))
                    .or_insert_with(|| Arc::new(price(graph, node, range.len(), limits)));
                let after = block.checked_sub(shape.under_way);
                tasks.push(Task {
                    node,
                    block: block as u32,
                    price: Arc::clone(price),
                    range,
                    strand: 0,
                    preparer: 0,
                    begin: 0,
                    part: 0,
                    after: after.map(|before| (region, before as u32)),
                    of: (region, block as u32),
                });
            }
        }
        tasks
    }

    /// The tasks that make what each task reads.
    fn dependencies(&self, graph: &Graph, tasks: &[Task]) -> Vec<Vec<u32>> {
        let mut first = HashMap::new();
        for (index, task) in tasks.iter().enumerate() {
            first.entry(task.node).or_insert(index);
        }
        let of = |task: &Task| {
            let mut deps = Vec::new();
            for &input in &graph.node(task.node).inputs {
                if let Some(&first) = first.get(&input.node) {
                    let range = self.reads(graph, task, input);
                    let pieces = self.pieces(input.node, &range);
                    deps.extend(pieces.map(|piece| (first + piece) as u32));
                }
            }
            deps.sort_unstable();
            deps.dedup();
            deps
        };
        tasks.iter().map(of).collect()
    }

    /// Goes through all messages in the order of the schedule.
    fn count_rounds(&mut self, graph: &Graph, limits: &Limits) {
        let parties = graph.parties();
        let mut strands = vec![Rounds::new(parties); self.strands.len()];
        let mut made: BTreeMap<(u32, usize), Rounds> = BTreeMap::new();
        let mut end = Rounds::new(parties);
        for task in &self.tasks {
            let mut clock = strands[task.strand as usize].clone();
            for &input in &graph.node(task.node).inputs {
                let range = self.reads(graph, task, input);
                for piece in self.pieces(input.node, &range) {
                    if let Some(before) = made.get(&(input.node, piece)) {
                        clock.join(before);
                    }
                }
            }
            let prepares = self.prepared.prepares(graph.node(task.node));
            let clocks = [Rounds::new(parties), clock];
            let mut bill = Bill::after(clocks, parties, limits.opening, prepares);
            bill_of(graph, task.node, task.range.len(), &mut bill);
            let clock = bill.into_parts().online.clock;
            end.join(&clock);
            strands[task.strand as usize] = clock.clone();
            made.insert((task.node, task.block as usize), clock);
        }
        self.rounds = end;
    }
}

/// Which tasks wait for the end of which block.
struct Gates {
    /// Tasks of each block.
    sizes: HashMap<(u32, u32), usize>,
    /// Tasks that wait for a block.
    of: HashMap<(u32, u32), Vec<u32>>,
    waits: Vec<Option<(u32, u32)>>,
}

impl Gates {
    fn new(tasks: &[Task], regions: &[Region]) -> Self {
        let mut gates = Self {
            sizes: HashMap::new(),
            of: HashMap::new(),
            waits: tasks.iter().map(|task| task.after).collect(),
        };
        for (index, task) in (0..).zip(tasks) {
            gates
                .sizes
                .insert(task.of, regions[task.of.0 as usize].nodes.len());
            if let Some(before) = task.after {
                gates.of.entry(before).or_default().push(index);
            }
        }
        gates
    }
}

pub(crate) fn is_lane_wise(node: &Node) -> bool {
    node.operation
        .as_ref()
        .is_some_and(|operation| operation.is_lane_wise())
}

/// The sorts of a node's inputs, when it is called for `len` elements.
pub(crate) fn input_sorts(graph: &Graph, node: u32, len: usize) -> Vec<Sort> {
    let node = graph.node(node);
    let lane_wise = is_lane_wise(node);
    let of = |&value: &Value| {
        let sort = *graph.sort(value);
        if lane_wise { sort.of_len(len) } else { sort }
    };
    node.inputs.iter().map(of).collect()
}

fn bill_of(graph: &Graph, node: u32, len: usize, bill: &mut Bill) {
    let operation = graph.node(node).operation.as_ref();
    if let Some(operation) = operation.filter(|_| !graph.node(node).is_empty()) {
        operation.bill(&input_sorts(graph, node, len), bill);
    }
}

pub(crate) fn price(graph: &Graph, node: u32, len: usize, limits: &Limits) -> Price {
    let parties = graph.parties();
    let none = || Rounds::new(parties);
    let prepares = limits.ahead.prepares(graph.node(node));
    let mut bill = Bill::after([none(), none()], parties, limits.opening, prepares);
    bill_of(graph, node, len, &mut bill);
    let Parts {
        setup,
        online,
        kept,
        known,
    } = bill.into_parts();
    let lead = Lead::of([&setup, &online], known.is_some());
    let mut needs = online.needs.clone();
    needs += &setup.needs;
    let steps = online.steps();
    let mut costs = online.costs;
    for (party, cost) in Party::all(parties).zip(&mut costs) {
        cost.rounds = online.clock.of(party);
    }
    let mut price = Price {
        costs,
        link_bytes: online.link_bytes,
        needs,
        later: online.needs,
        row_bytes: online.row_bytes,
        lead,
        nanoseconds: 0,
        steps,
        setup,
        kept,
        known: known.is_some(),
    };
    // All parties must arrive at the same order: rates and arithmetic are fixed, and the party that has
    // most to do counts.
    let seconds = |party| price.time(party, &Rates::ZEN_5, &limits.line).total;
    let longest = Party::all(graph.parties()).map(seconds);
    price.nanoseconds = (longest.fold(0.0, f64::max) * 1e9) as u64;
    price.nanoseconds = price.nanoseconds.max(1);
    price
}

impl Price {
    /// How long one call takes by itself.
    pub(crate) fn time(&self, party: Party, rates: &Rates, link: &Link) -> Time {
        let cost = self.costs[party.index()];
        seconds(
            cost,
            self.link_bytes[party.index()],
            self.row_bytes,
            1,
            rates,
            link,
        )
    }
}

/// How long work takes that spends this, one message after the other, on so many threads.
pub(crate) fn seconds(
    cost: PhaseCost,
    link_bytes: u64,
    row_bytes: u64,
    threads: usize,
    rates: &Rates,
    link: &Link,
) -> Time {
    let work = Work {
        row_bytes: row_bytes as f64,
        ..Work::default()
    };
    let computed = PriceBill {
        threads,
        ..PriceBill::in_one_chain(cost, work, 1)
    };
    let anywhere = Link {
        bytes_per_second: None,
        ..*link
    };
    let time = computed.time(rates, &anywhere);
    let sending = link
        .bytes_per_second
        .map_or(0.0, |rate| link_bytes as f64 / rate);
    Time {
        sending,
        total: time.computing + time.waiting + sending,
        ..time
    }
}
