//! Programs that are made gate by gate instead of read.

use madrigal_circuit::{Builder, Goal};
use madrigal_hycc::{BitSharing, Flat, Options};

use crate::common::run;

/// The greater of two dot products of one vector, and one of them where it is not negative.
fn program(width: u8, sharing: BitSharing) -> Flat {
    let mut flat = Flat::new();
    let a = flat.input("INPUT_A_a", 0, 3, width);
    let b = flat.input("INPUT_A_b", 0, 3, width);
    let x = flat.input("INPUT_B_x", 1, 3, width);
    let [a, b] = [a, b].map(|weights| {
        let products = weights.iter().zip(&x).map(|(&w, &x)| flat.product(w, x));
        let products: Vec<u32> = products.collect();
        let sum = products.into_iter().reduce(|sum, one| flat.sum(sum, one));
        sum.unwrap()
    });
    let mut max = Builder::new("max").with_goal(Goal::Depth);
    let [p, q] = [(); 2].map(|()| max.input(width.into()));
    let less = max.less_signed(&p, &q);
    let most = max.select(less, &q, &p);
    let keep = max.not(p[usize::from(width) - 1]);
    let positive: Vec<_> = p.iter().map(|&bit| max.and(bit, keep)).collect();
    max.output(&most);
    max.output(&positive);
    let outputs = flat.through(&max.finish(), &[a, b], sharing);
    flat.output("OUTPUT_most", &outputs[..1]);
    flat.output("OUTPUT_both", &[outputs[1], a]);
    flat
}

fn bits(words: &[i64], width: u8) -> Vec<u8> {
    let bits = |&word: &i64| (0..width).map(move |bit| (word >> bit & 1) as u8);
    words.iter().flat_map(bits).collect()
}

#[test]
fn programs_made_by_hand_run_as_those_of_files() {
    for (width, sharing) in [
        (8, BitSharing::Gmw),
        (32, BitSharing::Yao),
        (64, BitSharing::Gmw),
    ] {
        let flat = program(width, sharing);
        let runs = [
            ([1, -2, 3], [4, 5, -6], [7, 8, 9]),
            ([-5, 0, 1], [1, 1, 1], [3, -2, -4]),
        ];
        let inputs = runs.map(|(a, b, x)| [a, b, x].map(|words| bits(&words, width)).to_vec());
        for parties in [2, 3] {
            let found = run(&flat, &Options::default(), parties, &inputs);
            for ((a, b, x), found) in runs.iter().zip(found) {
                let dot = |w: &[i64; 3]| -> i64 { w.iter().zip(x).map(|(w, x)| w * x).sum() };
                let (a, b) = (dot(a), dot(b));
                assert_eq!(found[0], bits(&[a.max(b)], width), "{width} bits");
                assert_eq!(found[1], bits(&[a.max(0), a], width), "{width} bits");
            }
        }
    }
}

#[test]
#[should_panic(expected = "words of 24 bits")]
fn words_have_a_width_that_there_is() {
    Flat::new().input("INPUT_A", 0, 1, 24);
}
