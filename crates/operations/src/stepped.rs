//! Steps on ring elements as operations: all of them in one form.

use std::marker::PhantomData;
use std::sync::Arc;

use madrigal_correlations::Width;
use madrigal_engine::{
    Bill, Held, Mismatch, Online, Operation, Prepared, Preparing, Shares, Sort, Turn, give_up,
};
use madrigal_net::Result;

use crate::protocol::{RingStep, Rings};
use crate::shared::{prepared_locally, sorts_of, unpacked, width};

/// A [`RingStep`] in protocol P as an operation, which S describes.
pub struct Stepped<P, S> {
    pub(crate) of: S,
    protocol: PhantomData<fn() -> P>,
}

impl<P, S> Stepped<P, S> {
    /// The operation that this describes.
    pub const fn of(of: S) -> Self {
        let protocol = PhantomData;
        Self { of, protocol }
    }
}

impl<P, S: Default> Default for Stepped<P, S> {
    fn default() -> Self {
        Self::of(S::default())
    }
}

/// Description of an operation that is a [`RingStep`] in protocol P.
pub trait Described<P: Rings>: Send + Sync {
    /// Names the operation, as [`Operation::name`] does.
    fn name(&self) -> String;

    /// Says what it makes of values of these sorts, among `parties` parties.
    ///
    /// # Errors
    /// [`Mismatch`] where values do not fit.
    fn sorts(&self, inputs: &[Sort], parties: usize) -> Result<Vec<Sort>, Mismatch>;

    /// Says whether it works lane by lane, as [`Operation::is_lane_wise`] does.
    fn is_lane_wise(&self) -> bool {
        true
    }

    /// Counts the bits that it works in for each element, as [`Operation::bits_at_work`] does.
    fn bits_at_work(&self, inputs: &[Sort]) -> usize {
        inputs.iter().map(|sort| sort.element.bits()).sum()
    }

    /// Says what is done.
    fn step(&self) -> RingStep;

    /// Finds the ring in which it is done.
    fn width(&self, inputs: &[Sort]) -> Width {
        width(&inputs[0])
    }

    /// Computes in the clear, on elements of T.
    fn plain<T: Held>(&self, inputs: &[&Shares]) -> Vec<Shares>;

    /// Counts the bytes of vectors that it reads and writes where each party multiplies its shares with a clear operand
    /// by itself; nothing where the step has to be done.
    fn touched_alone(&self, _inputs: &[Sort]) -> Option<u64> {
        None
    }

    /// Makes the results of a party's shares in that case.
    fn alone<T: Held>(&self, inputs: &[&Shares]) -> Vec<Shares> {
        self.plain::<T>(inputs)
    }

    /// Changes shares before a step on them.
    fn enter(&self, _leads: [bool; 2], inputs: Vec<Arc<Shares>>) -> Vec<Arc<Shares>> {
        inputs
    }

    /// Changes the results accordingly.
    fn leave<T: Held>(&self, _leads: [bool; 2], _inputs: &[Sort], _results: &mut [Shares]) {}
}

impl<P: Rings, S: Described<P>> Stepped<P, S> {
    /// Makes the results where each party does that by itself.
    fn alone(&self, inputs: &[Arc<Shares>]) -> Option<Vec<Shares>> {
        let sorts = sorts_of(inputs);
        self.of.touched_alone(&sorts)?;
        let inputs: Vec<&Shares> = inputs.iter().map(Arc::as_ref).collect();
        let made = crate::with_ring!(self.of.width(&sorts), T => self.of.alone::<T>(&inputs));
        Some(made)
    }
}

impl<P: Rings, S: Described<P>> Operation for Stepped<P, S> {
    fn name(&self) -> String {
        self.of.name()
    }

    fn sorts(&self, inputs: &[Sort], parties: usize) -> Result<Vec<Sort>, Mismatch> {
        self.of.sorts(inputs, parties)
    }

    fn is_lane_wise(&self) -> bool {
        self.of.is_lane_wise()
    }

    fn bits_at_work(&self, inputs: &[Sort]) -> usize {
        self.of.bits_at_work(inputs)
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        match self.of.touched_alone(inputs) {
            Some(touched) => bill.touch(touched),
            None => crate::with_ring!(self.of.width(inputs), T => {
                P::step_bill::<T>(self.of.step(), inputs, bill);
            }),
        }
    }

    fn prepares(&self, _: &[Sort]) -> bool {
        P::PREPARES
    }

    fn needs_clear(&self) -> bool {
        true
    }

    fn prepare<'a>(&'a self, turn: &'a mut Turn<'_>, inputs: Vec<Arc<Shares>>) -> Preparing<'a> {
        Box::pin(async move {
            if let Some(made) = self.alone(&inputs) {
                return Ok(prepared_locally(made));
            }
            let (early, width) = (turn.early(), self.of.width(&sorts_of(&inputs)));
            let (tool, stock) = turn.tool::<P>()?;
            let inputs: Vec<&Shares> = inputs.iter().map(Arc::as_ref).collect();
            crate::with_ring!(width, T => {
                let made = tool.prepare_step::<T>(self.of.step(), &inputs, stock, &early);
                let (results, ready) = made.await?;
                Ok(Prepared { results, kept: Box::new(ready) })
            })
        })
    }

    fn online<'a>(&'a self, turn: &'a mut Turn<'_>, inputs: Vec<Arc<Shares>>) -> Online<'a> {
        Box::pin(async move {
            if let Some(made) = self.alone(&inputs) {
                return Ok(made);
            }
            let (kept, leads, step) = (turn.kept(), P::leads(turn.me()), self.of.step());
            let sorts = sorts_of(&inputs);
            let inputs = self.of.enter(leads, inputs);
            let refs: Vec<&Shares> = inputs.iter().map(Arc::as_ref).collect();
            let (tool, stock) = turn.tool::<P>()?;
            crate::with_ring!(self.of.width(&sorts), T => {
                let mut made = match kept {
                    Some(kept) => {
                        let ready = *unpacked::<P::Setup<T>>(kept)?;
                        tool.finish_step::<T>(step, &refs, stock, ready).await?
                    }
                    None => tool.step::<T>(step, &refs, stock).await?,
                };
                give_up(inputs);
                self.of.leave::<T>(leads, &sorts, &mut made);
                Ok(made)
            })
        })
    }

    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        let sorts: Vec<Sort> = inputs.iter().map(|value| *value.sort()).collect();
        Ok(crate::with_ring!(self.of.width(&sorts), T => self.of.plain::<T>(inputs)))
    }
}
