//! `program`: programs from files.

mod circuit;

use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use madrigal_app::failure::Fault;
use madrigal_app::files::write_results;
use madrigal_app::flags::length_facts;
use madrigal_app::from_file::{FileValues, FromFile, Sink};
use madrigal_app::read::read_file;
use madrigal_core::{Digest256, Zeroizing};
use madrigal_models::data::ends;
use madrigal_program::{Array, Computation};
use madrigal_program_file::{BindError, Limits, ProgramFile, ReadError, proto};
use serde::Serialize;

use crate::args::{Length, OfFile, Program};
use crate::arrays::{file_of, npy_text};
use crate::exit::{Result, Status};
use crate::figures::{json_text, print};

/// A program that cannot be computed as it is asked for.
#[derive(Debug, thiserror::Error)]
enum Unfit {
    #[error("{}: {problem}", path.display())]
    File { path: PathBuf, problem: ReadError },
    #[error("{}: {problem} (--dim NAME=N)", path.display())]
    Length { path: PathBuf, problem: BindError },
    #[error("{}: {problem}", path.display())]
    Program { path: PathBuf, problem: BindError },
    #[error("--output {name}=...: {}", unknown(known))]
    Output { name: String, known: Vec<String> },
    #[error("--output {name}=... is given twice; give each output one file")]
    Twice { name: String },
}

fn unknown(known: &[String]) -> String {
    match known.is_empty() {
        true => "no output has come here".into(),
        false => format!(
            "no such output has come here, but {}: correct the name, or run the party that gets it",
            known.join(", ")
        ),
    }
}

impl Fault for Unfit {
    fn status(&self) -> Status {
        match self {
            Self::File { .. } | Self::Program { .. } => Status::File,
            Self::Length { .. } | Self::Output { .. } | Self::Twice { .. } => Status::Usage,
        }
    }
}

pub fn run(command: Program) -> Result<()> {
    let told = match command {
        Program::Info {
            file,
            lengths,
            json,
        } => info(&file, &lengths, json)?,
        Program::Circuit(of) => {
            circuit::make(&of)?;
            info(&of.save, &[], false)?
        }
        Program::Run(mut of) => with_outputs(&mut of, |program, of, sink| {
            program.run(&mut of.flags, sink)
        })?,
        Program::Simulate(mut of) => with_outputs(&mut of, |program, of, sink| {
            program.simulate(&of.flags, sink)
        })?,
        Program::Explain(mut of) => {
            with_program(&mut of, |program, of| program.explain(&mut of.flags))?
        }
        Program::Check(mut of) => {
            with_program(&mut of, |program, of| program.check(&mut of.flags))?
        }
    };
    print(told.as_bytes())
}

/// Reads a file and binds it.
fn load(path: &Path, lengths: &[Length]) -> Result<Computation> {
    bind(&read(path)?, path, lengths)
}

fn read(path: &Path) -> Result<ProgramFile> {
    let read = ProgramFile::open(path, &Limits::default());
    Ok(read.map_err(|problem| Unfit::File {
        path: path.to_owned(),
        problem,
    })?)
}

fn bind(file: &ProgramFile, path: &Path, lengths: &[Length]) -> Result<Computation> {
    let lengths: Vec<_> = lengths.iter().map(|one| (&*one.name, one.length)).collect();
    let path = || path.to_owned();
    let bound = file.bind(&lengths);
    Ok(bound.map_err(|problem| match problem {
        BindError::Unbound { .. } | BindError::Unknown { .. } | BindError::Length { .. } => {
            Unfit::Length {
                path: path(),
                problem,
            }
        }
        problem => Unfit::Program {
            path: path(),
            problem,
        },
    })?)
}

/// The name of a program: that of its file.
fn name(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or(path.as_os_str());
    stem.to_string_lossy().into_owned()
}

fn with_program(
    of: &mut OfFile,
    work: impl FnOnce(FromFile<'_>, &mut OfFile) -> Result<String>,
) -> Result<String> {
    let program = load(&of.file, &of.lengths)?;
    of.flags.read_files(values)?;
    let name = name(&of.file);
    let lengths = of.lengths.iter();
    let lengths = lengths.map(|one| (one.name.clone(), one.length));
    let program = FromFile {
        name: &name,
        program,
        lengths: length_facts(lengths),
        inputs: None,
    };
    work(program, of)
}

/// The values of an array of NumPy; other files are texts.
fn values(path: &Path) -> Result<Option<FileValues>> {
    if !ends(path, "npy") {
        return Ok(None);
    }
    let bytes = Zeroizing::new(read_file("read the input", path)?);
    let (text, shape) = npy_text(&bytes, path)?;
    Ok(Some(FileValues { text, shape }))
}

/// Has outputs go to their files, all or none, once they are there.
fn with_outputs(
    of: &mut OfFile,
    work: impl FnOnce(FromFile<'_>, &mut OfFile, Sink<'_>) -> Result<String>,
) -> Result<String> {
    let wanted = std::mem::take(&mut of.outputs);
    let mut names = HashSet::new();
    if let Some(twice) = wanted.iter().find(|output| !names.insert(&output.name)) {
        let name = twice.name.clone();
        return Err(Unfit::Twice { name }.into());
    }
    let (written, seen) = (RefCell::new(Vec::new()), RefCell::new(Vec::new()));
    let sink = |name: &str, array: &Array| {
        seen.borrow_mut().push(name.to_owned());
        let Some(output) = wanted.iter().find(|output| output.name == name) else {
            return Ok(false);
        };
        let bytes = file_of(array, &output.path)?;
        let content = (output.path.clone(), bytes.to_vec());
        written.borrow_mut().push(content);
        Ok(true)
    };
    let told = with_program(of, |program, of| work(program, of, &sink))?;
    let known = seen.take();
    if let Some(missing) = wanted.iter().find(|output| !known.contains(&output.name)) {
        let name = missing.name.clone();
        return Err(Unfit::Output { name, known }.into());
    }
    write_results(&written.take())?;
    Ok(told)
}

/// Ports of a program, as JSON has them.
#[derive(Serialize)]
struct Info {
    /// Name of the program: that of its file.
    program: String,
    /// Number of parties that compute.
    parties: u32,
    /// Mix of sharings that it is computed in unless a flag says another.
    mix: String,
    /// Names of the lengths that are given when it is computed.
    dimensions: Vec<String>,
    /// Inputs, in order.
    inputs: Vec<InputInfo>,
    /// Outputs, in order.
    outputs: Vec<OutputInfo>,
    /// Names of what it requires, or where that has none, its line.
    requirements: Vec<String>,
    /// Operations on tensors, and the digest that parties compare; `null` where a dimension has no length.
    bound: Option<Bound>,
}

/// An input.
#[derive(Serialize)]
struct InputInfo {
    /// Name of the input, or its place.
    name: String,
    /// Type of its elements.
    r#type: String,
    /// Lengths of its axes, in dimensions.
    axes: Vec<String>,
    /// Party or client that brings it.
    owner: String,
}

/// An output.
#[derive(Serialize)]
struct OutputInfo {
    /// Name of the output, or its place.
    name: String,
    /// Parties and clients that learn it.
    to: Vec<String>,
}

/// Facts about a program whose dimensions have lengths.
#[derive(Serialize)]
struct Bound {
    /// Operations on tensors, bodies of loops not counted.
    operations: usize,
    /// Digest that parties compare.
    digest: String,
}

fn info(path: &Path, lengths: &[Length], json: bool) -> Result<String> {
    let file = read(path)?;
    let message = file.message();
    let bound = match lengths.is_empty() && !file.dimensions().is_empty() {
        true => None,
        false => Some(bind(&file, path, lengths)?),
    };
    let named = |place: usize, name: &str| match name.is_empty() {
        true => place.to_string(),
        false => name.to_owned(),
    };
    let who = |holder: Option<&proto::Holder>| match holder.and_then(|holder| holder.who.as_ref()) {
        Some(proto::holder::Who::Party(party)) => format!("party {party}"),
        Some(proto::holder::Who::Client(client)) => format!("client {client}"),
        None => "nobody".into(),
    };
    let inputs = message.inputs.iter().enumerate();
    let outputs = message.outputs.iter().enumerate();
    let requirements = message.requirements.iter().enumerate();
    let info = Info {
        program: name(path),
        parties: message.parties,
        mix: message.mix.clone(),
        dimensions: file.dimensions().to_vec(),
        inputs: inputs
            .map(|(place, port)| InputInfo {
                name: named(place, &port.name),
                r#type: port.r#type.clone(),
                axes: port.axes.iter().map(|&axis| file.length(axis)).collect(),
                owner: who(port.owner.as_ref()),
            })
            .collect(),
        outputs: outputs
            .map(|(place, port)| OutputInfo {
                name: named(place, &port.name),
                to: port.to.iter().map(|one| who(Some(one))).collect(),
            })
            .collect(),
        requirements: requirements
            .map(|(place, one)| named(place, &one.name))
            .collect(),
        bound: bound.map(|program| Bound {
            operations: program.graph().nodes().len(),
            digest: Digest256::from(program.digest()).to_string(),
        }),
    };
    match json {
        true => json_text(&info),
        false => Ok(info.text()),
    }
}

impl Info {
    fn text(&self) -> String {
        let mut text = format!(
            "{}: {} parties, {} unless --mix says otherwise\n",
            self.program, self.parties, self.mix
        );
        if !self.dimensions.is_empty() {
            let _ = writeln!(text, "dimensions: {}", self.dimensions.join(", "));
        }
        for input in &self.inputs {
            let InputInfo {
                name,
                r#type,
                axes,
                owner,
            } = input;
            let axes = axes.join(", ");
            let _ = writeln!(text, "takes {name}: {type}[{axes}] of {owner}");
        }
        for OutputInfo { name, to } in &self.outputs {
            let _ = writeln!(text, "gives {name} to {}", to.join(", "));
        }
        for requirement in &self.requirements {
            let _ = writeln!(text, "requires {requirement}, or gives nothing");
        }
        if let Some(Bound { operations, digest }) = &self.bound {
            let _ = writeln!(text, "{operations} operations, digest {digest}");
        }
        text
    }
}
