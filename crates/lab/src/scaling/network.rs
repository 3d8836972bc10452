//! A network of the shape of MiniONN's for CIFAR-10, with random weights, as a typed program.

use madrigal_core::Party;
use madrigal_program::{Fixed, Inputs, Program, Secret, Window};

use crate::programs::workloads::{Random, Recording, with_inputs};

/// Numbers of the network.
pub(super) type Number = Fixed<i64, 16>;

/// Rows and columns of an image, and its colours.
const SIDE: usize = 32;
const COLOURS: usize = 3;
const CLASSES: usize = 10;
/// Owner of the weights, and owner of the images, who gets the result.
const MODEL: Party = Party::new(0);
const DATA: Party = Party::new(1);

/// Lengths of the network.
#[derive(Clone, Copy)]
pub(super) struct Size {
    pub images: usize,
    /// Channels of all convolutions but the last, which has a quarter of them.
    pub channels: usize,
}

impl Size {
    /// The network on 16 images, scaled: fewer or more images, and fewer channels where less than one image is left.
    pub(super) fn new(scale: f64) -> Self {
        let images = (16.0 * scale).max(1.0).round();
        let part = (16.0 * scale / images).min(1.0);
        Self {
            images: images as usize,
            // Products go by the square of the channels.
            channels: (64.0 * part.sqrt()).round().max(4.0) as usize,
        }
    }
}

/// Sums of products with weights, and a bias for each output.
struct Weights {
    axes: Vec<usize>,
    weights: Vec<Number>,
    bias: Vec<Number>,
}

/// A convolution with what follows it.
struct Layer {
    weights: Weights,
    padding: usize,
    is_pooled: bool,
}

/// All numbers of the network and of its images.
pub(super) struct Draft {
    size: Size,
    images: Vec<Number>,
    layers: Vec<Layer>,
    last: Weights,
}

impl Draft {
    pub(super) fn new(random: &mut Random, size: Size) -> Self {
        let Size { images, channels } = size;
        let quarter = (channels / 4).max(1);
        // Filters, their side, and whether windows of 2 x 2 are averaged after them.
        let shapes = [
            (channels, 3, false),
            (channels, 3, true),
            (channels, 3, false),
            (channels, 3, true),
            (channels, 3, false),
            (channels, 1, false),
            (quarter, 1, false),
        ];
        let pixels = numbers(random, images * COLOURS * SIDE * SIDE, 1.0);
        let mut layers = Vec::new();
        let (mut before, mut side) = (COLOURS, SIDE);
        for (filters, kernel, is_pooled) in shapes {
            let axes = vec![filters, before, kernel, kernel];
            layers.push(Layer {
                weights: Weights::new(random, axes, filters, before * kernel * kernel),
                padding: kernel / 2,
                is_pooled,
            });
            before = filters;
            side /= if is_pooled { 2 } else { 1 };
        }
        let inner = before * side * side;
        Self {
            size,
            images: pixels,
            layers,
            last: Weights::new(random, vec![inner, CLASSES], CLASSES, inner),
        }
    }

    /// Records the network, the weights of party 0 and the images of party 1, who gets the result.
    pub(super) fn record(&self, parties: usize) -> Recording {
        let mut p = Program::new(parties);
        let mut inputs = Inputs::new();
        let mut input = |owner: Party, axes: &[usize], numbers: &[Number]| {
            let secret = p.input::<Number>(owner, axes);
            let value = (secret.shape().clone(), numbers.to_vec());
            inputs = std::mem::take(&mut inputs).with(value);
            secret
        };
        let images = self.size.images;
        let mut x = input(DATA, &[images, COLOURS, SIDE, SIDE], &self.images);
        for layer in &self.layers {
            let Weights {
                axes,
                weights,
                bias,
            } = &layer.weights;
            let filters = input(MODEL, axes, weights);
            let bias = input(MODEL, &[bias.len(), 1, 1], bias);
            let window = Window {
                padding: [[layer.padding; 2]; 2],
                ..Window::default()
            };
            x = (x.convolve(&filters, window) + bias).relu();
            if layer.is_pooled {
                x = x.average_pool([2, 2], [2, 2]);
            }
        }
        let weights = input(MODEL, &self.last.axes, &self.last.weights);
        let bias = input(MODEL, &[CLASSES], &self.last.bias);
        let flat: Secret<Number> = x.reshape([images, self.last.axes[0]]);
        let _ = p.open(flat.matmul(&weights) + bias, DATA);
        with_inputs(p, inputs)
    }
}

impl Weights {
    /// Draws weights whose sums are about as large as what goes in.
    fn new(random: &mut Random, axes: Vec<usize>, outputs: usize, inner: usize) -> Self {
        let count = axes.iter().product();
        Self {
            axes,
            weights: numbers(random, count, (6.0 / inner as f64).sqrt()),
            bias: numbers(random, outputs, 0.5),
        }
    }
}

/// Numbers from -most to most.
fn numbers(random: &mut Random, count: usize, most: f64) -> Vec<Number> {
    let steps = most * f64::from(1 << 16);
    let number = |word: u64| {
        let part = (word >> 11) as f64 / (1u64 << 53) as f64;
        Number::from_raw(((2.0 * part - 1.0) * steps) as i64)
    };
    random.words(count).into_iter().map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The network in real numbers.
    fn real(draft: &Draft) -> Vec<f64> {
        let reals = |numbers: &[Number]| -> Vec<f64> {
            numbers.iter().map(|number| number.to_f64()).collect()
        };
        let mut results = Vec::new();
        let all = reals(&draft.images);
        for image in all.chunks(COLOURS * SIDE * SIDE) {
            let (mut x, mut before, mut side) = (image.to_vec(), COLOURS, SIDE);
            for layer in &draft.layers {
                let (filters, kernel) = (layer.weights.axes[0], layer.weights.axes[2]);
                let (weights, bias) = (reals(&layer.weights.weights), reals(&layer.weights.bias));
                let mut y = vec![0.0; filters * side * side];
                for (at, y) in y.iter_mut().enumerate() {
                    let (filter, row, column) = (at / side / side, at / side % side, at % side);
                    let mut sum = bias[filter];
                    for c in 0..before {
                        for i in 0..kernel {
                            for j in 0..kernel {
                                let (r, s) = (row + i, column + j);
                                let inside =
                                    |at: usize| (layer.padding..side + layer.padding).contains(&at);
                                if inside(r) && inside(s) {
                                    let (r, s) = (r - layer.padding, s - layer.padding);
                                    sum += weights
                                        [((filter * before + c) * kernel + i) * kernel + j]
                                        * x[(c * side + r) * side + s];
                                }
                            }
                        }
                    }
                    *y = sum.max(0.0);
                }
                (x, before) = (y, filters);
                if layer.is_pooled {
                    let half = side / 2;
                    let pooled = (0..before * half * half).map(|at| {
                        let (c, row, column) = (at / half / half, at / half % half, at % half);
                        let of = |i, j| x[(c * side + 2 * row + i) * side + 2 * column + j];
                        (of(0, 0) + of(0, 1) + of(1, 0) + of(1, 1)) / 4.0
                    });
                    x = pooled.collect();
                    side = half;
                }
            }
            let (weights, bias) = (reals(&draft.last.weights), reals(&draft.last.bias));
            results.extend((0..CLASSES).map(|class| {
                let products = x.iter().enumerate();
                let sum: f64 = products
                    .map(|(at, x)| x * weights[at * CLASSES + class])
                    .sum();
                sum + bias[class]
            }));
        }
        results
    }

    #[test]
    fn the_network_is_that_of_real_numbers() {
        let size = Size {
            images: 2,
            channels: 8,
        };
        let draft = Draft::new(&mut Random::of(1), size);
        let recorded = draft.record(2).unwrap();
        let outputs = recorded.program.simulate(&recorded.inputs).unwrap();
        let found = outputs.arrays().next().flatten().unwrap().to_f64();
        let expected = real(&draft);
        assert_eq!(found.len(), 2 * CLASSES);
        assert_eq!(expected.len(), found.len());
        for (found, expected) in found.iter().zip(&expected) {
            assert!((found - expected).abs() < 0.01, "{found} is not {expected}");
        }
        let least = expected.iter().copied().fold(f64::INFINITY, f64::min);
        let most = expected.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        assert!(most - least > 0.1, "a network that tells nothing apart");
    }

    #[test]
    fn sizes_shrink_to_one_image_and_then_by_channels() {
        let of = |scale| {
            let Size { images, channels } = Size::new(scale);
            (images, channels)
        };
        assert_eq!(of(1.0), (16, 64));
        assert_eq!(of(2.0), (32, 64));
        assert_eq!(of(0.25), (4, 64));
        assert_eq!(of(1.0 / 64.0), (1, 32));
        assert_eq!(of(1e-6), (1, 4));
    }
}
