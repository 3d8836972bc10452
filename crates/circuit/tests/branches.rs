//! Circuits with secret branches: every form against the oracle.

use std::sync::Arc;

use madrigal_circuit::branches::{Branching, Draft, Form, Guarded, MAX_NESTING, Random, nested};
use madrigal_circuit::{Builder, Layered, Rows};
use proptest::prelude::*;

/// Numbers from a seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        ((self.0 >> 33) as usize) % bound.max(1)
    }
}

fn random_rows(dice: &mut Dice, rows: usize, lanes: usize) -> Rows {
    let mut all = Rows::new(rows, lanes);
    for row in 0..rows {
        for lane in 0..lanes {
            all.set(row, lane, dice.roll(2) == 1);
        }
    }
    all
}

fn agree(branching: &Branching, inputs: &Rows) {
    let expected = branching.evaluate(inputs);
    for netlist in [branching.flatten(), branching.flatten_apart()] {
        assert_eq!(netlist.evaluate(inputs).expect("rows"), expected);
        let layered = Layered::compile(&netlist);
        assert_eq!(layered.interpret(inputs).expect("rows"), expected);
    }
    for form in [Form::Gated, Form::Free] {
        let program = Guarded::compile(branching, form);
        assert_eq!(program.interpret(inputs), expected, "{form:?}");
        let counted: usize = program.guards().iter().map(|guard| guard.ands).sum();
        assert_eq!(counted, program.and_count());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn all_forms_compute_the_same(seed: u64, depth in 0..4_usize, lanes in 1..70_usize) {
        let branching = nested(seed, 6, 5, depth);
        let dice = &mut Dice(seed);
        let inputs = random_rows(dice, 6, lanes);
        agree(&branching, &inputs);
    }
}

#[test]
fn random_circuits_of_the_papers() {
    let small = Random {
        inputs: 20,
        outputs: 9,
        layers: 5,
        ands: 100,
        xors: 80,
    };
    for branches in [1, 2, 3, 5, 8] {
        let branching = small.conditional(branches, 7).expect("there is one");
        let program = Guarded::compile(&branching, Form::Gated);
        for guard in &program.guards()[usize::from(branches > 1)..] {
            assert_eq!(guard.ands, 100, "every gate counts");
        }
        let dice = &mut Dice(branches as u64);
        let inputs = random_rows(dice, branching.input_bits(), 130);
        agree(&branching, &inputs);
        assert_eq!(branching, small.conditional(branches, 7).expect("the same"));
        assert_ne!(
            branching.digest(),
            small.conditional(branches, 8).expect("another").digest()
        );
    }
    let none = Random {
        inputs: 2,
        ..Random::PAPER
    };
    assert!(none.conditional(2, 0).is_err());
}

#[test]
fn layers_of_branches_are_aligned() {
    let branching = Random::PAPER.conditional(16, 1).expect("there is one");
    let program = Guarded::compile(&branching, Form::Gated);
    let mut slots = 0;
    for layer in program.layers() {
        let most = layer.groups.iter().map(|group| program.ands(group).len());
        slots += most.max().unwrap_or(0);
    }
    // With each gate as early as can be it would be some 90,000.
    assert!((30_000..33_000).contains(&slots), "{slots}");
}

#[test]
fn sequences_and_conditionals_of_the_paper() {
    let not = |name: &str, invert: bool| {
        let mut builder = Builder::new(name);
        let bits = builder.input(2);
        let first = if invert {
            builder.not(bits[0])
        } else {
            bits[0]
        };
        builder.output(&[first, bits[1]]);
        Branching::netlist(Arc::new(builder.finish()))
    };
    let both = vec![
        Arc::new(not("same", false)),
        Arc::new(not("inverted", true)),
    ];
    let conditional = Branching::conditional("if", both).expect("it fits");
    assert_eq!(
        (conditional.inputs(), conditional.outputs()),
        (&[1, 2][..], &[2][..])
    );
    let twice = Branching::sequence("twice", vec![not("a", true), not("b", true)]);
    let inputs = random_rows(&mut Dice(3), 2, 64);
    assert_eq!(twice.expect("it fits").evaluate(&inputs), inputs);
    agree(&conditional, &random_rows(&mut Dice(4), 3, 64));
}

/// A branch that gives 1 where it is active, and what is computed with that outside of it.
#[test]
fn constants_that_branches_give_are_values() {
    let constant = |bit: bool| {
        let mut builder = Builder::new("constant");
        builder.input(1);
        let wire = builder.constant(bit);
        builder.output(&[wire]);
        let mut draft = Draft::new("constant", &[1]);
        let made = draft
            .circuit(Arc::new(builder.finish()), &[0])
            .expect("one");
        Arc::new(draft.finish(&[&made]).expect("its own wires"))
    };
    let both = || {
        let mut builder = Builder::new("and");
        let bits = builder.input(2);
        let wire = builder.and(bits[0], bits[1]);
        builder.output(&[wire]);
        Arc::new(builder.finish())
    };
    // Whether the index is 1, and that with another bit.
    let mut draft = Draft::new("is one", &[1, 1]);
    let is = draft.choice(&[0], &[1], vec![constant(false), constant(true)]);
    let made = draft.circuit(both(), &[is.expect("it fits")[0], 1]);
    let alone = draft.finish(&[&made.expect("it fits")]).expect("wires");
    agree(&alone, &random_rows(&mut Dice(5), 2, 64));
    // A conditional of this kind inside of a branch.
    let mut draft = Draft::new("nested", &[1, 2]);
    let alone = Arc::new(alone);
    let other = {
        let mut draft = Draft::new("second", &[1, 1]);
        let made = draft.circuit(both(), &[0, 1]).expect("it fits");
        Arc::new(draft.finish(&[&made]).expect("its own wires"))
    };
    let made = draft.choice(&[0], &[1, 2], vec![alone, other]);
    let nested = draft.finish(&[&made.expect("it fits")]).expect("wires");
    agree(&nested, &random_rows(&mut Dice(6), 3, 64));
}

#[test]
fn what_does_not_fit_is_refused() {
    let one = |inputs: u32, outputs: usize| {
        let draft = Draft::new("one", &[inputs]);
        Arc::new(draft.finish(&[&vec![0; outputs]]).expect("its own wires"))
    };
    let mut draft = Draft::new("all", &[3]);
    let mut message = |index: &[u32], inputs: &[u32], branches| {
        draft
            .choice(index, inputs, branches)
            .map_err(|error| error.to_string())
    };
    let cases = [
        (message(&[0], &[1], vec![]), "0 branches"),
        (
            message(&[], &[1], vec![one(1, 1), one(1, 1)]),
            "needs 1 index bits, 0 were given",
        ),
        (
            message(&[0], &[1], vec![one(1, 1), one(2, 1)]),
            "has 2 input bits, 1 were given",
        ),
        (
            message(&[0], &[1], vec![one(1, 1), one(1, 2)]),
            "has 2 output bits, the first branch has 1",
        ),
        (
            message(&[0], &[7], vec![one(1, 1), one(1, 1)]),
            "wire 7 is read, but only 3",
        ),
    ];
    for (result, part) in cases {
        let message = result.expect_err(part);
        assert!(message.contains(part), "{message}");
    }
    let mut nested = one(1, 1);
    for level in 0..=MAX_NESTING {
        let mut draft = Draft::new("nested", &[1]);
        let made = draft.choice(&[0], &[0], vec![Arc::clone(&nested), nested]);
        match made {
            Ok(wires) => nested = Arc::new(draft.finish(&[&wires]).expect("it fits")),
            Err(error) => {
                assert!(level >= 20, "{level}: {error}");
                return;
            }
        }
    }
    panic!("there is a limit");
}
