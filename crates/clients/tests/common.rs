//! Values, files and keys for tests.
#![allow(
    clippy::unwrap_used,
    reason = "test helpers; a failed unwrap is a failed test"
)]

use std::path::Path;

use madrigal_clients::{Named, Received, ShareFault, ShareFile, deal};
use madrigal_core::{Budget, bits};
use madrigal_engine::{Element, Held, Shares, Sharing, Sort, Width, with_ring};
use madrigal_kernels::{Block, Prg, rings};
use madrigal_net::sealing::SealingKey;

pub(crate) fn generator(seed: u64) -> Prg {
    Prg::numbered(Block::new(seed, 2), 1)
}

pub(crate) fn named(shape: &[usize]) -> Named {
    Named {
        job: "survey".into(),
        name: "income".into(),
        client: "alice".into(),
        element_type: "Fixed<i64, 16>".into(),
        shape: shape.to_vec(),
    }
}

fn numbers<T: Held>(len: usize, rng: &mut Prg) -> Shares {
    let mut numbers = vec![T::ZERO; len];
    rng.fill(rings::as_bytes_mut(&mut numbers));
    Shares::ring_of(Sharing::PUBLIC, numbers)
}

/// A clear value with random elements.
pub(crate) fn value(element: Element, len: usize, seed: u64) -> Shares {
    let mut rng = generator(seed);
    match element {
        Element::Ring(width) => with_ring!(width, T => numbers::<T>(len, &mut rng)),
        Element::Bits(planes) => {
            let mut value = Shares::zeros(Sort::new(Sharing::PUBLIC, element, len));
            rng.fill_words(value.words_mut());
            for plane in 0..planes {
                let plane = value.plane_mut(plane, 0);
                plane[bits::bytes_for(len)..].fill(0);
                bits::clear_tail(plane, len);
            }
            value
        }
    }
}

/// All bytes of a clear value.
pub(crate) fn bytes_of(value: &Shares) -> Vec<u8> {
    match value.sort().element {
        Element::Bits(_) => value.plane_bytes().to_vec(),
        Element::Ring(width) => {
            with_ring!(width, T => rings::as_bytes(value.component::<T>(0)).to_vec())
        }
    }
}

/// The files of alice's five numbers.
pub(crate) fn dealt(sharing: Sharing, servers: usize, seed: u64) -> Vec<ShareFile> {
    let element = match sharing {
        Sharing::B => Element::Bits(64),
        _ => Element::Ring(Width::W64),
    };
    let value = value(element, 5, seed);
    deal(named(&[5]), &value, sharing, servers, &mut generator(seed)).unwrap()
}

pub(crate) fn written(file: &ShareFile, key: Option<&SealingKey>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let recipient = key.map(SealingKey::public);
    file.write(&mut bytes, recipient.as_ref()).unwrap();
    bytes
}

pub(crate) fn read(bytes: &[u8], key: Option<&SealingKey>) -> Result<ShareFile, ShareFault> {
    let mut from = bytes;
    let read = ShareFile::read(
        &mut from,
        bytes.len() as u64,
        key,
        &Budget::of_file(bytes.len()),
    )?;
    assert!(from.is_empty(), "a file is read to its end");
    Ok(read)
}

pub(crate) fn received(files: &[ShareFile]) -> Vec<Received> {
    let one = |(i, share): (usize, &ShareFile)| Received {
        file: Path::new(&format!("{i}.share")).into(),
        share: share.clone(),
    };
    files.iter().enumerate().map(one).collect()
}
