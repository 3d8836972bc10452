//! Known answers, at every level of this machine: FIPS 197 and NIST SP 800-38A.

use madrigal_kernels::{Block, Kernels, Level};

fn levels() -> impl Iterator<Item = Kernels> {
    Level::available().filter_map(Kernels::at)
}

fn block(hex: &str) -> Block {
    let byte = |i: usize| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).expect("hexadecimal");
    Block::from_bytes(core::array::from_fn(byte))
}

#[test]
fn fips_197() {
    for kernels in levels() {
        // Appendix B.
        let aes = kernels.aes128(block("2b7e151628aed2a6abf7158809cf4f3c"));
        let out = aes.encrypt(block("3243f6a8885a308d313198a2e0370734"));
        assert!(
            out == block("3925841d02dc09fbdc118597196a0b32"),
            "{}",
            kernels.level()
        );
        // Appendix C.1.
        let aes = kernels.aes128(block("000102030405060708090a0b0c0d0e0f"));
        let out = aes.encrypt(block("00112233445566778899aabbccddeeff"));
        assert!(
            out == block("69c4e0d86a7b0430d8cdb78070b4c55a"),
            "{}",
            kernels.level()
        );
    }
}

/// SP 800-38A, F.1.1 (ECB-AES128.Encrypt).
#[test]
fn sp800_38a_ecb() {
    for kernels in levels() {
        let aes = kernels.aes128(block("2b7e151628aed2a6abf7158809cf4f3c"));
        let mut blocks = [
            "6bc1bee22e409f96e93d7e117393172a",
            "ae2d8a571e03ac9c9eb76fac45af8e51",
            "30c81c46a35ce411e5fbc1191a0a52ef",
            "f69f2445df4f9b17ad2b417be66c3710",
        ]
        .map(block);
        aes.encrypt_blocks(&mut blocks);
        let expected = [
            "3ad77bb40d7a3660a89ecaf32466ef97",
            "f5d3d58503b9699de785895a96fdbaaf",
            "43b1cd7f598ece23881b00e3ed030688",
            "7b0c785e27e8ad3f8223207104725dd4",
        ]
        .map(block);
        assert!(blocks == expected, "{}", kernels.level());
    }
}

/// The counter blocks of SP 800-38A, F.5.1 (CTR-AES128.Encrypt) are big-endian, ours are not, so the
/// vectors test the cipher on those blocks.
#[test]
fn sp800_38a_ctr() {
    for kernels in levels() {
        let aes = kernels.aes128(block("2b7e151628aed2a6abf7158809cf4f3c"));
        let mut stream = [
            "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff",
            "f0f1f2f3f4f5f6f7f8f9fafbfcfdff00",
            "f0f1f2f3f4f5f6f7f8f9fafbfcfdff01",
            "f0f1f2f3f4f5f6f7f8f9fafbfcfdff02",
        ]
        .map(block);
        aes.encrypt_blocks(&mut stream);
        let expected = [
            "ec8cdf7398607cb0f2d21675ea9ea1e4",
            "362b7c3c6773516318a077d7fc5073ae",
            "6a2cc3787889374fbeb4c81b17ba6c44",
            "e89c399ff0f198c6d40a31db156cabfe",
        ]
        .map(block);
        assert!(stream == expected, "{}", kernels.level());
    }
}

/// A generator's stream against another implementation of AES (`openssl enc -aes-128-ecb`) on the counter blocks
/// written out: the position, then the key's number, both little-endian.
#[test]
fn numbered_streams() {
    let known = [
        (0, "57a1680c45e1b97a46100a4a726990e1"),
        (1, "29353eaf997d872c26e96b740c7a82a8"),
        (2, "c3790fd940810c2a5a4c5ac358882599"),
        (255, "2a6deb9b670cd0b142eb53c8e14632d1"),
        (256, "00a5b4de192a19d953a42933090705c9"),
        (u64::from(u32::MAX), "8b377f19124b3386b68322dc33883f02"),
        (1 << 32, "97052ffea8e818e3a4e3ea7a8fcbd90e"),
        (u64::MAX - 1, "cd872d2410e929f57137be58cd277f4a"),
    ];
    for kernels in levels() {
        let key = block("2b7e151628aed2a6abf7158809cf4f3c");
        let mut prg = kernels.numbered_prg(key, 0x0123_4567_89ab_cdef);
        for (position, expected) in known {
            prg.seek(position);
            assert!(
                prg.next_block() == block(expected),
                "{}, {position}",
                kernels.level()
            );
            // Within a batch of a vector, too, where there is a batch behind it.
            let first = position.saturating_sub(33);
            let mut batch = vec![Block::ZERO; (position - first + 1) as usize];
            prg.seek(first);
            prg.fill_blocks(&mut batch);
            assert!(
                batch.last() == Some(&block(expected)),
                "{}, {position}",
                kernels.level()
            );
        }
    }
}

/// The stream and the hash are what their definitions say, in terms of the cipher.
#[test]
fn definitions() {
    for kernels in levels() {
        let seed = Block::new(3, 5);
        let aes = kernels.aes128(seed);
        let mut prg = kernels.prg(seed);
        for i in 0..3_u128 {
            assert!(prg.next_block() == aes.encrypt(i.into()));
        }
        prg.seek(1 << 40);
        assert!(prg.next_block() == aes.encrypt((1_u128 << 40).into()));

        // Row 5000 has the fifth key, counted from zero: 5000 / 1024.
        let (x, pi) = (Block::new(8, 9), kernels.aes128(seed ^ Block::new(4, 0)));
        assert!(kernels.row_hash(seed).hash(5000, x) == pi.encrypt(x) ^ x);
    }
}
