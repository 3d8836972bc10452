//! Checks an operation of a user's own, as the project checks its own operations.
//!
//! [`Check`] puts the operation into a program: inputs that are shared are brought by parties and shared,
//! results that are shared are opened. All parties run it, in one process over memory:
//! - outputs equal those of [`Operation::plain`], on edges and on random values;
//! - bytes, messages, rounds, AES blocks and correlations are those of [`Operation::bill`], to the byte, with
//!   openings directly and through a relay, on one thread and on two, in one part and in several; AES blocks
//!   are counted where they are computed, so that one that no phase counts is found;
//! - too few inputs, too many, and inputs of other lengths and elements are refused by [`Operation::sorts`],
//!   or else run like any others;
//! - under random faults of the network every living party ends in time with the right result or with one
//!   error that blames no honest party.
//!
//! [`SourceCheck`] checks a source of correlations of a user's own in the same way.
//!
//! It is for tests: randomness is deterministic, and what is wrong is a panic that says so.

#![allow(clippy::print_stdout)] // seeds, for whoever repeats a failed test

use std::sync::Arc;

mod source;

pub use source::SourceCheck;

use madrigal_core::{Cost, Party, Ring};
use madrigal_engine::{
    Element, Given, Graph, GraphError, Opening, Operation, Origin, Phases, Plan, PlanSpec,
    RunError, Shares, Sharing, Sort, Value, evaluate_program, with_ring,
};
use madrigal_net::transport::Fault;
use madrigal_net::{Context, Error};
use madrigal_operations::{
    ArithmeticGmwTool, BooleanGmwTool, Open, Protocol, ReplicatedTool, Share,
};
use madrigal_testkit::{World, impatient, must_end_well, run_with_fault, seed, uncounted};

/// A case to check: an operation with the sorts of its inputs.
pub struct Case {
    /// The operation.
    pub operation: Arc<dyn Operation>,
    /// Sorts of its inputs: clear, or in one of the sharings of the engine (A, B, R).
    pub inputs: Vec<Sort>,
}

/// Function that makes the case for a number of parties and of elements.
type Make = dyn Fn(usize, usize) -> Case + Sync;

/// The check; change what is to be otherwise.
pub struct Check {
    /// Numbers of parties.
    pub parties: Vec<usize>,
    /// Numbers of elements.
    pub lengths: Vec<usize>,
    /// Random faults; `MADRIGAL_FAULTS` in the environment goes first.
    pub faults: usize,
    /// The greatest message, counted on each link, that a fault happens to.
    pub messages: u32,
    make: Box<Make>,
    origin: Box<MakeOrigin>,
}

/// Function that makes the source of a job's correlations for a number of parties.
type MakeOrigin = dyn Fn(usize) -> Origin + Send + Sync;

impl Check {
    /// Checks the operation that `make` makes for a number of parties and of elements: among 2, 3 and 5 parties,
    /// with 1, 7, 64 and 1,000 elements and 40 faults.
    pub fn new(make: impl Fn(usize, usize) -> Case + Sync + 'static) -> Self {
        Self {
            parties: vec![2, 3, 5],
            lengths: vec![1, 7, 64, 1000],
            faults: 40,
            messages: 12,
            make: Box::new(make),
            origin: Box::new(|_| Origin::default()),
        }
    }

    /// Checks among these numbers of parties alone: for operations that are not for any number of them.
    #[must_use]
    pub fn among(self, parties: &[usize]) -> Self {
        let parties = parties.to_vec();
        Self { parties, ..self }
    }

    /// Takes correlations from elsewhere: `origin` says where, for each job and its number of parties.
    #[must_use]
    pub fn supplied_by(self, origin: impl Fn(usize) -> Origin + Send + Sync + 'static) -> Self {
        let origin = Box::new(origin);
        Self { origin, ..self }
    }

    /// Runs all of it.
    ///
    /// # Panics
    /// With what is wrong.
    pub fn run(&self) {
        let seed = seed();
        for &parties in &self.parties {
            for &len in &self.lengths {
                let built = self.built(parties, len, seed);
                for spec in specs(&built.graph) {
                    built.compare(self.supplied(spec), seed);
                }
            }
            self.wrong_inputs(parties, seed);
        }
        self.faulty(seed);
    }

    fn supplied(&self, spec: PlanSpec) -> PlanSpec {
        let origin = (self.origin)(spec.graph.parties());
        PlanSpec { origin, ..spec }
    }

    fn built(&self, parties: usize, len: usize, seed: u64) -> Built {
        let built = Built::new(&(self.make)(parties, len), parties, seed);
        built.unwrap_or_else(|error| panic!("{error}"))
    }

    fn wrong_inputs(&self, parties: usize, seed: u64) {
        let case = (self.make)(parties, 7);
        let name = case.operation.name();
        let with = |inputs: Vec<Sort>| {
            let operation = Arc::clone(&case.operation);
            Built::new(&Case { operation, inputs }, parties, seed)
        };
        let own = &case.inputs;
        if let Some((first, fewer)) = own.split_first() {
            let more = own.iter().chain([first]).copied().collect();
            assert!(
                with(fewer.to_vec()).is_err(),
                "{name} takes an input too few"
            );
            assert!(with(more).is_err(), "{name} takes an input too many");
        }
        for (at, sort) in own.iter().enumerate() {
            let element = match sort.element {
                Element::Ring(_) => Element::Bits(3),
                Element::Bits(bits) => Element::Bits(bits + 1),
            };
            let others = [
                Sort::new(sort.sharing, sort.element, sort.len + 1),
                Sort::new(sort.sharing, sort.element, 0),
                Sort::new(sort.sharing, element, sort.len),
            ];
            for other in others {
                let mut inputs = own.clone();
                inputs[at] = other;
                // Inputs that the operation takes must run like any other.
                if let Ok(built) = with(inputs) {
                    let spec = PlanSpec::new(built.graph.clone());
                    built.compare(self.supplied(spec), seed);
                }
            }
        }
    }

    fn faulty(&self, seed: u64) {
        let wanted = std::env::var("MADRIGAL_FAULTS").ok();
        let trials = wanted.and_then(|text| text.parse().ok());
        for number in 0..trials.unwrap_or(self.faults) as u64 {
            let parties = self.parties[number as usize % self.parties.len()];
            let seed = seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let fault = Fault {
                at: (seed >> 8) as u32 % self.messages,
                ..Fault::random(seed, parties)
            };
            let len = self.lengths[number as usize % self.lengths.len()];
            let built = Arc::new(self.built(parties, len, seed));
            let spec = PlanSpec::new(built.graph.clone());
            let plan = Arc::new(plan(self.supplied(spec)));
            let trial = |patience| {
                let (world, limit) = impatient(parties, seed, patience);
                let judge = Arc::clone(&built);
                let right =
                    move |me: Party, outputs: &Vec<Shares>| judge.wrong(me, outputs).is_none();
                let (built, plan) = (Arc::clone(&built), Arc::clone(&plan));
                let program = move |context: Context| {
                    let (built, plan) = (Arc::clone(&built), Arc::clone(&plan));
                    async move { built.work(&context, &plan).await }
                };
                run_with_fault(&world, fault, limit, program, right)
            };
            must_end_well(&format!("fault {number}"), trial);
        }
    }
}

/// Specs of programs that vary what a plan can vary in.
fn specs(graph: &Graph) -> [PlanSpec; 5] {
    let spec = || PlanSpec::new(graph.clone());
    [
        spec(),
        PlanSpec {
            opening: Opening::Relay,
            ..spec()
        },
        PlanSpec {
            threads: 2,
            ..spec()
        },
        PlanSpec {
            phases: Some(Phases::Interleaved),
            memory: 1 << 14,
            ..spec()
        },
        // Boolean triples step by step, as the bill says.
        PlanSpec {
            phases: Some(Phases::Interleaved),
            ..spec()
        },
    ]
}

/// A program of the operation, with inputs and the outputs that it should have.
struct Built {
    graph: Graph,
    inputs: Vec<Shares>,
    expected: Vec<Shares>,
}

impl Built {
    fn new(case: &Case, parties: usize, seed: u64) -> Result<Self, GraphError> {
        let mut graph = Graph::new(parties);
        let mut state = seed;
        let (mut values, mut inputs) = (Vec::new(), Vec::new());
        for (number, &sort) in case.inputs.iter().enumerate() {
            let owner = Party::new(number % parties);
            let clear = match sort.sharing.is_clear() {
                true => sort,
                false => sort.shared(Sharing::clear(&[owner])),
            };
            let value = graph.input(clear);
            inputs.push(random(clear, &mut state));
            let share = edges(sort.sharing).map(|(share, _)| share(owner));
            values.push(match share {
                None => value,
                Some(share) => graph.add(share, &[value])?[0],
            });
        }
        for result in graph.add(Arc::clone(&case.operation), &values)? {
            let everyone = Party::all(parties).collect();
            let open = edges(graph.sort(result).sharing).map(|(_, open)| open(everyone));
            let opened = match open {
                None => result,
                Some(open) => graph.add(open, &[result])?[0],
            };
            graph.output(opened);
        }
        Ok(Self {
            expected: graph.simulate(&inputs)?,
            graph,
            inputs,
        })
    }

    /// One party's part.
    async fn work(&self, context: &Context, plan: &Plan) -> Result<Vec<Shares>, Error> {
        let me = context.me();
        let own = |(&value, shares): (&Value, &Shares)| {
            let sort = *self.graph.sort(value);
            match sort.sharing.is_known_to(me) {
                true => shares.clone(),
                false => Shares::unknown(sort),
            }
        };
        let given = Given {
            inputs: self
                .graph
                .inputs()
                .iter()
                .zip(&self.inputs)
                .map(own)
                .collect(),
            ..Given::default()
        };
        match evaluate_program(context, plan, given, &|_| {}).await {
            Ok(outputs) => Ok(outputs),
            Err(RunError::Net(error)) => Err(error),
            Err(other) => panic!("{me}: {other}"),
        }
    }

    /// The first output of a party that is not what it should be.
    fn wrong(&self, me: Party, outputs: &[Shares]) -> Option<usize> {
        let values = self.graph.outputs().iter();
        let mut all = outputs.iter().zip(&self.expected).zip(values);
        all.position(|((found, expected), &value)| {
            let known = self.graph.sort(value).sharing.is_known_to(me);
            found.is_known() != known || known && codes(found) != codes(expected)
        })
    }

    /// Runs the program as all parties; compares outputs and costs.
    fn compare(&self, spec: PlanSpec, seed: u64) {
        let plan = plan(spec);
        let (parties, plan) = (self.graph.parties(), &plan);
        let lines: Vec<String> = self.graph.describe().collect();
        let program = lines.join("\n");
        let ended = World::new(parties, seed).run(|context| async move {
            let (outputs, blocks) = uncounted(self.work(&context, plan)).await;
            Ok((outputs?, blocks))
        });
        for (me, ((outputs, blocks), cost)) in Party::all(parties).zip(ended) {
            assert_eq!(
                blocks, 0,
                "{me}: AES blocks that no phase counts, in\n{program}"
            );
            if let Some(place) = self.wrong(me, &outputs) {
                panic!(
                    "{me}: output {place} is {:?}, and should be {:?}, in\n{program}",
                    outputs.get(place).filter(|one| one.is_known()).map(codes),
                    codes(&self.expected[place]),
                );
            }
            let declared: Cost = plan.cost(me);
            assert_eq!(cost, declared, "{me}: spent, and declared, in\n{program}");
        }
    }
}

fn plan(spec: PlanSpec) -> Plan {
    Plan::new(spec).unwrap_or_else(|error| panic!("{error}"))
}

type MakeShare = fn(Party) -> Arc<dyn Operation>;
type MakeOpen = fn(Vec<Party>) -> Arc<dyn Operation>;

/// Gives the operations by which values come into a sharing and out of it; `None` for clear ones.
fn edges(sharing: Sharing) -> Option<(MakeShare, MakeOpen)> {
    fn of<P: Protocol>() -> Option<(MakeShare, MakeOpen)> {
        Some((
            |owner| Arc::new(Share::<P>::new(owner)),
            |to| Arc::new(Open::<P>::new(to)),
        ))
    }
    match sharing {
        sharing if sharing.is_clear() => None,
        sharing if sharing == Sharing::A => of::<ArithmeticGmwTool>(),
        sharing if sharing == Sharing::B => of::<BooleanGmwTool>(),
        sharing if sharing == Sharing::R => of::<ReplicatedTool>(),
        other => panic!("values in {other} are for its own crate to share and open"),
    }
}

/// Edges and random values.
fn random(sort: Sort, state: &mut u64) -> Shares {
    let mut shares = Shares::zeros(sort);
    match sort.element {
        Element::Ring(width) => with_ring!(width, T => {
            for element in shares.component_mut::<T>(0) {
                *element = <T as Ring>::from_u128(code(width.bits(), state));
            }
        }),
        Element::Bits(planes) => {
            for plane in 0..planes {
                let row = shares.plane_mut(plane, 0);
                for at in 0..sort.len {
                    row[at / 8] |= ((next(state) & 1) as u8) << (at % 8);
                }
            }
        }
    }
    shares
}

fn code(bits: usize, state: &mut u64) -> u128 {
    let word = u128::from(next(state)) << 64 | u128::from(next(state));
    let top = 1 << (bits - 1);
    let edges = [0, 1, u128::MAX, top, top - 1, top + 1];
    match next(state) % 3 {
        0 => edges[(word % 6) as usize],
        1 => word >> (next(state) % 128),
        _ => word,
    }
}

/// 64 bits (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ *state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// The elements of a clear value.
fn codes(value: &Shares) -> Vec<u128> {
    match value.sort().element {
        Element::Ring(width) => with_ring!(width, T => {
            let elements = value.component::<T>(0).iter();
            elements.map(|&element| Ring::to_u128(element)).collect()
        }),
        Element::Bits(planes) => {
            let mut codes = Vec::new();
            for plane in 0..planes {
                let row = value.plane(plane, 0);
                codes.extend((0..value.len()).map(|at| u128::from(row[at / 8] >> (at % 8) & 1)));
            }
            codes
        }
    }
}
