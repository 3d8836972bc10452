//! The algorithms of TLS, and whose code carries them out.

use madrigal_kernels::{Level, level};
use rustls::SupportedCipherSuite;
use rustls::crypto::{CryptoProvider, aws_lc_rs, ring};

/// The algorithms on offer, the preferred first: all of AWS-LC, but for the cipher suites where ring's are
/// faster at the level in use.
pub(super) fn provider() -> CryptoProvider {
    with(if ring_is_faster(level()) {
        ring_suites()
    } else {
        aws_lc_suites()
    })
}

/// Names the libraries whose code TLS uses at the level in use ([`madrigal_kernels::level`]).
pub fn libraries() -> &'static str {
    if ring_is_faster(level()) {
        "rustls with aws-lc-rs, ciphers by ring"
    } else {
        "rustls with aws-lc-rs"
    }
}

fn with(cipher_suites: Vec<SupportedCipherSuite>) -> CryptoProvider {
    use aws_lc_rs::kx_group;
    CryptoProvider {
        cipher_suites,
        kx_groups: vec![kx_group::X25519MLKEM768, kx_group::X25519],
        ..aws_lc_rs::default_provider()
    }
}

// AES-128 first: kappa = 128 everywhere else too, and the fastest wherever AES instructions are.

fn aws_lc_suites() -> Vec<SupportedCipherSuite> {
    use aws_lc_rs::cipher_suite;
    vec![
        cipher_suite::TLS13_AES_128_GCM_SHA256,
        cipher_suite::TLS13_AES_256_GCM_SHA384,
        cipher_suite::TLS13_CHACHA20_POLY1305_SHA256,
    ]
}

fn ring_suites() -> Vec<SupportedCipherSuite> {
    use ring::cipher_suite;
    vec![
        cipher_suite::TLS13_AES_128_GCM_SHA256,
        cipher_suite::TLS13_AES_256_GCM_SHA384,
        cipher_suite::TLS13_CHACHA20_POLY1305_SHA256,
    ]
}

/// Whether ring is faster: on processors with AES and carry-less products of 32 bytes per instruction, but not of 64. There
/// AWS-LC takes 16 at a time, ring 32: of records of 16 KiB, 4.2 and 7.8 GB/s are encrypted on a Zen 3, 3.8 and 7.5 decrypted.
/// For 64 AWS-LC has code of its own (not on Windows, where it stays at 16). By the level rather than the processor, so that a
/// lowered level takes the library that a processor of that level has; what instructions it uses there is its own affair.
fn ring_is_faster(level: Level) -> bool {
    level == Level::Vaes256
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::sync::Arc;

    use super::*;
    use crate::identity::{Identity, Validity};
    use crate::roster::Roster;
    use crate::tls::TlsParty;

    /// Moves what one side has to say to the other, which checks it.
    fn carry(from: &mut rustls::Connection, to: &mut rustls::Connection) {
        let mut wire = Vec::new();
        while from.wants_write() {
            from.write_tls(&mut wire).unwrap();
        }
        let mut rest = wire.as_slice();
        while !rest.is_empty() {
            to.read_tls(&mut rest).unwrap();
            to.process_new_packets().unwrap();
        }
    }

    /// Address of a suite's code.
    fn place(suite: &SupportedCipherSuite) -> *const rustls::Tls13CipherSuite {
        match suite {
            SupportedCipherSuite::Tls13(suite) => std::ptr::from_ref(*suite),
        }
    }

    #[test]
    fn the_faster_library_is_taken() {
        let by_ring = Level::ALL
            .into_iter()
            .filter(|level| ring_is_faster(*level));
        assert_eq!(by_ring.collect::<Vec<_>>(), [Level::Vaes256]);
        let places =
            |suites: Vec<SupportedCipherSuite>| suites.iter().map(place).collect::<Vec<_>>();
        let [ours, ring, aws_lc] =
            [provider().cipher_suites, ring_suites(), aws_lc_suites()].map(places);
        assert_ne!(ring, aws_lc);
        let said = libraries().contains("by ring");
        assert_eq!(said, ring_is_faster(level()));
        assert_eq!(ours, if said { ring } else { aws_lc });
    }

    /// Parties on different processors use different libraries.
    #[test]
    fn either_library_understands_the_other() {
        let identities = [0, 1].map(|_| Identity::generate(Validity::days(1).unwrap()).unwrap());
        let entry = |i: usize| {
            let address = format!("127.0.0.1:{}", 7000 + i).parse().unwrap();
            (address, identities[i].fingerprint())
        };
        let roster = Arc::new(Roster::local((0..2).map(entry)).unwrap());
        let party = |i: usize, suite: SupportedCipherSuite| {
            let mut party = TlsParty::new(&identities[i], roster.clone()).unwrap();
            party.provider = Arc::new(with(vec![suite]));
            party
        };
        let suites = [aws_lc_suites(), ring_suites()];
        for (at, (dialing, accepting)) in [(0, 0), (0, 1), (1, 0), (1, 1)].into_iter().enumerate() {
            for (dialing, accepting) in suites[dialing].iter().zip(&suites[accepting]) {
                let (dialed, _) = party(0, *dialing).dial(1).unwrap();
                let (accepted, _) = party(1, *accepting).accept("here").unwrap();
                let mut ends = [dialed.into(), accepted.into()];
                let [dialed, accepted]: &mut [rustls::Connection; 2] = &mut ends;
                while dialed.is_handshaking() || accepted.is_handshaking() {
                    carry(dialed, accepted);
                    carry(accepted, dialed);
                }
                let agreed = dialed.negotiated_cipher_suite().unwrap().suite();
                assert_eq!(agreed, accepting.suite());
                let message: Vec<u8> = (0..16_000 + at).map(|i| (i * i) as u8).collect();
                for _ in 0..2 {
                    ends.reverse();
                    let [from, to] = &mut ends;
                    from.writer().write_all(&message).unwrap();
                    carry(from, to);
                    let mut came = vec![0; message.len()];
                    to.reader().read_exact(&mut came).unwrap();
                    assert_eq!(came, message);
                }
            }
        }
    }
}
