//! Programs one after another.

use madrigal_app::failure::Failure;
use madrigal_app::held::{StageRun as Inner, StageTask};
use madrigal_program::{OutputPort, StageMaker};
use pyo3::prelude::*;

use crate::RunError;
use crate::arrays::parts;
use crate::computation::{Computation, Given, inputs_of};
use crate::done::Done;
use crate::models::flags;
use crate::recorder::Recorder;

fn failed(failure: &Failure) -> PyErr {
    RunError::new_err((failure.to_string(), failure.status() as u8))
}

/// Makes the programs of one party's stages.
#[pyclass(frozen, module = "madrigal._native")]
pub struct Maker(StageMaker);

impl Maker {
    pub fn inner(&self) -> &StageMaker {
        &self.0
    }
}

#[pymethods]
impl Maker {
    #[new]
    fn new(parties: usize) -> Self {
        Self(StageMaker::new(parties))
    }

    /// Begins a program.
    fn recorder(&self, mix: Option<&str>) -> PyResult<Recorder> {
        Recorder::of(self.0.program(), mix)
    }

    /// Stages in the clear.
    fn simulate(&self) -> PyResult<StageRun> {
        let run = Inner::clear(&self.0).map_err(|failure| failed(&failure))?;
        Ok(StageRun(run))
    }
}

/// One party's stages, or all in the clear.
#[pyclass(frozen, module = "madrigal._native")]
pub struct StageRun(Inner);

impl StageRun {
    pub fn new(run: Inner) -> Self {
        Self(run)
    }
}

#[pymethods]
impl StageRun {
    /// Runs a program as the next stage. `done` hears what this party learns, by name.
    fn stage(
        &self,
        py: Python<'_>,
        computation: &Computation,
        given: Vec<Given<'_>>,
        last: bool,
        done: Py<PyAny>,
    ) -> PyResult<()> {
        let program = computation.program().clone();
        let names = program.outputs().iter().enumerate();
        let names = names.map(|(place, port): (usize, &OutputPort)| {
            let name = port.name.clone().unwrap_or_else(|| place.to_string());
            // Clients' values decide nothing, wherever they are known.
            (last || !port.parties().is_empty()).then_some(name)
        });
        let names: Vec<Option<String>> = names.collect();
        let done = Done::new(done);
        let task = StageTask {
            program,
            inputs: inputs_of(&given)?,
            last,
            done: Box::new(move |opened| {
                done.tell(opened.map(|opened| {
                    move |py: Python<'_>| {
                        let known = names.into_iter().zip(opened.arrays());
                        let known = known.filter_map(|(name, array)| Some((name?, array?)));
                        known
                            .map(|(name, array)| Ok((name, parts(py, array)?)))
                            .collect::<PyResult<Vec<_>>>()
                    }
                }));
            }),
        };
        py.detach(|| self.0.stage(task));
        Ok(())
    }

    /// Says that no stage comes any more.
    fn end(&self) {
        self.0.end();
    }

    /// The report of stages of the parties of this process, as JSON.
    #[staticmethod]
    fn report(name: &str, words: Vec<String>, runs: Vec<PyRef<'_, Self>>) -> PyResult<String> {
        let flags = flags(&words)?;
        let runs: Vec<&Inner> = runs.iter().map(|run| &run.0).collect();
        Inner::report(name, &flags, &runs).map_err(|failure| failed(&failure))
    }
}
