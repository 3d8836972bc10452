//! Networks as HyCC compiles them: a gate for each product and each sum of whole numbers of 32 bits, Boolean
//! circuits for what is not linear, and nothing is truncated.

use std::collections::HashMap;

use madrigal_circuit::hycc::BitSharing;
use madrigal_circuit::{Builder, Goal, Netlist};
use madrigal_core::{Party, Zeroizing};
use madrigal_hycc::{Flat, Hybrid, Options, Values};
use madrigal_nn::{Binary, Graph, Node, Op, Unary, ValueId, Window};

use crate::exit::{Failure, Result};
use crate::programs::measure::Gates;
use crate::programs::workloads::Random;

const WIDTH: u8 = 32;

/// Party that owns the weights.
const OWNER: u8 = 0;
/// Party that owns the data.
const CLIENT: u8 = 1;

/// Makes the network on random numbers, in `copies` copies side by side; the data's owner gets the outputs.
pub(super) fn network(graph: &Graph, sharing: BitSharing, copies: usize) -> Result<Gates> {
    let flat = Making::new(graph, sharing).made()?;
    let to = [Party::new(usize::from(CLIENT))];
    let hybrid = Hybrid::new(&flat, &Options::default(), 2, copies, &to).map_err(Failure::bug)?;
    let mut random = Random::new()?;
    let (mut values, mut expected) = (Values::new(copies), Values::new(copies));
    for run in 0..copies {
        let mut bits = |count: u64| -> Vec<u8> {
            let words = random
                .words(count as usize / usize::from(WIDTH))
                .into_iter();
            let bits = words.flat_map(|word| (0..WIDTH).map(move |bit| (word >> bit & 1) as u8));
            bits.collect()
        };
        let widths = flat.inputs.iter().map(|input| input.ty.bits());
        let inputs: Vec<Vec<u8>> = widths.map(&mut bits).collect();
        for (output, bits) in flat.outputs.iter().zip(flat.evaluate(&inputs)) {
            expected.put(run, &output.name, Zeroizing::new(bits));
        }
        for (input, bits) in flat.inputs.iter().zip(inputs) {
            values.put(run, &input.name, Zeroizing::new(bits));
        }
    }
    Ok(Gates {
        hybrid,
        values,
        expected,
    })
}

/// A program, and the nodes of each value that is there.
struct Making<'a> {
    graph: &'a Graph,
    flat: Flat,
    words: HashMap<ValueId, Vec<u32>>,
    sharing: BitSharing,
    relu: Netlist,
    max: Netlist,
}

impl<'a> Making<'a> {
    /// Begins with weights and data.
    fn new(graph: &'a Graph, sharing: BitSharing) -> Self {
        // Boolean GMW wants few layers, garbled circuits few ANDs.
        let goal = match sharing {
            BitSharing::Gmw => Goal::Depth,
            BitSharing::Yao => Goal::Size,
        };
        let mut making = Self {
            graph,
            flat: Flat::new(),
            words: HashMap::new(),
            sharing,
            relu: relu(goal),
            max: max(goal),
        };
        for (place, (id, _)) in graph.constants().into_iter().enumerate() {
            making.input(&format!("INPUT_A_weights{place}"), OWNER, id);
        }
        for (place, (_, id)) in graph.inputs().iter().enumerate() {
            making.input(&format!("INPUT_B_data{place}"), CLIENT, *id);
        }
        making
    }

    fn input(&mut self, name: &str, owner: u8, id: ValueId) {
        let count = self.graph.value(id).ty.elements() as u32;
        let words = self.flat.input(name, owner, count, WIDTH);
        self.words.insert(id, words);
    }

    fn made(mut self) -> Result<Flat> {
        for node in self.graph.nodes() {
            let words = self.node(node)?;
            self.words.insert(node.outputs[0], words);
        }
        for (place, (_, id)) in self.graph.outputs().iter().enumerate() {
            let name = format!("OUTPUT_{place}");
            self.flat.output(&name, &self.words[id]);
        }
        Ok(self.flat)
    }

    fn node(&mut self, node: &Node) -> Result<Vec<u32>> {
        let of = |place: usize| node.inputs.get(place);
        let words = |place: usize| of(place).map_or(&[][..], |id| &self.words[id]).to_vec();
        let shape = |place: usize| of(place).map_or(&[][..], |id| &self.graph.value(*id).ty.shape);
        let (data, other) = (words(0), words(1));
        match (&node.op, shape(0), shape(1)) {
            (Op::Reshape { .. }, ..) => Ok(data),
            (Op::Unary(Unary::Relu), ..) => {
                let each = data.iter();
                let each = each.flat_map(|&x| self.flat.through(&self.relu, &[x], self.sharing));
                Ok(each.collect())
            }
            (Op::Binary(Binary::Mul), a, b) if a == b => {
                let pairs = data.iter().zip(&other);
                Ok(pairs.map(|(&a, &b)| self.flat.product(a, b)).collect())
            }
            (Op::MatMul, &[1, inner], &[_, columns]) => {
                let mut sums = Vec::with_capacity(columns);
                for column in 0..columns {
                    let pairs = (0..inner).map(|row| (data[row], other[row * columns + column]));
                    sums.push(dot(&mut self.flat, pairs, words(2).get(column)));
                }
                Ok(sums)
            }
            (Op::Conv { window, groups: 1 }, &[1, _, height, width], &[kernels, channels, ..]) => {
                let bias = words(2);
                let mut sums = Vec::new();
                let taps = taps(window, [height, width]);
                let kernel: usize = window.kernel.iter().product();
                for k in 0..kernels {
                    for taps in &taps {
                        let pairs = (0..channels).flat_map(|c| {
                            taps.iter().map(move |&(at, tap)| {
                                (c * height * width + at, (k * channels + c) * kernel + tap)
                            })
                        });
                        let pairs = pairs.map(|(at, tap)| (data[at], other[tap]));
                        sums.push(dot(&mut self.flat, pairs, bias.get(k)));
                    }
                }
                Ok(sums)
            }
            (Op::MaxPool(window), &[1, channels, height, width], _) => {
                let taps = taps(window, [height, width]);
                let mut most = Vec::new();
                for c in 0..channels {
                    for taps in &taps {
                        let under = taps.iter().map(|(at, _)| data[c * height * width + at]);
                        most.push(self.greatest(under.collect()));
                    }
                }
                Ok(most)
            }
            _ => Err(Failure::bug(format!(
                "{} ({}) is in none of the tables' networks",
                node.name, node.operator
            ))),
        }
    }

    /// Finds the greatest by a tree.
    fn greatest(&mut self, mut words: Vec<u32>) -> u32 {
        while words.len() > 1 {
            let pairs = words.chunks(2).flat_map(|pair| match pair {
                &[a, b] => self.flat.through(&self.max, &[a, b], self.sharing),
                rest => rest.to_vec(),
            });
            words = pairs.collect();
        }
        words[0]
    }
}

/// A sum of products, and what is added to it.
fn dot(flat: &mut Flat, pairs: impl Iterator<Item = (u32, u32)>, bias: Option<&u32>) -> u32 {
    let mut sum = bias.copied();
    for (a, b) in pairs {
        let product = flat.product(a, b);
        sum = Some(match sum {
            Some(sum) => flat.sum(sum, product),
            None => product,
        });
    }
    sum.unwrap_or_default()
}

/// Lists for each place of a kernel the elements of one channel under it, and which of the kernel's meets each.
fn taps(window: &Window, [height, width]: [usize; 2]) -> Vec<Vec<(usize, usize)>> {
    let places = |axis: usize, size: usize| -> Vec<Vec<(usize, usize)>> {
        let reach = window.dilations[axis] * (window.kernel[axis] - 1) + 1;
        let all = size + window.before[axis] + window.after[axis];
        let starts = (0..(all + 1).saturating_sub(reach)).step_by(window.strides[axis]);
        let under = starts.map(|start| {
            let taps = (0..window.kernel[axis]).map(|tap| {
                let at = start + tap * window.dilations[axis];
                Some((at.checked_sub(window.before[axis])?, tap))
            });
            taps.flatten().filter(|(at, _)| *at < size).collect()
        });
        under.collect()
    };
    let (rows, columns) = (places(0, height), places(1, width));
    let mut all = Vec::new();
    for rows in &rows {
        for columns in &columns {
            let of = |&(y, i): &(usize, usize)| {
                let at = move |&(x, j): &(usize, usize)| (y * width + x, i * window.kernel[1] + j);
                columns.iter().map(at).collect::<Vec<_>>()
            };
            all.push(rows.iter().flat_map(of).collect());
        }
    }
    all
}

fn relu(goal: Goal) -> Netlist {
    let mut builder = Builder::new("relu").with_goal(goal);
    let x = builder.input(WIDTH.into());
    let (sign, rest) = (x[usize::from(WIDTH) - 1], &x[..usize::from(WIDTH) - 1]);
    let keep = builder.not(sign);
    let mut y: Vec<_> = rest.iter().map(|&bit| builder.and(bit, keep)).collect();
    y.push(builder.constant(false));
    builder.output(&y);
    builder.finish()
}

fn max(goal: Goal) -> Netlist {
    let mut builder = Builder::new("max").with_goal(goal);
    let [a, b] = [(); 2].map(|()| builder.input(WIDTH.into()));
    let less = builder.less_signed(&a, &b);
    let most = builder.select(less, &b, &a);
    builder.output(&most);
    builder.finish()
}

#[cfg(test)]
mod tests {
    use madrigal_nn::{Limits, Model, Tensor, npy};

    use super::*;

    /// Factor of numbers before they are rounded.
    const SCALE: f64 = 16.0;

    fn bits(values: impl IntoIterator<Item = f64>) -> Vec<u8> {
        let words = values.into_iter().map(|value| value.round() as i32);
        let bits = |word: i32| (0..WIDTH).map(move |bit| (word >> bit & 1) as u8);
        words.flat_map(bits).collect()
    }

    fn place_of_the_greatest(values: &[f64]) -> Option<usize> {
        let places = 0..values.len();
        places.max_by(|&a, &b| values[a].total_cmp(&values[b]))
    }

    /// Weights and pixels are scaled once, so what is added in layer k is scaled k + 1 times.
    #[test]
    fn a_network_of_gates_reads_digits() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/digits/");
        let file = |name: &str| std::fs::read(format!("{folder}{name}")).unwrap();
        let model = Model::read(file("minionn_mnist.onnx"), &Limits::default()).unwrap();
        let graph = model.import(&Default::default()).unwrap();
        let mut scales = HashMap::new();
        let layers = graph
            .nodes()
            .iter()
            .filter(|node| matches!(node.op, Op::Conv { .. } | Op::MatMul));
        for (layer, node) in (1..).zip(layers) {
            scales.insert(node.inputs[1], SCALE);
            scales.insert(node.inputs[2], SCALE.powi(layer + 1));
        }
        let digits = npy::read(&file("digits.npy")).unwrap();
        let pixels = digits.as_f32().unwrap().chunks(28 * 28);
        for (sharing, pixels) in [BitSharing::Gmw, BitSharing::Yao].into_iter().zip(pixels) {
            let flat = Making::new(&graph, sharing).made().unwrap();
            let mut inputs = Vec::new();
            for (id, tensor) in graph.constants() {
                inputs.push(bits(tensor.to_f64().iter().map(|x| x * scales[&id])));
            }
            inputs.push(bits(pixels.iter().map(|&x| f64::from(x) * SCALE)));
            let found = flat.evaluate(&inputs).remove(0);
            let number = |bits: &[u8]| {
                let bits = bits.iter().rev();
                f64::from(bits.fold(0, |word, &bit| word << 1 | i32::from(bit)))
            };
            let found: Vec<f64> = found.chunks(WIDTH.into()).map(number).collect();
            let image = Tensor::f32(vec![1, 1, 28, 28], pixels.to_vec()).unwrap();
            let expected = graph.evaluate(&[image]).unwrap()[0].to_f64();
            assert_eq!(found.len(), expected.len());
            let [found, expected] = [&found, &expected].map(|all| place_of_the_greatest(all));
            assert_eq!(found, expected);
        }
    }
}
