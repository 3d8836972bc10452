//! A model's file without what was trained.

use std::collections::BTreeMap;

use prost::Message as _;

use super::Model;
use super::tensor::element;
use crate::error::ImportError;
use crate::graph::Graph;
use crate::import::{Fate, Live, Options, Source, kinds};
use crate::proto;
use crate::tensor::{Data, Element, Tensor};

/// A model's file for those who are to know its architecture alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stripped {
    /// The file.
    pub file: Vec<u8>,
    /// Parts that can still be read in it, beside names, operators and shapes.
    pub readable: Vec<Readable>,
    /// Tensors whose numbers are all 0 in it.
    pub tensors: usize,
    /// Numbers in these tensors.
    pub numbers: u64,
}

/// Numbers or text that stay in a file without weights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Readable {
    /// The name of the tensor, or of the node and its attribute.
    pub name: String,
    /// Kind of the part: elements and shape, or the type of an attribute.
    pub kind: String,
    /// Number of numbers; of text, bytes.
    pub count: u64,
}

/// Reasons why a model cannot be handed over without its weights.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StripError {
    /// A model that cannot be imported, so that nobody knows which of its numbers are weights.
    #[error("what of it was trained follows from how it is imported, and that fails: {0}")]
    Import(#[from] ImportError),
    /// A tensor serves both as weights and as something that all parties must know.
    #[error(
        "tensor {name:?} is used both for weights and for what all must know to build the network (a shape, a place, an \
         integer): keep two tensors in the model, one for each use"
    )]
    Both {
        /// The tensor's name, or that of the node whose attribute it is.
        name: String,
    },
    /// A model that is another network without its weights.
    #[error(
        "without its weights its node {node:?} is another one: what constants hold decides on the network; simplify the \
         model first (onnxsim)"
    )]
    Differs {
        /// The first node that is another one.
        node: String,
    },
}

impl Model {
    /// The model as a file for those who are to know its architecture alone.
    ///
    /// Weights are found from the result of the [import](Self::import): all tensors that weights are made of,
    /// whatever they are in the file, are 0, and what serves no output is gone, as are texts about the model. Integers,
    /// Booleans and single numbers without dimensions that the network reads as such stay, and so do attributes, names, and
    /// of the [notes](Self::note) Madrigal's own; [`Stripped::readable`] tells them. The options are those of an import;
    /// the file serves for others, too.
    ///
    /// # Errors
    /// [`StripError`] if the model cannot be imported, if what is trained decides on the network, or a tensor is both.
    pub fn without_weights(&self, options: &Options) -> Result<Stripped, StripError> {
        let (whole, trace) = self.import_traced(options)?;
        let fates: BTreeMap<Source, Fate> = trace.sources.into_iter().collect();
        if let Some((source, _)) = fates.iter().find(|(_, fate)| **fate == Fate::Both) {
            let name = self.name_of(*source);
            return Err(StripError::Both { name });
        }
        let stays = |source| fates.get(&source) == Some(&Fate::Stays);
        let mut made = Stripped {
            file: Vec::new(),
            readable: Vec::new(),
            tensors: 0,
            numbers: 0,
        };
        let live = Live::of(&self.graph);
        let mut initializer = Vec::new();
        for (place, stored) in self.graph.initializer.iter().enumerate() {
            if live.reads(&stored.name) {
                let stays = stays(Source::Initializer(place));
                initializer.push(made.tensor(stored, &stored.name, stays));
            }
        }
        let mut read: BTreeMap<(usize, usize), Vec<i32>> = BTreeMap::new();
        for (node, attribute, kind) in trace.attributes {
            read.entry((node, attribute)).or_default().push(kind);
        }
        let mut node = Vec::new();
        for (place, own) in self.graph.node.iter().enumerate() {
            if !live.runs(place) {
                continue;
            }
            let seen = read.range((place, 0)..(place + 1, 0));
            let attribute = seen.map(|(&(_, at), kinds)| {
                let source = Source::Attribute(place, at);
                let fate = fates.get(&source).map(|_| stays(source));
                made.attribute(own, &own.attribute[at], kinds, fate)
            });
            node.push(proto::Node {
                attribute: attribute.collect(),
                ..own.clone()
            });
        }
        // Old files list tensors among the inputs.
        let stored = self.weights();
        let kept = |input: &&proto::ValueInfo| {
            !stored.contains(&input.name[..]) || live.reads(&input.name)
        };
        let graph = proto::Graph {
            node,
            name: "stripped".into(),
            initializer,
            input: self.graph.input.iter().filter(kept).cloned().collect(),
            output: self.graph.output.clone(),
            sparse_initializer: Vec::new(),
        };
        let notes = self.own_notes();
        for note in &notes {
            made.readable.push(Readable {
                name: String::from_utf8_lossy(&note.key).into_owned(),
                kind: "note".into(),
                count: note.value.len() as u64,
            });
        }
        let message = proto::Model {
            ir_version: 8,
            producer_name: "madrigal".into(),
            graph: Some(graph),
            opset_import: vec![proto::OperatorSet {
                domain: String::new(),
                version: self.opset,
            }],
            metadata_props: notes,
            ..Default::default()
        };
        made.file = message.encode_to_vec();
        let bare = Model {
            graph: message.graph.unwrap_or_default(),
            ..self.clone()
        };
        match other_node(&whole, &bare.import(options)?) {
            Some(node) => Err(StripError::Differs { node }),
            None => Ok(made),
        }
    }

    fn name_of(&self, source: Source) -> String {
        let name = match source {
            Source::Initializer(place) => self.graph.initializer.get(place).map(|one| &one.name),
            Source::Attribute(node, _) => {
                let node = self.graph.node.get(node);
                node.map(|node| node.output.first().unwrap_or(&node.name))
            }
            Source::Given => None,
        };
        name.cloned().unwrap_or_default()
    }
}

impl Stripped {
    /// A tensor with its numbers, or with as many zeros; nothing else of what the file has.
    fn tensor(&mut self, stored: &proto::Tensor, name: &str, stays: bool) -> proto::Tensor {
        // An import has checked that the type is known, and that there are as many elements as the dimensions say.
        let ty = element(i64::from(stored.data_type)).unwrap_or(Element::U8);
        let sizes = stored.dims.iter().map(|&size| size as u64);
        let count: u64 = sizes.product();
        let mut bare = proto::Tensor {
            name: stored.name.clone(),
            dims: stored.dims.clone(),
            data_type: stored.data_type,
            ..Default::default()
        };
        if !stays {
            bare.raw_data = vec![0; count as usize * ty.bytes()].into();
            self.tensors += 1;
            self.numbers += count;
            return bare;
        }
        self.readable.push(Readable {
            name: name.to_owned(),
            kind: format!("{ty} {:?}", stored.dims),
            count,
        });
        bare.raw_data = stored.raw_data.clone();
        if bare.raw_data.is_empty() {
            match ty {
                Element::F32 => bare.float_data.clone_from(&stored.float_data),
                Element::F64 => bare.double_data.clone_from(&stored.double_data),
                Element::I64 => bare.int64_data.clone_from(&stored.int64_data),
                Element::U32 | Element::U64 => bare.uint64_data.clone_from(&stored.uint64_data),
                _ => {
                    let own = |value: &i32| match ty {
                        Element::F16 | Element::BF16 => value & 0xffff,
                        Element::Bool => i32::from(*value != 0),
                        _ => ty.wrap(i64::from(*value)) as i32,
                    };
                    bare.int32_data = stored.int32_data.iter().map(own).collect();
                }
            }
        }
        bare
    }

    /// An attribute with what was read of it. `stays` is what becomes of its numbers, where it is a tensor of the file.
    fn attribute(
        &mut self,
        node: &proto::Node,
        own: &proto::Attribute,
        read: &[i32],
        stays: Option<bool>,
    ) -> proto::Attribute {
        let maker = node.output.first().unwrap_or(&node.name);
        let name = format!("{maker}, {}", own.name);
        let mut bare = proto::Attribute {
            name: own.name.clone(),
            ..Default::default()
        };
        for &kind in read {
            if kind != kinds::NONE {
                bare.r#type = kind;
            }
            let (text, count) = match kind {
                kinds::FLOAT => {
                    bare.f = own.f;
                    ("float", 1)
                }
                kinds::INT => {
                    bare.i = own.i;
                    ("integer", 1)
                }
                kinds::STRING => {
                    bare.s = own.s.clone();
                    ("text", own.s.len())
                }
                kinds::TENSOR => {
                    let tensor = own.t.as_ref();
                    bare.t = tensor.map(|one| self.tensor(one, &name, stays != Some(false)));
                    continue;
                }
                kinds::FLOATS => {
                    bare.floats.clone_from(&own.floats);
                    ("floats", own.floats.len())
                }
                kinds::INTS => {
                    bare.ints.clone_from(&own.ints);
                    ("integers", own.ints.len())
                }
                _ => continue,
            };
            if stays == Some(false) {
                bare.floats.fill(0.0);
                bare.ints.fill(0);
                self.tensors += 1;
                self.numbers += count as u64;
                continue;
            }
            self.readable.push(Readable {
                name: name.clone(),
                kind: format!("attribute: {text}"),
                count: count as u64,
            });
        }
        bare
    }
}

/// The first node of a network that is another one in the second, weights left aside.
fn other_node(whole: &Graph, bare: &Graph) -> Option<String> {
    let values = whole.values().iter().zip(bare.values());
    let same: Vec<bool> = values
        .map(|(a, b)| {
            let constants = match (&a.constant, &b.constant) {
                (Some(a), Some(b)) => same_bits(a, b),
                (a, b) => a.is_none() == b.is_none(),
            };
            a.ty == b.ty && a.owned == b.owned && (constants || a.owned)
        })
        .collect();
    let differs = |node: &crate::graph::Node| {
        let mut values = node.inputs.iter().chain(&node.outputs);
        !values.all(|id| same.get(id.index()) == Some(&true))
    };
    let mut nodes = whole.nodes().iter().enumerate();
    let other = nodes.find(|(place, node)| {
        let own = bare.nodes().get(*place);
        let alike = own.is_some_and(|own| {
            own.name == node.name
                && own.operator == node.operator
                && own.op == node.op
                && own.inputs == node.inputs
                && own.outputs == node.outputs
        });
        !alike || differs(node)
    });
    let alike = whole.inputs() == bare.inputs()
        && whole.outputs() == bare.outputs()
        && whole.nodes().len() == bare.nodes().len()
        && same.iter().all(|&same| same);
    match (other, alike) {
        (Some((_, node)), _) => Some(node.name.clone()),
        (None, false) => Some(
            whole
                .outputs()
                .first()
                .map_or(String::new(), |one| one.0.clone()),
        ),
        (None, true) => None,
    }
}

/// Whether two tensors are the same, bit by bit: also where they are no numbers.
fn same_bits(a: &Tensor, b: &Tensor) -> bool {
    match (a.data(), b.data()) {
        (Data::F32(a), Data::F32(b)) => a
            .iter()
            .map(|v| v.to_bits())
            .eq(b.iter().map(|v| v.to_bits())),
        (Data::F64(a), Data::F64(b)) => a
            .iter()
            .map(|v| v.to_bits())
            .eq(b.iter().map(|v| v.to_bits())),
        (a, b) => a == b,
    }
}
