//! Layout of branches of ring elements: in which layer each product is done, and which masks belong to it.

use madrigal_protocols::branches::rings::RingWanted;

use super::formula::{Formula, FormulaStep, Formulas};

/// Values that the bit which is 1 on the active branch is multiplied with, so that products of all branches are one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Gated {
    /// The triples, ahead of the inputs: a round for each layer.
    Triples,
    /// Each product as it is made: two rounds for each layer, and fewer masks.
    Products,
}

impl Gated {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Triples, Self::Products];
}

/// Branches as they are evaluated.
pub(super) struct RingBranchLayout {
    pub(super) gated: Gated,
    pub(super) wanted: RingWanted,
    pub(super) inputs: usize,
    /// Triples that all branches share: as many as the one with most products has; where products are gated, one
    /// for each slot.
    pub(super) pool: usize,
    /// Masks for products that a code has not, in all layers.
    pub(super) spare: usize,
    pub(super) layers: Vec<ProductLayer>,
    pub(super) branches: Vec<StepOrder>,
}

/// Layer: products whose openings go together.
pub(super) struct ProductLayer {
    /// Products that are done as one.
    pub(super) slots: usize,
    /// From which one on some code has none.
    pub(super) from: usize,
    /// Spare masks used before.
    pub(super) spare: usize,
    /// Slots before.
    pub(super) first: usize,
}

/// The steps of a branch in the order in which they are done.
pub(super) struct StepOrder {
    /// For each layer, and after the last, the sums that are computed before it.
    pub(super) sums: Vec<Vec<usize>>,
    /// For each layer its products.
    pub(super) products: Vec<Vec<usize>>,
    /// For each layer how many products were before.
    pub(super) done: Vec<usize>,
}

/// Kind of mask that a row belongs to.
#[derive(Clone, Copy)]
pub(super) enum MaskKind {
    /// Mask of an input.
    Input,
    /// Mask of a, b or c of a triple.
    Triple(usize),
    /// Where a factor would be, the first or the second.
    Spare(usize),
    /// Mask of a product.
    Product,
}

impl RingBranchLayout {
    pub(super) fn new(formulas: &Formulas, gated: Gated) -> Self {
        let branches = formulas.branches();
        let depth = branches.iter().map(depth).max().unwrap_or(0) as usize;
        let orders = orders(branches, depth);
        let full = branches.len() == 1 << formulas.index_bits();
        let (mut spare, mut first) = (0, 0);
        let mut layers = Vec::with_capacity(depth);
        for layer in 0..depth {
            let lengths = || orders.iter().map(|order| order.products[layer].len());
            let slots = lengths().max().unwrap_or(0);
            let from = match gated {
                Gated::Products => slots,
                Gated::Triples if full => lengths().min().unwrap_or(0),
                Gated::Triples => 0,
            };
            layers.push(ProductLayer {
                slots,
                from,
                spare,
                first,
            });
            spare += slots - from;
            first += slots;
        }
        let most = branches.iter().map(Formula::products).max().unwrap_or(0);
        let (pool, masks) = match gated {
            Gated::Triples => (most, 3 * most + 2 * spare),
            Gated::Products => (first, first),
        };
        Self {
            gated,
            inputs: formulas.inputs(),
            wanted: RingWanted {
                bits: formulas.index_bits(),
                masks: formulas.inputs() + masks,
            },
            pool,
            spare,
            layers,
            branches: orders,
        }
    }

    /// The first row of masks of a kind.
    pub(super) fn row(&self, part: MaskKind) -> usize {
        match part {
            MaskKind::Input => 0,
            MaskKind::Product => self.inputs,
            MaskKind::Triple(part) => self.inputs + part * self.pool,
            MaskKind::Spare(part) => self.inputs + 3 * self.pool + part * self.spare,
        }
    }

    /// Products of all layers, as they are opened.
    pub(super) fn slots(&self) -> usize {
        self.layers.iter().map(|layer| layer.slots).sum()
    }
}

/// Values of a step.
fn operands(step: &FormulaStep) -> Vec<u32> {
    match step {
        FormulaStep::Linear { terms, .. } => terms.iter().map(|&(value, _)| value).collect(),
        &FormulaStep::Product(x, y) => vec![x, y],
    }
}

/// For each value how many products are one after the other before it.
fn depths(formula: &Formula) -> Vec<u32> {
    let mut depths = vec![0; formula.inputs() as usize];
    for step in formula.steps() {
        let before = operands(step)
            .into_iter()
            .map(|value| depths[value as usize]);
        let before = before.max().unwrap_or(0);
        let own = u32::from(matches!(step, FormulaStep::Product(..)));
        depths.push(before + own);
    }
    depths
}

fn depth(formula: &Formula) -> u32 {
    depths(formula).into_iter().max().unwrap_or(0)
}

/// For each value after how many of `layers` layers it must be there.
fn deadlines(formula: &Formula, layers: usize) -> Vec<usize> {
    let mut deadlines = vec![layers; formula.values() as usize];
    for (number, step) in formula.steps().iter().enumerate().rev() {
        let own = deadlines[formula.inputs() as usize + number];
        let before = match step {
            FormulaStep::Linear { .. } => own,
            FormulaStep::Product(..) => own.saturating_sub(1),
        };
        for value in operands(step) {
            let deadline = &mut deadlines[value as usize];
            *deadline = before.min(*deadline);
        }
    }
    deadlines
}

/// Products are put off where that fills layers that other branches need anyway: those with the least room
/// choose first.
fn orders(branches: &[Formula], layers: usize) -> Vec<StepOrder> {
    let mut first: Vec<usize> = (0..branches.len()).collect();
    first.sort_by_key(|&branch| {
        let formula = &branches[branch];
        (std::cmp::Reverse(depth(formula)), formula.products())
    });
    let mut slots = vec![0; layers];
    let mut orders: Vec<Option<StepOrder>> = branches.iter().map(|_| None).collect();
    for branch in first {
        orders[branch] = Some(order(&branches[branch], &mut slots));
    }
    orders.into_iter().flatten().collect()
}

/// The steps of one branch; `slots` is how many products each layer has so far, and grows.
fn order(formula: &Formula, slots: &mut [usize]) -> StepOrder {
    let layers = slots.len();
    let deadlines = deadlines(formula, layers);
    let inputs = formula.inputs() as usize;
    // After how many layers a value is there.
    let mut ready: Vec<Option<usize>> = vec![Some(0); inputs];
    ready.resize(formula.values() as usize, None);
    let mut left: Vec<usize> = (0..formula.steps().len()).collect();
    let mut order = StepOrder {
        sums: Vec::with_capacity(layers + 1),
        products: Vec::with_capacity(layers),
        done: Vec::with_capacity(layers),
    };
    let mut done = 0;
    for layer in 0..=layers {
        let (mut sums, mut open) = (Vec::new(), Vec::new());
        left.retain(|&number| {
            let step = &formula.steps()[number];
            let there = |value: u32| ready[value as usize].is_some_and(|after| after <= layer);
            if !operands(step).into_iter().all(there) {
                return true;
            }
            match step {
                FormulaStep::Linear { .. } => {
                    ready[inputs + number] = Some(layer);
                    sums.push(number);
                    false
                }
                FormulaStep::Product(..) => {
                    open.push(number);
                    true
                }
            }
        });
        order.sums.push(sums);
        let Some(slots) = slots.get_mut(layer) else {
            break;
        };
        open.sort_by_key(|&number| deadlines[inputs + number]);
        let due = |&&number: &&usize| deadlines[inputs + number] <= layer + 1;
        let must = open.iter().filter(due).count();
        open.truncate(must.max(*slots));
        *slots = open.len().max(*slots);
        open.sort_unstable();
        open.iter()
            .for_each(|&number| ready[inputs + number] = Some(layer + 1));
        left.retain(|number| open.binary_search(number).is_err());
        order.done.push(done);
        done += open.len();
        order.products.push(open);
    }
    debug_assert!(left.is_empty(), "steps that nothing makes ready");
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use madrigal_correlations::Width;

    fn chain(products: usize) -> Formula {
        let mut formula = Formula::new(2);
        let mut value = 0;
        for _ in 0..products {
            let product = formula.product(value, 1);
            value = formula.linear(vec![(product, 1), (0, 3)], 5);
        }
        formula.output(value);
        formula
    }

    fn wide(products: usize) -> Formula {
        let mut formula = Formula::new(2);
        let made: Vec<_> = (0..products).map(|_| (formula.product(0, 1), 1)).collect();
        let sum = formula.linear(made, 0);
        formula.output(sum);
        formula
    }

    #[test]
    fn branches_share_slots_whatever_their_shape() {
        let formulas = Formulas::new(Width::W32, vec![wide(10), chain(4), wide(0), chain(2)]);
        let layout = RingBranchLayout::new(&formulas, Gated::Triples);
        assert_eq!((layout.pool, layout.layers.len()), (10, 4));
        assert_eq!(layout.slots(), 10);
        assert_eq!(layout.wanted.masks, 2 + 30 + 20);
        let layout = RingBranchLayout::new(&formulas, Gated::Products);
        assert_eq!((layout.pool, layout.wanted.masks), (10, 2 + 10));
    }

    #[test]
    fn what_all_codes_have_needs_no_spare_masks() {
        let formulas = Formulas::new(Width::W8, vec![wide(3), wide(3)]);
        assert_eq!(RingBranchLayout::new(&formulas, Gated::Triples).spare, 0);
        let formulas = Formulas::new(Width::W8, vec![wide(3); 3]);
        assert_eq!(RingBranchLayout::new(&formulas, Gated::Triples).spare, 3);
    }
}
