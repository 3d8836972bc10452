//! Circuits as programs: values of any width, one circuit and many places, against the circuit's own evaluation.

#![allow(clippy::unwrap_used)] // a test that cannot go on fails

use madrigal_circuit::branches::Random;
use madrigal_circuit::{Netlist, Rows};
use madrigal_program::{Array, Client, Inputs, OfCircuit, OfCircuitError, Shape, Type};
use madrigal_testkit::seed;

/// Widths that are elements, arrays of wide ones and of narrow ones, and of bits.
const INPUTS: [u32; 6] = [1, 64, 5, 256, 24, 160];
const OUTPUTS: [u32; 4] = [8, 3, 192, 128];

fn circuit(seed: u64) -> Netlist {
    let random = Random {
        inputs: INPUTS.iter().sum(),
        outputs: OUTPUTS.iter().sum(),
        layers: 6,
        ands: 300,
        xors: 400,
    };
    let netlist = random.netlist("random", seed).unwrap();
    let netlist = netlist.with_inputs(&INPUTS).unwrap();
    netlist.with_outputs(&OUTPUTS).unwrap()
}

fn of(places: Option<usize>) -> OfCircuit {
    let (member, analyst) = (Client::new("member"), Client::new("analyst"));
    let names = |side: &str, count: usize| {
        let side = side.to_owned();
        (0..count).map(move |at| format!("{side}{at}"))
    };
    OfCircuit {
        parties: 3,
        inputs: names("x", INPUTS.len())
            .map(|name| (name, member.clone().into()))
            .collect(),
        outputs: names("y", OUTPUTS.len())
            .map(|name| (name, vec![analyst.clone().into()]))
            .collect(),
        places,
    }
}

/// The element of a width's arrays, and how many there are.
fn elements(bits: u32) -> (u32, usize) {
    let widths = [128, 64, 32, 16, 8, 1];
    let width = widths
        .into_iter()
        .find(|width| bits.is_multiple_of(*width))
        .unwrap();
    (width, (bits / width) as usize)
}

fn typed(width: u32) -> Type {
    match width {
        1 => Type::BOOL,
        width => format!("u{width}").parse().unwrap(),
    }
}

/// Elements of bits, lowest bits first, of all places.
fn codes(rows: &Rows, first: usize, bits: u32, places: usize) -> Vec<u128> {
    let (width, count) = elements(bits);
    let element = |place: usize, at: usize| {
        let from = first + at * width as usize;
        (0..width as usize)
            .map(|bit| u128::from(rows.get(from + bit, place)) << bit)
            .sum()
    };
    (0..places)
        .flat_map(|place| (0..count).map(move |at| element(place, at)))
        .collect()
}

#[test]
fn values_of_any_width_are_those_of_the_circuit() {
    let seed = seed();
    for (places, at) in [(None, 0), (Some(1), 1), (Some(7), 2)] {
        let seed = seed.wrapping_add(at);
        let (netlist, lanes) = (circuit(seed), places.unwrap_or(1));
        let mut rows = Rows::new(INPUTS.iter().sum::<u32>() as usize, lanes);
        let mut state = seed | 1;
        for row in 0..rows.rows() {
            for lane in 0..lanes {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                rows.set(row, lane, state >> 40 & 1 == 1);
            }
        }
        let program = of(places).program(&netlist).unwrap();
        let (mut inputs, mut first) = (Inputs::new(), 0);
        for bits in INPUTS {
            let (width, count) = elements(bits);
            let mut axes: Vec<usize> = places.into_iter().collect();
            axes.extend((count > 1).then_some(count));
            let shape = Shape::checked(&axes).unwrap();
            let codes = codes(&rows, first, bits, lanes);
            let array = Array::from_codes(typed(width), &shape, codes.into_iter()).unwrap();
            inputs = inputs.with_array(None, array);
            first += bits as usize;
        }
        let expected = netlist.evaluate(&rows).unwrap();
        for outputs in [
            program.simulate(&inputs).unwrap(),
            program
                .put_together(&program.run_locally(&inputs).unwrap())
                .unwrap(),
        ] {
            let mut first = 0;
            for (array, bits) in outputs.arrays().zip(OUTPUTS) {
                let got: Vec<u128> = array.unwrap().codes().collect();
                let want = codes(&expected, first, bits, lanes);
                assert_eq!(got, want, "{bits} bits, {places:?}, MADRIGAL_SEED={seed}");
                first += bits as usize;
            }
        }
    }
}

#[test]
fn each_value_needs_a_name() {
    let netlist = circuit(1);
    let mut few = of(None);
    few.inputs.pop();
    let error = few.program(&netlist).unwrap_err();
    let expected = OfCircuitError::Values {
        side: "input",
        expected: 6,
        found: 5,
    };
    assert_eq!(error, expected);
    let mut many = of(None);
    many.outputs.push(("more".into(), Vec::new()));
    let error = many.program(&netlist).unwrap_err().to_string();
    assert_eq!(
        error,
        "the circuit has 4 outputs, and 5 have a name: name each, in order"
    );
    let mut twice = of(None);
    twice.inputs[1].0 = "x0".into();
    assert!(twice.program(&netlist).is_err());
}
