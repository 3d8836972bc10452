//! Blocks in replicated sharing among three parties.

use std::ops::Range;

use madrigal_circuit::{And, Rows};
use madrigal_core::{Party, PhaseCost, bits};
use madrigal_kernels as kernels;
use madrigal_net::{Context, Result};
use madrigal_protocols::Rounds;
use madrigal_protocols::replicated::{PARTIES, ReplicatedBits, ReplicatedInputs};
use zeroize::Zeroizing;

use crate::arena::Arena;
use crate::plan::Plan;

pub(crate) struct Replicated {
    me: Party,
    bits: ReplicatedBits,
    inputs: ReplicatedInputs,
}

impl Replicated {
    pub(crate) fn new(context: &Context) -> Result<Self> {
        Ok(Self {
            me: context.me(),
            bits: ReplicatedBits::new(context.clone())?,
            inputs: ReplicatedInputs::new(context.step("inputs"))?,
        })
    }

    pub(crate) fn count_in(&mut self, context: &Context) {
        self.bits.count_in(context);
        self.inputs.count_in(context);
    }

    pub(crate) async fn inputs(
        &mut self,
        plan: &Plan,
        own: &Rows,
        lanes: Range<usize>,
        arena: &mut Arena,
    ) -> Result<()> {
        let counts = input_bits(plan, lanes.len());
        let mut string = Zeroizing::new(vec![0; bits::bytes_for(counts[self.me.index()])]);
        super::pack_own(own, &lanes, &mut string);
        let shares = self.inputs.share(&string, counts).await?;

        let spec = plan.spec();
        // The next row of each owner's string.
        let mut rows = [0; PARTIES];
        let mut used = spec
            .circuit
            .layered()
            .inputs()
            .iter()
            .enumerate()
            .peekable();
        for (wires, owner) in spec.circuit.input_wires().into_iter().zip(&spec.owners) {
            let first = &mut rows[owner.index()];
            while let Some((row, &wire)) =
                used.next_if(|(_, wire)| wires.contains(&(**wire as usize)))
            {
                let at = (*first + wire as usize - wires.start) * lanes.len();
                for (component, share) in shares[owner.index()].iter().enumerate() {
                    let to = arena.row_mut(row as u32, component);
                    bits::take(share, at, to, lanes.len());
                }
            }
            *first += wires.len();
        }
        Ok(())
    }

    pub(crate) async fn ands(&mut self, ands: &[And], arena: &mut Arena) -> Result<()> {
        if arena.lanes().is_multiple_of(64) {
            return self.ands_of_words(ands, arena).await;
        }
        let count = ands.len() * arena.lanes();
        let string = || Zeroizing::new(vec![0; bits::bytes_for(count)]);
        let (mut x, mut y) = ([string(), string()], [string(), string()]);
        for (component, (x, y)) in x.iter_mut().zip(&mut y).enumerate() {
            arena.gather(ands, component, x, y);
        }
        let [x, y] = [&x, &y].map(|string| string.each_ref().map(|part| part.as_slice()));
        let z = self.bits.and(x, y, count).await?;
        for (component, z) in z.iter().enumerate() {
            arena.scatter(ands, component, z);
        }
        Ok(())
    }

    /// Rows without padding are the message as they lie.
    async fn ands_of_words(&mut self, ands: &[And], arena: &mut Arena) -> Result<()> {
        let row = arena.shape().stride * 8;
        let mut z = self.bits.zeros(ands.len() * row);
        kernels::replicated_and_rows(arena.words(), arena.shape(), ands, &mut z);
        let [z, theirs] = self.bits.reshare(z).await?;
        let rows = z.chunks_exact(row).zip(theirs.chunks_exact(row));
        for (and, (first, second)) in ands.iter().zip(rows) {
            arena.row_mut(and.dst, 0).copy_from_slice(first);
            arena.row_mut(and.dst, 1).copy_from_slice(second);
        }
        Ok(())
    }

    pub(crate) async fn open(
        &mut self,
        rows: &[u32],
        arena: &Arena,
        to: &[Party],
    ) -> Result<Option<Zeroizing<Vec<u8>>>> {
        let shares = [0, 1].map(|component| Zeroizing::new(arena.pack(rows, component)));
        let count = rows.len() * arena.lanes();
        let shares = shares.each_ref().map(|share| share.as_slice());
        self.bits.open(shares, count, to).await
    }
}

/// Input bits of each party in a block.
fn input_bits(plan: &Plan, lanes: usize) -> [usize; PARTIES] {
    std::array::from_fn(|party| plan.input_bits_of(Party::new(party)) * lanes)
}

pub(super) fn block_cost(plan: &Plan, me: Party, lanes: usize, clock: &mut Rounds) -> PhaseCost {
    let spec = plan.spec();
    let counts = input_bits(plan, lanes);
    let mut cost = ReplicatedInputs::cost(me, counts);
    ReplicatedInputs::rounds(clock, counts);
    for layer in spec.circuit.layered().layers() {
        cost += ReplicatedBits::and_cost(layer.ands.len() * lanes);
        ReplicatedBits::and_rounds(clock);
    }
    cost += ReplicatedBits::open_cost(me, spec.circuit.output_bits() * lanes, &spec.to);
    ReplicatedBits::open_rounds(clock, &spec.to);
    cost
}
