//! Parties that stay in one session.

use std::sync::{Arc, Mutex, PoisonError};

use madrigal_app::flags::length_facts;
use madrigal_app::held::{Held, Job, StageFailure};
use madrigal_program::Array;
use pyo3::prelude::*;

use crate::arrays::parts;
use crate::computation::{Computation, Given, flags, inputs_of};
use crate::done::Done;
use crate::stages::{Maker, StageRun};
use crate::{RunError, value_error};

/// The parties of this process in a session, as flags name them.
#[pyclass(frozen, module = "madrigal._native")]
pub struct Session(Held);

#[pymethods]
impl Session {
    #[new]
    fn new(words: Vec<String>) -> PyResult<Self> {
        let held = Held::new(flags(&words).map_err(value_error)?);
        let failed = |failure: madrigal_app::failure::Failure| {
            RunError::new_err((failure.to_string(), failure.status() as u8))
        };
        held.map(Self).map_err(failed)
    }

    /// Runs a program as the only party of this process. `done` hears outputs by name and what would be printed.
    #[expect(
        clippy::too_many_arguments,
        reason = "they are Python's, by name there"
    )]
    fn run(
        &self,
        py: Python<'_>,
        computation: &Computation,
        name: String,
        words: Vec<String>,
        lengths: Vec<(String, usize)>,
        given: Vec<Given<'_>>,
        done: Py<PyAny>,
    ) -> PyResult<()> {
        let job = Job {
            name,
            program: computation.program().clone(),
            lengths: length_facts(lengths),
            inputs: inputs_of(&given)?,
            flags: flags(&words).map_err(value_error)?,
        };
        let outputs: Arc<Mutex<Vec<(String, Array)>>> = Arc::default();
        let all = Arc::clone(&outputs);
        let sink = move |name: &str, array: &Array| {
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            all.push((name.to_owned(), array.clone()));
            Ok(true)
        };
        let done = Done::new(done);
        let tell = move |told: Result<String, _>| {
            done.tell(told.map_err(StageFailure::Run).map(|told| {
                move |py: Python<'_>| {
                    let outputs = outputs.lock().unwrap_or_else(PoisonError::into_inner);
                    let outputs =
                        (outputs.iter()).map(|(name, array)| Ok((name.clone(), parts(py, array)?)));
                    Ok((outputs.collect::<PyResult<Vec<_>>>()?, told))
                }
            }));
        };
        py.detach(|| self.0.program(0, job, sink, tell));
        Ok(())
    }

    /// Begins stages as the party of a seat.
    fn stages(
        &self,
        seat: usize,
        name: String,
        words: Vec<String>,
        maker: &Maker,
        dealing: u64,
    ) -> PyResult<StageRun> {
        let flags = flags(&words).map_err(value_error)?;
        let run = self.0.stages(seat, name, maker.inner(), flags, dealing);
        Ok(StageRun::new(run))
    }

    /// Has the party of a seat leave once it has done what it was asked to.
    fn leave(&self, seat: usize) {
        self.0.leave(seat);
    }

    /// Has all parties of this process leave.
    fn close(&self) {
        self.0.close();
    }

    /// Ends what they do at once, and tells the others.
    fn stop(&self, py: Python<'_>) {
        py.detach(|| self.0.stop());
    }

    /// Whether they are gone, with their threads.
    fn is_over(&self) -> bool {
        self.0.is_over()
    }
}
