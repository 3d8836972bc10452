//! Replicated sharing in programs.

mod predicates;
mod record;
mod rings;
mod tables;

use std::ops::Range;
use std::sync::Arc;

use madrigal_circuit::{Rows, SumLayer, SumStep};
use madrigal_core::{Aligned, Party, Zeroizing, bits};
use madrigal_correlations::Stock;
use madrigal_engine::{Bill, Element, Held, Mismatch, PreparedState, Shares, Sharing, Sort, Tool};
use madrigal_kernels as kernels;
use madrigal_net::{Context, Result};
use madrigal_protocols::Opening;
use madrigal_protocols::replicated::{
    PARTIES, ReplicatedBits, ReplicatedInputs, ReplicatedRings, RingShares, RingView, Tally, leads,
};

use crate::arena::Arena;
use crate::boolean_gmw::{opened_bits, pack, string_bits, unpack};
use crate::circuit::Circuit;
use crate::joint::Joint;
use crate::netlist::{enter, leave};
use crate::protocol::{Boolean, Protocol};
use crate::shared::sorts_of;

pub use predicates::{Predicate, Test};
pub use rings::{Rounding, Truncate};
pub use tables::{PlaceRows, ShuffleRows, SortRows};

/// [`ReplicatedBits`] with its inputs, and [`ReplicatedRings`].
pub struct ReplicatedTool {
    context: Context,
    bits: ReplicatedBits,
    pub(super) inputs: ReplicatedInputs,
    /// Opened where there is work on rings.
    rings: Option<ReplicatedRings>,
    /// Rows that a circuit keeps within a layer, and its sums where they are not the message as they lie.
    kept: Aligned<u64>,
    sums: Arena,
}

impl Tool for ReplicatedTool {
    const STEP: &'static str = "replicated";

    fn open(context: Context, _: Opening) -> Result<Self> {
        Ok(Self {
            inputs: ReplicatedInputs::new(context.step("inputs"))?,
            bits: ReplicatedBits::new(context.clone())?,
            rings: None,
            kept: Aligned::default(),
            sums: Arena::default(),
            context,
        })
    }

    fn count_in(&mut self, context: &Context) {
        // The path is this tool's own, the count of rounds is the turn's.
        self.context = self.context.counting_in(context);
        self.bits.count_in(context);
        self.inputs.count_in(context);
        if let Some(rings) = &mut self.rings {
            rings.count_in(context);
        }
    }
}

impl ReplicatedTool {
    pub(super) fn me(&self) -> Party {
        self.context.me()
    }

    /// The protocol at work on rings.
    ///
    /// # Errors
    /// [`Error`](madrigal_net::Error) of the network.
    pub(super) fn rings(&mut self) -> Result<&mut ReplicatedRings> {
        if self.rings.is_none() {
            let mut rings = ReplicatedRings::new(self.context.step("rings"))?;
            rings.count_in(&self.context);
            self.rings = Some(rings);
        }
        Ok(self.rings.as_mut().expect("opened just now"))
    }

    async fn share_ring<T: Held>(
        &mut self,
        owner: Party,
        values: &[Arc<Shares>],
    ) -> Result<Vec<Shares>> {
        let mut counts = [0; PARTIES];
        counts[owner.index()] = values.iter().map(|value| value.len()).sum();
        let parts: Vec<&[T]> = match self.context.me() == owner {
            true => values.iter().map(|value| value.component(0)).collect(),
            false => Vec::new(),
        };
        let joined;
        let own = match parts[..] {
            [] => &[],
            [one] => one,
            _ => {
                joined = Zeroizing::new(parts.concat());
                &joined
            }
        };
        let mut shares = self.rings()?.share::<T>(own, counts).await?;
        let shares = std::mem::replace(&mut shares[owner.index()], RingShares::zeros(0));
        if values.len() == 1 {
            return Ok(vec![from_ring(shares)]);
        }
        let mut at = 0;
        let of = |value: &Arc<Shares>| {
            let range = at..at + value.len();
            at = range.end;
            from_ring(shares.slice(range))
        };
        Ok(values.iter().map(of).collect())
    }

    async fn open_ring<T: Held>(
        &mut self,
        values: &[Arc<Shares>],
        to: &[Party],
    ) -> Result<Vec<Shares>> {
        let parts: Vec<RingView<'_, T>> = values.iter().map(|value| to_ring(value)).collect();
        let joined;
        let all = match parts[..] {
            [one] => one,
            _ => {
                joined = RingShares::concat(&parts);
                RingView::from(&joined)
            }
        };
        let mut opened = self.rings()?.open(all, to).await?.map(Zeroizing::new);
        let mut at = 0;
        let of = |value: &Arc<Shares>| {
            let range = at..at + value.len();
            at = range.end;
            let sort = value.sort().shared(Sharing::PUBLIC);
            match &mut opened {
                Some(opened) if values.len() == 1 => {
                    Shares::ring_of(Sharing::PUBLIC, std::mem::take(opened))
                }
                Some(opened) => Shares::ring_of(Sharing::PUBLIC, opened[range].to_vec()),
                None => Shares::unknown(sort),
            }
        };
        Ok(values.iter().map(of).collect())
    }
}

/// Shares as the protocol has them.
pub(super) fn to_ring<T: Held>(value: &Shares) -> RingView<'_, T> {
    let [first, second] = [0, 1].map(|component| value.component(component));
    RingView::new(first, second).expect("components of one length")
}

/// And back.
pub(super) fn from_ring<T: Held>(shares: RingShares<T>) -> Shares {
    Shares::ring(Sharing::R, shares.into_components().into())
}

/// Adds what a tally of ring operations says for each party, and its rounds.
pub(super) fn tally(bill: &mut Bill, work: impl Fn(&mut Tally)) {
    let clock = bill.clock().clone();
    let mut after = clock.clone();
    bill.each(|party| {
        let mut tally = Tally::after(party, clock.clone());
        work(&mut tally);
        tally.total()
    });
    let mut tally = Tally::after(Party::new(0), clock);
    work(&mut tally);
    after.join(tally.clock());
    *bill.clock() = after;
}

/// Each pair of parties draws the component that it alone has.
impl Joint for ReplicatedTool {
    fn joint_bits(&mut self, sort: Sort) -> Result<Shares> {
        let drawn = self.rings()?.random_bit_rows(1, string_bits(&[sort]));
        let [first, second] = drawn.components();
        let made = unpack([sort], &[first, second]).pop();
        Ok(made.unwrap_or_else(|| Shares::zeros(sort)))
    }

    fn joint_bits_bill(sort: Sort, bill: &mut Bill) {
        tally(bill, |tally| tally.random_bit_rows(1, string_bits(&[sort])));
    }
}

impl Protocol for ReplicatedTool {
    const SHARING: Sharing = Sharing::R;

    fn holds(_: Element, parties: usize) -> Result<(), Mismatch> {
        if parties == PARTIES {
            return Ok(());
        }
        Err(Mismatch::new(format!(
            "protocol R is for three parties, not {parties}"
        )))
    }

    async fn share(
        &mut self,
        owner: Party,
        values: &[Arc<Shares>],
        _: &mut Stock,
        _: Option<PreparedState>,
    ) -> Result<Vec<Shares>> {
        if let Some(Element::Ring(width)) = values.first().map(|value| value.sort().element) {
            return crate::with_ring!(width, T => self.share_ring::<T>(owner, values).await);
        }
        let sorts = sorts_of(values);
        let mut counts = [0; PARTIES];
        counts[owner.index()] = string_bits(&sorts);
        let string = if self.context.me() == owner {
            pack(values, 0)
        } else {
            Zeroizing::default()
        };
        let shares = self.inputs.share(&string, counts).await?;
        let [first, second] = &shares[owner.index()];
        let sorts = sorts.into_iter().map(|sort| sort.shared(Sharing::R));
        Ok(unpack(sorts, &[first, second]))
    }

    fn share_bill(owner: Party, sorts: &[Sort], bill: &mut Bill) {
        let mut counts = [0; PARTIES];
        if let Some(Element::Ring(width)) = sorts.first().map(|sort| sort.element) {
            counts[owner.index()] = sorts.iter().map(|sort| sort.len).sum();
            return crate::with_ring!(width, T => tally(bill, |tally| tally.share::<T>(counts)));
        }
        counts[owner.index()] = string_bits(sorts);
        bill.each(|party| ReplicatedInputs::cost(party, counts));
        ReplicatedInputs::rounds(bill.clock(), counts);
    }

    async fn open(
        &mut self,
        values: &[Arc<Shares>],
        to: &[Party],
        _: &mut Stock,
        _: Option<PreparedState>,
    ) -> Result<Vec<Shares>> {
        if let Some(Element::Ring(width)) = values.first().map(|value| value.sort().element) {
            return crate::with_ring!(width, T => self.open_ring::<T>(values, to).await);
        }
        let sorts = sorts_of(values);
        let shares = [0, 1].map(|component| pack(values, component));
        let shares = shares.each_ref().map(|share| share.as_slice());
        let opened = self.bits.open(shares, string_bits(&sorts), to).await?;
        Ok(opened_bits(&sorts, opened))
    }

    fn open_bill(sorts: &[Sort], to: &[Party], bill: &mut Bill) {
        if let Some(Element::Ring(width)) = sorts.first().map(|sort| sort.element) {
            let len = sorts.iter().map(|sort| sort.len).sum();
            return crate::with_ring!(width, T => tally(bill, |tally| tally.open::<T>(len, to)));
        }
        let count = string_bits(sorts);
        bill.each(|party| ReplicatedBits::open_cost(party, count, to));
        ReplicatedBits::open_rounds(bill.clock(), to);
    }

    fn leads(me: Party) -> [bool; 2] {
        leads(me)
    }
}

impl Boolean for ReplicatedTool {
    const SUMS: bool = true;

    async fn evaluate(
        &mut self,
        circuit: &Circuit,
        lanes: usize,
        inputs: &[Arc<Shares>],
        arena: &mut Arena,
        _: &mut Stock,
        _: Option<PreparedState>,
    ) -> Result<Vec<Shares>> {
        let (sums, leads) = (circuit.sums(), leads(self.me()));
        arena.reshape(sums.rows(), 2, lanes);
        enter(sums.inputs(), inputs, 0, arena);
        self.kept.resize(sums.kept() * arena.shape().stride);
        for layer in sums.layers() {
            arena.local(layer.local, leads);
            if lanes.is_multiple_of(64) {
                self.sums_of_words(layer, arena).await?;
            } else {
                self.sums_of_bits(layer, arena).await?;
            }
        }
        arena.local(sums.tail(), leads);
        let mut outputs = circuit.blank(Sharing::R, lanes);
        leave(sums.outputs(), arena, 0, &mut outputs);
        Ok(outputs)
    }

    fn evaluate_bill(circuit: &Circuit, lanes: usize, bill: &mut Bill) {
        let sums = circuit.sums();
        for layer in sums.layers() {
            bill.each(|_| ReplicatedBits::and_cost(layer.sums.len() * lanes));
            ReplicatedBits::and_rounds(bill.clock());
        }
        // Rows of a step: two components of two operands, and what it writes; of a sum: masks, messages and components;
        // of a local operation: three rows of two components.
        let rows = 5 * sums.step_count() + 7 * sums.sum_count() + 6 * sums.local_count();
        bill.touch((rows * Rows::stride_for(lanes)) as u64);
    }

    fn bits_at_work(circuit: &Circuit) -> usize {
        let sums = circuit.sums();
        2 * sums.rows() + sums.kept()
    }
}

impl ReplicatedTool {
    /// Rows without padding are the message as they lie.
    async fn sums_of_words(&mut self, layer: SumLayer<'_>, arena: &mut Arena) -> Result<()> {
        let row = arena.shape().stride * 8;
        let (mut steps, kept) = (layer.steps, &mut self.kept);
        let add = |sums: Range<usize>, z: &mut [u8]| {
            let later = |step: &SumStep| step.sum().is_some_and(|sum| sum as usize >= sums.end);
            let now = steps.iter().position(later).unwrap_or(steps.len());
            let (now, later) = steps.split_at(now);
            steps = later;
            let first = sums.start as u32;
            kernels::replicated_sums(arena.words(), arena.shape(), now, kept, first, z);
        };
        let z = self.bits.cross_terms(layer.sums.len(), row, add);
        // Now, while they are near: when the others' come, other blocks have been at work.
        for (&sum, own) in layer.sums.iter().zip(z.chunks_exact(row.max(1))) {
            arena.row_mut(sum, 0).copy_from_slice(own);
        }
        let [_, theirs] = self.bits.reshare(z).await?;
        for (&sum, theirs) in layer.sums.iter().zip(theirs.chunks_exact(row.max(1))) {
            arena.row_mut(sum, 1).copy_from_slice(theirs);
        }
        Ok(())
    }

    /// Other rows are packed.
    async fn sums_of_bits(&mut self, layer: SumLayer<'_>, arena: &mut Arena) -> Result<()> {
        let (lanes, count) = (arena.lanes(), layer.sums.len() * arena.lanes());
        self.sums.reshape(layer.sums.len(), 1, lanes);
        let sums = self.sums.bytes_mut();
        sums.fill(0);
        let (shape, kept) = (arena.shape(), &mut self.kept);
        kernels::replicated_sums(arena.words(), shape, layer.steps, kept, 0, sums);
        let mut string = Zeroizing::new(vec![0; bits::bytes_for(count)]);
        self.sums.pack(0..layer.sums.len() as u32, 0, &mut string);
        let mut z = self.bits.zeros(string.len());
        kernels::xor_into(&mut z, &string);
        bits::clear_tail(&mut z, count);
        let z = self.bits.reshare(z).await?;
        for (component, z) in z.iter().enumerate() {
            arena.unpack(layer.sums.iter().copied(), component, z);
        }
        Ok(())
    }
}
