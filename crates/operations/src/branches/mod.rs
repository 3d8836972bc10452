//! Circuits with secret branches in B: what a conditional costs is near to what its largest branch costs.
//!
//! For a conditional of b branches with n ANDs each, in m layers' slots (in each layer, the most ANDs that a
//! branch has there: n if branches are alike, up to b n):
//!
//! | scheme | triples | bits opened | source |
//! |---|---|---|---|
//! | plain: all branches, multiplexed ([`crate::Netlist`]) | b n | 2 b n | |
//! | [`Scheme::Vectors`] | m vector triples of up to b bits | (b + 1) m | MOTIF |
//! | [`Scheme::Masked`] | n | 2 b n | Masked Triples |
//! | [`Scheme::Merged`] | n | 3 n ahead, 2 m online | ours, below |
//!
//! Beside that there are masks (see [`madrigal_protocols::branches`]): with two parties some kilobits whatever n,
//! with more as many bits for each pair as masks.
//!
//! **Merged ANDs.** As in MOTIF all values of a branch that is not active are 0, so that the sum over branches of
//! the operands of their i-th ANDs is that of the active one: one Beaver multiplication serves all. Its triple must be
//! that of the active branch's AND, wherever in its branch that stands, and nobody may know which. So from n
//! triples (a, b, c) the parties make, ahead of the inputs, shares of t_k a, t_k b, t_k c for each branch k, where
//! t_k is 1 if k is active: with random bits R of which t_k R is shared, which two parties have by expanding
//! seeds, they open a + R, and t_k a = (a + R) t_k + t_k R is local. Online they open d = sum_k x_k + sum_k t_k a_k and e,
//! once for all branches, and the result for branch k is d e t_k + d t_k b_k + e t_k a_k + t_k c_k: the active branch's
//! product, and 0 elsewhere, as the next layer wants it. Where some branch has no i-th AND in a layer, its place
//! in d and e is taken by t_k times a spare random bit, so that what is opened is masked whatever branch is active.
//!
//! *Security.* All openings are of uniformly shared bits that are used once: a + R, b + R', c + R'' by R's, d
//! and e by the active branch's a and b or by spare bits, each of which is in one opening: an AND of the active branch
//! is in one slot, and branches that are not active add 0. So each party's view is uniform bits, whatever branch is
//! active.

mod layout;
mod work;

use std::sync::Arc;

use madrigal_circuit::Rows;
use madrigal_circuit::branches::{Branching, Layering};
use madrigal_core::{Digest256, Party, bits};
use madrigal_correlations::Kind;
use madrigal_engine::{
    Bill, Element, Mismatch, Online, Operation, Prepared, Preparing, Shares, Sharing, Sort, Tool,
    Turn,
};
use madrigal_net::{Context, Result};
use madrigal_protocols::Opening;
use madrigal_protocols::branches::{Branches, openings};

pub use self::layout::Scheme;

use self::layout::BranchLayout;
use self::work::{BranchSetup, BranchesAtWork};
use crate::shared::{bits_of, from_rows, in_sharing, to_rows};

/// A circuit with branches, in each element of vectors in B. Takes a value for each of its inputs and makes one of
/// each of its outputs.
pub struct Branch {
    branching: Arc<Branching>,
    layout: BranchLayout,
    layering: Layering,
    digest: [u8; 32],
}

impl Branch {
    /// This circuit, evaluated like this. It has at least one input.
    pub fn new(branching: Arc<Branching>, scheme: Scheme) -> Self {
        Self::layered(branching, scheme, Layering::default())
    }

    /// This circuit, with ANDs in other layers.
    pub fn layered(branching: Arc<Branching>, scheme: Scheme, layering: Layering) -> Self {
        Self {
            layout: BranchLayout::new(&branching, scheme, layering),
            layering,
            digest: branching.digest(),
            branching,
        }
    }

    /// Triples of one kind or another that it takes in each lane: OTs for each ordered pair of parties.
    pub fn triples(&self) -> usize {
        let vectors = self.layout.vector_triples().map(|(_, count)| count);
        self.layout.triples + self.layout.pooled() + vectors.sum::<usize>()
    }

    fn lanes(inputs: &[Sort]) -> usize {
        inputs.first().map_or(0, |sort| sort.len)
    }

    fn outputs(&self, sharing: Sharing, lanes: usize) -> Vec<Sort> {
        bits_of(self.branching.outputs(), sharing, lanes)
    }
}

/// [`Branches`].
pub struct BranchTool(Branches);

impl Tool for BranchTool {
    const STEP: &'static str = "branches";

    fn open(context: Context, opening: Opening) -> Result<Self> {
        Ok(Self(Branches::new(context, opening)?))
    }

    fn count_in(&mut self, context: &Context) {
        self.0.count_in(context);
    }
}

impl Operation for Branch {
    fn name(&self) -> String {
        let digest = Digest256(self.digest);
        let layering = match self.layering {
            Layering::Aligned => "",
            Layering::ByDepth => " by depth",
        };
        format!(
            "branches/1 {} in B, {}{layering}, {} ANDs in {} layers ({digest})",
            self.branching.name(),
            self.layout.scheme.name(),
            self.layout.program.and_count(),
            self.layout.program.depth(),
        )
    }

    fn sorts(&self, inputs: &[Sort], _: usize) -> Result<Vec<Sort>, Mismatch> {
        let widths = self.branching.inputs();
        if widths.len() != inputs.len() || inputs.is_empty() {
            let (want, got) = (widths.len(), inputs.len());
            return Err(Mismatch::new(format!(
                "the circuit has {want} inputs, of which there must be one; {got} were given"
            )));
        }
        for (index, (sort, &width)) in inputs.iter().zip(widths).enumerate() {
            in_sharing(Sharing::B, sort)?;
            if sort.element != Element::Bits(width as usize) {
                return Err(Mismatch::new(format!(
                    "input {index} of the circuit has {width} bits, {sort} was given"
                )));
            }
        }
        Ok(self.outputs(Sharing::B, Self::lanes(inputs)))
    }

    fn bits_at_work(&self, _: &[Sort]) -> usize {
        let masks = self.layout.conditionals.iter().map(|place| {
            let wanted = place.wanted;
            wanted.codes() * (1 + wanted.kept + wanted.dropped) + 3 * place.pool
        });
        self.layout.program.rows() + masks.sum::<usize>()
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        let (lanes, parties) = (Self::lanes(inputs), bill.parties());
        let all: Vec<Party> = Party::all(parties).collect();
        let layout = &self.layout;
        let wanted = layout.wanted();
        bill.ahead(|bill| {
            for wanted in &wanted {
                wanted.needs(parties, lanes, bill.needs());
            }
            bill.needs().add(Kind::BitTriples, layout.pooled() * lanes);
            for (bytes, to) in openings(&wanted, parties, lanes).in_order(parties) {
                bill.open(bytes, &to);
            }
            let pooled = 3 * layout.pooled() * lanes;
            if pooled > 0 {
                bill.open(bits::bytes_for(pooled) as u64, &all);
            }
            for &party in &all {
                let blocks = wanted.iter();
                let blocks = blocks.map(|wanted| wanted.aes_blocks(party, parties, lanes));
                bill.aes(party, blocks.sum());
            }
        });
        let kept = wanted.iter().map(|wanted| wanted.bytes(lanes)).sum::<u64>();
        let pools = (3 * layout.pooled() * lanes / 8) as u64;
        all.iter().for_each(|&party| bill.keep(party, kept + pools));
        bill.needs().add(Kind::BitTriples, layout.triples * lanes);
        for (length, count) in layout.vector_triples() {
            bill.needs()
                .add(Kind::VectorTriples { length }, count * lanes);
        }
        for layer in &layout.layers {
            if layer.rows > 0 {
                bill.open(bits::bytes_for(layer.rows * lanes) as u64, &all);
            }
        }
        let program = &layout.program;
        let rows = 3 * program.local_count() + 16 * program.and_count();
        bill.touch((rows * Rows::stride_for(lanes)) as u64);
    }

    fn prepares(&self, _: &[Sort]) -> bool {
        true
    }

    fn prepare<'a>(&'a self, turn: &'a mut Turn<'_>, inputs: Vec<Arc<Shares>>) -> Preparing<'a> {
        Box::pin(async move {
            let lanes = inputs.first().map_or(0, |value| value.len());
            let (tool, stock) = turn.tool::<BranchTool>()?;
            let ready = BranchSetup::make(&self.layout, lanes, &mut tool.0, stock).await?;
            let outputs = self.outputs(Sharing::B, lanes).into_iter();
            Ok(Prepared {
                results: outputs.map(Shares::unknown).collect(),
                kept: Box::new(ready),
            })
        })
    }

    fn online<'a>(&'a self, turn: &'a mut Turn<'_>, inputs: Vec<Arc<Shares>>) -> Online<'a> {
        Box::pin(async move {
            let lanes = inputs.first().map_or(0, |value| value.len());
            let (mut arena, prepared) = (turn.scratch(), turn.prepared::<BranchSetup>());
            let (tool, stock) = turn.tool::<BranchTool>()?;
            let ready = match prepared {
                Some(ready) => *ready,
                None => BranchSetup::make(&self.layout, lanes, &mut tool.0, stock).await?,
            };
            let work =
                BranchesAtWork::new(&self.layout, lanes, ready, &mut arena, &mut tool.0, stock)?;
            let rows = work.run(&inputs).await?;
            let mut outputs = Vec::new();
            let mut rows = rows.into_iter();
            for sort in self.outputs(Sharing::B, lanes) {
                let mut value = Shares::zeros(sort);
                for (plane, row) in rows.by_ref().take(sort.element.bits()).enumerate() {
                    value.plane_mut(plane, 0).copy_from_slice(arena.row(row, 0));
                }
                outputs.push(value);
            }
            turn.keep_scratch(arena);
            Ok(outputs)
        })
    }

    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        let lanes = inputs.first().map_or(0, |value| value.len());
        let made = self
            .branching
            .evaluate(&to_rows(inputs.iter().copied(), lanes));
        Ok(from_rows(self.outputs(Sharing::PUBLIC, lanes), &made))
    }
}
