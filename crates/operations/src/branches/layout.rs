//! Layout of circuits with branches: which correlations, masks and messages belong to which part.

use madrigal_circuit::And;
use madrigal_circuit::branches::{Branching, Conditional, Form, Group, Guarded, Layering};
use madrigal_protocols::branches::Wanted;

/// How branches share their cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// ANDs of several branches become a product of a bit and a vector (MOTIF): as many OTs as the most ANDs
    /// that a branch has in a layer.
    Vectors,
    /// Triples are used again under masks (Masked Triples): as many triples as the longest way, and every
    /// branch's ANDs are opened.
    Masked,
    /// Both saved, see the module's text.
    Merged,
}

impl Scheme {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Vectors, Self::Masked, Self::Merged];

    /// Name of the scheme.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Vectors => "motif",
            Self::Masked => "masked",
            Self::Merged => "merged",
        }
    }
}

/// A circuit as one of the schemes evaluates it.
pub(super) struct BranchLayout {
    pub(super) scheme: Scheme,
    pub(super) program: Guarded,
    /// By conditional.
    pub(super) conditionals: Vec<ConditionalLayout>,
    /// By branch: its first triple.
    pub(super) first: Vec<usize>,
    /// Bit triples of each lane that are used online.
    pub(super) triples: usize,
    pub(super) layers: Vec<LayerLayout>,
}

/// A conditional's masks.
#[derive(Clone, Copy)]
pub(super) struct ConditionalLayout {
    pub(super) wanted: Wanted,
    /// Whether any output needs it.
    pub(super) entered: bool,
    /// Triples that its branches share; merged, they are its own.
    pub(super) pool: usize,
    /// ANDs online whose masks no branch's triples give, for some code.
    pub(super) spare: usize,
    /// First triple of the conditional, where branches use those of what is around them.
    pub(super) base: usize,
}

/// A layer's openings.
#[derive(Default)]
pub(super) struct LayerLayout {
    /// Rows that are opened.
    pub(super) rows: usize,
    /// Where ANDs of branches are done as one.
    pub(super) merged: Vec<Merged>,
    /// ANDs with a common factor: those of different branches, of which all but one are 0.
    pub(super) vectors: Vec<Vectors>,
}

/// The ANDs of a conditional in a layer: AND i of each branch is done as one.
pub(super) struct Merged {
    pub(super) conditional: usize,
    /// By branch: its ANDs, and how many it has done before.
    pub(super) branches: Vec<(Vec<And>, usize)>,
    /// The most of them.
    pub(super) slots: usize,
    /// From which one on some code has none.
    pub(super) from: usize,
    /// Spare masks used before.
    pub(super) spare: usize,
}

/// Products of a sum of first operands with second operands: column by column.
pub(super) struct Vectors {
    pub(super) columns: Vec<Vec<And>>,
}

impl BranchLayout {
    pub(super) fn new(branching: &Branching, scheme: Scheme, layering: Layering) -> Self {
        let form = match scheme {
            Scheme::Vectors | Scheme::Merged => Form::Gated,
            Scheme::Masked => Form::Free,
        };
        let program = Guarded::layered(branching, form, layering);
        let count = program.conditionals().len();
        let mut layout = Self {
            scheme,
            conditionals: Vec::with_capacity(count),
            first: vec![0; program.guards().len()],
            triples: 0,
            layers: Vec::new(),
            program,
        };
        let spare = layout.add_layers();
        let pools = layout.pools();
        layout.triples = match scheme {
            Scheme::Masked => pools.0,
            Scheme::Vectors => {
                let vectors = layout.layers.iter().flat_map(|layer| &layer.vectors);
                let single = vectors.filter(|vectors| vectors.columns.len() == 1);
                single.map(|vectors| vectors.columns[0].len()).sum()
            }
            Scheme::Merged => layout.program.guards()[0].ands,
        };
        for (index, conditional) in layout.program.conditionals().iter().enumerate() {
            let (base, pool) = pools.1[index];
            let inputs = conditional.inputs.len();
            let chosen = conditional.chosen.len();
            let (kept, dropped) = match scheme {
                Scheme::Vectors => (inputs, 0),
                Scheme::Merged => (inputs + 3 * pool + 2 * spare[index], 0),
                Scheme::Masked => (chosen, 2 * pool + chosen),
            };
            let mut layers = layout.program.layers();
            let entered = layers.any(|layer| layer.enter.contains(&(index as u32)));
            layout.conditionals.push(ConditionalLayout {
                entered,
                wanted: Wanted {
                    bits: conditional.bits(),
                    kept,
                    dropped,
                },
                pool,
                spare: spare[index],
                base,
            });
        }
        layout
    }

    /// Whether all codes of a conditional are branches.
    fn is_full(&self, conditional: &Conditional) -> bool {
        conditional.guards.len() == 1 << conditional.bits()
    }

    /// Goes through the layers; gives how many spare masks each conditional needs.
    fn add_layers(&mut self) -> Vec<usize> {
        let program = &self.program;
        let mut spare = vec![0; program.conditionals().len()];
        let mut done = vec![0; program.guards().len()];
        let mut layers = Vec::new();
        for layer in program.layers() {
            let mut made = LayerLayout::default();
            for &conditional in layer.enter {
                let conditional = &program.conditionals()[conditional as usize];
                made.rows += conditional.bits();
                if self.scheme != Scheme::Masked {
                    made.rows += conditional.inputs.len();
                }
            }
            for &conditional in layer.exit {
                let conditional = &program.conditionals()[conditional as usize];
                made.rows += conditional.guards.len() * conditional.chosen.len();
            }
            match self.scheme {
                Scheme::Masked => {
                    let ands = layer.groups.iter().map(|group| program.ands(group).len());
                    made.rows += 2 * ands.sum::<usize>();
                }
                Scheme::Vectors => {
                    made.vectors = vectors(program, layer.groups);
                    for vectors in &made.vectors {
                        made.rows += (1 + vectors.columns.len()) * vectors.columns[0].len();
                    }
                }
                Scheme::Merged => {
                    for group in layer.groups {
                        let guard = program.guards()[group.guard as usize];
                        let ands = program.ands(group);
                        let Some(conditional) = guard.conditional else {
                            made.rows += 2 * ands.len();
                            continue;
                        };
                        let conditional = conditional as usize;
                        let branches = program.conditionals()[conditional].guards.len();
                        if made.merged.last().map(|last| last.conditional) != Some(conditional) {
                            made.merged.push(Merged {
                                conditional,
                                branches: vec![Default::default(); branches],
                                slots: 0,
                                from: 0,
                                spare: 0,
                            });
                        }
                        let merged = made.merged.last_mut().expect("pushed just now");
                        let before = &mut done[group.guard as usize];
                        merged.branches[guard.branch as usize] = (ands.to_vec(), *before);
                        *before += ands.len();
                    }
                    for merged in &mut made.merged {
                        let lengths = || merged.branches.iter().map(|branch| branch.0.len());
                        merged.slots = lengths().max().unwrap_or(0);
                        if self.is_full(&program.conditionals()[merged.conditional]) {
                            merged.from = lengths().min().unwrap_or(0);
                        }
                        merged.spare = spare[merged.conditional];
                        spare[merged.conditional] += merged.slots - merged.from;
                        made.rows += 2 * merged.slots;
                    }
                }
            }
            layers.push(made);
        }
        self.layers = layers;
        spare
    }

    /// Triples on the longest way through the circuit, and for each conditional its first one and how many
    /// it has. Where ANDs are merged, conditionals have their own.
    fn pools(&mut self) -> (usize, Vec<(usize, usize)>) {
        let conditionals = self.program.conditionals();
        let guards = self.program.guards();
        // Conditionals in a branch come after the one around it: from the last one back, all inside is
        // known.
        let mut inside: Vec<Vec<usize>> = vec![Vec::new(); guards.len()];
        for (index, conditional) in conditionals.iter().enumerate() {
            inside[conditional.parent as usize].push(index);
        }
        let mut pools = vec![(0, 0); conditionals.len()];
        let own = self.scheme != Scheme::Masked;
        let need = |guard: usize, pools: &[(usize, usize)]| {
            let nested = if own { &[][..] } else { &inside[guard][..] };
            let nested: usize = nested.iter().map(|&conditional| pools[conditional].1).sum();
            guards[guard].ands + nested
        };
        for (index, conditional) in conditionals.iter().enumerate().rev() {
            let most = conditional
                .guards
                .clone()
                .map(|guard| need(guard as usize, &pools));
            pools[index].1 = most.max().unwrap_or(0);
        }
        let all = need(0, &pools);
        if !own {
            for (guard, inside) in inside.iter().enumerate() {
                let mut next = self.first[guard] + guards[guard].ands;
                for &conditional in inside {
                    pools[conditional].0 = next;
                    for guard in conditionals[conditional].guards.clone() {
                        self.first[guard as usize] = next;
                    }
                    next += pools[conditional].1;
                }
            }
        }
        (all, pools)
    }

    /// Vector triples of each length in each lane, used online.
    pub(super) fn vector_triples(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let vectors = self.layers.iter().flat_map(|layer| &layer.vectors);
        let long = vectors.filter(|vectors| vectors.columns.len() > 1);
        long.map(|vectors| (vectors.columns.len(), vectors.columns[0].len()))
    }

    /// Triples of all merged pools, in each lane.
    pub(super) fn pooled(&self) -> usize {
        match self.scheme {
            Scheme::Merged => self.conditionals.iter().map(|place| place.pool).sum(),
            _ => 0,
        }
    }

    /// Demand of the conditionals that are entered.
    pub(super) fn wanted(&self) -> Vec<Wanted> {
        let places = self.conditionals.iter().filter(|place| place.entered);
        places.map(|place| place.wanted).collect()
    }
}

/// ANDs that are done as one, linked: the first, the last, and how many.
#[derive(Clone, Copy)]
struct Chain {
    first: u32,
    last: u32,
    len: usize,
}

/// ANDs of branches that exclude each other, put together (MOTIF 6.3): those that are the i-th in their layer.
/// All that have the same number of columns are one.
fn vectors(program: &Guarded, groups: &[Group]) -> Vec<Vectors> {
    let mut ands: Vec<And> = Vec::new();
    let mut lists: Vec<Vec<Chain>> = vec![Vec::new(); program.guards().len()];
    for group in groups {
        let own = program.ands(group);
        let places = ands.len() as u32..(ands.len() + own.len()) as u32;
        lists[group.guard as usize] = places
            .map(|at| Chain {
                first: at,
                last: at,
                len: 1,
            })
            .collect();
        ands.extend_from_slice(own);
    }
    // AND that follows each in its chain.
    let mut next = vec![u32::MAX; ands.len()];
    // From the inside out: what stands in a branch is known before it.
    for conditional in program.conditionals().iter().rev() {
        let mut merged: Vec<Chain> = Vec::new();
        for guard in conditional.guards.clone() {
            let list = std::mem::take(&mut lists[guard as usize]);
            let (both, new) = list.split_at(merged.len().min(list.len()));
            for (to, from) in merged.iter_mut().zip(both) {
                next[to.last as usize] = from.first;
                to.last = from.last;
                to.len += from.len;
            }
            merged.extend_from_slice(new);
        }
        lists[conditional.parent as usize].extend(merged);
    }
    let mut all = std::mem::take(&mut lists[0]);
    all.sort_by_key(|chain| chain.len);
    let mut vectors: Vec<Vectors> = Vec::new();
    for alike in all.chunk_by(|a, b| a.len == b.len) {
        let mut columns = vec![Vec::with_capacity(alike.len()); alike[0].len];
        for chain in alike {
            let mut at = chain.first;
            for column in &mut columns {
                column.push(ands[at as usize]);
                at = next[at as usize];
            }
        }
        vectors.push(Vectors { columns });
    }
    vectors
}
