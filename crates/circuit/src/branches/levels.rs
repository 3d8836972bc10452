//! Assigns each AND to a layer.
//!
//! The number of layers is what the longest chain of ANDs, entries and exits demands. Within that an AND
//! of a branch is put where ANDs of the other branches are: what a conditional costs online is, in each
//! layer, the most ANDs that one of its branches has there. The profile that is aimed at is the least
//! that any schedule could have: by each layer as many ANDs as the branch with the most deadlines by then
//! must have done. The sum of that is the largest branch. Each branch follows it, those with the earliest
//! deadline first, and raises it only where it must.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::nodes::{Form, Node, NodeKind, Nodes, ROOT};

/// How ANDs are put into layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Layering {
    /// Where the ANDs of other branches are, within the layers that there must be.
    #[default]
    Aligned,
    /// Each as early as it can be: so ANDs of equal depth are in one layer, as MOTIF's `merge` has them (section 6.3).
    ByDepth,
}

/// Layer of nodes that no output needs.
pub(super) const DEAD: u32 = u32::MAX;

pub(super) struct Levels {
    /// Number of layers.
    pub(super) depth: u32,
    /// The layer of each AND; of others, the first layer that needs them (`depth` for outputs). [`DEAD`]
    /// for what is not needed.
    pub(super) layer: Vec<u32>,
    /// The layer in which each conditional is entered.
    pub(super) enter: Vec<u32>,
    /// The layer in which its outputs are chosen, where branches are not gated.
    pub(super) exit: Vec<u32>,
}

/// Nodes that are alive, and from and until when.
struct Window {
    alive: Vec<bool>,
    /// Layer before which a node can be there at the earliest, and must be there.
    first: Vec<u32>,
    needed: Vec<u32>,
    enter: Vec<u32>,
    exit: Vec<u32>,
    /// The first layer in which ANDs of a branch can be done.
    begins: Vec<u32>,
    depth: u32,
}

impl Nodes {
    /// The nodes that one needs, by its kind.
    fn operands(&self, node: usize, mut each: impl FnMut(u32)) {
        let guard = self.nodes[node].guard;
        let choice = |guard: u32| &self.choices[self.guards[guard as usize].conditional as usize];
        match self.nodes[node].kind {
            NodeKind::Zero | NodeKind::Input => {}
            NodeKind::Not(a) => each(a),
            NodeKind::Xor(a, b) => [a, b].into_iter().for_each(each),
            NodeKind::And(a, b) => {
                each(a);
                each(b);
                if self.form == Form::Free && guard != ROOT {
                    choice(guard).code.iter().copied().for_each(each);
                }
            }
            NodeKind::Active => choice(guard).code.iter().copied().for_each(each),
            NodeKind::Gated(input) => {
                let choice = choice(guard);
                each(choice.inputs[input as usize]);
                choice.code.iter().copied().for_each(each);
            }
            NodeKind::Chosen(conditional, bit) => {
                let choice = &self.choices[conditional as usize];
                choice.code.iter().copied().for_each(&mut each);
                let made = choice.outputs.iter();
                made.for_each(|outputs| each(outputs[bit as usize]));
            }
        }
    }

    /// The conditional that a node is an entry or exit of.
    fn conditional(&self, node: usize) -> Option<usize> {
        let guard = self.nodes[node].guard;
        match self.nodes[node].kind {
            NodeKind::Active | NodeKind::Gated(_) => {
                Some(self.guards[guard as usize].conditional as usize)
            }
            NodeKind::Chosen(conditional, _) => Some(conditional as usize),
            _ => None,
        }
    }

    /// The branches around a node of a branch, from the inside.
    fn around(&self, mut guard: u32) -> impl Iterator<Item = u32> + '_ {
        std::iter::from_fn(move || {
            if guard == ROOT {
                return None;
            }
            let this = guard;
            guard = self.choices[self.guards[guard as usize].conditional as usize].parent;
            Some(this)
        })
    }

    fn alive(&self) -> Vec<bool> {
        let mut alive = vec![false; self.nodes.len()];
        self.outputs
            .iter()
            .for_each(|&node| alive[node as usize] = true);
        for node in (0..self.nodes.len()).rev().filter(|&node| node > 0) {
            if !alive[node] {
                continue;
            }
            self.operands(node, |operand| alive[operand as usize] = true);
            if self.form == Form::Free && matches!(self.nodes[node].kind, NodeKind::And(..)) {
                for guard in self.around(self.nodes[node].guard) {
                    let choice = self.guards[guard as usize].conditional as usize;
                    let code = &self.choices[choice].code;
                    code.iter().for_each(|&bit| alive[bit as usize] = true);
                }
            }
        }
        alive
    }

    fn window(&self) -> Window {
        let alive = self.alive();
        let count = self.nodes.len();
        let mut first = vec![0u32; count];
        let mut enter = vec![DEAD; self.choices.len()];
        let mut exit = vec![DEAD; self.choices.len()];
        let mut begins = vec![0u32; self.guards.len()];
        // Entries and exits are as early as all that goes through them, so they are looked at ahead: what
        // belongs to one conditional is not needed before the last of it.
        let mut through: Vec<Vec<u32>> = vec![Vec::new(); self.choices.len()];
        let mut chosen: Vec<Vec<u32>> = vec![Vec::new(); self.choices.len()];
        for (node, _) in alive.iter().enumerate().filter(|&(_, &alive)| alive) {
            let Some(conditional) = self.conditional(node) else {
                continue;
            };
            match self.nodes[node].kind {
                NodeKind::Gated(input) => {
                    through[conditional].push(self.choices[conditional].inputs[input as usize]);
                }
                NodeKind::Chosen(_, bit) => {
                    let made = self.choices[conditional].outputs.iter();
                    chosen[conditional].extend(made.map(|outputs| outputs[bit as usize]));
                }
                _ => {}
            }
        }
        let at = |first: &[u32], nodes: &[u32]| {
            nodes
                .iter()
                .map(|&node| first[node as usize])
                .max()
                .unwrap_or(0)
        };
        for node in 0..count {
            if !alive[node] {
                continue;
            }
            let guard = self.nodes[node].guard;
            if let (Form::Free, NodeKind::And(..)) = (self.form, self.nodes[node].kind) {
                // From the outside in.
                let around: Vec<u32> = self.around(guard).collect();
                for &guard in around.iter().rev() {
                    let conditional = self.guards[guard as usize].conditional as usize;
                    let choice = &self.choices[conditional];
                    if enter[conditional] == DEAD {
                        enter[conditional] = at(&first, &choice.code);
                    }
                    begins[guard as usize] =
                        (enter[conditional] + 1).max(begins[choice.parent as usize]);
                }
            }
            if let Some(conditional) = self.conditional(node)
                && enter[conditional] == DEAD
            {
                let code = at(&first, &self.choices[conditional].code);
                enter[conditional] = code.max(at(&first, &through[conditional]));
            }
            first[node] = match self.nodes[node].kind {
                NodeKind::Zero | NodeKind::Input => 0,
                NodeKind::Not(a) => first[a as usize],
                NodeKind::Xor(a, b) => first[a as usize].max(first[b as usize]),
                NodeKind::And(a, b) => {
                    let ready = first[a as usize].max(first[b as usize]);
                    ready.max(begins[guard as usize]) + 1
                }
                NodeKind::Active | NodeKind::Gated(_) => {
                    enter[self.guards[guard as usize].conditional as usize] + 1
                }
                NodeKind::Chosen(conditional, _) => {
                    let conditional = conditional as usize;
                    if exit[conditional] == DEAD {
                        let ready = at(&first, &chosen[conditional]);
                        exit[conditional] = ready.max(enter[conditional] + 1);
                    }
                    exit[conditional] + 1
                }
            };
        }
        let depth = at(&first, &self.outputs);
        let mut needed = vec![depth; count];
        for node in (0..count).rev().filter(|&node| alive[node]) {
            let before = match self.nodes[node].kind {
                NodeKind::And(..) => needed[node] - 1,
                NodeKind::Active | NodeKind::Gated(_) => {
                    enter[self.guards[self.nodes[node].guard as usize].conditional as usize]
                }
                NodeKind::Chosen(conditional, _) => exit[conditional as usize],
                _ => needed[node],
            };
            let code = self.conditional(node).map(|conditional| enter[conditional]);
            let in_branch =
                self.form == Form::Free && matches!(self.nodes[node].kind, NodeKind::And(..));
            let mut lower = |operand: u32, before: u32| {
                let needed = &mut needed[operand as usize];
                *needed = before.min(*needed);
            };
            match self.nodes[node].kind {
                NodeKind::And(a, b) | NodeKind::Xor(a, b) => {
                    lower(a, before);
                    lower(b, before);
                }
                _ => self.operands(node, |operand| lower(operand, before)),
            }
            if in_branch {
                for guard in self.around(self.nodes[node].guard) {
                    let conditional = self.guards[guard as usize].conditional as usize;
                    let code = &self.choices[conditional].code;
                    code.iter().for_each(|&bit| lower(bit, enter[conditional]));
                }
            } else if let (Some(before), Some(conditional)) = (code, self.conditional(node)) {
                let code = &self.choices[conditional].code;
                code.iter().for_each(|&bit| lower(bit, before));
            }
        }
        Window {
            alive,
            first,
            needed,
            enter,
            exit,
            begins,
            depth,
        }
    }

    /// The schedule.
    pub(super) fn levels(&self, layering: Layering) -> Levels {
        let window = self.window();
        let ands = match layering {
            Layering::Aligned => self.schedule(&window),
            Layering::ByDepth => self.by_depth(&window),
        };
        let depth = window.depth;
        // When what is not an AND is needed: as late as can be, because a row that waits takes memory.
        let mut layer = vec![DEAD; self.nodes.len()];
        self.outputs
            .iter()
            .for_each(|&node| layer[node as usize] = depth);
        for node in (0..self.nodes.len()).rev() {
            if !window.alive[node] {
                continue;
            }
            let mut lower = |operand: u32, before: u32| {
                let layer = &mut layer[operand as usize];
                *layer = before.min(*layer);
            };
            match self.nodes[node].kind {
                NodeKind::And(a, b) => {
                    lower(a, ands[node]);
                    lower(b, ands[node]);
                    if self.form == Form::Free {
                        for guard in self.around(self.nodes[node].guard) {
                            let conditional = self.guards[guard as usize].conditional as usize;
                            let code = &self.choices[conditional].code;
                            let before = window.enter[conditional];
                            code.iter().for_each(|&bit| lower(bit, before));
                        }
                    }
                    continue;
                }
                NodeKind::Chosen(conditional, bit) => {
                    let conditional = conditional as usize;
                    let choice = &self.choices[conditional];
                    let code = choice.code.iter();
                    code.for_each(|&node| lower(node, window.enter[conditional]));
                    let made = choice.outputs.iter();
                    made.for_each(|outputs| lower(outputs[bit as usize], window.exit[conditional]));
                }
                NodeKind::Active | NodeKind::Gated(_) => {
                    let conditional = self.conditional(node).expect("an entry");
                    self.operands(node, |operand| lower(operand, window.enter[conditional]));
                }
                _ => {
                    let before = layer[node];
                    self.operands(node, |operand| {
                        let layer = &mut layer[operand as usize];
                        *layer = before.min(*layer);
                    });
                }
            }
        }
        for (node, &and) in ands.iter().enumerate() {
            if matches!(self.nodes[node].kind, NodeKind::And(..)) {
                layer[node] = and;
            } else if !window.alive[node] {
                layer[node] = DEAD;
            }
        }
        Levels {
            depth,
            layer,
            enter: window.enter,
            exit: window.exit,
        }
    }

    /// The first layer in which each AND that is alive can be done.
    fn by_depth(&self, window: &Window) -> Vec<u32> {
        let layer = |(node, made): (usize, &Node)| match made.kind {
            NodeKind::And(..) if window.alive[node] => window.first[node] - 1,
            _ => DEAD,
        };
        self.nodes.iter().enumerate().map(layer).collect()
    }

    /// The layer of each AND that is alive.
    fn schedule(&self, window: &Window) -> Vec<u32> {
        let depth = window.depth as usize;
        let readers = Readers::new(self, &window.alive);
        let due = self.due(window);
        let mut profiles: Vec<Vec<usize>> = self
            .choices
            .iter()
            .map(|choice| least_profile(depth, &due, choice.guards.clone()))
            .collect();
        let mut done = Vec::new();
        // The others may use what one branch raises: so once more with what all need.
        for _ in 0..3 {
            let before: usize = profiles.iter().flatten().sum();
            done = self.follow(window, &readers, &mut profiles);
            if profiles.iter().flatten().sum::<usize>() == before {
                break;
            }
        }
        debug_assert!(
            done.iter()
                .all(|&layer| layer == DEAD || (layer as usize) < depth)
        );
        done
    }

    /// Gives, by branch, the last layer in which each of its ANDs can be done; nothing where branches are not gated.
    fn due(&self, window: &Window) -> Vec<Vec<u32>> {
        let mut due = vec![Vec::new(); self.guards.len()];
        if self.form == Form::Free {
            return due;
        }
        for (node, made) in self.nodes.iter().enumerate() {
            if window.alive[node] && matches!(made.kind, NodeKind::And(..)) {
                due[made.guard as usize].push(window.needed[node] - 1);
            }
        }
        due
    }

    /// Goes through the layers once. Raises profiles where a branch has more to do.
    fn follow(&self, window: &Window, readers: &Readers, profiles: &mut [Vec<usize>]) -> Vec<u32> {
        let count = self.nodes.len();
        let mut missing = vec![0u8; count];
        // Nodes that come by themselves, by the layer that they are there for.
        let mut comes: Vec<Vec<u32>> = vec![Vec::new(); window.depth as usize + 1];
        for node in 0..count {
            if !window.alive[node] {
                continue;
            }
            match self.nodes[node].kind {
                NodeKind::Not(_) => missing[node] = 1,
                NodeKind::Xor(..) | NodeKind::And(..) => missing[node] = 2,
                _ => comes[window.first[node] as usize].push(node as u32),
            }
        }
        let mut waiting: Vec<BinaryHeap<Reverse<(u32, u32)>>> =
            vec![BinaryHeap::new(); self.guards.len()];
        let mut later: Vec<Vec<u32>> = vec![Vec::new(); window.depth as usize + 1];
        let mut layers = vec![DEAD; count];
        let mut there = Vec::new();
        for layer in 0..window.depth {
            let at = layer as usize;
            there.append(&mut comes[at]);
            for node in std::mem::take(&mut later[at]) {
                let guard = self.nodes[node as usize].guard;
                let last = window.needed[node as usize] - 1;
                waiting[guard as usize].push(Reverse((last, node)));
            }
            while let Some(node) = there.pop() {
                for &reader in readers.of(node) {
                    missing[reader as usize] -= 1;
                    if missing[reader as usize] > 0 {
                        continue;
                    }
                    if !matches!(self.nodes[reader as usize].kind, NodeKind::And(..)) {
                        there.push(reader);
                        continue;
                    }
                    let guard = self.nodes[reader as usize].guard;
                    let begins = window.begins[guard as usize];
                    if begins > layer {
                        later[begins as usize].push(reader);
                    } else {
                        let last = window.needed[reader as usize] - 1;
                        waiting[guard as usize].push(Reverse((last, reader)));
                    }
                }
            }
            for (guard, waiting) in waiting.iter_mut().enumerate() {
                let conditional = self.guards[guard].conditional as usize;
                let profile = profiles
                    .get_mut(conditional)
                    .map(|profile| &mut profile[at]);
                let room = profile.as_deref().copied().unwrap_or(0);
                let mut done = 0;
                while let Some(&Reverse((last, node))) = waiting.peek()
                    && (last <= layer || done < room)
                {
                    waiting.pop();
                    layers[node as usize] = layer;
                    comes[at + 1].push(node);
                    done += 1;
                }
                if let Some(profile) = profile {
                    *profile = done.max(*profile);
                }
            }
        }
        layers
    }
}

/// Gates that read each node, twice those that read it twice.
struct Readers {
    /// Ends of each node's readers.
    ends: Vec<u32>,
    all: Vec<u32>,
}

impl Readers {
    fn new(nodes: &Nodes, alive: &[bool]) -> Self {
        let gates = || {
            let gates = nodes.nodes.iter().enumerate();
            let gates = gates.filter(|&(node, _)| alive[node]);
            gates.flat_map(|(node, made)| {
                let operands = match made.kind {
                    NodeKind::Not(a) => [Some(a), None],
                    NodeKind::Xor(a, b) | NodeKind::And(a, b) => [Some(a), Some(b)],
                    _ => [None, None],
                };
                operands
                    .into_iter()
                    .flatten()
                    .map(move |a| (a as usize, node as u32))
            })
        };
        let mut next = vec![0u32; nodes.nodes.len() + 1];
        gates().for_each(|(operand, _)| next[operand + 1] += 1);
        let mut sum = 0;
        for next in &mut next {
            sum += *next;
            *next = sum;
        }
        let mut all = vec![0; sum as usize];
        for (operand, reader) in gates() {
            all[next[operand] as usize] = reader;
            next[operand] += 1;
        }
        // Each is now where the next one begins.
        Self { ends: next, all }
    }

    fn of(&self, node: u32) -> &[u32] {
        let node = node as usize;
        let begins = if node == 0 { 0 } else { self.ends[node - 1] };
        &self.all[begins as usize..self.ends[node] as usize]
    }
}

/// Computes, by each layer, as many ANDs as the branch with the most deadlines by then must have done.
fn least_profile(depth: usize, due: &[Vec<u32>], guards: std::ops::Range<u32>) -> Vec<usize> {
    let mut most = vec![0usize; depth];
    for guard in guards {
        let mut by = vec![0usize; depth];
        due[guard as usize]
            .iter()
            .for_each(|&last| by[last as usize] += 1);
        let mut sum = 0;
        for (most, by) in most.iter_mut().zip(by) {
            sum += by;
            *most = sum.max(*most);
        }
    }
    // From sums to what each layer adds; a sum is never less than the one before.
    for layer in (1..depth).rev() {
        most[layer] -= most[layer - 1];
    }
    most
}
