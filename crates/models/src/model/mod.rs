//! `model`: what a trained network consists of, what it costs, and what a fixed point makes of it.

mod calibrate;
mod compare;
mod explain;
mod onnx;
mod plot;
mod served;
mod told;

use std::collections::BTreeMap;

use madrigal_app::failure::Result;
use madrigal_app::figures::{print, print_text_as_json};
use madrigal_app::files::{self, Output};
use madrigal_app::numbers::{count, counted, table};
use madrigal_core::Party;
use madrigal_nn::secret::{Format, Roles};
use madrigal_nn::{Graph, Model as Onnx, Node, Size, Stripped, Tensor, ValueId};
use madrigal_program::{Inputs, Rounding};
use serde::Serialize;

use crate::args::{Check, Model, NumberArg, Strip};
use onnx::{model, options, sizes, wrong};
pub use told::Told;

/// The answer of `check`, as JSON has it.
#[derive(Serialize)]
struct Info {
    /// Version of ONNX's operators that the model uses.
    opset: i64,
    /// Program that wrote the model.
    producer: String,
    /// Inputs of the model.
    inputs: Vec<Port>,
    /// Outputs of the model.
    outputs: Vec<Port>,
    /// Floats among the constants that are used.
    parameters: u64,
    /// Products of numbers, in products, matrices and convolutions.
    multiplications: u64,
    /// Operators that are computed, once constants are computed and normalisations folded in.
    operators: Vec<Operator>,
    /// Nodes that are computed, in order.
    layers: Vec<Layer>,
}

/// An input or output.
#[derive(Serialize)]
struct Port {
    /// Name in the model.
    name: String,
    /// Type of its elements, as in `float32`.
    element: &'static str,
    /// Dimensions.
    shape: Vec<usize>,
}

/// How often an operator is used.
#[derive(Serialize)]
struct Operator {
    /// Name of the operator.
    operator: &'static str,
    /// How often it is used.
    count: u64,
}

/// One node of the graph that is computed.
#[derive(Serialize)]
struct Layer {
    /// Node of the model.
    name: String,
    /// Operator that is computed.
    operator: &'static str,
    /// Dimensions of the result.
    shape: Vec<usize>,
    /// Products of numbers in it.
    multiplications: u64,
}

/// Does what a command says, and prints the answer.
///
/// # Errors
/// [`Failure`](madrigal_app::failure::Failure): files, models and data that are not as they should be.
pub fn run(command: &Model) -> Result<()> {
    let json = match command {
        Model::Check(args) => args.json,
        Model::Strip(_) | Model::Program(_) => false,
        Model::Compare(args) => args.sample.json,
        Model::Explain(args) => args.json,
        Model::Calibrate(args) => args.sample.json,
    };
    let told = answer(command, None)?;
    match told.json {
        Some(text) if json => print_text_as_json(&text),
        _ => print(told.text.as_bytes()),
    }
}

/// Does what a command says. Data that is `given` takes the place of the files that the flags name.
///
/// # Errors
/// [`Failure`](madrigal_app::failure::Failure): files, models and data that are not as they should be.
pub fn answer(command: &Model, given: Option<Vec<Tensor>>) -> Result<Told> {
    match command {
        Model::Check(args) => {
            let info = read(args)?;
            Told::new(info.text(), &info)
        }
        Model::Strip(args) => strip(args),
        Model::Program(args) => served::write(args),
        Model::Compare(args) => compare::compare(args, given),
        Model::Explain(args) => explain::explain(args),
        Model::Calibrate(args) => calibrate::calibrate(args, given),
    }
}

/// Facts that the file of a model tells before its shapes are known.
#[derive(Debug)]
pub struct Ports {
    /// Version of ONNX's operators that the model uses.
    pub opset: i64,
    /// Program that wrote the model.
    pub producer: String,
    /// Inputs by name, with their axes where the file has them: numbers, or the names of sizes that are open.
    pub inputs: Vec<(String, Option<Vec<String>>)>,
}

/// Reads what the file of a model tells before its shapes are known.
///
/// # Errors
/// [`Failure`](madrigal_app::failure::Failure): a file that is no model.
pub fn ports(args: &Check) -> Result<Ports> {
    let model = model(&args.file, &args.sizes)?;
    let axis = |size: &Size<'_>| match size {
        Size::Fixed(size) => size.to_string(),
        Size::Open(name) => (*name).to_owned(),
    };
    let inputs = model.input_sizes().into_iter();
    let inputs = inputs.map(|(name, sizes)| {
        let axes = sizes.map(|sizes| sizes.iter().map(axis).collect());
        (name.to_owned(), axes)
    });
    Ok(Ports {
        opset: model.opset(),
        producer: model.producer().to_owned(),
        inputs: inputs.collect(),
    })
}

fn strip(args: &Strip) -> Result<Told> {
    let Strip {
        file,
        batch,
        sizes,
        output,
    } = args;
    let written = Output {
        flag: "--output",
        action: "write the model",
        path: Some(output),
    };
    files::check([file.as_path()], &[written])?;
    let stripped = model(file, sizes)?.without_weights(&options(*batch, sizes));
    let stripped = stripped.map_err(|error| wrong(file, error))?;
    files::write_bytes("write the model", output, &stripped.file)?;
    let text = left(&stripped);
    Ok(Told { text, json: None })
}

/// Rows of a table of what stays readable; a model that computes its shapes has hundreds.
const MOST: usize = 40;

/// Tells what was taken out of a model, and what stays.
fn left(stripped: &Stripped) -> String {
    let gone = format!(
        "taken out: {} in {}",
        counted(stripped.numbers, "number"),
        counted(stripped.tensors as u64, "tensor")
    );
    let names = "names, operators and shapes stay readable";
    if stripped.readable.is_empty() {
        return format!("{gone}; {names}, no numbers\n");
    }
    let mut rows = table(&["stays readable", "what it is", "numbers"]);
    for one in stripped.readable.iter().take(MOST) {
        rows.add_row([one.name.clone(), one.kind.clone(), count(one.count)]);
    }
    let more = match stripped.readable.len().saturating_sub(MOST) {
        0 => String::new(),
        more => {
            let rest = stripped.readable.iter().skip(MOST).map(|one| one.count);
            let rest = counted(rest.sum(), "number");
            format!("and {rest} in {} more\n", count(more as u64))
        }
    };
    format!("{gone}; {names}, and these numbers:\n\n{rows}\n{more}")
}

/// Reads what a model consists of, if `infer` can compute it: it becomes a program, and its weights numbers of the type.
fn read(args: &Check) -> Result<Info> {
    let Check { file, sizes, .. } = args;
    let model = model(file, sizes)?;
    let graph = model
        .import(&options(args.batch, sizes))
        .map_err(|error| wrong(file, error))?;
    let number = NumberArg::or_of(args.numbers, &model);
    let number = number.map_err(|problem| wrong(file, problem))?;
    let (owner, data) = (Party::new(0), Party::new(1));
    let roles = Roles {
        parties: 2,
        model: owner,
        data: data.into(),
        to: vec![data.into()],
        public_model: args.public_model,
    };
    let format = Format {
        number,
        rounding: Rounding::Exact,
    };
    let network = graph.on_secrets(&roles, format);
    let network = network.map_err(|error| wrong(file, error))?;
    let weights = network.with_weights(&graph, Inputs::new());
    weights.map_err(|error| wrong(file, error))?;
    Ok(Info::new(&model, &graph))
}

impl Info {
    fn new(model: &Onnx, graph: &Graph) -> Self {
        let port = |(name, id): &(String, ValueId)| {
            let ty = &graph.value(*id).ty;
            Port {
                name: name.clone(),
                element: ty.element.name(),
                shape: ty.shape.clone(),
            }
        };
        let mut uses: BTreeMap<&'static str, u64> = BTreeMap::new();
        for node in graph.nodes() {
            *uses.entry(node.op.name()).or_default() += 1;
        }
        let layer = |node: &Node| Layer {
            name: node.name.clone(),
            operator: node.op.name(),
            shape: graph.value(node.outputs[0]).ty.shape.clone(),
            multiplications: graph.multiplications(node),
        };
        let figures = graph.count();
        let operators = uses.into_iter();
        Self {
            opset: model.opset(),
            producer: model.producer().to_owned(),
            inputs: graph.inputs().iter().map(port).collect(),
            outputs: graph.outputs().iter().map(port).collect(),
            parameters: figures.parameters,
            multiplications: figures.multiplications,
            operators: operators
                .map(|(operator, count)| Operator { operator, count })
                .collect(),
            layers: graph.nodes().iter().map(layer).collect(),
        }
    }

    fn text(&self) -> String {
        let mut whole = table(&["", "in the model"]);
        let ports = |ports: &[Port]| {
            let all = ports.iter();
            let all = all.map(|p| format!("{} ({} {})", p.name, p.element, sizes(&p.shape)));
            all.collect::<Vec<_>>().join(", ")
        };
        let uses = self.operators.iter();
        let uses = uses.map(|one| format!("{} {}", one.count, one.operator));
        for (name, value) in [
            ("made by", self.producer.clone()),
            ("version of operators", self.opset.to_string()),
            ("inputs", ports(&self.inputs)),
            ("outputs", ports(&self.outputs)),
            ("parameters", count(self.parameters)),
            ("multiplications", count(self.multiplications)),
            ("operators", uses.collect::<Vec<_>>().join(", ")),
        ] {
            whole.add_row([name.to_owned(), value]);
        }
        let mut layers = table(&["layer", "operator", "result", "multiplications"]);
        for layer in &self.layers {
            let name = layer.name.clone();
            let multiplications = count(layer.multiplications);
            let (operator, shape) = (layer.operator.to_owned(), sizes(&layer.shape));
            layers.add_row([name, operator, shape, multiplications]);
        }
        format!("{whole}\n\n{layers}\n")
    }
}
