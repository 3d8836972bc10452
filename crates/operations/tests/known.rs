//! Products with an operand that one of two parties knows: right, at the declared cost, for half of what two shared
//! operands take, with transcripts that do not depend on either.

#![allow(clippy::unwrap_used)] // helpers of tests

use madrigal_core::{Convolution, MatrixShape, Party, Product, Ring};
use madrigal_correlations_make::{Extension, Matrices};
use madrigal_engine::{
    Element, Graph, Origin, Plan, PlanSpec, Shares, Sharing, Sort, Value, Width, with_ring,
};
use madrigal_operations::{ArithmeticGmwTool, Linear, MatrixProduct, Open, Share, Side};
use madrigal_testkit::seed;

use crate::programs::{Built, check, check_all};
use crate::transcripts::ones_of_values;
use madrigal_testkit::transcripts::must_agree;

type A = ArithmeticGmwTool;

/// A random input that stays clear to its owner.
pub(crate) fn clear(built: &mut Built, width: Width, len: usize, owner: Party, seed: u64) -> Value {
    let sharing = Sharing::clear(&[owner]);
    let value = with_ring!(width, T => {
        let mut prg = madrigal_kernels::Prg::new(madrigal_kernels::Block::new(seed, 5));
        let mut elements = vec![T::ZERO; len];
        prg.fill(madrigal_kernels::rings::as_bytes_mut(&mut elements));
        if let Some(first) = elements.first_mut() {
            *first = T::ONE.shl(<T as Ring>::BITS - 1);
        }
        Shares::ring_of(sharing, elements)
    });
    let input = built.graph.input(*value.sort());
    built.inputs.push(value);
    input
}

fn products() -> [Product; 3] {
    let shape = |rows, inner, columns| MatrixShape {
        rows,
        inner,
        columns,
    };
    let convolution = Convolution {
        images: 2,
        groups: 2,
        channels: 4,
        stride: [2, 1],
        padding: [[1, 0], [0, 1]],
        ..Convolution::new(4, [5, 4], 6, [3, 2])
    };
    [
        Product::Matrices(1, shape(3, 4, 2)),
        Product::Matrices(3, shape(2, 1, 5)),
        Product::Convolution(convolution),
    ]
}

/// A product of a clear operand and one that both parties have a random share of; then one of the result.
fn built(product: Product, width: Width, side: Side, owner: Party, seed: u64) -> Built {
    let mut built = Built::new(2, seed);
    let [left, right, len] = product.lengths();
    let (known, shared) = match side {
        Side::Left => (left, right),
        Side::Right => (right, left),
    };
    let weights = clear(&mut built, width, known, owner, seed);
    let [x, y] = [(); 2].map(|()| built.ring::<A>(width, shared));
    let graph = &mut built.graph;
    let sum = graph.add_one(Linear::<A>::sum(), &[x, y]).unwrap();
    let operands = match side {
        Side::Left => [weights, sum],
        Side::Right => [sum, weights],
    };
    let of = |product| MatrixProduct::<A>::of(product).known(side, owner);
    let made = graph.add_one(of(product), &operands).unwrap();
    built.open_to_all::<A>(made);
    if len > 0 {
        let last = Product::Matrices(
            1,
            MatrixShape {
                rows: 1,
                inner: len,
                columns: 1,
            },
        );
        let other = Party::new(1 - owner.index());
        let more = clear(&mut built, width, len, other, !seed);
        let last = MatrixProduct::<A>::of(last).known(Side::Right, other);
        let made = built.graph.add_one(last, &[made, more]).unwrap();
        built.open::<A>(made, &[0]);
    }
    built
}

#[test]
fn of_every_width_and_side() {
    let seed = seed();
    for (number, width) in Width::ALL.into_iter().enumerate() {
        for product in products() {
            for (side, owner) in [(Side::Left, number % 2), (Side::Right, (number + 1) % 2)] {
                let owner = Party::new(owner);
                let built = built(product, width, side, owner, seed);
                check(&built, built.spec(), seed);
            }
        }
    }
}

#[test]
fn from_every_source() {
    let seed = seed();
    for owner in Party::all(2) {
        for product in [products()[0], products()[2]] {
            let built = built(product, Width::W64, Side::Left, owner, seed);
            check_all(&built, seed);
            let lattice = PlanSpec {
                origin: Origin::Ot {
                    extension: Extension::default(),
                    threads: 1,
                    matrices: Matrices::Lattice,
                },
                ..built.spec()
            };
            check(&built, lattice, seed);
        }
    }
}

/// Half of what is sent for shared operands: each party sends one operand instead of both.
#[test]
fn each_operand_goes_one_way() {
    let seed = seed();
    let product = products()[2];
    let [left, right, _] = product.lengths();
    let plan =
        Plan::new(built(product, Width::W32, Side::Left, Party::new(1), seed).spec()).unwrap();
    let online = |me: usize| plan.cost(Party::new(me)).online.bytes_sent;
    let [.., len] = product.lengths();
    // Each opening is of the results, of which the last one is opened to the first party alone.
    let opened = 4 * len as u64;
    assert_eq!(online(1), 4 * (left + len) as u64 + opened + 4);
    assert_eq!(online(0), 4 * (right + len) as u64 + opened);
}

/// Neither party's view depends on the known operand or on the shared one.
#[test]
fn transcripts_depend_on_neither_operand() {
    let seed = seed();
    let product = Product::Matrices(
        1,
        MatrixShape {
            rows: 2,
            inner: 2,
            columns: 1,
        },
    );
    for owner in Party::all(2) {
        let other = Party::new(1 - owner.index());
        for to in Party::all(2) {
            let mut graph = Graph::new(2);
            let input = |graph: &mut Graph, party: Party, len: usize| {
                let sharing = Sharing::clear(&[party]);
                graph.input(Sort::new(sharing, Element::Ring(Width::W8), len))
            };
            let weights = input(&mut graph, owner, 4);
            let data = input(&mut graph, other, 2);
            let data = graph.add_one(Share::<A>::new(other), &[data]).unwrap();
            let of = MatrixProduct::<A>::of(product).known(Side::Left, owner);
            let made = graph.add_one(of, &[weights, data]).unwrap();
            // To whom does not look.
            let open = Open::<A>::new(vec![Party::new(1 - to.index())]);
            let opened = graph.add_one(open, &[made]).unwrap();
            graph.output(opened);
            let plan = Plan::new(PlanSpec::new(graph)).unwrap();
            let inputs = |others: u8| -> Vec<Shares> {
                let of = |(party, len): (Party, usize)| {
                    let element = if party == to { 0x5a } else { others };
                    Shares::ring_of(Sharing::clear(&[party]), vec![element; len])
                };
                [(owner, 4), (other, 2)].map(of).into()
            };
            let a = ones_of_values(&plan, &inputs(0), to, seed);
            let b = ones_of_values(&plan, &inputs(0xff), to, seed ^ 0x5555_0000_0000_0000);
            must_agree(&a, &b, &format!("weights of {owner}, to {to}"));
        }
    }
}

/// Parties that see different operands as known do not compute, and hear which operation it is.
#[test]
fn marks_must_agree() {
    let product = |known: Side| {
        let mut graph = Graph::new(2);
        let [owner, other] = [0, 1].map(Party::new);
        let [left, right] = [(owner, 12), (other, 8)].map(|(party, len)| {
            let sort = Sort::new(Sharing::clear(&[party]), Element::Ring(Width::W32), len);
            graph.input(sort)
        });
        let [x, y] = [(owner, left), (other, right)].map(|(party, value)| {
            let share = Share::<A>::new(party);
            graph.add_one(share, &[value]).unwrap()
        });
        let of = MatrixProduct::<A>::of(products()[0]);
        let made = match known {
            Side::Left => graph.add_one(of.known(known, owner), &[left, y]),
            Side::Right => graph.add_one(of.known(known, other), &[x, right]),
        };
        let opened = graph
            .add_one(Open::<A>::new(vec![other]), &[made.unwrap()])
            .unwrap();
        graph.output(opened);
        graph
    };
    let error = crate::limits::difference([product(Side::Left), product(Side::Right)]);
    let wanted = "operation 4 is matrix-product/1 in A, 1 of 3x4x2, the left operand of party 0";
    assert!(error.contains(wanted), "{error}");
}

#[test]
fn what_does_not_fit_is_refused() {
    let product = products()[0];
    let refused = |parties: usize, owner: usize, holder: usize, shared: Sharing| {
        let mut graph = Graph::new(parties);
        let sort = |sharing, len| Sort::new(sharing, Element::Ring(Width::W32), len);
        let weights = graph.input(sort(Sharing::clear(&[Party::new(holder)]), 12));
        let data = graph.input(sort(shared, 8));
        let of = MatrixProduct::<A>::of(product).known(Side::Left, Party::new(owner));
        let problem = graph.add_one(of, &[weights, data]).unwrap_err();
        problem.to_string()
    };
    assert!(refused(3, 0, 0, Sharing::A).contains("one of 3 parties knows"));
    assert!(refused(2, 0, 1, Sharing::A).contains("party 0 does not know"));
    assert!(refused(2, 0, 0, Sharing::PUBLIC).contains("a value in A wanted"));
}
