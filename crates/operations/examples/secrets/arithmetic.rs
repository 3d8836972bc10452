//! Arithmetic GMW, one operation after the other, on correlations made by OT.

use madrigal_core::{Party, Phase, Ring};
use madrigal_correlations::{Kind, Needs, Stock, Width};
use madrigal_correlations_make::{Extension, OtSource};
use madrigal_kernels::{marks, meter::unmetered, rings};
use madrigal_net::{Context, Result};
use madrigal_protocols::arithmetic::{ArithmeticGmw, InputSharing, MatrixShape, share_addend};
use madrigal_protocols::{Opening, planes};

use crate::{Outcome, Path, drawn, generator, hidden, opened, right, shown, world};

pub(crate) const PATHS: &[Path] = &[("A", || {
    operations::<u8>(2, Opening::Direct)?;
    operations::<u64>(3, Opening::Relay)
})];

/// Elements of a vector.
const COUNT: usize = 20;
const SHAPE: MatrixShape = MatrixShape {
    rows: 4,
    inner: 5,
    columns: 4,
};
/// Planes of numbers that are composed.
const WIDTH: usize = 3;

fn elements<T: Ring>(label: u64) -> Vec<T> {
    let mut prg = generator(label);
    let mut draw = || T::from_u128(prg.next_block().into());
    unmetered(|| (0..COUNT).map(|_| draw()).collect())
}

/// Outputs of a party.
struct Outputs<T> {
    /// Shares of the results, and its addend on the way to B.
    shares: Vec<Vec<T>>,
    addend: Vec<u8>,
    opened: Vec<T>,
}

async fn program<T: Ring>(context: Context, opening: Opening) -> Result<Outputs<T>> {
    let mut needs = Needs::new();
    needs.ring_triples::<T>(3 * COUNT);
    needs.square_pairs::<T>(COUNT);
    needs.shared_bits::<T>((2 + WIDTH) * COUNT);
    needs.matrix_triples::<T>(SHAPE, 2);
    let owner = Party::new(0);
    needs.add(Kind::ChosenNumbers(Width::of::<T>(), owner), COUNT);
    let setup = context.enter(Phase::Setup, "setup");
    let mut source = OtSource::new(&setup, Extension::default()).await?;
    let mut stock = Stock::fill(&mut source, &needs, &|_| {}).await?;
    let online = context.enter(Phase::Online, "online");
    let mut inputs = InputSharing::of_everyone(&online.step("inputs"))?;
    let mut gmw = ArithmeticGmw::new(online.clone(), opening)?;
    let [mut x, mut y] = [0, 1].map(|owner| {
        let own = context.me().index() == owner;
        if own {
            elements(200 + owner as u64)
        } else {
            vec![T::ZERO; COUNT]
        }
    });
    inputs[0].share_elements(&mut x);
    inputs[1].share_elements(&mut y);
    let mut b = unmetered(|| drawn(210, COUNT.div_ceil(8) * WIDTH));
    inputs[0].share(&mut b);

    let mut triples = stock.ring_triples::<T>(3 * COUNT)?;
    let mut pairs = stock.square_pairs::<T>(COUNT)?;
    let mut shared = stock.shared_bits::<T>((2 + WIDTH) * COUNT)?;
    let mut shares: Vec<Vec<T>> = vec![vec![T::ZERO; COUNT]; 7];
    let [product, square, dot, bits, numbers, chosen, known] = &mut shares[..] else {
        unreachable!("seven results");
    };
    gmw.mul(&mut triples, &x, &y, product).await?;
    gmw.square(&mut pairs, &x, square).await?;
    dot.truncate(COUNT / 5);
    gmw.dot(&mut triples, &x, &y, 5, dot).await?;
    gmw.inject(&mut shared, &b, bits).await?;
    let stride = COUNT.div_ceil(8);
    gmw.compose(&mut shared, &b, stride, numbers).await?;
    gmw.bit_times(&mut shared, &mut triples, &b, &y, chosen)
        .await?;
    let mut masks = stock.chosen_numbers::<T>(owner, COUNT)?;
    let own = (context.me() == owner).then(|| elements::<T>(200));
    let times = gmw.bit_times_known(&mut masks, owner, &b, own.as_deref(), known);
    times.await?;
    let mut matrix = vec![T::ZERO; SHAPE.rows * SHAPE.columns];
    let mut same = matrix.clone();
    let triple = stock.matrix_triple(SHAPE)?;
    gmw.products(triple, &x, &y, &mut matrix).await?;
    let mut masked = gmw.mask(stock.matrix_triple(SHAPE)?, &x).await?;
    gmw.masked_product(&mut masked, &y, SHAPE.columns, &mut same)
        .await?;
    shares.extend([matrix, same]);

    let mut addend = vec![0; T::BITS * stride];
    share_addend(&mut inputs[1], &x, &mut addend, stride);
    rings::add_into(&mut x, &y);
    let all: Vec<Party> = Party::all(context.parties()).collect();
    let opened = gmw.open(&x, &all).await?;
    Ok(Outputs {
        shares,
        addend,
        opened: opened.map(|opened| opened.to_vec()).unwrap_or_default(),
    })
}

fn operations<T: Ring>(parties: usize, opening: Opening) -> Outcome {
    let outputs = world(parties).run(|context| program::<T>(context, opening));
    let outputs: Vec<Outputs<T>> = outputs.into_iter().map(|(outputs, _)| outputs).collect();
    let (x, y) = (shown(&elements::<T>(200)), shown(&elements::<T>(201)));
    let mut b = drawn(210, COUNT.div_ceil(8) * WIDTH);
    marks::public(b.as_mut_slice());
    let bit = |row: usize, i: usize| {
        let byte = b[row * COUNT.div_ceil(8) + i / 8];
        T::from_u128(u128::from(byte >> (i % 8) & 1))
    };
    let each = |f: &dyn Fn(usize) -> T| (0..COUNT).map(f).collect::<Vec<T>>();
    let sum = |terms: &mut dyn Iterator<Item = T>| terms.fold(T::ZERO, T::add);
    let mut matrix = vec![T::ZERO; SHAPE.rows * SHAPE.columns];
    rings::multiply_add(&x, &y, &mut matrix, SHAPE.inner, SHAPE.columns);
    let dots = (0..COUNT / 5).map(|j| sum(&mut (5 * j..5 * j + 5).map(|i| x[i].mul(y[i]))));
    let expected = [
        ("products", each(&|i| x[i].mul(y[i]))),
        ("squares", each(&|i| x[i].mul(x[i]))),
        ("dot products", dots.collect()),
        ("bits", each(&|i| bit(0, i))),
        (
            "numbers",
            each(&|i| sum(&mut (0..WIDTH).map(|row| bit(row, i).shl(row)))),
        ),
        ("bits times elements", each(&|i| bit(0, i).mul(y[i]))),
        (
            "bits times numbers of a party",
            each(&|i| bit(0, i).mul(x[i])),
        ),
        ("matrices", matrix.clone()),
        ("a masked matrix", matrix),
    ];
    for (at, (what, expected)) in expected.into_iter().enumerate() {
        let mut total = vec![T::ZERO; expected.len()];
        for of_party in &outputs {
            hidden(what, &of_party.shares[at])?;
            rings::add_into(&mut total, &shown(&of_party.shares[at]));
        }
        right(what, total == expected)?;
    }
    let sums = each(&|i| x[i].add(y[i]));
    for of_party in &outputs {
        opened("opened elements", &of_party.opened)?;
        right("opened elements", of_party.opened == sums)?;
        let mut addend = vec![T::ZERO; COUNT];
        planes::join(&of_party.addend, COUNT.div_ceil(8), &mut addend);
        hidden("addends", &addend)?;
    }
    Ok(())
}
