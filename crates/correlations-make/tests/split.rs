//! Triples of which each of two parties has a factor: right, at the declared cost, whoever has which, and beside
//! triples whose factors are shared.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use madrigal_core::{Convolution, Party, Product, Ring};
use madrigal_correlations::{
    Kind, MatrixShape, Means, Needs, ProductTriple, Source, Tripled, Width,
};
use madrigal_correlations_make::{Extension, Origin, OtCosts, OtSource};
use madrigal_net::{Context, Result};
use madrigal_testkit::{World, seed};

/// A party's shares of A, B and C, of each triple.
type Triples<T> = Vec<[Vec<T>; 3]>;

fn taken<T: Ring>(triples: Vec<ProductTriple<T>>) -> Triples<T> {
    let take = |triple: ProductTriple<T>| triple.take().map(|part| part.to_vec());
    triples.into_iter().map(take).collect()
}

/// C is the product, and each factor is random at its owner and zeros at the other party.
fn check<T: Ring>(tripled: Tripled, parties: [&Triples<T>; 2], what: &str) {
    for (first, second) in parties[0].iter().zip(parties[1]) {
        let sum = |part: usize| -> Vec<T> {
            let shares = first[part].iter().zip(&second[part]);
            shares.map(|(x, y)| x.add(*y)).collect()
        };
        let [a, b, c] = [0, 1, 2].map(sum);
        let (pieces, shape) = tripled.product.pieces();
        let mut expected = vec![T::ZERO; c.len()];
        for piece in 0..pieces {
            let (a, b) = (
                &a[tripled.product.left(piece)],
                tripled.product.right(piece, &b),
            );
            let mut z = vec![T::ZERO; shape.rows * shape.columns];
            for row in 0..shape.rows {
                for (inner, column) in
                    (0..shape.inner).flat_map(|i| (0..shape.columns).map(move |j| (i, j)))
                {
                    let z = &mut z[row * shape.columns + column];
                    let term = a[row * shape.inner + inner].mul(b[inner * shape.columns + column]);
                    *z = z.add(term);
                }
            }
            tripled
                .product
                .add(piece, 0..shape.columns, &z, &mut expected);
        }
        assert!(c == expected, "{what}");
        let Some(left) = tripled.left else { continue };
        for (factor, owner) in [(0, left.index()), (1, 1 - left.index())] {
            let zero = |party: &[Vec<T>; 3]| party[factor].iter().all(|&x| x == T::ZERO);
            let [owners, others] = match owner {
                0 => [first, second],
                _ => [second, first],
            };
            assert!(zero(others), "{what}: factor {factor} is one party's");
            assert!(
                !zero(owners) || a.len().min(b.len()) < 2,
                "{what}: factor {factor}"
            );
        }
    }
}

/// Calls one after the other on one source: keys and streams of OTs begin when they are first needed.
async fn calls<T: Ring>(
    context: Context,
    (extension, lattice): (Extension, bool),
    wanted: &[(Tripled, usize)],
    made: &AtomicUsize,
) -> Result<Vec<Triples<T>>> {
    let source = OtSource::new(&context, extension).await?;
    let mut source = match lattice {
        true => source.with_lattice_matrices()?,
        false => source,
    };
    let made = |more: usize| {
        made.fetch_add(more, Relaxed);
    };
    let mut all = Vec::new();
    for &(tripled, count) in wanted {
        all.push(taken(
            source.product_triples::<T>(tripled, count, &made).await?,
        ));
    }
    Ok(all)
}

fn by_all<T: Ring>(extension: Extension, lattice: bool, wanted: &[(Tripled, usize)]) {
    let made = AtomicUsize::new(0);
    let heard = &made;
    let what = format!(
        "{wanted:?} of {} bits, {extension}, lattice: {lattice}",
        T::BITS
    );
    let results = World::light(2, seed())
        .run(|context| calls::<T>(context, (extension, lattice), wanted, heard));
    for (me, (_, cost)) in Party::all(2).zip(&results) {
        let costs = OtCosts::new(extension, me, 2);
        let mut costs = match lattice {
            true => costs.with_lattice_matrices(),
            false => costs,
        };
        let mut expected = costs.base();
        for &(tripled, count) in wanted {
            expected += costs.call(Kind::of_product(Width::of::<T>(), tripled).0, count);
        }
        assert_eq!(cost.setup, expected, "{me}: {what}");
    }
    let steps = |&(tripled, count): &(Tripled, usize)| count * tripled.product.multiplications();
    let steps: usize = wanted.iter().map(steps).sum();
    assert_eq!(made.into_inner(), 2 * steps, "{what}");
    for (index, (tripled, _)) in wanted.iter().enumerate() {
        check(
            *tripled,
            [&results[0].0[index], &results[1].0[index]],
            &what,
        );
    }
}

fn matrices(rows: usize, inner: usize, columns: usize) -> Product {
    let shape = MatrixShape {
        rows,
        inner,
        columns,
    };
    Product::Matrices(1, shape)
}

fn images() -> Convolution {
    Convolution {
        groups: 2,
        channels: 4,
        padding: [[1, 0], [0, 2]],
        ..Convolution::new(3, [5, 6], 4, [3, 2])
    }
}

#[test]
fn by_ot_and_by_encryption() {
    let [left, right] = [0, 1].map(Party::new);
    for product in [
        matrices(3, 5, 7),
        matrices(9, 4, 2),
        matrices(2, 0, 3),
        Product::Convolution(images()),
    ] {
        let split = |party| Tripled::split(product, party);
        let mixed = [
            (split(left), 2),
            (product.into(), 1),
            (split(right), 1),
            (split(left), 1),
        ];
        for lattice in [false, true] {
            by_all::<u64>(Extension::default(), lattice, &mixed);
            by_all::<u16>(Extension::default(), lattice, &mixed[2..]);
        }
        by_all::<u128>(Extension::default(), true, &mixed[..1]);
    }
    let silent = [(Tripled::split(matrices(2, 3, 4), right), 1)];
    by_all::<u32>(Extension::Silent, false, &silent);
}

/// From one party's point of view: of what it takes when factors are shared it sends one direction's part, and so does
/// the other one.
#[test]
fn half_the_bytes() {
    let product = Product::Convolution(Convolution::new(64, [56, 56], 64, [3, 3]));
    let sum = |tripled: Tripled, lattice: bool| -> u64 {
        let bytes = |me| {
            let costs = OtCosts::new(Extension::default(), me, 2);
            let mut costs = match lattice {
                true => costs.with_lattice_matrices(),
                false => costs,
            };
            // Keys and the like.
            costs.call(Kind::of_product(Width::of::<u64>(), matrices(1, 1, 1)).0, 1);
            costs
                .call(Kind::of_product(Width::of::<u64>(), tripled).0, 1)
                .bytes_sent
        };
        Party::all(2).map(bytes).sum()
    };
    for lattice in [false, true] {
        let whole = sum(product.into(), lattice);
        for left in Party::all(2) {
            assert_eq!(2 * sum(Tripled::split(product, left), lattice), whole);
        }
    }
}

#[test]
fn from_a_dealer() {
    for left in Party::all(2) {
        let wanted = [
            Tripled::split(matrices(3, 4, 2), left),
            Tripled::split(Product::Convolution(images()), left),
        ];
        let mut needs = Needs::new();
        for tripled in wanted {
            needs.product_triples::<u32>(tripled);
        }
        let needs = &needs;
        let results = World::light(3, seed()).run(|context| async move {
            let dealer = Party::new(2);
            if context.me() == dealer {
                madrigal_correlations_make::deal(&context).await?;
                return Ok(None);
            }
            let mut source = madrigal_correlations_make::Supply::open(
                &Origin::Dealer,
                &context,
                needs,
                Means::default(),
            )
            .await?;
            let mut all = Vec::new();
            for tripled in wanted {
                all.push(taken(
                    source.product_triples::<u32>(tripled, 1, &|_| {}).await?,
                ));
            }
            source.end().await?;
            Ok(Some(all))
        });
        for (me, (_, cost)) in Party::all(2).zip(&results) {
            let mut costs = Origin::Dealer.costs(me, 2);
            assert_eq!(cost.setup, costs.start(needs) + costs.fill(needs), "{me}");
        }
        let shares: Vec<_> = results
            .into_iter()
            .filter_map(|(shares, _)| shares)
            .collect();
        for (index, tripled) in wanted.into_iter().enumerate() {
            check(tripled, [&shares[0][index], &shares[1][index]], "dealt");
        }
    }
}

/// There are no such triples among three.
#[test]
fn for_two_parties_alone() {
    let tripled = Tripled::split(matrices(2, 2, 2), Party::new(0));
    let results = World::light(3, seed()).run(|context| async move {
        let mut source = OtSource::new(&context, Extension::default()).await?;
        let made = source.product_triples::<u64>(tripled, 1, &|_| {}).await;
        Ok(made.map(drop).expect_err("refused").to_string())
    });
    for (problem, _) in results {
        assert!(problem.contains("for two parties, not for 3"), "{problem}");
    }
}
