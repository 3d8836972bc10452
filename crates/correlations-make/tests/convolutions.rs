//! Triples of convolutions, by OT and by encryption: right, at the declared cost, whatever the convolution.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use madrigal_core::{Convolution, Party, Product, Ring};
use madrigal_correlations::{Kind, Needs, ProductTriple, Source, Width};
use madrigal_correlations_make::{Extension, Matrices, OtCosts, OtSource};
use madrigal_testkit::{World, seed};

/// What a convolution of two whole factors has at each place.
fn outputs<T: Ring>(convolution: &Convolution, filters: &[T], images: &[T]) -> Vec<T> {
    let [.., results] = Product::Convolution(*convolution).lengths();
    let output = |output| {
        let terms = convolution.terms(output);
        terms.fold(T::ZERO, |sum, (filter, image)| match image {
            Some(image) => sum.add(filters[filter].mul(images[image])),
            None => sum,
        })
    };
    (0..results).map(output).collect()
}

fn triples<T: Ring>(convolution: Convolution, parties: usize, count: usize, lattice: bool) {
    let one = Product::Convolution(convolution);
    let heard = AtomicUsize::new(0);
    let heard = &heard;
    let world = World::light(parties, seed());
    let results = world.run(|context| async move {
        let source = OtSource::new(&context, Extension::default()).await?;
        let mut source = match lattice {
            true => source.with_lattice_matrices()?,
            false => source,
        };
        let made = |more: usize| {
            heard.fetch_add(more, Relaxed);
        };
        let triples = source.product_triples::<T>(one, count, &made).await?;
        let take = |triple: ProductTriple<T>| triple.take().map(|part| part.to_vec());
        Ok(triples.into_iter().map(take).collect::<Vec<_>>())
    });
    let what = format!("{convolution:?}, {parties} parties, lattice: {lattice}");
    for (me, (_, cost)) in Party::all(parties).zip(&results) {
        let costs = OtCosts::new(Extension::default(), me, parties);
        let mut costs = match lattice {
            true => costs.with_lattice_matrices(),
            false => costs,
        };
        let expected = costs.base() + costs.call(Kind::of_product(Width::of::<T>(), one).0, count);
        assert_eq!(cost.setup, expected, "{me}: {what}");
    }
    let steps = count * one.multiplications();
    assert_eq!(heard.load(Relaxed), parties * steps, "{what}");
    for triple in 0..count {
        let sum = |part: usize| {
            let len = results[0].0[triple][part].len();
            let total = |i| {
                let shares = results.iter().map(|(party, _)| party[triple][part][i]);
                shares.fold(T::ZERO, Ring::add)
            };
            (0..len).map(total).collect::<Vec<T>>()
        };
        let [filters, images, product] = [0, 1, 2].map(sum);
        let expected = outputs(&convolution, &filters, &images);
        assert!(product == expected, "triple {triple}: {what}");
    }
}

#[test]
fn of_every_kind() {
    let plain = Convolution::new(3, [5, 6], 4, [3, 2]);
    let grouped = Convolution {
        images: 2,
        groups: 2,
        channels: 4,
        stride: [2, 1],
        dilation: [1, 2],
        padding: [[1, 0], [2, 1]],
        ..plain
    };
    // More filters than places: by OT the images give the choices.
    let many = Convolution::new(2, [3, 3], 20, [2, 2]);
    // Too large a filter for polynomials: unfolded there, too.
    let large = Convolution {
        padding: [[92, 0], [92, 0]],
        ..Convolution::new(1, [1, 2], 1, [92, 92])
    };
    for convolution in [plain, grouped, many] {
        for lattice in [false, true] {
            triples::<u64>(convolution, 2, 1, lattice);
            triples::<u16>(convolution, 2, 3, lattice);
            triples::<u32>(convolution, 3, 1, lattice);
        }
    }
    triples::<u8>(large, 2, 1, true);
    triples::<u128>(plain, 2, 1, true);
    triples::<u64>(Convolution { images: 0, ..plain }, 2, 2, true);
}

/// Encryption is chosen for what is large, and sends far less there than for the same matrices.
#[test]
fn images_are_sent_once() {
    let convolution = Convolution {
        padding: [[1, 1]; 2],
        ..Convolution::new(64, [56, 56], 64, [3, 3])
    };
    let of = |product: Product| {
        let mut needs = Needs::new();
        needs.product_triples::<u64>(product);
        let chosen = Matrices::choose(Extension::default(), 2, &needs);
        assert_eq!(chosen, Matrices::Lattice);
        let costs = OtCosts::new(Extension::default(), Party::new(0), 2);
        let mut costs = costs.with_lattice_matrices();
        let (count, one) = product.alike();
        costs
            .call(Kind::of_product(Width::of::<u64>(), one).0, count)
            .bytes_sent
    };
    let bytes = of(Product::Convolution(convolution));
    assert!(bytes < 18 << 20, "{bytes}");
    let matrices = of(Product::Matrices(1, convolution.matrices()));
    assert!(2 * bytes < matrices, "{bytes}, {matrices}");
}
