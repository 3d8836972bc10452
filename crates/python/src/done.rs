//! Results that threads of the native module hand to Python.

use madrigal_app::failure::Status;
use madrigal_app::held::{Ending, StageFailure};
use pyo3::IntoPyObjectExt as _;
use pyo3::prelude::*;

/// A callable of Python's that hears once what came of something: results and no error, or no results and the error as a tuple.
/// The error's first part names its kind: `program` with text, file and line, or `run` with text, exit status, and whether it only echoes
/// another party's failure.
pub struct Done(Option<Py<PyAny>>);

impl Done {
    pub fn new(callable: Py<PyAny>) -> Self {
        Self(Some(callable))
    }

    /// Tells the results that `made` gives, or the error.
    pub fn tell<T: for<'py> IntoPyObject<'py>>(
        mut self,
        made: Result<impl FnOnce(Python<'_>) -> PyResult<T>, StageFailure>,
    ) {
        let Some(callable) = self.0.take() else {
            return;
        };
        // An interpreter that ends hears nothing any more.
        let _ = Python::try_attach(|py| {
            let told = match made {
                Ok(made) => match made(py) {
                    Ok(results) => callable.call1(py, (results, py.None())),
                    Err(error) => fail(py, &callable, &bug(error.to_string())),
                },
                Err(failure) => fail(py, &callable, &failure),
            };
            if let Err(error) = told {
                error.write_unraisable(py, None);
            }
        });
    }
}

/// Whoever waits is told something in any case.
impl Drop for Done {
    fn drop(&mut self) {
        if let Some(callable) = self.0.take() {
            let failure = bug("a party's thread panicked".to_owned());
            Self(Some(callable)).tell::<()>(Err::<fn(Python<'_>) -> PyResult<()>, _>(failure));
        }
    }
}

fn bug(what: String) -> StageFailure {
    StageFailure::Run(Ending {
        text: format!("a fault of madrigal: {what}; please report it with this text"),
        status: Status::Internal,
        echo: false,
    })
}

fn fail(py: Python<'_>, callable: &Py<PyAny>, failure: &StageFailure) -> PyResult<Py<PyAny>> {
    let error = match failure {
        StageFailure::Program(error) => {
            let (file, line) = (error.at.file(), error.at.line());
            ("program", error.fault.to_string(), file, line).into_py_any(py)?
        }
        StageFailure::Run(ending) => {
            let Ending { text, status, echo } = ending;
            ("run", text, *status as u8, *echo).into_py_any(py)?
        }
    };
    callable.call1(py, (py.None(), error))
}
