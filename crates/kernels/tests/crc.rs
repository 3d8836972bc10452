//! CRC-32 at every level of this machine against an implementation that is not ours.

use madrigal_kernels::{Crc32, Kernels, Level};

use crate::levels::Random;

fn levels() -> impl Iterator<Item = Kernels> {
    Level::available().filter_map(Kernels::at)
}

/// The check value of the catalogues of CRCs, and that of no bytes at all.
#[test]
fn known_answers() {
    for kernels in levels() {
        let mut crc = kernels.crc32();
        assert_eq!(crc.value(), 0, "{}", kernels.level());
        crc.update(b"123456789");
        assert_eq!(crc.value(), 0xcbf4_3926, "{}", kernels.level());
    }
    assert_eq!(Crc32::new().value(), 0);
}

#[test]
fn every_length_at_every_alignment() {
    let mut random = Random::new();
    let bytes = random.bytes(1400);
    for kernels in levels() {
        for length in (0..=300).chain([511, 512, 513, 1024, 1300]) {
            let offset = length % 67;
            let message = &bytes[offset..offset + length];
            let mut crc = kernels.crc32();
            crc.update(message);
            assert_eq!(
                crc.value(),
                crc32fast::hash(message),
                "{}, {length} bytes",
                kernels.level()
            );
        }
    }
}

/// A register that the end of a piece does not cover reaches into the next piece.
#[test]
fn pieces_join() {
    let mut random = Random::new();
    for kernels in levels() {
        for round in 0..200 {
            // Half of them full of pieces shorter than the register.
            let longest = if round % 2 == 0 { 6 } else { 700 };
            let mut crc = kernels.crc32();
            let mut message = Vec::new();
            for _ in 0..random.word() % 12 {
                let length = random.word() as usize % longest;
                let piece = random.bytes(length);
                crc.update(&piece);
                message.extend(piece);
            }
            let (level, length) = (kernels.level(), message.len());
            assert_eq!(
                crc.value(),
                crc32fast::hash(&message),
                "{level}, {length} bytes"
            );
        }
    }
}

#[test]
fn one_bit_anywhere_counts() {
    for kernels in levels() {
        let mut message = vec![0; 800];
        for bit in 0..8 * message.len() {
            message[bit / 8] ^= 1 << (bit % 8);
            let mut crc = kernels.crc32();
            crc.update(&message);
            let expected = crc32fast::hash(&message);
            assert_eq!(crc.value(), expected, "{}, bit {bit}", kernels.level());
            message[bit / 8] = 0;
        }
    }
}
