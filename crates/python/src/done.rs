//! Results that threads of the native module hand to Python.

use madrigal_app::failure::Status;
use madrigal_app::held::{Ending, StageFailure};
use madrigal_cli::of_client;
use madrigal_service_client::ClientError;
use pyo3::IntoPyObjectExt as _;
use pyo3::prelude::*;

use crate::RunError;

/// A callable of Python's that hears once what came of something: results and no error, or no results and the error as a tuple.
/// The error's first part names its kind: `program` with text, file and line, `run` with text, exit status, and whether it only echoes
/// another party's failure, or `service` with text, exit status, and the name of the server at fault, if it is one.
pub struct Done(Option<Py<PyAny>>);

impl Done {
    pub fn new(callable: Py<PyAny>) -> Self {
        Self(Some(callable))
    }

    /// Tells the results that `made` gives, or the error.
    pub fn tell<T: for<'py> IntoPyObject<'py>>(
        mut self,
        made: Result<impl FnOnce(Python<'_>) -> PyResult<T>, impl Into<Reason>>,
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
                Err(failure) => fail(py, &callable, &failure.into()),
            };
            if let Err(error) = told {
                error.write_unraisable(py, None);
            }
        });
    }
}

/// Reasons why there are no results.
pub enum Reason {
    /// A failure of a run.
    Run(StageFailure),
    /// A failure of a service, or of its client.
    Service {
        /// Reason in words, and what to do.
        text: String,
        /// Exit status that the command line would have.
        status: Status,
        /// Name of the server at fault.
        server: Option<String>,
    },
}

impl Reason {
    /// A failure of a service that is no server's.
    pub fn own(text: impl Into<String>, status: Status) -> Self {
        Self::Service {
            text: text.into(),
            status,
            server: None,
        }
    }

    /// The exception of a failure of a service that is told at once: text, exit status, server at fault.
    pub fn raised(self) -> PyErr {
        match self {
            Self::Service {
                text,
                status,
                server,
            } => RunError::new_err((text, status as u8, server)),
            Self::Run(_) => RunError::new_err(("a run has failed", Status::Internal as u8)),
        }
    }
}

impl From<ClientError> for Reason {
    fn from(error: ClientError) -> Self {
        Self::Service {
            text: error.to_string(),
            status: of_client(&error),
            server: error.server().map(|server| server.name.clone()),
        }
    }
}

impl From<StageFailure> for Reason {
    fn from(failure: StageFailure) -> Self {
        Self::Run(failure)
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

fn bug(what: String) -> Reason {
    Reason::Run(StageFailure::Run(Ending {
        text: format!("a fault of madrigal: {what}; please report it with this text"),
        status: Status::Internal,
        echo: false,
    }))
}

fn fail(py: Python<'_>, callable: &Py<PyAny>, reason: &Reason) -> PyResult<Py<PyAny>> {
    let error = match reason {
        Reason::Run(StageFailure::Program(error)) => {
            let (file, line) = (error.at.file(), error.at.line());
            ("program", error.fault.to_string(), file, line).into_py_any(py)?
        }
        Reason::Run(StageFailure::Run(ending)) => {
            let Ending { text, status, echo } = ending;
            ("run", text, *status as u8, *echo).into_py_any(py)?
        }
        Reason::Service {
            text,
            status,
            server,
        } => ("service", text, *status as u8, server).into_py_any(py)?,
    };
    callable.call1(py, (py.None(), error))
}
