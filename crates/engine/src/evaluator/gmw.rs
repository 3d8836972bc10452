//! Blocks in Boolean GMW.

use std::ops::Range;

use madrigal_circuit::{And, Rows};
use madrigal_core::{Party, PhaseCost, bits};
use madrigal_correlations::BitTriples;
use madrigal_net::{Context, Result};
use madrigal_protocols::Rounds;
use madrigal_protocols::gmw::{self, BooleanGmw, InputSharing};
use zeroize::Zeroizing;

use crate::arena::Arena;
use crate::plan::Plan;

pub(crate) struct Gmw {
    me: Party,
    gmw: BooleanGmw,
    /// By the owner's number.
    inputs: Vec<InputSharing>,
    x: Zeroizing<Vec<u8>>,
    y: Zeroizing<Vec<u8>>,
    z: Zeroizing<Vec<u8>>,
}

impl Gmw {
    pub(crate) fn new(plan: &Plan, context: &Context) -> Result<Self> {
        let lanes = plan.block_lanes().min(plan.spec().lanes);
        // Room for the widest layer at once: a string that grows leaves its bytes in freed memory.
        let widest = bits::bytes_for(plan.spec().circuit.layered().widest_layer() * lanes);
        let string = || Zeroizing::new(Vec::with_capacity(widest));
        let inputs = Party::all(context.parties()).map(|owner| {
            let step = context.step(&format!("inputs of {owner}"));
            InputSharing::new(step, owner)
        });
        Ok(Self {
            me: context.me(),
            gmw: BooleanGmw::new(context.clone(), plan.spec().opening)?,
            inputs: inputs.collect::<Result<_>>()?,
            x: string(),
            y: string(),
            z: string(),
        })
    }

    pub(crate) fn count_in(&mut self, context: &Context) {
        self.gmw.count_in(context);
    }

    pub(crate) fn inputs(
        &mut self,
        plan: &Plan,
        own: &Rows,
        lanes: Range<usize>,
        arena: &mut Arena,
    ) {
        let spec = plan.spec();
        let stride = Rows::stride_for(lanes.len());
        let mut own_row = 0;
        let mut used = spec
            .circuit
            .layered()
            .inputs()
            .iter()
            .enumerate()
            .peekable();
        for (wires, &owner) in spec.circuit.input_wires().into_iter().zip(&spec.owners) {
            let mut share = Zeroizing::new(vec![0; wires.len() * stride]);
            if owner == self.me && !wires.is_empty() {
                for row in share.chunks_exact_mut(stride) {
                    bits::take(own.row(own_row), lanes.start, row, lanes.len());
                    own_row += 1;
                }
            }
            self.inputs[owner.index()].share(&mut share);
            while let Some((row, &wire)) =
                used.next_if(|(_, wire)| wires.contains(&(**wire as usize)))
            {
                let from = (wire as usize - wires.start) * stride;
                arena
                    .row_mut(row as u32, 0)
                    .copy_from_slice(&share[from..from + stride]);
            }
        }
    }

    pub(crate) async fn ands(
        &mut self,
        ands: &[And],
        arena: &mut Arena,
        triples: &mut BitTriples,
    ) -> Result<()> {
        let count = ands.len() * arena.lanes();
        for string in [&mut self.x, &mut self.y, &mut self.z] {
            string.resize(bits::bytes_for(count), 0);
        }
        arena.gather(ands, 0, &mut self.x, &mut self.y);
        self.gmw
            .and(triples, &self.x, &self.y, count, &mut self.z)
            .await?;
        arena.scatter(ands, 0, &self.z);
        Ok(())
    }

    pub(crate) async fn open(
        &mut self,
        rows: &[u32],
        arena: &Arena,
        to: &[Party],
    ) -> Result<Option<Zeroizing<Vec<u8>>>> {
        let shares = Zeroizing::new(arena.pack(rows, 0));
        self.gmw.open(&shares, rows.len() * arena.lanes(), to).await
    }
}

pub(super) fn block_cost(plan: &Plan, me: Party, lanes: usize, clock: &mut Rounds) -> PhaseCost {
    let spec = plan.spec();
    let parties = spec.parties;
    let all: Vec<Party> = Party::all(parties).collect();
    let mut cost = PhaseCost::default();
    let stride = Rows::stride_for(lanes);
    for (owner, width) in spec.owners.iter().zip(spec.circuit.inputs()) {
        let bytes = u64::from(*width) * stride as u64;
        cost.aes_blocks += gmw::share_aes_blocks(me, *owner, parties, bytes);
    }
    for layer in spec.circuit.layered().layers() {
        cost += BooleanGmw::and_cost(spec.opening, me, parties, layer.ands.len() * lanes);
        clock.open(spec.opening, &all);
    }
    let output = spec.circuit.output_bits() * lanes;
    cost += BooleanGmw::open_cost(spec.opening, me, parties, output, &spec.to);
    clock.open(spec.opening, &spec.to);
    cost
}
