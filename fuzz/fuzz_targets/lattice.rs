//! Messages of matrix products by encryption: keys, requests and answers. Any bytes are taken if they
//! have the right length, residues below their primes and no padding, and refused otherwise.
#![no_main]

use libfuzzer_sys::fuzz_target;
use madrigal_kernels::Block;
use madrigal_lattice::{Layout, Owner, Responder};

/// The bytes as they are, or over and over until they have the length that is due.
fn message(bytes: &[u8], due: usize, fit: bool) -> Vec<u8> {
    if fit && !bytes.is_empty() {
        bytes.iter().copied().cycle().take(due).collect()
    } else {
        bytes.to_vec()
    }
}

fn elements(count: usize) -> Vec<u16> {
    (0..count as u16).collect()
}

fuzz_target!(|bytes: &[u8]| {
    let [which, rows, inner, columns, rest @ ..] = bytes else {
        return;
    };
    let fit = which & 1 == 1;
    let sizes @ [p, k, q] = [rows, inner, columns].map(|&size| usize::from(size) % 12 + 1);
    let layout = Layout::new(16, p, k, q).expect("16 bits");
    let request = layout.requests().next().expect("one");
    let mut owner = Owner::new(16, Block::new(1, 2), 1).expect("16 bits");
    let mut z = elements(p * q);
    match which >> 1 & 3 {
        0 => {
            let [due, ..] = Responder::key_cost(16).expect("16 bits");
            let key = message(rest, due as usize, fit);
            let taken = Responder::new(16, &key, Block::new(3, 4), 2);
            assert!(taken.is_err() || key.len() == due as usize);
        }
        1 | 2 => {
            let key = owner.public_key();
            let mut responder = Responder::new(16, &key, Block::new(3, 4), 2).expect("a key");
            let asked = message(rest, layout.request_len(&request), fit);
            let Ok(asked) = responder.read(&layout, &request, &asked) else {
                return;
            };
            let answer = responder.answer(&asked, &(0..q), &elements(k * q), &mut z);
            let taken = owner.open(&layout, &request, &(0..q), &answer, &mut z);
            assert!(taken.is_ok(), "what we answer, we take: {sizes:?}");
        }
        _ => {
            let due = layout.answer_len(&request, &(0..q));
            let answer = message(rest, due, fit);
            let taken = owner.open(&layout, &request, &(0..q), &answer, &mut z);
            assert!(taken.is_err() || answer.len() == due);
        }
    }
});
