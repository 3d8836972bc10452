//! Operators against sums written out, or against what must hold of them.

use madrigal_nn::{Data, Element, EvaluateError, Fault, Graph, Node, Op, Tensor, ValueId};

use crate::common::{Net, Random, counting, tensor};

fn close(found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len());
    for (place, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!(
            (a - b).abs() <= 1e-4 * b.abs().max(1.0),
            "{place}: {a}, not {b}"
        );
    }
}

/// Sizes of a convolution of two dimensions.
struct Case {
    batch: usize,
    groups: usize,
    /// Channels of a group, read and made.
    channels: [usize; 2],
    size: [usize; 2],
    kernel: [usize; 2],
    strides: [usize; 2],
    dilations: [usize; 2],
    pads: [usize; 4],
}

impl Case {
    fn random(random: &mut Random) -> Case {
        let mut pair =
            |least: usize, most: usize| [least + random.below(most), least + random.below(most)];
        let (kernel, strides, dilations) = (pair(1, 3), pair(1, 3), pair(1, 2));
        let (size, channels, [groups, batch]) = (pair(5, 6), pair(1, 3), pair(1, 2));
        let ([a, b], [c, d]) = (pair(0, 3), pair(0, 3));
        Case {
            batch,
            groups,
            channels,
            size,
            kernel,
            strides,
            dilations,
            pads: [a, b, c, d],
        }
    }

    fn made(&self) -> [usize; 2] {
        [0, 1].map(|axis| {
            let padded = self.size[axis] + self.pads[axis] + self.pads[axis + 2];
            (padded - self.dilations[axis] * (self.kernel[axis] - 1) - 1) / self.strides[axis] + 1
        })
    }

    /// All sums, by the definition: (image, channel made, place), (channel read, place), weight.
    fn each(&self, mut f: impl FnMut(usize, usize, usize)) {
        let ([read, new], [high, wide], made) = (self.channels, self.size, self.made());
        for image in 0..self.batch {
            for channel in 0..self.groups * new {
                for place in 0..made[0] * made[1] {
                    for own in 0..read {
                        for element in 0..self.kernel[0] * self.kernel[1] {
                            let at = |axis: usize, place: usize, element: usize| {
                                let at =
                                    place * self.strides[axis] + element * self.dilations[axis];
                                at.checked_sub(self.pads[axis])
                                    .filter(|&at| at < self.size[axis])
                            };
                            let row = at(0, place / made[1], element / self.kernel[1]);
                            let column = at(1, place % made[1], element % self.kernel[1]);
                            let (Some(row), Some(column)) = (row, column) else {
                                continue;
                            };
                            let from = image * self.groups * read + channel / new * read + own;
                            let to = image * self.groups * new + channel;
                            let weight = (channel * read + own) * self.kernel[0] * self.kernel[1];
                            let plane = made[0] * made[1];
                            let from = (from * high + row) * wide + column;
                            f(to * plane + place, from, weight + element);
                        }
                    }
                }
            }
        }
    }

    fn attributes(&self, net: Net) -> Net {
        let list = |values: &[usize]| values.iter().map(|&v| v as i64).collect::<Vec<_>>();
        net.int_list("strides", &list(&self.strides))
            .int_list("dilations", &list(&self.dilations))
            .int_list("pads", &list(&self.pads))
            .int("group", self.groups as i64)
    }
}

#[test]
fn convolutions_are_their_sums() {
    let mut random = Random::new();
    for _ in 0..60 {
        let case = Case::random(&mut random);
        let [read, new] = case.channels.map(|channels| channels * case.groups);
        let shape = [case.batch, read, case.size[0], case.size[1]];
        let weights = [new, case.channels[0], case.kernel[0], case.kernel[1]];
        let inputs = [
            random.tensor(&shape),
            random.tensor(&weights),
            random.tensor(&[new]),
        ];
        let [x, w, b] = [0, 1, 2].map(|i: usize| inputs[i].as_f32().unwrap());
        let made = case.made();
        let count = case.batch * new * made[0] * made[1];
        let bias = |at: usize| b[at / (made[0] * made[1]) % new];
        let mut expected: Vec<f32> = (0..count).map(bias).collect();
        case.each(|to, from, weight| expected[to] += x[from] * w[weight]);
        let size = |shape: &[usize]| shape.iter().map(|&v| v as i64).collect::<Vec<_>>();
        let net = Net::new(13)
            .input("x", &size(&shape))
            .input("w", &size(&weights))
            .input("b", &[new as i64])
            .node("y = Conv(x, w, b)");
        let net = case.attributes(net).output("y");
        let (shape, found) = net.run_f32(&inputs);
        assert_eq!(shape, [case.batch, new, made[0], made[1]]);
        close(&found, &expected);
    }
}

/// <conv(x), y> = <x, transposed(y)> for all x and y.
#[test]
fn transposed_convolutions_are_transposed() {
    let mut random = Random::new();
    for _ in 0..60 {
        let case = Case::random(&mut random);
        let [read, new] = case.channels.map(|channels| channels * case.groups);
        let made = case.made();
        let y = random.tensor(&[case.batch, new, made[0], made[1]]);
        let weights = [new, case.channels[0], case.kernel[0], case.kernel[1]];
        let w = random.tensor(&weights);
        let mut expected = vec![0.0; case.batch * read * case.size[0] * case.size[1]];
        let (ys, ws) = (y.as_f32().unwrap(), w.as_f32().unwrap());
        case.each(|to, from, weight| expected[from] += ys[to] * ws[weight]);
        // Rows and columns that no place of the kernel reached are added behind.
        let left = [0, 1].map(|axis| {
            let reach = (made[axis] - 1) * case.strides[axis] + 1;
            let reach = reach + case.dilations[axis] * (case.kernel[axis] - 1);
            (case.size[axis] + case.pads[axis] + case.pads[axis + 2] - reach) as i64
        });
        let size = |shape: &[usize]| shape.iter().map(|&v| v as i64).collect::<Vec<_>>();
        let net = Net::new(13)
            .input("y", &size(y.shape()))
            .input("w", &size(&weights))
            .node("x = ConvTranspose(y, w)")
            .int_list("output_padding", &left);
        let net = case.attributes(net).output("x");
        let (shape, found) = net.run_f32(&[y, w]);
        assert_eq!(shape, [case.batch, read, case.size[0], case.size[1]]);
        close(&found, &expected);
    }
}

#[test]
fn products_of_stacks() {
    let mut random = Random::new();
    let cases: [(&[usize], &[usize], &[usize]); 7] = [
        (&[5], &[5], &[]),
        (&[5], &[5, 3], &[3]),
        (&[4, 5], &[5], &[4]),
        (&[4, 5], &[5, 3], &[4, 3]),
        (&[2, 4, 5], &[5, 3], &[2, 4, 3]),
        (&[2, 1, 4, 5], &[3, 5, 6], &[2, 3, 4, 6]),
        (&[9, 7], &[7, 1100], &[9, 1100]),
    ];
    for (left, right, made) in cases {
        let (a, b) = (random.tensor(left), random.tensor(right));
        let (x, y) = (a.as_f32().unwrap(), b.as_f32().unwrap());
        let inner = left[left.len() - 1];
        let columns = if right.len() > 1 {
            right[right.len() - 1]
        } else {
            1
        };
        let rows = if left.len() > 1 {
            left[left.len() - 2]
        } else {
            1
        };
        let count = made.iter().product::<usize>() / (rows * columns);
        let mut expected = Vec::new();
        for stack in 0..count {
            // Stacks that are broadcast: two on the left, three on the right.
            let [l, r] = match (left.len(), right.len()) {
                (4, 3) => [stack / 3, stack % 3],
                (3, 2) => [stack, 0],
                _ => [0, 0],
            };
            for row in 0..rows {
                for column in 0..columns {
                    let sum = (0..inner).map(|i| {
                        x[(l * rows + row) * inner + i] * y[(r * inner + i) * columns + column]
                    });
                    expected.push(sum.sum());
                }
            }
        }
        let size = |shape: &[usize]| shape.iter().map(|&v| v as i64).collect::<Vec<_>>();
        let net = Net::new(13)
            .input("a", &size(left))
            .input("b", &size(right));
        let (shape, found) = net.node("y = MatMul(a, b)").output("y").run_f32(&[a, b]);
        assert_eq!(shape, made);
        close(&found, &expected);
    }
}

#[test]
fn pooling_counts_as_asked() {
    let of = |net: fn(Net) -> Net| {
        let base = Net::new(19)
            .input("x", &[1, 1, 4, 4])
            .node("y = AveragePool(x)");
        let base = base
            .int_list("kernel_shape", &[3, 3])
            .int_list("strides", &[2, 2]);
        net(base).output("y").run_f32(&[counting(&[1, 1, 4, 4])])
    };
    // Mean of rows and columns 0 to 2 of 0..16.
    assert_eq!(of(|net| net), (vec![1, 1, 1, 1], vec![5.0]));
    // Rounded up: the kernel's second place has two rows left.
    let (shape, found) = of(|net| net.int("ceil_mode", 1));
    assert_eq!(
        (shape, found),
        (vec![1, 1, 2, 2], vec![5.0, 6.5, 11.0, 12.5])
    );
    let (_, found) = of(|net| padded(net, 0));
    assert_eq!(found[0], 2.5);
    let (_, found) = of(|net| padded(net, 1));
    assert!((found[0] - 10.0 / 9.0).abs() < 1e-6);
}

/// Pads with one element around, which counts or not.
fn padded(net: Net, counted: i64) -> Net {
    let net = net.int_list("pads", &[1, 1, 1, 1]);
    net.int("count_include_pad", counted)
}

#[test]
fn slices_in_all_directions() {
    let of = |bounds: [i64; 3]| {
        let net = Net::new(13)
            .input("x", &[6])
            .ints("starts", &bounds[..1])
            .ints("ends", &bounds[1..2])
            .ints("axes", &[0])
            .ints("steps", &bounds[2..])
            .node("y = Slice(x, starts, ends, axes, steps)");
        net.output("y").run_f32(&[counting(&[6])]).1
    };
    assert_eq!(of([1, 4, 1]), [1.0, 2.0, 3.0]);
    assert_eq!(of([-2, i64::MAX, 1]), [4.0, 5.0]);
    assert_eq!(of([-1, i64::MIN, -2]), [5.0, 3.0, 1.0]);
    assert_eq!(of([4, 1, -1]), [4.0, 3.0, 2.0]);
    assert_eq!(of([4, 1, 1]), [0.0; 0]);
    assert_eq!(of([9, 20, 1]), [0.0; 0]);
    assert_eq!(of([0, 6, i64::MAX]), [0.0]);
}

#[test]
fn integers_keep_their_width() {
    let of = |code: i32, element: Element, op: &str, a: i64, b: i64| {
        let text = format!("y = {op}(a, b)");
        let net = Net::new(13)
            .input_of("a", code, &[1])
            .input_of("b", code, &[1])
            .node(&text);
        let one = |v| Tensor::new(element, vec![1], Data::Int(vec![v])).unwrap();
        let graph = net.output("y").import().unwrap();
        let made = graph.evaluate(&[one(a), one(b)]);
        made.map(|made| match made[0].data() {
            Data::Int(values) => values[0],
            Data::Bool(values) => i64::from(values[0]),
            other => panic!("{other:?}"),
        })
    };
    let good = |code, element, op: &str, a, b| of(code, element, op, a, b).unwrap();
    assert_eq!(good(2, Element::U8, "Add", 200, 100), 44);
    assert_eq!(good(3, Element::I8, "Mul", 100, 2), -56);
    assert_eq!(good(3, Element::I8, "Div", -7, 2), -3);
    assert_eq!(good(3, Element::I8, "Div", -128, -1), -128);
    assert_eq!(good(7, Element::I64, "Mod", -7, 3), 2);
    // 2^64 - 1, as its bits.
    assert_eq!(good(13, Element::U64, "Less", -1, 1), 0);
    assert_eq!(good(13, Element::U64, "Div", -1, 2), i64::MAX);
    let error = of(6, Element::I32, "Div", 1, 0).unwrap_err();
    let zero = matches!(
        error,
        EvaluateError::Node {
            fault: Fault::DivisionByZero,
            ..
        }
    );
    assert!(zero, "{error}");
}

#[test]
fn narrow_floats_are_rounded() {
    for (code, element, unit) in [
        (10, Element::F16, 1.0 / 1024.0),
        (16, Element::BF16, 1.0 / 128.0),
    ] {
        let net = Net::new(13)
            .input_of("a", code, &[2])
            .node("y = Add(a, a)")
            .output("y");
        let x = Tensor::new(
            element,
            vec![2],
            Data::F32(vec![1.0 + unit * 1.4, 1.0 + unit * 1.5]),
        );
        let made = net.run(&[x.unwrap()]);
        assert_eq!(
            made[0].as_f32().unwrap(),
            [2.0 + 2.0 * unit, 2.0 + 4.0 * unit],
            "{element}"
        );
    }
}

#[test]
fn indices_that_come_late() {
    let net = Net::new(13)
        .input("x", &[3])
        .input_of("i", 7, &[2])
        .node("y = Gather(x, i)");
    let graph = net.output("y").import().unwrap();
    let places = |values: [i64; 2]| Tensor::i64(vec![2], values.to_vec()).unwrap();
    let made = graph.evaluate(&[counting(&[3]), places([-1, 0])]).unwrap();
    assert_eq!(made[0].as_f32().unwrap(), [2.0, 0.0]);
    let error = graph
        .evaluate(&[counting(&[3]), places([3, 0])])
        .unwrap_err();
    let index = matches!(
        error,
        EvaluateError::Node {
            fault: Fault::Index { index: 3, size: 3 },
            ..
        }
    );
    assert!(index, "{error}");
    assert!(matches!(
        graph.evaluate(&[]),
        Err(EvaluateError::Inputs { .. })
    ));
    let wrong = graph.evaluate(&[counting(&[4]), places([0, 0])]);
    assert!(matches!(wrong, Err(EvaluateError::Input { .. })));
}

#[test]
fn an_observer_sees_all() {
    let net = Net::new(13)
        .input("x", &[2])
        .node("a = Relu(x)")
        .node("b i = TopK(a, k)")
        .ints("k", &[1]);
    let graph = net.output("b").output("i").import().unwrap();
    let mut seen = Vec::new();
    let mut observer = |_: &Graph, node: &Node, id: ValueId, tensor: &Tensor| {
        seen.push((
            node.name.clone(),
            node.op.name(),
            id,
            tensor.shape().to_vec(),
        ));
    };
    graph
        .evaluate_with(&[tensor(&[2], &[-1.0, 1.0])], &mut observer)
        .unwrap();
    let names: Vec<(&str, &str)> = seen.iter().map(|(node, op, ..)| (&node[..], *op)).collect();
    assert_eq!(
        names,
        [("node_0", "Relu"), ("node_1", "TopK"), ("node_1", "TopK")]
    );
    assert_eq!(seen[1].2, graph.outputs()[0].1);
    assert!(matches!(
        graph.nodes()[1].op,
        Op::TopK {
            count: 1,
            axis: 0,
            greatest: true
        }
    ));
}
