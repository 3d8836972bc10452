//! Matrix and vector triples, and stocks of all kinds, by OT: right for every number of parties and
//! shape, at the declared cost.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::Poll;

use madrigal_core::{Party, Ring, bits};
use madrigal_correlations::{Kind, MatrixShape, Needs, ProductTriple, Source, Stock, Width};
use madrigal_correlations_make::{Extension, Matrices, OtCosts, OtSource};
use madrigal_net::SessionConfig;
use madrigal_testkit::{World, seed};

/// The extensions that tests of all kinds run over.
fn extensions() -> impl Iterator<Item = Extension> {
    ["iknp", "softspoken4", "softspoken7", "silent"]
        .into_iter()
        .filter_map(|name| name.parse().ok())
}

fn matrix<T: Ring>(parties: usize, sizes: [usize; 3]) {
    for extension in extensions() {
        matrix_in::<T>(extension, parties, sizes, |_| {});
    }
}

fn matrix_in<T: Ring>(
    extension: Extension,
    parties: usize,
    [rows, inner, columns]: [usize; 3],
    limits: impl FnOnce(&mut SessionConfig),
) {
    let shape = MatrixShape {
        rows,
        inner,
        columns,
    };
    let world = World::light(parties, seed()).with_limits(limits);
    let results = world.run(|context| async move {
        let mut source = OtSource::new(&context, extension).await?;
        let triple = source.matrix_triple::<T>(shape, &|_| {}).await?;
        Ok(triple.take().map(|matrix| matrix.to_vec()))
    });
    for (me, (_, cost)) in Party::all(parties).zip(&results) {
        let mut costs = OtCosts::new(extension, me, parties);
        let expected = costs.base() + costs.call(Kind::MatrixTriples(Width::of::<T>(), shape), 1);
        assert_eq!(
            cost.setup, expected,
            "{shape:?}, {me} of {parties}, {extension}"
        );
    }
    is_product(shape, |matrix, i| {
        let shares = results.iter().map(|(party, _)| party[matrix][i]);
        shares.fold(T::ZERO, Ring::add)
    });
}

/// Whether `total` gives the entries of A, B and C = A B.
fn is_product<T: Ring>(shape: MatrixShape, total: impl Fn(usize, usize) -> T) {
    let MatrixShape {
        rows,
        inner,
        columns,
    } = shape;
    let all = |matrix, count| (0..count).map(|i| total(matrix, i)).collect::<Vec<T>>();
    let [a, b] = [all(0, rows * inner), all(1, inner * columns)];
    for row in 0..rows {
        for column in 0..columns {
            let products = (0..inner).map(|k| a[row * inner + k].mul(b[k * columns + column]));
            let expected = products.fold(T::ZERO, Ring::add);
            let got = total(2, row * columns + column);
            assert_eq!(got, expected, "{shape:?} of {} bits", T::BITS);
        }
    }
}

#[test]
fn matrices_of_every_width_and_form() {
    matrix::<u64>(2, [3, 5, 7]);
    matrix::<u64>(2, [20, 9, 33]);
    matrix::<u8>(2, [9, 4, 5]);
    matrix::<u16>(2, [1, 8, 1]);
    matrix::<u32>(2, [2, 3, 300]);
    matrix::<u128>(2, [2, 3, 4]);
    matrix::<u64>(2, [1, 1, 1]);
    matrix::<u64>(2, [0, 3, 4]);
    matrix::<u64>(2, [3, 0, 4]);
}

#[test]
fn matrices_of_several_parties() {
    matrix::<u64>(3, [4, 6, 5]);
    matrix::<u32>(5, [3, 2, 3]);
}

/// Several triples of one shape in one call: right, at the declared cost, in the rounds of one.
fn several<T: Ring>(parties: usize, sizes: [usize; 3], count: usize, lattice: bool) {
    let [rows, inner, columns] = sizes;
    let shape = MatrixShape {
        rows,
        inner,
        columns,
    };
    let products = AtomicUsize::new(0);
    let heard = &products;
    let results = World::light(parties, seed()).run(|context| async move {
        let mut source = OtSource::new(&context, Extension::default()).await?;
        if lattice {
            source = source.with_lattice_matrices()?;
        }
        let made = |more| {
            heard.fetch_add(more, Relaxed);
        };
        let triples = source.matrix_triples::<T>(shape, count, &made).await?;
        let take = |triple: ProductTriple<T>| triple.take().map(|matrix| matrix.to_vec());
        Ok(triples.into_iter().map(take).collect::<Vec<_>>())
    });
    let all = if inner == 0 {
        0
    } else {
        rows * inner * columns
    };
    assert_eq!(products.into_inner(), parties * count * all, "{shape:?}");
    for (me, (_, cost)) in Party::all(parties).zip(&results) {
        let costs = || {
            let costs = OtCosts::new(Extension::default(), me, parties);
            match lattice {
                true => costs.with_lattice_matrices(),
                false => costs,
            }
        };
        let expected =
            costs().base() + costs().call(Kind::MatrixTriples(Width::of::<T>(), shape), count);
        assert_eq!(cost.setup, expected, "{shape:?}, {me} of {parties}");
        let one = costs().base() + costs().call(Kind::MatrixTriples(Width::of::<T>(), shape), 1);
        assert_eq!(expected.rounds, if count == 0 { 2 } else { one.rounds });
    }
    for triple in 0..count {
        is_product(shape, |matrix, i| {
            let shares = results.iter().map(|(party, _)| party[triple][matrix][i]);
            shares.fold(T::ZERO, Ring::add)
        });
    }
}

#[test]
fn several_matrices_in_one_call() {
    for lattice in [false, true] {
        several::<u64>(2, [3, 5, 7], 4, lattice);
        several::<u16>(3, [9, 2, 4], 3, lattice);
        several::<u8>(2, [1, 3, 2], 70, lattice);
        several::<u32>(2, [2, 0, 3], 2, lattice);
        several::<u64>(2, [2, 2, 2], 0, lattice);
    }
    several::<u32>(5, [3, 2, 3], 2, true);
}

/// Twenty requests of some 1.6 MB, of which sixteen may wait for their answers.
#[test]
fn encrypted_matrices_take_two_rounds_however_many() {
    let shape = MatrixShape {
        rows: 64,
        inner: 4096,
        columns: 1,
    };
    let mut costs = OtCosts::new(Extension::default(), Party::new(0), 2).with_lattice_matrices();
    costs.call(Kind::MatrixTriples(Width::of::<u64>(), shape), 1);
    let [one, many] =
        [1, 40].map(|count| costs.call(Kind::MatrixTriples(Width::of::<u64>(), shape), count));
    assert_eq!([one.rounds, many.rounds], [2, 2]);
    assert_eq!(many.bytes_sent, 40 * one.bytes_sent);
    assert!(18 * one.bytes_sent > 26 << 20, "{one:?}");
    several::<u64>(2, [64, 4096, 1], 20, true);
}

fn encrypted<T: Ring>(parties: usize, sizes: &[[usize; 3]]) {
    encrypted_in::<T>(parties, sizes, |_| {});
}

/// Several triples from one source: the first one brings the keys.
fn encrypted_in<T: Ring>(
    parties: usize,
    sizes: &[[usize; 3]],
    limits: impl FnOnce(&mut SessionConfig),
) {
    let shape = |&[rows, inner, columns]: &[usize; 3]| MatrixShape {
        rows,
        inner,
        columns,
    };
    let shapes: Vec<MatrixShape> = sizes.iter().map(shape).collect();
    let (shapes, products) = (&shapes, AtomicUsize::new(0));
    let (made, count) = (&products, |shape: &MatrixShape| {
        shape.rows * shape.inner * shape.columns
    });
    let world = World::light(parties, seed()).with_limits(limits);
    let results = world.run(|context| async move {
        let source = OtSource::new(&context, Extension::default()).await?;
        let mut source = source.with_lattice_matrices()?;
        let made = |products| {
            made.fetch_add(products, Relaxed);
        };
        let mut all = Vec::new();
        for &shape in shapes {
            let triple = source.matrix_triple::<T>(shape, &made).await?;
            all.push(triple.take().map(|matrix| matrix.to_vec()));
        }
        Ok(all)
    });
    let told: usize = shapes.iter().map(count).sum();
    assert_eq!(products.into_inner(), parties * told);
    for (me, (_, cost)) in Party::all(parties).zip(&results) {
        let costs = OtCosts::new(Extension::default(), me, parties);
        let mut costs = costs.with_lattice_matrices();
        let mut expected = costs.base();
        for &shape in shapes {
            expected += costs.call(Kind::MatrixTriples(Width::of::<T>(), shape), 1);
        }
        assert_eq!(cost.setup, expected, "{shapes:?}, {me} of {parties}");
    }
    for (index, &shape) in shapes.iter().enumerate() {
        is_product(shape, |matrix, i| {
            let shares = results.iter().map(|(party, _)| party[index][matrix][i]);
            shares.fold(T::ZERO, Ring::add)
        });
    }
}

#[test]
fn encrypted_matrices_of_every_width_and_form() {
    encrypted::<u64>(
        2,
        &[[3, 5, 7], [20, 9, 33], [3, 5, 7], [0, 3, 4], [3, 0, 4]],
    );
    encrypted::<u8>(2, &[[9, 4, 5], [1, 1, 1]]);
    encrypted::<u16>(2, &[[1, 8, 1], [40, 300, 2]]);
    encrypted::<u32>(2, &[[2, 3, 300], [300, 3, 2]]);
    // There is none of 128 bits: these are made by OT.
    encrypted::<u128>(2, &[[2, 3, 4]]);
    // Several requests, and several answers to each.
    encrypted::<u64>(2, &[[1, 70_000, 1], [1, 2, 70_000]]);
}

#[test]
fn encrypted_matrices_of_several_parties() {
    encrypted::<u64>(3, &[[4, 6, 5], [128, 20, 30]]);
    encrypted::<u32>(5, &[[3, 2, 3]]);
    encrypted_in::<u16>(3, &[[100, 100, 100]], |config| {
        config.window = madrigal_net::MIN_WINDOW;
    });
}

/// Widths take turns, on several threads and through the narrowest window; the costs follow.
#[test]
fn encrypted_matrices_among_other_calls() {
    for (parties, threads) in [(2, 1), (2, 3), (3, 2)] {
        encrypted_among_others(parties, threads);
    }
}

fn encrypted_among_others(parties: usize, threads: usize) {
    let shape = |[rows, inner, columns]: [usize; 3]| MatrixShape {
        rows,
        inner,
        columns,
    };
    let [square, flat, tiny] = [[40, 9, 33], [5, 600, 70], [2, 2, 2]].map(shape);
    let extension = Extension::default();
    let world = World::light(parties, seed()).with_limits(|config| {
        config.window = madrigal_net::MIN_WINDOW;
    });
    let results = world.run(|context| async move {
        let source = OtSource::with_threads(&context, extension, threads).await?;
        let mut source = source.with_lattice_matrices()?;
        let wide = source.matrix_triple::<u64>(square, &|_| {}).await?;
        let narrow = source.matrix_triple::<u8>(flat, &|_| {}).await?;
        source.ring_triples::<u64>(300, &|_| {}).await?;
        source.matrix_triple::<u128>(tiny, &|_| {}).await?;
        let again = source.matrix_triple::<u64>(flat, &|_| {}).await?;
        let copy = |triple: ProductTriple<u64>| triple.take().map(|matrix| matrix.to_vec());
        let narrow = narrow.take().map(|matrix| matrix.to_vec());
        Ok((copy(wide), narrow, copy(again)))
    });
    for (me, (_, cost)) in Party::all(parties).zip(&results) {
        let costs = OtCosts::with_threads(extension, threads, me, parties);
        let mut costs = costs.with_lattice_matrices();
        let mut expected = costs.base();
        expected += costs.call(Kind::MatrixTriples(Width::of::<u64>(), square), 1);
        expected += costs.call(Kind::MatrixTriples(Width::of::<u8>(), flat), 1);
        expected += costs.call(Kind::RingTriples(Width::of::<u64>()), 300);
        expected += costs.call(Kind::MatrixTriples(Width::of::<u128>(), tiny), 1);
        expected += costs.call(Kind::MatrixTriples(Width::of::<u64>(), flat), 1);
        assert_eq!(cost.setup, expected, "{me} of {parties}, {threads} threads");
    }
    let shares = || results.iter().map(|(shares, _)| shares);
    is_product(square, |matrix, i| {
        shares().fold(0, |sum: u64, (wide, ..)| sum.add(wide[matrix][i]))
    });
    is_product(flat, |matrix, i| {
        shares().fold(0, |sum: u8, (_, narrow, _)| sum.add(narrow[matrix][i]))
    });
    is_product(flat, |matrix, i| {
        shares().fold(0, |sum: u64, (.., again)| sum.add(again[matrix][i]))
    });
}

/// After a call that was given up nothing is made any more.
#[test]
fn an_encrypted_matrix_given_up() {
    const SHAPE: MatrixShape = MatrixShape {
        rows: 20,
        inner: 20,
        columns: 20,
    };
    let results = World::light(2, seed()).run(|context| async move {
        let source = OtSource::new(&context, Extension::default()).await?;
        let mut source = source.with_lattice_matrices()?;
        {
            let mut call = Box::pin(source.matrix_triple::<u64>(SHAPE, &|_| {}));
            let once = std::future::poll_fn(|task| Poll::Ready(call.as_mut().poll(task)));
            assert!(once.await.is_pending());
        }
        let next = source.matrix_triple::<u64>(SHAPE, &|_| {}).await;
        Ok(next.map(drop).err().map(|error| error.to_string()))
    });
    for (told, _) in results {
        assert!(told.is_some_and(|told| told.contains("given up")));
    }
}

/// Two parties that both send more than the other's window takes must not wait for each other.
#[test]
fn strings_longer_than_a_window() {
    let narrow = |config: &mut SessionConfig| config.window = madrigal_net::MIN_WINDOW;
    for extension in extensions() {
        matrix_in::<u64>(extension, 2, [1, 2, 6000], narrow);
        vectors_in(extension, 3, 8_000_001, 2, narrow);
        vectors_in(extension, 3, 100, 60_000, narrow);
    }
}

fn vectors(parties: usize, length: usize, count: usize) {
    for extension in extensions() {
        vectors_in(extension, parties, length, count, |_| {});
    }
}

fn vectors_in(
    extension: Extension,
    parties: usize,
    length: usize,
    count: usize,
    limits: impl FnOnce(&mut SessionConfig),
) {
    let world = World::light(parties, seed()).with_limits(limits);
    let results = world.run(|context| async move {
        let mut source = OtSource::new(&context, extension).await?;
        let mut triples = source.vector_triples(length, count, &|_| {}).await?;
        let mut first = triples.split_front(count / 2);
        let mut all = [Vec::new(), Vec::new(), Vec::new()];
        for part in [&mut first, &mut triples] {
            let shares = part.take(part.len());
            for (all, part) in all.iter_mut().zip([shares.a, shares.b, shares.c]) {
                all.extend_from_slice(part);
            }
        }
        Ok(all)
    });
    for (me, (_, cost)) in Party::all(parties).zip(&results) {
        let mut costs = OtCosts::new(extension, me, parties);
        let expected = costs.base() + costs.call(Kind::VectorTriples { length }, count);
        assert_eq!(cost.setup, expected, "{me} of {parties}, {extension}");
    }
    let total = |string: usize, i: usize| {
        let shares = results.iter().map(|(party, _)| party[string][i]);
        shares.fold(0, |sum, share| sum ^ share)
    };
    let stride = bits::bytes_for(length);
    let mut ones = 0;
    for item in 0..count {
        let a = total(0, item);
        assert!(a < 2);
        for byte in item * stride..(item + 1) * stride {
            assert_eq!(
                total(2, byte),
                total(1, byte) & a.wrapping_neg(),
                "item {item}"
            );
            ones += total(1, byte).count_ones() as usize;
        }
        if !length.is_multiple_of(8) {
            assert_eq!(total(1, (item + 1) * stride - 1) >> (length % 8), 0);
        }
    }
    let all = (length * count) as f64;
    assert!(
        (ones as f64 - all / 2.0).abs() <= 3.0 * all.sqrt() + 1.0,
        "{ones} of {all}"
    );
}

#[test]
fn vectors_of_any_length() {
    vectors(2, 1, 1000);
    vectors(2, 100, 300);
    vectors(2, 128, 9000);
    vectors(2, 1000, 500);
    vectors(2, 100_000, 30);
    vectors(2, 7, 0);
}

#[test]
fn vectors_of_several_parties() {
    vectors(3, 13, 300);
    vectors(3, 4096, 200);
    vectors(5, 129, 40);
}

#[test]
fn a_stock_holds_what_was_registered() {
    let shape = MatrixShape {
        rows: 2,
        inner: 3,
        columns: 2,
    };
    let mut needs = Needs::new();
    needs.bit_triples(100);
    needs.vector_triples(40, 3);
    needs.ring_triples::<u64>(5);
    let mut more = Needs::new();
    more.ring_triples::<u64>(2);
    more.square_pairs::<u16>(4);
    more.shared_bits::<u32>(6);
    more.matrix_triples::<u32>(shape, 2);
    needs += &more;
    for (extension, parties) in extensions().flat_map(|extension| [(extension, 2), (extension, 3)])
    {
        let needs_of_all = &needs;
        let results = World::light(parties, seed()).run(|context| async move {
            let mut source = OtSource::new(&context, extension).await?;
            let mut stock = Stock::fill(&mut source, needs_of_all, &|_| {}).await?;
            assert_eq!(
                stock.bit_triples(60)?.len() + stock.bit_triples(40)?.len(),
                100
            );
            assert_eq!(stock.vector_triples(40, 3)?.len(), 3);
            assert_eq!(stock.square_pairs::<u16>(4)?.len(), 4);
            assert_eq!(stock.shared_bits::<u32>(6)?.len(), 6);
            let _ = (
                stock.matrix_triple::<u32>(shape)?,
                stock.matrix_triple::<u32>(shape)?,
            );
            let mut triples = stock.ring_triples::<u64>(7)?;
            let shares = triples.take(7);
            Ok([shares.a.to_vec(), shares.b.to_vec(), shares.c.to_vec()])
        });
        for (me, (_, cost)) in Party::all(parties).zip(&results) {
            assert_eq!(
                cost.setup,
                OtCosts::new(extension, me, parties).filling(&needs, |_| usize::MAX),
                "{me} of {parties}"
            );
        }
        for i in 0..7 {
            let [a, b, c] = [0, 1, 2].map(|k| {
                let shares = results.iter().map(|(party, _)| party[k][i]);
                shares.fold(0, u64::wrapping_add)
            });
            assert_eq!(c, a.wrapping_mul(b));
        }
    }
}

/// Encryption where it sends fewer bytes: not for a handful of products, and not for elements that it does not have.
#[test]
fn what_makes_matrices_is_chosen_by_bytes() {
    let choose = |text: &str| {
        let needs: Needs = text.parse().unwrap();
        [2, 3].map(|parties| Matrices::choose(Extension::default(), parties, &needs))
    };
    assert_eq!(choose("u64=1000"), [Matrices::Ot; 2]);
    assert_eq!(choose("matrix-u64-2x3x4=1"), [Matrices::Ot; 2]);
    assert_eq!(choose("matrix-u64-100x100x100=1"), [Matrices::Lattice; 2]);
    assert_eq!(choose("matrix-u128-100x100x100=1"), [Matrices::Ot; 2]);
}
