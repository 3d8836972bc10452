//! Parts of blocks as clients bring and get them, side by side, and as circuits take them, bit by bit.

use madrigal_core::Party;
use madrigal_engine::Shares;
use madrigal_kernels::transpose_bits;
use madrigal_psi_programs::SharedAes;

/// Bytes of a request at a server: its part of a block.
pub(crate) const REQUEST: usize = 16;
/// Bytes of an answer of a server: its two parts of the encrypted block.
pub(crate) const ANSWER: usize = PARTS * REQUEST;
const BITS: usize = 8 * REQUEST;
/// Parts that a server has of each encrypted block.
const PARTS: usize = 2;

/// A server's parts of this many blocks; those beyond the requests are zero.
pub(crate) fn to_part(me: Party, requests: &[u8], lanes: usize) -> Shares {
    let mut part = Shares::zeros(SharedAes::own(me, lanes));
    let count = requests.len() / REQUEST;
    debug_assert!(count <= lanes);
    if count > 0 {
        let planes = part.plane_bytes_mut();
        let row = planes.len() / BITS;
        transpose_bits(requests, count, BITS, REQUEST, planes, row);
    }
    part
}

/// The first lanes of shares, side by side.
pub(crate) fn to_bytes(shares: &Shares, count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count * ANSWER];
    if count > 0 {
        let planes = shares.plane_bytes();
        let row = planes.len() / (BITS * PARTS);
        for part in 0..PARTS {
            let (from, to) = (&planes[part * row..], &mut bytes[part * REQUEST..]);
            transpose_bits(from, BITS, count, PARTS * row, to, ANSWER);
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_keep_their_places() {
        for (count, lanes) in [(1, 64), (63, 64), (64, 64), (65, 256), (256, 256)] {
            let requests: Vec<u8> = (0..count * REQUEST)
                .map(|at| (at * 7 + at / 256) as u8)
                .collect();
            let part = to_part(Party::new(1), &requests, lanes);
            let numbers = part.to_numbers::<u128>().unwrap();
            for (lane, number) in numbers.iter().enumerate() {
                let expected = requests.get(lane * REQUEST..(lane + 1) * REQUEST);
                let expected = expected.unwrap_or(&[0; REQUEST]);
                assert_eq!(number.to_le_bytes(), expected);
            }
            // The second part of shares has the same bits, the first one none.
            let mut shares = Shares::zeros(SharedAes::shared(lanes));
            for plane in 0..BITS {
                let row = part.plane(plane, 0).to_vec();
                shares.plane_mut(plane, 1).copy_from_slice(&row);
            }
            let bytes = to_bytes(&shares, count);
            for (answer, request) in bytes.chunks(ANSWER).zip(requests.chunks(REQUEST)) {
                assert_eq!(
                    (&answer[..REQUEST], &answer[REQUEST..]),
                    (&[0; REQUEST][..], request)
                );
            }
        }
    }
}
