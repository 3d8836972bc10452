//! Protocol beta: packed bits.

use bytes::Bytes;
use madrigal_core::{Party, Zeroizing, bits};
use madrigal_correlations::BitTriples;
use madrigal_kernels::{self as kernels, marks};
use madrigal_net::Result;

use super::{Aby2, Bits, LEADER};

impl Aby2 {
    /// Setup of an AND: shares of `x & y` for `count` bits of masks that are shared, with as many triples
    /// (Beaver, as [`BooleanGmw::and`](crate::gmw::BooleanGmw::and)): 2 ceil(count / 8) bytes each way.
    ///
    /// All strings have `ceil(count / 8)` bytes; what operands have past bit `count` is ignored, what results
    /// have there is unspecified. So with all operations here.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network, and a peer's string with bits past its end; so do all operations here.
    ///
    /// # Panics
    /// If a string has another length, or there are fewer triples: a plan was wrong. So do all operations
    /// here.
    pub async fn bit_products(
        &mut self,
        triples: &mut BitTriples,
        x: &[u8],
        y: &[u8],
        count: usize,
        z: &mut [u8],
    ) -> Result<()> {
        let bytes = bits::bytes_for(count);
        let mut scratch = std::mem::take(&mut self.scratch);
        let triple = triples.take(count, &mut scratch)?;
        let mut masked = Zeroizing::new(vec![0; 2 * bytes]);
        let (d, e) = masked.split_at_mut(bytes);
        kernels::xor(d, x, triple.a);
        kernels::xor(e, y, triple.b);
        // Past the end are bits of other triples, which must stay unknown.
        bits::clear_tail(d, count);
        bits::clear_tail(e, count);
        let theirs = self.exchange(&masked).await?;
        let (their_d, their_e) = theirs.split_at(bytes);
        self.ends(their_d, count)?;
        self.ends(their_e, count)?;
        kernels::xor_into(&mut masked, &theirs);
        let (d, e) = masked.split_at(bytes);
        let leads = self.leads();
        kernels::beaver_bits(z, triple.a, triple.b, triple.c, d, e, leads);
        self.scratch = scratch;
        Ok(())
    }

    /// The public part of `x & y`: `public` and `masks` are those of x and y, `kept` is our share of the
    /// product of the masks, XORed with that of the mask of the result. ceil(count / 8) bytes each way.
    ///
    /// Delta_z = x y ^ delta_z is opened, to which each party adds `Delta_x [delta_y] ^ Delta_y [delta_x] ^
    /// [delta_x delta_y] ^ [delta_z]`, and the leader also `Delta_x Delta_y`.
    pub async fn and(
        &mut self,
        public: [&[u8]; 2],
        masks: [&[u8]; 2],
        kept: &[u8],
        count: usize,
        z: &mut [u8],
    ) -> Result<()> {
        self.and_shares(public, masks, kept, z);
        self.add_up_bits(z, count).await
    }

    /// Computes our share of the public part of an AND before it is opened, without a message.
    pub fn and_shares(&self, public: [&[u8]; 2], masks: [&[u8]; 2], kept: &[u8], z: &mut [u8]) {
        let ([x, y], [a, b]) = (public, masks);
        kernels::beaver_bits(z, a, b, kept, x, y, self.leads());
    }

    /// The public parts of an input of `owner`'s under its masks, for both: `values` are the bits at the owner,
    /// `masks` our shares of [`draw_input`](Self::draw_input). ceil(count / 8) bytes from the owner.
    pub async fn share_bits(
        &mut self,
        owner: Party,
        values: Option<&[u8]>,
        masks: &[u8],
        count: usize,
    ) -> Result<Bits> {
        let mut public = Zeroizing::new(masks[..bits::bytes_for(count)].to_vec());
        if let Some(values) = values {
            kernels::xor_into(&mut public, &values[..bits::bytes_for(count)]);
        }
        bits::clear_tail(&mut public, count);
        self.tell(owner, &mut public).await?;
        self.ends(&public, count)?;
        marks::public(public.as_mut_slice());
        Ok(public)
    }

    /// Converts from B: the public parts of bits of which we have `share`, under masks of which we have `masks`.
    /// ceil(count / 8) bytes each way.
    pub async fn mask_bits(&mut self, share: &[u8], masks: &[u8], count: usize) -> Result<Bits> {
        let mut public = Zeroizing::new(vec![0; bits::bytes_for(count)]);
        kernels::xor(&mut public, share, masks);
        self.add_up_bits(&mut public, count).await?;
        marks::public(public.as_mut_slice());
        Ok(public)
    }

    /// The masks themselves, for those of `to`: with the public parts that come later they give the values.
    /// ceil(count / 8) bytes to each.
    pub async fn open_bit_masks(
        &mut self,
        masks: &[u8],
        count: usize,
        to: &[Party],
    ) -> Result<Option<Bits>> {
        let mut masks = Zeroizing::new(masks[..bits::bytes_for(count)].to_vec());
        bits::clear_tail(&mut masks, count);
        let Some(theirs) = self.reveal(&masks, to).await? else {
            return Ok(None);
        };
        self.ends(&theirs, count)?;
        kernels::xor_into(&mut masks, &theirs);
        Ok(Some(masks))
    }

    /// Opens bits of which both have shares: ceil(count / 8) bytes each way.
    pub async fn add_up_bits(&mut self, string: &mut [u8], count: usize) -> Result<()> {
        bits::clear_tail(string, count);
        let theirs: Bytes = self.exchange(string).await?;
        self.ends(&theirs, count)?;
        kernels::xor_into(string, &theirs);
        Ok(())
    }

    /// Checks that a peer's string has no bits past its end.
    pub(super) fn ends(&self, string: &[u8], count: usize) -> Result<()> {
        if bits::tail_is_clear(string, count) {
            return Ok(());
        }
        let problem = "the padding of its masked bits is not zero";
        Err(self.channel.refuse(problem))
    }
}

/// Converts to B: our share of bits with these public parts and masks, in place of the share of the masks. No message.
///
/// # Panics
/// If the strings differ in length.
pub fn unmasked_bits(me: Party, public: &[u8], masks: &mut [u8]) {
    if me == LEADER {
        kernels::xor_into(masks, public);
    }
}
