//! Blocks of 16 bytes for requests of kinds such as `aes-128`: cut up for three servers, and answers put together.

use bytes::Bytes;
use madrigal_clients::private_generator;
use madrigal_core::Zeroizing;

use crate::error::{BlockError, ClientError};
use crate::requests::RequestSender;

/// Bytes of a block.
pub(crate) const BLOCK: usize = 16;
/// Servers that blocks are cut up for: those of replicated sharing.
pub(crate) const SERVERS: usize = 3;

/// Cuts blocks up: a block is the XOR of three random parts, of which each server gets one.
///
/// # Errors
/// [`ClientError`]: the system has no random bytes.
pub fn deal_blocks(blocks: &[[u8; BLOCK]]) -> Result<[Bytes; SERVERS], ClientError> {
    let mut random = private_generator()?;
    let mut parts = Zeroizing::new(vec![0; 2 * BLOCK * blocks.len()]);
    random.fill(&mut parts);
    let mut shares = [(); SERVERS].map(|()| Vec::with_capacity(BLOCK * blocks.len()));
    for (block, two) in blocks.iter().zip(parts.chunks_exact(2 * BLOCK)) {
        let (first, second) = two.split_at(BLOCK);
        let mut third = Zeroizing::new(*block);
        for (third, (first, second)) in third.iter_mut().zip(first.iter().zip(second)) {
            *third ^= first ^ second;
        }
        for (share, part) in shares.iter_mut().zip([first, second, &third[..]]) {
            share.extend_from_slice(part);
        }
    }
    Ok(shares.map(Bytes::from))
}

/// Puts a block together of all servers' shares, in their order, and compares both copies of each part.
///
/// # Errors
/// [`BlockError`].
pub fn combine_block(shares: &[Bytes]) -> Result<[u8; BLOCK], BlockError> {
    let sizes = shares.iter().all(|share| share.len() == 2 * BLOCK);
    if shares.len() != SERVERS || !sizes {
        return Err(BlockError::Size);
    }
    let mut block = [0; BLOCK];
    for (server, share) in shares.iter().enumerate() {
        let next = (server + 1) % SERVERS;
        if share[BLOCK..] != shares[next][..BLOCK] {
            let between = [server, next];
            return Err(BlockError::Differ { between });
        }
        block
            .iter_mut()
            .zip(&share[..BLOCK])
            .for_each(|(sum, part)| *sum ^= part);
    }
    Ok(block)
}

impl RequestSender {
    /// Cuts blocks up and sends them, a request each. Waits until there is room, and gives their numbers.
    ///
    /// # Errors
    /// [`ClientError`] as [`send`](Self::send).
    pub async fn send_blocks(
        &mut self,
        blocks: &[[u8; BLOCK]],
    ) -> Result<std::ops::Range<u64>, ClientError> {
        self.send(&deal_blocks(blocks)?).await
    }
}
