//! AES-128 (FIPS 197). Values are strings of 16 bytes, the first byte first, each with its lowest bit
//! first.

use crate::builder::{Builder, Goal, Wire};

/// Bytes of a block, of a key, of a round's key.
const BYTES: usize = 16;
const ROUNDS: usize = 10;

impl Builder {
    /// The encryption of `block` under `key`, 128 bits each, with the key's schedule: 200 S-boxes, so
    /// 6,400 ANDs at depth 60 for size, 6,600 at depth 40 for depth.
    ///
    /// # Panics
    /// If one of them has not 128 bits.
    pub fn aes128(&mut self, key: &[Wire], block: &[Wire]) -> Vec<Wire> {
        let keys = self.aes128_keys(key);
        self.aes128_expanded(&keys, block)
    }

    /// The eleven round keys of a key of 128 bits, one after the other: 40 S-boxes.
    ///
    /// # Panics
    /// If it has not 128 bits.
    pub fn aes128_keys(&mut self, key: &[Wire]) -> Vec<Wire> {
        assert_eq!(key.len(), 8 * BYTES, "bits of an AES-128 key");
        let mut keys = key.to_vec();
        let mut constant = 1_u8;
        for _ in 0..ROUNDS {
            let previous = keys[keys.len() - 8 * BYTES..].to_vec();
            let mut word = previous[96..].to_vec();
            word.rotate_left(8);
            word = self.sub_bytes(&word);
            let round = self.number(constant.into(), 32);
            word = self.xor_all(&word, &round);
            for old in previous.chunks(32) {
                word = self.xor_all(&word, old);
                keys.extend(&word);
            }
            constant = constant << 1 ^ if constant & 0x80 != 0 { 0x1b } else { 0 };
        }
        keys
    }

    /// The encryption of `block` under keys that [`Builder::aes128_keys`] made: 160 S-boxes.
    ///
    /// # Panics
    /// If the block has not 128 bits, or the keys have not eleven times as many.
    pub fn aes128_expanded(&mut self, keys: &[Wire], block: &[Wire]) -> Vec<Wire> {
        assert_eq!(block.len(), 8 * BYTES, "bits of an AES block");
        assert_eq!(
            keys.len(),
            (ROUNDS + 1) * 8 * BYTES,
            "bits of its round keys"
        );
        let mut keys = keys.chunks(8 * BYTES);
        let mut state = self.xor_all(block, keys.next().unwrap_or_default());
        for (round, key) in (1..).zip(keys) {
            state = self.aes128_round(&state, key, round == ROUNDS);
        }
        state
    }

    /// One round: SubBytes, ShiftRows, MixColumns but in the `last` one, and the round's key added. 16 S-boxes.
    ///
    /// # Panics
    /// If the state or the key has not 128 bits.
    pub fn aes128_round(&mut self, state: &[Wire], key: &[Wire], last: bool) -> Vec<Wire> {
        assert_eq!(state.len(), 8 * BYTES, "bits of an AES state");
        assert_eq!(key.len(), 8 * BYTES, "bits of a round's key");
        let bytes = self.sub_bytes(state);
        // ShiftRows: row r of column c comes from column c + r.
        let from = |at: usize| (at + 4 * (at % 4)) % BYTES;
        let mut state: Vec<Wire> = (0..BYTES)
            .flat_map(|at| bytes[8 * from(at)..][..8].to_vec())
            .collect();
        if !last {
            let columns = state.chunks(32).flat_map(|column| self.mix_column(column));
            state = columns.collect();
        }
        self.xor_all(&state, key)
    }

    /// Each byte is 2 a + 3 b + c + d of the column from itself on, that is 2 (a + b) + b + c + d.
    fn mix_column(&mut self, column: &[Wire]) -> Vec<Wire> {
        let byte = |at: usize| &column[8 * (at % 4)..][..8];
        let mut mixed = Vec::with_capacity(32);
        for at in 0..4 {
            let sum = self.xor_all(byte(at), byte(at + 1));
            let mut doubled = sum.clone();
            doubled.rotate_right(1);
            for bit in [1, 3, 4] {
                doubled[bit] = self.xor(doubled[bit], sum[7]);
            }
            let rest = self.xor_all(byte(at + 2), byte(at + 3));
            let rest = self.xor_all(&rest, byte(at + 1));
            mixed.extend(self.xor_all(&doubled, &rest));
        }
        mixed
    }

    fn sub_bytes(&mut self, bytes: &[Wire]) -> Vec<Wire> {
        bytes.chunks(8).flat_map(|byte| self.s_box(byte)).collect()
    }

    /// The S-box after Boyar and Peralta, "A depth-16 circuit for the AES S-box" (ePrint 2011/332):
    /// a linear layer, the inversion in GF(2^4) of two products, 18 products with what comes out, and
    /// another linear layer. 32 ANDs at depth 6, or 33 at depth 4. The names are theirs; bit 0 in their
    /// numbering is the highest.
    fn s_box(&mut self, byte: &[Wire]) -> Vec<Wire> {
        let x = |at: usize| byte[7 - at];
        let mut sum = |wires: &[Wire]| {
            let zero = self.constant(false);
            wires.iter().fold(zero, |sum, &wire| self.xor(sum, wire))
        };
        let y14 = sum(&[x(3), x(5)]);
        let y13 = sum(&[x(0), x(6)]);
        let y9 = sum(&[x(0), x(3)]);
        let y8 = sum(&[x(0), x(5)]);
        let t0 = sum(&[x(1), x(2)]);
        let y1 = sum(&[t0, x(7)]);
        let y4 = sum(&[y1, x(3)]);
        let y12 = sum(&[y13, y14]);
        let y2 = sum(&[y1, x(0)]);
        let y5 = sum(&[y1, x(6)]);
        let y3 = sum(&[y5, y8]);
        let t1 = sum(&[x(4), y12]);
        let y15 = sum(&[t1, x(5)]);
        let y20 = sum(&[t1, x(1)]);
        let y6 = sum(&[y15, x(7)]);
        let y10 = sum(&[y15, t0]);
        let y11 = sum(&[y20, y9]);
        let y7 = sum(&[x(7), y11]);
        let y17 = sum(&[y10, y11]);
        let y19 = sum(&[y10, y8]);
        let y16 = sum(&[t0, y11]);
        let y21 = sum(&[y13, y16]);
        let y18 = sum(&[x(0), y16]);

        let t2 = self.and(y12, y15);
        let t3 = self.and(y3, y6);
        let t5 = self.and(y4, x(7));
        let t7 = self.and(y13, y16);
        let t8 = self.and(y5, y1);
        let t10 = self.and(y2, y7);
        let t12 = self.and(y9, y11);
        let t13 = self.and(y14, y17);
        let t15 = self.and(y8, y10);
        let mut sum = |wires: &[Wire]| {
            let zero = self.constant(false);
            wires.iter().fold(zero, |sum, &wire| self.xor(sum, wire))
        };
        let t14 = sum(&[t13, t12]);
        let t16 = sum(&[t15, t12]);
        let t21 = sum(&[t3, t2, t14, y20]);
        let t22 = sum(&[t5, t2, t16, y19]);
        let t23 = sum(&[t8, t7, t14, y21]);
        let t24 = sum(&[t10, t7, t16, y18]);
        let [t29, t33, t37, t40] = self.invert([t21, t22, t23, t24]);

        let mut sum = |a: Wire, b: Wire| self.xor(a, b);
        let t41 = sum(t40, t37);
        let t42 = sum(t29, t33);
        let t43 = sum(t29, t40);
        let t44 = sum(t33, t37);
        let t45 = sum(t42, t41);
        let mut and = |a: Wire, b: Wire| self.and(a, b);
        let z0 = and(t44, y15);
        let z1 = and(t37, y6);
        let z2 = and(t33, x(7));
        let z3 = and(t43, y16);
        let z4 = and(t40, y1);
        let z5 = and(t29, y7);
        let z6 = and(t42, y11);
        let z7 = and(t45, y17);
        let z8 = and(t41, y10);
        let z9 = and(t44, y12);
        let z10 = and(t37, y3);
        let z11 = and(t33, y4);
        let z12 = and(t43, y13);
        let z13 = and(t40, y5);
        let z14 = and(t29, y2);
        let z15 = and(t42, y9);
        let z16 = and(t45, y14);
        let z17 = and(t41, y8);

        let mut sum = |a: Wire, b: Wire| self.xor(a, b);
        let t46 = sum(z15, z16);
        let t47 = sum(z10, z11);
        let t48 = sum(z5, z13);
        let t49 = sum(z9, z10);
        let t50 = sum(z2, z12);
        let t51 = sum(z2, z5);
        let t52 = sum(z7, z8);
        let t53 = sum(z0, z3);
        let t54 = sum(z6, z7);
        let t55 = sum(z16, z17);
        let t56 = sum(z12, t48);
        let t57 = sum(t50, t53);
        let t58 = sum(z4, t46);
        let t59 = sum(z3, t54);
        let t60 = sum(t46, t57);
        let t61 = sum(z14, t57);
        let t62 = sum(t52, t58);
        let t63 = sum(t49, t58);
        let t64 = sum(z4, t59);
        let t65 = sum(t61, t62);
        let t66 = sum(z1, t63);
        let s0 = sum(t59, t63);
        let t67 = sum(t64, t65);
        let s3 = sum(t53, t66);
        let s4 = sum(t51, t66);
        let s5 = sum(t47, t65);
        let [s1, s2, s6, s7] =
            [(t64, s3), (t55, t67), (t56, t62), (t48, t60)].map(|(a, b)| sum(a, b));
        let [s1, s2, s6, s7] = [s1, s2, s6, s7].map(|bit| self.not(bit));
        vec![s7, s6, s5, s4, s3, s2, s1, s0]
    }

    /// The inversion in the middle: t29, t33, t37 and t40 of t21 to t24. For size as published, five
    /// ANDs at depth 4. Multiplied out, `t37 = t23 (t22 t24 ^ t21 ^ t22) ^ t23 ^ t24`, and t40 likewise
    /// with t21 for t23 and t22 for t24: six ANDs at depth 2.
    fn invert(&mut self, [t21, t22, t23, t24]: [Wire; 4]) -> [Wire; 4] {
        let t26 = self.and(t21, t23);
        let t25 = self.xor(t21, t22);
        let t27 = self.xor(t24, t26);
        let t30 = self.xor(t23, t24);
        let t31 = self.xor(t22, t26);
        let t28 = self.and(t25, t27);
        let t29 = self.xor(t28, t22);
        let t32 = self.and(t31, t30);
        let t33 = self.xor(t32, t24);
        let [t37, t40] = match self.goal() {
            Goal::Size => {
                let t34 = self.xor(t23, t33);
                let t35 = self.xor(t27, t33);
                let t36 = self.and(t24, t35);
                let t38 = self.xor(t27, t36);
                let t39 = self.and(t29, t38);
                [self.xor(t36, t34), self.xor(t25, t39)]
            }
            Goal::Depth => {
                let both = self.and(t22, t24);
                let halves = [(t23, t25, t30), (t21, t30, t25)];
                halves.map(|(factor, sum, rest)| {
                    let sum = self.xor(both, sum);
                    let product = self.and(factor, sum);
                    self.xor(product, rest)
                })
            }
        };
        [t29, t33, t37, t40]
    }
}
