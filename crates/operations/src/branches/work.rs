//! A circuit with branches at work: what is made ahead, and the layers.

use std::sync::Arc;

use madrigal_circuit::And;
use madrigal_circuit::branches::{Conditional, Form, GuardedLayer};
use madrigal_core::bits;
use madrigal_correlations::{BitTriples, Scratch, Stock};
use madrigal_engine::Shares;
use madrigal_kernels as kernels;
use madrigal_net::Result;
use madrigal_protocols::branches::{Bits, Branches, Selector, Slot, repeat};
use madrigal_protocols::gmw::LEADER;

use super::layout::{BranchLayout, ConditionalLayout, LayerLayout, Merged, Scheme, Vectors};
use crate::arena::Arena;

/// Values that are there before inputs are.
pub(super) struct BranchSetup {
    /// By conditional, where it is entered.
    selectors: Vec<Option<Selector>>,
    /// a + R, b + R, c + R of each conditional's triples, which all know; rows without padding.
    pools: Vec<[Bits; 3]>,
}

impl BranchSetup {
    pub(super) async fn make(
        layout: &BranchLayout,
        lanes: usize,
        branches: &mut Branches,
        stock: &mut Stock,
    ) -> Result<Self> {
        let made = branches.prepare(&layout.wanted(), lanes, stock).await?;
        let mut made = made.into_iter();
        let places = layout.conditionals.iter();
        let selectors: Vec<Option<Selector>> = places
            .map(|place| place.entered.then(|| made.next()).flatten())
            .collect();
        let mut pools = Vec::new();
        if layout.scheme == Scheme::Merged {
            let count = layout.pooled() * lanes;
            let mut masked = zeros(3 * count);
            let mut at = 0;
            let mut scratch = Scratch::default();
            let triples = stock.bit_triples_left();
            for (place, selector) in layout.conditionals.iter().zip(&selectors) {
                let Some(selector) = selector else {
                    continue;
                };
                let (rows, random) = (place.pool * lanes, selector.kept());
                let triple = triples.take(rows, &mut scratch)?;
                for (part, string) in [triple.a, triple.b, triple.c].into_iter().enumerate() {
                    let mut row = take(&random, place.pool_row(part) * lanes, rows);
                    kernels::xor_into(&mut row, &string[..bits::bytes_for(rows)]);
                    bits::clear_tail(&mut row, rows);
                    bits::put(&mut masked, at, &row, rows);
                    at += rows;
                }
            }
            let opened = branches.open(&masked, at).await?;
            let mut at = 0;
            for place in &layout.conditionals {
                let rows = if place.entered { place.pool * lanes } else { 0 };
                pools.push([(); 3].map(|()| {
                    at += rows;
                    take(&opened, at - rows, rows)
                }));
            }
        }
        Ok(Self { selectors, pools })
    }
}

impl ConditionalLayout {
    /// Where R for part 0, 1, 2 of the pool's triples begins among kept masks, in rows: after those for inputs.
    fn pool_row(&self, part: usize) -> usize {
        self.wanted.kept - 3 * self.pool - 2 * self.spare + part * self.pool
    }

    /// Where spare masks begin.
    fn spare_row(&self, part: usize) -> usize {
        self.wanted.kept - 2 * self.spare + part * self.spare
    }
}

/// A conditional that was entered.
struct Entered {
    /// By code.
    slots: Vec<Slot>,
    /// By branch: t_k a, t_k b, t_k c of all triples, and t_k in as many rows as the largest layer has ANDs.
    branches: Vec<([Bits; 3], Bits)>,
}

/// One block of lanes.
pub(super) struct BranchesAtWork<'a> {
    layout: &'a BranchLayout,
    lanes: usize,
    ready: BranchSetup,
    arena: &'a mut Arena,
    branches: &'a mut Branches,
    stock: &'a mut Stock,
    leads: bool,
    entered: Vec<Option<Entered>>,
    /// All triples that branches use again.
    triples: [Bits; 3],
    /// ANDs that each branch has done.
    done: Vec<usize>,
}

/// Bits that are opened in a layer, row by row.
struct Message {
    string: Bits,
    /// Bits so far.
    at: usize,
}

impl Message {
    fn put(&mut self, string: &[u8], count: usize) {
        bits::put(&mut self.string, self.at, string, count);
        self.at += count;
    }

    fn take(&mut self, count: usize) -> Bits {
        self.at += count;
        take(&self.string, self.at - count, count)
    }
}

fn zeros(count: usize) -> Bits {
    Bits::new(vec![0; bits::bytes_for(count)])
}

fn take(string: &[u8], at: usize, count: usize) -> Bits {
    let mut out = zeros(count);
    bits::take(string, at, &mut out, count);
    out
}

/// Adds bits of one string from `at` on to those of another from `to` on.
fn add(string: &mut [u8], to: usize, from: &[u8], at: usize, count: usize) {
    if count == 0 {
        return;
    }
    let mut sum = take(from, at, count);
    let before = take(string, to, count);
    kernels::xor_into(&mut sum, &before);
    bits::put(string, to, &sum, count);
}

/// Bits of one string where another one is 1.
fn and(mut string: Bits, with: &[u8]) -> Bits {
    let both = string.clone();
    kernels::and(&mut string, &both, &with[..both.len()]);
    string
}

/// Values that a kind of AND keeps from its opening to its result.
enum MaskedAnds<'a> {
    Single {
        ands: &'a [And],
        triple: [Bits; 3],
    },
    Merged {
        merged: &'a Merged,
    },
    Vectors {
        columns: &'a [Vec<And>],
        scalar: Bits,
        vectors: Vec<[Bits; 2]>,
    },
}

impl<'a> BranchesAtWork<'a> {
    pub(super) fn new(
        layout: &'a BranchLayout,
        lanes: usize,
        ready: BranchSetup,
        arena: &'a mut Arena,
        branches: &'a mut Branches,
        stock: &'a mut Stock,
    ) -> Result<Self> {
        let mut triples = Default::default();
        if layout.scheme == Scheme::Masked {
            let count = layout.triples * lanes;
            let mut scratch = Scratch::default();
            let taken = stock.bit_triples_left().take(count, &mut scratch)?;
            triples = [taken.a, taken.b, taken.c].map(|string| take(string, 0, count));
        }
        Ok(Self {
            lanes,
            ready,
            arena,
            leads: branches.me() == LEADER,
            branches,
            stock,
            entered: layout.conditionals.iter().map(|_| None).collect(),
            triples,
            done: vec![0; layout.program.guards().len()],
            layout,
        })
    }

    /// Shares of the outputs: the rows of the arena where they are.
    pub(super) async fn run(mut self, inputs: &[Arc<Shares>]) -> Result<Vec<u32>> {
        let layout = self.layout;
        let program = &layout.program;
        self.arena.reshape(program.rows(), 1, self.lanes);
        let planes = inputs.iter().flat_map(|value| {
            let planes = value.sort().element.bits();
            (0..planes).map(move |plane| (value, plane))
        });
        let planes: Vec<_> = planes.collect();
        for &(wire, row) in program.inputs() {
            let (value, plane) = planes[wire as usize];
            let to = self.arena.row_mut(row, 0);
            to.copy_from_slice(value.plane(plane, 0));
        }
        for (layer, plan) in program.layers().zip(&layout.layers) {
            self.arena.local(layer.local, [self.leads, false]);
            self.layer(layer, plan).await?;
        }
        self.arena.local(program.tail(), [self.leads, false]);
        Ok(program.outputs().to_vec())
    }

    async fn layer(&mut self, layer: GuardedLayer<'_>, plan: &LayerLayout) -> Result<()> {
        let lanes = self.lanes;
        let mut message = Message {
            string: zeros(plan.rows * lanes),
            at: 0,
        };
        for &conditional in layer.enter {
            self.mask_entry(conditional as usize, &mut message);
        }
        let mut kept = Vec::new();
        match self.layout.scheme {
            Scheme::Masked => {
                for group in layer.groups {
                    let ands = self.layout.program.ands(group);
                    kept.push(self.mask_again(group.guard as usize, ands, &mut message));
                }
            }
            Scheme::Vectors => {
                for vectors in &plan.vectors {
                    kept.push(self.mask_vectors(vectors, &mut message)?);
                }
            }
            Scheme::Merged => {
                for group in layer.groups.iter().filter(|group| group.guard == 0) {
                    let ands = self.layout.program.ands(group);
                    kept.push(self.mask_single(ands, &mut message)?);
                }
                for merged in &plan.merged {
                    kept.push(self.mask_merged(merged, &mut message));
                }
            }
        }
        for &conditional in layer.exit {
            self.mask_exit(conditional as usize, &mut message);
        }
        debug_assert_eq!(message.at, plan.rows * lanes, "rows of a layer");
        let count = message.at;
        message.string = self.branches.open(&message.string, count).await?;
        message.at = 0;
        // All was read: now rows are written.
        for &conditional in layer.enter {
            self.enter(conditional as usize, &mut message);
        }
        for kept in kept {
            self.results(kept, &mut message);
        }
        for &conditional in layer.exit {
            self.leave(conditional as usize, &mut message);
        }
        Ok(())
    }

    fn conditional(&self, index: usize) -> &'a Conditional {
        &self.layout.program.conditionals()[index]
    }

    /// Rows of the arena, without padding.
    fn rows(&self, rows: &[u32]) -> Bits {
        let count = rows.len() * self.lanes;
        let mut string = zeros(count);
        self.arena.pack(rows.iter().copied(), 0, &mut string);
        bits::clear_tail(&mut string, count);
        string
    }

    /// The operands of ANDs.
    fn operands(&self, ands: &[And]) -> [Bits; 2] {
        let count = ands.len() * self.lanes;
        let (mut x, mut y) = (zeros(count), zeros(count));
        self.arena.gather(ands, 0, &mut x, &mut y);
        bits::clear_tail(&mut x, count);
        bits::clear_tail(&mut y, count);
        [x, y]
    }

    fn mask_entry(&mut self, index: usize, message: &mut Message) {
        let conditional = self.conditional(index);
        let selector = self.ready.selectors[index].as_ref();
        let selector = selector.expect("entered once");
        let mut code = self.rows(&conditional.code);
        for (bit, random) in selector.code().iter().enumerate() {
            add(&mut code, bit * self.lanes, random, 0, self.lanes);
        }
        message.put(&code, conditional.code.len() * self.lanes);
        if self.layout.program.form() == Form::Gated {
            let count = conditional.inputs.len() * self.lanes;
            let mut inputs = self.rows(&conditional.inputs);
            add(&mut inputs, 0, &selector.kept(), 0, count);
            message.put(&inputs, count);
        }
    }

    fn enter(&mut self, index: usize, message: &mut Message) {
        let (conditional, lanes) = (self.conditional(index), self.lanes);
        let (form, place) = (self.layout.program.form(), &self.layout.conditionals[index]);
        let code = message.take(conditional.code.len() * lanes);
        let selector = self.ready.selectors[index].take().expect("entered once");
        let bits = conditional.code.len();
        let difference: Vec<Bits> = (0..bits)
            .map(|bit| take(&code, bit * lanes, lanes))
            .collect();
        let difference: Vec<&[u8]> = difference.iter().map(|row| &row[..]).collect();
        let slots = selector.activate(&difference);
        let inputs = match form {
            Form::Gated => conditional.inputs.len(),
            Form::Free => 0,
        };
        let known = message.take(inputs * lanes);
        let mut branches = Vec::new();
        for branch in 0..conditional.guards.len() {
            let slot = &slots[conditional.code_of(branch as u32, form)];
            if let Some(row) = conditional.active[branch] {
                self.arena.unpack([row].into_iter(), 0, &slot.hot);
            }
            // All inputs of the conditional at once, whichever of them this branch reads: a word has many.
            let gated = &conditional.gated[branch];
            if !gated.is_empty() {
                let hot = repeat(&slot.hot, lanes, inputs);
                let mut values = and(known.clone(), &hot);
                add(&mut values, 0, &slot.kept, 0, inputs * lanes);
                self.arena.unpack_some(gated.iter().copied(), 0, &values);
            }
            let guard = conditional.guards.start as usize + branch;
            let rows = match self.layout.scheme {
                Scheme::Merged => place.pool,
                Scheme::Masked => conditional.chosen.len(),
                Scheme::Vectors => 0,
            };
            let hot = repeat(&slot.hot, lanes, rows);
            let mut pool = <[Bits; 3]>::default();
            if self.layout.scheme == Scheme::Merged {
                let count = self.layout.program.guards()[guard].ands * lanes;
                for (part, pool) in pool.iter_mut().enumerate() {
                    let known = take(&self.ready.pools[index][part], 0, count);
                    *pool = and(known, &hot);
                    add(pool, 0, &slot.kept, place.pool_row(part) * lanes, count);
                }
            }
            branches.push((pool, hot));
        }
        self.entered[index] = Some(Entered { slots, branches });
    }

    fn entered(&self, index: usize) -> &Entered {
        let entered = self.entered[index].as_ref();
        entered.expect("a conditional is entered before its branches")
    }

    /// ANDs with bit triples of their own.
    fn mask_single<'b>(
        &mut self,
        ands: &'b [And],
        message: &mut Message,
    ) -> Result<MaskedAnds<'b>> {
        let count = ands.len() * self.lanes;
        let mut scratch = Scratch::default();
        let triples: &mut BitTriples = self.stock.bit_triples_left();
        let taken = triples.take(count, &mut scratch)?;
        let triple = [taken.a, taken.b, taken.c].map(|string| take(string, 0, count));
        Ok(self.mask(ands, triple, message))
    }

    fn mask<'b>(
        &self,
        ands: &'b [And],
        triple: [Bits; 3],
        message: &mut Message,
    ) -> MaskedAnds<'b> {
        let count = ands.len() * self.lanes;
        for (mut operand, mask) in self.operands(ands).into_iter().zip(&triple) {
            kernels::xor_into(&mut operand, mask);
            message.put(&operand, count);
        }
        MaskedAnds::Single { ands, triple }
    }

    /// ANDs with triples that other branches use too, under the masks of all branches around.
    fn mask_again<'b>(
        &mut self,
        guard: usize,
        ands: &'b [And],
        message: &mut Message,
    ) -> MaskedAnds<'b> {
        let (lanes, count) = (self.lanes, ands.len() * self.lanes);
        let first = self.layout.first[guard] + self.done[guard];
        self.done[guard] += ands.len();
        let [a, b, c] = &self.triples;
        let mut triple = [a, b, c].map(|string| take(string, first * lanes, count));
        let guards = self.layout.program.guards();
        let mut around = guard;
        while let Some(conditional) = guards[around].conditional {
            let (index, branch) = (conditional as usize, guards[around].branch);
            let (conditional, place) = (self.conditional(index), &self.layout.conditionals[index]);
            let slot = &self.entered(index).slots[conditional.code_of(branch, Form::Free)];
            for (part, string) in triple[..2].iter_mut().enumerate() {
                let at = (part * place.pool + first - place.base) * lanes;
                add(string, 0, &slot.dropped, at, count);
            }
            around = conditional.parent as usize;
        }
        self.mask(ands, triple, message)
    }

    fn mask_vectors<'b>(
        &mut self,
        vectors: &'b Vectors,
        message: &mut Message,
    ) -> Result<MaskedAnds<'b>> {
        let columns = &vectors.columns;
        if let [ands] = &columns[..] {
            return self.mask_single(ands, message);
        }
        let (length, items) = (columns.len(), columns[0].len() * self.lanes);
        let mut triples = self.stock.vector_triples(length, items)?;
        let taken = triples.take(items);
        let mut scalar = zeros(items);
        for (item, bit) in taken.a.iter().enumerate() {
            scalar[item / 8] |= (bit & 1) << (item % 8);
        }
        let (each, row) = (bits::bytes_for(length), bits::bytes_for(items));
        let turn = |string: &[u8]| {
            let mut turned = Bits::new(vec![0; length * row]);
            kernels::transpose_bits(string, items, length, each, &mut turned, row);
            turned
        };
        let (b, c) = (turn(taken.b), turn(taken.c));
        let rows = b.chunks_exact(row).zip(c.chunks_exact(row));
        let rows = rows.map(|(b, c)| [b, c].map(|row| Bits::new(row.to_vec())));
        let vectors: Vec<[Bits; 2]> = rows.collect();
        let mut masked = scalar.clone();
        let mut seconds = Vec::new();
        for (column, [b, _]) in columns.iter().zip(&vectors) {
            let [x, mut y] = self.operands(column);
            kernels::xor_into(&mut masked, &x);
            kernels::xor_into(&mut y, b);
            seconds.push(y);
        }
        message.put(&masked, items);
        seconds.iter().for_each(|y| message.put(y, items));
        Ok(MaskedAnds::Vectors {
            columns,
            scalar,
            vectors,
        })
    }

    /// One AND for all branches.
    fn mask_merged<'b>(&mut self, merged: &'b Merged, message: &mut Message) -> MaskedAnds<'b> {
        let lanes = self.lanes;
        let index = merged.conditional;
        let (conditional, place) = (self.conditional(index), &self.layout.conditionals[index]);
        let entered = self.entered(index);
        let mut sums = [zeros(merged.slots * lanes), zeros(merged.slots * lanes)];
        let mut lengths = vec![0; entered.slots.len()];
        for (branch, (ands, done)) in merged.branches.iter().enumerate() {
            let count = ands.len() * lanes;
            lengths[conditional.code_of(branch as u32, Form::Gated)] = ands.len();
            let (pool, _) = &entered.branches[branch];
            for ((sum, operand), pool) in sums.iter_mut().zip(self.operands(ands)).zip(pool) {
                add(sum, 0, &operand, 0, count);
                add(sum, 0, pool, done * lanes, count);
            }
        }
        // Where a code has no AND, its spare masks stand in.
        for (slot, length) in entered.slots.iter().zip(lengths) {
            let from = merged.from.max(length);
            let count = (merged.slots - from) * lanes;
            for (part, sum) in sums.iter_mut().enumerate() {
                let row = place.spare_row(part) + merged.spare + from - merged.from;
                add(sum, from * lanes, &slot.kept, row * lanes, count);
            }
        }
        for sum in &sums {
            message.put(sum, merged.slots * lanes);
        }
        MaskedAnds::Merged { merged }
    }

    fn results(&mut self, kept: MaskedAnds<'_>, message: &mut Message) {
        let lanes = self.lanes;
        match kept {
            MaskedAnds::Single { ands, triple } => {
                let count = ands.len() * lanes;
                let (d, e) = (message.take(count), message.take(count));
                let [a, b, c] = &triple;
                let mut z = zeros(count);
                kernels::beaver_bits(&mut z, a, b, c, &d, &e, self.leads);
                self.arena.scatter(ands, 0, &z);
            }
            MaskedAnds::Vectors {
                columns,
                scalar,
                vectors,
            } => {
                let items = columns[0].len() * lanes;
                let d = message.take(items);
                for (ands, [b, c]) in columns.iter().zip(&vectors) {
                    let e = message.take(items);
                    let mut z = zeros(items);
                    kernels::beaver_bits(&mut z, &scalar, b, c, &d, &e, self.leads);
                    self.arena.scatter(ands, 0, &z);
                }
            }
            MaskedAnds::Merged { merged } => {
                let all = merged.slots * lanes;
                let (d, e) = (message.take(all), message.take(all));
                for (branch, (ands, done)) in merged.branches.iter().enumerate() {
                    if ands.is_empty() {
                        continue;
                    }
                    let count = ands.len() * lanes;
                    let (pool, hot) = &self.entered(merged.conditional).branches[branch];
                    let [a, b, c] = [0, 1, 2].map(|part| take(&pool[part], done * lanes, count));
                    let (d, e) = (take(&d, 0, count), take(&e, 0, count));
                    let mut z = zeros(count);
                    kernels::beaver_bits(&mut z, &a, &b, &c, &d, &e, false);
                    let both = and(and(d, &e), hot);
                    kernels::xor_into(&mut z, &both);
                    self.arena.scatter(ands, 0, &z);
                }
            }
        }
    }

    /// Outputs of branches, each masked.
    fn mask_exit(&mut self, index: usize, message: &mut Message) {
        let (conditional, lanes) = (self.conditional(index), self.lanes);
        let place = &self.layout.conditionals[index];
        let count = conditional.chosen.len() * lanes;
        for (branch, outputs) in conditional.outputs.iter().enumerate() {
            let mut masked = self.rows(outputs);
            let code = conditional.code_of(branch as u32, Form::Free);
            let slot = &self.entered(index).slots[code];
            add(&mut masked, 0, &slot.kept, 0, count);
            add(&mut masked, 0, &slot.dropped, 2 * place.pool * lanes, count);
            message.put(&masked, count);
        }
    }

    /// The active branch's outputs.
    fn leave(&mut self, index: usize, message: &mut Message) {
        let (conditional, lanes) = (self.conditional(index), self.lanes);
        let count = conditional.chosen.len() * lanes;
        let mut sum = zeros(count);
        for branch in 0..conditional.outputs.len() {
            let known = message.take(count);
            let code = conditional.code_of(branch as u32, Form::Free);
            let entered = self.entered(index);
            let (_, hot) = &entered.branches[branch];
            kernels::xor_into(&mut sum, &and(known, hot));
            add(&mut sum, 0, &entered.slots[code].kept, 0, count);
        }
        let rows = conditional.chosen.iter().copied();
        self.arena.unpack(rows, 0, &sum);
    }
}
