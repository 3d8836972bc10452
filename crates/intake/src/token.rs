//! Tokens by which servers know clients that have no key.
//!
//! A client has one secret, and shows each server another one that follows from it: a server that has seen its own cannot pose as the client
//! at the others. The secret is random, so that nobody finds it by trying; the hash is a pseudorandom function under it (SHA-256 of a
//! secret of 16 bytes or more after a fixed length, in the random oracle model).

use madrigal_core::{Zeroizing, domains};
use madrigal_net::fingerprint::Fingerprint;
use sha2::{Digest as _, Sha256};

/// The token that a client with this secret shows a server.
pub fn token_for(secret: &[u8], server: &Fingerprint) -> Zeroizing<Vec<u8>> {
    let hash = Sha256::new_with_prefix(domains::SERVICE_TOKEN)
        .chain_update(server.as_bytes())
        .chain_update(secret);
    Zeroizing::new(hash.finalize().to_vec())
}

/// The digest by which that server knows the client: `token-sha256` in its file.
pub fn token_digest(secret: &[u8], server: &Fingerprint) -> Fingerprint {
    let token = token_for(secret, server);
    Fingerprint::from_bytes(Sha256::digest(&*token).into())
}
