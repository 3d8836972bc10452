//! Branches of ring elements at work: what is made ahead, and the layers.

use std::sync::Arc;

use madrigal_core::{Ring, bits};
use madrigal_correlations::Stock;
use madrigal_engine::{Held, Shares, Sharing};
use madrigal_kernels::{self as kernels, rings};
use madrigal_net::Result;
use madrigal_protocols::branches::rings::{Elements, RingBranches, RingSelector, RingSlot};

use super::formula::{Formula, FormulaStep, Formulas};
use super::layout::{Gated, MaskKind, ProductLayer, RingBranchLayout};

/// Values that are there before inputs are.
pub(super) struct RingBranchSetup<T: Ring> {
    selector: RingSelector<T>,
    /// a + R, b + R, c + R of all triples, which all know: rows of an element for each lane.
    pool: Elements<T>,
}

fn zeros<T: Ring>(count: usize) -> Elements<T> {
    Elements::new(vec![T::ZERO; count])
}

impl<T: Held> RingBranchSetup<T> {
    pub(super) async fn make(
        layout: &RingBranchLayout,
        lanes: usize,
        tool: &mut RingBranches,
        stock: &mut Stock,
    ) -> Result<Self> {
        let selector = tool.prepare::<T>(layout.wanted, lanes, stock).await?;
        let count = match layout.gated {
            Gated::Triples => layout.pool * lanes,
            Gated::Products => 0,
        };
        let mut pool = zeros(3 * count);
        if count > 0 {
            let mut triples = stock.ring_triples::<T>(count)?;
            let triple = triples.take(count);
            for (part, of) in [triple.a, triple.b, triple.c].into_iter().enumerate() {
                pool[part * count..(part + 1) * count].copy_from_slice(of);
            }
            let first = layout.row(MaskKind::Triple(0)) * lanes;
            rings::add_into(&mut pool, &selector.kept()[first..first + 3 * count]);
            tool.open(&mut pool).await?;
        }
        Ok(Self { selector, pool })
    }
}

/// A branch on shares.
struct Running<'a, T: Ring> {
    formula: &'a Formula,
    /// t, and masks.
    slot: RingSlot<T>,
    /// Rows of an element for each lane, a row for each value: 0 where the branch is not active.
    values: Elements<T>,
    /// t a, t b, t c of its triples.
    triples: [Elements<T>; 3],
}

impl<T: Held> Running<'_, T> {
    fn value(&self, value: u32, lanes: usize) -> &[T] {
        &self.values[value as usize * lanes..][..lanes]
    }

    /// t x from x + R, which all know, and t R.
    fn gated(&self, known: &[T], first: usize, lanes: usize) -> Elements<T> {
        let mut gated = Elements::new(known.to_vec());
        if lanes > 0 {
            let rows = gated.chunks_exact_mut(lanes);
            rows.for_each(|row| rings::mul_into(row, &self.slot.hot));
        }
        rings::sub_into(&mut gated, &self.slot.kept[first * lanes..][..known.len()]);
        gated
    }

    fn set(&mut self, value: usize, row: &[T]) {
        let lanes = row.len();
        self.values[value * lanes..][..lanes].copy_from_slice(row);
    }

    /// Adds the factors of products to those of all branches, first ones before second ones.
    fn add_factors(&self, products: &[usize], to: &mut [T], layer: &ProductLayer, lanes: usize) {
        for (slot, &step) in products.iter().enumerate() {
            let FormulaStep::Product(x, y) = self.formula.steps()[step] else {
                unreachable!("sums are not opened");
            };
            for (part, factor) in [x, y].into_iter().enumerate() {
                let to = &mut to[(part * layer.slots + slot) * lanes..][..lanes];
                rings::add_into(to, self.value(factor, lanes));
            }
        }
    }

    fn sum(&mut self, step: usize, lanes: usize) {
        let formula = self.formula;
        let FormulaStep::Linear { terms, constant } = &formula.steps()[step] else {
            unreachable!("products are opened");
        };
        // A constant is one of the active branch's alone.
        let mut sum = Elements::new(vec![T::from_u128(*constant); lanes]);
        rings::mul_into(&mut sum, &self.slot.hot);
        for &(value, factor) in terms {
            let factor = T::from_u128(factor);
            let x = self.value(value, lanes);
            let both = sum.iter_mut().zip(x);
            both.for_each(|(sum, x)| *sum = sum.add(x.mul(factor)));
        }
        self.set(formula.inputs() as usize + step, &sum);
    }
}

/// Shares of what the active branch makes of the inputs; `code` has the number of the active branch.
pub(super) async fn run<T: Held>(
    formulas: &Formulas,
    layout: &RingBranchLayout,
    ready: RingBranchSetup<T>,
    code: &Shares,
    inputs: &[Arc<Shares>],
    (tool, stock): (&mut RingBranches, &mut Stock),
) -> Result<Vec<Shares>> {
    let lanes = code.len();
    let RingBranchSetup { selector, pool } = ready;
    // The number of the active branch under the random one's, inputs under masks of the hot code.
    let row = bits::bytes_for(lanes);
    let mut opened_code = zeros::<u8>(bits::bytes_for(selector.code().len() * lanes));
    for (bit, random) in selector.code().iter().enumerate() {
        let mut difference = random.clone();
        kernels::xor_into(&mut difference, &code.plane(bit, 0)[..row]);
        bits::clear_tail(&mut difference, lanes);
        bits::put(&mut opened_code, bit * lanes, &difference, lanes);
    }
    let mut opened = Elements::new(Vec::with_capacity(inputs.len() * lanes));
    inputs
        .iter()
        .for_each(|input| opened.extend_from_slice(input.component::<T>(0)));
    let first = layout.row(MaskKind::Input) * lanes;
    let masked = opened.len();
    let mut masks = selector.kept();
    rings::add_into(&mut opened, &masks[first..first + masked]);
    tool.open_both(&mut opened, &mut opened_code).await?;
    let mut difference = Vec::new();
    for bit in 0..selector.code().len() {
        let mut plane = zeros::<u8>(row);
        bits::take(&opened_code, bit * lanes, &mut plane, lanes);
        difference.push(plane);
    }
    let difference: Vec<&[u8]> = difference.iter().map(|plane| &plane[..]).collect();
    let mut slots = selector.activate(&difference);
    // Codes of no branch have spare masks alone.
    let others = slots.split_off(formulas.branches().len());
    let mut branches: Vec<Running<'_, T>> = Vec::with_capacity(slots.len());
    for (formula, slot) in formulas.branches().iter().zip(slots) {
        let mut branch = Running {
            formula,
            slot,
            values: zeros(formula.values() as usize * lanes),
            triples: Default::default(),
        };
        let gated = branch.gated(&opened, layout.row(MaskKind::Input), lanes);
        branch.values[..gated.len()].copy_from_slice(&gated);
        let own = formula.products() * lanes;
        let parts = match layout.gated {
            Gated::Triples => 0..3,
            Gated::Products => 0..0,
        };
        for part in parts {
            let known = &pool[part * layout.pool * lanes..][..own];
            branch.triples[part] = branch.gated(known, layout.row(MaskKind::Triple(part)), lanes);
        }
        branches.push(branch);
    }
    masks.drain(..layout.row(MaskKind::Product) * lanes);
    for number in 0..layout.layers.len() {
        for (branch, order) in branches.iter_mut().zip(&layout.branches) {
            for &step in &order.sums[number] {
                branch.sum(step, lanes);
            }
        }
        match layout.gated {
            Gated::Triples => layer(layout, number, &mut branches, &others, lanes, tool).await?,
            Gated::Products => {
                products(layout, number, &mut branches, &masks, (tool, stock)).await?;
            }
        }
    }
    let mut outputs = vec![zeros::<T>(lanes); formulas.outputs()];
    for (branch, order) in branches.iter_mut().zip(&layout.branches) {
        let last = order.sums.last().into_iter().flatten();
        last.for_each(|&step| branch.sum(step, lanes));
        for (sum, &output) in outputs.iter_mut().zip(branch.formula.outputs()) {
            rings::add_into(sum, branch.value(output, lanes));
        }
    }
    let outputs = outputs.into_iter();
    Ok(outputs
        .map(|output| Shares::ring_of(Sharing::A, output))
        .collect())
}

/// One product for all branches in each slot, with each branch's share of its triple.
async fn layer<T: Held>(
    layout: &RingBranchLayout,
    number: usize,
    branches: &mut [Running<'_, T>],
    others: &[RingSlot<T>],
    lanes: usize,
    tool: &mut RingBranches,
) -> Result<()> {
    let layer = &layout.layers[number];
    let all = layer.slots * lanes;
    // The active branch's factors less its triples' a and b; the other branches add 0.
    let mut masked = zeros::<T>(2 * all);
    let spare = |masked: &mut [T], slot: &RingSlot<T>, length: usize| {
        let from = layer.from.max(length);
        let count = (layer.slots - from) * lanes;
        for part in 0..2 {
            let row = layout.row(MaskKind::Spare(part)) + layer.spare + from - layer.from;
            let to = &mut masked[part * all + from * lanes..][..count];
            rings::add_into(to, &slot.kept[row * lanes..][..count]);
        }
    };
    for (branch, order) in branches.iter().zip(&layout.branches) {
        let products = &order.products[number];
        branch.add_factors(products, &mut masked, layer, lanes);
        let (first, count) = (order.done[number] * lanes, products.len() * lanes);
        for part in 0..2 {
            let of = &branch.triples[part][first..first + count];
            rings::sub_into(&mut masked[part * all..][..count], of);
        }
        spare(&mut masked, &branch.slot, products.len());
    }
    others.iter().for_each(|slot| spare(&mut masked, slot, 0));
    tool.open(&mut masked).await?;
    let (d, e) = masked.split_at(all);
    for (branch, order) in branches.iter_mut().zip(&layout.branches) {
        let formula = branch.formula;
        for (slot, &step) in order.products[number].iter().enumerate() {
            let place = slot * lanes..(slot + 1) * lanes;
            let (d, e) = (&d[place.clone()], &e[place]);
            let first = (order.done[number] + slot) * lanes;
            let [a, b, c] = &branch.triples;
            let [a, b, c] = [a, b, c].map(|of| &of[first..first + lanes]);
            let mut product = zeros::<T>(lanes);
            for (lane, z) in product.iter_mut().enumerate() {
                let (d, e) = (d[lane], e[lane]);
                let both = d.mul(e).mul(branch.slot.hot[lane]);
                let crossed = d.mul(b[lane]).add(e.mul(a[lane]));
                *z = both.add(crossed).add(c[lane]);
            }
            branch.set(formula.inputs() as usize + step, &product);
        }
    }
    Ok(())
}

/// One product for all branches in each slot, opened under a mask of the active branch, of which each makes its own;
/// `masks` has the sums of all branches' masks of products.
async fn products<T: Held>(
    layout: &RingBranchLayout,
    number: usize,
    branches: &mut [Running<'_, T>],
    masks: &[T],
    (tool, stock): (&mut RingBranches, &mut Stock),
) -> Result<()> {
    let layer = &layout.layers[number];
    let lanes = branches[0].slot.hot.len();
    let all = layer.slots * lanes;
    // The active branch's factors: the others are 0.
    let mut factors = zeros::<T>(2 * all);
    for (branch, order) in branches.iter().zip(&layout.branches) {
        branch.add_factors(&order.products[number], &mut factors, layer, lanes);
    }
    let (x, y) = factors.split_at(all);
    let mut made = zeros::<T>(all);
    let mut triples = stock.ring_triples::<T>(all)?;
    tool.mul(&mut triples, x, y, &mut made).await?;
    rings::add_into(&mut made, &masks[layer.first * lanes..][..all]);
    tool.open(&mut made).await?;
    for (branch, order) in branches.iter_mut().zip(&layout.branches) {
        let inputs = branch.formula.inputs() as usize;
        for (slot, &step) in order.products[number].iter().enumerate() {
            let known = &made[slot * lanes..(slot + 1) * lanes];
            let row = layout.row(MaskKind::Product) + layer.first + slot;
            let product = branch.gated(known, row, lanes);
            branch.set(inputs + step, &product);
        }
    }
    Ok(())
}
