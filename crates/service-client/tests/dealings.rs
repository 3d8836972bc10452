//! Shares that a dealer makes for a server have the same distribution whatever the value is, in every sharing, of values in memory and of such as are
//! read piece by piece.

use madrigal_clients::{
    Named, SEED_BYTES, ShareFile, StreamDealer, deal_with, nonce, seeded_generator,
};
use madrigal_core::{Digest256, Party};
use madrigal_engine::{Element, Sharing, Width, with_ring};
use madrigal_intake::{Chain, pack, submission_name};
use madrigal_testkit::seed;
use madrigal_testkit::transcripts::{RUNS, count, difference, must_agree, must_see_a_leak};

use crate::views::{numbers, seen, value};

fn named(len: usize) -> Named {
    Named {
        job: "ages".into(),
        name: "x".into(),
        client: "carol".into(),
        element_type: "u64".into(),
        shape: vec![len],
    }
}

/// Ways in which a dealer may be wrong.
#[derive(Clone, Copy, PartialEq)]
enum Wrong {
    /// One bit of server 1's body is one of the value.
    Leaks,
    /// The last server's first two elements are masked by the same number.
    Repeats,
}

/// Form of a value: sharing, elements, number of servers, length.
type Form = (Sharing, Element, usize, usize);

/// Shares of a value that is dealt from a seed, as servers get them: headers, digest and body of each.
fn dealt(
    (sharing, element, servers, len): Form,
    ends: bool,
    (seed, run): (u64, u64),
    streams: bool,
    wrong: Option<Wrong>,
) -> Vec<Vec<u8>> {
    let mut bytes = [0; SEED_BYTES];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes[8..16].copy_from_slice(&run.to_le_bytes());
    let mut random = seeded_generator(&bytes);
    let nonce = nonce(&mut random);
    let clear = value(ends, element, len);
    let (header, mut bodies): (_, Vec<Vec<u8>>) = match streams {
        false => {
            let files = deal_with(named(len), &clear, sharing, servers, nonce, &mut random);
            let files = files.unwrap();
            let body = |file: &ShareFile| {
                let mut body = Vec::new();
                file.write_body(&mut body).unwrap();
                body
            };
            (files[0].header().clone(), files.iter().map(body).collect())
        }
        true => {
            let (form, value) = ((sharing, element), Box::new(clear.clone()));
            let dealer = StreamDealer::new(named(len), form, servers, nonce, value, &mut random);
            let dealer = dealer.unwrap();
            let body = |place| {
                let mut body = vec![0; dealer.header().body_bytes(place) as usize];
                let (first, second) = body.split_at_mut(body_half(&dealer, place));
                dealer.body(place, first.len() as u64, second).unwrap();
                dealer.body(place, 0, first).unwrap();
                body
            };
            (
                dealer.header().clone(),
                Party::all(servers).map(body).collect(),
            )
        }
    };
    match wrong {
        None => {}
        Some(Wrong::Leaks) => {
            let body = bodies[1].last_mut().unwrap();
            *body = *body & !1 | u8::from(ends);
        }
        Some(Wrong::Repeats) => {
            let numbers = numbers(ends, 2);
            let body = &mut bodies[servers - 1];
            body[1] = body[0]
                .wrapping_sub(numbers[0] as u8)
                .wrapping_add(numbers[1] as u8);
        }
    }
    let headers = pack(&[header]).unwrap();
    let name = submission_name("ages", &Digest256([1; 32]), &headers);
    let each = bodies.iter().map(|body| {
        let digest = Chain::digest(&headers, body);
        // In R a server has two parts, and so their difference.
        let (first, second) = body.split_at(body.len() / 2);
        let parts = first.iter().zip(second);
        let difference: Vec<u8> = parts.map(|(a, b)| a.wrapping_sub(*b)).collect();
        [&headers, &digest.0[..], &name.0, body, &difference].concat()
    });
    each.collect()
}

/// A place within a body at which it may be cut.
fn body_half(dealer: &StreamDealer, place: Party) -> usize {
    dealer.header().body_bytes(place) as usize / 2
}

/// How often bits are 1 at each server, over all runs.
fn ones_dealt(
    form: Form,
    ends: bool,
    seed: u64,
    streams: bool,
    wrong: Option<Wrong>,
) -> Vec<Vec<u32>> {
    let stride = match form.1 {
        Element::Ring(width) => with_ring!(width, T => size_of::<T>()),
        Element::Bits(_) => 1,
    };
    let mut ones = vec![Vec::new(); form.2];
    for run in 0..RUNS {
        let got = dealt(form, ends, (seed, run), streams, wrong);
        for (ones, got) in ones.iter_mut().zip(got) {
            count(ones, &seen(&got, &[stride]));
        }
    }
    ones
}

/// Bodies, headers and digests, of every sharing, of values in memory and of such as are read piece by piece.
#[test]
fn dealt_shares_are_independent_of_the_values() {
    let seed = seed();
    must_see_a_leak();
    let forms = [
        (Sharing::A, Element::Ring(Width::W64), 2, 5),
        (Sharing::A, Element::Ring(Width::W8), 3, 9),
        (Sharing::B, Element::Bits(1), 2, 13),
        (Sharing::B, Element::Bits(32), 3, 8),
        (Sharing::R, Element::Ring(Width::W128), 3, 3),
        (Sharing::R, Element::Ring(Width::W32), 3, 4),
        (Sharing::R, Element::Bits(7), 3, 9),
    ];
    for form in forms {
        for streams in [false, true] {
            let zeros = ones_dealt(form, false, seed, streams, None);
            let ends = ones_dealt(form, true, !seed, streams, None);
            for (server, (a, b)) in zeros.iter().zip(&ends).enumerate() {
                let about = format!("{form:?}, read in pieces: {streams}, to {server}");
                must_agree(a, b, &about);
            }
        }
    }
}

#[test]
fn a_dealer_that_leaks_would_be_seen() {
    let (seed, form) = (seed(), (Sharing::A, Element::Ring(Width::W8), 3, 9));
    for wrong in [Wrong::Leaks, Wrong::Repeats] {
        let [zeros, ends] = [false, true].map(|ends| {
            let seed = if ends { !seed } else { seed };
            ones_dealt(form, ends, seed, false, Some(wrong))
        });
        let server = if wrong == Wrong::Leaks { 1 } else { 2 };
        let told = difference(&zeros[server], &ends[server]);
        assert!(told.is_some_and(|told| told.starts_with("one bit")));
        assert!(difference(&zeros[0], &ends[0]).is_none());
    }
}
