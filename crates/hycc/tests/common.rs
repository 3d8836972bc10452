//! A program run by all parties, compared with what it means and with what its plan declares.

use madrigal_core::{Cost, Party, Zeroizing};
use madrigal_engine::Plan;
use madrigal_hycc::{Flat, Hybrid, Options, Values};

/// Values of all inputs, by run and input.
pub(crate) fn values(flat: &Flat, runs: &[Vec<Vec<u8>>]) -> Values {
    let mut values = Values::new(runs.len());
    for (run, inputs) in runs.iter().enumerate() {
        for (input, bits) in flat.inputs.iter().zip(inputs) {
            values.put(run, &input.name, Zeroizing::new(bits.clone()));
        }
    }
    values
}

/// The outputs of all runs, by run and output, the same at all parties and as the oracle has them; each
/// party has spent what was declared, to the byte.
pub(crate) fn run(
    flat: &Flat,
    options: &Options,
    parties: usize,
    runs: &[Vec<Vec<u8>>],
) -> Vec<Vec<Vec<u8>>> {
    let to: Vec<_> = Party::all(parties).collect();
    let hybrid = Hybrid::new(flat, options, parties, runs.len(), &to).unwrap();
    let plan = Plan::new(hybrid.spec()).unwrap();
    let ended = hybrid.run_locally(&plan, &values(flat, runs)).unwrap();
    let expected: Vec<_> = runs.iter().map(|inputs| flat.evaluate(inputs)).collect();
    for (party, (outputs, outcome)) in Party::all(parties).zip(ended) {
        let outputs = outputs.unwrap();
        for (run, expected) in expected.iter().enumerate() {
            for (variable, expected) in flat.outputs.iter().zip(expected) {
                let found = outputs.bits(run, &variable.name);
                assert_eq!(
                    found,
                    Some(&expected[..]),
                    "{party}, run {run}: {}",
                    variable.name
                );
            }
        }
        let spent = Cost {
            setup: outcome.setup.spent,
            online: outcome.online.spent,
        };
        assert_eq!(spent, plan.cost(party), "{party}");
    }
    expected
}
