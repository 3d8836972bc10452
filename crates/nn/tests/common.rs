//! Small models, made by hand.

use madrigal_nn::{Graph, ImportError, Limits, Model, Options, Tensor, proto};
use prost::Message as _;

/// A model that grows node by node.
#[derive(Clone, Default)]
pub(crate) struct Net {
    graph: proto::Graph,
    opset: i64,
}

fn dimension(size: i64, name: &str) -> proto::Dimension {
    use proto::dimension::Value;
    let value = match name {
        "" => Value::DimValue(size),
        name => Value::DimParam(name.into()),
    };
    proto::Dimension { value: Some(value) }
}

/// A tensor for a file: f32.
pub(crate) fn floats(name: &str, shape: &[i64], values: &[f32]) -> proto::Tensor {
    proto::Tensor {
        name: name.into(),
        dims: shape.to_vec(),
        data_type: 1,
        raw_data: values.iter().flat_map(|v| v.to_le_bytes()).collect(),
        ..Default::default()
    }
}

/// A tensor for a file: a vector of i64.
pub(crate) fn ints(name: &str, values: &[i64]) -> proto::Tensor {
    proto::Tensor {
        name: name.into(),
        dims: vec![values.len() as i64],
        data_type: 7,
        int64_data: values.to_vec(),
        ..Default::default()
    }
}

/// A tensor for a file: integers of an element type of ONNX's numbering that has its numbers in 32 bits.
pub(crate) fn proto_integers(
    name: &str,
    code: i32,
    shape: &[i64],
    values: &[i32],
) -> proto::Tensor {
    proto::Tensor {
        name: name.into(),
        dims: shape.to_vec(),
        data_type: code,
        int32_data: values.to_vec(),
        ..Default::default()
    }
}

impl Net {
    pub(crate) fn new(opset: i64) -> Net {
        Net {
            opset,
            ..Net::default()
        }
    }

    /// An input of an element type of ONNX's numbering; -1 is a dimension named `N`.
    pub(crate) fn input_of(mut self, name: &str, code: i32, shape: &[i64]) -> Net {
        let dim = |&size: &i64| dimension(size, if size < 0 { "N" } else { "" });
        let shape = proto::Shape {
            dim: shape.iter().map(dim).collect(),
        };
        let ty = proto::TensorType {
            elem_type: code,
            shape: Some(shape),
        };
        let value = Some(proto::r#type::Value::TensorType(ty));
        self.graph.input.push(proto::ValueInfo {
            name: name.into(),
            r#type: Some(proto::Type { value }),
        });
        self
    }

    /// An input of f32.
    pub(crate) fn input(self, name: &str, shape: &[i64]) -> Net {
        self.input_of(name, 1, shape)
    }

    pub(crate) fn tensor(mut self, tensor: proto::Tensor) -> Net {
        self.graph.initializer.push(tensor);
        self
    }

    pub(crate) fn constant(self, name: &str, shape: &[i64], values: &[f32]) -> Net {
        self.tensor(floats(name, shape, values))
    }

    pub(crate) fn ints(self, name: &str, values: &[i64]) -> Net {
        self.tensor(ints(name, values))
    }

    /// `"y z = Operator(a, b)"`
    pub(crate) fn node(mut self, text: &str) -> Net {
        let (outputs, rest) = text.split_once(" = ").unwrap();
        let (operator, inputs) = rest.trim_end_matches(')').split_once('(').unwrap();
        let inputs = inputs.split(',').map(|name| name.trim().to_string());
        self.graph.node.push(proto::Node {
            op_type: operator.into(),
            name: format!("node_{}", self.graph.node.len()),
            output: outputs.split(' ').map(String::from).collect(),
            input: inputs.collect(),
            ..Default::default()
        });
        self
    }

    fn attribute(mut self, attribute: proto::Attribute) -> Net {
        let node = self.graph.node.last_mut().unwrap();
        node.attribute.push(attribute);
        self
    }

    /// An attribute of the last node.
    pub(crate) fn int(self, name: &str, i: i64) -> Net {
        self.attribute(proto::Attribute {
            name: name.into(),
            r#type: 2,
            i,
            ..Default::default()
        })
    }

    pub(crate) fn int_list(self, name: &str, ints: &[i64]) -> Net {
        self.attribute(proto::Attribute {
            name: name.into(),
            r#type: 7,
            ints: ints.to_vec(),
            ..Default::default()
        })
    }

    pub(crate) fn float(self, name: &str, f: f32) -> Net {
        self.attribute(proto::Attribute {
            name: name.into(),
            r#type: 1,
            f,
            ..Default::default()
        })
    }

    pub(crate) fn text(self, name: &str, text: &str) -> Net {
        self.attribute(proto::Attribute {
            name: name.into(),
            r#type: 3,
            s: text.as_bytes().to_vec().into(),
            ..Default::default()
        })
    }

    pub(crate) fn output(mut self, name: &str) -> Net {
        self.graph.output.push(proto::ValueInfo {
            name: name.into(),
            r#type: None,
        });
        self
    }

    /// Gives the model as messages, to be made worse.
    pub(crate) fn messages(&self) -> proto::Model {
        proto::Model {
            ir_version: 8,
            producer_name: "tests".into(),
            graph: Some(self.graph.clone()),
            opset_import: vec![proto::OperatorSet {
                domain: String::new(),
                version: self.opset,
            }],
            ..Default::default()
        }
    }

    pub(crate) fn file(&self) -> Vec<u8> {
        self.messages().encode_to_vec()
    }

    pub(crate) fn import(&self) -> Result<Graph, ImportError> {
        self.import_with(&Options::default())
    }

    pub(crate) fn import_with(&self, options: &Options) -> Result<Graph, ImportError> {
        let model = Model::read(self.file(), &Limits::default()).unwrap();
        model.import(options)
    }

    /// Gives the results of the model on inputs.
    pub(crate) fn run(&self, inputs: &[Tensor]) -> Vec<Tensor> {
        self.import().unwrap().evaluate(inputs).unwrap()
    }

    /// Gives the result of the model on f32, where that is one tensor: its shape and elements.
    pub(crate) fn run_f32(&self, inputs: &[Tensor]) -> (Vec<usize>, Vec<f32>) {
        let made = self.run(inputs);
        (made[0].shape().to_vec(), made[0].as_f32().unwrap().to_vec())
    }
}

/// A tensor of f32.
pub(crate) fn tensor(shape: &[usize], values: &[f32]) -> Tensor {
    Tensor::f32(shape.to_vec(), values.to_vec()).unwrap()
}

/// The elements 0, 1, 2, ...
pub(crate) fn counting(shape: &[usize]) -> Tensor {
    let count: usize = shape.iter().product();
    tensor(shape, &(0..count).map(|v| v as f32).collect::<Vec<_>>())
}

/// Random numbers that a seed repeats: `MADRIGAL_SEED`, or one of the clock, which is printed.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new() -> Random {
        let given = std::env::var("MADRIGAL_SEED").ok();
        let clock = || {
            let now = std::time::SystemTime::now();
            now.duration_since(std::time::UNIX_EPOCH)
                .unwrap()
                .as_nanos() as u64
        };
        let seed = given.map_or_else(clock, |seed| seed.parse().unwrap());
        println!("MADRIGAL_SEED={seed}");
        Random(seed)
    }

    /// Makes a source of random numbers from a seed that is told elsewhere.
    pub(crate) fn seeded(seed: u64) -> Random {
        Random(seed)
    }

    /// Below `bound`. SplitMix64.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) % bound.max(1) as u64) as usize
    }

    /// Draws a number between -1 and 1.
    pub(crate) fn float(&mut self) -> f32 {
        self.below(2001) as f32 / 1000.0 - 1.0
    }

    pub(crate) fn tensor(&mut self, shape: &[usize]) -> Tensor {
        let count: usize = shape.iter().product();
        tensor(shape, &(0..count).map(|_| self.float()).collect::<Vec<_>>())
    }
}
