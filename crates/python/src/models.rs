//! Trained networks: computed on secrets, checked, compared, calibrated, explained.

use std::path::Path;

use clap::{Args, Command, FromArgMatches, Subcommand as _};
use madrigal_app::failure::{Failure, Usage};
use madrigal_app::figures::json_text;
use madrigal_kernels::level_from_env;
use madrigal_models::args::{Check, Infer, Model};
use madrigal_models::data::read_array;
use madrigal_models::infer::{Done, FinishedRun, compute};
use madrigal_models::model::{Told, answer, ports};
use madrigal_nn::{Tensor, npy};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::value_error;
use crate::watched::Watch;

/// A model's inputs by name, with their axes where the file tells them: numbers, and names that are open.
type Inputs = Vec<(String, Option<Vec<String>>)>;

/// Results by the outputs' names as arrays of `numpy.save`, where they are learned here; statistics as JSON; who saw what as
/// JSON.
pub type Inferred = (Option<Vec<(String, Vec<u8>)>>, String, String);

/// [`Inferred`] in Python.
pub type ForPython = (Option<Vec<(String, Py<PyBytes>)>>, String, String);

/// Reads flags as the command line has them.
pub fn flags<T: Args>(words: &[String]) -> PyResult<T> {
    parsed(T::augment_args(Command::new("madrigal")), words)
}

fn parsed<T: FromArgMatches>(command: Command, words: &[String]) -> PyResult<T> {
    let command = command.no_binary_name(true).disable_help_flag(true);
    let matches = command.try_get_matches_from(words).map_err(value_error)?;
    T::from_arg_matches(&matches).map_err(value_error)
}

/// Arrays as `numpy.save` writes them.
pub type Arrays = Vec<PyBackedBytes>;

pub fn tensors(data: Option<Arrays>) -> Result<Option<Vec<Tensor>>, Failure> {
    let read = |array: &PyBackedBytes| read_array(array, Path::new("the data"));
    let read = |arrays: Arrays| arrays.iter().map(read).collect();
    data.map(read).transpose()
}

/// Reads a model that the flags of `model check` name: its version of operators, who wrote it, and its inputs.
#[pyfunction]
pub fn model_ports(py: Python<'_>, words: Vec<String>) -> PyResult<(i64, String, Inputs)> {
    let args: Check = flags(&words)?;
    let ports = Watch::nobody().work(py, move || ports(&args))?;
    Ok((ports.opset, ports.producer, ports.inputs))
}

/// Does what `madrigal model` does with these words; gives what it would print as text, and as JSON.
#[pyfunction]
#[pyo3(signature = (words, data=None, hear=None, terminal=false))]
pub fn model(
    py: Python<'_>,
    words: Vec<String>,
    data: Option<Arrays>,
    hear: Option<Py<PyAny>>,
    terminal: bool,
) -> PyResult<(String, Option<String>)> {
    let command = Model::augment_subcommands(Command::new("madrigal"));
    // Data is there already.
    let command = ["compare", "calibrate"].iter().fold(command, |all, name| {
        all.mut_subcommand(name, |one| one.mut_arg("inputs", |arg| arg.required(false)))
    });
    let command: Model = parsed(command, &words)?;
    let watch = Watch { hear, terminal };
    let Told { text, json } = watch.work(py, move || answer(&command, tensors(data)?))?;
    Ok((text, json))
}

/// Does what `madrigal infer` does with these words.
#[pyfunction]
#[pyo3(signature = (words, data=None, hear=None, terminal=false))]
pub fn infer(
    py: Python<'_>,
    words: Vec<String>,
    data: Option<Arrays>,
    hear: Option<Py<PyAny>>,
    terminal: bool,
) -> PyResult<ForPython> {
    let args: Infer = flags(&words)?;
    let watch = Watch { hear, terminal };
    let work = move || {
        level_from_env().map_err(Usage::Level)?;
        match compute(&args, tensors(data)?)? {
            Done::Run(run) => told(&args, &run),
            Done::Prepared(_) => Err(Failure::bug("stores are made on the command line")),
        }
    };
    let inferred = watch.work(py, work)?;
    Ok(for_python(py, inferred))
}

/// Writes the page that the flags ask for, and gives the rest.
pub fn told(args: &Infer, run: &FinishedRun) -> Result<Inferred, Failure> {
    run.write_report(args)?;
    let file = |(name, tensor): &(String, Tensor)| (name.clone(), npy::write(tensor));
    let results = run
        .results()
        .map(|results| results.iter().map(file).collect());
    Ok((results, run.statistics(args)?, json_text(&run.seen(args))?))
}

/// Hands it to Python.
pub fn for_python(py: Python<'_>, (results, statistics, seen): Inferred) -> ForPython {
    let bytes = |(name, file): (String, Vec<u8>)| (name, PyBytes::new(py, &file).unbind());
    let results = results.map(|results| results.into_iter().map(bytes).collect());
    (results, statistics, seen)
}
