//! Programs run by all parties: what they open against the oracle, what they spend against the plan.

use madrigal_circuit::Goal;
use madrigal_core::Party;
use madrigal_engine::{Given, Plan, PlanSpec, RunError, evaluate_program};
use madrigal_net::Error;
use madrigal_operations::{Ands, Conversion, Gates, Variants};
use madrigal_program::generator::Recipe;
use madrigal_program::lower::{Lowered, Mix, Sharing, Way};
use madrigal_program::{
    Array, Computation, Everyone, Executable, Fixed, Inputs, Number, Outputs, Planned, Program,
};
use madrigal_testkit::World;

use crate::lowering::{clients_get, dealt_by};
use crate::random::Random;

/// Runs a program as all of its parties.
#[track_caller]
pub(crate) fn runs(program: &Computation, inputs: &Inputs, mix: Mix, goal: Goal, what: &str) {
    runs_with(program, inputs, (mix, goal), what, &|_| {});
}

/// Runs a program with changes to the usual plan.
#[track_caller]
pub(crate) fn runs_with(
    program: &Computation,
    inputs: &Inputs,
    (mix, goal): (Mix, Goal),
    what: &str,
    adjust: &dyn Fn(&mut PlanSpec),
) {
    let lowered = match program.lower(mix, goal) {
        Ok(lowered) => lowered,
        Err(error) => panic!("{what} in {mix}: {error}"),
    };
    if mix.bits() == Sharing::BETA {
        let what = format!("{what}, two layers in a round,");
        runs_lowered(program, &lowered.in_pairs(), inputs, goal, &what, adjust);
    }
    runs_lowered(program, &lowered, inputs, goal, what, adjust);
}

#[track_caller]
fn runs_lowered(
    program: &Computation,
    lowered: &Lowered,
    inputs: &Inputs,
    goal: Goal,
    what: &str,
    adjust: &dyn Fn(&mut PlanSpec),
) {
    let what = format!("{what} in {}, {goal:?}", lowered.mix);
    let executable = match lowered.executable() {
        Ok(executable) => executable,
        Err(error) => panic!("{what}: {error}"),
    };
    let mut spec = executable.spec();
    adjust(&mut spec);
    let plan = Plan::new(spec).expect("a plan that can be");
    runs_planned(program, (&plan, &executable, lowered.mix), inputs, &what);
}

/// Runs a plan as all of its parties: outputs are those of the oracle, and costs those of the plan.
#[track_caller]
pub(crate) fn runs_planned(
    program: &Computation,
    (plan, executable, mix): (&Plan, &Executable, Mix),
    inputs: &Inputs,
    what: &str,
) {
    let expected = program.simulate(inputs).expect("inputs as declared");
    let world = World::light(program.parties(), 1);
    let dealt = &dealt_by(program, inputs, mix);
    let spent = world.run(|context| async move {
        let me = context.me();
        let given = Given {
            inputs: executable
                .given(program, &dealt[me.index()], me)
                .expect("inputs as declared"),
            ..Given::default()
        };
        match evaluate_program(&context, plan, given, &|_| {}).await {
            Ok(values) => Ok(executable.outputs(&values).expect("what is required holds")),
            Err(RunError::Net(error)) => Err(error),
            Err(other) => Err(Error::Ended {
                reason: other.to_string(),
            }),
        }
    });
    let ended: Vec<Outputs> = spent.iter().map(|(outputs, _)| outputs.clone()).collect();
    clients_get(program, &ended, &expected, what);
    let codes = |array: &Array| array.codes().collect::<Vec<_>>();
    for (me, (outputs, cost)) in Party::all(program.parties()).zip(spent) {
        let outputs = outputs
            .arrays()
            .zip(expected.arrays())
            .zip(program.outputs());
        for (number, ((found, expected), port)) in outputs.enumerate() {
            let mine = port.is_for(me);
            assert_eq!(found.is_some(), mine, "{me}: output {number} of {what}");
            let Some(found) = found else {
                continue;
            };
            assert_eq!(
                codes(found),
                codes(expected.expect("the oracle knows all")),
                "{me}: output {number} of {what}:\n{}",
                program.describe().join("\n"),
            );
        }
        assert_eq!(cost, plan.cost(me), "{me}: {what}");
    }
}

/// Mixes with numbers of parties they are for.
pub(crate) const MIXES: [(Mix, usize); 14] = [
    (Mix::AB, 2),
    (Mix::R, 3),
    (Mix::B, 2),
    (Mix::AB, 3),
    (Mix::B, 3),
    (Mix::AB, 5),
    (Mix::AY2, 2),
    (Mix::Y2, 2),
    (Mix::AY, 2),
    (Mix::AY, 3),
    (Mix::Y, 3),
    (Mix::ALPHA_BETA, 2),
    (Mix::ALPHA_Y2, 2),
    (Mix::BETA, 2),
];

#[test]
fn random_programs_run_in_every_mix() {
    let mut random = Random::fresh();
    let count = std::env::var("MADRIGAL_PROGRAMS")
        .ok()
        .and_then(|text| text.parse().ok());
    for round in 0..count.unwrap_or(56_usize) {
        let (mix, parties) = MIXES[round % MIXES.len()];
        let recipe = Recipe {
            seed: random.half(),
            parties,
            operations: if round % 4 == 0 { 50 } else { 6 },
            mix,
            functions: round % 3 == 1,
        };
        let (program, inputs) = recipe.cook().expect("a program that can be");
        let goal = [Goal::Size, Goal::Depth][round / MIXES.len() % 2];
        runs(&program, &inputs, mix, goal, &format!("{recipe:?}"));
    }
}

/// In the variants of a paper programs do the same, at the declared cost; where none is selected, operations are as they were.
#[test]
fn random_programs_run_in_variants() {
    let variants = Variants {
        ands: Ands::Ots,
        gates: Gates::ThreeOts,
        to_garbled: Conversion::Naive,
        to_numbers: Conversion::Naive,
    };
    let mixes = [
        (Mix::AB, 2),
        (Mix::AY, 3),
        (Mix::B, 3),
        (Mix::AY, 2),
        (Mix::AB, 3),
        (Mix::Y, 2),
        (Mix::AB, 5),
    ];
    let mut random = Random::fresh();
    let mut changed = [0; 2];
    for round in 0..28 {
        let (mix, parties) = mixes[round % mixes.len()];
        let recipe = Recipe {
            seed: random.half(),
            parties,
            operations: if round % 4 == 0 { 40 } else { 8 },
            mix,
            functions: false,
        };
        let (program, inputs) = recipe.cook().expect("a program that can be");
        let goal = [Goal::Size, Goal::Depth][round % 2];
        let lowered = program.lower(mix, goal).expect("a program of the mix");
        let described = |lowered: &Lowered| -> Vec<String> {
            let executable = lowered.executable().expect("operations that can be");
            executable.graph().describe().collect()
        };
        let usual = described(&lowered);
        let varied = lowered.with_variants(variants);
        assert_eq!(usual, described(&varied.with_variants(Variants::default())));
        changed[usize::from(usual != described(&varied))] += 1;
        runs_lowered(
            &program,
            &varied,
            &inputs,
            goal,
            &format!("{recipe:?}"),
            &|_| {},
        );
    }
    assert!(
        changed[1] > 14,
        "{changed:?} programs with something to vary"
    );
}

/// Found by random programs: a factor that one party knows, of elements that are narrowed.
#[test]
fn programs_that_once_failed_run() {
    for (seed, parties, mix) in [(3_439_876_219_155_330_142, 2, Mix::AY)] {
        for mix in [mix, Mix::AB] {
            let recipe = Recipe {
                seed,
                parties,
                operations: 50,
                mix,
                functions: false,
            };
            let (program, inputs) = recipe.cook().expect("a program that can be");
            for goal in [Goal::Size, Goal::Depth] {
                runs(&program, &inputs, mix, goal, &format!("{recipe:?}"));
            }
        }
    }
}

/// The nearest of some points: arithmetic, comparisons, an opening to one.
#[test]
fn the_nearest_entry_of_a_table_is_found() {
    for (mix, parties) in MIXES {
        let mut p = Program::new(parties);
        let (server, client) = (Party::new(0), Party::new(1));
        let table = p.input::<u32>(server, [40, 4]);
        let query = p.input::<u32>(client, [4]);
        let distance = (table - query).square().sum(1);
        let (least, place) = distance.min_with_place();
        let (_, _) = p.open((least, place), client);
        let program = p.finish().expect("a program that can be");
        let rows: [[u32; 4]; 40] = std::array::from_fn(|i| {
            let i = i as u32;
            [i * 7 % 13, i * i % 50, 3 * i, 1]
        });
        let inputs = Inputs::new().with(rows).with([5_u32, 9, 60, 1]);
        runs(&program, &inputs, mix, Goal::Depth, "the nearest entry");
    }
}

/// Where all OTs of a call go in one direction, what is prepared after it counts on from its last round.
#[test]
fn one_square_is_declared_as_it_is_counted() {
    for (mix, parties) in MIXES.into_iter().filter(|(mix, _)| *mix != Mix::BETA) {
        for count in 1..3 {
            let mut p = Program::new(parties);
            let x = p.input::<Fixed<i32, 12>>(Party::new(0), [count]);
            let squares = x.square();
            let _ = p.open(squares, Everyone);
            let program = p.finish().expect("a program that can be");
            let numbers: Vec<_> = (1..=count as i32).map(Fixed::from_raw).collect();
            let inputs = Inputs::new().with::<Fixed<i32, 12>>(numbers);
            runs(&program, &inputs, mix, Goal::Size, "squares");
        }
    }
}

/// Each of twenty parties has two numbers; the sum of their products is computed in A, whether it is above a
/// bound in Y.
#[test]
fn twenty_parties_compute_a_sum_of_products() {
    let mut p = Program::new(20);
    let mut random = Random::fresh();
    let mut inputs = Inputs::new();
    let mut products = Vec::new();
    for party in Party::all(20) {
        let numbers = p.input::<u32>(party, [2]);
        inputs = inputs.with([random.half() as u32, random.half() as u32]);
        products.push(numbers.slice(0, 0..1) * numbers.slice(0, 1..2));
    }
    let sum = products
        .into_iter()
        .reduce(|sum, product| sum + product)
        .expect("twenty products");
    let above = sum.gt(1_u32 << 31);
    let _ = p.open((sum, above), Everyone);
    let program = p.finish().expect("a program that can be");
    runs(&program, &inputs, Mix::AY, Goal::Size, "a sum of products");
}

/// Where messages are long under way, circuits on masked bits do two layers in a round.
#[test]
fn layers_go_together_where_round_trips_are_long() {
    let mut p = Program::new(2);
    let [a, b] = [0, 1].map(|party| p.input::<u64>(Party::new(party), 100));
    p.open(a.max(b), Everyone);
    let program = p.finish().expect("a program that can be");
    let planned = |mix, latency| {
        let planned = program.plan(mix, None, &|spec| spec.line.latency = latency);
        planned.expect("a plan that can be")
    };
    let rounds = |planned: &Planned| planned.plan.cost(Party::new(0)).online.rounds;
    let far = planned(Mix::BETA, 0.05);
    assert!(far.pairs);
    assert!(!planned(Mix::BETA, 0.0).pairs);
    // Seven layers of a comparison and one of choices: four rounds; and the inputs.
    assert_eq!(rounds(&far), 5);
    let lowered = program
        .lower(Mix::BETA, Goal::Depth)
        .expect("bits are shared");
    let apart = lowered.executable().expect("it can be");
    let apart = apart.plan().expect("a plan that can be");
    assert_eq!(apart.cost(Party::new(0)).online.rounds, 9);
    assert!(!planned(Mix::B, 0.05).pairs);
}

/// Whether choices between numbers of a type take vector triples; they are right in any case, at the declared cost.
fn takes_vectors<T: Number>(parties: usize, lanes: usize) -> bool {
    let mut p = Program::new(parties);
    let bits = p.input::<bool>(Party::new(0), [lanes]);
    let [x, y] = [0, 1].map(|party| p.input::<T>(Party::new(party), [lanes]));
    p.open(bits.select(x, y), Everyone);
    let program = p.finish().expect("a program that can be");
    let mut random = Random::fresh();
    let choices: Vec<bool> = (0..lanes).map(|_| random.half() & 1 == 1).collect();
    let mut inputs = Inputs::new().with(&choices[..]);
    for _ in 0..2 {
        let numbers: Vec<T> = (0..lanes).map(|_| T::decode(random.word())).collect();
        inputs = inputs.with(&numbers[..]);
    }
    let planned = program.plan(Mix::B, Some(Goal::Size), &|_| {});
    let planned = planned.expect("a plan that can be");
    ends_right(&planned, &program, &inputs);
    planned.vectors
}

/// Runs a plan: outputs are those of the oracle, and costs those of the plan.
fn ends_right(planned: &Planned, program: &Computation, inputs: &Inputs) {
    let parties = program.parties();
    let expected = program.simulate(inputs).expect("inputs as declared");
    let ended = planned.run_locally(program, inputs).expect("a run");
    for (me, ended) in Party::all(parties).zip(&ended) {
        let codes = |array: Option<&Array>| array.map(|array| array.codes().collect::<Vec<_>>());
        for (found, expected) in ended.outputs.arrays().zip(expected.arrays()) {
            assert_eq!(codes(found), codes(expected), "{me} of {parties}");
        }
        let (cost, spent) = (planned.plan.cost(me), &ended.outcome);
        assert_eq!(
            [spent.setup.spent, spent.online.spent],
            [cost.setup, cost.online]
        );
    }
}

/// A long choice takes vector triples also beside a conditional whose branches share their cost.
#[test]
fn long_choices_beside_branches_take_vector_triples() {
    let lanes = 300;
    let mut p = Program::new(2);
    let [alice, bob] = [0, 1].map(Party::new);
    let index = p.input::<u8>(alice, [lanes]);
    let [x, y] = [0, 1].map(|_| p.input::<u16>(bob, [lanes]));
    let scores = p.match_numbered(&index, 8, |_, rule| match rule % 2 {
        0 => &x / &y + rule as u16,
        _ => &y / (&x + rule as u16),
    });
    let bits = p.input::<bool>(alice, [lanes]);
    let [v, w] = [0, 1].map(|_| p.input::<u128>(bob, [lanes]));
    p.open(scores, Everyone);
    p.open(bits.select(v, w), Everyone);
    let program = p.finish().expect("a program that can be");
    let mut random = Random::fresh();
    let mut words = |count: usize| -> Vec<u128> { (0..count).map(|_| random.word()).collect() };
    let index: Vec<u8> = words(lanes).iter().map(|word| (word % 9) as u8).collect();
    let mut inputs = Inputs::new().with(&index[..]);
    for _ in 0..2 {
        // No quotient by zero.
        let numbers: Vec<u16> = words(lanes)
            .iter()
            .map(|word| (word % 999) as u16 + 1)
            .collect();
        inputs = inputs.with(&numbers[..]);
    }
    let bits: Vec<bool> = words(lanes).iter().map(|word| word % 2 == 1).collect();
    inputs = inputs.with(&bits[..]);
    for _ in 0..2 {
        inputs = inputs.with(&words(lanes)[..]);
    }
    // Bytes count more than anything else.
    let planned = program.plan(Mix::B, Some(Goal::Size), &|spec| {
        spec.line.latency = 0.000_1;
        spec.line.bytes_per_second = Some(1e6 / 8.0);
    });
    let planned = planned.expect("a plan that can be");
    let conditional = &planned.conditionals[0];
    assert!(matches!(conditional.way, Way::Shared(_)), "{conditional}");
    assert!(planned.vectors, "{conditional}");
    ends_right(&planned, &program, &inputs);
}

/// A choice between long numbers takes vector triples, one between short ones Boolean triples.
#[test]
fn long_choices_take_vector_triples() {
    for parties in [2, 3, 5] {
        assert!(takes_vectors::<u128>(parties, 1000));
        assert!(!takes_vectors::<u8>(parties, 1000));
    }
    assert!(takes_vectors::<u32>(2, 1000));
}
