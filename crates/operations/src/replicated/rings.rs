//! Replicated sharing of ring elements in programs, and its truncation.

use std::fmt;
use std::sync::Arc;

use madrigal_core::{Party, Zeroizing, bits};
use madrigal_correlations::Stock;
use madrigal_engine::{
    Bill, Early, Element, Held, Mismatch, Online, Operation, Shares, Sharing, Sort, Turn,
};
use madrigal_kernels::rings;
use madrigal_net::Result;
use madrigal_protocols::planes;
use madrigal_protocols::replicated::{BitShares, PARTIES, ReplicatedInputs, Tally};

use super::{ReplicatedTool, from_ring, tally, to_ring};
use crate::protocol::{RingStep, Rings};
use crate::shared::{in_sharing, only, plain_quotients, ring_of, width};

/// The party that knows the first addend.
const FIRST: Party = Party::new(0);

/// Planes as the protocol has them: rows of whole bytes.
pub(super) fn to_bits(value: &Shares) -> BitShares {
    let (rows, count) = (value.sort().element.bits(), value.len());
    let stride = bits::bytes_for(count);
    let part = |component| {
        let mut string = Zeroizing::new(Vec::with_capacity(rows * stride));
        for row in 0..rows {
            string.extend_from_slice(&value.plane(row, component)[..stride]);
        }
        string
    };
    let parts = [part(0), part(1)];
    let parts = parts.each_ref().map(|part| part.as_slice());
    BitShares::from_components(parts, rows, count).expect("rows of one length")
}

impl ReplicatedTool {
    /// x_0 + x_1, which the first party knows and puts in, and x_2, which the two others know.
    async fn addends<T: Held>(&mut self, x: &Shares, negated: bool) -> Result<Vec<Shares>> {
        let sort = Sort::new(Sharing::R, Element::Bits(T::BITS), x.len());
        let me = self.me();
        let stride = bits::bytes_for(x.len());
        let mut counts = [0; PARTIES];
        counts[FIRST.index()] = 8 * stride * T::BITS;
        let mut own = Zeroizing::new(Vec::new());
        if me == FIRST {
            let mut sum = Zeroizing::new(x.component::<T>(0).to_vec());
            rings::add_into(&mut sum, x.component(1));
            own.resize(stride * T::BITS, 0);
            planes::split::<T>(&sum, &mut own, stride);
        }
        let strings = self.inputs.share(&own, counts).await?;
        let mut first = Shares::zeros(sort);
        for (component, string) in strings[FIRST.index()].iter().enumerate() {
            for (plane, row) in string.chunks_exact(stride.max(1)).enumerate() {
                first.plane_mut(plane, component)[..stride].copy_from_slice(row);
            }
        }
        let mut second = Shares::zeros(sort);
        // P_i holds v_i and v_{i+1}.
        let third = match me.index() {
            1 => Some(1),
            2 => Some(0),
            _ => None,
        };
        if let Some(component) = third {
            let mut own = Zeroizing::new(x.component::<T>(component).to_vec());
            if negated {
                own.iter_mut().for_each(|x| *x = T::ZERO.sub(*x));
            }
            let mut rows = Zeroizing::new(vec![0; stride * T::BITS]);
            planes::split::<T>(&own, &mut rows, stride);
            for (plane, row) in rows.chunks_exact(stride.max(1)).enumerate() {
                second.plane_mut(plane, component)[..stride].copy_from_slice(row);
            }
        }
        Ok(vec![first, second])
    }
}

impl Rings for ReplicatedTool {
    const BITS: Sharing = Sharing::R;

    type Setup<T: Held> = ();

    async fn prepare_step<T: Held>(
        &mut self,
        _: RingStep,
        _: &[&Shares],
        _: &mut Stock,
        _: &Early<'_>,
    ) -> Result<(Vec<Shares>, ())> {
        Ok((Vec::new(), ()))
    }

    async fn finish_step<T: Held>(
        &mut self,
        step: RingStep,
        inputs: &[&Shares],
        _: &mut Stock,
        (): (),
    ) -> Result<Vec<Shares>> {
        let element = |place: usize| to_ring::<T>(inputs[place]);
        if let RingStep::Addends { negated } = step {
            return self.addends::<T>(inputs[0], negated).await;
        }
        let rings = self.rings()?;
        let z = match step {
            RingStep::Mul => rings.mul(element(0), element(1)).await?,
            RingStep::Square => rings.square(element(0)).await?,
            RingStep::Dot(length) => rings.dot(element(0), element(1), length).await?,
            RingStep::Product(product) => rings.products(element(0), element(1), &product).await?,
            RingStep::Compose => rings.compose::<T>(&to_bits(inputs[0])).await?,
            RingStep::BitTimes => rings.bit_times(&to_bits(inputs[0]), element(1)).await?,
            RingStep::Addends { .. } => unreachable!("addends have left"),
        };
        Ok(vec![from_ring(z)])
    }

    fn step_bill<T: Held>(step: RingStep, inputs: &[Sort], bill: &mut Bill) {
        let len = inputs[0].len;
        let touched = match step {
            RingStep::Mul | RingStep::Square => {
                tally(bill, |tally| tally.mul::<T>(len));
                14 * len * T::BYTES
            }
            RingStep::Dot(length) => {
                tally(bill, |tally| tally.mul::<T>(len / length));
                6 * (len / length) * (length + 1) * T::BYTES
            }
            RingStep::Product(product) => {
                tally(bill, |tally| tally.products::<T>(&product));
                2 * product.multiplications() * T::BYTES / 16
            }
            // However few planes there are: the others are zeros.
            RingStep::Compose => {
                tally(bill, |tally| tally.compose::<T>(len));
                16 * len * T::BYTES
            }
            RingStep::BitTimes => {
                tally(bill, |tally| tally.bit_times::<T>(len));
                24 * len * T::BYTES
            }
            RingStep::Addends { .. } => {
                let mut counts = [0; PARTIES];
                counts[FIRST.index()] = 8 * bits::bytes_for(len) * T::BITS;
                bill.each(|party| ReplicatedInputs::cost(party, counts));
                ReplicatedInputs::rounds(bill.clock(), counts);
                8 * len * T::BYTES
            }
        };
        bill.touch(touched as u64);
    }

    fn addend_count(_: usize) -> usize {
        2
    }
}

/// How a quotient by a power of two is rounded in R.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rounding {
    /// Down, whatever the number.
    Exact,
    /// Down, for numbers from -2^(l-2) to 2^(l-2) - 1: cheaper.
    Near,
    /// Down or up, at random: cheapest. See `docs/FUNCTIONALITIES.md` for what opened results tell.
    Probabilistic,
}

/// Signed quotients by a power of two, in R.
#[derive(Debug)]
pub struct Truncate {
    by: usize,
    rounding: Rounding,
}

impl Truncate {
    /// By 2^by.
    pub const fn new(by: usize, rounding: Rounding) -> Self {
        Self { by, rounding }
    }

    async fn of<T: Held>(&self, tool: &mut ReplicatedTool, x: &Shares) -> Result<Shares> {
        let x = to_ring::<T>(x);
        let rings = tool.rings()?;
        let z = match self.rounding {
            Rounding::Exact => rings.truncate(x, self.by).await,
            Rounding::Near => rings.truncate_near(x, self.by).await,
            Rounding::Probabilistic => rings.truncate_probabilistic(x, self.by).await,
        };
        Ok(from_ring(z?))
    }

    fn tallied<T: Held>(&self, len: usize, tally: &mut Tally) {
        match self.rounding {
            Rounding::Exact => tally.truncate::<T>(len, self.by),
            Rounding::Near => tally.truncate_near::<T>(len, self.by),
            Rounding::Probabilistic => tally.truncate_probabilistic::<T>(len),
        }
    }
}

impl fmt::Display for Truncate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = match self.rounding {
            Rounding::Exact => "exact",
            Rounding::Near => "near zero",
            Rounding::Probabilistic => "probabilistic",
        };
        write!(f, "truncate/1 by 2^{}, {how}", self.by)
    }
}

impl Operation for Truncate {
    fn name(&self) -> String {
        self.to_string()
    }

    fn sorts(&self, inputs: &[Sort], _: usize) -> Result<Vec<Sort>, Mismatch> {
        let value = only(inputs)?;
        in_sharing(Sharing::R, value)?;
        let width = ring_of(value)?;
        // The cheaper one takes a bit more.
        if self.by + 1 >= width.bits() {
            let problem = format!("a shift by {} of {} bits", self.by, width.bits());
            return Err(Mismatch::new(problem));
        }
        Ok(vec![*value])
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        let len = inputs[0].len;
        crate::with_ring!(width(&inputs[0]), T => tally(bill, |tally| self.tallied::<T>(len, tally)));
        bill.touch(24 * inputs[0].bytes() as u64);
    }

    fn online<'a>(&'a self, turn: &'a mut Turn<'_>, inputs: Vec<Arc<Shares>>) -> Online<'a> {
        Box::pin(async move {
            let (tool, _) = turn.tool::<ReplicatedTool>()?;
            let z = crate::with_ring!(width(inputs[0].sort()), T => self.of::<T>(tool, &inputs[0]).await);
            Ok(vec![z?])
        })
    }

    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        Ok(vec![plain_quotients(only(inputs)?, self.by)?])
    }
}
