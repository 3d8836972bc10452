//! Secret branches of ring elements in A: a conditional takes the triples of its largest branch, and opens two
//! elements for each of its products, however many branches there are.
//!
//! Masked Triples and MOTIF are about bits. Over Z_2^l their parts are these; t_k is 1 if branch k is active, else
//! 0, and m are masks that are random where a branch is active and else 0 ([`madrigal_protocols::branches::rings`]
//! makes both ahead of the inputs; how much that takes, too).
//!
//! **Entry.** As in MOTIF all values of a branch that is not active are 0. The parties open x + R for each input x,
//! where R is the sum of all branches' masks, that is the active one's, and t_k x = (x + R) t_k - m_k is local.
//!
//! **Inside.** Sums and products with constants keep zeros, and a constant c is c t_k, without a message. The i-th
//! products of all branches are one: sums over branches of their factors are those of the active branch. Its
//! triple must be that of the active branch's product, wherever in its branch that stands: ahead of the
//! inputs the parties open a + R, b + R', c + R'' of n triples, n being the most products that a branch has, and
//! t_k a = (a + R) t_k - m_k is local. Online they open d = sum_k x_k - t_k a_k and e, once for all branches, and
//!
//! ```text
//! z_k = d e t_k + d t_k b_k + e t_k a_k + t_k c_k
//! ```
//!
//! is the active branch's product, and 0 elsewhere. Where a branch has no product in a slot, or where no branch has a
//! number at all, a spare mask takes the triple's place, so that what is opened is masked whatever is active.
//!
//! **Or two rounds, and fewer masks** ([`Gated::Products`]). Sums of factors may as well be multiplied with a triple that
//! no branch has for its own; then z, the active branch's product, is opened under a mask R of its own, and t_k z = (z + R)
//! t_k - m_k. That takes nothing ahead but masks, one for each slot in place of three for each triple and two spare
//! ones, and opens three elements for each product in place of five; but two rounds for each layer.
//!
//! **Exit.** The sum of all branches' outputs is the active one's: nothing is opened, where a multiplexer takes a
//! product of a bit and a number for each output and each branch but one.
//!
//! For b branches, in c = 2^ceil(log2 b) codes, of n products in m slots, with i inputs and o outputs, in each lane;
//! elements have l bits:
//!
//! | | triples | shared bits | elements opened ahead | elements opened online | rounds online |
//! |---|---|---|---|---|---|
//! | all branches and a multiplexer | b n + (b - 1) o | (b - 1) o | 0 | 2 b n + 2 (b - 1) o | depth + log2 c |
//! | this, triples gated | n | c - 1 with two parties, else 0 | 3 n | 2 m + i | depth + 1 |
//! | products gated | m | the same | 0 | 3 m + i | 2 depth + 1 |
//!
//! and c vector triples of 128 bits with two parties; with N > 2 N (c - 1) of 128 (N - 1) bits, and each mask, of
//! i + 3 n + 2 spare ones or i + m, travels once for each code but one between each two parties. m is n if branches are
//! alike: products are put off where that fills slots that other branches have anyway.
//!
//! **Why not Masked Triples as they are**: there the n triples are used under dropped masks, every branch's products
//! are opened (2 b n elements online), and outputs are opened to be multiplied by t_k, which has to be made as
//! here. What it saves is the 3 n elements ahead and the inputs' opening, less than 2 b n from two branches
//! on. A triple of 32 bits takes some 1.5 kbit from each party to each (SoftSpokenOT, k = 4), an opened element 32 bits.
//!
//! *Security.* All openings are of uniformly shared values that are used once: the number of the active branch under
//! the random code; x + R, a + R, b + R', c + R'' under masks of the hot code, each in one opening; d and e under the
//! active branch's a and b, which after a + R are as uniform as before, R being unknown, or under spare masks: an
//! active product is in one slot, and branches that are not active add 0; where products are gated, sums of factors under a
//! triple of their own, and z, a fresh sharing, under a mask of the hot code. Everything else is local. So each party's
//! view is uniform elements and bits, whatever branch is active, or none; lengths and rounds are the plan's.

mod formula;
mod layout;
mod work;

use std::sync::Arc;

use madrigal_core::{Digest256, Party, Ring, bits};
use madrigal_correlations::Kind;
use madrigal_engine::{
    Bill, Element, Held, Mismatch, Online, Operation, Prepared, PreparedState, Preparing, Shares,
    Sharing, Sort, Tool, Turn,
};
use madrigal_net::{Context, Result};
use madrigal_protocols::Opening;
use madrigal_protocols::branches::rings::RingBranches;

pub use self::formula::{Formula, FormulaStep, Formulas};
pub use self::layout::Gated;
use self::layout::RingBranchLayout;
use self::work::{RingBranchSetup, run};
use crate::shared::in_sharing;

/// The branch of elements in A whose number a value in B has, in each lane; zeros where there is none of that
/// number. Takes the number, then a value for each input; makes one of each output.
pub struct RingBranch {
    formulas: Arc<Formulas>,
    layout: RingBranchLayout,
    digest: [u8; 32],
}

impl RingBranch {
    /// These branches, evaluated like this.
    pub fn new(formulas: Arc<Formulas>, gated: Gated) -> Self {
        Self {
            layout: RingBranchLayout::new(&formulas, gated),
            digest: formulas.digest(),
            formulas,
        }
    }

    fn element(&self) -> Element {
        Element::Ring(self.formulas.width())
    }

    fn lanes(inputs: &[Sort]) -> usize {
        inputs.first().map_or(0, |sort| sort.len)
    }

    fn bill_of<T: Ring>(&self, lanes: usize, bill: &mut Bill) {
        let parties = bill.parties();
        let all: Vec<Party> = Party::all(parties).collect();
        let (layout, wanted) = (&self.layout, self.layout.wanted);
        let element = T::BYTES as u64;
        let pool = layout.pool * lanes;
        bill.ahead(|bill| {
            wanted.needs::<T>(parties, lanes, bill.needs());
            for (bytes, to) in wanted.openings::<T>(parties, lanes) {
                bill.open(bytes, &to);
            }
            for &party in &all {
                bill.aes(party, wanted.aes_blocks::<T>(party, parties, lanes));
            }
            if pool > 0 && layout.gated == Gated::Triples {
                let width = self.formulas.width();
                bill.needs().add(Kind::RingTriples(width), pool);
                bill.open(3 * pool as u64 * element, &all);
            }
            let masks = (wanted.codes() * (1 + wanted.masks) * lanes) as u64;
            bill.touch(4 * masks * element);
        });
        let pooled = match layout.gated {
            Gated::Triples => 3 * pool as u64 * element,
            Gated::Products => 0,
        };
        let kept = wanted.bytes::<T>(lanes) + pooled;
        all.iter().for_each(|&party| bill.keep(party, kept));
        let inputs = (self.formulas.inputs() * lanes) as u64;
        let code = bits::bytes_for(wanted.bits * lanes) as u64;
        bill.open(inputs * element + code, &all);
        for layer in &layout.layers {
            let opened = (layer.slots * lanes) as u64 * element;
            bill.open(2 * opened, &all);
            if layout.gated == Gated::Products {
                bill.open(opened, &all);
            }
        }
        if layout.gated == Gated::Products {
            bill.needs()
                .add(Kind::RingTriples(self.formulas.width()), pool);
        }
        let branches = self.formulas.branches().iter();
        let values: usize = branches
            .map(|branch| branch.values() as usize + 9 * branch.products())
            .sum();
        let rows = 3 * values + wanted.codes() * (1 + wanted.masks);
        bill.touch((rows * lanes) as u64 * element);
    }

    async fn online_of<T: Held>(
        &self,
        turn: &mut Turn<'_>,
        inputs: &[Arc<Shares>],
    ) -> Result<Vec<Shares>> {
        let prepared = turn.prepared::<RingBranchSetup<T>>();
        let (tool, stock) = turn.tool::<RingBranchTool>()?;
        let (code, inputs) = inputs.split_first().expect("the number of a branch");
        let ready = match prepared {
            Some(ready) => *ready,
            None => RingBranchSetup::make(&self.layout, code.len(), &mut tool.0, stock).await?,
        };
        let (formulas, layout) = (&self.formulas, &self.layout);
        let with = (&mut tool.0, stock);
        run::<T>(formulas, layout, ready, code, inputs, with).await
    }

    fn plain_of<T: Held>(&self, code: &[usize], inputs: &[&Shares]) -> Vec<Shares> {
        let mut outputs = vec![vec![T::ZERO; code.len()]; self.formulas.outputs()];
        for (lane, &code) in code.iter().enumerate() {
            if let Some(branch) = self.formulas.branches().get(code) {
                let of = |input: &&Shares| input.component::<T>(0)[lane];
                let inputs: Vec<T> = inputs.iter().map(of).collect();
                let made = branch.evaluate(&inputs);
                outputs
                    .iter_mut()
                    .zip(made)
                    .for_each(|(row, made)| row[lane] = made);
            }
        }
        let outputs = outputs.into_iter();
        outputs
            .map(|output| Shares::ring_of(Sharing::PUBLIC, output))
            .collect()
    }
}

/// [`RingBranches`].
pub struct RingBranchTool(RingBranches);

impl Tool for RingBranchTool {
    const STEP: &'static str = "ring branches";

    fn open(context: Context, opening: Opening) -> Result<Self> {
        Ok(Self(RingBranches::new(&context, opening)?))
    }

    fn count_in(&mut self, context: &Context) {
        self.0.count_in(context);
    }
}

impl Operation for RingBranch {
    fn name(&self) -> String {
        let digest = Digest256(self.digest);
        let layout = &self.layout;
        format!(
            "ring-branches/1 choice among {} branches in A, u{}, {}, {} triples, {} products in {} layers ({digest})",
            self.formulas.branches().len(),
            self.formulas.width().bits(),
            match layout.gated {
                Gated::Triples => "triples gated",
                Gated::Products => "products gated",
            },
            layout.pool,
            layout.slots(),
            layout.layers.len(),
        )
    }

    fn sorts(&self, inputs: &[Sort], _: usize) -> Result<Vec<Sort>, Mismatch> {
        let expected = 1 + self.formulas.inputs();
        let Some((code, values)) = inputs.split_first().filter(|_| inputs.len() == expected) else {
            let given = inputs.len();
            return Err(Mismatch::new(format!(
                "branches take the number of one and {} inputs; {given} values were given",
                expected - 1
            )));
        };
        in_sharing(Sharing::B, code)?;
        if code.element != Element::Bits(self.formulas.index_bits()) {
            let bits = self.formulas.index_bits();
            return Err(Mismatch::new(format!(
                "the number of a branch has {bits} bits, {code} was given"
            )));
        }
        for (index, sort) in values.iter().enumerate() {
            in_sharing(Sharing::A, sort)?;
            if sort.element != self.element() {
                let element = self.element();
                return Err(Mismatch::new(format!(
                    "input {index} of the branches is {element}, {sort} was given"
                )));
            }
        }
        let sort = Sort::new(Sharing::A, self.element(), Self::lanes(inputs));
        Ok(vec![sort; self.formulas.outputs()])
    }

    fn bits_at_work(&self, _: &[Sort]) -> usize {
        let wanted = self.layout.wanted;
        let branches = self.formulas.branches().iter();
        let values: usize = branches
            .map(|branch| branch.values() as usize + 3 * branch.products())
            .sum();
        let elements = 2 * wanted.codes() * (1 + wanted.masks) + 3 * self.layout.pool + values;
        elements * self.formulas.width().bits()
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        let lanes = Self::lanes(inputs);
        crate::with_ring!(self.formulas.width(), T => self.bill_of::<T>(lanes, bill));
    }

    fn prepares(&self, _: &[Sort]) -> bool {
        true
    }

    fn prepare<'a>(&'a self, turn: &'a mut Turn<'_>, inputs: Vec<Arc<Shares>>) -> Preparing<'a> {
        Box::pin(async move {
            let lanes = inputs.first().map_or(0, |value| value.len());
            let sort = Sort::new(Sharing::A, self.element(), lanes);
            let (tool, stock) = turn.tool::<RingBranchTool>()?;
            let kept: PreparedState = crate::with_ring!(self.formulas.width(), T => {
                Box::new(RingBranchSetup::<T>::make(&self.layout, lanes, &mut tool.0, stock).await?)
            });
            let outputs = self.formulas.outputs();
            Ok(Prepared {
                results: (0..outputs).map(|_| Shares::unknown(sort)).collect(),
                kept,
            })
        })
    }

    fn online<'a>(&'a self, turn: &'a mut Turn<'_>, inputs: Vec<Arc<Shares>>) -> Online<'a> {
        Box::pin(async move {
            crate::with_ring!(self.formulas.width(), T => {
                self.online_of::<T>(turn, &inputs).await
            })
        })
    }

    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        let (code, inputs) = inputs
            .split_first()
            .ok_or_else(|| Mismatch::new("the number of a branch is missing"))?;
        let mut numbers = vec![0; code.len()];
        for bit in 0..self.formulas.index_bits() {
            let plane = code.plane(bit, 0);
            for (lane, number) in numbers.iter_mut().enumerate() {
                *number |= usize::from(plane[lane / 8] >> (lane % 8) & 1) << bit;
            }
        }
        Ok(crate::with_ring!(self.formulas.width(), T => {
            self.plain_of::<T>(&numbers, inputs)
        }))
    }
}
