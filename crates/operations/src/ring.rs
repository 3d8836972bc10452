//! Sums and products of ring elements, in A, R and alpha.

use std::marker::PhantomData;

use madrigal_core::{Party, Zeroizing};
use madrigal_correlations::Width;
use madrigal_engine::{Element, Held, Local, Mismatch, Shares, Sharing, Sort};
use madrigal_kernels::rings;

use crate::protocol::{RingStep, Rings};
use crate::shared::{in_sharing, width};
use crate::stepped::{Described, Stepped};

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

impl<P: Rings> Local for Linear<P> {
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

    fn touched(&self, inputs: &[Sort]) -> u64 {
        inputs.iter().map(|sort| 3 * sort.bytes() as u64).sum()
    }

    fn shares(&self, inputs: &[&Shares], me: Party) -> Result<Vec<Shares>, Mismatch> {
        let leads = P::leads(me);
        Ok(vec![crate::with_ring!(width(inputs[0].sort()), T => {
            self.all::<T>(inputs, P::SHARING, leads)
        })])
    }

    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        Ok(vec![crate::with_ring!(width(inputs[0].sort()), T => {
            self.all::<T>(inputs, Sharing::PUBLIC, [true; 2])
        })])
    }
}

/// Shared values times values that all know. Nothing is sent.
pub struct MulPublic<P>(PhantomData<fn() -> P>);

impl<P: Rings> MulPublic<P> {
    /// Takes values of any ring.
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<P: Rings> Default for MulPublic<P> {
    fn default() -> Self {
        Self::new()
    }
}

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

impl<P: Rings> Local for MulPublic<P> {
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

    fn needs_clear(&self) -> bool {
        true
    }

    fn touched(&self, inputs: &[Sort]) -> u64 {
        3 * inputs[0].bytes() as u64
    }

    fn shares(&self, inputs: &[&Shares], _: Party) -> Result<Vec<Shares>, Mismatch> {
        Ok(vec![Self::of(inputs[0], inputs[1])])
    }

    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        let width = width(inputs[0].sort());
        Ok(vec![
            crate::with_ring!(width, T => plain_products::<T>(inputs[0], inputs[1])),
        ])
    }
}

/// Products of shared values.
pub type Mul<P> = Stepped<P, Multiplying>;

/// Squares of shared values: cheaper than products.
pub type Square<P> = Stepped<P, Squaring>;

/// Dot products of pairs of vectors that lie one after the other.
pub type Dot<P> = Stepped<P, Dotting>;

/// Describes [`Mul`].
#[derive(Debug, Default)]
pub struct Multiplying;

/// Describes [`Square`].
#[derive(Debug, Default)]
pub struct Squaring;

/// Describes [`Dot`]: vectors of a number of elements.
#[derive(Debug)]
pub struct Dotting(usize);

impl<P: Rings> Mul<P> {
    /// Takes values of any ring.
    pub const fn new() -> Self {
        Self::of(Multiplying)
    }
}

impl<P: Rings> Square<P> {
    /// Takes values of any ring.
    pub const fn new() -> Self {
        Self::of(Squaring)
    }
}

impl<P: Rings> Dot<P> {
    /// Takes vectors of `length` elements.
    pub const fn new(length: usize) -> Self {
        Self::of(Dotting(length))
    }
}

impl<P: Rings> Described<P> for Multiplying {
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

    fn step(&self) -> RingStep {
        RingStep::Mul
    }

    fn plain<T: Held>(&self, inputs: &[&Shares]) -> Vec<Shares> {
        vec![plain_products::<T>(inputs[0], inputs[1])]
    }
}

impl<P: Rings> Described<P> for Squaring {
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

    fn step(&self) -> RingStep {
        RingStep::Square
    }

    fn plain<T: Held>(&self, inputs: &[&Shares]) -> Vec<Shares> {
        vec![plain_products::<T>(inputs[0], inputs[0])]
    }
}

impl<P: Rings> Described<P> for Dotting {
    fn name(&self) -> String {
        format!("dot/1 in {} of vectors of {}", P::SHARING, self.0)
    }

    fn sorts(&self, inputs: &[Sort], parties: usize) -> Result<Vec<Sort>, Mismatch> {
        one_ring::<P>(inputs, 2, parties)?;
        let (len, length) = (inputs[0].len, self.0);
        if inputs[1].len != len || length == 0 || !len.is_multiple_of(length) {
            return Err(Mismatch::new(format!(
                "{} and {} are no vectors of {length} elements",
                inputs[0], inputs[1]
            )));
        }
        Ok(vec![inputs[0].of_len(len / length)])
    }

    fn is_lane_wise(&self) -> bool {
        false
    }

    fn step(&self) -> RingStep {
        RingStep::Dot(self.0)
    }

    fn plain<T: Held>(&self, inputs: &[&Shares]) -> Vec<Shares> {
        let (x, y) = (inputs[0].component::<T>(0), inputs[1].component::<T>(0));
        let pairs = x.chunks(self.0).zip(y.chunks(self.0));
        let dot = |(x, y): (&[T], &[T])| {
            let products = x.iter().zip(y);
            products.fold(T::ZERO, |sum, (x, y)| sum.add(x.mul(*y)))
        };
        vec![Shares::ring_of(
            Sharing::PUBLIC,
            pairs.map(dot).collect::<Vec<T>>(),
        )]
    }
}
