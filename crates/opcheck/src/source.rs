//! The check of a source of correlations.

use madrigal_core::{Cost, Party, Phase, Product, Ring};
use madrigal_correlations::{Cells, Dependence, Kind, Means, Needs, Source as _, Strings, Width};
use madrigal_correlations_make::{Origin, Supply};
use madrigal_engine::{Element, Sharing, Sort, with_ring};
use madrigal_net::Result;
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
        let served: Vec<Kind> = Kind::examples()
            .filter(|&kind| first.serves(kind))
            .collect();
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
            let columns = kind.descriptor().columns.into_iter();
            let drawn = columns.map(|column| column.is_drawn_by(me));
            let strings = one.iter().zip(other).zip(drawn);
            for ((one, other), _) in strings.filter(|((one, _), drawn)| *drawn && one.len() >= 16) {
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
    let first = supply.items(kind, count, &|_| {}).await?;
    let second = supply.items(kind, count, &|_| {}).await?;
    supply.end().await?;
    Ok([first.strings(), second.strings()])
}

/// Says whether the parties' shares add up to what they should: the last column follows from the others.
fn holds(kind: Kind, count: usize, shares: &[&Strings]) -> std::result::Result<(), String> {
    let said = kind.descriptor();
    let mut sums = Vec::new();
    for (index, column) in said.columns.iter().enumerate() {
        let mut sum = shares[0][index].clone();
        for share in &shares[1..] {
            column.cells.add(&mut sum, &share[index]);
        }
        column.cells.clean(&mut sum, count);
        sums.push(sum);
    }
    let (Some(found), Some(column)) = (sums.pop(), said.columns.last()) else {
        return Err(format!("{kind} has no shares"));
    };
    let mut wanted = found.clone();
    match said.dependence {
        Dependence::Of(rule) => rule(&sums, &mut wanted),
        Dependence::Random(allow) => allow(&mut wanted),
        Dependence::Product(product) => {
            let (Cells::Elements(width, _), [a, b]) = (column.cells, &sums[..]) else {
                return Err(format!("{kind} has no factors"));
            };
            with_ring!(width, T => multiply::<T>(product, count, [a, b], &mut wanted));
        }
    }
    column.cells.clean(&mut wanted, count);
    let each = column.cells.bits() as usize;
    let wrong = found.iter().zip(wanted.iter()).position(|(a, b)| a != b);
    match wrong {
        None => Ok(()),
        Some(byte) => Err(format!(
            "item {} or one beside it is not what its kind says",
            8 * byte / each.max(1)
        )),
    }
}

/// Writes the products of all items, by their definition.
fn multiply<T: Ring>(product: Product, count: usize, factors: [&[u8]; 2], results: &mut [u8]) {
    let elements = |bytes: &[u8]| -> Vec<T> { bytes.chunks_exact(T::BYTES).map(T::read).collect() };
    let [a, b] = factors.map(elements);
    let [left, right, result] = product.lengths();
    let of = |item: usize, output: usize| {
        let (a, b) = (&a[item * left..], &b[item * right..]);
        match product {
            Product::Matrices(_, shape) => {
                let (row, column) = (output / shape.columns, output % shape.columns);
                let term = |inner: usize| {
                    a[row * shape.inner + inner].mul(b[inner * shape.columns + column])
                };
                (0..shape.inner).map(term).fold(T::ZERO, T::add)
            }
            Product::Convolution(convolution) => {
                let terms = convolution.terms(output);
                let term = |(filter, image): (usize, Option<usize>)| {
                    image.map_or(T::ZERO, |image| a[filter].mul(b[image]))
                };
                terms.map(term).fold(T::ZERO, T::add)
            }
        }
    };
    let places = results.chunks_exact_mut(T::BYTES).zip(0..count * result);
    for (place, at) in places {
        of(at / result, at % result).write(place);
    }
}
