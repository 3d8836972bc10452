//! Chooses the sums of products that are made, and their products.
//!
//! A value is a sum of products of one layer, its *part* of the last layer that has any, and of the *rest*, which
//! was there before. Parts of one layer that have products in common, or sums of products, are a component. Where
//! fewer sums than products separate a component's products from the parts of all values that something reads
//! ([`Separation`]), these sums are made, and values of them and of their rest; elsewhere values are made of products
//! as they come.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};

use super::cut::Separation;
use super::graph::{Lit, LogicGraph, Node};
use super::hash::Folding;

/// Parts of a component in which a smallest cut is looked for. The sums of a larger component are the parts that are read.
const PARTS: usize = 1 << 17;

/// Products of which a cut must save one, in its component and in all: it is to be worth the rows that are kept.
const WORTH: usize = 32;

const NONE: u32 = u32::MAX;

/// Products and sums of one layer.
#[derive(Debug, Default)]
pub(super) struct LayerSums {
    /// Products that are sums themselves.
    pub(super) ands: Vec<Lit>,
    /// Products that sums are made of.
    pub(super) products: Vec<Lit>,
    /// Sums of these products, in the order of `cones`.
    pub(super) sums: Vec<Lit>,
    /// Ways in which the sums are made.
    pub(super) cones: Cones,
}

/// Sums of products and of one another: the products come first.
#[derive(Debug, Default)]
pub(super) struct Cones {
    products: usize,
    /// Operands of those that follow, each of which comes before.
    xors: Vec<[u32; 2]>,
    /// Sums that are sent.
    pub(super) sums: Vec<u32>,
}

impl Cones {
    /// The operands of a sum, none of a product.
    pub(super) fn operands(&self, part: u32) -> Option<[u32; 2]> {
        let index = (part as usize).checked_sub(self.products)?;
        Some(self.xors[index])
    }

    pub(super) fn len(&self) -> usize {
        self.products + self.xors.len()
    }
}

/// The graph of a program whose layers make sums, and what is due in each.
pub(super) struct Summed {
    pub(super) graph: LogicGraph,
    pub(super) due: Vec<LayerSums>,
}

impl Summed {
    /// None if there would be hardly fewer sums than products.
    pub(super) fn of(graph: &LogicGraph) -> Option<Self> {
        let schedule = Schedule::of(graph);
        let late = Parts::of(graph, &schedule);
        let late_cuts = late.cuts(graph);
        // Products run as late as they can, which keeps few rows alive, unless more can be added in earlier layers.
        if let Some(pulled) = late.pulled(graph, schedule) {
            let cuts = pulled.cuts(graph);
            if cuts.sums < late_cuts.sums {
                return cuts.are_worth().then(|| pulled.rebuild(graph, &cuts));
            }
        }
        let worth = late_cuts.are_worth();
        worth.then(|| late.rebuild(graph, &late_cuts))
    }
}

/// Schedule of products.
struct Schedule {
    uses: Vec<u32>,
    /// The layers below each node.
    depth: Vec<u32>,
    /// Layer of each AND.
    layer: Vec<u32>,
    layers: u32,
}

impl Schedule {
    /// Schedules each product as late as can be.
    fn of(graph: &LogicGraph) -> Self {
        let uses = graph.uses();
        let (layer, layers) = graph.deadlines(&uses);
        let depth = graph.depths();
        Self {
            uses,
            depth,
            layer,
            layers,
        }
    }
}

/// Facts about each node.
struct Parts {
    live: Vec<bool>,
    /// One more than the layer of its last products, 0 if it has none.
    level: Vec<u32>,
    /// The node that is its part.
    part: Vec<u32>,
    /// Whether something reads the value, not its part alone.
    read: Vec<bool>,
    layers: u32,
}

impl Parts {
    fn of(graph: &LogicGraph, schedule: &Schedule) -> Self {
        let nodes = graph.nodes.len();
        let live = |node: usize| schedule.uses[Lit::of(node).index()] > 0;
        let mut parts = Self {
            level: vec![0; nodes],
            part: vec![NONE; nodes],
            read: Vec::new(),
            live: (0..nodes).map(live).collect(),
            layers: schedule.layers,
        };
        // Sums of the same two parts are one.
        let mut same = HashMap::with_hasher(Folding::default());
        for (node, &kind) in graph.nodes.iter().enumerate() {
            if !parts.live[node] {
                continue;
            }
            match kind {
                Node::And(..) => {
                    parts.level[node] = schedule.layer[node] + 1;
                    parts.part[node] = node as u32;
                }
                Node::Xor(a, b) => {
                    let [a, b] = [a, b].map(Lit::node);
                    parts.level[node] = parts.level[a].max(parts.level[b]);
                    let [x, y] = [a, b].map(|operand| parts.part[operand]);
                    parts.part[node] = match parts.level[a].cmp(&parts.level[b]) {
                        Ordering::Less => y,
                        Ordering::Greater => x,
                        Ordering::Equal if parts.level[a] == 0 => NONE,
                        Ordering::Equal => {
                            let pair = u64::from(x.max(y)) << 32 | u64::from(x.min(y));
                            *same.entry(pair).or_insert(node as u32)
                        }
                    };
                }
                Node::Leaf | Node::Product(..) | Node::Sum => {}
            }
        }
        let mut read = vec![false; nodes];
        parts.each_read(graph, |reader, operand| {
            let level = match graph.nodes[reader] {
                Node::Xor(..) => parts.level[reader],
                _ => u32::MAX,
            };
            read[operand] |= parts.level[operand] < level;
        });
        parts.read = read;
        let outputs = graph.outputs.iter().map(|lit| lit.node());
        outputs.for_each(|node| parts.read[node] = true);
        parts
    }

    /// Reads the operands of each live gate.
    fn each_read(&self, graph: &LogicGraph, mut read: impl FnMut(usize, usize)) {
        for (node, &kind) in graph.nodes.iter().enumerate() {
            if let (true, Node::And(a, b) | Node::Xor(a, b)) = (self.live[node], kind) {
                read(node, a.node());
                read(node, b.node());
            }
        }
    }

    /// Makes the parts with products pulled to earlier layers, if any can be.
    fn pulled(&self, graph: &LogicGraph, mut schedule: Schedule) -> Option<Self> {
        let latest = self.pull(graph, &schedule.depth)?;
        let Schedule { uses, depth, .. } = &schedule;
        (schedule.layer, _) = graph.deadlines_within(uses, depth, |node| latest[node]);
        Some(Self::of(graph, &schedule))
    }

    /// The layer in which each AND is to run at the latest, for values to be sums of one layer: where a product of an
    /// earlier one is read only as it is added to others, these run in that layer if they can. None if there is no such
    /// product.
    fn pull(&self, graph: &LogicGraph, depth: &[u32]) -> Option<Vec<u32>> {
        let nodes = graph.nodes.len();
        let mut factor = vec![false; nodes];
        self.each_read(graph, |reader, operand| {
            factor[operand] |= matches!(graph.nodes[reader], Node::And(..));
        });
        graph
            .outputs
            .iter()
            .for_each(|lit| factor[lit.node()] = true);
        // The first level at which all products of a part can be there.
        let mut first = vec![0; nodes];
        for node in (0..nodes).filter(|&node| self.is_part(node)) {
            first[node] = match self.operands(graph, node) {
                Some([a, b]) => first[a].max(first[b]),
                None => depth[node],
            };
        }
        let mut latest = vec![u32::MAX; nodes];
        let mut pulled = false;
        for (node, &kind) in graph.nodes.iter().enumerate() {
            let (true, Node::Xor(a, b)) = (self.live[node], kind) else {
                continue;
            };
            let [mut low, mut high] = [a, b].map(Lit::node);
            if self.level[low] > self.level[high] {
                (low, high) = (high, low);
            }
            let level = self.level[low];
            if level == 0 || level == self.level[high] || factor[low] {
                continue;
            }
            let part = self.part[high] as usize;
            if first[part] <= level {
                latest[part] = latest[part].min(level - 1);
                pulled = true;
            }
        }
        for node in (0..nodes).rev().filter(|&node| self.is_part(node)) {
            for operand in self.operands(graph, node).into_iter().flatten() {
                latest[operand] = latest[operand].min(latest[node]);
            }
        }
        pulled.then_some(latest)
    }

    /// Gives the operands whose sum a part is: none if it is a product.
    fn operands(&self, graph: &LogicGraph, part: usize) -> Option<[usize; 2]> {
        match graph.nodes[part] {
            Node::Xor(a, b) => Some([a, b].map(|lit| self.part[lit.node()] as usize)),
            _ => None,
        }
    }

    fn is_part(&self, node: usize) -> bool {
        self.live[node] && self.part[node] == node as u32
    }

    /// The cut of each component whose cut has fewer parts than the component has products.
    fn cuts(&self, graph: &LogicGraph) -> Cuts {
        let nodes = graph.nodes.len();
        let mut wanted = vec![false; nodes];
        for node in (0..nodes).filter(|&node| self.read[node] && self.level[node] > 0) {
            wanted[self.part[node] as usize] = true;
        }
        let mut component = Components::new(nodes);
        for part in (0..nodes).filter(|&node| self.is_part(node)) {
            let operands = self.operands(graph, part).into_iter().flatten();
            operands.for_each(|operand| component.join(part, operand));
        }
        let mut members: Vec<(u32, u32)> = (0..nodes)
            .filter(|&node| self.is_part(node))
            .map(|part| (component.of(part) as u32, part as u32))
            .collect();
        members.sort_unstable();
        let mut cuts = Cuts {
            summed: vec![false; nodes],
            cut: vec![false; nodes],
            products: 0,
            sums: 0,
        };
        let mut place = vec![0_u32; nodes];
        for all in members.chunk_by(|a, b| a.0 == b.0) {
            let members = all.iter().map(|&(_, part)| part as usize);
            let is_product = |part: &usize| self.operands(graph, *part).is_none();
            let products = members.clone().filter(is_product);
            let count = products.clone().count();
            cuts.products += count;
            // No cut can be smaller.
            if products.clone().all(|part| wanted[part]) {
                cuts.sums += count;
                continue;
            }
            let wanted = members.clone().filter(|&part| wanted[part]);
            let cut: Vec<usize> = if members.len() > PARTS {
                wanted.collect()
            } else {
                let mut separation = Separation::new(members.len());
                for (at, part) in members.clone().enumerate() {
                    place[part] = at as u32;
                    match self.operands(graph, part) {
                        Some(operands) => operands
                            .into_iter()
                            .for_each(|operand| separation.arrow(place[operand] as usize, at)),
                        None => separation.source(at),
                    }
                }
                wanted.for_each(|part| separation.wanted(place[part] as usize));
                let cut = separation.cut().into_iter();
                cut.map(|at| all[at].1 as usize).collect()
            };
            if are_worth(cut.len(), count) {
                cuts.sums += cut.len();
                members.for_each(|part| cuts.summed[part] = true);
                cut.iter().for_each(|&part| cuts.cut[part] = true);
            } else {
                cuts.sums += count;
            }
        }
        cuts
    }

    /// Makes the same graph with sums where cuts are.
    fn rebuild(&self, graph: &LogicGraph, cuts: &Cuts) -> Summed {
        let nodes = graph.nodes.len();
        let mut to = LogicGraph::with_inputs(graph.input_bits).distinct();
        let mut due: Vec<LayerSums> = (0..self.layers).map(|_| LayerSums::default()).collect();
        // Values: of a node; of what it is beside its part; of a part.
        let [mut whole, mut rest, mut part] = [(); 3].map(|()| Values::none(nodes));
        to.nodes.reserve_exact(nodes);
        let mut products = vec![Lit::ZERO; nodes];
        // The layer of each new AND. With sums in the place of products two ANDs can turn out to be one: it runs when
        // the first of them is needed.
        let mut layer_of: BTreeMap<usize, u32> = BTreeMap::new();
        (0..=graph.input_bits).for_each(|node| whole.set(node, Lit::of(node)));
        for (node, &kind) in graph.nodes.iter().enumerate() {
            if !self.live[node] {
                continue;
            }
            let level = self.level[node];
            let summed = level > 0 && cuts.summed[self.part[node] as usize];
            if summed && cuts.cut[node] {
                part.set(node, to.push(Node::Sum));
            }
            match kind {
                Node::And(a, b) if summed => {
                    let [a, b] = [a, b].map(|lit| whole.of(lit));
                    products[node] = to.push(Node::Product(a, b));
                    rest.set(node, Lit::ZERO);
                }
                Node::And(a, b) => {
                    let [a, b] = [a, b].map(|lit| whole.of(lit));
                    let there = to.nodes.len();
                    let made = to.and(a, b);
                    if made.node() >= there {
                        layer_of.insert(made.node(), level - 1);
                    } else if let Some(layer) = layer_of.get_mut(&made.node()) {
                        *layer = (level - 1).min(*layer);
                    }
                    whole.set(node, made);
                }
                Node::Xor(a, b) if summed => {
                    let beside = |lit: Lit| match self.level[lit.node()] == level {
                        true => rest.of(lit),
                        false => whole.of(lit),
                    };
                    rest.set(node, to.xor(beside(a), beside(b)));
                    if self.part[node] == node as u32 && part.get(node).is_none() {
                        let operands = [a, b].map(|lit| part.get(self.part[lit.node()] as usize));
                        if let [Some(a), Some(b)] = operands {
                            part.set(node, to.xor(a, b));
                        }
                    }
                }
                Node::Xor(a, b) => {
                    let [a, b] = [a, b].map(|lit| whole.of(lit));
                    // In most circuits nearly all of them, which are distinct as they are.
                    whole.set(node, to.xor_anew(a, b));
                }
                Node::Leaf | Node::Product(..) | Node::Sum => {}
            }
            if summed && self.read[node] {
                // A cut separates what is read.
                let sum = part.of(Lit::of(self.part[node] as usize));
                whole.set(node, to.xor(sum, rest.of(Lit::of(node))));
            }
        }
        for (and, layer) in layer_of {
            due[layer as usize].ands.push(Lit::of(and));
        }
        to.outputs = graph.outputs.iter().map(|&lit| whole.of(lit)).collect();
        self.cones(graph, cuts, &products, &part, &mut due);
        Summed {
            graph: to.forgetting(),
            due,
        }
    }

    /// Collects the products below the cuts of each layer, and the sums that are made of them.
    fn cones(
        &self,
        graph: &LogicGraph,
        cuts: &Cuts,
        products: &[Lit],
        sums: &Values,
        due: &mut [LayerSums],
    ) {
        let nodes = graph.nodes.len();
        let mut below = cuts.cut.clone();
        for node in (0..nodes).rev().filter(|&node| cuts.summed[node]) {
            if let (true, Some(operands)) = (below[node], self.operands(graph, node)) {
                operands
                    .into_iter()
                    .for_each(|operand| below[operand] = true);
            }
        }
        let mut place = vec![NONE; nodes];
        let below: Vec<usize> = (0..nodes).filter(|&node| below[node]).collect();
        for &node in &below {
            if self.operands(graph, node).is_none() {
                let due = &mut due[self.level[node] as usize - 1];
                place[node] = due.cones.products as u32;
                due.cones.products += 1;
                due.products.push(products[node]);
            }
        }
        for &node in &below {
            let due = &mut due[self.level[node] as usize - 1];
            if let Some(operands) = self.operands(graph, node) {
                place[node] = due.cones.len() as u32;
                due.cones.xors.push(operands.map(|operand| place[operand]));
            }
            if cuts.cut[node] {
                due.cones.sums.push(place[node]);
                due.sums.extend(sums.get(node));
            }
        }
    }
}

impl Cuts {
    fn are_worth(&self) -> bool {
        are_worth(self.sums, self.products)
    }
}

const fn are_worth(sums: usize, products: usize) -> bool {
    sums < products && products - sums >= products / WORTH
}

/// New literals of nodes that have one.
struct Values(Vec<u32>);

impl Values {
    fn none(nodes: usize) -> Self {
        Self(vec![NONE; nodes])
    }

    fn set(&mut self, node: usize, value: Lit) {
        self.0[node] = value.0;
    }

    fn get(&self, node: usize) -> Option<Lit> {
        (self.0[node] != NONE).then_some(Lit(self.0[node]))
    }

    /// Gives the value of a literal whose node has been made.
    fn of(&self, lit: Lit) -> Lit {
        let value = self.get(lit.node()).expect("what is read has been made");
        if lit.inverted() { value.not() } else { value }
    }
}

/// Parts of a component whose sums are made, and the parts that these sums are.
struct Cuts {
    summed: Vec<bool>,
    cut: Vec<bool>,
    products: usize,
    /// Number of sums, with those of one product.
    sums: usize,
}

/// Disjoint sets, each known by its smallest member.
struct Components(Vec<u32>);

impl Components {
    fn new(len: usize) -> Self {
        Self((0..len as u32).collect())
    }

    fn of(&mut self, mut member: usize) -> usize {
        while self.0[member] as usize != member {
            let up = self.0[member] as usize;
            self.0[member] = self.0[up];
            member = up;
        }
        member
    }

    fn join(&mut self, a: usize, b: usize) {
        let [a, b] = [a, b].map(|member| self.of(member));
        self.0[a.max(b)] = a.min(b) as u32;
    }
}
