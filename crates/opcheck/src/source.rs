//! The check of a source of correlations.

use madrigal_core::{Cost, MatrixShape, Party, Phase, Product, Ring};
use madrigal_correlations::{Kind, Means, Needs, Origin, Strings, Supply, Width};
use madrigal_engine::{Element, Sharing, Sort, with_ring};
use madrigal_net::{Error, Result};
use madrigal_operations::{ArithmeticGmwTool, Mul};
use madrigal_testkit::{World, seed, uncounted};
use std::sync::Arc;

use crate::{Case, Check, MakeOrigin};

/// Checks a source of correlations of a user's own ([`madrigal_correlations::Provider`]), of every kind that it
/// serves:
/// - what all parties' shares add up to is what the kind says, in calls for 1, 7, 64 and 1,000 items;
/// - no call gives out what another one has;
/// - bytes, messages, rounds and AES blocks are those that it declares;
/// - programs that take their correlations from it are right, cost what their plans say, and end in time under
///   random faults, by [`Check`].
pub struct SourceCheck {
    /// Numbers of parties.
    pub parties: Vec<usize>,
    /// Random faults; `MADRIGAL_FAULTS` in the environment goes first.
    pub faults: usize,
    origin: Arc<MakeOrigin>,
}

impl SourceCheck {
    /// Checks the source that `origin` gives for each job and its number of parties: among 2 and 3, with 40 faults. All
    /// parties of a job share the value, and find by [`Context::me`](madrigal_net::Context::me) what is theirs.
    pub fn new(origin: impl Fn(usize) -> Origin + Send + Sync + 'static) -> Self {
        Self {
            parties: vec![2, 3],
            faults: 40,
            origin: Arc::new(origin),
        }
    }

    /// Runs all of it.
    ///
    /// # Panics
    /// With what is wrong.
    pub fn run(self) {
        let seed = seed();
        let first = (self.origin)(self.parties[0]);
        let served: Vec<Kind> = kinds().filter(|&kind| first.serves(kind)).collect();
        assert!(!served.is_empty(), "{first} serves no kind that is checked");
        for &parties in &self.parties {
            for &kind in &served {
                for count in [1, 7, 64, 1000] {
                    self.calls(parties, kind, count, seed);
                }
            }
        }
        if served.contains(&Kind::RingTriples(Width::W64)) {
            let origin = self.origin;
            let mul = |_, len| {
                let number = Sort::new(Sharing::A, Element::Ring(Width::W64), len);
                Case {
                    operation: Arc::new(Mul::<ArithmeticGmwTool>::new()),
                    inputs: vec![number; 2],
                }
            };
            let check = Check::new(mul).supplied_by(move |parties| origin(parties));
            let (parties, faults) = (self.parties, self.faults);
            Check {
                parties,
                faults,
                ..check
            }
            .run();
        }
    }

    /// Makes two calls for `count` items each.
    fn calls(&self, parties: usize, kind: Kind, count: usize, seed: u64) {
        let origin = (self.origin)(parties);
        let mut needs = Needs::new();
        needs.add(kind, count);
        let mut both = needs.clone();
        both += &needs;
        let about = format!("{origin}: {count} x {kind} for {parties}");
        let (origin, both) = (&origin, &both);
        let ended = World::new(parties, seed).run(|context| async move {
            let setup = context.enter(Phase::Setup, "setup");
            uncounted(two_calls(origin, &setup, both, kind, count))
                .await
                .0
        });
        let (shares, costs): (Vec<[Strings; 2]>, Vec<Cost>) = ended.into_iter().unzip();
        for (me, cost) in Party::all(parties).zip(costs) {
            let mut costs = origin.costs(me, parties);
            let setup = costs.start(both) + costs.fill(&needs) + costs.fill(&needs);
            let declared = Cost {
                setup,
                ..Cost::default()
            };
            assert_eq!(cost, declared, "{about}: {me} spent, and declared");
        }
        for call in 0..2 {
            let own: Vec<&Strings> = shares.iter().map(|calls| &calls[call]).collect();
            holds(kind, count, &own).unwrap_or_else(|wrong| panic!("{about}: {wrong}"));
        }
        for (me, [one, other]) in Party::all(parties).zip(&shares) {
            for (one, other) in one.iter().zip(other).filter(|(one, _)| one.len() >= 16) {
                assert!(one != other, "{about}: {me} gets the same items twice");
            }
        }
    }
}

async fn two_calls(
    origin: &Origin,
    setup: &madrigal_net::Context,
    needs: &Needs,
    kind: Kind,
    count: usize,
) -> Result<[Strings; 2]> {
    let mut supply = Supply::open(origin, setup, needs, Means::default()).await?;
    let Supply::Made(maker) = &mut supply else {
        let reason = format!("{origin} is no source of one's own");
        return Err(Error::Ended { reason });
    };
    let first = maker.make(kind, count, &|_| {}).await?;
    let second = maker.make(kind, count, &|_| {}).await?;
    supply.end().await?;
    Ok([first, second])
}

/// One kind of each sort and width.
fn kinds() -> impl Iterator<Item = Kind> {
    let shape = MatrixShape {
        rows: 2,
        inner: 3,
        columns: 4,
    };
    let of_ring = move |width| {
        [
            Kind::RingTriples(width),
            Kind::SquarePairs(width),
            Kind::SharedBits(width),
            Kind::MatrixTriples(width, shape),
        ]
    };
    let bits = [Kind::BitTriples, Kind::VectorTriples { length: 40 }];
    bits.into_iter()
        .chain(Width::ALL.into_iter().flat_map(of_ring))
}

/// Whether the parties' shares add up to what they should.
fn holds(kind: Kind, count: usize, shares: &[&Strings]) -> std::result::Result<(), String> {
    match kind {
        Kind::BitTriples => {
            let [a, b, c] = [0, 1, 2].map(|string| xor(shares, string));
            let bit = |string: &[u8], at: usize| string[at / 8] >> (at % 8) & 1;
            let wrong = |&at: &usize| bit(&a, at) & bit(&b, at) != bit(&c, at);
            first((0..count).find(wrong))
        }
        Kind::VectorTriples { length } => {
            let [a, b, c] = [0, 1, 2].map(|string| xor(shares, string));
            let each = length.div_ceil(8);
            let wrong = |&at: &usize| {
                let place = at * each..(at + 1) * each;
                let mut products = b[place.clone()].iter().zip(&c[place]);
                products.any(|(b, c)| b * (a[at] & 1) != *c)
            };
            first((0..count).find(wrong))
        }
        Kind::RingTriples(width) => with_ring!(width, T => {
            let [a, b, c] = [0, 1, 2].map(|string| sum::<T>(shares, string));
            first((0..count).find(|&at| a[at].mul(b[at]) != c[at]))
        }),
        Kind::SquarePairs(width) => with_ring!(width, T => {
            let [a, c] = [0, 1].map(|string| sum::<T>(shares, string));
            first((0..count).find(|&at| a[at].mul(a[at]) != c[at]))
        }),
        Kind::SharedBits(width) => with_ring!(width, T => {
            let b = sum::<T>(shares, 0);
            first((0..count).find(|&at| b[at].to_u128() > 1))
        }),
        Kind::MatrixTriples(width, shape) => {
            with_ring!(width, T => first(wrong_matrices::<T>(shape, count, shares)))
        }
        other => Err(format!("{other} is no kind that is checked")),
    }
}

/// The first triple whose third matrix is not the product of the others.
fn wrong_matrices<T: Ring>(shape: MatrixShape, count: usize, shares: &[&Strings]) -> Option<usize> {
    let [a, b, c] = [0, 1, 2].map(|string| sum::<T>(shares, string));
    let [left, right, result] = Product::Matrices(1, shape).lengths();
    let entry = |at: usize, place: usize| {
        let (row, column) = (place / shape.columns, place % shape.columns);
        let product = |inner: usize| {
            let x = a[at * left + row * shape.inner + inner];
            x.mul(b[at * right + inner * shape.columns + column])
        };
        (0..shape.inner).map(product).fold(T::ZERO, T::add)
    };
    (0..count).find(|&at| (0..result).any(|place| entry(at, place) != c[at * result + place]))
}

fn first(wrong: Option<usize>) -> std::result::Result<(), String> {
    match wrong {
        None => Ok(()),
        Some(item) => Err(format!("item {item} is not what its kind says")),
    }
}

fn xor(shares: &[&Strings], string: usize) -> Vec<u8> {
    let mut sum = shares[0][string].to_vec();
    for share in &shares[1..] {
        let pairs = sum.iter_mut().zip(share[string].iter());
        pairs.for_each(|(sum, share)| *sum ^= share);
    }
    sum
}

fn sum<T: Ring>(shares: &[&Strings], string: usize) -> Vec<T> {
    let elements =
        |share: &Strings| -> Vec<T> { share[string].chunks_exact(T::BYTES).map(T::read).collect() };
    let mut sum = elements(shares[0]);
    for share in &shares[1..] {
        let pairs = sum.iter_mut().zip(elements(share));
        pairs.for_each(|(sum, share)| *sum = sum.add(share));
    }
    sum
}
