//! From a model's nodes to primitive operators.
//!
//! Each family of operators has a file with a table: name and importer. An importer reads a node's inputs and
//! attributes as its version of ONNX has them, and adds primitive operators that do the same.

mod activations;
mod arithmetic;
mod at_once;
mod builder;
mod constants;
mod fuse;
mod indexing;
mod legacy;
mod linear;
mod live;
mod logic;
mod normalize;
mod open;
mod options;
mod origin;
mod pad;
mod pool;
mod quantize;
mod reduce;
mod resize;
mod shapes;
mod table;
mod view;

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

use builder::Builder;
pub(crate) use live::Live;
pub use open::Size;
pub use options::Options;
pub(crate) use origin::{Fate, Source, Trace};
use table::{Importer, Table};
use view::View;
pub(crate) use view::kinds;

use crate::error::{Fault, ImportError, Problem};
use crate::graph::{Graph, Type, ValueId};
use crate::proto;
use crate::read::{Limits, Model, element, tensor};
use crate::tensor::{Element, MAX_RANK, Tensor, elements};

/// All families.
const TABLES: [Table; 13] = [
    activations::TABLE,
    arithmetic::TABLE,
    constants::TABLE,
    indexing::TABLE,
    linear::TABLE,
    logic::TABLE,
    normalize::TABLE,
    pad::TABLE,
    pool::TABLE,
    quantize::TABLE,
    reduce::TABLE,
    resize::TABLE,
    shapes::TABLE,
];

/// The names of ONNX's operators that are supported, in alphabetical order.
pub fn supported_operators() -> Vec<&'static str> {
    let names = TABLES.iter().flat_map(|table| table.iter());
    let names: BTreeSet<&str> = names.map(|(name, _)| *name).collect();
    names.into_iter().collect()
}

fn importer(operator: &str) -> Option<Importer> {
    let mut entries = TABLES.iter().flat_map(|table| table.iter());
    let found = entries.find(|(name, _)| *name == operator)?;
    Some(found.1)
}

/// Problems after which no more are looked for: a model of somebody's has a few, a file made to keep us busy has many.
const MAX_PROBLEMS: usize = 1000;

/// Advice about an operator that is not supported.
fn advice(operator: &str) -> &'static str {
    match operator {
        "If" | "Loop" | "Scan" | "SequenceMap" => {
            "simplify the model (onnxsim), which removes branches and loops that depend on no input"
        }
        "LSTM" | "GRU" | "RNN" => "unroll it into matrix products and activations",
        "NonZero" | "Unique" | "Compress" | "NonMaxSuppression" => {
            "the size of its result depends on the data; leave it to whoever gets the output"
        }
        _ => "write this part of the network with operators that are, and export it again",
    }
}

impl Model {
    /// Makes a graph of primitive operators of the model.
    ///
    /// # Errors
    /// [`ImportError`]: all that is wrong, unsupported, or not known, at once.
    pub fn import(&self, options: &Options) -> Result<Graph, ImportError> {
        Ok(self.import_traced(options)?.0)
    }

    /// The graph, and what of the file it was made of.
    pub(crate) fn import_traced(&self, options: &Options) -> Result<(Graph, Trace), ImportError> {
        self.import_as(options)
            .map_err(|error| self.for_one_alone(error, options))
    }

    /// Gives the same error, unless the size of the batch is all that is wrong: then that.
    ///
    /// Exporters write the size of the batch that they saw into Reshape, Expand and others, where it fails as a shape
    /// that says nothing of batches. A batch that is too large for the limits says so by itself.
    fn for_one_alone(&self, error: ImportError, options: &Options) -> ImportError {
        let (Some(batch @ 2..), [Problem::Node { node, fault, .. }, ..]) =
            (options.batch, &error.problems[..])
        else {
            return error;
        };
        let large = matches!(
            fault,
            Fault::TooLarge { .. } | Fault::TooMuchWork { .. } | Fault::Memory { .. }
        );
        if large {
            return error;
        }
        let one = Options {
            batch: Some(1),
            ..options.clone()
        };
        if self.import_as(&one).is_err() {
            return error;
        }
        let node = node.clone();
        ImportError {
            problems: vec![Problem::OneAtATime { batch, node }],
        }
    }

    fn import_as(&self, options: &Options) -> Result<(Graph, Trace), ImportError> {
        let live = Live::of(&self.graph);
        let mut import = Import {
            builder: Builder::new(&self.limits, self.budget()),
            live: &live,
            scope: HashMap::new(),
            inputs: Vec::new(),
            problems: Vec::new(),
            seen: RefCell::default(),
        };
        import.constants(&self.graph, &self.limits);
        import.sparse(&self.sparse);
        import.inputs(self, options);
        let nodes = self.graph.node.iter().enumerate();
        for (place, node) in nodes.filter(|(place, _)| live.runs(*place)) {
            if import.problems.len() >= MAX_PROBLEMS {
                import.problems.push(Problem::More);
                break;
            }
            import.node(place, node, self.opset, &self.limits);
        }
        let mut outputs = Vec::new();
        for output in &self.graph.output {
            match import.scope.get(&output.name[..]) {
                Some(Some(id)) => outputs.push((output.name.clone(), *id)),
                // The problem of the output's maker is told.
                Some(None) => {}
                None if import.problems.len() < MAX_PROBLEMS => {
                    import.problems.push(Problem::OutputUndefined {
                        output: output.name.clone(),
                    });
                }
                None => {}
            }
        }
        if !import.problems.is_empty() {
            let problems = import.problems;
            return Err(ImportError { problems });
        }
        let graph = Graph {
            values: import.builder.values,
            nodes: import.builder.nodes,
            inputs: import.inputs,
            outputs,
            trained: 0,
            memory: import.builder.budget.left(),
        };
        let mut origins = import.builder.origins;
        let mut graph = fuse::fuse(graph, &mut origins);
        let sources = origins.decide(&mut graph);
        let mut attributes = import.seen.into_inner();
        attributes.sort_unstable();
        attributes.dedup();
        let trace = Trace {
            sources,
            attributes,
        };
        let graph = fuse::clean(graph);
        at_once::check(&graph).map_err(|problem| ImportError {
            problems: vec![problem],
        })?;
        Ok((graph, trace))
    }
}

/// The state of an import. Names are the file's.
struct Import<'a> {
    builder: Builder,
    live: &'a Live<'a>,
    /// Values by name; none where their maker has a problem.
    scope: HashMap<&'a str, Option<ValueId>>,
    inputs: Vec<(String, ValueId)>,
    problems: Vec<Problem>,
    /// Places of nodes and attributes that were looked at, and the types that were wanted.
    seen: RefCell<Vec<(usize, usize, i32)>>,
}

impl<'a> Import<'a> {
    fn constants(&mut self, graph: &'a proto::Graph, limits: &Limits) {
        let stored = graph.initializer.iter().enumerate();
        for (place, stored) in stored.filter(|(_, stored)| self.live.reads(&stored.name)) {
            let value = match tensor(stored, limits, &self.builder.budget) {
                Ok(tensor) => Some(self.builder.stored(tensor, Source::Initializer(place))),
                Err(error) => {
                    self.problems.push(Problem::Initializer { error });
                    None
                }
            };
            self.scope.insert(&stored.name, value);
        }
    }

    /// Sparse tensors, by name: they are refused where they are read.
    fn sparse(&mut self, names: &'a [String]) {
        for name in names.iter().filter(|name| self.live.reads(name)) {
            self.problems.push(Problem::Sparse {
                tensor: name.clone(),
            });
            self.scope.insert(name, None);
        }
    }

    fn inputs(&mut self, model: &'a Model, options: &Options) {
        let (graph, limits) = (&model.graph, &model.limits);
        let weights = model.weights();
        let names = graph.input.iter().map(|input| &input.name);
        let names: Vec<&String> = names.collect();
        let told = options.shapes.keys().chain(options.constants.keys());
        for name in told.filter(|name| !names.contains(name)) {
            self.problems.push(Problem::NoSuchInput {
                input: name.clone(),
                known: names.iter().map(|name| (*name).clone()).collect(),
            });
        }
        for name in options.dimensions.keys() {
            let known = open::names(graph);
            if !known.contains(&name[..]) {
                self.problems.push(Problem::NoSuchDimension {
                    name: name.clone(),
                    known: known.into_iter().map(String::from).collect(),
                });
            }
        }
        for input in &graph.input {
            // Old files list weights among the inputs.
            if weights.contains(&input.name[..]) {
                continue;
            }
            let value = match given(input, options, limits) {
                Ok(Given::Constant(tensor)) => Some(self.builder.stored(tensor, Source::Given)),
                Ok(Given::Input(ty)) => {
                    let id = self.builder.input(ty);
                    self.inputs.push((input.name.clone(), id));
                    Some(id)
                }
                Err(problem) => {
                    self.problems.push(problem);
                    None
                }
            };
            self.scope.insert(&input.name, value);
        }
    }

    fn node(&mut self, place: usize, node: &'a proto::Node, opset: i64, limits: &Limits) {
        let name = match (&node.name[..], node.output.first()) {
            ("", Some(output)) => output.clone(),
            (name, _) => name.to_string(),
        };
        self.builder.label = (name, node.op_type.clone());
        let made = match self.import(place, node, opset, limits) {
            Ok(made) => made,
            Err(fault) => {
                self.fault(fault);
                None
            }
        };
        let outputs = node.output.iter().enumerate();
        for (index, output) in outputs.filter(|(_, output)| !output.is_empty()) {
            let value = made.as_ref().and_then(|made| made.get(index).copied());
            if self.scope.insert(output, value).is_some() {
                let name = output.clone();
                self.fault(Fault::Redefined { name });
            }
            if made.is_some() && value.is_none() && self.live.reads(output) {
                let what = "beyond those that are known";
                self.fault(Fault::Output { what });
            }
        }
    }

    fn fault(&mut self, fault: Fault) {
        let (node, operator) = self.builder.label.clone();
        self.problems.push(Problem::Node {
            node,
            operator,
            fault,
        });
    }

    /// Imports a node and gives what it makes; nothing if it reads what has a problem.
    fn import(
        &mut self,
        place: usize,
        node: &'a proto::Node,
        opset: i64,
        limits: &Limits,
    ) -> Result<Option<Vec<ValueId>>, Fault> {
        if !node.domain.is_empty() && node.domain != "ai.onnx" {
            let domain = node.domain.clone();
            return Err(Fault::Domain { domain });
        }
        let importer = importer(&node.op_type).ok_or(Fault::Operator {
            advice: advice(&node.op_type),
        })?;
        let mut inputs = Vec::with_capacity(node.input.len());
        for name in &node.input {
            inputs.push(match (&name[..], self.scope.get(&name[..])) {
                ("", _) => None,
                (_, Some(Some(id))) => Some(*id),
                (_, Some(None)) => return Ok(None),
                (_, None) => return Err(Fault::Undefined { name: name.clone() }),
            });
        }
        while inputs.last() == Some(&None) {
            inputs.pop();
        }
        let view = View {
            proto: node,
            place,
            seen: &self.seen,
            opset,
            inputs: &inputs,
            limits,
            sources: &self.inputs,
            live: self.live,
        };
        if opset >= 7 {
            return importer(&mut self.builder, &view).map(Some);
        }
        let inputs = legacy::inputs(&mut self.builder, &view)?;
        let view = View {
            inputs: &inputs,
            ..view
        };
        importer(&mut self.builder, &view).map(Some)
    }
}

enum Given {
    Constant(Tensor),
    Input(Type),
}

/// Gives the type of an input of the model.
fn given(input: &proto::ValueInfo, options: &Options, limits: &Limits) -> Result<Given, Problem> {
    use proto::{dimension, r#type::Value};
    let name = || input.name.clone();
    let ty = input.r#type.as_ref().and_then(|ty| ty.value.as_ref());
    let Some(Value::TensorType(ty)) = ty else {
        return Err(Problem::InputKind { input: name() });
    };
    let code = i64::from(ty.elem_type);
    let element = element(code).ok_or_else(|| Problem::InputElement {
        input: name(),
        code,
    })?;
    let dimensions = ty.shape.as_ref().map(|shape| &shape.dim);
    let fits = |shape: &[usize]| dimensions.is_none_or(|dims| dims.len() == shape.len());
    let wrong = |element: Element, shape: &[usize]| Problem::Given {
        input: name(),
        expected: match dimensions {
            Some(dims) => format!(
                "a tensor of {} in {} dimensions",
                code_name(code),
                dims.len()
            ),
            None => format!("a tensor of {}", code_name(code)),
        },
        found: Type {
            element,
            shape: shape.to_vec(),
        }
        .to_string(),
    };
    if let Some(constant) = options.constants.get(&input.name) {
        let shape = constant.shape();
        return match constant.element() == element && fits(shape) {
            true => Ok(Given::Constant(constant.clone())),
            false => Err(wrong(constant.element(), shape)),
        };
    }
    let shape = match (options.shapes.get(&input.name), dimensions) {
        (Some(shape), _) if fits(shape) => shape.clone(),
        (Some(shape), _) => return Err(wrong(element, shape)),
        (None, None) => return Err(Problem::InputShape { input: name() }),
        (None, Some(dims)) => {
            let sizes = dims.iter().enumerate().map(|(axis, dim)| {
                let batch = options.batch.filter(|_| axis == 0);
                let (size, name) = match &dim.value {
                    Some(dimension::Value::DimValue(1)) => (Some(batch.unwrap_or(1)), ""),
                    // Some exporters write -1 for a size that is open.
                    Some(dimension::Value::DimValue(size)) => {
                        (usize::try_from(*size).ok().or(batch), "")
                    }
                    Some(dimension::Value::DimParam(name)) => {
                        (options.dimensions.get(name).copied().or(batch), &name[..])
                    }
                    None => (batch, ""),
                };
                size.ok_or_else(|| Problem::Dimension {
                    input: input.name.clone(),
                    axis,
                    name: name.to_string(),
                })
            });
            sizes.collect::<Result<_, _>>()?
        }
    };
    let rank = shape.len();
    if rank > MAX_RANK || elements(&shape).is_none_or(|count| count > limits.elements) {
        return Err(Problem::InputSize {
            input: name(),
            shape,
            limit: limits.elements,
        });
    }
    Ok(Given::Input(Type { element, shape }))
}

/// The name of an element type, for errors.
fn code_name(code: i64) -> &'static str {
    element(code).map_or("elements that are not supported", Element::name)
}
