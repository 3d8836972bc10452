//! Values by their places among others.

use madrigal_program::{Plain, Tensor, Type};

use super::super::{Lowering, Result};
use crate::error::Fault;
use crate::expression::{constant, fit};
use crate::frame::Quantile;

impl Lowering<'_> {
    /// The elements of each value by the weight that it has in a quantile, which is the sum of them: `ranks` are places of values in their group
    /// from 0, `counts` says how many values the group has. Elements of what has no value are 0.
    ///
    /// An interpolated quantile lies at rank `numerator (count - 1) / denominator`. A value whose rank is less than 1 away has the weight
    /// `denominator` less `denominator` times that distance, and all others 0. Else the first rank r counts for which
    /// `denominator (r + 1) >= numerator count`.
    pub(super) fn weighed(
        &mut self,
        parts: &[Tensor],
        counts: &Tensor,
        ranks: &Tensor,
        quantile: Quantile,
        element: Type,
    ) -> Result<Vec<Tensor>> {
        // 32 bits of a rank and 20 of a denominator, with a sign.
        let wide = i64::TYPE;
        if counts.element().bits() > 32 || quantile.denominator > Quantile::MOST_PARTS {
            return Err(Fault::Range {
                what: "a quantile".into(),
            });
        }
        let mut number = |value: i64| constant(self.program, wide, value as u128);
        let (zero, one) = (number(0), number(1));
        let (above, below) = (
            number(quantile.numerator.into()),
            number(quantile.denominator.into()),
        );
        let (counts, ranks) = (fit(counts, wide), fit(ranks, wide));
        let before = ranks.times(&below);
        if quantile.interpolated {
            let distance = counts.minus(&one).times(&above).minus(&before).abs();
            let weight = below.minus(&distance).max(&zero);
            let weight = fit(&weight, element);
            let weighed = parts.iter();
            return Ok(weighed
                .map(|part| fit(part, element).times(&weight))
                .collect());
        }
        let ahead = counts.times(&above).minus(&before);
        let reached = below.less(&ahead).not();
        let is_first = match quantile.numerator {
            0 => ranks.equals(&zero),
            _ => zero.less(&ahead).and(&reached),
        };
        let parts = parts.iter().map(|part| {
            let none = constant(self.program, part.element(), 0);
            is_first.select(part, &none)
        });
        Ok(parts.collect())
    }
}
