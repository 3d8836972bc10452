//! Public numbers of secret keys of AES, so that a guess of a key tests one of them.

/// The numbers of the secret keys of one instance: of a step, of OTs, of garbling.
///
/// A generator counts in the lower half of the counter block and has its key's number in the upper half. Two
/// keys with different numbers encrypt no block alike, so whoever sees streams of many keys has to attack
/// them one by one. Within an instance numbers are given out once each. Where an instance begins is 64 bits of a
/// hash of its name, in which the session's identity is: nobody chooses it, and other sessions begin elsewhere. So of
/// q keys anywhere in the world about `q^2 / 2^65` pairs share a number, and hardly ever three keys (`q^3 / 2^130`):
/// below 2^43 keys that costs one bit of work at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyNumbers(u64);

impl KeyNumbers {
    /// Makes the numbers from a digest of the instance's name, under a domain for this use alone.
    #[must_use]
    pub const fn from_digest(digest: &[u8; 32]) -> Self {
        let [a, b, c, d, e, f, g, h, ..] = *digest;
        Self(u64::from_le_bytes([a, b, c, d, e, f, g, h]))
    }

    /// The number of the instance's key `key`.
    #[must_use]
    pub const fn of(self, key: u64) -> u64 {
        self.0.wrapping_add(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_an_instance_have_numbers_of_their_own() {
        let mut digest = [0xff; 32];
        digest[0] = 0xfe;
        let numbers = KeyNumbers::from_digest(&digest);
        assert_eq!(
            [0, 1, 2, 3].map(|key| numbers.of(key)),
            [u64::MAX - 1, u64::MAX, 0, 1]
        );
        digest[7] = 0;
        assert_ne!(KeyNumbers::from_digest(&digest), numbers);
    }
}
