//! Table 6: what operations and conversions cost, by the plan, which tests hold against counters.
//!
//! All parties together, for one operation of many, extension IKNP as in the paper; what base OTs cost is left
//! out. In the paper symmetric operations are counted, here AES blocks.

use madrigal_circuit::Goal;
use madrigal_core::time::{Link, Rates};
use madrigal_core::{Party, PhaseCost};
use madrigal_engine::{
    Element, Extension, Graph, GraphError, Matrices, Operation, Origin, Plan, PlanSpec,
    Sharing as Shared, Sort, Value, Width,
};
use madrigal_operations::{
    ArithmeticGmwTool, BmrTool, BooleanGmwTool, Compose, FromKeys, Open, Protocol, Share, ToKeys,
};
use madrigal_program::lower::{Mix, Sharing};
use madrigal_program::{Computation, Everyone, Plain, Program, ProgramError, Secret};
use serde::Serialize;

use crate::args::BenchPaper;
use crate::exit::{Failure, Result};
use crate::measured::{self, Rows, is_wanted, select};

const A: Sharing = Sharing::A;
const B: Sharing = Sharing::B;
const Y: Sharing = Sharing::Y;

/// Operations side by side.
const COUNT: usize = 1 << 14;
/// Number of operations where rounds are counted: more are done block after block.
const FEW: usize = 64;
/// Bits of a number.
const BITS: u64 = 32;
/// Bits of a key.
const KAPPA: u64 = 128;

/// Costs of one operation.
#[derive(Serialize, Clone, Copy)]
struct Cost {
    setup_bits: f64,
    online_bits: f64,
    setup_aes: f64,
    online_aes: f64,
    /// Messages one after the other.
    setup_rounds: u64,
    online_rounds: u64,
}

/// The paper's formulas: bits in setup and online, and messages one after the other.
type Formula = fn(n: u64) -> [u64; 4];

/// One operation of the table.
struct Entry {
    name: &'static str,
    /// Part of the program that is the operation.
    part: Part,
    paper: Formula,
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

/// Parties, and operations side by side.
#[derive(Clone, Copy)]
pub(super) struct Size {
    pub parties: usize,
    pub count: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Part {
    Share,
    Open,
    /// Neither.
    Between,
}

#[derive(Serialize)]
struct Row {
    table: u8,
    name: &'static str,
    parties: usize,
    bits: u64,
    #[serde(flatten)]
    cost: Cost,
    paper_setup_bits: u64,
    paper_online_bits: u64,
    paper_setup_rounds: u64,
    paper_online_rounds: u64,
}

/// A program with a function of one value of each of two parties.
pub(super) fn program<T: Plain, U: Plain>(
    size: Size,
    function: impl Fn(Secret<T>, Secret<T>) -> Secret<U>,
) -> std::result::Result<Computation, ProgramError> {
    let mut p = Program::new(size.parties);
    let [x, y] = [0, 1].map(|owner| p.input::<T>(Party::new(owner), [size.count]));
    let _ = p.open(function(x, y), Everyone);
    p.finish()
}

/// Records the same operation on one value.
pub(super) fn of_one<T: Plain, U: Plain>(
    size: Size,
    function: impl Fn(Secret<T>) -> Secret<U>,
) -> std::result::Result<Computation, ProgramError> {
    let mut p = Program::new(size.parties);
    let x = p.input::<T>(Party::new(0), [size.count]);
    let _ = p.open(function(x), Everyone);
    p.finish()
}

/// One party's bits, shared in one protocol, converted and opened in another.
pub(super) fn converted<From: Protocol, To: Protocol>(
    size: Size,
    conversion: impl Operation + 'static,
) -> std::result::Result<Graph, GraphError> {
    shared_and_opened::<From, To>(size, 1, |graph, bits| graph.add_one(conversion, &[bits]))
}

/// One party's numbers in Y, converted to A by way of B, and opened.
fn by_way_of_b(size: Size) -> std::result::Result<Graph, GraphError> {
    shared_and_opened::<BmrTool, ArithmeticGmwTool>(size, BITS as usize, |graph, shared| {
        let bits = graph.add_one(FromKeys::new(), &[shared])?;
        let compose = Compose::<ArithmeticGmwTool>::new(Width::W32, false);
        graph.add_one(compose, &[bits])
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

/// ANDs of a circuit that adds numbers, for each party but the first one.
const fn and_y(n: u64) -> u64 {
    n * (n - 1) * ((4 * n + 7) * KAPPA + 1)
}

fn entries() -> Vec<Entry> {
    let entry = |name, part, mix, paper: Formula, make| Entry {
        name,
        part,
        paper,
        make: Make::Program(mix, make),
    };
    let free: Formula = |_| [0; 4];
    let of_sums: Formula = |n| {
        let setup = (BITS - 1) * (n - 1) * and_y(n);
        [setup, BITS * n * (n - 1) * (n * KAPPA + 1), 5, 2]
    };
    let to_ring: Formula = |n| {
        let setup = BITS * n * (n - 1) * (BITS + 2) * (KAPPA + BITS + 2) / 2;
        [setup, n * (n - 1) * BITS, 2, 1]
    };
    use Part::{Between, Open, Share};
    vec![
        entry("ADD^A", Between, Mix::AB, free, |n| {
            program::<u32, _>(n, |x, y| (x.to(A) + y.to(A)).to(A))
        }),
        entry("XOR^B", Between, Mix::B, free, |n| {
            program::<bool, _>(n, |x, y| x ^ y)
        }),
        entry("XOR^Y", Between, Mix::Y, free, |n| {
            program::<bool, _>(n, |x, y| x ^ y)
        }),
        entry(
            "MUL^A",
            Between,
            Mix::AB,
            // Two elements are opened.
            |n| {
                let pairs = BITS * n * (n - 1);
                [pairs * (KAPPA + BITS / 2), 2 * pairs, 2, 1]
            },
            |n| program::<u32, _>(n, |x, y| (x.to(A) * y.to(A)).to(A)),
        ),
        entry(
            "AND^B",
            Between,
            Mix::B,
            |n| [n * (n - 1) * KAPPA, 2 * n * (n - 1), 1, 1],
            |n| program::<bool, _>(n, |x, y| x & y),
        ),
        entry(
            "AND^Y",
            Between,
            Mix::Y,
            |n| [and_y(n), 0, 5, 0],
            |n| program::<bool, _>(n, |x, y| x & y),
        ),
        entry("Share^A", Share, Mix::AB, free, |n| {
            of_one::<u32, _>(n, |x| x.to(A))
        }),
        entry("Share^B", Share, Mix::B, free, |n| {
            of_one::<bool, _>(n, |x| x.to(B))
        }),
        entry(
            "Share^Y",
            Share,
            Mix::Y,
            |n| [0, (n - 1) * (n * KAPPA + 1), 0, 2],
            |n| of_one::<bool, _>(n, |x| x.to(Y)),
        ),
        entry(
            "Rec^A",
            Open,
            Mix::AB,
            |n| [0, BITS * n * (n - 1), 0, 1],
            |n| of_one::<u32, _>(n, |x| x.to(A)),
        ),
        entry(
            "Rec^B",
            Open,
            Mix::B,
            |n| [0, n * (n - 1), 0, 1],
            |n| of_one::<bool, _>(n, |x| x.to(B)),
        ),
        entry(
            "Rec^Y",
            Open,
            Mix::Y,
            |n| [n * (n - 1), 0, 1, 0],
            |n| of_one::<bool, _>(n, |x| x.to(Y)),
        ),
        Entry {
            name: "Y2B",
            part: Between,
            paper: free,
            make: Make::Graph(|n| converted::<BmrTool, BooleanGmwTool>(n, FromKeys::new())),
        },
        Entry {
            name: "B2Y",
            part: Between,
            paper: |n| [0, n * (n - 1) * (KAPPA + 1), 0, 2],
            make: Make::Graph(|n| converted::<BooleanGmwTool, BmrTool>(n, ToKeys::new())),
        },
        entry("A2B", Between, Mix::AB, of_sums, |n| {
            of_one::<u32, _>(n, |x| x.to(A).to(B))
        }),
        entry("A2Y", Between, Mix::AY, of_sums, |n| {
            of_one::<u32, _>(n, |x| x.to(A).to(Y))
        }),
        entry("B2A", Between, Mix::AB, to_ring, |n| {
            of_one::<u32, _>(n, |x| x.to(B).to(A))
        }),
        Entry {
            name: "Y2A (via B)",
            part: Between,
            paper: to_ring,
            make: Make::Graph(by_way_of_b),
        },
        entry(
            "Y2A (without online)",
            Between,
            Mix::AY,
            |n| {
                let subtraction = (BITS - 1) * n * ((4 * n + 7) * KAPPA + 1);
                [
                    n * (n - 1) * (BITS * (n * KAPPA + 2) + subtraction),
                    0,
                    5,
                    0,
                ]
            },
            |n| of_one::<u32, _>(n, |x| x.to(Y).to(A)),
        ),
    ]
}

pub(super) fn run(args: &BenchPaper) -> Result<()> {
    let wanted = |name: &str| is_wanted(&args.only, name);
    let wanted = select(entries(), wanted, |entry| entry.name)?;
    let mut rows = Rows::new(args.json);
    for parties in args.numbers_of_parties() {
        for entry in &wanted {
            rows.add(&entry.row(parties)?)?;
        }
    }
    rows.print(|rows| {
        format!(
            "Table 6 of MOTION, for one operation of {COUNT} side by side, numbers of {BITS} bits, extension IKNP: what \
             all parties send together, messages one after the other and AES blocks, setup + online.\n\n{rows}\n"
        )
    })
}

impl measured::Row for Row {
    const HEADER: &'static [&'static str] = &[
        "row",
        "parties",
        "setup bits",
        "the paper's",
        "online bits",
        "the paper's",
        "messages",
        "the paper's",
        "AES blocks",
    ];

    fn cells(&self) -> Vec<String> {
        let cost = self.cost;
        vec![
            self.name.to_owned(),
            self.parties.to_string(),
            format!("{:.1}", cost.setup_bits),
            self.paper_setup_bits.to_string(),
            format!("{:.1}", cost.online_bits),
            self.paper_online_bits.to_string(),
            format!("{} + {}", cost.setup_rounds, cost.online_rounds),
            format!("{} + {}", self.paper_setup_rounds, self.paper_online_rounds),
            format!("{:.1} + {:.1}", cost.setup_aes, cost.online_aes),
        ]
    }
}

impl Entry {
    fn row(&self, parties: usize) -> Result<Row> {
        let cost = self.cost(parties)?;
        let [
            paper_setup_bits,
            paper_online_bits,
            paper_setup_rounds,
            paper_online_rounds,
        ] = (self.paper)(parties as u64);
        Ok(Row {
            table: 6,
            name: self.name,
            parties,
            bits: BITS,
            cost,
            paper_setup_bits,
            paper_online_bits,
            paper_setup_rounds,
            paper_online_rounds,
        })
    }

    fn plan(&self, size: Size) -> Result<Plan> {
        let mut spec = match self.make {
            Make::Program(mix, make) => {
                let computation = make(size).map_err(Failure::bug)?;
                let executable = computation.executable(mix, Goal::Size);
                executable.map_err(Failure::bug)?.spec()
            }
            Make::Graph(make) => PlanSpec::new(make(size).map_err(Failure::bug)?),
        };
        spec.origin = Origin::Ot {
            extension: Extension::IKNP,
            threads: 1,
            matrices: Matrices::Ot,
        };
        Plan::new(spec).map_err(Failure::bug)
    }

    /// Counts what each party spends.
    fn spent(&self, size: Size) -> Result<Vec<Spent>> {
        let plan = self.plan(size)?;
        let of = |me| {
            let mut spent = Spent::default();
            for one in plan.estimates(me, &Rates::ZEN_5, &Link::default()) {
                let part = match one.cost.name.as_deref() {
                    Some(name) if name.starts_with("share/") => Part::Share,
                    Some(name) if name.starts_with("open/") => Part::Open,
                    _ => Part::Between,
                };
                if part == self.part {
                    spent.setup += one.setup;
                    spent.online += one.cost.online;
                }
            }
            spent
        };
        Ok(Party::all(size.parties).map(of).collect())
    }

    fn cost(&self, parties: usize) -> Result<Cost> {
        let count = COUNT;
        let all = self.spent(Size { parties, count })?;
        let sum = |pick: fn(&Spent) -> u64| all.iter().map(pick).sum::<u64>() as f64 / count as f64;
        let few = self.spent(Size {
            parties,
            count: FEW,
        })?;
        let most = |pick: fn(&Spent) -> u64| few.iter().map(pick).max().unwrap_or(0);
        Ok(Cost {
            setup_bits: 8.0 * sum(|spent| spent.setup.bytes_sent),
            online_bits: 8.0 * sum(|spent| spent.online.bytes_sent),
            setup_aes: sum(|spent| spent.setup.aes_blocks),
            online_aes: sum(|spent| spent.online.aes_blocks),
            setup_rounds: most(|spent| spent.setup.rounds),
            online_rounds: most(|spent| spent.online.rounds),
        })
    }
}

/// Cost of a part of a program at one party.
#[derive(Default)]
struct Spent {
    setup: PhaseCost,
    online: PhaseCost,
}
