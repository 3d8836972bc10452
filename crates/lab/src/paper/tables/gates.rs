//! Programs as HyCC compiles them: a gate for each product and each sum of whole numbers of 32 bits, Boolean
//! circuits for what is not linear, and nothing is truncated.

use std::collections::HashMap;

use madrigal_circuit::hycc::BitSharing;
use madrigal_circuit::{Builder, Goal, Netlist, Wire};
use madrigal_core::{Party, Zeroizing};
use madrigal_hycc::{Flat, Hybrid, Options, Sharing, Values};
use madrigal_nn::{Binary, Graph, Node, Op, Unary, ValueId, Window};

use crate::exit::{Failure, Result};
use crate::programs::measure::Gates;
use crate::programs::workloads::Random;

const WIDTH: u8 = 32;

/// Party that owns the weights.
const OWNER: u8 = 0;
/// Party that owns the data.
const CLIENT: u8 = 1;

/// Protocols that compute a program, and how often they do.
#[derive(Clone, Copy)]
pub struct Shape {
    pub parties: usize,
    /// Protocol of bits, as HyCC's partitions say.
    pub bits: BitSharing,
    /// Whether A and B are replaced by alpha and beta.
    pub alpha: bool,
    /// Copies side by side.
    pub copies: usize,
}

/// Makes the network on random numbers; the data's owner gets the outputs.
pub fn network(graph: &Graph, shape: Shape) -> Result<Gates> {
    on_random(&Making::new(graph, shape.bits).made()?, shape)
}

/// Makes the biometric matching of HyCC's examples on random numbers: the least squared distance of a party's sample from
/// the entries of another's table.
pub fn matching(entries: usize, shape: Shape) -> Result<Gates> {
    on_random(&least_distance(entries, shape.bits), shape)
}

/// Features of an entry.
const FEATURES: usize = 4;

fn least_distance(entries: usize, sharing: BitSharing) -> Flat {
    let mut flat = Flat::new();
    let count = (entries * FEATURES) as u32;
    let table = flat.input("INPUT_A_database", OWNER, count, WIDTH);
    let sample = flat.input("INPUT_B_sample", CLIENT, FEATURES as u32, WIDTH);
    let mut distances = Vec::with_capacity(entries);
    for entry in table.chunks(FEATURES) {
        let pairs = entry.iter().zip(&sample);
        let differences: Vec<u32> = pairs.map(|(&a, &b)| flat.difference(a, b)).collect();
        let pairs = differences.into_iter().map(|word| (word, word));
        distances.push(dot(&mut flat, pairs, None));
    }
    let min = chosen("min", goal(sharing), |builder, [a, b]| {
        let less = builder.less_signed(b, a);
        builder.select(less, b, a)
    });
    let least = extreme(&mut flat, &min, distances, sharing);
    flat.output("OUTPUT_distance", &[least]);
    flat
}

/// Plans a program for random inputs.
fn on_random(flat: &Flat, shape: Shape) -> Result<Gates> {
    let (parties, copies) = (shape.parties, shape.copies);
    let to = [Party::new(usize::from(CLIENT))];
    let options = match shape.alpha {
        true => Options {
            words: Sharing::ALPHA,
            layered: Sharing::BETA,
            ..Options::default()
        },
        false => Options::default(),
    };
    let hybrid = Hybrid::new(flat, &options, parties, copies, &to);
    let hybrid = hybrid.map_err(Failure::bug)?;
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
        let goal = goal(sharing);
        let mut making = Self {
            graph,
            flat: Flat::new(),
            words: HashMap::new(),
            sharing,
            relu: relu(goal),
            max: chosen("max", goal, |builder, [a, b]| {
                let less = builder.less_signed(a, b);
                builder.select(less, b, a)
            }),
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
                        let under = under.collect();
                        most.push(extreme(&mut self.flat, &self.max, under, self.sharing));
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
}

/// Boolean GMW wants few layers, garbled circuits few ANDs.
fn goal(sharing: BitSharing) -> Goal {
    match sharing {
        BitSharing::Gmw => Goal::Depth,
        BitSharing::Yao => Goal::Size,
    }
}

/// Finds the greatest or the least by a tree of circuits that choose one of two.
fn extreme(flat: &mut Flat, chosen: &Netlist, mut words: Vec<u32>, sharing: BitSharing) -> u32 {
    while words.len() > 1 {
        let pairs = words.chunks(2).flat_map(|pair| match pair {
            &[a, b] => flat.through(chosen, &[a, b], sharing),
            rest => rest.to_vec(),
        });
        words = pairs.collect();
    }
    words[0]
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

/// A circuit that makes one number of two.
fn chosen(
    name: &str,
    goal: Goal,
    choose: impl Fn(&mut Builder, [&[Wire]; 2]) -> Vec<Wire>,
) -> Netlist {
    let mut builder = Builder::new(name).with_goal(goal);
    let [a, b] = [(); 2].map(|()| builder.input(WIDTH.into()));
    let made = choose(&mut builder, [&a, &b]);
    builder.output(&made);
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

    #[test]
    fn the_least_distance_is_found() {
        for sharing in [BitSharing::Gmw, BitSharing::Yao] {
            let flat = least_distance(3, sharing);
            let table = [[9, 9, 9, 9], [1, 2, 3, 5], [0, 0, 0, 70]];
            let table = bits(table.into_iter().flatten().map(f64::from));
            let sample = bits([1.0, 2.0, 4.0, 7.0]);
            let least = flat.evaluate(&[table, sample]).remove(0);
            assert_eq!(least, bits([5.0]));
        }
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
