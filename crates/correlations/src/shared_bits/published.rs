//! Shared bits as MOTION 5.4 publishes them, by squares that are opened.

use madrigal_core::packing::BitReader;
use madrigal_core::{Party, PhaseCost, Ring, bits};
use madrigal_net::{Channel, Context, Result, exchange};
use zeroize::Zeroizing;

use super::SharedBits;
use crate::gilboa::Word;
use crate::links::Links;
use crate::products::{ProductLayout, pack};
use crate::rings::{once, once_layout, random};

/// Rings Z_2^l beside one with two bits to spare, in which the [published way](
/// crate::OtSource::published_shared_bits) squares: l = 8, 16, 32, 64.
pub trait Widened: Ring {
    /// Elements of at least l + 2 bits.
    type Wide: Ring;
}

macro_rules! widened {
    ($($ring:ident in $wide:ident)*) => {$(
        impl Widened for $ring {
            type Wide = $wide;
        }
    )*};
}
widened!(u8 in u16 u16 in u32 u32 in u64 u64 in u128);

/// Bits of the squares of the published way.
const fn published_width<T: Ring>() -> usize {
    T::BITS + 2
}

/// Random bits shared mod 2^l. The channels are for the opening. An odd a mod 2^(l+2), of which one party's share is odd and all others are
/// even, is squared by one product of l + 2 OTs of each pair of parties, e = a^2 is opened, and with c
/// a root of e that everybody finds, d = a / c is one of 1, -1, 1 + 2^(l+1), -1 + 2^(l+1): b = (d + 1) / 2
/// is a bit mod 2^l, and all but one of the shares of d are even and that one is odd, so each party
/// halves its own.
pub(crate) async fn published<T: Widened>(
    links: &mut Links,
    opening: &mut [Channel],
    context: &Context,
    count: usize,
    made: &dyn Fn(usize),
) -> Result<SharedBits<T>> {
    let leads = context.me() == Party::new(0);
    let lowest = if leads { T::Wide::ONE } else { T::Wide::ZERO };
    let mut a = random::<T::Wide>(&mut context.private_prg(), count);
    for a in a.iter_mut() {
        *a = a.shl(1).add(lowest);
    }
    let width = published_width::<T>();
    let mut e = Zeroizing::new(vec![T::Wide::ZERO; count]);
    once(links, context, width, &a, &mut e, made).await?;
    for (e, &a) in e.iter_mut().zip(a.iter()) {
        *e = e.add(*e).add(a.mul(a));
    }
    open(links, opening, width, &mut e).await?;
    let bits = e.iter().zip(a.iter());
    let bits = bits.map(|(&e, &a)| published_bit::<T>(e, a, lowest));
    Ok(SharedBits::new(Zeroizing::new(bits.collect())))
}

/// The share of b, given e and the share of a, whose lowest bit is `lowest`.
fn published_bit<T: Widened>(e: T::Wide, a: T::Wide, lowest: T::Wide) -> T {
    let spare = T::Wide::BITS - published_width::<T>();
    // What is above is each party's own. The even root v of t is that 2v + 1 whose square is 8t + 1.
    let e = e.shl(spare).shr(spare);
    let (_, inverse) = even_root(e.shr(3));
    let d = inverse.mul(a);
    T::from_u128(d.add(lowest).shr(1).to_u128())
}

/// From shares mod 2^width to the sum of all parties' ones; bits above the width become arbitrary.
async fn open<T: Ring>(
    links: &Links,
    opening: &mut [Channel],
    width: usize,
    shares: &mut [T],
) -> Result<()> {
    let mut message = vec![0; bits::bytes_for(shares.len() * width)];
    pack(shares, width, &mut message);
    let expected = message.len();
    let beside = links.context().beside();
    for channel in &mut *opening {
        channel.count_in(&beside);
    }
    let received = exchange(opening, message, expected).await?;
    links.context().join(&beside);
    for (channel, message) in opening.iter().zip(received) {
        if !bits::tail_is_clear(&message, shares.len() * width) {
            return Err(channel.refuse("its padding is not zero"));
        }
        unpack_add(&message, width, shares);
    }
    Ok(())
}

/// That of the published way but for the opening.
pub(crate) fn published_layout<T: Widened>(count: usize) -> ProductLayout {
    once_layout(published_width::<T>(), count)
}

/// What the opening of the items of a layout costs each party.
pub(crate) fn opening_cost(parties: usize, of: ProductLayout) -> PhaseCost {
    if of.count == 0 {
        return PhaseCost::default();
    }
    let peers = parties as u64 - 1;
    let bytes = peers * bits::bytes_for(of.count * of.width) as u64;
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
    use madrigal_kernels::{Block, Prg};

    use super::*;
    use crate::rings::filled;

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
        let mut prg = Prg::new(Block::ZERO);
        filled::<u32>(|piece| prg.fill(piece), 1000)
            .iter()
            .for_each(|&t| is_root(t));
        filled::<u64>(|piece| prg.fill(piece), 1000)
            .iter()
            .for_each(|&t| is_root(t));
        filled::<u128>(|piece| prg.fill(piece), 1000)
            .iter()
            .for_each(|&t| is_root(t));
    }

    /// What is opened tells nothing of the bit: every odd a mod 2^10, shared between two parties in some way.
    #[test]
    fn every_published_square_leaves_both_bits() {
        let mut prg = Prg::new(Block::ZERO);
        let mut seen = [[0; 2]; 1 << 7];
        for a in (1..1 << 10).step_by(2) {
            let e: u16 = u16::mul(a, a);
            assert_eq!(e % 8, 1);
            let other = prg.next_block().lo() as u16 & !1;
            let shares = [
                published_bit::<u8>(e, a.wrapping_sub(other), 1),
                published_bit::<u8>(e | 1 << 15, other, 0),
            ];
            let b = shares[0].wrapping_add(shares[1]);
            assert!(b <= 1, "{b} for {a}");
            assert_eq!(b, (shares[0] ^ shares[1]) & 1, "{a}");
            seen[usize::from(e % (1 << 10) / 8)][usize::from(b)] += 1;
        }
        assert!(seen.iter().all(|&seen| seen == [2, 2]), "{seen:?}");
    }
}
