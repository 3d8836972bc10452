//! The operation that makes noise of random bits.

use std::sync::Arc;

use madrigal_circuit::{Builder, Wire};
use madrigal_noise::{Coins, Noise};

use crate::element::{Plain, Type};
use crate::ir::{Each, EachForm, Elementwise};

/// Random bits of an operand.
const WORD: u32 = 64;

/// A draw of noise, made of random bits.
#[derive(Debug)]
pub(crate) struct Draw {
    coins: Coins,
    /// The type of the result.
    element: Type,
}

impl Draw {
    /// A draw whose numbers are of this type.
    ///
    /// # Errors
    /// Text that says what does not fit.
    pub(crate) fn new(noise: Noise, element: Type) -> Result<Self, String> {
        let coins = noise.coins().map_err(|error| error.to_string())?;
        let holds = element.is_signed() && element.fraction() == 0;
        match holds && element.bits() > coins.digits() {
            true => Ok(Self { coins, element }),
            false => Err(format!(
                "{noise} takes noise from -{most} to {most}, and {element} does not hold it: take integers with a sign of more than {} bits",
                coins.digits(),
                most = coins.most(),
            )),
        }
    }

    /// Number of operands.
    pub(crate) fn words(&self) -> usize {
        self.coins.bits().div_ceil(WORD) as usize
    }
}

/// The operation of a draw.
///
/// # Errors
/// Text that says what does not fit.
pub(crate) fn draw(noise: Noise, element: Type) -> Result<Each, String> {
    Draw::new(noise, element).map(|draw| Each::new(Arc::new(draw)))
}

impl Elementwise for Draw {
    fn name(&self) -> String {
        let (digits, precision) = (self.coins.digits(), self.coins.precision());
        let (noise, element) = (self.coins.noise(), self.element);
        format!(
            "discrete Laplace/1 with {noise}, of {digits} digits and {precision} bits, as {element}"
        )
    }

    fn label(&self) -> String {
        "noise".to_owned()
    }

    fn form(&self) -> Option<EachForm> {
        Some(EachForm::Noise {
            noise: self.coins.noise(),
            element: self.element,
        })
    }

    fn results(&self, operands: &[Type]) -> Result<Vec<Type>, String> {
        let expected = self.words();
        match operands.len() == expected && operands.iter().all(|&operand| operand == u64::TYPE) {
            true => Ok(vec![self.element]),
            false => Err(format!(
                "noise is made of {expected} values of random bits, each a u64"
            )),
        }
    }

    fn range(&self) -> Option<(i128, i128)> {
        let most = i128::from(self.coins.most());
        Some((-most, most))
    }

    fn evaluate(&self, operands: &[Vec<u128>]) -> Vec<Vec<u128>> {
        let lanes = operands[0].len();
        let precision = self.coins.precision();
        let one = |lane: usize| {
            let mut at = 0;
            let number = self.coins.number(|| {
                let bit = |at: u32| operands[(at / WORD) as usize][lane] >> (at % WORD) & 1;
                let coin = (0..precision)
                    .map(|place| bit(at + place) << place)
                    .sum::<u128>();
                at += precision;
                coin as u64
            });
            number as u128 & self.element.mask()
        };
        vec![(0..lanes).map(one).collect()]
    }

    fn build(&self, builder: &mut Builder, operands: &[Vec<Wire>]) -> Vec<Vec<Wire>> {
        let bits = operands.concat();
        let mut coins = bits.chunks_exact(self.coins.precision() as usize);
        let mut number = || -> Vec<Wire> {
            let chances = self.coins.chances().iter().zip(&mut coins);
            let digits = chances.map(|(&chance, coin)| {
                let chance = builder.number(chance.into(), coin.len());
                builder.less(coin, &chance)
            });
            digits.collect()
        };
        let (mut first, mut second) = (number(), number());
        let zero = builder.constant(false);
        first.push(zero);
        second.push(zero);
        let mut difference = builder.sub(&first, &second);
        let sign = difference[difference.len() - 1];
        difference.resize(self.element.bits() as usize, sign);
        vec![difference]
    }
}
