//! Lowered programs against their meaning: the protocols' outputs, and the oracle.

use madrigal_circuit::Goal;
use madrigal_engine::{Given, Origin, Plan, PlanSpec, run_program, serve};
use madrigal_kernels::{Block, Prg};
use madrigal_net::transport::mesh;
use madrigal_net::{Session, SessionConfig, block_on};
use madrigal_program::generator::Recipe;
use madrigal_program::lower::{Action, Mix, Sharing, Step};
use madrigal_program::{
    Array, Computation, Executable, Fault, Inputs, Outputs, Party, Program, Secret,
};

use crate::random::Random;

/// Mixes with numbers of parties they are for.
const MIXES: [(Mix, usize); 6] = [
    (Mix::AB, 2),
    (Mix::AB, 3),
    (Mix::AB, 5),
    (Mix::B, 2),
    (Mix::B, 3),
    (Mix::R, 3),
];

const GOALS: [Goal; 2] = [Goal::Size, Goal::Depth];

/// The parties get what the oracle gives.
#[track_caller]
pub(crate) fn agrees(program: &Computation, inputs: &Inputs, mix: Mix, goal: Goal, what: &str) {
    let expected = program.simulate(inputs).expect("inputs as declared");
    let lowered = match program.lower(mix, goal) {
        Ok(lowered) => lowered,
        Err(error) => panic!("{what} in {mix}: {error}"),
    };
    let executable = lowered.executable().expect("a mix that can be");
    let ended = with_dealer(program, inputs, &executable);
    clients_get(program, &ended, &expected, what);
    for party in &ended {
        let arrays = party.arrays().zip(expected.arrays());
        for (number, (found, expected)) in arrays.enumerate() {
            let Some(found) = found else { continue };
            assert_eq!(
                Some(codes(found)),
                expected.map(codes),
                "output {number} of {what} in {mix}, {goal:?}:\n{}\n{}",
                program.describe().join("\n"),
                lowered.describe().join("\n"),
            );
        }
    }
}

/// The inputs of each party, where clients have dealt theirs.
pub(crate) fn dealt_by(program: &Computation, inputs: &Inputs, mix: Mix) -> Vec<Inputs> {
    let mut random = Prg::new(Block::new(0x6465_616c, 1));
    let dealt = program.deal(inputs, mix, &mut random);
    dealt.expect("inputs as declared")
}

/// Checks what clients get of all parties' shares.
#[track_caller]
pub(crate) fn clients_get(
    program: &Computation,
    ended: &[Outputs],
    expected: &Outputs,
    what: &str,
) {
    let together = program.put_together(ended).expect("shares of all parties");
    let outputs = together.arrays().zip(expected.arrays());
    for (number, ((found, expected), port)) in outputs.zip(program.outputs()).enumerate() {
        let wanted = expected.filter(|_| port.clients().next().is_some());
        assert_eq!(
            found.map(codes),
            wanted.map(codes),
            "clients' output {number} of {what}"
        );
    }
}

fn codes(array: &Array) -> Vec<u128> {
    array.codes().collect()
}

/// Runs a program as all of its parties and a dealer, which spares each run its base OTs.
fn with_dealer(program: &Computation, inputs: &Inputs, executable: &Executable) -> Vec<Outputs> {
    let parties = program.parties();
    let dealt = dealt_by(program, inputs, executable.mix());
    let planned = Plan::new(PlanSpec {
        origin: Origin::Dealer,
        ..executable.spec()
    });
    // A dealer has no correlated OTs, which garbled circuits need.
    let (plan, all) = match planned {
        Ok(plan) => (plan, parties + 1),
        Err(_) => (executable.plan().expect("a plan that can be"), parties),
    };
    let party = |me: Party, transport| -> Option<Outputs> {
        block_on(async {
            let session = Session::new(SessionConfig::new(me, all), transport);
            session.greet().await.expect("all are there");
            let outputs = if me.index() < parties {
                let given = Given {
                    inputs: (executable.given(program, &dealt[me.index()], me))
                        .expect("inputs as declared"),
                    ..Given::default()
                };
                let done = run_program(&session, 1, &plan, given, None, &|_| {}).await;
                let done = done.unwrap_or_else(|error| panic!("{me}: {error}"));
                Some((executable.outputs(&done.outputs)).expect("what is required holds"))
            } else {
                let served = serve(&session, None).await;
                served.expect("parties that end their job");
                None
            };
            session.close().await;
            outputs
        })
    };
    let party = &party;
    std::thread::scope(|scope| {
        let threads: Vec<_> = Party::all(all)
            .zip(mesh(all))
            .map(|(me, transport)| scope.spawn(move || party(me, transport)))
            .collect();
        let ended = threads.into_iter().map(|thread| thread.join());
        ended
            .filter_map(|party| party.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

#[test]
fn random_programs_become_steps_that_do_the_same() {
    let mut random = Random::fresh();
    let count = std::env::var("MADRIGAL_PROGRAMS")
        .ok()
        .and_then(|text| text.parse().ok());
    for round in 0..count.unwrap_or(60_usize) {
        let (mix, parties) = MIXES[round % MIXES.len()];
        let recipe = Recipe {
            seed: random.half(),
            parties,
            operations: if round % 3 == 0 { 50 } else { 8 },
            mix,
            functions: round % 2 == 1,
        };
        let (program, inputs) = recipe.cook().expect("a program that can be");
        agrees(
            &program,
            &inputs,
            mix,
            GOALS[round / 6 % 2],
            &format!("{recipe:?}"),
        );
    }
}

const ALICE: Party = Party::new(0);
const BOB: Party = Party::new(1);

/// The steps of a program for two or three parties, by what they do.
#[track_caller]
fn steps(parties: usize, mix: Mix, program: impl FnOnce(&mut Program)) -> Vec<Step> {
    let mut p = Program::new(parties);
    program(&mut p);
    let program = p.finish().expect("a program that can be");
    let lowered = program.lower(mix, Goal::Size).expect("a mix that can be");
    lowered.body.steps
}

/// ANDs of each circuit.
fn ands(steps: &[Step]) -> Vec<u64> {
    let count = |step: &Step| match &step.action {
        Action::Circuit(netlist) => {
            let stats = netlist.stats();
            Some(stats.and + stats.or)
        }
        _ => None,
    };
    steps.iter().filter_map(count).collect()
}

/// Steps that are an operation of a protocol whose name begins so.
fn operations(steps: &[Step], name: &str) -> usize {
    let named = steps.iter().filter(|step| match &step.action {
        Action::Operation(operation) => operation.name().starts_with(name),
        _ => false,
    });
    named.count()
}

fn count(steps: &[Step], wanted: fn(&Action) -> bool) -> usize {
    steps.iter().filter(|step| wanted(&step.action)).count()
}

#[test]
fn neighbours_on_bits_are_one_circuit() {
    let found = steps(2, Mix::B, |p| {
        let (a, b, c) = (
            p.input::<u32>(ALICE, 9),
            p.input::<u32>(BOB, 9),
            p.input::<u32>(BOB, 9),
        );
        let sum = a + b;
        let less = sum.lt(&c);
        p.open(less.select(sum, c), BOB);
    });
    assert_eq!(ands(&found), [31 + 32 + 32]);
    assert_eq!(
        found.len(),
        3 + 3 + 1 + 1,
        "inputs, sharings, a circuit, an opening"
    );
}

#[test]
fn shares_are_compared_by_their_carries() {
    // Products are shared in the ring, so that nothing is there as bits.
    let compare =
        |parties: usize, mix: Mix, with: fn(&Secret<i64>, &Secret<i64>) -> Secret<bool>| {
            steps(parties, mix, |p| {
                let (a, b) = (p.input::<i64>(ALICE, 9), p.input::<i64>(BOB, 9));
                let (a, b) = (&a * &b, a.square());
                let result = with(&a, &b);
                p.open(result, BOB);
            })
        };
    // A carry chain to the highest bit for each of a, b and a - b, and a choice.
    assert_eq!(ands(&compare(2, Mix::AB, |a, b| a.lt(b))), [3 * 63 + 1]);
    // The sign of a number takes one comparison.
    assert_eq!(ands(&compare(2, Mix::AB, |a, _| a.lt(0))), [63]);
    // One share of the difference is the negative of the other.
    assert_eq!(ands(&compare(2, Mix::AB, |a, b| a.eq(b))), [63]);
}

#[test]
fn among_three_servers_ring_elements_are_tested_as_they_are() {
    let compare = |with: fn(&Secret<i64>, &Secret<i64>) -> Secret<bool>| {
        steps(3, Mix::R, |p| {
            let (a, b) = (p.input::<i64>(ALICE, 9), p.input::<i64>(BOB, 9));
            let (a, b) = (&a * &b, a.square());
            let result = with(&a, &b);
            p.open(result, BOB);
        })
    };
    let tests = |found: &[Step]| operations(found, "negative/") + operations(found, "zero/");
    // The signs of a, of b and of a - b, and a choice.
    let found = compare(|a, b| a.lt(b));
    assert_eq!((tests(&found), ands(&found)), (3, vec![1]));
    // One sign of a is enough, however often it is compared.
    let found = compare(|a, b| a.lt(b) & a.lt(0) & a.lt(7));
    assert_eq!(tests(&found), 4);
    for found in [compare(|a, _| a.lt(0)), compare(|a, b| a.eq(b))] {
        assert_eq!((tests(&found), ands(&found)), (1, vec![]));
    }
}

#[test]
fn absolute_values_of_ring_elements_are_products_with_a_sign() {
    let absolute = |parties: usize, mix: Mix| {
        steps(parties, mix, |p| {
            let (a, b) = (p.input::<i64>(ALICE, 9), p.input::<i64>(BOB, 9));
            p.open((a * b).abs() + 1, BOB);
        })
    };
    let times = |found: &[Step]| count(found, |action| matches!(action, Action::BitTimes));
    for (found, circuits) in [
        (absolute(2, Mix::AB), vec![63]),
        (absolute(2, Mix::ALPHA_BETA), vec![63]),
        (absolute(3, Mix::R), vec![]),
    ] {
        assert_eq!((ands(&found), times(&found)), (circuits, 1));
    }
    // Numbers that are there as bits stay bits.
    assert_eq!(times(&absolute(2, Mix::B)), 0);
}

/// Where the program says what is converted, an absolute value is of bits, and so is what it is taken of.
#[test]
fn absolute_values_convert_nothing_unasked() {
    let found = steps(2, Mix::AB.manual(), |p| {
        let x = p.input::<i64>(ALICE, 9);
        p.open((x << 1).abs().to(Sharing::A), BOB);
    });
    let times = count(&found, |action| matches!(action, Action::BitTimes));
    let composed = operations(&found, "compose/");
    assert_eq!((times, composed), (0, 1));
}

#[test]
fn a_distance_is_computed_in_the_ring_and_its_minimum_on_bits() {
    let program = |p: &mut Program| {
        let table = p.input::<u32>(ALICE, [256, 16]);
        let query = p.input::<u32>(BOB, 16);
        let (least, place) = (table - query).square().sum(1).min_with_place();
        p.open((least, place), BOB);
    };
    let found = steps(2, Mix::AB, program);
    assert_eq!(operations(&found, "square/"), 1);
    assert_eq!(operations(&found, "addends/"), 1);
    // Adding up the shares, then a circuit for each halving.
    assert_eq!(
        count(&found, |action| matches!(action, Action::Circuit(_))),
        1 + 8
    );
    assert_eq!(operations(&found, "compose/"), 0);
    // Among three servers a sum of squares costs what one product does.
    let found = steps(3, Mix::R, program);
    assert_eq!(operations(&found, "dot/1 in R of vectors of 16"), 1);
}

#[test]
fn sums_of_sums_are_one_step() {
    let found = steps(2, Mix::AB, |p| {
        let (a, b) = (p.input::<u64>(ALICE, 5), p.input::<u64>(BOB, 5));
        let sum = (&a + 7) * 3 - (&b << 2) + (&a - b) - 9;
        p.open(sum.square(), BOB);
    });
    let linear = found.iter().find_map(|step| match &step.action {
        Action::Linear { factors, constant } => Some((factors.clone(), *constant)),
        _ => None,
    });
    assert_eq!(linear, Some((vec![4, 5u64.wrapping_neg().into()], 12)));
    assert_eq!(
        count(&found, |action| matches!(action, Action::Linear { .. })),
        1
    );
}

#[test]
fn loops_are_lowered_once() {
    let length = |times: usize| {
        let found = steps(2, Mix::AB, |p| {
            let x = p.input::<u32>(ALICE, 5);
            let state = p.repeat(times, x, |_, turn, x| x.square().max(turn.number()));
            p.open(state, BOB);
        });
        found.len()
    };
    assert_eq!(length(3), length(1_000_000));
}

/// The line of the operator that cannot be lowered, and what is wrong with it.
#[track_caller]
fn refused(mix: Mix, program: impl FnOnce(&mut Program) -> u32) -> Fault {
    let mut p = Program::new(3);
    let line = program(&mut p);
    let program = p.finish().expect("a program that can be");
    let error = program
        .lower(mix, Goal::Size)
        .expect_err("a conversion that is not there");
    assert_eq!(
        (error.at.file(), error.at.line()),
        (file!(), line),
        "{error}"
    );
    error.fault
}

#[test]
fn without_conversions_of_its_own_a_mix_names_the_line_that_needs_one() {
    let fault = refused(Mix::AB.manual(), |p| {
        let x = p.input::<u32>(ALICE, 5).square();
        let line = line!() + 1;
        let less = x.lt(3);
        p.open(less, BOB);
        line
    });
    let (found, wanted) = (Sharing::A, Sharing::B);
    assert!(
        matches!(fault, Fault::Sharing { found: a, wanted: b, .. } if (a, b) == (found, wanted))
    );
    let fault = refused(Mix::AB.manual(), |p| {
        let (x, y) = (p.input::<u32>(ALICE, 5), p.input::<u32>(BOB, 5));
        let least = x.min(&y);
        let line = line!() + 1;
        let product = x.square() * least;
        p.open(product, BOB);
        line
    });
    assert!(matches!(fault, Fault::Sharing { found, .. } if found == Sharing::B));
    let mut p = Program::new(3);
    let (x, y) = (p.input::<u32>(ALICE, 5), p.input::<u32>(BOB, 5));
    let least = x.min(&y).to(Sharing::A);
    let product = (x.square() * least).to(Sharing::B);
    let bit = product.lt(100);
    p.open(bit.select(x, 0), BOB);
    let program = p.finish().expect("a program that can be");
    assert!(program.lower(Mix::AB.manual(), Goal::Size).is_ok());
    let inputs = Inputs::new()
        .with([1u32, 2, 3, 4, 500])
        .with([9u32, 1, 1, 1, 7]);
    agrees(
        &program,
        &inputs,
        Mix::AB.manual(),
        Goal::Size,
        "a program with conversions of its own",
    );
}

/// Whichever comes first.
#[test]
fn choices_between_a_public_number_and_a_secret_one() {
    for (mix, parties) in MIXES {
        for code in [0, 7, -3, i64::MIN] {
            for first in [false, true] {
                let mut p = Program::new(parties);
                let (x, y) = (p.input::<i64>(ALICE, 6), p.input::<i64>(BOB, 6));
                let product = x * &y;
                let less = product.lt(&y);
                let public = p.constant(code);
                let chosen = match first {
                    true => less.select(public, product),
                    false => less.select(product, public),
                };
                p.open(chosen, BOB);
                let program = p.finish().expect("a program that can be");
                let inputs = Inputs::new()
                    .with([1i64, 0, -5, 1 << 40, i64::MIN, 3])
                    .with([7i64, -1, -2, 1 << 30, 1, -3]);
                for goal in GOALS {
                    let what = format!("a choice of {code}, first: {first}");
                    agrees(&program, &inputs, mix, goal, &what);
                }
            }
        }
    }
    let relu = steps(3, Mix::R, |p| {
        let x = p.input::<i64>(ALICE, 9);
        p.open(x.relu(), BOB);
    });
    let sums = count(&relu, |action| matches!(action, Action::Linear { .. }));
    assert_eq!(sums, 0, "a product with the sign's inverse");
}

#[test]
fn a_sharing_that_a_mix_does_not_have_is_refused() {
    let fault = refused(Mix::R, |p| {
        let x = p.input::<u32>(ALICE, 5);
        let line = line!() + 1;
        let x = x.to(Sharing::A);
        p.open(x, BOB);
        line
    });
    assert!(matches!(fault, Fault::NotInMix { wanted, .. } if wanted == Sharing::A));
}

#[test]
fn what_the_program_says_of_a_value_holds_for_what_is_computed_with_it() {
    let found = steps(2, Mix::AB, |p| {
        let x = p.input::<u32>(ALICE, 5).to(Sharing::B);
        p.open(&x * &x + x, BOB);
    });
    let sums = count(&found, |action| matches!(action, Action::Linear { .. }));
    assert_eq!((operations(&found, "square/"), sums), (0, 0));
    assert_eq!(ands(&found).len(), 1);
    let found = steps(2, Mix::B, |p| {
        let x = p.input::<u32>(ALICE, 5).to(Sharing::A);
        p.open(&x * &x + x, BOB);
    });
    assert_eq!(operations(&found, "square/"), 1);
    assert_eq!(ands(&found), []);
}

/// As in networks that let half of their channels through and shuffle: what is made of its operands goes through
/// many of these, twice on the way each.
#[test]
fn values_that_go_through_many_rearrangements_are_planned_in_no_time() {
    for mix in [Mix::AB, Mix::B, Mix::R] {
        let mut p = Program::new(3);
        let mut x = p.input::<u32>(ALICE, 4);
        for _ in 0..100 {
            let (passed, changed) = (x.slice(0, ..2), x.slice(0, 2..));
            let changed = &changed * &changed;
            x = p
                .concat(&[passed, changed], 0)
                .reshape([2, 2])
                .transpose()
                .reshape([4]);
        }
        p.open(x.gt(7), BOB);
        let program = p.finish().expect("a program");
        let inputs = Inputs::new().with(&[1u32, 2, 3, 5][..]);
        agrees(&program, &inputs, mix, Goal::Size, "shuffled halves");
    }
}
