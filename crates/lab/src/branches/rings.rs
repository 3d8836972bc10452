//! Branches of products of 32-bit numbers in A: all of them and a multiplexer, and at the cost of one.
//!
//! A branch keeps sixteen numbers. In each layer it multiplies pairs of them, drawn at random, and adds the
//! products to the numbers in turn.

use std::sync::Arc;

use madrigal_correlations::Width;
use madrigal_engine::{Element, Graph, GraphError, Shares, Sharing, Sort, Value};
use madrigal_kernels::{Block, Prg};
use madrigal_operations::{
    ArithmeticGmwTool, BitTimes, BooleanGmwTool, Formula, Formulas, Gated, Layout, Linear, Mul,
    Open, Rearrange, RingBranch, Share,
};

use madrigal_circuit::Rows;
use madrigal_circuit::branches::index_bits;
use madrigal_core::Party;

use super::measure::{Planned, Setting};
use crate::exit::{Failure, Result};
use crate::graphs::Measured;

type A = ArithmeticGmwTool;
type B = BooleanGmwTool;

/// Numbers that a branch keeps: its inputs, and in the end its outputs.
const KEPT: usize = 16;

/// How branches are evaluated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// Every branch, and a multiplexer.
    All,
    /// All branches are computed at the cost of one.
    One(Gated),
}

impl Way {
    pub(super) const ALL: [Self; 3] = [
        Self::All,
        Self::One(Gated::Triples),
        Self::One(Gated::Products),
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::All => "rings/all",
            Self::One(Gated::Triples) => "rings/one",
            Self::One(Gated::Products) => "rings/two-rounds",
        }
    }
}

/// A branch: for each layer the factors of each product.
type Branch = Vec<Vec<[usize; 2]>>;

/// Draws this many random branches.
fn drawn(branches: usize, layers: usize, products: usize, seed: u64) -> Vec<Branch> {
    let mut prg = Prg::new(Block::new(seed, 0x7269));
    let mut pair = || {
        let bytes = prg.next_block().to_bytes();
        [bytes[0], bytes[1]].map(|byte| usize::from(byte) % KEPT)
    };
    let layer = |number: usize| {
        let before = products * number / layers;
        products * (number + 1) / layers - before
    };
    (0..branches)
        .map(|_| {
            let layers = (0..layers).map(|number| (0..layer(number)).map(|_| pair()).collect());
            layers.collect()
        })
        .collect()
}

fn formula(branch: &Branch) -> Formula {
    let mut formula = Formula::new(KEPT as u32);
    let mut kept: Vec<u32> = (0..KEPT as u32).collect();
    for layer in branch {
        let products = layer
            .iter()
            .map(|&[x, y]| formula.product(kept[x], kept[y]));
        let products: Vec<u32> = products.collect();
        for (place, number) in kept.iter_mut().enumerate() {
            let added = products.iter().skip(place).step_by(KEPT);
            let terms = std::iter::once(*number).chain(added.copied());
            *number = formula.linear(terms.map(|value| (value, 1)).collect(), 0);
        }
    }
    kept.iter().for_each(|&number| formula.output(number));
    formula
}

/// Elements of a vector by their numbers.
fn picked(
    graph: &mut Graph,
    from: Value,
    places: Vec<u32>,
) -> std::result::Result<Value, GraphError> {
    graph.add_one(Rearrange::new(Layout::Picked(places.into())), &[from])
}

/// One branch after another, on vectors of all lanes of all numbers.
fn all(
    graph: &mut Graph,
    branches: &[Branch],
    bits: &[Value],
    numbers: Value,
    lanes: usize,
) -> std::result::Result<Value, GraphError> {
    let rows = |rows: &[usize]| -> Vec<u32> {
        let row = |&row: &usize| (row * lanes..(row + 1) * lanes).map(|at| at as u32);
        rows.iter().flat_map(row).collect()
    };
    let mut made = Vec::new();
    for branch in branches {
        let mut kept = numbers;
        for layer in branch {
            let side = |side: usize| rows(&layer.iter().map(|pair| pair[side]).collect::<Vec<_>>());
            let x = picked(graph, kept, side(0))?;
            let y = picked(graph, kept, side(1))?;
            let products = graph.add_one(Mul::<A>::new(), &[x, y])?;
            // Rows of sixteen products, of which the last may have fewer.
            for first in (0..layer.len()).step_by(KEPT) {
                let count = KEPT.min(layer.len() - first);
                let these: Vec<usize> = (first..first + count).collect();
                let these = picked(graph, products, rows(&these))?;
                if count == KEPT {
                    kept = graph.add_one(Linear::<A>::sum(), &[kept, these])?;
                    continue;
                }
                let own: Vec<usize> = (0..count).collect();
                let rest: Vec<usize> = (count..KEPT).collect();
                let own = picked(graph, kept, rows(&own))?;
                let rest = picked(graph, kept, rows(&rest))?;
                let sum = graph.add_one(Linear::<A>::sum(), &[own, these])?;
                let join = madrigal_operations::Concat { rows: 1 };
                kept = graph.add_one(join, &[sum, rest])?;
            }
        }
        made.push(kept);
    }
    for &bit in bits {
        let places: Vec<u32> = (0..KEPT * lanes).map(|at| (at % lanes) as u32).collect();
        let bit = picked(graph, bit, places)?;
        let mut next = Vec::new();
        for pair in made.chunks(2) {
            let (factors, values) = match *pair {
                [zero, one] => (vec![u128::MAX, 1], vec![zero, one]),
                _ => (vec![u128::MAX], vec![pair[0]]),
            };
            let change = graph.add_one(Linear::<A>::new(factors, 0), &values)?;
            let change = graph.add_one(BitTimes::<A>::new(), &[bit, change])?;
            next.push(graph.add_one(Linear::<A>::sum(), &[pair[0], change])?);
        }
        made = next;
    }
    Ok(made[0])
}

/// Computes all branches at the cost of one.
fn one(
    graph: &mut Graph,
    branch: RingBranch,
    number: Value,
    numbers: Value,
    lanes: usize,
) -> std::result::Result<Vec<Value>, GraphError> {
    let mut inputs = vec![number];
    for row in 0..KEPT {
        let places = (row * lanes..(row + 1) * lanes).map(|at| at as u32);
        inputs.push(picked(graph, numbers, places.collect())?);
    }
    graph.add(Arc::new(branch), &inputs)
}

/// A plan, and what the parties bring: the first one the number of the active branch, the second one numbers.
pub(super) struct Rings {
    pub(super) planned: Planned,
    inputs: Vec<Shares>,
    expected: Vec<Shares>,
}

impl Rings {
    pub(super) fn new(
        way: Way,
        branches: usize,
        [layers, products]: [usize; 2],
        seed: u64,
        setting: &Setting,
    ) -> Result<Self> {
        let (lanes, owners) = (setting.lanes, [0, 1].map(Party::new));
        let branches = drawn(branches, layers, products, seed);
        let mut graph = Graph::new(setting.parties);
        let mut prg = Prg::new(Block::new(seed, 0x6c61));
        let bits = index_bits(branches.len());
        let mut rows = Rows::new(bits, lanes);
        prg.fill(rows.as_bytes_mut());
        rows.clear_padding();
        let mut numbers = vec![0_u32; KEPT * lanes];
        prg.fill(madrigal_kernels::rings::as_bytes_mut(&mut numbers));
        let clear = owners.map(|owner| Sharing::clear(&[owner]));
        // A multiplexer takes the bits one by one.
        let parts: Vec<Rows> = match way {
            Way::One(_) => vec![rows],
            Way::All => {
                let row = |bit: usize| {
                    let mut part = Rows::new(1, lanes);
                    part.row_mut(0).copy_from_slice(rows.row(bit));
                    part
                };
                (0..bits).map(row).collect()
            }
        };
        let mut inputs = Vec::new();
        let mut shared = Vec::new();
        for part in &parts {
            let sort = Sort::new(clear[0], Element::Bits(part.rows()), lanes);
            let input = graph.input(sort);
            let share = Share::<B>::new(owners[0]);
            shared.push(graph.add_one(share, &[input]).map_err(Failure::bug)?);
            inputs.push(Shares::rows(clear[0], part));
        }
        let sort = Sort::new(clear[1], Element::Ring(Width::W32), KEPT * lanes);
        let input = graph.input(sort);
        let share = Share::<A>::new(owners[1]);
        let values = graph.add_one(share, &[input]).map_err(Failure::bug)?;
        inputs.push(Shares::ring_of(clear[1], numbers));
        let made = match way {
            Way::One(gated) => {
                let formulas = branches.iter().map(formula).collect();
                let formulas = Arc::new(Formulas::new(Width::W32, formulas));
                let branch = RingBranch::new(formulas, gated);
                one(&mut graph, branch, shared[0], values, lanes)
            }
            Way::All => all(&mut graph, &branches, &shared, values, lanes).map(|made| vec![made]),
        };
        let everyone: Vec<Party> = Party::all(setting.parties).collect();
        for value in made.map_err(Failure::bug)? {
            let open = Open::<A>::new(everyone.clone());
            let opened = graph.add_one(open, &[value]).map_err(Failure::bug)?;
            graph.output(opened);
        }
        let expected = graph.simulate(&inputs).map_err(Failure::bug)?;
        Ok(Self {
            planned: setting.planned(graph)?,
            inputs,
            expected,
        })
    }

    pub(super) fn measure(&self, setting: &Setting) -> Result<Measured> {
        let right = |opened: &[Shares]| {
            let pairs = opened.iter().zip(&self.expected);
            opened.len() == self.expected.len()
                && pairs
                    .into_iter()
                    .all(|(a, b)| a.component::<u32>(0) == b.component::<u32>(0))
        };
        self.planned.measure(&self.inputs, &right, setting)
    }
}
