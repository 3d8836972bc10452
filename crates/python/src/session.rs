//! Parties that stay in one session.

use std::sync::{Arc, Mutex, PoisonError};

use madrigal_app::flags::length_facts;
use madrigal_app::held::{Held, Job, StageFailure};
use madrigal_matching::psi::compute_in as compute_psi;
use madrigal_models::args::Infer;
use madrigal_models::infer::compute_in;
use madrigal_program::Array;
use pyo3::prelude::*;

use crate::arrays::parts;
use crate::computation::{Computation, Given, inputs_of};
use crate::done::Done;
use crate::failed;
use crate::lists::{self, Matched};
use crate::models::{Arrays, Inferred, flags, for_python, tensors, told};
use crate::stages::{Maker, StageRun};
use crate::watched::{Ear, Told};

/// The parties of this process in a session, as flags name them.
#[pyclass(frozen, module = "madrigal._native")]
pub struct Session(Held, Ear);

#[pymethods]
impl Session {
    #[new]
    fn new(words: Vec<String>) -> PyResult<Self> {
        let ear = Ear::default();
        let held = Held::watched(flags(&words)?, ear.watcher(false));
        let held = held.map_err(|failure| failed(&failure))?;
        Ok(Self(held, ear))
    }

    /// All messages that are new, and how far the parties are, if that is news.
    fn heard(&self) -> Vec<Told> {
        self.1.take(true)
    }

    /// Computes a network as the only party of this process. `done` hears results, statistics and who saw what, as
    /// [`infer`](crate::models::infer) gives them.
    #[pyo3(signature = (words, data, done))]
    fn infer(
        &self,
        py: Python<'_>,
        words: Vec<String>,
        data: Option<Arrays>,
        done: Py<PyAny>,
    ) -> PyResult<()> {
        let args: Infer = flags(&words)?;
        let done = Done::new(done);
        let tell = move |told: Result<Inferred, _>| {
            done.tell(
                told.map_err(StageFailure::Run)
                    .map(|told| move |py: Python<'_>| Ok(for_python(py, told))),
            );
        };
        py.detach(|| {
            self.0.work(
                0,
                |seat| {
                    Box::pin(
                        async move { told(&args, &compute_in(&args, tensors(data)?, seat).await?) },
                    )
                },
                tell,
            );
        });
        Ok(())
    }

    /// Matches a list as the only party of this process. `done` hears what [`psi`](crate::lists::psi) gives.
    fn psi(
        &self,
        py: Python<'_>,
        words: Vec<String>,
        shares: bool,
        done: Py<PyAny>,
    ) -> PyResult<()> {
        let args = lists::asked(&words, shares)?;
        let done = Done::new(done);
        let tell = move |told: Result<Matched, _>| {
            done.tell(
                told.map_err(StageFailure::Run)
                    .map(|told| move |py: Python<'_>| lists::for_python(py, told)),
            );
        };
        py.detach(|| {
            self.0.work(
                0,
                |seat| {
                    Box::pin(async move {
                        let done = compute_psi(&args, seat).await?;
                        lists::told(&args, vec![done])
                    })
                },
                tell,
            );
        });
        Ok(())
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
            flags: flags(&words)?,
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
        let flags = flags(&words)?;
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
