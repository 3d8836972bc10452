//! Every rule of shapes against what numpy makes of the same operands: `cases.tsv`, which `cases.py` beside it writes.

use madrigal_circuit::Goal;
use madrigal_program::lower::Mix;
use madrigal_program::{Array, Everyone, Inputs, Party, Plain, Program, Tensor, Window};

use crate::lowering::agrees;

const CASES: &str = include_str!("cases.tsv");
const OWNER: Party = Party::new(0);
/// Each so-many-eth case is lowered to protocols, too, and must mean the same there.
const LOWERED: usize = 9;

struct Case<'a> {
    line: &'a str,
    operator: &'a str,
    arguments: Vec<usize>,
    shapes: Vec<Vec<usize>>,
    /// Shape and elements; nothing where numpy refuses.
    expected: Option<(Vec<usize>, Vec<i32>)>,
}

fn numbers<T: std::str::FromStr>(text: &str) -> Vec<T> {
    let number = |text: &str| text.parse().ok().expect("a number");
    let all = text.split(',').filter(|text| !text.is_empty());
    all.map(number).collect()
}

impl<'a> Case<'a> {
    fn read(line: &'a str) -> Self {
        let fields: Vec<&str> = line.split('\t').collect();
        let [operator, arguments, shapes, shape, elements] = fields[..] else {
            panic!("five fields: {line}");
        };
        let expected = (shape != "error").then(|| (numbers(shape), numbers(elements)));
        Self {
            line,
            operator,
            arguments: numbers(arguments),
            shapes: shapes.split(';').map(numbers).collect(),
            expected,
        }
    }

    /// The operator on these operands.
    fn apply(&self, program: &mut Program, operands: &[Tensor]) -> Tensor {
        let x = &operands[0];
        let y = || &operands[1];
        let of = |place: usize| self.arguments[place];
        match self.operator {
            "plus" => x.plus(y()),
            "minus" => x.minus(y()),
            "times" => x.times(y()),
            "less" => x.less(y()),
            "equals" => x.equals(y()),
            "min" => x.min(y()),
            "max" => x.max(y()),
            "select" => {
                let zero = filled(program, 0);
                x.less(&zero).select(y(), &operands[2])
            }
            "matmul" => x.matmul(y()),
            "sum" => x.sum(of(0)),
            "least" => x.least(of(0)),
            "greatest" => x.greatest(of(0)),
            "prefix_sums" => x.prefix_sums(of(0)),
            "reshape" => x.reshape(&self.arguments[..]),
            "permute" => x.permute(&self.arguments),
            "expand" => x.expand(of(0)),
            "broadcast_to" => x.broadcast_to(&self.arguments[..]),
            "slice" => x.slice(of(0), of(1)..of(2)),
            "at" => x.at(of(0), of(1)),
            "pick" => x.pick(of(0), &self.arguments[1..]),
            "reverse" => x.reverse(of(0)),
            "concat" => {
                let parts: Vec<&Tensor> = operands.iter().collect();
                Tensor::concat(&parts, of(0)).expect("there are parts")
            }
            "pad" => {
                let fill = filled(program, -7);
                x.pad(of(0), of(1), of(2), &fill)
            }
            "windows" => x.windows([of(0), of(1)], [of(2), of(3)], [of(4), of(5)]),
            "convolve" => {
                let window = Window {
                    groups: of(0),
                    stride: [of(1), of(2)],
                    dilation: [of(3), of(4)],
                    padding: [[of(5), of(6)], [of(7), of(8)]],
                };
                x.convolve(y(), window)
            }
            other => panic!("an operator that is not known: {other}"),
        }
    }

    fn check(&self, lowered: bool) {
        let mut program = Program::new(2);
        let mut inputs = Inputs::new();
        let mut operands = Vec::new();
        for (k, axes) in self.shapes.iter().enumerate() {
            let tensor = program.tensor_input(None, OWNER, i32::TYPE, axes);
            let array = Array::of(tensor.shape(), &operand(k, axes)).expect("as many elements");
            inputs = inputs.with_array(None, array);
            operands.push(tensor);
        }
        let result = self.apply(&mut program, &operands);
        let axes = result.shape().axes().to_vec();
        program.open_tensor(None, &result, Everyone);
        let finished = program.finish();
        let Some((shape, elements)) = &self.expected else {
            assert!(finished.is_err(), "numpy refuses: {}", self.line);
            return;
        };
        let finished = finished.unwrap_or_else(|error| panic!("{}: {error}", self.line));
        assert_eq!(&axes, shape, "{}", self.line);
        let outputs = finished.simulate(&inputs).expect("inputs as declared");
        let found = outputs.arrays().next().flatten().expect("an output");
        let found: Vec<i32> = found
            .to_f64()
            .iter()
            .map(|&element| element as i32)
            .collect();
        assert_eq!(&found, elements, "{}", self.line);
        if lowered {
            for mix in [Mix::AB, Mix::ALPHA_BETA] {
                agrees(&finished, &inputs, mix, Goal::Size, self.line);
            }
        }
    }
}

/// The array that `cases.py` takes for operand k.
fn operand(k: usize, axes: &[usize]) -> Vec<i32> {
    let count: usize = axes.iter().product();
    let element = |i: usize| ((3 * i * i + 7 * i + 11 * k + 5) % 41) as i32 - 20;
    (0..count).map(element).collect()
}

/// A public number without axes.
fn filled(program: &mut Program, number: i32) -> Tensor {
    program.constant::<i32>(number).untyped()
}

#[test]
fn shapes_follow_the_rules_of_numpy() {
    let mut refused = 0;
    for (place, line) in CASES.lines().enumerate() {
        let case = Case::read(line);
        refused += usize::from(case.expected.is_none());
        case.check(place.is_multiple_of(LOWERED));
    }
    assert!(CASES.lines().count() > 600 && refused > 60, "a short table");
}
