//! Table 6: what operations and conversions cost, by the plan, which tests hold against counters.
//!
//! All parties together, for one operation of many, extension IKNP as in the paper; what base OTs cost is left
//! out. In the paper symmetric operations are counted, here AES blocks. Setup ends before the inputs are needed, with all
//! garbled tables in it.

use std::sync::Arc;

use madrigal_circuit::Goal;
use madrigal_core::time::{Link, Rates};
use madrigal_core::{Party, PhaseCost};
use madrigal_engine::{
    Element, Extension, Graph, GraphError, Matrices, Operation, Origin, Phases, Plan, PlanSpec,
    Sharing as Shared, Sort, Value, Width,
};
use madrigal_operations::{
    ArithmeticGmwTool, BmrTool, BooleanGmwTool, Compose, DynOperation, FromKeys, Open, Protocol,
    Share, ToKeys, Variants, varied,
};
use madrigal_program::lower::{Mix, Sharing};
use madrigal_program::{Computation, Everyone, Plain, Program, ProgramError, Secret};

use super::Jobs;
use crate::exit::{Failure, Result};
use crate::graphs::Part;
use crate::paper::bench::{Bench, Job, Quantity, Told};
use crate::paper::estimate::Estimate;
use crate::paper::published::{BITS, Place};
use crate::paper::unit::Unit;

const A: Sharing = Sharing::A;
const B: Sharing = Sharing::B;
const Y: Sharing = Sharing::Y;

/// Operations side by side.
const COUNT: usize = 1 << 14;
/// Number of operations where rounds are counted: more are done block after block.
const FEW: usize = 64;

/// Quantities of an operation: of all parties together but for the messages one after the other.
const WHATS: [(&str, Unit); 6] = [
    ("setup operations", Unit::Operations),
    ("online operations", Unit::Operations),
    ("setup bits", Unit::Bits),
    ("online bits", Unit::Bits),
    ("setup messages", Unit::Messages),
    ("online messages", Unit::Messages),
];

/// One operation of the table.
struct Entry {
    name: &'static str,
    /// Part of the program that is the operation.
    part: Part,
    make: Make,
}

enum Make {
    Program(
        Mix,
        fn(Size) -> std::result::Result<Computation, ProgramError>,
    ),
    /// Typed programs have one sharing of bits, so these are made of operations.
    Graph(fn(Size) -> std::result::Result<Graph, GraphError>),
}

/// Parties, operations side by side, and ways of doing them.
#[derive(Clone, Copy)]
pub struct Size {
    pub parties: usize,
    pub count: usize,
    pub variants: Variants,
}

impl Size {
    /// Operations done in the chosen ways, or in those that who plans them says.
    pub fn usual(parties: usize, count: usize) -> Self {
        Self {
            parties,
            count,
            variants: Variants::default(),
        }
    }
}

/// A program with a function of one value of each of two parties.
pub fn program<T: Plain, U: Plain>(
    size: Size,
    function: impl Fn(Secret<T>, Secret<T>) -> Secret<U>,
) -> std::result::Result<Computation, ProgramError> {
    let mut p = Program::new(size.parties);
    let [x, y] = [0, 1].map(|owner| p.input::<T>(Party::new(owner), [size.count]));
    let _ = p.open(function(x, y), Everyone);
    p.finish()
}

/// Records the same operation on one value.
pub fn of_one<T: Plain, U: Plain>(
    size: Size,
    function: impl Fn(Secret<T>) -> Secret<U>,
) -> std::result::Result<Computation, ProgramError> {
    let mut p = Program::new(size.parties);
    let x = p.input::<T>(Party::new(0), [size.count]);
    let _ = p.open(function(x), Everyone);
    p.finish()
}

/// One party's bits, shared in one protocol, converted and opened in another.
pub fn converted<From: Protocol, To: Protocol>(
    size: Size,
    conversion: impl Operation + 'static,
) -> std::result::Result<Graph, GraphError> {
    let conversion: DynOperation = Arc::new(conversion);
    shared_and_opened::<From, To>(size, 1, |graph, bits| {
        let made = Sort::new(To::SHARING, Element::Bits(1), size.count);
        let conversion = varied(&conversion, &made, size.variants);
        Ok(graph.add(conversion, &[bits])?[0])
    })
}

/// One party's numbers in Y, converted to A by way of B, and opened.
fn by_way_of_b(size: Size) -> std::result::Result<Graph, GraphError> {
    shared_and_opened::<BmrTool, ArithmeticGmwTool>(size, BITS as usize, |graph, shared| {
        let bits = graph.add_one(FromKeys::new(), &[shared])?;
        let compose: DynOperation = Arc::new(Compose::<ArithmeticGmwTool>::new(Width::W32, false));
        let made = Sort::new(Shared::A, Element::Ring(Width::W32), size.count);
        Ok(graph.add(varied(&compose, &made, size.variants), &[bits])?[0])
    })
}

/// Rows of one party's bits, shared in one protocol, and what is made of them opened in another.
fn shared_and_opened<From: Protocol, To: Protocol>(
    size: Size,
    bits: usize,
    make: impl FnOnce(&mut Graph, Value) -> std::result::Result<Value, GraphError>,
) -> std::result::Result<Graph, GraphError> {
    let owner = Party::new(0);
    let mut graph = Graph::new(size.parties);
    let sort = Sort::new(Shared::clear(&[owner]), Element::Bits(bits), size.count);
    let input = graph.input(sort);
    let shared = graph.add_one(Share::<From>::new(owner), &[input])?;
    let made = make(&mut graph, shared)?;
    let everyone = Party::all(size.parties).collect();
    let opened = graph.add_one(Open::<To>::new(everyone), &[made])?;
    graph.output(opened);
    Ok(graph)
}

fn entries() -> Vec<Entry> {
    let program = |name, part, mix, make| Entry {
        name,
        part,
        make: Make::Program(mix, make),
    };
    let between = |name, mix, make| program(name, Part::Between, mix, make);
    let graph = |name, make| Entry {
        name,
        part: Part::Between,
        make: Make::Graph(make),
    };
    vec![
        between("ADD^A", Mix::AB, |n| {
            self::program::<u32, _>(n, |x, y| (x.to(A) + y.to(A)).to(A))
        }),
        between("XOR^B", Mix::B, |n| {
            self::program::<bool, _>(n, |x, y| x ^ y)
        }),
        between("XOR^Y", Mix::Y, |n| {
            self::program::<bool, _>(n, |x, y| x ^ y)
        }),
        between("MUL^A", Mix::AB, |n| {
            self::program::<u32, _>(n, |x, y| (x.to(A) * y.to(A)).to(A))
        }),
        between("AND^B", Mix::B, |n| {
            self::program::<bool, _>(n, |x, y| x & y)
        }),
        between("AND^Y", Mix::Y, |n| {
            self::program::<bool, _>(n, |x, y| x & y)
        }),
        program("Share^A", Part::Share, Mix::AB, |n| {
            of_one::<u32, _>(n, |x| x.to(A))
        }),
        program("Share^B", Part::Share, Mix::B, |n| {
            of_one::<bool, _>(n, |x| x.to(B))
        }),
        program("Share^Y", Part::Share, Mix::Y, |n| {
            of_one::<bool, _>(n, |x| x.to(Y))
        }),
        program("Rec^A", Part::Open, Mix::AB, |n| {
            of_one::<u32, _>(n, |x| x.to(A))
        }),
        program("Rec^B", Part::Open, Mix::B, |n| {
            of_one::<bool, _>(n, |x| x.to(B))
        }),
        program("Rec^Y", Part::Open, Mix::Y, |n| {
            of_one::<bool, _>(n, |x| x.to(Y))
        }),
        graph("Y2B", |n| {
            converted::<BmrTool, BooleanGmwTool>(n, FromKeys::new())
        }),
        graph("B2Y", |n| {
            converted::<BooleanGmwTool, BmrTool>(n, ToKeys::new())
        }),
        between("A2B", Mix::AB, |n| of_one::<u32, _>(n, |x| x.to(A).to(B))),
        between("A2Y", Mix::AY, |n| of_one::<u32, _>(n, |x| x.to(A).to(Y))),
        between("B2A", Mix::AB, |n| of_one::<u32, _>(n, |x| x.to(B).to(A))),
        graph("Y2A (via B)", by_way_of_b),
        between("Y2A (without online)", Mix::AY, |n| {
            of_one::<u32, _>(n, |x| x.to(Y).to(A))
        }),
    ]
}

pub fn jobs(_: &Bench<'_>, _: &Place) -> Jobs {
    let job = |entry: Entry| {
        let of = |(what, unit)| Quantity::new(entry.name, what, unit);
        let quantities = WHATS.map(of).into();
        Job::new(quantities, move |bench, place| {
            let values = entry.costs(place.parties, bench.args.variants())?;
            Ok(Told::Values(values.map(Estimate::exact).into()))
        })
    };
    Ok(entries().into_iter().map(job).collect())
}

impl Entry {
    fn plan(&self, size: Size) -> Result<Plan> {
        let spec = match self.make {
            Make::Program(mix, make) => {
                let computation = make(size).map_err(Failure::bug)?;
                let lowered = computation.lower(mix, Goal::Size).map_err(Failure::bug)?;
                let executable = lowered.with_variants(size.variants).executable();
                executable.map_err(Failure::bug)?.spec()
            }
            Make::Graph(make) => PlanSpec::new(make(size).map_err(Failure::bug)?),
        };
        let spec = PlanSpec {
            origin: Origin::Ot {
                extension: Extension::IKNP,
                threads: 1,
                matrices: Matrices::Ot,
            },
            phases: Some(Phases::Sequential),
            memory: usize::MAX >> 8,
            ..spec
        };
        Plan::new(spec).map_err(Failure::bug)
    }

    /// Counts what each party spends.
    fn spent(&self, size: Size) -> Result<Vec<Spent>> {
        let plan = self.plan(size)?;
        let of = |me| {
            let mut spent = Spent::default();
            for one in plan.estimates(me, &Rates::ZEN_5, &Link::default()) {
                let name = one.cost.name.as_deref().unwrap_or_default();
                if Part::of(name) == self.part {
                    spent.setup += one.setup;
                    spent.online += one.cost.online;
                }
            }
            spent
        };
        Ok(Party::all(size.parties).map(of).collect())
    }

    /// The quantities in order.
    fn costs(&self, parties: usize, variants: Variants) -> Result<[f64; WHATS.len()]> {
        let count = COUNT;
        let size = Size {
            parties,
            count,
            variants,
        };
        let all = self.spent(size)?;
        let sum = |pick: fn(&Spent) -> u64| all.iter().map(pick).sum::<u64>() as f64 / count as f64;
        let few = self.spent(Size { count: FEW, ..size })?;
        let most = |pick: fn(&Spent) -> u64| few.iter().map(pick).max().unwrap_or(0) as f64;
        Ok([
            sum(|spent| spent.setup.aes_blocks),
            sum(|spent| spent.online.aes_blocks),
            8.0 * sum(|spent| spent.setup.bytes_sent),
            8.0 * sum(|spent| spent.online.bytes_sent),
            most(|spent| spent.setup.rounds),
            most(|spent| spent.online.rounds),
        ])
    }
}

/// Cost of a part of a program at one party.
#[derive(Default)]
struct Spent {
    setup: PhaseCost,
    online: PhaseCost,
}
