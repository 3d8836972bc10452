//! Programs of operations: each against its plain version, at the declared cost, for every protocol.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::sync::Arc;
use std::time::Duration;

use madrigal_circuit::{Builder, Goal};
use madrigal_core::time::Link;
use madrigal_core::{Cost, Party, PhaseCost, Ring};
use madrigal_correlations::MatrixShape;
use madrigal_engine::{
    Bill, Element, Given, Graph, Held, Opening, Operation, Origin, Outcome, Phases, Plan, PlanSpec,
    Shares, Sharing, Sort, Value, Width, evaluate_program, run_program, serve, with_ring,
};
use madrigal_kernels::{Block, Prg};
use madrigal_net::transport::mesh;
use madrigal_net::{Session, block_on};
use madrigal_operations::{
    Addends, AlphaTool, ArithmeticGmwTool, BetaTool, BitTimes, BmrTool, Boolean, BooleanGmwTool,
    Circuit, Compose, ComposeKeys, ComposeLabels, Concat, Constant, Dot, FromKeys, FromLabels,
    Layout, Linear, Mask, MatrixProduct, Mul, MulPublic, Narrow, Netlist, Open, Public, Rearrange,
    Repeat, ReplicatedTool, Rings, Row, Share, SplitLabels, Square, SumAxis, ThreeHalves, ToKeys,
    ToLabels, TruncateLocally, Unmask, YaoTool,
};
use madrigal_testkit::{World, seed, uncounted};

/// A graph with the values of its inputs.
pub(crate) struct Built {
    pub(crate) graph: Graph,
    pub(crate) inputs: Vec<Shares>,
    prg: Prg,
}

impl Built {
    pub(crate) fn new(parties: usize, seed: u64) -> Self {
        Self {
            graph: Graph::new(parties),
            inputs: Vec::new(),
            prg: Prg::new(Block::new(seed, 11)),
        }
    }

    /// An input of random elements, and those at the edges of the ring first.
    pub(crate) fn ring<P: Rings>(&mut self, width: Width, len: usize) -> Value {
        let value = with_ring!(width, T => {
            let mut elements = vec![T::ZERO; len];
            self.prg.fill(madrigal_kernels::rings::as_bytes_mut(&mut elements));
            let edges = [T::ZERO, T::ONE, T::ZERO.sub(T::ONE), T::ONE.shl(<T as Ring>::BITS - 1)];
            let random = self.prg.next_block().to_bytes()[0] as usize;
            for (place, edge) in elements.iter_mut().zip(edges.iter().cycle().skip(random % 4)).take(4) {
                *place = *edge;
            }
            Shares::ring_of(Sharing::PUBLIC, elements)
        });
        self.share::<P>(value)
    }

    pub(crate) fn bits<P: Boolean>(&mut self, planes: usize, len: usize) -> Value {
        let rows = crate::common::random_rows(planes, len, &mut self.prg);
        self.share::<P>(Shares::rows(Sharing::PUBLIC, &rows))
    }

    pub(crate) fn share<P: madrigal_operations::Protocol>(&mut self, value: Shares) -> Value {
        let owner = Party::new(self.inputs.len() % self.graph.parties());
        let sort = value.sort().shared(Sharing::clear(&[owner]));
        let input = self.graph.input(sort);
        self.inputs.push(value.as_shared(sort.sharing));
        self.graph
            .add_one(Share::<P>::new(owner), &[input])
            .unwrap()
    }

    pub(crate) fn public(&mut self, value: Shares) -> Value {
        let input = self.graph.input(value.sort().shared(Sharing::PUBLIC));
        self.inputs.push(value.as_shared(Sharing::PUBLIC));
        input
    }

    pub(crate) fn open<P: madrigal_operations::Protocol>(&mut self, value: Value, to: &[usize]) {
        let to = to.iter().map(|&party| Party::new(party)).collect();
        let opened = self.graph.add_one(Open::<P>::new(to), &[value]).unwrap();
        self.graph.output(opened);
    }

    pub(crate) fn open_to_all<P: madrigal_operations::Protocol>(&mut self, value: Value) {
        let all: Vec<usize> = (0..self.graph.parties()).collect();
        self.open::<P>(value, &all);
    }

    pub(crate) fn spec(&self) -> PlanSpec {
        PlanSpec::new(self.graph.clone())
    }
}

/// Inputs of a party: the values that it knows.
pub(crate) fn own(graph: &Graph, inputs: &[Shares], me: Party) -> Vec<Shares> {
    let of = |(&value, shares): (&Value, &Shares)| {
        let sort = *graph.sort(value);
        if sort.sharing.is_known_to(me) {
            shares.clone()
        } else {
            Shares::unknown(sort)
        }
    };
    graph.inputs().iter().zip(inputs).map(of).collect()
}

/// Runs a program as all parties; checks outputs against the plain version, and costs against counters.
pub(crate) fn check(built: &Built, spec: PlanSpec, seed: u64) -> Vec<Outcome> {
    let graph = &built.graph;
    let expected = graph.simulate(&built.inputs).unwrap();
    let plan = Plan::new(spec).unwrap();
    let (parties, helpers) = (graph.parties(), plan.spec().origin.helpers());
    let world = World::light(parties + helpers, seed);
    let (world, plan) = (&world, &plan);
    let outcomes: Vec<Outcome> = std::thread::scope(|scope| {
        let mut transports = mesh(parties + helpers);
        for transport in transports.split_off(parties) {
            scope.spawn(move || {
                block_on(async {
                    let session = Session::new(world.config(Party::new(parties)), transport);
                    session.greet().await.unwrap();
                    assert_eq!(serve(&session, None).await, Ok(1));
                    session.close().await;
                });
            });
        }
        let threads: Vec<_> = Party::all(parties)
            .zip(transports)
            .map(|(me, transport)| {
                let inputs = own(graph, &built.inputs, me);
                scope.spawn(move || {
                    block_on(async {
                        let session = Session::new(world.config(me), transport);
                        session.greet().await.unwrap();
                        let given = Given {
                            inputs,
                            ..Given::default()
                        };
                        let work = run_program(&session, 1, plan, given, None, &|_| {});
                        let (outcome, blocks) = uncounted(work).await;
                        assert_eq!(blocks, 0, "AES blocks that no phase counts");
                        session.close().await;
                        outcome.unwrap_or_else(|error| panic!("{me}: {error}"))
                    })
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    for (me, outcome) in Party::all(parties).zip(&outcomes) {
        for ((output, expected), value) in
            outcome.outputs.iter().zip(&expected).zip(graph.outputs())
        {
            let known = graph.sort(*value).sharing.is_known_to(me);
            assert_eq!(output.is_known(), known, "{me}: {output:?}");
            if known {
                assert!(equal(output, expected), "{me}: {output:?} of {plan:?}");
            }
        }
        let spent = Cost {
            setup: outcome.setup.spent,
            online: outcome.online.spent,
        };
        assert_eq!(
            spent,
            plan.cost(me),
            "{me}: {:?}",
            graph.describe().collect::<Vec<_>>()
        );
        let sum = plan
            .operations(me)
            .iter()
            .fold(PhaseCost::default(), |sum, operation| {
                sum + operation.online
            });
        assert_eq!(sum.bytes_sent, spent.online.bytes_sent);
        assert_eq!(sum.aes_blocks, spent.online.aes_blocks);
    }
    outcomes
}

pub(crate) fn equal(a: &Shares, b: &Shares) -> bool {
    match (a.sort().element, b.sort().element) {
        (Element::Ring(width), other) if other == Element::Ring(width) => {
            with_ring!(width, T => a.component::<T>(0) == b.component::<T>(0))
        }
        (Element::Bits(_), Element::Bits(_)) => {
            a.to_rows().unwrap() == {
                let mut rows = b.to_rows().unwrap();
                rows.clear_padding();
                rows
            }
        }
        _ => false,
    }
}

/// Checks one graph with all that a specification can vary in.
pub(crate) fn check_all(built: &Built, seed: u64) {
    check(built, built.spec(), seed);
    let relay = PlanSpec {
        opening: Opening::Relay,
        ..built.spec()
    };
    check(built, relay, seed);
    let dealt = PlanSpec {
        origin: Origin::Dealer,
        ..built.spec()
    };
    check(built, dealt, seed);
    let threads = PlanSpec {
        threads: 2,
        ..built.spec()
    };
    check(built, threads, seed);
    let interleaved = PlanSpec {
        phases: Some(Phases::Interleaved),
        memory: 1 << 14,
        ..built.spec()
    };
    check(built, interleaved, seed);
    let streamed = PlanSpec {
        phases: Some(Phases::Interleaved),
        ..built.spec()
    };
    check(built, streamed, seed);
}

/// Every operation on rings, on one after the other.
fn ring_operations<P: Rings>(built: &mut Built, width: Width, len: usize) {
    let x = built.ring::<P>(width, len);
    let y = built.ring::<P>(width, len);
    let graph = &mut built.graph;
    let product = graph.add_one(Mul::<P>::new(), &[x, y]).unwrap();
    let square = graph.add_one(Square::<P>::new(), &[x]).unwrap();
    let linear = Linear::<P>::new(vec![3, u128::MAX, 1], 1 << 5);
    let mixed = graph.add_one(linear, &[product, square, y]).unwrap();
    let dot = graph.add_one(Dot::<P>::new(len), &[x, mixed]).unwrap();
    let columns = Rearrange::new(Layout::Grid {
        start: len - 1,
        axes: vec![(3, 0), (len, -1)],
    });
    let repeated = graph.add_one(columns, &[mixed]).unwrap();
    let shape = MatrixShape {
        rows: 3,
        inner: len,
        columns: 1,
    };
    let matrix = graph
        .add_one(MatrixProduct::<P>::new(1, shape), &[repeated, y])
        .unwrap();
    let sums = SumAxis {
        count: 3,
        inner: len,
        prefixes: false,
    };
    let sums = graph.add_one(sums, &[repeated]).unwrap();
    let all = graph
        .add_one(Concat { rows: 1 }, &[dot, matrix, sums])
        .unwrap();
    let narrow = graph.add_one(Narrow::new(Width::W8), &[all]).unwrap();
    built.open_to_all::<P>(all);
    built.open::<P>(narrow, &[1]);
    let public: Vec<u64> = (0..len as u64).map(|i| i * 77 + 1).collect();
    let public = with_ring!(width, T => {
        let of = |&x: &u64| T::from_u128(x.into());
        Shares::ring_of(Sharing::PUBLIC, public.iter().map(of).collect::<Vec<T>>())
    });
    let public = built.public(public);
    let graph = &mut built.graph;
    let scaled = graph.add_one(MulPublic::<P>::new(), &[x, public]).unwrap();
    let constant = graph.add_one(Constant::<P>::new(), &[public]).unwrap();
    let sum = graph
        .add_one(Linear::<P>::sum(), &[scaled, constant])
        .unwrap();
    let places = Layout::Picked((0..len as u32).rev().collect());
    let turned = graph.add_one(Rearrange::new(places), &[sum]).unwrap();
    built.open::<P>(turned, &[0, 1]);
}

/// To bits by addends and a circuit, and back: x < y, x + y where x < y, and x + y.
pub(crate) fn conversions<P: Rings, B: Boolean>(
    graph: &mut Graph,
    width: Width,
    [x, y]: [Value; 2],
) -> [Value; 3] {
    let parties = graph.parties();
    let count = P::addend_count(parties);
    let mut builder = Builder::new("less").with_goal(Goal::Depth);
    let number = |builder: &mut Builder| {
        let parts: Vec<_> = (0..count)
            .map(|_| builder.input(width.bits() as u32))
            .collect();
        let (first, rest) = parts.split_first().unwrap();
        rest.iter()
            .fold(first.clone(), |sum, part| builder.add(&sum, part))
    };
    let (a, b) = (number(&mut builder), number(&mut builder));
    let less = builder.less(&a, &b);
    builder.output(&[less]);
    let sum = builder.add(&a, &b);
    builder.output(&sum);
    let circuit = Arc::new(Circuit::new(&builder.finish()));
    let addends = |graph: &mut Graph, value| {
        graph
            .add(Arc::new(Addends::<P>::new(parties, false)), &[value])
            .unwrap()
    };
    let parts = [addends(graph, x), addends(graph, y)].concat();
    let made = graph
        .add(Arc::new(Netlist::<B>::new(circuit, 1)), &parts)
        .unwrap();
    let back = graph
        .add_one(Compose::<P>::new(width, false), &[made[1]])
        .unwrap();
    let chosen = graph
        .add_one(BitTimes::<P>::new(), &[made[0], back])
        .unwrap();
    [made[0], chosen, back]
}

/// These of two values, opened.
fn converted<P: Rings, B: Boolean>(built: &mut Built, width: Width, len: usize) {
    let x = built.ring::<P>(width, len);
    let y = built.ring::<P>(width, len);
    let last = built.graph.parties() - 1;
    let [less, chosen, back] = conversions::<P, B>(&mut built.graph, width, [x, y]);
    built.open_to_all::<B>(less);
    built.open_to_all::<P>(chosen);
    built.open::<P>(back, &[last]);
}

#[test]
fn operations_on_rings_are_right_and_cost_what_they_say() {
    let seed = seed();
    for width in Width::ALL {
        for len in [1, 7, 64, 1000] {
            for parties in [2, 3, 5] {
                let mut built = Built::new(parties, seed);
                ring_operations::<ArithmeticGmwTool>(&mut built, width, len);
                if len == 7 && parties < 5 {
                    check_all(&built, seed);
                } else {
                    check(&built, built.spec(), seed);
                }
            }
            let mut built = Built::new(3, seed);
            ring_operations::<ReplicatedTool>(&mut built, width, len);
            check(&built, built.spec(), seed);
            let mut built = Built::new(2, seed);
            ring_operations::<AlphaTool>(&mut built, width, len);
            check_all(&built, seed);
        }
    }
}

#[test]
fn conversions_are_right_and_cost_what_they_say() {
    let seed = seed();
    for width in [Width::W8, Width::W32, Width::W64] {
        for len in [1, 7, 200] {
            for parties in [2, 3, 5] {
                let mut built = Built::new(parties, seed);
                converted::<ArithmeticGmwTool, BooleanGmwTool>(&mut built, width, len);
                if len == 7 && parties < 5 {
                    check_all(&built, seed);
                } else {
                    check(&built, built.spec(), seed);
                }
            }
            let mut built = Built::new(3, seed);
            converted::<ReplicatedTool, ReplicatedTool>(&mut built, width, len);
            check_all(&built, seed);
            let mut built = Built::new(2, seed);
            converted::<AlphaTool, BetaTool>(&mut built, width, len);
            check_all(&built, seed);
        }
    }
}

/// Sharings of values in this test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum In {
    A,
    B,
    Y,
    Y2,
    Alpha,
    Beta,
}

/// Circuit of the sum of `count` numbers.
fn sum_of(count: usize, width: Width) -> Arc<Circuit> {
    let mut builder = Builder::new("sum");
    let bits = width.bits() as u32;
    let parts: Vec<_> = (0..count).map(|_| builder.input(bits)).collect();
    let (first, rest) = parts.split_first().unwrap();
    let sum = rest
        .iter()
        .fold(first.clone(), |sum, part| builder.add(&sum, part));
    builder.output(&sum);
    Arc::new(Circuit::new(&builder.finish()))
}

/// A value in another sharing, by the shortest way.
fn convert(graph: &mut Graph, value: Value, [from, to]: [In; 2], width: Width) -> Value {
    let parties = graph.parties();
    let mut through =
        |operation: Arc<dyn Operation>, inputs: &[Value]| graph.add(operation, inputs).unwrap();
    if from == to {
        return value;
    }
    if to == In::Y2 && matches!(from, In::A | In::Alpha) {
        let split: Arc<dyn Operation> = match from {
            In::A => Arc::new(SplitLabels::<ArithmeticGmwTool, ThreeHalves>::new(false)),
            _ => Arc::new(SplitLabels::<AlphaTool>::new(false)),
        };
        let parts = through(split, &[value]);
        let sum = sum_of(2, width);
        return through(Arc::new(Netlist::<YaoTool>::new(sum, 1)), &parts)[0];
    }
    if from == In::Alpha && to != In::Beta {
        let value = through(Arc::new(Unmask::<AlphaTool>::new()), &[value])[0];
        return convert(graph, value, [In::A, to], width);
    }
    // Bits of a number are added up where they are wanted.
    if from == In::A && to == In::Alpha {
        return through(Arc::new(Mask::<AlphaTool>::new()), &[value])[0];
    }
    if matches!(from, In::A | In::Alpha) {
        let addends: Arc<dyn Operation> = match from {
            In::Alpha => Arc::new(Addends::<AlphaTool>::new(parties, false)),
            _ => Arc::new(Addends::<ArithmeticGmwTool>::new(parties, false)),
        };
        let parts = through(addends, &[value]);
        let sum = sum_of(parts.len(), width);
        return match to {
            In::A | In::Alpha => value,
            In::B => through(Arc::new(Netlist::<BooleanGmwTool>::new(sum, 1)), &parts)[0],
            In::Y => {
                let parts = through(Arc::new(ToKeys::new()), &parts);
                through(Arc::new(Netlist::<BmrTool>::new(sum, 1)), &parts)[0]
            }
            In::Y2 => unreachable!("done above"),
            In::Beta => {
                let parts = match from {
                    In::A => through(Arc::new(Mask::<BetaTool>::new()), &parts),
                    _ => parts,
                };
                through(Arc::new(Netlist::<BetaTool>::new(sum, 1)), &parts)[0]
            }
        };
    }
    if [from, to] == [In::Beta, In::Alpha] {
        let compose = Compose::<AlphaTool>::new(width, false);
        return through(Arc::new(compose), &[value])[0];
    }
    // B is a way of its own.
    if to == In::A {
        let compose: Option<Arc<dyn Operation>> = match from {
            In::Y => Some(Arc::new(ComposeKeys::new(width, false))),
            In::Y2 => Some(Arc::new(ComposeLabels::<ThreeHalves>::new(width, true))),
            _ => None,
        };
        if let Some(compose) = compose {
            return through(compose, &[value])[0];
        }
    }
    let bits = match from {
        In::Y => through(Arc::new(FromKeys::new()), &[value])[0],
        In::Y2 => through(Arc::new(FromLabels::new()), &[value])[0],
        In::Beta => through(Arc::new(Unmask::<BetaTool>::new()), &[value])[0],
        _ => value,
    };
    let compose = Compose::<ArithmeticGmwTool>::new(width, false);
    match to {
        In::A => through(Arc::new(compose), &[bits])[0],
        In::B => bits,
        In::Y => through(Arc::new(ToKeys::new()), &[bits])[0],
        In::Y2 => through(Arc::new(ToLabels::<ThreeHalves>::new()), &[bits])[0],
        In::Alpha => {
            let number = through(Arc::new(compose), &[bits]);
            through(Arc::new(Mask::<AlphaTool>::new()), &number)[0]
        }
        In::Beta => through(Arc::new(Mask::<BetaTool>::new()), &[bits])[0],
    }
}

/// All ways of three conversions, opened where they end.
#[test]
fn conversions_in_chains_keep_values() {
    let seed = seed();
    for parties in [2, 3, 5] {
        let all = match parties {
            2 => &[In::A, In::B, In::Y, In::Y2][..],
            _ => &[In::A, In::B, In::Y],
        };
        chains(parties, all, seed);
    }
}

/// The twenty conversions of five two-party protocols.
#[test]
fn conversions_of_two_parties_in_chains_keep_values() {
    let all = [In::A, In::B, In::Y2, In::Alpha, In::Beta];
    chains(2, &all, seed());
}

fn chains(parties: usize, all: &[In], seed: u64) {
    for &first in all {
        let mut built = Built::new(parties, seed);
        let width = [Width::W8, Width::W32][parties % 2];
        for (&second, &third) in all.iter().flat_map(|a| all.iter().map(move |b| (a, b))) {
            let x = built.ring::<ArithmeticGmwTool>(width, 3);
            let graph = &mut built.graph;
            let mut value = convert(graph, x, [In::A, first], width);
            for way in [[first, second], [second, third], [third, first]] {
                value = convert(graph, value, way, width);
            }
            match first {
                In::A => built.open_to_all::<ArithmeticGmwTool>(value),
                In::B => built.open_to_all::<BooleanGmwTool>(value),
                In::Y => built.open::<BmrTool>(value, &[1]),
                In::Y2 => built.open::<YaoTool>(value, &[0]),
                In::Alpha => built.open_to_all::<AlphaTool>(value),
                In::Beta => built.open::<BetaTool>(value, &[1]),
            }
        }
        check(&built, built.spec(), seed);
        let interleaved = PlanSpec {
            phases: Some(Phases::Interleaved),
            ..built.spec()
        };
        check(&built, interleaved, seed);
    }
}

/// Conversions of 100 numbers of 32 bits between masked sharing and the others send what they say: bytes of both
/// parties together in setup, but for correlations, and online, and rounds online. Circuits that add numbers
/// up are left out.
#[test]
fn conversions_with_masks_send_what_they_say() {
    let (width, len) = (Width::W32, 100);
    let (elements, bits) = (4 * 100_u64, 32 * 100 / 8_u64);
    let spent = |start: In, operation: Arc<dyn Operation>| {
        let mut built = Built::new(2, 1);
        let x = match start {
            In::A => built.ring::<ArithmeticGmwTool>(width, len),
            In::Alpha => built.ring::<AlphaTool>(width, len),
            In::B => built.bits::<BooleanGmwTool>(32, len),
            _ => built.bits::<BetaTool>(32, len),
        };
        let parties = [0, 1].map(Party::new);
        let online = |built: &Built| {
            let plan = Plan::new(built.spec()).unwrap();
            let costs = parties.map(|party| plan.cost(party).online);
            let bytes: u64 = costs.iter().map(|cost| cost.bytes_sent).sum();
            (
                bytes,
                costs.map(|cost| cost.rounds).into_iter().max().unwrap(),
            )
        };
        // Where nothing is prepared all of it is online.
        let mut whole = Bill::new(2, Opening::Direct);
        operation.bill(&[*built.graph.sort(x)], &mut whole);
        let whole: u64 = parties.map(|party| whole.of(party).bytes_sent).iter().sum();
        let before = online(&built);
        built.graph.add(operation, &[x]).unwrap();
        let after = online(&built);
        let bytes = after.0 - before.0;
        (whole - bytes, bytes, after.1 - before.1)
    };
    let both = |bytes: u64| 2 * bytes;
    let mask = Arc::new(Mask::<AlphaTool>::new());
    assert_eq!(spent(In::A, mask), (0, both(elements), 1));
    let mask = Arc::new(Mask::<BetaTool>::new());
    assert_eq!(spent(In::B, mask), (0, both(bits), 1));
    let unmask = Arc::new(Unmask::<AlphaTool>::new());
    assert_eq!(spent(In::Alpha, unmask), (0, 0, 0));
    let unmask = Arc::new(Unmask::<BetaTool>::new());
    assert_eq!(spent(In::Beta, unmask), (0, 0, 0));
    // The second party's number is a mask already, the first one's goes online, the way that its input went before.
    let addends = Arc::new(Addends::<AlphaTool>::new(2, false));
    assert_eq!(spent(In::Alpha, addends), (0, bits, 0));
    // From beta to alpha all bits' masks in setup, elements online.
    let compose = Arc::new(Compose::<AlphaTool>::new(width, false));
    assert_eq!(spent(In::Beta, compose), (both(bits), both(elements), 1));
}

#[test]
fn masks_are_for_two_parties() {
    let mut graph = Graph::new(3);
    let sort = |element| Sort::new(Sharing::clear(&[Party::new(1)]), element, 4);
    let bits = graph.input(sort(Element::Bits(8)));
    let number = graph.input(sort(Element::Ring(Width::W64)));
    let error = graph.add_one(Share::<BetaTool>::new(Party::new(1)), &[bits]);
    let text = error.unwrap_err().to_string();
    assert!(
        text.contains("beta is for two parties, not 3; B is for any number"),
        "{text}"
    );
    let error = graph.add_one(Share::<AlphaTool>::new(Party::new(1)), &[number]);
    let text = error.unwrap_err().to_string();
    assert!(
        text.contains("alpha is for two parties, not 3; A is for any number"),
        "{text}"
    );
}

/// Values that are part of the program keep what follows prepared: a product after products with constants takes one
/// round, after its inputs.
#[test]
fn products_with_constants_are_prepared() {
    let seed = seed();
    let mut built = Built::new(2, seed);
    let x = built.ring::<AlphaTool>(Width::W64, 4);
    let graph = &mut built.graph;
    let table = Shares::ring_of::<u64>(Sharing::PUBLIC, vec![3, 1, 4, 1]);
    let table = graph.add_one(Public::new(table), &[]).unwrap();
    let y = graph
        .add_one(MulPublic::<AlphaTool>::new(), &[x, table])
        .unwrap();
    let shape = MatrixShape {
        rows: 2,
        inner: 2,
        columns: 2,
    };
    let product = MatrixProduct::<AlphaTool>::new(1, shape);
    let y = graph.add_one(product, &[table, y]).unwrap();
    let z = graph.add_one(Mul::<AlphaTool>::new(), &[x, y]).unwrap();
    built.open_to_all::<AlphaTool>(z);
    let plan = Plan::new(built.spec()).unwrap();
    assert_eq!(plan.cost(Party::new(1)).online.rounds, 2);
    check_all(&built, seed);
}

/// An alpha product sends online half of what one in A does, and a matrix product as much as the result has.
#[test]
fn products_open_their_results_alone() {
    fn online(built: &Built) -> PhaseCost {
        Plan::new(built.spec()).unwrap().cost(Party::new(0)).online
    }
    fn spent<P: Rings>(operation: impl Operation + 'static, lens: [usize; 2]) -> u64 {
        let mut built = Built::new(2, 1);
        let factors = lens.map(|len| built.ring::<P>(Width::W64, len));
        let before = online(&built).bytes_sent;
        built.graph.add_one(operation, &factors).unwrap();
        online(&built).bytes_sent - before
    }
    type A = ArithmeticGmwTool;
    type Alpha = AlphaTool;
    assert_eq!(spent::<A>(Mul::<A>::new(), [100; 2]), 2 * 800);
    assert_eq!(spent::<Alpha>(Mul::<Alpha>::new(), [100; 2]), 800);
    assert_eq!(spent::<Alpha>(Dot::<Alpha>::new(50), [100; 2]), 2 * 8);
    let shape = MatrixShape {
        rows: 3,
        inner: 100,
        columns: 5,
    };
    let lens = [300, 500];
    let product = MatrixProduct::<A>::new(1, shape);
    assert_eq!(spent::<A>(product, lens), 800 * 8);
    let product = MatrixProduct::<Alpha>::new(1, shape);
    assert_eq!(spent::<Alpha>(product, lens), 15 * 8);
}

/// Small numbers of either sign, shared as party 0 likes, or public: the quotient rounded down, or 1 more.
#[test]
fn two_parties_truncate_without_a_message() {
    let seed = seed();
    for by in [0, 1, 16, 40] {
        let mut built = Built::new(2, seed);
        let width = Width::W64;
        let small = |x: i64| (x * 1_234_567) as u64;
        let numbers: Vec<u64> = (-50..50).map(small).collect();
        let value = Shares::ring_of(Sharing::PUBLIC, numbers.clone());
        let public = built.graph.add_one(Public::new(value), &[]).unwrap();
        let x = built
            .graph
            .add_one(Constant::<ArithmeticGmwTool>::new(), &[public])
            .unwrap();
        assert_eq!(built.graph.sort(x).element, Element::Ring(width));
        let truncate = TruncateLocally::new(by);
        let z = built.graph.add_one(truncate, &[x]).unwrap();
        built.open_to_all::<ArithmeticGmwTool>(z);
        let plan = Plan::new(built.spec()).unwrap();
        let world = World::new(2, seed);
        let plan = &plan;
        let spent = world.run(|context| async move {
            let values = evaluate_program(&context, plan, Given::default(), &|_| {}).await;
            Ok(values.expect("a program that can be"))
        });
        for (me, (values, cost)) in Party::all(2).zip(spent) {
            assert_eq!(cost, plan.cost(me));
            for (x, z) in numbers.iter().zip(values[0].component::<u64>(0).iter()) {
                let (x, z) = (*x as i64, *z as i64);
                assert!(z == x >> by || z == (x >> by) + 1, "{x} by 2^{by}: {z}");
                assert!(by > 0 || z == x, "{x}: {z}");
            }
        }
    }
    let mut built = Built::new(3, seed);
    let x = built.ring::<ArithmeticGmwTool>(Width::W64, 1);
    let error = built
        .graph
        .add_one(TruncateLocally::new(1), &[x])
        .unwrap_err();
    assert!(
        error.to_string().contains("for 2 parties, not 3"),
        "{error}"
    );
}

/// Blocks of lanes, more than are under way, on one thread and on three, in parts and at once.
#[test]
fn long_vectors_are_cut_into_blocks() {
    let seed = seed();
    let mut built = Built::new(2, seed);
    let len = 150_001;
    let x = built.ring::<ArithmeticGmwTool>(Width::W32, len);
    let y = built.ring::<ArithmeticGmwTool>(Width::W32, len);
    let graph = &mut built.graph;
    let z = graph
        .add_one(Mul::<ArithmeticGmwTool>::new(), &[x, y])
        .unwrap();
    let z = graph
        .add_one(Mul::<ArithmeticGmwTool>::new(), &[z, x])
        .unwrap();
    let sum = SumAxis {
        count: len,
        inner: 1,
        prefixes: false,
    };
    let sum = graph.add_one(sum, &[z]).unwrap();
    built.open_to_all::<ArithmeticGmwTool>(z);
    built.open_to_all::<ArithmeticGmwTool>(sum);
    let a = built.bits::<BooleanGmwTool>(8, 70_000);
    let b = built.bits::<BooleanGmwTool>(8, 70_000);
    let mut builder = Builder::new("product");
    let (u, v) = (builder.input(8), builder.input(8));
    let product = builder.mul(&u, &v);
    builder.output(&product);
    let circuit = Arc::new(Circuit::new(&builder.finish()));
    let netlist = Arc::new(Netlist::<BooleanGmwTool>::new(circuit, 1));
    let made = built.graph.add(netlist, &[a, b]).unwrap();
    built.open_to_all::<BooleanGmwTool>(made[0]);
    for threads in [1, 3] {
        for memory in [1 << 20, 160 << 20] {
            let spec = PlanSpec {
                threads,
                memory,
                ..built.spec()
            };
            check(&built, spec, seed);
        }
    }
}

/// Two hundred products that do not depend on each other take the rounds of one.
#[test]
fn independent_operations_share_rounds() {
    let seed = seed();
    let mut built = Built::new(3, seed);
    let mut products = Vec::new();
    for _ in 0..200 {
        let x = built.ring::<ArithmeticGmwTool>(Width::W64, 1);
        let y = built.ring::<ArithmeticGmwTool>(Width::W64, 1);
        let product = built
            .graph
            .add_one(Mul::<ArithmeticGmwTool>::new(), &[x, y])
            .unwrap();
        products.push(product);
    }
    let all = built.graph.add_one(Concat { rows: 1 }, &products).unwrap();
    built.open_to_all::<ArithmeticGmwTool>(all);
    let spec = PlanSpec {
        line: Link {
            latency: 0.01,
            bytes_per_second: None,
        },
        ..built.spec()
    };
    let plan = Plan::new(spec.clone()).unwrap();
    assert_eq!(plan.cost(Party::new(0)).online.rounds, 2);
    let outcomes = check(&built, spec, seed);
    let trace: serde_json::Value = serde_json::from_str(&outcomes[0].trace(&plan)).unwrap();
    // Four hundred inputs, two hundred products, one vector of them, its opening.
    assert_eq!(trace.as_array().unwrap().len(), 602);
    assert!(
        outcomes
            .iter()
            .all(|outcome| outcome.total < Duration::from_secs(60))
    );
}

/// Factorials and sums of rows, in a loop; signed numbers of few bits; products with public matrices.
fn loops<P: Rings, B: Boolean>(built: &mut Built, width: Width) {
    let parties = built.graph.parties();
    let x = built.ring::<P>(width, 4);
    let y = built.ring::<P>(width, 12);
    let mut body = Graph::new(parties);
    let state = body.argument(*built.graph.sort(x));
    let table = body.argument(*built.graph.sort(y));
    let time = body.argument(Sort::new(Sharing::PUBLIC, Element::Ring(Width::W64), 1));
    let row = Row { count: 3, inner: 4 };
    let row = body.add_one(row, &[table, time]).unwrap();
    let product = body.add_one(Mul::<P>::new(), &[state, row]).unwrap();
    let next = body.add_one(Linear::<P>::sum(), &[product, row]).unwrap();
    let repeat = Repeat::new(3, body, vec![state, table], Some(time), vec![next]);
    let z = built.graph.add_one(repeat, &[x, y]).unwrap();
    built.open_to_all::<P>(z);
    let small = built.bits::<B>(5, 12);
    let signed = built
        .graph
        .add_one(Compose::<P>::new(width, true), &[small])
        .unwrap();
    let unsigned = built
        .graph
        .add_one(Compose::<P>::new(width, false), &[small])
        .unwrap();
    let joined = built
        .graph
        .add_one(Concat { rows: 3 }, &[signed, unsigned])
        .unwrap();
    let prefixes = SumAxis {
        count: 4,
        inner: 2,
        prefixes: true,
    };
    let prefixes = built.graph.add_one(prefixes, &[joined]).unwrap();
    built.open::<P>(prefixes, &[0]);
    let parity = SumAxis {
        count: 3,
        inner: 2,
        prefixes: false,
    };
    let parity = built.graph.add_one(parity, &[small]).unwrap();
    built.open::<B>(parity, &[0]);
    let shape = MatrixShape {
        rows: 2,
        inner: 3,
        columns: 2,
    };
    let public = with_ring!(width, T => {
        Shares::ring_of(Sharing::PUBLIC, (1..13).map(|i| T::from_u128(i * i)).collect::<Vec<T>>())
    });
    let public = built.graph.add_one(Public::new(public), &[]).unwrap();
    for operands in [[y, public], [public, y], [y, y]] {
        let product = MatrixProduct::<P>::new(2, shape);
        let z = built.graph.add_one(product, &operands).unwrap();
        built.open_to_all::<P>(z);
    }
}

#[test]
fn loops_run_as_often_as_they_say() {
    let seed = seed();
    for width in [Width::W8, Width::W64, Width::W128] {
        for parties in [2, 3] {
            let mut built = Built::new(parties, seed);
            loops::<ArithmeticGmwTool, BooleanGmwTool>(&mut built, width);
            check_all(&built, seed);
        }
        let mut built = Built::new(3, seed);
        loops::<ReplicatedTool, ReplicatedTool>(&mut built, width);
        check_all(&built, seed);
        let mut built = Built::new(2, seed);
        loops::<AlphaTool, BetaTool>(&mut built, width);
        check_all(&built, seed);
    }
}

#[test]
fn what_cannot_be_is_refused_with_its_place() {
    let mut built = Built::new(2, 1);
    let x = built.ring::<ArithmeticGmwTool>(Width::W64, 5);
    let y = built.ring::<ArithmeticGmwTool>(Width::W32, 5);
    let z = built.ring::<ArithmeticGmwTool>(Width::W64, 6);
    let graph = &mut built.graph;
    let error = graph
        .add_one(Mul::<ArithmeticGmwTool>::new(), &[x, y])
        .unwrap_err();
    assert!(error.label.contains("programs.rs"), "{error}");
    let error = graph
        .add_one(Mul::<ArithmeticGmwTool>::new(), &[x, z])
        .unwrap_err();
    assert!(error.to_string().contains("lengths differ"), "{error}");
    let error = graph
        .add_one(Mul::<ReplicatedTool>::new(), &[x, x])
        .unwrap_err();
    assert!(error.to_string().contains("a value in R wanted"), "{error}");
    let error = graph
        .add_one(Share::<ReplicatedTool>::new(Party::new(0)), &[x])
        .unwrap_err();
    assert!(error.to_string().contains("three parties"), "{error}");
}

/// Elements of every ring are held, whatever their alignment.
#[test]
fn values_are_cut_and_put_together() {
    fn rings<T: Held>() {
        let elements: Vec<T> = (0..100).map(T::from_u128).collect();
        let value = Shares::ring_of(Sharing::PUBLIC, elements);
        let pieces = [
            value.slice(0..33),
            value.slice(33..34),
            value.slice(34..100),
        ];
        let whole = Shares::concat(&pieces.iter().collect::<Vec<_>>());
        assert_eq!(whole.component::<T>(0), value.component::<T>(0));
    }
    rings::<u8>();
    rings::<u128>();
    let rows = crate::common::random_rows(5, 1000, &mut Prg::new(Block::new(seed(), 2)));
    let value = Shares::rows(Sharing::PUBLIC, &rows);
    for cut in [1, 7, 64, 513, 999] {
        let pieces = [value.slice(0..cut), value.slice(cut..1000)];
        let whole = Shares::concat(&pieces.iter().collect::<Vec<_>>());
        assert_eq!(whole.to_rows().unwrap(), rows);
    }
    let sort = Sort::new(Sharing::PUBLIC, Element::Bits(3), 9);
    assert!(!Shares::unknown(sort).slice(2..4).is_known());
}

#[test]
fn what_is_no_numbers_is_an_error() {
    let bits = Shares::bits_of(Sharing::PUBLIC, 9, &[300u16, 7]);
    assert_eq!(*bits.to_numbers::<u16>().unwrap(), [300, 7]);
    let none = [
        bits.to_numbers::<u8>().map(|_| ()),
        Shares::unknown(*bits.sort())
            .to_numbers::<u16>()
            .map(|_| ()),
        Shares::ring_of(Sharing::PUBLIC, vec![1u16])
            .to_numbers::<u16>()
            .map(|_| ()),
        Shares::zeros(Sort::new(Sharing::R, Element::Bits(9), 2))
            .to_numbers::<u16>()
            .map(|_| ()),
    ];
    for none in none {
        let told = none.unwrap_err().to_string();
        assert!(told.contains("is not to be read as numbers of"), "{told}");
    }
}
