//! Random networks: ONNX models of a few layers, with weights and data among them that are at the ends of their ranges.

use madrigal_core::Party;
use madrigal_nn::Tensor;
use madrigal_nn::secret::{Format, Roles};
use madrigal_program::{Inputs, Rounding, Type};

use super::trials::Made;
use crate::common::{Net, Random, tensor};

/// The most elements of a value.
const MOST: usize = 64;

/// Bits of numbers, and those after the point.
const FORMATS: [(u32, u32); 6] = [(64, 16), (32, 12), (32, 8), (64, 24), (16, 6), (64, 16)];

/// Makes a network of `layers` layers with data, or `None` if there is none that can be computed on secrets. One of fewer
/// layers is the beginning of one of more.
pub(crate) fn network(seed: u64, layers: usize, parties: usize) -> Option<Made> {
    let mut random = Random::seeded(seed);
    let (bits, fraction) = FORMATS[random.below(FORMATS.len())];
    let roles = Roles {
        parties,
        model: Party::new(0),
        data: Party::new(1).into(),
        to: match random.below(2) {
            0 => vec![Party::new(1).into()],
            _ => Party::all(parties).map(Into::into).collect(),
        },
        public_model: random.below(3) == 0,
    };
    let format = Format {
        number: Type::fixed(bits, fraction)?,
        rounding: Rounding::Exact,
    };
    let shapes: [&[usize]; 5] = [&[1, 6], &[2, 5], &[1, 2, 4, 4], &[1, 1, 5, 6], &[3, 4]];
    let shape = shapes[random.below(shapes.len())].to_vec();
    let wide = axes(&shape);
    let mut maker = Maker {
        net: Net::new(18).input("x", &wide),
        values: vec![("x".into(), shape.clone())],
        made: 0,
        random,
        bits,
        fraction,
    };
    // Before the layers, so that these do not change it.
    let extreme = maker.random.below(3) == 0;
    let data = maker.numbers(shape.iter().product(), extreme);
    for _ in 0..layers {
        maker.layer();
    }
    let (last, _) = maker.values.last()?.clone();
    let net = maker.net.output(&last);
    let graph = net.import().ok()?;
    let network = graph.on_secrets(&roles, format).ok()?;
    let data: Vec<Tensor> = vec![tensor(&shape, &data)];
    let inputs = network.with_weights(&graph, Inputs::new()).ok()?;
    let inputs = network.with_data(&data, inputs).ok()?;
    let nodes = net.messages().graph.map(|graph| graph.node);
    let nodes = nodes.unwrap_or_default().into_iter();
    let nodes = nodes.map(|node| {
        format!(
            "{} = {}({})",
            node.output.join(" "),
            node.op_type,
            node.input.join(", ")
        )
    });
    Some(Made {
        program: network.program().clone(),
        inputs,
        what: format!(
            "a network in {bits}.{fraction}, {roles:?}\n{}",
            nodes.collect::<Vec<_>>().join("\n")
        ),
    })
}

fn axes(shape: &[usize]) -> Vec<i64> {
    shape.iter().map(|&axis| axis as i64).collect()
}

/// A network being made.
struct Maker {
    net: Net,
    /// The names and shapes of what there is.
    values: Vec<(String, Vec<usize>)>,
    made: usize,
    random: Random,
    bits: u32,
    fraction: u32,
}

impl Maker {
    /// Numbers of ordinary sizes, among them, or all of them, the ends of the type, those of what products take, and the
    /// least steps.
    fn numbers(&mut self, count: usize, extreme: bool) -> Vec<f32> {
        let end = 2f32.powi((self.bits - 1 - self.fraction) as i32);
        let product = 2f32.powi((self.bits - 1) as i32 - 2 * self.fraction as i32);
        let step = 2f32.powi(-(self.fraction as i32));
        let number = |_| {
            let size = self.random.float();
            match self.random.below(if extreme { 6 } else { 30 }) {
                0 => -end,
                1 => end * 0.999,
                2 => product * size,
                3 => [step, -step, 0.0][self.random.below(3)],
                4 => end * size * 0.999,
                _ => 3.0 * size,
            }
        };
        (0..count).map(number).collect()
    }

    /// A value, the last one most often.
    fn any(&mut self) -> (String, Vec<usize>) {
        let at = match self.random.below(3) {
            0 => self.random.below(self.values.len()),
            _ => self.values.len() - 1,
        };
        self.values[at].clone()
    }

    fn change(&mut self, change: impl FnOnce(Net) -> Net) {
        self.net = change(std::mem::take(&mut self.net));
    }

    /// A node by its operator and operands; its result is the last value then.
    fn node(&mut self, operator: &str, operands: &[&str], shape: Vec<usize>) {
        self.made += 1;
        let name = format!("v{}", self.made);
        let text = format!("{name} = {operator}({})", operands.join(", "));
        self.change(|net| net.node(&text));
        self.values.push((name, shape));
    }

    /// Weights of a shape.
    fn weights(&mut self, shape: &[usize]) -> String {
        let extreme = self.random.below(12) == 0;
        let mut numbers = self.numbers(shape.iter().product(), extreme);
        if !extreme {
            numbers
                .iter_mut()
                .for_each(|number| *number = number.clamp(-3.0, 3.0));
        }
        self.constant(shape, &numbers)
    }

    fn constant(&mut self, shape: &[usize], numbers: &[f32]) -> String {
        self.made += 1;
        let name = format!("w{}", self.made);
        let wide = axes(shape);
        self.change(|net| net.constant(&name, &wide, numbers));
        name
    }

    fn layer(&mut self) {
        let (name, shape) = self.any();
        let image = shape.len() == 4;
        match self.random.below(16) {
            0..4 => self.activation(&name, shape),
            4..7 => self.with_another(&name, shape),
            7..9 => self.with_weights(&name, shape),
            9 => self.small_by_large(&name, shape),
            10 if image => self.pool(&name, &shape),
            11 => self.moved(&name, shape),
            12 => self.normalised(&name, shape),
            13 => self.along_axis(&name, shape),
            _ if image && self.random.below(4) > 0 => self.convolution(&name, &shape),
            _ => self.dense(&name, &shape),
        }
    }

    fn activation(&mut self, name: &str, shape: Vec<usize>) {
        const ALL: [&str; 24] = [
            "Relu",
            "Relu",
            "Relu",
            "Tanh",
            "Tanh",
            "Erf",
            "Sigmoid",
            "Log",
            "Softplus",
            "Exp",
            "Sqrt",
            "Abs",
            "Neg",
            "Reciprocal",
            "Floor",
            "Ceil",
            "Round",
            "Sign",
            "LeakyRelu",
            "HardSigmoid",
            "HardSwish",
            "Elu",
            "Softsign",
            "Mish",
        ];
        let operator = ALL[self.random.below(ALL.len())];
        self.node(operator, &[name], shape);
    }

    fn with_another(&mut self, name: &str, shape: Vec<usize>) {
        let alike = self.values.iter().filter(|(_, other)| *other == shape);
        let names: Vec<String> = alike.map(|(name, _)| name.clone()).collect();
        let other = names[self.random.below(names.len())].clone();
        let operator = ["Mul", "Mul", "Add", "Sub", "Max", "Min", "Div", "Where"];
        let operator = operator[self.random.below(operator.len())];
        if operator != "Where" {
            return self.node(operator, &[name, &other], shape);
        }
        self.node("Less", &[name, &other], shape.clone());
        let condition = self.values.pop().map(|(name, _)| name).unwrap_or_default();
        self.node(operator, &[&condition, name, &other], shape);
    }

    fn with_weights(&mut self, name: &str, shape: Vec<usize>) {
        let scalar = self.random.below(2) == 0;
        let weights = match scalar {
            true => {
                let number = [0.01, 0.5, -3.0, 7.0, 1.0, 100.0][self.random.below(6)];
                self.constant(&[], &[number])
            }
            false => self.weights(&shape),
        };
        let operator = ["Mul", "Mul", "Add", "Sub", "Div", "PRelu", "Max"];
        let operator = operator[self.random.below(operator.len())];
        self.node(operator, &[name, &weights], shape);
    }

    /// `tanh(x) (x x)` and the like, and that times a small number.
    fn small_by_large(&mut self, name: &str, shape: Vec<usize>) {
        let operator = ["Tanh", "Erf", "Log", "Sigmoid", "Softplus"][self.random.below(5)];
        self.node(operator, &[name], shape.clone());
        let (small, _) = self.values[self.values.len() - 1].clone();
        self.node("Mul", &[name, name], shape.clone());
        let (square, _) = self.values[self.values.len() - 1].clone();
        self.node("Mul", &[&small, &square], shape.clone());
        let (product, _) = self.values[self.values.len() - 1].clone();
        let weights = match self.random.below(2) {
            0 => {
                let count = shape.iter().product();
                self.constant(&shape, &vec![0.01; count])
            }
            _ => self.weights(&shape),
        };
        self.node("Mul", &[&product, &weights], shape);
    }

    fn dense(&mut self, name: &str, shape: &[usize]) {
        let (mut name, mut rows, mut columns) = (name.to_string(), shape[0], shape[1]);
        if shape.len() == 4 {
            (rows, columns) = (1, shape.iter().product());
            self.node("Flatten", &[&name], vec![rows, columns]);
            name = format!("v{}", self.made);
        }
        let units = 1 + self.random.below(5);
        match self.random.below(2) {
            0 => {
                let weights = self.weights(&[units, columns]);
                let bias = self.weights(&[units]);
                self.node("Gemm", &[&name, &weights, &bias], vec![rows, units]);
                self.change(|net| net.int("transB", 1));
            }
            _ => {
                let weights = self.weights(&[columns, units]);
                self.node("MatMul", &[&name, &weights], vec![rows, units]);
            }
        }
    }

    fn convolution(&mut self, name: &str, shape: &[usize]) {
        let [_, channels, rows, columns] = *shape else {
            return;
        };
        let groups = if channels % 2 == 0 && self.random.below(3) == 0 {
            2
        } else {
            1
        };
        let filters = groups * (1 + self.random.below(2));
        let size = [
            1 + self.random.below(3.min(rows)),
            1 + self.random.below(3.min(columns)),
        ];
        let stride = [1 + self.random.below(2), 1 + self.random.below(2)];
        let dilation = [1 + self.random.below(2), 1];
        let pads = [0, 1, 2, 3].map(|_| self.random.below(2));
        let [tall, wide] = [0, 1].map(|at| {
            let length = [rows, columns][at] + pads[at] + pads[at + 2];
            let reach = (size[at] - 1) * dilation[at] + 1;
            length.checked_sub(reach).map(|rest| rest / stride[at] + 1)
        });
        let (Some(tall), Some(wide)) = (tall, wide) else {
            return;
        };
        if filters * tall * wide > MOST {
            return;
        }
        let weights = self.weights(&[filters, channels / groups, size[0], size[1]]);
        let bias = self.weights(&[filters]);
        let operands = [name, &weights, &bias];
        let operands = if self.random.below(2) == 0 {
            &operands[..]
        } else {
            &operands[..2]
        };
        self.node("Conv", operands, vec![1, filters, tall, wide]);
        self.change(|net| {
            net.int("group", groups as i64)
                .int_list("kernel_shape", &axes(&size))
                .int_list("strides", &axes(&stride))
                .int_list("dilations", &axes(&dilation))
                .int_list("pads", &axes(&pads))
        });
    }

    fn pool(&mut self, name: &str, shape: &[usize]) {
        let [_, channels, rows, columns] = *shape else {
            return;
        };
        let operator = ["MaxPool", "AveragePool", "GlobalAveragePool"][self.random.below(3)];
        if operator.starts_with("Global") {
            return self.node(operator, &[name], vec![1, channels, 1, 1]);
        }
        let size = [rows, columns].map(|length| length.min(2));
        let stride = [1 + self.random.below(2), 1 + self.random.below(2)];
        let [tall, wide] = [0, 1].map(|at| ([rows, columns][at] - size[at]) / stride[at] + 1);
        self.node(operator, &[name], vec![1, channels, tall, wide]);
        self.change(|net| {
            net.int_list("kernel_shape", &axes(&size))
                .int_list("strides", &axes(&stride))
        });
    }

    fn moved(&mut self, name: &str, shape: Vec<usize>) {
        let elements: usize = shape.iter().product();
        match self.random.below(3) {
            0 if shape.len() == 2 => {
                let turned = vec![shape[1], shape[0]];
                self.node("Transpose", &[name], turned);
            }
            1 if 2 * elements <= MOST => {
                let mut longer = shape.clone();
                longer[1] *= 2;
                self.node("Concat", &[name, name], longer);
                self.change(|net| net.int("axis", 1));
            }
            _ => self.node("Identity", &[name], shape),
        }
    }

    fn normalised(&mut self, name: &str, shape: Vec<usize>) {
        let channels = shape[1];
        let scale = self.weights(&[channels]);
        let bias = self.weights(&[channels]);
        let mean = self.weights(&[channels]);
        let variance: Vec<f32> = (0..channels)
            .map(|_| 0.1 + self.random.float().abs())
            .collect();
        let variance = self.constant(&[channels], &variance);
        self.node(
            "BatchNormalization",
            &[name, &scale, &bias, &mean, &variance],
            shape,
        );
    }

    fn along_axis(&mut self, name: &str, mut shape: Vec<usize>) {
        let axis = 1;
        let operators = [
            "Softmax",
            "LogSoftmax",
            "ReduceMean",
            "ReduceMax",
            "CumSum",
            "ArgMax",
        ];
        let operator = operators[self.random.below(operators.len())];
        match operator {
            "Softmax" | "LogSoftmax" => {
                self.node(operator, &[name], shape);
                self.change(|net| net.int("axis", axis));
            }
            "CumSum" => {
                self.made += 1;
                let place = format!("a{}", self.made);
                self.change(|net| net.ints(&place, &[axis]));
                self.node(operator, &[name, &place], shape);
            }
            "ArgMax" => {
                shape[axis as usize] = 1;
                self.node(operator, &[name], shape.clone());
                self.change(|net| net.int("axis", axis));
                let (places, _) = self.values.pop().unwrap_or_default();
                self.node("Cast", &[&places], shape);
                self.change(|net| net.int("to", 1));
            }
            _ => {
                shape[axis as usize] = 1;
                self.made += 1;
                let places = format!("a{}", self.made);
                self.change(|net| net.ints(&places, &[axis]));
                self.node(operator, &[name, &places], shape);
            }
        }
    }
}
