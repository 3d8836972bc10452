//! Values that go from one stage to later ones.

use std::marker::PhantomData;
use std::sync::Arc;

use super::Program;
use crate::computation::KeptPort;
use crate::element::Plain;
use crate::error::{Fault, Source};
use crate::ir::Op;
use crate::secret::{Secret, Tensor};
use crate::stages::{Cell, Kept, KeptTensor, StagesRun};

const TO_KEEP: &str = "a value to keep";
const OF_EARLIER: &str = "a value of an earlier stage";

impl Program {
    /// Makes the program a stage of a run.
    pub(crate) fn of_run(mut self, run: &Arc<StagesRun>) -> Self {
        self.between.run = Some(Arc::clone(run));
        self
    }

    /// Keeps a value for later [stages](crate::Stages): nobody learns it, and each party has its share of it when the
    /// program has been run.
    ///
    /// It is kept as it is computed, as ring elements in `A` or `R` or as bits in `B` or `R`; what is garbled or masked
    /// is converted, since labels and masks are of one stage. A party's input that nothing is computed of is shared
    /// as the mix has arithmetic, unless [`Secret::to`] says otherwise: what later stages compare is best kept as
    /// bits.
    #[track_caller]
    pub fn keep<T: Plain>(&mut self, value: &Secret<T>) -> Kept<T> {
        let KeptTensor(cell) = self.keep_tensor(value.tensor());
        let element = PhantomData;
        Kept { cell, element }
    }

    /// Keeps a value of any type as [`keep`](Self::keep) does.
    #[track_caller]
    pub fn keep_tensor(&mut self, tensor: &Tensor) -> KeptTensor {
        let at = self.recorder.placed(Source::here());
        self.recorder.fail_in_body(TO_KEEP, at);
        let run = self.between.run.clone().unwrap_or_else(|| {
            self.recorder.fail(at, Fault::NoStage { what: TO_KEEP });
            Arc::new(StagesRun)
        });
        let typed = tensor.tensor_type();
        let cell = Cell::new(&run, typed, at);
        if let Some(value) = tensor.import(&self.recorder, TO_KEEP, at) {
            self.kept.push(value);
            self.between.kept.push(Arc::clone(&cell));
        }
        KeptTensor(cell)
    }

    /// A value that an earlier stage of the same run has [kept](Self::keep).
    #[track_caller]
    pub fn kept<T: Plain>(&mut self, kept: &Kept<T>) -> Secret<T> {
        Secret::of(self.kept_tensor(&KeptTensor(Arc::clone(&kept.cell))))
    }

    /// A value of any type that an earlier stage of the same run has [kept](Self::keep_tensor).
    #[track_caller]
    pub fn kept_tensor(&mut self, kept: &KeptTensor) -> Tensor {
        let KeptTensor(cell) = kept;
        let at = self.recorder.placed(Source::here());
        self.recorder.fail_in_body(OF_EARLIER, at);
        let fault = match &self.between.run {
            None => Some(Fault::NoStage { what: OF_EARLIER }),
            Some(run) if !Arc::ptr_eq(run, &cell.run) => Some(Fault::OtherRun),
            Some(_) if cell.content().is_none() => Some(Fault::NotKept),
            Some(_) => None,
        };
        if let Some(fault) = fault {
            self.recorder.fail(at, fault);
        }
        let op = Op::Kept(self.between.taken.len());
        let cell = Arc::clone(cell);
        let typed = cell.tensor_type.clone();
        self.between.taken.push(KeptPort { cell, at });
        let value = self.recorder.leaf(op, typed, at);
        Tensor::new(&self.recorder, Some(value))
    }
}
