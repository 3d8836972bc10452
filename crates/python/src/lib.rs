//! The native module of the Python package `madrigal`: programs recorded, simulated, explained and run. What users see is in
//! `python/madrigal`; here are numbers, texts and bytes.

mod arrays;
mod computation;
mod done;
mod lists;
mod models;
mod recorder;
mod service;
mod session;
mod stages;
mod tables;
mod watched;

use std::ffi::OsString;

use madrigal_app::failure::Failure;
use madrigal_app::start::start_by;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;

create_exception!(
    _native,
    MadrigalError,
    PyException,
    "Something that went wrong in Madrigal."
);
create_exception!(
    _native,
    ProgramError,
    MadrigalError,
    "A program that cannot be: text, file and line."
);
create_exception!(
    _native,
    RunError,
    MadrigalError,
    "A run without a result: text and exit status."
);

/// An error of a program, with the file and the line where it stands.
fn wrong(error: &madrigal_program::ProgramError) -> PyErr {
    let place = (error.at.file().to_owned(), error.at.line());
    ProgramError::new_err((error.fault.to_string(), place.0, place.1))
}

/// Does what the program `madrigal` does with these arguments, in this process; gives the exit status. `again` are the words that
/// start the program with further arguments, for each party of a local run.
#[pyfunction]
fn main(py: Python<'_>, arguments: Vec<OsString>, again: Vec<OsString>) -> u8 {
    start_by(again);
    py.detach(|| madrigal_cli::run(&arguments))
}

/// An error of a run, with its exit status.
fn failed(failure: &Failure) -> PyErr {
    RunError::new_err((failure.to_string(), failure.status() as u8))
}

/// An error about an argument.
fn value_error(what: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(what.to_string())
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("MadrigalError", py.get_type::<MadrigalError>())?;
    module.add("ProgramError", py.get_type::<ProgramError>())?;
    module.add("RunError", py.get_type::<RunError>())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(main, module)?)?;
    module.add_class::<arrays::Values>()?;
    module.add_class::<recorder::Recorder>()?;
    module.add_class::<recorder::Tensor>()?;
    module.add_class::<recorder::Body>()?;
    module.add_class::<computation::Computation>()?;
    module.add_class::<computation::ProgramFile>()?;
    module.add_class::<recorder::Kept>()?;
    module.add_class::<recorder::Permutation>()?;
    module.add_class::<service::Call>()?;
    module.add_class::<service::Service>()?;
    module.add_class::<service::Submitted>()?;
    module.add_class::<session::Session>()?;
    module.add_class::<stages::Maker>()?;
    module.add_class::<tables::Data>()?;
    module.add_class::<tables::Frame>()?;
    module.add_class::<tables::Query>()?;
    module.add_class::<tables::Table>()?;
    module.add_function(wrap_pyfunction!(tables::sql, module)?)?;
    module.add_class::<stages::StageRun>()?;
    module.add_function(wrap_pyfunction!(models::model_ports, module)?)?;
    module.add_function(wrap_pyfunction!(models::model, module)?)?;
    module.add_function(wrap_pyfunction!(models::infer, module)?)?;
    module.add_function(wrap_pyfunction!(lists::psi, module)?)?;
    watched::hear_warnings();
    Ok(())
}
