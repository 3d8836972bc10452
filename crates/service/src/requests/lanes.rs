//! Shares of requests as clients bring them, side by side, and as circuits take them, bit by bit.

use madrigal_engine::Shares;
use madrigal_kernels::transpose_bits;
use madrigal_psi_programs::SharedAes;

/// Bytes of a part of a block.
const PART: usize = 16;
const BITS: usize = 8 * PART;
/// Parts that a server has of each block.
const PARTS: usize = 2;
/// Bytes of a request at a server: its parts.
pub(crate) const EACH: usize = PARTS * PART;

/// Shares of this many lanes; those beyond the requests are zero.
pub(crate) fn to_shares(requests: &[u8], lanes: usize) -> Shares {
    let mut shares = Shares::zeros(SharedAes::sort(lanes));
    let row = row_bytes(&shares);
    let count = requests.len() / EACH;
    debug_assert!(count <= lanes);
    if count > 0 {
        let planes = shares.plane_bytes_mut();
        for part in 0..PARTS {
            let (from, to) = (&requests[part * PART..], &mut planes[part * row..]);
            transpose_bits(from, count, BITS, EACH, to, PARTS * row);
        }
    }
    shares
}

/// The first lanes of shares, side by side.
pub(crate) fn to_bytes(shares: &Shares, count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count * EACH];
    let row = row_bytes(shares);
    if count > 0 {
        let planes = shares.plane_bytes();
        for part in 0..PARTS {
            let (from, to) = (&planes[part * row..], &mut bytes[part * PART..]);
            transpose_bits(from, BITS, count, PARTS * row, to, EACH);
        }
    }
    bytes
}

/// Bytes of a row of one part's bits.
fn row_bytes(shares: &Shares) -> usize {
    shares.plane_bytes().len() / (BITS * PARTS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_come_back() {
        for (count, lanes) in [(1, 64), (63, 64), (64, 64), (65, 256), (256, 256)] {
            let requests: Vec<u8> = (0..count * EACH)
                .map(|at| (at * 7 + at / 256) as u8)
                .collect();
            let shares = to_shares(&requests, lanes);
            assert_eq!(to_bytes(&shares, count), requests);
            let beyond = to_bytes(&shares, lanes);
            assert!(beyond[count * EACH..].iter().all(|&byte| byte == 0));
            // Bit 9 of the second part of the last request.
            let bit = requests[(count - 1) * EACH + PART + 1] >> 1 & 1;
            let plane = shares.plane(9, 1);
            assert_eq!(plane[(count - 1) / 8] >> ((count - 1) % 8) & 1, bit);
        }
    }
}
