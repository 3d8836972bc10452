//! Products of two bits in beta as elements in alpha: what setup makes of their masks.
//!
//! With x = X ^ d and y = Y ^ e, of public parts X, Y and masks d, e, the product x y is `d e` in one of four ways of
//! being flipped: `x y = d y` or, where X is set, `y - d y`; `d y = d e` or, where Y is set, `d - d e`; and y itself
//! is e or 1 - e. So shares mod 2^l of d, e and d e are all that setup has to make: then x y is a linear map of them
//! that both know, and opened under a fresh mask in one round (MOTION2NX A.2, which says that its setup is better
//! than that of ABY2.0 and leaves open how; this is ours).
//!
//! # Three products of bits
//! Party i has d_i and e_i, with d = d_0 ^ d_1 and e = e_0 ^ e_1. As integers d = d_0 + d_1 - 2 d_0 d_1, and as
//! much of e. A product of two bits is half of what they exceed their XOR by, `d e = (d + e - (d ^ e)) / 2`; and
//! d ^ e is once more a bit that the two share, by f_i = d_i ^ e_i. In this difference each party's own terms
//! `d_i + e_i - f_i` are `2 d_i e_i`, so that all of it can be halved:
//!
//! ```text
//! u = d_0 d_1    v = e_0 e_1    w = f_0 f_1
//! d = d_0 + d_1 - 2 u    e = e_0 + e_1 - 2 v    d e = d_0 e_0 + d_1 e_1 - u - v + w
//! ```
//!
//! Each of u, v and w is the product of a bit of one party and a bit of the other: an OT. Two masks that become
//! elements one by one, and a triple for their product, would take 2 l + 2.
//!
//! # An OT
//! A correlated OT gives its sender q and its receiver `q ^ c D`, for a random bit c of the receiver's and the
//! sender's offset D. With `h_0 = H(q)` and `h_1 = H(q ^ D)`, taken as elements, the sender of a bit s tells
//! `h_0 - h_1 + s`, and the receiver of a bit r tells `t = c ^ r`, both at once. The receiver, who knows h_c, has
//! `h_c + c (h_0 - h_1 + s) = h_0 + s c`, and the sender `-h_0`: shares of s c. From them come shares of s r, which
//! is s c, or where t is set, s - s c. For half of the pairs the one party sends and for half the other.
//!
//! # Security
//! Against one semi-honest party. `h_0 - h_1 + s` is masked by the one of h_0 and h_1 that the receiver does not
//! know: a row's hash at a distance D from what it knows, of which D has 127 random bits: [`RowHash`] is
//! correlation robust for rows that differ, as those of the extension do but for a chance. No row is hashed twice.
//! `t` is masked by c, of which the sender knows nothing. Both are there before any input is. Nothing is
//! branched on and no address depends on a secret.

use madrigal_core::{Party, Ring, Zeroizing, bits, domains};
use madrigal_kernels::{self as kernels, Block, ROWS_PER_KEY, RowHash, marks, rings};
use madrigal_net::Result;
use sha2::{Digest, Sha256};

use super::{Aby2, PARTIES};

/// Elements that are wiped.
type Elements<T> = Zeroizing<Vec<T>>;

/// OTs for each pair.
const PRODUCTS: usize = 3;

/// Shares of the masks of pairs of bits, and of their products.
pub struct BitPairs<T: Ring> {
    x: Elements<T>,
    y: Elements<T>,
    products: Elements<T>,
}

impl<T: Ring> std::fmt::Debug for BitPairs<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "BitPairs({})", self.x.len())
    }
}

/// The pairs for which a party is the sender: the first half, and the other one.
fn sent(sender: Party, pairs: usize) -> core::ops::Range<usize> {
    let half = pairs.div_ceil(2);
    if sender.index() == 0 {
        0..half
    } else {
        half..pairs
    }
}

/// Correlated OTs from `sender` that `pairs` pairs take.
pub fn bit_pairs_ots(sender: Party, pairs: usize) -> usize {
    PRODUCTS * sent(sender, pairs).len()
}

/// Bytes of the one message of `me` to the other.
pub fn bit_pairs_bytes<T: Ring>(me: Party, pairs: usize) -> usize {
    let received = sent(Party::new(1 - me.index()), pairs).len();
    bit_pairs_ots(me, pairs) * T::BYTES + PRODUCTS * bits::bytes_for(received)
}

/// AES blocks that `me` computes for them, masks not counted.
pub fn bit_pairs_aes(me: Party, pairs: usize) -> u64 {
    let received = bit_pairs_ots(Party::new(1 - me.index()), pairs);
    (2 * bit_pairs_ots(me, pairs) + received) as u64
}

impl Aby2 {
    /// Setup of products of bits as elements, from the packed masks of `pairs` pairs: shares of the masks and of
    /// their products. `ours` are rows of [`bit_pairs_ots`] correlated OTs that we send, with our `offset`, and
    /// `theirs` those that we receive, with our choices as their lowest bits. One message of
    /// [`bit_pairs_bytes`] each way.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network, and a peer's string with bits past its end.
    ///
    /// # Panics
    /// If there are other numbers of rows: a plan was wrong.
    pub async fn bit_pairs<T: Ring>(
        &mut self,
        (offset, ours, theirs): (&Block, &[Block], &[Block]),
        masks: [&[u8]; 2],
        pairs: usize,
    ) -> Result<BitPairs<T>> {
        let (me, peer) = (self.me(), Party::new(1 - self.me().index()));
        assert_eq!(ours.len(), bit_pairs_ots(me, pairs), "OTs that we send");
        assert_eq!(
            theirs.len(),
            bit_pairs_ots(peer, pairs),
            "OTs that we receive"
        );
        let (own, others) = (sent(me, pairs), sent(peer, pairs));
        let string = bits::bytes_for(others.len());
        let flips_at = ours.len() * T::BYTES;
        let mut message = Zeroizing::new(vec![0; bit_pairs_bytes::<T>(me, pairs)]);
        let (offers, flips) = message.split_at_mut(flips_at);
        let mut shares = Zeroizing::new(vec![T::ZERO; PRODUCTS * pairs]);
        let (of_ours, of_theirs) = shares.split_at_mut(ours.len());
        self.offer(offset, ours, &strings(masks, &own), offers, of_ours);
        let choices = strings(masks, &others);
        self.choose(theirs, &choices, flips, of_theirs);
        marks::public(&mut message[..]);

        let expected = bit_pairs_bytes::<T>(peer, pairs);
        let answer = self.exchange_for(&message, expected).await?;
        let (their_offers, their_flips) = answer.split_at(theirs.len() * T::BYTES);
        let their_string = bits::bytes_for(own.len());
        for flips in their_flips.chunks(their_string.max(1)) {
            self.ends(flips, own.len())?;
        }
        correct(theirs, their_offers, of_theirs);
        // The term s c becomes s r: the sender knows s, the receiver nothing of it.
        let bits_sent = strings(masks, &own);
        let mut whole = Zeroizing::new(vec![T::ZERO; own.len().max(others.len())]);
        for place in 0..PRODUCTS {
            let whole = &mut whole[..own.len()];
            rings::unpack_bits(&bits_sent[place], whole);
            let flips = &their_flips[place * their_string..][..their_string];
            rings::flip_from(&mut of_ours[place * own.len()..][..own.len()], whole, flips);
        }
        whole.fill(T::ZERO);
        let flips = &message[flips_at..];
        for place in 0..PRODUCTS {
            let whole = &whole[..others.len()];
            let products = &mut of_theirs[place * others.len()..][..others.len()];
            rings::flip_from(products, whole, &flips[place * string..][..string]);
        }
        let product = |place: usize| {
            let [ours, theirs] = [(&*of_ours, own.len()), (&*of_theirs, others.len())]
                .map(|(all, len)| &all[place * len..][..len]);
            let (first, second) = if me.index() == 0 {
                (ours, theirs)
            } else {
                (theirs, ours)
            };
            Zeroizing::new([first, second].concat())
        };
        Ok(assembled(
            masks,
            pairs,
            [product(0), product(1), product(2)],
        ))
    }

    /// The public parts of the products: `x` and `y` are those of the bits, packed, `fresh` are the results' masks.
    /// n elements each way.
    pub async fn mul_bits<T: Ring>(
        &mut self,
        [x, y]: [&[u8]; 2],
        pairs: &BitPairs<T>,
        fresh: &[T],
        z: &mut [T],
    ) -> Result<()> {
        assert_eq!(fresh.len(), pairs.x.len(), "a mask for each pair");
        z.copy_from_slice(&pairs.products);
        rings::flip_from(z, &pairs.x, y);
        let one = T::from_u128(self.leads().into());
        let mut factor = pairs.y.clone();
        rings::flip_from(&mut factor, &vec![one; z.len()], y);
        rings::flip_from(z, &factor, x);
        rings::sub_into(z, fresh);
        self.add_up(z).await
    }

    /// The hash of rows from `sender`, and the number of the first of the next `count` ones.
    fn pair_hash(&mut self, sender: Party, count: usize) -> (RowHash, u64) {
        let digest: [u8; 32] = Sha256::new()
            .chain_update(domains::BIT_PAIRS)
            .chain_update(self.instance)
            .chain_update((sender.index() as u64).to_le_bytes())
            .finalize()
            .into();
        let next = &mut self.hashed[sender.index() % PARTIES];
        let first = *next;
        *next += count as u64;
        let key = Block::from_bytes(*digest.first_chunk().unwrap_or(&[0; 16]));
        (RowHash::new(key), first)
    }

    /// Sends: `offers` become h_0 - h_1 + s, `shares` become -h_0.
    fn offer<T: Ring>(
        &mut self,
        offset: &Block,
        rows: &[Block],
        bits: &[Zeroizing<Vec<u8>>; PRODUCTS],
        offers: &mut [u8],
        shares: &mut [T],
    ) {
        let (hash, first) = self.pair_hash(self.me(), rows.len());
        let each = rows.len() / PRODUCTS;
        for (bits, shares) in bits.iter().zip(shares.chunks_mut(each.max(1))) {
            rings::unpack_bits(bits, shares);
        }
        let room = || Zeroizing::new(vec![Block::ZERO; rows.len().min(AT_ONCE)]);
        let (mut k0, mut k1) = (room(), room());
        self.context.metered_now(|| {
            let parts = rows.chunks(AT_ONCE).zip(shares.chunks_mut(AT_ONCE));
            let parts = parts.zip(offers.chunks_mut(AT_ONCE * T::BYTES));
            for (at, ((rows, shares), offers)) in (first..).step_by(AT_ONCE).zip(parts) {
                let (k0, k1) = (&mut k0[..rows.len()], &mut k1[..rows.len()]);
                hash.hash_pairs(at, *offset, rows, k0, k1);
                let hashes = k0.iter().zip(k1.iter());
                let places = shares.iter_mut().zip(offers.chunks_exact_mut(T::BYTES));
                for ((h0, h1), (share, offer)) in hashes.zip(places) {
                    let (h0, h1) = (element::<T>(*h0), element::<T>(*h1));
                    let told = [h0.sub(h1).add(*share)];
                    offer.copy_from_slice(rings::as_bytes(&told));
                    *share = T::ZERO.sub(h0);
                }
            }
        });
    }

    /// Receives: `flips` become c ^ r, `shares` become h_c.
    fn choose<T: Ring>(
        &mut self,
        rows: &[Block],
        bits: &[Zeroizing<Vec<u8>>; PRODUCTS],
        flips: &mut [u8],
        shares: &mut [T],
    ) {
        let sender = Party::new(1 - self.me().index());
        let (hash, first) = self.pair_hash(sender, rows.len());
        let each = (rows.len() / PRODUCTS).max(1);
        let strings = flips.chunks_mut(bits::bytes_for(each));
        for ((bits, flips), rows) in bits.iter().zip(strings).zip(rows.chunks(each)) {
            for (flips, rows) in flips.iter_mut().zip(rows.chunks(8)) {
                let choices = rows.iter().enumerate();
                *flips = choices.fold(0, |byte, (i, row)| byte | choice(row) << i);
            }
            kernels::xor_into(flips, bits);
        }
        let mut hashes = Zeroizing::new(vec![Block::ZERO; rows.len().min(AT_ONCE)]);
        self.context.metered_now(|| {
            let parts = rows.chunks(AT_ONCE).zip(shares.chunks_mut(AT_ONCE));
            for (at, (rows, shares)) in (first..).step_by(AT_ONCE).zip(parts) {
                let hashes = &mut hashes[..rows.len()];
                hash.hash_blocks(at, rows, hashes);
                let places = shares.iter_mut().zip(hashes.iter());
                places.for_each(|(share, hash)| *share = element(*hash));
            }
        });
    }
}

/// Rows that are hashed at a time.
const AT_ONCE: usize = ROWS_PER_KEY as usize;

/// Element that a hash stands for.
#[inline(always)]
fn element<T: Ring>(hash: Block) -> T {
    T::from_u128(hash.into())
}

/// A receiver's choice in a row.
#[inline(always)]
fn choice(row: &Block) -> u8 {
    (u128::from(*row) & 1) as u8
}

/// Our bits d, e and d ^ e of some of the pairs, packed.
fn strings(masks: [&[u8]; 2], pairs: &core::ops::Range<usize>) -> [Zeroizing<Vec<u8>>; PRODUCTS] {
    let of = |mask: &[u8]| {
        let mut row = Zeroizing::new(vec![0; bits::bytes_for(pairs.len())]);
        bits::take(mask, pairs.start, &mut row, pairs.len());
        bits::clear_tail(&mut row, pairs.len());
        row
    };
    let [d, e] = masks.map(of);
    let mut both = d.clone();
    kernels::xor_into(&mut both, &e);
    [d, e, both]
}

/// The sender's offers count where our choice is 1.
fn correct<T: Ring>(rows: &[Block], offers: &[u8], shares: &mut [T]) {
    let mut offer = [T::ZERO];
    for ((row, told), share) in rows.iter().zip(offers.chunks_exact(T::BYTES)).zip(shares) {
        rings::as_bytes_mut(&mut offer).copy_from_slice(told);
        *share = share.add(offer[0].and(T::from_u128(choice(row).into()).spread(0)));
    }
}

/// Makes from shares of u, v and w those of the masks and of their products.
fn assembled<T: Ring>(
    masks: [&[u8]; 2],
    pairs: usize,
    [u, v, w]: [Elements<T>; PRODUCTS],
) -> BitPairs<T> {
    let bytes = bits::bytes_for(pairs);
    let of = |mask: &[u8], product: &[T]| {
        let mut own = Zeroizing::new(vec![T::ZERO; pairs]);
        rings::unpack_bits(&mask[..bytes], &mut own);
        rings::sub_into(&mut own, product);
        rings::sub_into(&mut own, product);
        own
    };
    let [d, e] = masks;
    let mut local = Zeroizing::new(d[..bytes].to_vec());
    local.iter_mut().zip(e).for_each(|(d, e)| *d &= e);
    let mut products = w;
    let mut own = Zeroizing::new(vec![T::ZERO; pairs]);
    rings::unpack_bits(&local, &mut own);
    rings::add_into(&mut products, &own);
    rings::sub_into(&mut products, &u);
    rings::sub_into(&mut products, &v);
    BitPairs {
        x: of(d, &u),
        y: of(e, &v),
        products,
    }
}
