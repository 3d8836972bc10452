//! Transcripts of convolutions: what a party receives does not depend on the other one's numbers: in A and in alpha, with images and
//! filters shared, and in A with filters that their owner keeps in the clear.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::sync::Arc;

use madrigal_core::{Convolution, Party, Product};
use madrigal_correlations_make::{Extension, Matrices};
use madrigal_engine::{Element, Graph, Origin, Plan, PlanSpec, Shares, Sharing, Sort, Width};
use madrigal_operations::{
    AlphaTool, ArithmeticGmwTool, DynOperation, KnownProduct, MatrixProduct, Open, Rings, Share,
    Side,
};
use madrigal_testkit::seed;

use crate::transcripts::ones_of_values;
use madrigal_testkit::transcripts::must_agree;

/// Two groups, a stride, a row of zeros above and a dilation: small, so that many runs are quick.
fn convolution() -> Convolution {
    Convolution {
        groups: 2,
        channels: 2,
        stride: [2, 1],
        dilation: [1, 2],
        padding: [[1, 0], [0, 0]],
        ..Convolution::new(2, [3, 3], 2, [2, 2])
    }
}

/// Filters of party `owner` and an image of the other one; `to` does not see the result. Filters stay in the clear if
/// they are `known`. `to`'s own numbers are the same in both samples, the other one's all zeros, and all ones.
fn check<P: Rings>(owner: usize, to: usize, known: bool, matrices: Matrices) {
    let seed = seed();
    let convolution = convolution();
    let product = Product::Convolution(convolution);
    let [filters, images, _] = product.lengths();
    let parties = [owner, 1 - owner].map(Party::new);
    let to = Party::new(to);
    let mut graph = Graph::new(2);
    let given: Vec<_> = parties
        .into_iter()
        .zip([filters, images])
        .map(|(party, len)| {
            let sort = Sort::new(Sharing::clear(&[party]), Element::Ring(Width::W8), len);
            graph.input(sort)
        })
        .collect();
    let mut operands = Vec::new();
    for (place, (&input, party)) in given.iter().zip(parties).enumerate() {
        operands.push(if known && place == 0 {
            input
        } else {
            graph.add_one(Share::<P>::new(party), &[input]).unwrap()
        });
    }
    let of = match known {
        true => Arc::new(KnownProduct::new(product, Side::Left, parties[0])) as DynOperation,
        false => Arc::new(MatrixProduct::<P>::of(product)),
    };
    let made = graph.add(of, &operands).unwrap()[0];
    let receiver = Party::new(1 - to.index());
    let opened = graph
        .add_one(Open::<P>::new(vec![receiver]), &[made])
        .unwrap();
    graph.output(opened);
    let plan = Plan::new(PlanSpec {
        origin: Origin::Ot {
            extension: Extension::default(),
            threads: 1,
            matrices,
        },
        ..PlanSpec::new(graph)
    })
    .unwrap();
    let inputs = |others: u8| -> Vec<Shares> {
        let of = |(party, len): (Party, usize)| {
            let element = if party == to { 0x5a } else { others };
            Shares::ring_of(Sharing::clear(&[party]), vec![element; len])
        };
        [(parties[0], filters), (parties[1], images)].map(of).into()
    };
    let a = ones_of_values(&plan, &inputs(0), to, seed);
    let b = ones_of_values(&plan, &inputs(0xff), to, seed ^ 0x5555_0000_0000_0000);
    let what = if known { "known" } else { "shared" };
    let about = format!("{what} filters of party {owner} in {}, to {to}", P::SHARING);
    must_agree(&a, &b, &about);
}

#[test]
fn transcripts_of_convolutions_do_not_depend_on_images_or_filters() {
    for to in 0..2 {
        check::<ArithmeticGmwTool>(0, to, false, Matrices::Ot);
        check::<AlphaTool>(1, to, false, Matrices::Ot);
    }
}

#[test]
fn transcripts_of_convolutions_with_known_filters_do_not_depend_on_either() {
    // Who looks on owns the filters, then the image.
    for owner in 0..2 {
        check::<ArithmeticGmwTool>(owner, 0, true, Matrices::Ot);
    }
}
