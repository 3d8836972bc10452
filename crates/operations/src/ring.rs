//! Sums and products of ring elements, in A, R and alpha.

use std::marker::PhantomData;
use std::sync::Arc;

use futures_util::future::LocalBoxFuture;
use madrigal_core::{Ring, Zeroizing};
use madrigal_correlations::Width;
use madrigal_engine::{
    Bill, Element, Held, Mismatch, Operation, Prepared, Shares, Sharing, Sort, Turn,
};
use madrigal_kernels::rings;
use madrigal_net::Result;

use crate::masks::locally;
use crate::protocol::{Rings, Step};
use crate::shared::{finish_step, in_sharing, masks_flow, prepare_step};

/// The ring of values that must all be in P and of one ring.
fn one_ring<P: Rings>(inputs: &[Sort], count: usize, parties: usize) -> Result<Width, Mismatch> {
    if inputs.len() != count {
        let got = inputs.len();
        return Err(Mismatch::new(format!("{count} values wanted, {got} given")));
    }
    let mut width = None;
    for sort in inputs {
        in_sharing(P::SHARING, sort)?;
        P::holds(sort.element, parties)?;
        let Element::Ring(own) = sort.element else {
            return Err(Mismatch::new(format!("{sort} is not of a ring")));
        };
        if *width.get_or_insert(own) != own {
            return Err(Mismatch::new(format!(
                "values of several rings, {sort} among them"
            )));
        }
    }
    width.ok_or_else(|| Mismatch::new("no value given"))
}

/// The ring of the first value.
pub(super) fn width(sort: &Sort) -> Width {
    match sort.element {
        Element::Ring(width) => width,
        Element::Bits(_) => unreachable!("checked by sorts"),
    }
}

/// Sums of values times public numbers, plus a public number: c + a x + b y + ... Nothing is sent.
pub struct Linear<P> {
    factors: Vec<u128>,
    constant: u128,
    protocol: PhantomData<fn() -> P>,
}

impl<P: Rings> Linear<P> {
    /// A factor for each value; all modulo 2^l.
    pub const fn new(factors: Vec<u128>, constant: u128) -> Self {
        Self {
            factors,
            constant,
            protocol: PhantomData,
        }
    }

    /// x + y.
    pub fn sum() -> Self {
        Self::new(vec![1, 1], 0)
    }

    /// x - y.
    pub fn difference() -> Self {
        Self::new(vec![1, u128::MAX], 0)
    }

    fn of<T: Held>(&self, inputs: &[&Shares], component: usize, leads: bool) -> Zeroizing<Vec<T>> {
        let minus = T::ZERO.sub(T::ONE);
        let mut z = Zeroizing::new(Vec::new());
        for (value, &factor) in inputs.iter().zip(&self.factors) {
            let x = value.component::<T>(component);
            let factor = T::from_u128(factor);
            if z.is_empty() {
                // The first one.
                *z = match factor {
                    _ if factor == T::ONE => x.to_vec(),
                    _ if factor == minus => x.iter().map(|x| T::ZERO.sub(*x)).collect(),
                    _ => x.iter().map(|x| x.mul(factor)).collect(),
                };
            } else if factor == T::ONE {
                rings::add_into(&mut z, x);
            } else if factor == minus {
                rings::sub_into(&mut z, x);
            } else {
                z.iter_mut()
                    .zip(x)
                    .for_each(|(z, x)| *z = z.add(x.mul(factor)));
            }
        }
        let constant = T::from_u128(self.constant);
        if leads && constant != T::ZERO {
            z.iter_mut().for_each(|z| *z = z.add(constant));
        }
        z
    }

    fn all<T: Held>(&self, inputs: &[&Shares], sharing: Sharing, leads: [bool; 2]) -> Shares {
        let components = 0..sharing.components();
        let of = |component: usize| self.of::<T>(inputs, component, leads[component]);
        Shares::ring(sharing, components.map(of).collect())
    }
}

impl<P: Rings> Operation for Linear<P> {
    fn name(&self) -> String {
        let signed = |number: &u128| (*number as i128).to_string();
        let factors: Vec<_> = self.factors.iter().map(signed).collect();
        let constant = signed(&self.constant);
        format!(
            "linear/1 in {}, {} and {constant}",
            P::SHARING,
            factors.join(" ")
        )
    }

    fn sorts(&self, inputs: &[Sort], parties: usize) -> Result<Vec<Sort>, Mismatch> {
        one_ring::<P>(inputs, self.factors.len(), parties)?;
        Ok(vec![inputs[0]])
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        bill.touch(inputs.iter().map(|sort| 3 * sort.bytes() as u64).sum());
    }

    fn prepares(&self, inputs: &[Sort]) -> bool {
        masks_flow(inputs)
    }

    fn prepare<'a>(
        &'a self,
        turn: &'a mut Turn<'_>,
        inputs: Vec<Arc<Shares>>,
    ) -> LocalBoxFuture<'a, Result<Prepared>> {
        let leads = P::leads(turn.me());
        let inputs: Vec<&Shares> = inputs.iter().map(Arc::as_ref).collect();
        locally(|| {
            vec![crate::with_ring!(width(inputs[0].sort()), T => {
                self.all::<T>(&inputs, P::SHARING, leads)
            })]
        })
    }

    fn online<'a>(
        &'a self,
        turn: &'a mut Turn<'_>,
        inputs: Vec<Arc<Shares>>,
    ) -> LocalBoxFuture<'a, Result<Vec<Shares>>> {
        let leads = P::leads(turn.me());
        let inputs: Vec<&Shares> = inputs.iter().map(Arc::as_ref).collect();
        let z = crate::with_ring!(width(inputs[0].sort()), T => {
            self.all::<T>(&inputs, P::SHARING, leads)
        });
        Box::pin(std::future::ready(Ok(vec![z])))
    }

    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        Ok(vec![crate::with_ring!(width(inputs[0].sort()), T => {
            self.all::<T>(inputs, Sharing::PUBLIC, [true; 2])
        })])
    }
}

/// Shared values times values that all know. Nothing is sent.
pub struct MulPublic<P>(PhantomData<fn() -> P>);

/// Products of shared values.
pub struct Mul<P>(PhantomData<fn() -> P>);

/// Squares of shared values: cheaper than products.
pub struct Square<P>(PhantomData<fn() -> P>);

macro_rules! made_of_nothing {
    ($($name:ident)*) => {$(
        impl<P: Rings> $name<P> {
            /// Of values of any ring.
            pub const fn new() -> Self {
                Self(PhantomData)
            }
        }

        impl<P: Rings> Default for $name<P> {
            fn default() -> Self {
                Self::new()
            }
        }
    )*};
}
made_of_nothing!(MulPublic Mul Square);

/// Products of elements in the clear.
fn plain_products<T: Held>(x: &Shares, y: &Shares) -> Shares {
    let mut z = x.component::<T>(0).to_vec();
    rings::mul_into(&mut z, y.component(0));
    Shares::ring_of(Sharing::PUBLIC, z)
}

impl<P: Rings> MulPublic<P> {
    fn of(shared: &Shares, public: &Shares) -> Shares {
        let mut z = shared.clone();
        crate::with_ring!(width(shared.sort()), T => {
            for component in 0..P::SHARING.components() {
                rings::mul_into(z.component_mut::<T>(component), public.component(0));
            }
        });
        z
    }
}

impl<P: Rings> Operation for MulPublic<P> {
    fn name(&self) -> String {
        format!("mul-public/1 in {}", P::SHARING)
    }

    fn sorts(&self, inputs: &[Sort], parties: usize) -> Result<Vec<Sort>, Mismatch> {
        let [shared, public] = inputs else {
            return Err(Mismatch::new("a shared and a public value wanted"));
        };
        one_ring::<P>(&[*shared], 1, parties)?;
        if !public.sharing.is_public(parties) || public.element != shared.element {
            return Err(Mismatch::new(format!("{shared} times {public}")));
        }
        Ok(vec![*shared])
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        bill.touch(3 * inputs[0].bytes() as u64);
    }

    fn needs_clear(&self) -> bool {
        true
    }

    fn prepares(&self, inputs: &[Sort]) -> bool {
        masks_flow(inputs)
    }

    fn prepare<'a>(
        &'a self,
        _: &'a mut Turn<'_>,
        inputs: Vec<Arc<Shares>>,
    ) -> LocalBoxFuture<'a, Result<Prepared>> {
        locally(|| vec![Self::of(&inputs[0], &inputs[1])])
    }

    fn online<'a>(
        &'a self,
        _: &'a mut Turn<'_>,
        inputs: Vec<Arc<Shares>>,
    ) -> LocalBoxFuture<'a, Result<Vec<Shares>>> {
        Box::pin(std::future::ready(Ok(vec![Self::of(
            &inputs[0], &inputs[1],
        )])))
    }

    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        let width = width(inputs[0].sort());
        Ok(vec![
            crate::with_ring!(width, T => plain_products::<T>(inputs[0], inputs[1])),
        ])
    }
}

impl<P: Rings> Operation for Mul<P> {
    fn name(&self) -> String {
        format!("mul/1 in {}", P::SHARING)
    }

    fn sorts(&self, inputs: &[Sort], parties: usize) -> Result<Vec<Sort>, Mismatch> {
        one_ring::<P>(inputs, 2, parties)?;
        Ok(vec![inputs[0]])
    }

    fn bits_at_work(&self, inputs: &[Sort]) -> usize {
        6 * inputs[0].element.bits()
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        let len = inputs[0].len;
        crate::with_ring!(width(&inputs[0]), T => P::mul_bill::<T>(len, bill));
    }

    fn prepares(&self, _: &[Sort]) -> bool {
        P::PREPARES
    }

    fn prepare<'a>(
        &'a self,
        turn: &'a mut Turn<'_>,
        inputs: Vec<Arc<Shares>>,
    ) -> LocalBoxFuture<'a, Result<Prepared>> {
        Box::pin(async move {
            let width = width(inputs[0].sort());
            prepare_step::<P>(turn, width, Step::Mul, &inputs).await
        })
    }

    fn online<'a>(
        &'a self,
        turn: &'a mut Turn<'_>,
        inputs: Vec<Arc<Shares>>,
    ) -> LocalBoxFuture<'a, Result<Vec<Shares>>> {
        Box::pin(async move {
            if let Some(kept) = turn.kept() {
                let all: Vec<&Shares> = inputs.iter().map(Arc::as_ref).collect();
                return finish_step::<P>(turn, width(inputs[0].sort()), Step::Mul, &all, kept)
                    .await;
            }
            let (tool, stock) = turn.tool::<P>()?;
            let (x, y) = (&inputs[0], &inputs[1]);
            let z = crate::with_ring!(width(x.sort()), T => tool.mul::<T>(stock, x, y).await);
            Ok(vec![z?])
        })
    }

    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        let width = width(inputs[0].sort());
        Ok(vec![
            crate::with_ring!(width, T => plain_products::<T>(inputs[0], inputs[1])),
        ])
    }
}

impl<P: Rings> Operation for Square<P> {
    fn name(&self) -> String {
        format!("square/1 in {}", P::SHARING)
    }

    fn sorts(&self, inputs: &[Sort], parties: usize) -> Result<Vec<Sort>, Mismatch> {
        one_ring::<P>(inputs, 1, parties)?;
        Ok(vec![inputs[0]])
    }

    fn bits_at_work(&self, inputs: &[Sort]) -> usize {
        4 * inputs[0].element.bits()
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        let len = inputs[0].len;
        crate::with_ring!(width(&inputs[0]), T => P::square_bill::<T>(len, bill));
    }

    fn prepares(&self, _: &[Sort]) -> bool {
        P::PREPARES
    }

    fn prepare<'a>(
        &'a self,
        turn: &'a mut Turn<'_>,
        inputs: Vec<Arc<Shares>>,
    ) -> LocalBoxFuture<'a, Result<Prepared>> {
        Box::pin(async move {
            let width = width(inputs[0].sort());
            prepare_step::<P>(turn, width, Step::Square, &inputs).await
        })
    }

    fn online<'a>(
        &'a self,
        turn: &'a mut Turn<'_>,
        inputs: Vec<Arc<Shares>>,
    ) -> LocalBoxFuture<'a, Result<Vec<Shares>>> {
        Box::pin(async move {
            if let Some(kept) = turn.kept() {
                let all: Vec<&Shares> = inputs.iter().map(Arc::as_ref).collect();
                return finish_step::<P>(turn, width(inputs[0].sort()), Step::Square, &all, kept)
                    .await;
            }
            let (tool, stock) = turn.tool::<P>()?;
            let x = &inputs[0];
            let z = crate::with_ring!(width(x.sort()), T => tool.square::<T>(stock, x).await);
            Ok(vec![z?])
        })
    }

    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        let width = width(inputs[0].sort());
        Ok(vec![
            crate::with_ring!(width, T => plain_products::<T>(inputs[0], inputs[0])),
        ])
    }
}

/// Dot products of pairs of vectors that lie one after the other.
pub struct Dot<P> {
    length: usize,
    protocol: PhantomData<fn() -> P>,
}

impl<P: Rings> Dot<P> {
    /// Of vectors of so many elements.
    pub const fn new(length: usize) -> Self {
        Self {
            length,
            protocol: PhantomData,
        }
    }
}

impl<P: Rings> Operation for Dot<P> {
    fn name(&self) -> String {
        format!("dot/1 in {} of vectors of {}", P::SHARING, self.length)
    }

    fn sorts(&self, inputs: &[Sort], parties: usize) -> Result<Vec<Sort>, Mismatch> {
        one_ring::<P>(inputs, 2, parties)?;
        let len = inputs[0].len;
        if inputs[1].len != len || self.length == 0 || !len.is_multiple_of(self.length) {
            return Err(Mismatch::new(format!(
                "{} and {} are no vectors of {} elements",
                inputs[0], inputs[1], self.length
            )));
        }
        Ok(vec![inputs[0].of_len(len / self.length)])
    }

    fn is_lane_wise(&self) -> bool {
        false
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        let len = inputs[0].len / self.length;
        crate::with_ring!(width(&inputs[0]), T => P::dot_bill::<T>(len, self.length, bill));
    }

    fn prepares(&self, _: &[Sort]) -> bool {
        P::PREPARES
    }

    fn prepare<'a>(
        &'a self,
        turn: &'a mut Turn<'_>,
        inputs: Vec<Arc<Shares>>,
    ) -> LocalBoxFuture<'a, Result<Prepared>> {
        Box::pin(async move {
            let width = width(inputs[0].sort());
            prepare_step::<P>(turn, width, Step::Dot(self.length), &inputs).await
        })
    }

    fn online<'a>(
        &'a self,
        turn: &'a mut Turn<'_>,
        inputs: Vec<Arc<Shares>>,
    ) -> LocalBoxFuture<'a, Result<Vec<Shares>>> {
        Box::pin(async move {
            if let Some(kept) = turn.kept() {
                let all: Vec<&Shares> = inputs.iter().map(Arc::as_ref).collect();
                return finish_step::<P>(
                    turn,
                    width(inputs[0].sort()),
                    Step::Dot(self.length),
                    &all,
                    kept,
                )
                .await;
            }
            let (tool, stock) = turn.tool::<P>()?;
            let (x, y) = (&inputs[0], &inputs[1]);
            let z = crate::with_ring!(width(x.sort()), T => {
                tool.dot::<T>(stock, x, y, self.length).await
            });
            Ok(vec![z?])
        })
    }

    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        Ok(vec![crate::with_ring!(width(inputs[0].sort()), T => {
            let (x, y) = (inputs[0].component::<T>(0), inputs[1].component::<T>(0));
            let pairs = x.chunks(self.length).zip(y.chunks(self.length));
            let dot = |(x, y): (&[T], &[T])| {
                let products = x.iter().zip(y);
                products.fold(T::ZERO, |sum, (x, y)| sum.add(x.mul(*y)))
            };
            Shares::ring_of(Sharing::PUBLIC, pairs.map(dot).collect::<Vec<T>>())
        })])
    }
}
