//! Correlations of every kind from every source, for two and three parties.

use madrigal_core::{Party, Ring, Zeroizing};
use madrigal_correlations::{Maker, MatrixShape, Scratch, Source};
use madrigal_correlations_make::{
    DealerSource, Extension, OtSource, PrecomputedReceiver, PrecomputedSender, deal,
};
use madrigal_kernels::marks;
use madrigal_lattice::{Layout, Owner, Responder};
use madrigal_net::{Context, Result};

use crate::{Outcome, Path, drawn, generator, hidden, right, shown, world};

pub(crate) const PATHS: &[Path] = &[
    ("correlations/softspoken", || {
        by_ot::<u32>(2, "softspoken4", false)?;
        by_ot::<u32>(3, "softspoken7", false)
    }),
    ("correlations/silent", silent),
    ("correlations/lattice", || {
        by_ot::<u32>(2, "softspoken4", true)
    }),
    ("correlations/dealer", || {
        by_dealer::<u32>(2)?;
        by_dealer::<u32>(3)
    }),
    ("correlations/precomputed", precomputed),
    ("lattice", || {
        lattice::<u8>()?;
        lattice::<u64>()
    }),
];

const COUNT: usize = 24;
const SHAPE: MatrixShape = MatrixShape {
    rows: 3,
    inner: 4,
    columns: 5,
};
const VECTOR: usize = 16;
/// Their place among the strings.
const SCALARS: usize = 3;

/// A party's shares of everything.
#[derive(Default)]
pub(crate) struct Shares<T: Ring> {
    /// Parts of triples, square pairs, shared bits and a matrix triple: a, b, c; a, c; b; A, B, C.
    elements: Vec<Vec<T>>,
    /// Parts of bit triples and vector triples: a, b, c; a, b, c.
    strings: Vec<Vec<u8>>,
}

/// Makes some of each kind.
pub(crate) async fn some<T: Ring>(source: &mut impl Source) -> Result<Shares<T>> {
    let made = |_| {};
    let mut triples = source.ring_triples::<T>(COUNT, &made).await?;
    let mut squares = source.square_pairs::<T>(COUNT, &made).await?;
    let mut bits = source.shared_bits::<T>(COUNT, &made).await?;
    let [x, y, z] = source.matrix_triple::<T>(SHAPE, &made).await?.take();
    let mut bit_triples = source.bit_triples(8 * COUNT, &made).await?;
    let mut vectors = source.vector_triples(VECTOR, COUNT, &made).await?;
    let (triples, squares) = (triples.take(COUNT), squares.take(COUNT));
    let mut scratch = Scratch::default();
    let (bit_triples, vectors) = (
        bit_triples.take(8 * COUNT, &mut scratch)?,
        vectors.take(COUNT),
    );
    let elements = [
        triples.a,
        triples.b,
        triples.c,
        squares.a,
        squares.c,
        bits.take(COUNT).b,
        &x,
        &y,
        &z,
    ];
    let strings = [
        bit_triples.a,
        bit_triples.b,
        bit_triples.c,
        vectors.a,
        vectors.b,
        vectors.c,
    ];
    Ok(Shares {
        elements: elements.map(<[T]>::to_vec).into(),
        strings: strings.map(<[u8]>::to_vec).into(),
    })
}

/// All are secret, and right together.
pub(crate) fn check<T: Ring>(shares: &[Shares<T>]) -> Outcome {
    for party in shares {
        for elements in &party.elements {
            hidden("shares of elements", elements)?;
        }
        for (which, string) in party.strings.iter().enumerate() {
            // A scalar of a vector triple is a byte with one bit.
            if which != SCALARS || marks::secret_bits(string.as_slice()) != Some(COUNT) {
                hidden("shares of bits", string)?;
            }
        }
    }
    let sum = |which: usize| {
        let mut sum = vec![T::ZERO; shares[0].elements[which].len()];
        for party in shares {
            for (sum, share) in sum.iter_mut().zip(&party.elements[which]) {
                *sum = sum.add(*share);
            }
        }
        shown(&sum)
    };
    let [a, b, c, x, xx, bits, p, q, r] = [0, 1, 2, 3, 4, 5, 6, 7, 8].map(sum);
    right("triples", (0..COUNT).all(|i| c[i] == a[i].mul(b[i])))?;
    right("square pairs", (0..COUNT).all(|i| xx[i] == x[i].mul(x[i])))?;
    let bit = |bit: &T| *bit == T::ZERO || *bit == T::ONE;
    right("shared bits", bits.iter().all(bit))?;
    right("matrix triple", product(&p, &q) == r)?;

    let xor = |which: usize| {
        let mut sum = vec![0; shares[0].strings[which].len()];
        for party in shares {
            madrigal_kernels::xor_into(&mut sum, &party.strings[which]);
        }
        shown(&sum)
    };
    let [a, b, c, d, e, f] = [0, 1, 2, 3, 4, 5].map(xor);
    right("bit triples", (0..COUNT).all(|i| c[i] == a[i] & b[i]))?;
    let times = |i: usize| {
        let place = i * VECTOR / 8..(i + 1) * VECTOR / 8;
        let scalar = (d[i] & 1).wrapping_neg();
        let (e, f) = (&e[place.clone()], &f[place]);
        e.iter().zip(f).all(|(e, f)| *f == e & scalar)
    };
    right("vector triples", (0..COUNT).all(times))
}

fn product<T: Ring>(x: &[T], y: &[T]) -> Vec<T> {
    let MatrixShape {
        rows,
        inner,
        columns,
    } = SHAPE;
    let entry = |i: usize| {
        let terms =
            (0..inner).map(|k| x[i / columns * inner + k].mul(y[k * columns + i % columns]));
        terms.fold(T::ZERO, T::add)
    };
    (0..rows * columns).map(entry).collect()
}

fn by_ot<T: Ring + Default>(parties: usize, extension: &str, lattice: bool) -> Outcome {
    let extension: Extension = extension.parse()?;
    let shares = world(parties).run(|context| async move {
        let mut source = OtSource::new(&context, extension).await?;
        if lattice {
            source = source.with_lattice_matrices()?;
        }
        some::<T>(&mut source).await
    });
    check(
        &shares
            .into_iter()
            .map(|(shares, _)| shares)
            .collect::<Vec<_>>(),
    )
}

/// One kind, of which the parameters are the largest: the others start their extensions as it does.
fn silent() -> Outcome {
    let triples = world(2).run(|context| async move {
        let mut source = OtSource::new(&context, Extension::Silent).await?;
        let mut triples = source.bit_triples(8 * COUNT, &|_| {}).await?;
        let mut scratch = Scratch::default();
        let triples = triples.take(8 * COUNT, &mut scratch)?;
        Ok([triples.a, triples.b, triples.c].map(<[u8]>::to_vec))
    });
    let [(x, _), (y, _)] = &triples[..] else {
        return Err("two parties".into());
    };
    for share in x.iter().chain(y) {
        hidden("shares of bits", share)?;
    }
    let sum = |which: usize, i: usize| x[which][i] ^ y[which][i];
    let wrong: Vec<u8> = (0..COUNT)
        .map(|i| sum(2, i) ^ sum(0, i) & sum(1, i))
        .collect();
    right("bit triples", shown(&wrong).iter().all(|&wrong| wrong == 0))
}

async fn dealt<T: Ring>(context: Context) -> Result<Option<Shares<T>>> {
    if context.me().index() + 1 == context.parties() {
        deal(&context).await?;
        return Ok(None);
    }
    let mut source = DealerSource::new(&context)?;
    let shares = some::<T>(&mut source).await?;
    source.end().await?;
    Ok(Some(shares))
}

fn by_dealer<T: Ring>(parties: usize) -> Outcome {
    let shares = world(parties + 1).run(dealt::<T>);
    check(
        &shares
            .into_iter()
            .filter_map(|(shares, _)| shares)
            .collect::<Vec<_>>(),
    )
}

/// Products of bits by random OTs made before.
fn precomputed() -> Outcome {
    let bytes = COUNT / 8;
    let [k0, k1, random, correlation, choices] =
        [70, 71, 72, 73, 74].map(|label| drawn(label, bytes));
    let chosen: Vec<u8> = (0..bytes)
        .map(|i| k0[i] & !random[i] | k1[i] & random[i])
        .collect();
    let mine = |string: &[u8]| Zeroizing::new(string.to_vec());
    let (k0, k1, random) = (&k0, &k1, &random);
    let (chosen, a, c) = (&chosen, &correlation, &choices);
    let results = world(2).run(|context| async move {
        let step = context.step("correlated");
        if context.me() == Party::new(0) {
            let sender = PrecomputedSender::new(&step, Party::new(1), COUNT, mine(k0), mine(k1))?;
            return Ok(sender.correlate(a).await?.to_vec());
        }
        let receiver =
            PrecomputedReceiver::new(&step, Party::new(0), COUNT, mine(random), mine(chosen))?;
        Ok(receiver.choose(c).await?.to_vec())
    });
    let [(x, _), (y, _)] = &results[..] else {
        return Err("two parties".into());
    };
    hidden("shares", x)?;
    hidden("shares", y)?;
    let wrong: Vec<u8> = (0..bytes).map(|i| x[i] ^ y[i] ^ a[i] & c[i]).collect();
    right("products", shown(&wrong).iter().all(|&wrong| wrong == 0))
}

fn elements<T: Ring>(label: u64, count: usize) -> Vec<T> {
    let mut prg = generator(label);
    (0..count)
        .map(|_| T::from_u128(prg.next_block().into()))
        .collect()
}

/// A product under encryption, without a network.
fn lattice<T: Ring>() -> Outcome {
    let MatrixShape {
        rows,
        inner,
        columns,
    } = SHAPE;
    let width = "a width that there is";
    let mut owner = Owner::new(T::BITS, generator(80).next_block(), 80).ok_or(width)?;
    let key = owner.public_key();
    let mut responder = Responder::new(T::BITS, &key, generator(81).next_block(), 81)?;
    let layout = Layout::new(T::BITS, rows, inner, columns).ok_or(width)?;
    let (x, y) = (
        elements::<T>(82, rows * inner),
        elements::<T>(83, inner * columns),
    );
    let mut z = vec![T::ZERO; rows * columns];
    let mut w = z.clone();
    for request in layout.requests() {
        let message = owner.request(&layout, &request, &x);
        let asked = responder.read(&layout, &request, &message)?;
        for columns in layout.answers() {
            let message = responder.answer(&asked, &columns, &y, &mut w);
            owner.open(&layout, &request, &columns, &message, &mut z)?;
        }
    }
    hidden("the owner's share", &z)?;
    hidden("the responder's share", &w)?;
    let sum: Vec<T> = z.iter().zip(&w).map(|(z, w)| z.add(*w)).collect();
    right(
        "the product",
        shown(&sum) == product(&shown(&x), &shown(&y)),
    )
}
