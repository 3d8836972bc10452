//! All kinds from a dealer: right for every number of parties and width, at the declared cost; what
//! the parties ask for must agree.

use madrigal_core::{Convolution, Party, Product, Ring};
use madrigal_correlations::{MatrixShape, Means, Needs, Scratch, Source};
use madrigal_correlations_make::{Extension, Origin, Supply, deal};
use madrigal_net::{Context, Error};
use madrigal_testkit::{World, seed};

/// Strings of ring elements, as integers.
type Strings = Vec<Vec<u128>>;

fn integers<T: Ring>(elements: &[T]) -> Vec<u128> {
    elements.iter().map(|element| element.to_u128()).collect()
}

/// One party's shares of everything in one ring: triples, squares, bits, a matrix triple.
async fn ring<T: Ring>(source: &mut Supply, count: usize) -> madrigal_net::Result<Strings> {
    let mut triples = source.ring_triples::<T>(count, &|_| {}).await?;
    let mut squares = source.square_pairs::<T>(count, &|_| {}).await?;
    let mut bits = source.shared_bits::<T>(count, &|_| {}).await?;
    let matrix = source.matrix_triple::<T>(SHAPE, &|_| {}).await?;
    let (triples, squares) = (triples.take(count), squares.take(count));
    let mut strings = vec![
        integers(triples.a),
        integers(triples.b),
        integers(triples.c),
        integers(squares.a),
        integers(squares.c),
        integers(bits.take(count).b),
    ];
    strings.extend(matrix.take().iter().map(|matrix| integers(matrix)));
    Ok(strings)
}

const SHAPE: MatrixShape = MatrixShape {
    rows: 3,
    inner: 4,
    columns: 2,
};

fn check_ring<T: Ring>(parties: &[Strings]) {
    let sum = |string: usize, i: usize| {
        let shares = parties.iter().map(|party| T::from_u128(party[string][i]));
        shares.fold(T::ZERO, Ring::add)
    };
    let mut ones = 0;
    let count = parties[0][0].len();
    for i in 0..count {
        assert_eq!(sum(2, i), sum(0, i).mul(sum(1, i)), "triple {i}");
        assert_eq!(sum(4, i), sum(3, i).mul(sum(3, i)), "square {i}");
        let bit = sum(5, i);
        assert!(bit == T::ZERO || bit == T::ONE, "bit {i}");
        ones += usize::from(bit.bit(0));
    }
    assert!(count < 100 || (1..count).contains(&ones));
    let MatrixShape {
        rows,
        inner,
        columns,
    } = SHAPE;
    for (i, j) in (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))) {
        let product = (0..inner).fold(T::ZERO, |product, k| {
            product.add(sum(6, i * inner + k).mul(sum(7, k * columns + j)))
        });
        assert_eq!(sum(8, i * columns + j), product, "element {i}, {j}");
    }
}

async fn dealt<T>(
    context: Context,
    work: impl AsyncFnOnce(&mut Supply) -> madrigal_net::Result<T>,
) -> madrigal_net::Result<Option<T>> {
    if context.me().index() + 1 == context.parties() {
        deal(&context).await?;
        return Ok(None);
    }
    supplied(Origin::Dealer, context, work).await.map(Some)
}

async fn supplied<T>(
    origin: Origin,
    context: Context,
    work: impl AsyncFnOnce(&mut Supply) -> madrigal_net::Result<T>,
) -> madrigal_net::Result<T> {
    let mut supply = Supply::open(&origin, &context, &Needs::new(), Means::default()).await?;
    let result = work(&mut supply).await?;
    supply.end().await?;
    Ok(result)
}

fn rings<T: Ring>(parties: usize, count: usize) {
    let shares = World::light(parties + 1, seed())
        .run(|context| dealt(context, async move |source| ring::<T>(source, count).await));
    let shares: Vec<Strings> = shares
        .into_iter()
        .filter_map(|(shares, _)| shares)
        .collect();
    assert_eq!(shares.len(), parties);
    check_ring::<T>(&shares);
    assert_ne!(shares[0][0], shares[1][0]);
}

#[test]
fn rings_of_every_width() {
    rings::<u8>(2, 100);
    rings::<u16>(3, 7);
    rings::<u32>(2, 70_000);
    rings::<u64>(5, 1000);
    rings::<u128>(3, 20_000);
}

async fn matrix(source: &mut Supply, shape: MatrixShape) -> madrigal_net::Result<Strings> {
    let triple = source.matrix_triple::<u32>(shape, &|_| {}).await?;
    assert_eq!(triple.product(), Product::Matrices(1, shape));
    let more = source.ring_triples::<u32>(1, &|_| {}).await?.take(1).c[0];
    let mut strings: Strings = triple
        .take()
        .iter()
        .map(|matrix| integers(matrix))
        .collect();
    strings.push(vec![more.into()]);
    Ok(strings)
}

/// A product over no inner dimension is a matrix of zeros; a matrix whose product is empty is random
/// all the same. From OT as from a dealer.
#[test]
fn matrix_triples_without_products() {
    for (rows, inner, columns) in [(3, 0, 2), (3, 2, 0), (0, 2, 3), (0, 0, 0)] {
        let shape = MatrixShape {
            rows,
            inner,
            columns,
        };
        let by_ot = World::light(2, seed()).run(|context| {
            supplied(
                Origin::ot(Extension::default()),
                context,
                async move |source| matrix(source, shape).await,
            )
        });
        let dealt = World::light(3, seed())
            .run(|context| dealt(context, async move |source| matrix(source, shape).await));
        let by_ot = by_ot.into_iter().map(|(shares, _)| shares).collect();
        let dealt = dealt.into_iter().filter_map(|(shares, _)| shares).collect();
        for shares in [by_ot, dealt] as [Vec<Strings>; 2] {
            let [first, second] = &shares[..] else {
                panic!("two parties have shares");
            };
            for (own, other) in first[2].iter().zip(&second[2]) {
                assert_eq!((own + other) as u32, 0);
            }
            for random in &first[..2] {
                assert!(random.is_empty() || random.iter().any(|&element| element != 0));
            }
        }
    }
}

/// Filters, images and what comes of them, at the declared cost.
#[test]
fn triples_of_convolutions() {
    let convolution = Convolution {
        images: 2,
        groups: 2,
        stride: [2, 1],
        padding: [[1, 0], [0, 2]],
        ..Convolution::new(4, [5, 6], 6, [3, 2])
    };
    let one = Product::Convolution(convolution);
    let results = World::light(3, seed()).run(|context| {
        dealt(context, async move |source| {
            let triples = source.product_triples::<u32>(one, 2, &|_| {}).await?;
            let parts = triples.into_iter().flat_map(|triple| triple.take());
            Ok(parts.map(|part| integers(&part)).collect())
        })
    });
    let mut needs = Needs::new();
    needs.product_triples::<u32>(one);
    needs.product_triples::<u32>(one);
    for (me, (_, cost)) in Party::all(2).zip(&results) {
        let mut costs = Origin::Dealer.costs(me, 2);
        assert_eq!(cost.setup, costs.start(&needs) + costs.fill(&needs), "{me}");
    }
    let shares: Vec<Strings> = results
        .into_iter()
        .filter_map(|(shares, _)| shares)
        .collect();
    let sum = |part: usize, i: usize| (shares[0][part][i] + shares[1][part][i]) as u32;
    for triple in [0, 3] {
        for output in 0..shares[0][triple + 2].len() {
            let terms = convolution.terms(output);
            let expected = terms.fold(0_u32, |total, (filter, image)| {
                let Some(image) = image else { return total };
                total.wrapping_add(sum(triple, filter).wrapping_mul(sum(triple + 1, image)))
            });
            assert_eq!(sum(triple + 2, output), expected, "output {output}");
        }
    }
}

/// In many breaths of the dealer.
#[test]
fn a_large_matrix_triple() {
    let shape = MatrixShape {
        rows: 300,
        inner: 200,
        columns: 100,
    };
    let shares = World::light(3, seed())
        .run(|context| dealt(context, async move |source| matrix(source, shape).await));
    let shares: Vec<Strings> = shares
        .into_iter()
        .filter_map(|(shares, _)| shares)
        .collect();
    let sum = |string: usize, i: usize| (shares[0][string][i] + shares[1][string][i]) as u32;
    for (i, j) in [(0, 0), (0, 99), (150, 50), (299, 99)] {
        let product = (0..200).fold(0u32, |product, k| {
            product.wrapping_add(sum(0, i * 200 + k).wrapping_mul(sum(1, k * 100 + j)))
        });
        assert_eq!(sum(2, i * 100 + j), product);
    }
}

#[test]
fn bit_triples_at_their_cost() {
    for (parties, counts) in [(2, &[1, 0, 7, 5_000_000][..]), (3, &[1000]), (5, &[9, 99])] {
        let results = World::light(parties + 1, seed()).run(|context| {
            dealt(context, async move |source| {
                let mut all = Vec::new();
                for &count in counts {
                    let mut triples = source.bit_triples(count, &|_| {}).await?;
                    let mut scratch = Scratch::default();
                    let bits = triples.take(count, &mut scratch)?;
                    all.push([bits.a, bits.b, bits.c].map(<[u8]>::to_vec));
                }
                Ok(all)
            })
        });
        for (me, (_, spent)) in Party::all(parties).zip(&results) {
            let mut costs = Origin::Dealer.costs(me, parties);
            let mut declared = costs.start(&Needs::new());
            for &count in counts {
                declared += costs.fill(&bits(count));
            }
            assert_eq!(spent.setup, declared, "{me} of {parties}");
        }
        let shares: Vec<_> = results.into_iter().filter_map(|(all, _)| all).collect();
        for (call, &count) in counts.iter().enumerate() {
            for byte in 0..count.div_ceil(8) {
                let [a, b, c] = [0, 1, 2].map(|string| {
                    let sum = |sum, party: &Vec<[Vec<u8>; 3]>| sum ^ party[call][string][byte];
                    shares.iter().fold(0, sum)
                });
                assert_eq!(c, a & b, "byte {byte} of call {call}, {parties} parties");
            }
        }
    }
}

#[test]
fn vector_triples() {
    for (length, count) in [(1, 10), (7, 300), (128, 5000), (1000, 3)] {
        let shares = World::light(4, seed()).run(|context| {
            dealt(context, async move |source| {
                let mut triples = source.vector_triples(length, count, &|_| {}).await?;
                let shares = triples.take(count);
                Ok([shares.a, shares.b, shares.c].map(<[u8]>::to_vec))
            })
        });
        let shares: Vec<_> = shares
            .into_iter()
            .filter_map(|(shares, _)| shares)
            .collect();
        let sum = |string: usize, i: usize| {
            let shares = shares.iter().map(|party: &[Vec<u8>; 3]| party[string][i]);
            shares.fold(0, std::ops::BitXor::bitxor)
        };
        let bytes = length.div_ceil(8);
        for i in 0..count {
            for byte in i * bytes..(i + 1) * bytes {
                assert_eq!(sum(2, byte), sum(1, byte) * sum(0, i), "vector {i}");
            }
        }
    }
}

#[test]
fn parties_that_ask_for_different_things_are_told() {
    let world = World::light(3, seed());
    let results = world.run_over(madrigal_net::transport::mesh(3), |context| {
        let count = 100 + context.me().index();
        dealt(context, async move |source| {
            source.bit_triples(count, &|_| {}).await
        })
    });
    let dealer = results.last().map(|result| result.as_ref().map(drop));
    let Some(Err(Error::Content { peer, problem, .. })) = dealer else {
        panic!("the dealer should refuse: {dealer:?}");
    };
    assert_eq!(*peer, Party::new(1));
    assert!(
        problem.contains("100 bit triples") && problem.contains("101"),
        "{problem}"
    );
}

/// Only what cannot be expanded is sent, and to one party.
#[test]
fn seeds_save_nearly_all() {
    let count = 1_000_000;
    let cost = |me| Origin::Dealer.costs(Party::new(me), 3).fill(&bits(count));
    assert_eq!((cost(1).bytes_received, cost(1).bytes_sent), (0, 136));
    assert_eq!(cost(0).bytes_received, count as u64 / 8);
}

fn bits(count: usize) -> Needs {
    let mut needs = Needs::new();
    needs.bit_triples(count);
    needs
}
