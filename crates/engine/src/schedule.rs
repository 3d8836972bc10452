//! In which blocks and in which order operations are carried out, and what goes on side by side: the
//! same at all parties.
//!
//! Connected operations that work lane by lane form a *region*, which is cut into blocks of elements
//! that stay in cache; all others are called once for their whole vectors. An operation on a block is
//! a *task*. Tasks are put on *strands*, each of which does one after the other on channels of its own,
//! by list scheduling on the times that their bills declare; of what is ready, a [`Policy`] says what goes
//! first. A region has as many blocks under way as hide the line's latency, no more: a
//! block begins when an earlier one has ended.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::ops::Range;
use std::sync::Arc;

use madrigal_core::time::{Link, Rates};
use madrigal_core::{Party, PhaseCost};
use madrigal_correlations::{Kind, Needs};
use madrigal_protocols::{Opening, Rounds};

use crate::bill::BillParts;
use crate::graph::{Graph, Value};
use crate::policy::{Policy, Ready};
use crate::price::{Ahead, Limits, Price, call};
use crate::regions::{Region, blocks, lanes_of, regions};
use crate::sort::Sort;
use crate::strands::{Busy, PREPARERS, Strands};
use crate::stream::{StepOf, StreamTime, in_order, supplied};

/// The most tasks of a program: a plan goes through all of them.
const MAX_TASKS: usize = 1 << 20;
/// Parts that an interleaved program has at least, where there are blocks enough.
const MIN_PARTS: usize = 4;

/// An operation on a block of elements.
#[derive(Debug, Clone)]
pub(crate) struct Task {
    pub(crate) node: u32,
    pub(crate) block: u32,
    pub(crate) range: Range<usize>,
    pub(crate) price: Arc<Price>,
    /// Tasks that make what it reads, once each.
    pub(crate) sources: Vec<u32>,
    pub(crate) strand: u32,
    /// Preparer of the strand that prepares it, if it is prepared.
    pub(crate) preparer: u32,
    /// When it begins, in nanoseconds, by what is declared.
    pub(crate) begin: u64,
    /// Part of the correlations that has its own.
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
        schedule.count_rounds(graph);
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

    /// Has Boolean triples handed out step by step, in the order in which steps begin, behind all other
    /// correlations: so a circuit's first layers are computed while triples of the last ones are made. All of
    /// them are kept at once. `false`, and nothing is changed, where there is nothing to gain.
    pub(crate) fn stream(&mut self) -> bool {
        if self.ahead || self.tasks.iter().all(|task| task.price.steps.len() <= 1) {
            return false;
        }
        let tasks = self.tasks.iter().map(|task| {
            let price = &task.price;
            (task.begin, price.nanoseconds, &price.steps[..])
        });
        self.stream = Some(in_order(tasks));
        let (all, mut triples) = (self.needs(), Needs::new());
        triples.bit_triples(all.of(Kind::BitTriples));
        self.parts = vec![all.without_bit_triples(), triples];
        self.tasks.iter_mut().for_each(|task| task.part = 0);
        true
    }

    /// All correlations.
    pub(crate) fn needs(&self) -> Needs {
        self.sum(|price| &price.needs)
    }

    /// The correlations that are kept until tasks are online.
    pub(crate) fn later_needs(&self) -> Needs {
        self.sum(|price| &price.online.needs)
    }

    fn sum(&self, of: impl Fn(&Price) -> &Needs) -> Needs {
        let mut needs = Needs::new();
        self.tasks.iter().for_each(|task| needs += of(&task.price));
        needs
    }

    /// Whether the tasks of a node are prepared before inputs are there.
    pub(crate) fn prepares(&self, graph: &Graph, node: u32) -> bool {
        self.prepared.prepares(graph.node(node))
    }

    /// Whether tables of Y2 are made before inputs are there.
    pub(crate) fn keeps_tables(&self) -> bool {
        self.prepared == Ahead::All
    }

    /// Cost of preparing tasks for a party, beside what `supply` says: by part, the rounds after which
    /// each party has its correlations.
    pub(crate) fn setup_cost(&self, graph: &Graph, me: Party, supply: &[Vec<u64>]) -> PhaseCost {
        if !self.ahead {
            return PhaseCost::default();
        }
        let none = || Rounds::new(self.parties);
        let supplied: Vec<Rounds> = supply.iter().map(|rounds| Rounds::at(rounds)).collect();
        let mut preparers = vec![none(); self.strands.len() * PREPARERS];
        let mut made: Vec<Option<Rounds>> = vec![None; self.tasks.len()];
        let mut cost = PhaseCost::default();
        let mut end = supplied.last().cloned().unwrap_or(none());
        for (index, task) in self.tasks.iter().enumerate() {
            if !self.prepares(graph, task.node) {
                continue;
            }
            let preparer = task.strand as usize * PREPARERS + task.preparer as usize;
            let mut clock = preparers[preparer].clone();
            clock.join(&supplied[task.part as usize]);
            let before = task
                .sources
                .iter()
                .filter_map(|&source| made[source as usize].as_ref());
            before.for_each(|before| clock.join(before));
            // Only the order of messages counts here, whichever way they are opened.
            let BillParts { setup, known, .. } = self.call(graph, task, [clock, none()]);
            end.join(&setup.clock);
            made[index] = Some(known.unwrap_or_else(|| setup.clock.clone()));
            preparers[preparer] = setup.clock;
            cost += task.price.setup.costs[me.index()];
        }
        cost.rounds = end.of(me);
        cost
    }

    /// Goes through the messages of a task after the rounds of setup and online.
    fn call(&self, graph: &Graph, task: &Task, clocks: [Rounds; 2]) -> BillParts {
        let prepares = self.prepares(graph, task.node);
        call(
            graph,
            task.node,
            task.range.len(),
            clocks,
            self.opening,
            prepares,
        )
    }

    /// Bytes that the party which keeps most keeps from preparing tasks until they are online.
    pub(crate) fn kept_bytes(&self, me: Option<Party>) -> u64 {
        let of = |party: usize| self.tasks.iter().map(|task| task.price.kept[party]).sum();
        match me {
            Some(me) => of(me.index()),
            None => (0..self.parties).map(of).max().unwrap_or(0),
        }
    }

    /// Cost of a party online.
    pub(crate) fn cost(&self, me: Party) -> PhaseCost {
        let spent = self
            .tasks
            .iter()
            .map(|task| task.price.online.costs[me.index()]);
        let mut cost = spent.fold(PhaseCost::default(), |sum, cost| sum + cost);
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
        match graph.node(task.node).is_lane_wise() {
            true => task.range.clone(),
            false => 0..graph.sort(input).len,
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
        me: Party,
        rates: &Rates,
        link: &Link,
        supply: &StreamTime,
    ) -> f64 {
        let supplied = supplied(self.stream.as_deref().unwrap_or_default(), supply);
        let mut times: HashMap<*const Price, f64> = HashMap::new();
        let mut strands = vec![0.0_f64; self.strands.len()];
        let mut ends: Vec<f64> = Vec::with_capacity(self.tasks.len());
        let mut blocks: HashMap<(u32, u32), f64> = HashMap::new();
        for (index, task) in (0..).zip(&self.tasks) {
            let block = task.after.and_then(|before| blocks.get(&before));
            let read = task.sources.iter().map(|&source| &ends[source as usize]);
            let begin = strands[task.strand as usize].max(supply.others);
            let begin = read.chain(block).fold(begin, |begin, end| begin.max(*end));
            let price = &*task.price;
            let time = || price.online_seconds(me, rates, link);
            let own = times.entry(price).or_insert_with(time);
            let each = *own / price.steps.len() as f64;
            let mut end = begin;
            for step in 0..price.steps.len() as u32 {
                let at = supplied.get(&(index, step));
                end = at.map_or(end, |at| end.max(*at)) + each;
            }
            strands[task.strand as usize] = end;
            ends.push(end);
            let block = blocks.entry(task.of).or_insert(0.0);
            *block = block.max(end);
        }
        ends.into_iter().fold(0.0, f64::max)
    }

    /// Bytes of values that a party keeps at most: those of inputs and outputs, and what tasks in the
    /// order of the schedule have made and not yet read for the last time, with those that work.
    pub(crate) fn value_bytes(&self, graph: &Graph, me: Party) -> usize {
        let mut unread = vec![0_usize; self.tasks.len()];
        for &source in self.tasks.iter().flat_map(|task| &task.sources) {
            unread[source as usize] += 1;
        }
        let bytes = |task: &Task| {
            let lane_wise = graph.node(task.node).is_lane_wise();
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
        let made: Vec<usize> = self.tasks.iter().map(bytes).collect();
        let (mut now, mut most) = (0, 0);
        for (index, task) in self.tasks.iter().enumerate() {
            now += made[index];
            most = most.max(now);
            for &source in &task.sources {
                unread[source as usize] -= 1;
                if unread[source as usize] == 0 {
                    now -= made[source as usize];
                }
            }
            if unread[index] == 0 {
                now -= made[index];
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
        let mut readers: Vec<Vec<u32>> = vec![Vec::new(); tasks.len()];
        for (index, task) in (0..).zip(&tasks) {
            let sources = task.sources.iter();
            sources.for_each(|&source| readers[source as usize].push(index));
        }
        // The longest way to the end from each task. Tasks stand in an order in which dependencies come
        // first, but for those between blocks, which are left out here.
        let mut way = vec![0; tasks.len()];
        for task in (0..tasks.len()).rev() {
            let after = readers[task].iter().map(|&next| way[next as usize]);
            way[task] = tasks[task].price.nanoseconds + after.max().unwrap_or(0);
        }
        let mut layer = vec![0_u32; tasks.len()];
        for index in 0..tasks.len() {
            let below = |&source: &u32| {
                let costs = &tasks[source as usize].price.online.costs;
                layer[source as usize] + u32::from(costs.iter().any(|cost| cost.messages > 0))
            };
            layer[index] = tasks[index].sources.iter().map(below).max().unwrap_or(0);
        }
        let rank = |at: u64, task: usize| {
            policy.rank(&Ready {
                at,
                way: way[task],
                layer: layer[task],
                place: task as u32,
            })
        };
        let mut waits = Vec::with_capacity(tasks.len());
        let mut gated: HashMap<(u32, u32), Vec<u32>> = HashMap::new();
        let mut open_tasks: HashMap<(u32, u32), usize> = HashMap::new();
        for (index, task) in (0..).zip(&tasks) {
            waits.push(task.sources.len() + usize::from(task.after.is_some()));
            *open_tasks.entry(task.of).or_default() += 1;
            if let Some(before) = task.after {
                gated.entry(before).or_default().push(index);
            }
        }
        let mut ready_at = vec![0_u64; tasks.len()];
        let mut ready: BinaryHeap<Reverse<([u64; 2], u32)>> = BinaryHeap::new();
        for (task, waits) in (0..).zip(&waits) {
            if *waits == 0 {
                ready.push(Reverse((rank(0, task as usize), task)));
            }
        }
        let mut strands = Strands::of(tasks.iter().map(|task| task.price.lead));
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
                for &next in gated.get(&block).into_iter().flatten() {
                    ended(next as usize, &mut waits);
                }
            }
        }
        assert_eq!(order.len(), tasks.len(), "no task waits for itself");
        self.strands = vec![Vec::new(); strands.len()];
        let mut busy = vec![Busy::default(); strands.len()];
        let mut places = vec![0; tasks.len()];
        for (place, &index) in (0..).zip(&order) {
            places[index as usize] = place;
        }
        let mut by_start = Vec::with_capacity(tasks.len());
        for (place, &index) in (0..).zip(&order) {
            let mut task = tasks[index as usize].clone();
            let strand = task.strand as usize;
            task.preparer = task.price.lead.preparer(&mut busy[strand]) as u32;
            for source in &mut task.sources {
                *source = places[*source as usize];
            }
            self.strands[strand].push(place);
            by_start.push(task);
        }
        self.tasks = by_start;
    }

    /// The tasks of all operations, each after those that it reads from.
    fn all_tasks(&self, graph: &Graph, limits: &Limits, of: &[Option<u32>]) -> Vec<Task> {
        let mut prices: HashMap<(u32, usize), Arc<Price>> = HashMap::new();
        let mut tasks: Vec<Task> = Vec::new();
        // First task of each node; inputs have none.
        let mut first = vec![None; graph.len()];
        // Block by block within a region would be the order of execution; here the order only has to be
        // one in which each comes after what it needs, and node by node is that.
        for (node, region) in (0..).zip(of) {
            let Some(region) = *region else {
                continue;
            };
            first[node as usize] = Some(tasks.len());
            let shape = &self.regions[region as usize];
            for block in 0..blocks(shape.len, shape.lanes) {
                let range = block * shape.lanes..((block + 1) * shape.lanes).min(shape.len);
                let price = prices
                    .entry((node, range.len()))
                    .or_insert_with(|| Arc::new(Price::new(graph, node, range.len(), limits)));
                let after = block.checked_sub(shape.under_way);
                let mut task = Task {
                    node,
                    block: block as u32,
                    price: Arc::clone(price),
                    range,
                    sources: Vec::new(),
                    strand: 0,
                    preparer: 0,
                    begin: 0,
                    part: 0,
                    after: after.map(|before| (region, before as u32)),
                    of: (region, block as u32),
                };
                for &input in &graph.node(node).inputs {
                    if let Some(first) = first[input.node as usize] {
                        let pieces = self.pieces(input.node, &self.reads(graph, &task, input));
                        task.sources
                            .extend(pieces.map(|piece| (first + piece) as u32));
                    }
                }
                task.sources.sort_unstable();
                task.sources.dedup();
                tasks.push(task);
            }
        }
        tasks
    }

    /// Goes through all messages in the order of the schedule.
    fn count_rounds(&mut self, graph: &Graph) {
        let mut strands = vec![Rounds::new(self.parties); self.strands.len()];
        let mut made: Vec<Rounds> = Vec::with_capacity(self.tasks.len());
        let mut end = Rounds::new(self.parties);
        for task in &self.tasks {
            let strand = &mut strands[task.strand as usize];
            let sources = task.sources.iter();
            sources.for_each(|&source| strand.join(&made[source as usize]));
            let clocks = [Rounds::new(self.parties), strand.clone()];
            *strand = self.call(graph, task, clocks).online.clock;
            end.join(strand);
            made.push(strand.clone());
        }
        self.rounds = end;
    }
}
