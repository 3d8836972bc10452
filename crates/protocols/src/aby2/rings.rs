//! Protocol alpha: elements of rings.

use madrigal_core::{Party, Ring, Zeroizing, bits};
use madrigal_correlations::{ProductTriple, RingTriples, SharedBits, SquarePairs};
use madrigal_kernels::{self as kernels, marks, rings};
use madrigal_net::Result;

use super::{Aby2, LEADER};
use crate::arithmetic::{self, OpensDifferences, Product, add_all};

/// Elements that are wiped.
type Elements<T> = Zeroizing<Vec<T>>;

/// Shares of bits as elements, with what was opened of them.
pub struct Flips<T: Ring> {
    /// Shares of random bits r.
    r: Elements<T>,
    /// r XOR the masks of as many bits in beta, packed; both know them.
    t: Zeroizing<Vec<u8>>,
}

impl<T: Ring> std::fmt::Debug for Flips<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Flips({})", self.r.len())
    }
}

impl Aby2 {
    /// Setup of products: shares of `x y`, element by element, of masks that are shared, with as many triples
    /// (Beaver, as [`ArithmeticGmw::mul`](crate::arithmetic::ArithmeticGmw::mul)): 2 n elements each way.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network; so with all operations.
    ///
    /// # Panics
    /// If vectors differ in length, or there are fewer correlations: a plan was wrong. So do all operations
    /// here.
    pub async fn products<T: Ring>(
        &mut self,
        triples: &mut RingTriples<T>,
        x: &[T],
        y: &[T],
        z: &mut [T],
    ) -> Result<()> {
        arithmetic::multiply(self, triples, [x, y], z).await
    }

    /// Setup of squares: shares of `x^2` of masks, with as many square pairs: n elements each way.
    pub async fn squares<T: Ring>(
        &mut self,
        pairs: &mut SquarePairs<T>,
        x: &[T],
        z: &mut [T],
    ) -> Result<()> {
        arithmetic::square(self, pairs, x, z).await
    }

    /// Setup of dot products: `z[j]` sums up the products of the `length` masks from `j * length` on, with a
    /// triple for each of these: 2 n elements of x each way.
    pub async fn dots<T: Ring>(
        &mut self,
        triples: &mut RingTriples<T>,
        x: &[T],
        y: &[T],
        length: usize,
        z: &mut [T],
    ) -> Result<()> {
        arithmetic::dot(self, triples, [x, y], length, z).await
    }

    /// Setup of a product of matrices, or of a convolution, from its triple: shares of the product of the masks `x`
    /// (of filters) and `y` (of images). Each way sends as many elements as x and y have.
    pub async fn product_masks<T: Ring>(
        &mut self,
        triple: ProductTriple<T>,
        x: &[T],
        y: &[T],
        z: &mut [T],
    ) -> Result<()> {
        arithmetic::multiply_matrices(self, triple, [x, y], z).await
    }

    /// The public parts of products: `public` and `masks` are those of the factors, `kept` is our share of the
    /// products of their masks, less that of the results' masks. n elements each way.
    ///
    /// Delta_z = x y - delta_z is opened, to which each party adds `Delta_x [delta_y] + Delta_y [delta_x] +
    /// [delta_x delta_y] - [delta_z]`, and the leader also `Delta_x Delta_y`.
    pub async fn mul<T: Ring>(
        &mut self,
        public: [&[T]; 2],
        masks: [&[T]; 2],
        kept: &[T],
        z: &mut [T],
    ) -> Result<()> {
        let [a, b] = masks;
        rings::beaver_products(z, [a, b, kept], public, self.leads());
        self.add_up(z).await
    }

    /// The public parts of squares, as of products.
    pub async fn square<T: Ring>(
        &mut self,
        public: &[T],
        masks: &[T],
        kept: &[T],
        z: &mut [T],
    ) -> Result<()> {
        rings::beaver_squares(z, [masks, kept], public, self.leads());
        self.add_up(z).await
    }

    /// The public parts of dot products of vectors of `length` elements, as of products: one element each.
    pub async fn dot<T: Ring>(
        &mut self,
        public: [&[T]; 2],
        masks: [&[T]; 2],
        kept: &[T],
        length: usize,
        z: &mut [T],
    ) -> Result<()> {
        let ([x, y], [a, b]) = (public, masks);
        z.copy_from_slice(kept);
        // x (y + b) + (a - x) y is what there is to add without x y.
        let mut second = Zeroizing::from(a.to_vec());
        if !self.leads() {
            rings::sub_into(&mut second, x);
        }
        rings::replicated_dots([x, &second], [y, b], length, z);
        self.add_up(z).await
    }

    /// The public parts of products of matrices, or of convolutions, as of products: one element for each of
    /// the results.
    pub async fn product_publics<T: Ring>(
        &mut self,
        product: &Product,
        public: [&[T]; 2],
        masks: [&[T]; 2],
        kept: &[T],
        z: &mut [T],
    ) -> Result<()> {
        let ([x, y], [a, b]) = (public, masks);
        assert_eq!(
            [x.len(), y.len(), z.len()],
            product.lengths(),
            "{product:?}"
        );
        z.copy_from_slice(kept);
        let mut second = Zeroizing::from(b.to_vec());
        if self.leads() {
            rings::add_into(&mut second, y);
        }
        add_all(product, [(x, &*second), (a, y)], z).await;
        self.add_up(z).await
    }

    /// The public parts of an input of `owner`'s under its masks, for both: as
    /// [`share_bits`](Self::share_bits), n elements from the owner.
    pub async fn share_elements<T: Ring>(
        &mut self,
        owner: Party,
        values: Option<&[T]>,
        masks: &[T],
    ) -> Result<Elements<T>> {
        let mut public = Zeroizing::new(vec![T::ZERO; masks.len()]);
        if let Some(values) = values {
            public.copy_from_slice(values);
        }
        rings::sub_into(&mut public, masks);
        self.tell(owner, rings::as_bytes_mut(&mut public)).await?;
        marks::public(public.as_mut_slice());
        Ok(public)
    }

    /// Converts from A: the public parts of elements of which we have `share`, under masks of which we have `masks`. n
    /// elements each way.
    pub async fn mask<T: Ring>(&mut self, share: &[T], masks: &[T]) -> Result<Elements<T>> {
        let mut public = Zeroizing::new(share.to_vec());
        rings::sub_into(&mut public, masks);
        self.add_up(&mut public).await?;
        marks::public(public.as_mut_slice());
        Ok(public)
    }

    /// The masks themselves, for those of `to`: with the public parts that come later they give the values. n
    /// elements to each.
    pub async fn open_masks<T: Ring>(
        &mut self,
        masks: &[T],
        to: &[Party],
    ) -> Result<Option<Elements<T>>> {
        let Some(theirs) = self.reveal(rings::as_bytes(masks), to).await? else {
            return Ok(None);
        };
        let mut masks = Zeroizing::new(masks.to_vec());
        rings::add_strings::<T>(rings::as_bytes_mut(&mut masks), &theirs);
        Ok(Some(masks))
    }

    /// Setup of a way from beta to alpha: the packed `masks` of bits, with as many shared bits. It sends as many bits
    /// each way.
    ///
    /// With t = r ^ delta opened, the bit is Delta ^ t ^ r, and Delta ^ t is public: a linear map of r.
    pub async fn flips<T: Ring>(
        &mut self,
        shared: &mut SharedBits<T>,
        masks: &[u8],
        count: usize,
    ) -> Result<Flips<T>> {
        let r = shared.take(count).b;
        let mut t = Zeroizing::new(vec![0; bits::bytes_for(count)]);
        rings::pack_bits(r, &mut t);
        kernels::xor_into(&mut t, &masks[..bits::bytes_for(count)]);
        self.add_up_bits(&mut t, count).await?;
        Ok(Flips {
            r: Zeroizing::new(r.to_vec()),
            t,
        })
    }

    /// The public parts of the numbers whose `width` bits have these packed public parts, all lowest bits
    /// first; `masks` are the results'. n elements each way.
    pub async fn compose<T: Ring>(
        &mut self,
        public: &[u8],
        flips: &Flips<T>,
        width: usize,
        masks: &[T],
        z: &mut [T],
    ) -> Result<()> {
        let count = z.len();
        assert_eq!(flips.r.len(), width * count, "flips for all bits");
        let mut flipped = flips.t.clone();
        kernels::xor_into(&mut flipped, public);
        let one = T::from_u128(self.leads().into());
        let mut row = vec![0; bits::bytes_for(count)];
        z.fill(T::ZERO);
        rings::sub_into(z, masks);
        for i in 0..width {
            bits::take(&flipped, i * count, &mut row, count);
            rings::add_flipped(z, &flips.r[i * count..][..count], &row, one, i);
        }
        self.add_up(z).await
    }

    /// Setup of bits times elements, from the packed masks of the bits and the masks of the elements, with as
    /// many shared bits r and triples: [`flips`](Self::flips) and shares of r times the elements' masks. 2 n
    /// elements and n bits each way, in one message.
    pub async fn bit_masks_times<T: Ring>(
        &mut self,
        shared: &mut SharedBits<T>,
        triples: &mut RingTriples<T>,
        bit_masks: &[u8],
        masks: &[T],
    ) -> Result<(Flips<T>, Elements<T>)> {
        let count = masks.len();
        let (r, triple) = (shared.take(count).b, triples.take(count));
        let (elements, bytes) = (2 * count * T::BYTES, bits::bytes_for(count));
        let mut opened = Zeroizing::<Vec<T>>::zeros(2 * count + bytes.div_ceil(T::BYTES));
        let (d, e) = opened[..2 * count].split_at_mut(count);
        d.copy_from_slice(r);
        e.copy_from_slice(masks);
        rings::sub_into(d, triple.a);
        rings::sub_into(e, triple.b);
        let message = &mut rings::as_bytes_mut(&mut opened)[..elements + bytes];
        let t = &mut message[elements..];
        rings::pack_bits(r, t);
        kernels::xor_into(t, &bit_masks[..bytes]);
        bits::clear_tail(t, count);
        let theirs = self.exchange(message).await?;
        let (their_elements, their_t) = theirs.split_at(elements);
        self.ends(their_t, count)?;
        let (ours, t) = message.split_at_mut(elements);
        rings::add_strings::<T>(ours, their_elements);
        kernels::xor_into(t, their_t);
        let t = Zeroizing::new(t.to_vec());
        let (d, e) = opened[..2 * count].split_at(count);
        let mut z = Zeroizing::new(vec![T::ZERO; count]);
        let shares = [triple.a, triple.b, triple.c];
        rings::beaver_products(&mut z, shares, [d, e], self.leads());
        let r = Zeroizing::new(r.to_vec());
        Ok((Flips { r, t }, z))
    }

    /// The public parts of bits times elements: those of the bits are packed, `products` are what
    /// [`bit_masks_times`](Self::bit_masks_times) made, `fresh` are the results' masks. n elements each way.
    pub async fn bit_times<T: Ring>(
        &mut self,
        public_bits: &[u8],
        (flips, products): (&Flips<T>, &[T]),
        [public, masks]: [&[T]; 2],
        fresh: &[T],
        z: &mut [T],
    ) -> Result<()> {
        let mut flipped = flips.t.clone();
        kernels::xor_into(&mut flipped, &public_bits[..flips.t.len()]);
        z.copy_from_slice(public);
        rings::mul_into(z, &flips.r);
        rings::add_into(z, products);
        let mut x = Zeroizing::from(masks.to_vec());
        if self.leads() {
            rings::add_into(&mut x, public);
        }
        rings::flip_from(z, &x, &flipped);
        rings::sub_into(z, fresh);
        self.add_up(z).await
    }

    /// Both add theirs.
    pub(super) async fn add_up<T: Ring>(&mut self, elements: &mut [T]) -> Result<()> {
        let theirs = self.exchange(rings::as_bytes(elements)).await?;
        rings::add_strings::<T>(rings::as_bytes_mut(elements), &theirs);
        Ok(())
    }
}

impl OpensDifferences for Aby2 {
    fn leads(&self) -> bool {
        self.me() == LEADER
    }

    async fn open_differences<T: Ring>(&mut self, differences: &mut [T]) -> Result<()> {
        self.add_up(differences).await
    }
}

/// Converts to A: our share of elements with these public parts and masks, in place of the share of the masks. No
/// message.
///
/// # Panics
/// If the vectors differ in length.
pub fn unmasked<T: Ring>(me: Party, public: &[T], masks: &mut [T]) {
    assert_eq!(public.len(), masks.len(), "a mask for each element");
    if me == LEADER {
        rings::add_into(masks, public);
    }
}
