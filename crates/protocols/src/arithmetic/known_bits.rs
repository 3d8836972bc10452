//! Bits times numbers that one party knows (MOTION, Listing 2), in one round.

use bytes::Bytes;
use madrigal_core::{Party, Ring, Zeroizing, bits};
use madrigal_correlations::ChosenNumbers;
use madrigal_kernels::{self as kernels, rings};
use madrigal_net::{Channel, Result, exchange_each};

use super::ArithmeticGmw;

impl ArithmeticGmw {
    /// Gives shares of b v for each bit b shared in B and number v that `owner` knows, with as many chosen numbers of
    /// the owner's: a random bit r, of which the owner has no share as XOR, and a random u of the owner's.
    ///
    /// With the owner's share s of b, and t the XOR of r and all others' shares, b = s ^ t ^ r. So, with w = v (1 - 2 s),
    ///
    /// b v = s v + t w + (1 - 2 t) r w, and r w = r (w - u) + r u.
    ///
    /// The others open t to all, and the owner sends w - u to each: nobody waits for anybody. t is under the share of r
    /// of each party that is not corrupted, and w under u, so that neither tells anything.
    ///
    /// Between two parties this is MOTION's precomputed C-OT (5.1.3) with the correlation added: the message of its
    /// sender depends on no choice, and that of its receiver on no number.
    ///
    /// `known` is v at the owner, and nothing at the others. Bits of `b` past bit `z.len()` are ignored.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network.
    ///
    /// # Panics
    /// If there are too few bits or correlations, or the owner brings no number for each: a plan was wrong.
    pub async fn bit_times_known<T: Ring>(
        &mut self,
        chosen: &mut ChosenNumbers<T>,
        owner: Party,
        b: &[u8],
        known: Option<&[T]>,
        z: &mut [T],
    ) -> Result<()> {
        let (count, bytes) = (z.len(), bits::bytes_for(z.len()));
        let shares = chosen.take(count);
        let spread = |bits: &[u8], i: usize| T::from_u128((bits[i / 8] >> (i % 8) & 1).into());
        let mut t = Zeroizing::new(vec![0; bytes]);
        // w - u, and what the owner adds to its product: s v, and w where t is 1.
        let mut masked = Zeroizing::<Vec<T>>::zeros(count);
        let mut flipped = Zeroizing::<Vec<T>>::zeros(count);
        let message = if let Some(known) = known {
            assert_eq!(known.len(), count, "a number for each bit");
            for (i, &v) in known.iter().enumerate() {
                let product = spread(b, i).mul(v);
                z[i] = product;
                flipped[i] = v.sub(product.shl(1));
                masked[i] = flipped[i].sub(shares.numbers[i]);
            }
            Bytes::copy_from_slice(rings::as_bytes(&masked))
        } else {
            z.fill(T::ZERO);
            for (i, flag) in shares.flags.iter().enumerate() {
                t[i / 8] |= flag << (i % 8);
            }
            kernels::xor_into(&mut t, &b[..bytes]);
            bits::clear_tail(&mut t, count);
            Bytes::copy_from_slice(&t)
        };
        for theirs in self.swap(owner, message, [count * T::BYTES, bytes]).await? {
            match theirs {
                Sent::Elements(message) => {
                    rings::as_bytes_mut(&mut masked).copy_from_slice(&message)
                }
                Sent::Bits(message) => kernels::xor_into(&mut t, &message),
            }
        }
        for (i, [r, product]) in shares.products.as_chunks::<2>().0.iter().enumerate() {
            // r w, or -r w and w on top where t is 1.
            let t = spread(&t, i).spread(0);
            let term = r.mul(masked[i]).add(*product);
            let turned = flipped[i].sub(term.shl(1)).and(t);
            z[i] = z[i].add(term).add(turned);
        }
        Ok(())
    }

    /// Sends `message` to all, and receives elements of the owner and bits of all others.
    async fn swap(
        &mut self,
        owner: Party,
        message: Bytes,
        [elements, bits]: [usize; 2],
    ) -> Result<Vec<Sent>> {
        let (mut sends, mut receives, mut of_owner) = (Vec::new(), Vec::new(), Vec::new());
        for channel in &mut self.channels {
            let is_owner = channel.peer() == owner;
            let Channel { tx, rx } = channel;
            sends.push((tx, message.clone()));
            receives.push((rx, if is_owner { elements } else { bits }));
            of_owner.push(is_owner);
        }
        let received = exchange_each(sends, receives).await?.into_iter();
        let sent = |(message, is_owner)| match is_owner {
            true => Sent::Elements(message),
            false => Sent::Bits(message),
        };
        Ok(received.zip(of_owner).map(sent).collect())
    }
}

/// Message of a party.
enum Sent {
    /// Masked numbers of their owner.
    Elements(Bytes),
    /// Masked bits of another party.
    Bits(Bytes),
}
