//! Correlations over Z_2^l: triples, square pairs, shared bits.

use madrigal_core::{Party, PhaseCost, Ring, bits};
use madrigal_kernels::Prg;
use madrigal_net::{Channel, Context, Result, exchange};
use zeroize::Zeroizing;

use crate::columns::container;
use crate::gilboa::Word;
use crate::links::Links;
use crate::packing::BitReader;
use crate::products::{Pattern, ProductLayout, Products, pack};

container! {
    /// One party's shares of multiplication triples over Z_2^l: a and b random, c = a b.
    RingTriples,
    /// Shares of some triples.
    TripleShares {
        /// Shares of a.
        a,
        /// Shares of b.
        b,
        /// Shares of c = a b.
        c
    },
    3
}

container! {
    /// One party's shares of square pairs over Z_2^l: a random, c = a^2.
    SquarePairs,
    /// Shares of some square pairs.
    SquareShares {
        /// Shares of a.
        a,
        /// Shares of c = a^2.
        c
    },
    2
}

container! {
    /// One party's shares of random bits, additive mod 2^l. The lowest bit of each share is the
    /// party's share of the same bit in an XOR sharing.
    SharedBits,
    /// Shares of some random bits.
    BitShares {
        /// Additive shares of the bits.
        b
    },
    1
}

impl<T> BitShares<'_, T> {
    /// The XOR shares of the same bits, packed; those past the end are zero.
    pub fn xor_shares(&self) -> Zeroizing<Vec<u8>>
    where
        T: Ring,
    {
        let mut packed = Zeroizing::new(vec![0; self.b.len().div_ceil(8)]);
        for (byte, shares) in packed.iter_mut().zip(self.b.chunks(8)) {
            for (i, share) in shares.iter().enumerate() {
                *byte |= share.bit(0) << i;
            }
        }
        packed
    }
}

/// Triples by products mod 2^l in both directions of each pair of parties (MOTION 5.2.1):
/// c = sum_i a_i b_i + sum_{i != j} a_i b_j.
pub(crate) async fn triples<T: Ring>(
    links: &mut Links,
    context: &Context,
    count: usize,
    made: &dyn Fn(usize),
) -> Result<RingTriples<T>> {
    let mut prg = context.private_prg();
    let (a, b) = (random::<T>(&mut prg, count), random::<T>(&mut prg, count));
    let local = a.iter().zip(b.iter()).map(|(a, b)| a.mul(*b));
    let mut c = Zeroizing::new(local.collect::<Vec<_>>());
    let mut products = Products {
        me: context.me(),
        width: T::BITS,
        pattern: Pattern::Both,
        x: &a,
        y: &b,
        z: &mut c,
    };
    links.run(&mut products, made).await?;
    Ok(RingTriples::new(a, b, c))
}

/// Square pairs by one product of each pair of parties (MOTION 5.3):
/// c = sum_i a_i^2 + 2 sum_{i < j} a_i a_j. The factor 2 cuts a bit off, so the products are
/// made mod 2^(l-1) only.
pub(crate) async fn squares<T: Ring>(
    links: &mut Links,
    context: &Context,
    count: usize,
    made: &dyn Fn(usize),
) -> Result<SquarePairs<T>> {
    let a = random::<T>(&mut context.private_prg(), count);
    let mut c = Zeroizing::new(vec![T::ZERO; count]);
    once(links, context, &a, &mut c, made).await?;
    for (c, &a) in c.iter_mut().zip(a.iter()) {
        *c = c.add(*c).add(a.mul(a));
    }
    Ok(SquarePairs::new(a, c))
}

/// Adds the shares of sum_{i < j} x_i x_j mod 2^(l-1).
async fn once<T: Ring>(
    links: &mut Links,
    context: &Context,
    x: &[T],
    z: &mut [T],
    made: &dyn Fn(usize),
) -> Result<()> {
    let mut products = Products {
        me: context.me(),
        width: T::BITS - 1,
        pattern: Pattern::Once,
        x,
        y: x,
        z,
    };
    links.run(&mut products, made).await
}

/// Random bits shared mod 2^l (MOTION 5.4). The channels are for the opening.
///
/// The paper squares a = 2u + 1 mod 2^(l+2), opens e = a^2 and divides a by the root that
/// everybody finds. Since e = 8 t + 1 with t = u (u + 1) / 2, all of it can be said of u mod 2^l:
/// the parties open t mod 2^(l-1), and exactly two u give the same t, v and -1 - v. With
/// v the even one, b = (u - v) / (2v + 1) + 1 is 1 for u = v and 0 for u = -1 - v: linear in u,
/// so it is shared as u is, and u tells nothing beyond t but which of the two it is. Also
/// b = 1 - (u mod 2), that is, the XOR of the lowest bits of the shares.
///
/// The shares of t need t = sum_i u_i (u_i + 1) / 2 + sum_{i < j} u_i u_j: one product of
/// each pair of parties mod 2^(l-1), where the paper counts l + 2 OTs for it.
pub(crate) async fn shared_bits<T: Ring>(
    links: &mut Links,
    opening: &mut [Channel],
    context: &Context,
    count: usize,
    made: &dyn Fn(usize),
) -> Result<SharedBits<T>> {
    if count == 0 {
        return Ok(SharedBits::new(Zeroizing::default()));
    }
    let width = T::BITS - 1;
    let u = random::<T>(&mut context.private_prg(), count);
    let mut t = Zeroizing::new(vec![T::ZERO; count]);
    once(links, context, &u, &mut t, made).await?;
    for (t, &u) in t.iter_mut().zip(u.iter()) {
        *t = t.add(u.mul(u.add(T::ONE)).shr(1));
    }
    let mut message = vec![0; bits::bytes_for(count * width)];
    pack(&t, width, &mut message);
    let expected = message.len();
    let beside = links.context().beside();
    for channel in &mut *opening {
        channel.count_in(&beside);
    }
    let received = exchange(opening, message, expected).await?;
    links.context().join(&beside);
    for (channel, message) in opening.iter().zip(received) {
        if !bits::tail_is_clear(&message, count * width) {
            return Err(channel.refuse("its padding is not zero"));
        }
        unpack_add(&message, width, &mut t);
    }
    let leader = context.me() == Party::new(0);
    let mut b = u;
    for (b, &t) in b.iter_mut().zip(t.iter()) {
        let (v, inverse) = even_root(t);
        let constant = T::ONE.sub(inverse.mul(v));
        let own = inverse.mul(*b);
        *b = if leader { own.add(constant) } else { own };
    }
    Ok(SharedBits::new(b))
}

pub(crate) fn triples_layout<T: Ring>(count: usize) -> ProductLayout {
    ProductLayout {
        width: T::BITS,
        pattern: Pattern::Both,
        count,
    }
}

/// That of square pairs, and of shared bits but for their opening.
pub(crate) fn once_layout<T: Ring>(count: usize) -> ProductLayout {
    ProductLayout {
        width: T::BITS - 1,
        pattern: Pattern::Once,
        count,
    }
}

/// What opening t costs each party.
pub(crate) fn opening_cost<T: Ring>(parties: usize, count: usize) -> PhaseCost {
    if count == 0 {
        return PhaseCost::default();
    }
    let peers = parties as u64 - 1;
    let bytes = peers * bits::bytes_for(count * (T::BITS - 1)) as u64;
    PhaseCost {
        rounds: 1,
        bytes_sent: bytes,
        bytes_received: bytes,
        messages: peers,
        aes_blocks: 0,
    }
}

/// The even v with v (v + 1) / 2 = t mod 2^(l-1), and the inverse of 2v + 1, mod 2^l. The bit of t
/// above that is ignored.
///
/// Newton's iteration for f(v) = v^2 + v - 2t, whose derivative 2v + 1 is odd: from v = 0, which is
/// right mod 2, each step doubles the number of right bits.
fn even_root<T: Ring>(t: T) -> (T, T) {
    let two = T::ONE.add(T::ONE);
    let target = t.add(t);
    let (mut v, mut inverse) = (T::ZERO, T::ONE);
    for _ in 0..T::BITS.ilog2() {
        let slope = v.add(v).add(T::ONE);
        inverse = inverse.mul(two.sub(slope.mul(inverse)));
        let f = v.mul(v).add(v).sub(target);
        v = v.sub(f.mul(inverse));
    }
    let slope = v.add(v).add(T::ONE);
    for _ in 0..2 {
        inverse = inverse.mul(two.sub(slope.mul(inverse)));
    }
    (v, inverse)
}

/// Uniformly random elements.
pub(crate) fn random<T: Ring>(prg: &mut Prg, count: usize) -> Zeroizing<Vec<T>> {
    let mut values = Zeroizing::new(Vec::with_capacity(count));
    let mut piece = Zeroizing::new([0; 4096]);
    while values.len() < count {
        prg.fill(&mut *piece);
        let elements = piece.chunks_exact(T::BYTES).map(T::read);
        let missing = count - values.len();
        values.extend(elements.take(missing));
    }
    values
}

/// Adds to each value one of `width` bits from a packed message.
fn unpack_add<T: Ring>(message: &[u8], width: usize, values: &mut [T]) {
    let mut reader = BitReader::new(message);
    for value in values {
        let one = if T::BITS > 64 {
            u128::pull(width, &mut reader)
        } else {
            u64::pull(width, &mut reader).into()
        };
        *value = value.add(T::from_u128(one));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_root<T: Ring>(t: T) {
        let (v, inverse) = even_root(t);
        assert_eq!(v.bit(0), 0);
        assert_eq!(v.add(v).add(T::ONE).mul(inverse), T::ONE, "{t:?}");
        let double = v.mul(v.add(T::ONE));
        assert_eq!(double, t.add(t), "{v:?} for {t:?}");
    }

    #[test]
    fn the_even_root_is_found_for_every_value() {
        (0..=u8::MAX).for_each(is_root);
        (0..=u16::MAX).for_each(is_root);
        let mut prg = Prg::new(madrigal_kernels::Block::ZERO);
        random::<u32>(&mut prg, 1000)
            .iter()
            .for_each(|&t| is_root(t));
        random::<u64>(&mut prg, 1000)
            .iter()
            .for_each(|&t| is_root(t));
        random::<u128>(&mut prg, 1000)
            .iter()
            .for_each(|&t| is_root(t));
    }
}
