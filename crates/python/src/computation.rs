//! Programs that are finished: told, simulated, explained, run, saved.

use std::sync::{Mutex, PoisonError};

use clap::ValueEnum as _;
use madrigal_app::failure::Failure;
use madrigal_app::figures::json_text;
use madrigal_app::flags::TransportArg;
use madrigal_app::from_file::{FromFile, ProgramFlags};
use madrigal_app::seen::{Place, Seen};
use madrigal_app::steps::Step;
use madrigal_program::{Array, Computation as Inner, Inputs, Outputs};
use madrigal_program_file::{Limits, ProgramFile as File, SaveProgram, choices, general};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::arrays::{Parts, Values, parts};
use crate::models::flags;
use crate::watched::Watch;
use crate::{failed, value_error};

/// An input's name, who brings it, its type and shape.
type Input = (Option<String>, String, String, Vec<usize>);

/// An output's name, who learns it, its type and shape.
type Output = (Option<String>, Vec<String>, String, Vec<usize>);

/// A value for an input, and its name.
pub type Given<'py> = (Option<String>, PyRef<'py, Values>);

/// A finished program.
#[pyclass(frozen, module = "madrigal._native")]
pub struct Computation(Inner);

impl Computation {
    pub fn new(program: Inner) -> Self {
        Self(program)
    }

    pub fn program(&self) -> &Inner {
        &self.0
    }

    fn outputs_of(&self, py: Python<'_>, outputs: &Outputs) -> PyResult<Vec<Option<Parts>>> {
        let arrays = outputs
            .arrays()
            .map(|array| array.map(|array| parts(py, array)));
        arrays.map(Option::transpose).collect()
    }
}

pub fn inputs_of(given: &[Given<'_>]) -> PyResult<Inputs> {
    let mut inputs = Inputs::new();
    for (name, values) in given {
        inputs = inputs.with_array(name.as_deref(), values.take()?);
    }
    Ok(inputs)
}

#[pymethods]
impl Computation {
    #[getter]
    fn parties(&self) -> usize {
        self.0.parties()
    }

    #[getter]
    fn mix(&self) -> String {
        self.0.mix().to_string()
    }

    #[getter]
    fn digest(&self) -> String {
        madrigal_core::Digest256::from(self.0.digest()).to_string()
    }

    #[getter]
    fn inputs(&self) -> Vec<Input> {
        let ports = self.0.inputs().iter();
        ports
            .map(|port| {
                let typed = &port.tensor_type;
                let axes = typed.shape.axes().to_vec();
                (
                    port.name.clone(),
                    port.owner.to_string(),
                    typed.element.to_string(),
                    axes,
                )
            })
            .collect()
    }

    #[getter]
    fn outputs(&self) -> Vec<Output> {
        let ports = self.0.outputs().iter();
        ports
            .map(|port| {
                let typed = &port.tensor_type;
                let to = port.to.iter().map(ToString::to_string).collect();
                let axes = typed.shape.axes().to_vec();
                (port.name.clone(), to, typed.element.to_string(), axes)
            })
            .collect()
    }

    #[getter]
    fn requirements(&self) -> Vec<String> {
        self.0
            .requirements()
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    fn describe(&self) -> Vec<String> {
        self.0.describe()
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.0.to_bytes().map_err(value_error)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// All outputs in the clear, and the places where a number left its range.
    fn simulate(
        &self,
        py: Python<'_>,
        given: Vec<Given<'_>>,
    ) -> PyResult<(Vec<Option<Parts>>, Vec<String>)> {
        let inputs = inputs_of(&given)?;
        let program = self.0.clone();
        let checked = Watch::nobody().work(py, move || Ok(program.check(&inputs)?))?;
        let overflows = checked.overflows.iter().map(ToString::to_string).collect();
        Ok((self.outputs_of(py, &checked.outputs)?, overflows))
    }

    /// Runs it, or says what it costs, as the command line would with these flags; gives outputs by their places, and what
    /// would be printed. `steps` are those of a query, with their rows.
    #[pyo3(signature = (what, name, words, given, hear=None, terminal=false, steps=Vec::new()))]
    #[expect(clippy::too_many_arguments, reason = "as Python calls it")]
    fn perform(
        &self,
        py: Python<'_>,
        what: &str,
        name: String,
        words: Vec<String>,
        given: Option<Vec<Given<'_>>>,
        hear: Option<Py<PyAny>>,
        terminal: bool,
        steps: Vec<(String, usize)>,
    ) -> PyResult<(Vec<(String, Parts)>, String)> {
        let mut flags: ProgramFlags = flags(&words)?;
        let steps = Step::all(steps);
        let inputs = given.as_deref().map(inputs_of).transpose()?;
        let (program, what) = (self.0.clone(), what.to_owned());
        let work = move || {
            let program = FromFile {
                name: &name,
                program,
                lengths: Vec::new(),
                inputs,
            };
            let outputs: Mutex<Vec<(String, Array)>> = Mutex::default();
            let sink = |name: &str, array: &Array| {
                let mut outputs = outputs.lock().unwrap_or_else(PoisonError::into_inner);
                outputs.push((name.to_owned(), array.clone()));
                Ok(true)
            };
            let told = match &*what {
                "run" => program.run(&mut flags, &sink),
                "explain" => program.explain_steps(&mut flags, &steps),
                "check" => program.check(&mut flags),
                other => Err(Failure::bug(format!("there is no {other}"))),
            }?;
            let outputs = outputs.into_inner().unwrap_or_else(PoisonError::into_inner);
            Ok((outputs, told))
        };
        let (outputs, told) = Watch { hear, terminal }.work(py, work)?;
        let mut all = Vec::new();
        for (name, array) in &outputs {
            all.push((name.clone(), parts(py, array)?));
        }
        Ok((all, told))
    }

    /// Who sees what of it in a mix of protocols, or its own, as JSON; types where lengths are those of a computation.
    fn seen(
        &self,
        mix: Option<&str>,
        transport: Option<&str>,
        local: bool,
        lengths: bool,
    ) -> PyResult<String> {
        let mix = mix.map(str::parse).transpose().map_err(value_error)?;
        let transport = transport.map(|name| TransportArg::from_str(name, false));
        let place = Place {
            transport: transport.transpose().map_err(value_error)?,
            local,
            lengths,
        };
        let seen = Seen::of_program(&self.0, mix.unwrap_or(self.0.mix()), place);
        json_text(&seen).map_err(|failure| failed(&failure))
    }
}

/// A program as a file has it.
#[pyclass(frozen, module = "madrigal._native")]
pub struct ProgramFile(File);

#[pymethods]
impl ProgramFile {
    #[new]
    fn new(bytes: &[u8]) -> PyResult<Self> {
        File::read(bytes, &Limits::default())
            .map(Self)
            .map_err(value_error)
    }

    #[getter]
    fn dimensions(&self) -> Vec<String> {
        self.0.dimensions().to_vec()
    }

    /// Names, owners, types and axes of the inputs, where axes are numbers or names of dimensions.
    #[getter]
    fn inputs(&self) -> Vec<(String, String, Vec<String>)> {
        let inputs = self.0.message().inputs.iter();
        inputs
            .map(|port| {
                let axes = port.axes.iter().map(|&axis| self.0.length(axis)).collect();
                (port.name.clone(), port.r#type.clone(), axes)
            })
            .collect()
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    /// Number of choices of lengths that a program is recorded for, by the number of its dimensions.
    #[staticmethod]
    fn choices(dimensions: usize) -> usize {
        choices(dimensions)
    }

    /// A file for any lengths, of programs that were recorded for some.
    #[staticmethod]
    fn general(
        names: Vec<String>,
        samples: Vec<(Vec<usize>, PyRef<'_, Computation>)>,
    ) -> PyResult<Self> {
        let file = |(lengths, program): (Vec<usize>, PyRef<'_, Computation>)| {
            let file = File::of(&program.0).map_err(value_error)?;
            Ok((lengths, file))
        };
        let samples = samples
            .into_iter()
            .map(file)
            .collect::<PyResult<Vec<_>>>()?;
        general(&names, &samples).map(Self).map_err(value_error)
    }

    fn bind(&self, lengths: Vec<(String, usize)>) -> PyResult<Computation> {
        let lengths: Vec<(&str, usize)> = lengths
            .iter()
            .map(|(name, length)| (&**name, *length))
            .collect();
        let bound = self.0.bind(&lengths);
        bound.map(Computation).map_err(value_error)
    }
}
