//! Protocol R on rings and bits, one operation after the other.

use std::array;
use std::error::Error;

use madrigal_core::{Party, Phase, Ring};
use madrigal_net::Result;
use madrigal_protocols::replicated::{
    Convolution, Depth, MatrixShape, PARTIES, Product, ReplicatedRings, RingShares, combine,
};

use crate::{Outcome, Path, generator, hidden, opened, right, shown, world};

pub(crate) const PATHS: &[Path] = &[
    ("R/arithmetic", arithmetic::<u64>),
    ("R/comparisons", || {
        comparisons::<u64>(Depth::Ripple)?;
        comparisons::<u64>(Depth::Tree)
    }),
    ("R/conversions", conversions::<u64>),
    ("R/matrices", matrices::<u64>),
];

/// Elements of a batch.
const COUNT: usize = 70;

fn elements<T: Ring>(label: u64, count: usize) -> Vec<T> {
    let mut prg = generator(label);
    (0..count)
        .map(|_| T::from_u128(prg.next_block().into()))
        .collect()
}

/// Shares of a batch of inputs of parties 0 and 1 each.
async fn inputs<T: Ring>(
    rings: &mut ReplicatedRings,
    [x, y]: [&[T]; 2],
) -> Result<[RingShares<T>; 2]> {
    let own = match rings.me().index() {
        0 => x,
        1 => y,
        _ => &[],
    };
    let [x, y, _] = rings.share(own, [x.len(), y.len(), 0]).await?;
    Ok([x, y])
}

/// Runs `operation` as three parties.
fn run<T: Ring, R: Send>(
    inputs_of_two: [&[T]; 2],
    operation: impl AsyncFn(&mut ReplicatedRings, [RingShares<T>; 2]) -> Result<R> + Sync,
) -> [R; PARTIES] {
    let operation = &operation;
    let results = world(PARTIES).run(|context| async move {
        let mut rings = ReplicatedRings::new(context.enter(Phase::Online, "rings"))?;
        let inputs = inputs(&mut rings, inputs_of_two).await?;
        operation(&mut rings, inputs).await
    });
    let mut results = results.into_iter().map(|(result, _)| result);
    array::from_fn(|_| results.next().unwrap())
}

type Values<T> = std::result::Result<Vec<T>, Box<dyn Error>>;

/// The values of shares, which are secret to the last bit, both components.
fn plain<T: Ring>(what: &str, shares: [RingShares<T>; PARTIES]) -> Values<T> {
    let mut plain = Vec::new();
    for share in &shares {
        let [first, second] = share.components();
        hidden(what, first)?;
        hidden(what, second)?;
        plain.push(RingShares::from_components(shown(first), shown(second))?);
    }
    let plain: [_; PARTIES] = plain.try_into().map_err(|_| "three parties")?;
    Ok(combine(&plain)?)
}

fn everybody() -> Vec<Party> {
    Party::all(PARTIES).collect()
}

fn zip<T: Ring>(x: &[T], y: &[T], of: impl Fn(T, T) -> T) -> Vec<T> {
    x.iter().zip(y).map(|(&x, &y)| of(x, y)).collect()
}

fn signed<T: Ring>(x: T) -> i128 {
    (x.to_u128() << (128 - T::BITS)) as i128 >> (128 - T::BITS)
}

/// By operation, then by party.
fn transposed<R, const K: usize>(results: [[R; K]; PARTIES]) -> [[R; PARTIES]; K] {
    let mut parties = results.map(<[R; K]>::into_iter);
    array::from_fn(|_| array::from_fn(|party| parties[party].next().unwrap()))
}

/// Linear operations, products, dot products, truncations, random values, and an opening.
fn arithmetic<T: Ring>() -> Outcome {
    const BY: usize = 3;
    let (x, y) = (elements::<T>(100, COUNT), elements::<T>(101, COUNT));
    let results = run([&x, &y], async |rings, [x, y]| {
        let me = rings.me();
        let product = rings.mul(&x, &y).await?;
        let square = rings.square(&x).await?;
        let dot = rings.dot(&x, &y, 7).await?;
        let exact = rings.truncate(&x, BY).await?;
        let near = rings.truncate_probabilistic(&x, BY).await?;
        let random = rings.random::<T>(COUNT);
        let bits = rings.random_bits::<T>(COUNT).await?;
        let mut sum = x;
        sum.add_assign(&y);
        sum.scale(T::from_u128(5));
        sum.add_constant(me, T::ONE);
        let sums = rings.open(&sum, &everybody()).await?.unwrap();
        Ok(([product, square, dot, exact, near, random, bits], sums))
    });
    let (x, y) = (shown(&x), shown(&y));
    let sums = zip(&x, &y, |x, y| x.add(y).mul(T::from_u128(5)).add(T::ONE));
    for (_, of_party) in &results {
        opened("opened elements", of_party)?;
        right("opened elements", *of_party == sums)?;
    }
    let [product, square, dot, exact, near, random, bits] =
        transposed(results.map(|(shares, _)| shares));
    right(
        "products",
        plain("products", product)? == zip(&x, &y, T::mul),
    )?;
    right("squares", plain("squares", square)? == zip(&x, &x, T::mul))?;
    let terms = |(x, y): (&[T], &[T])| zip(x, y, T::mul).into_iter().fold(T::ZERO, T::add);
    let dots: Vec<T> = x.chunks(7).zip(y.chunks(7)).map(terms).collect();
    right("dot products", plain("dot products", dot)? == dots)?;
    let shifted = |&x: &T| T::from_u128((signed(x) >> BY) as u128);
    let shifted: Vec<T> = x.iter().map(shifted).collect();
    right("truncations", plain("truncations", exact)? == shifted)?;
    plain("probable truncations", near)?;
    plain("random values", random)?;
    let bit = |bit: &T| *bit == T::ZERO || *bit == T::ONE;
    right("random bits", plain("random bits", bits)?.iter().all(bit))
}

/// The comparisons, whose bits become elements, so that they can be looked at.
fn comparisons<T: Ring>(depth: Depth) -> Outcome {
    let (x, mut y) = (elements::<T>(110, COUNT), elements::<T>(111, COUNT));
    y[1] = x[1];
    let results = run([&x, &y], async |rings, [x, y]| {
        rings.set_depth(Some(depth));
        let compared = [
            rings.negative(&x).await?,
            rings.less_than(&x, &y).await?,
            rings.less_than_unsigned(&x, &y).await?,
            rings.is_zero(&x).await?,
            rings.equal(&x, &y).await?,
        ];
        let mut bits = Vec::new();
        for compared in &compared {
            bits.push(rings.inject::<T>(compared).await?);
        }
        Ok(array::from_fn::<_, 5, _>(|i| bits[i].clone()))
    });
    let (x, y) = (shown(&x), shown(&y));
    let holds = |holds: bool| T::from_u128(holds.into());
    let expected = [
        zip(&x, &y, |x, _| holds(signed(x) < 0)),
        zip(&x, &y, |x, y| holds(signed(x) < signed(y))),
        zip(&x, &y, |x, y| holds(x.to_u128() < y.to_u128())),
        zip(&x, &y, |x, _| holds(x == T::ZERO)),
        zip(&x, &y, |x, y| holds(x == y)),
    ];
    for (shares, expected) in transposed(results).into_iter().zip(expected) {
        right("comparisons", plain("comparisons", shares)? == expected)?;
    }
    Ok(())
}

/// To bits and back, products by bits, and openings of bits.
fn conversions<T: Ring>() -> Outcome {
    let (x, y) = (elements::<T>(120, COUNT), elements::<T>(121, COUNT));
    let results = run([&x, &y], async |rings, [x, y]| {
        let bits = rings.decompose(&x).await?;
        let back = rings.compose::<T>(&bits).await?;
        let times = rings.bit_times(&bits.take_row(2), &y).await?;
        let chosen = rings.select(&bits.take_row(3), &x, &y).await?;
        let rows = rings.open_bits(&bits, &everybody()).await?.unwrap();
        let random = rings.random_bit_rows(2, COUNT);
        Ok(([back, times, chosen], rows, random))
    });
    let (x, y) = (shown(&x), shown(&y));
    for (_, rows, random) in &results {
        opened("opened rows", rows)?;
        let stride = COUNT.div_ceil(8);
        let bit = |row: usize, i: usize| rows[row * stride + i / 8] >> (i % 8) & 1;
        let so = (0..COUNT).all(|i| (0..T::BITS).all(|row| bit(row, i) == x[i].bit(row)));
        right("opened rows", so)?;
        hidden("random rows", &random.row(0)[0][..COUNT / 8])?;
    }
    let [back, times, chosen] = transposed(results.map(|(shares, ..)| shares));
    right("back from bits", plain("back from bits", back)? == x)?;
    let bit = |x: T, row| T::from_u128(x.bit(row).into());
    right(
        "products by bits",
        plain("products by bits", times)? == zip(&x, &y, |x, y| bit(x, 2).mul(y)),
    )?;
    let select = |x: T, y| if x.bit(3) == 1 { x } else { y };
    right(
        "selections",
        plain("selections", chosen)? == zip(&x, &y, select),
    )
}

/// A matrix product and a convolution.
fn matrices<T: Ring>() -> Outcome {
    let shape = MatrixShape {
        rows: 3,
        inner: 4,
        columns: 5,
    };
    let convolution = Product::Convolution(Convolution {
        padding: [[1, 1], [0, 0]],
        ..Convolution::new(1, [3, 4], 1, [2, 2])
    });
    let (x, y) = (elements::<T>(130, 12), elements::<T>(131, 20));
    let results = run([&x, &y], async |rings, [x, y]| {
        let product = rings.products(&x, &y, &Product::Matrices(1, shape)).await?;
        let convolved = rings.products(&y.slice(0..4), &x, &convolution).await?;
        Ok([product, convolved])
    });
    let (x, y) = (shown(&x), shown(&y));
    let [product, convolved] = transposed(results);
    let entry = |i: usize| {
        let terms = (0..4).map(|k| x[i / 5 * 4 + k].mul(y[k * 5 + i % 5]));
        terms.fold(T::ZERO, T::add)
    };
    let expected: Vec<T> = (0..15).map(entry).collect();
    right(
        "a matrix product",
        plain("a matrix product", product)? == expected,
    )?;
    plain("a convolution", convolved).map(drop)
}
