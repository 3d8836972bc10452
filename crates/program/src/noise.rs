//! Noise that the parties draw together, and that none of them knows: discrete Laplace, for differential privacy.

use std::sync::Arc;

use madrigal_circuit::{Builder, Wire};
use madrigal_noise::{Coins, Noise};

use crate::element::{Plain, Type};
use crate::error::{Fault, Source};
use crate::ir::{Each, EachForm, Elementwise, Op};
use crate::program::Program;
use crate::secret::{Secret, Tensor};
use crate::shape::{IntoShape, Shape};

/// Random bits of an operand.
const WORD: u32 = 64;

/// A draw of noise, made of random bits.
#[derive(Debug)]
struct Draw {
    coins: Coins,
    /// The type of the result.
    element: Type,
}

impl Program {
    /// Noise that nobody knows: a tensor of this shape, each element of which is discrete Laplace of its own, from `-most` to `most` of the noise's
    /// [`coins`](Noise::coins). A count to which it is added and that is opened then is (epsilon, delta)-differentially private, where `each` is the most
    /// by which one person changes it; of several counts, the most by which one person changes all of them together, and delta adds up.
    ///
    /// The parties draw random bits together, without a message ([`JointBits`](madrigal_operations::JointBits)): each contributes, and one honest party is
    /// enough in B, the honest majority in R. From these a circuit makes the noise, with an AND for each random bit, about 400 for an epsilon of 1 and a delta
    /// of 1e-9. It is done in mixes with B or R. Computed in the clear the noise is 0.
    ///
    /// A type that does not hold the noise is an error of the program, and so is noise in the body of a loop or a branch.
    ///
    /// ```
    /// use madrigal_noise::Noise;
    /// use madrigal_program::{Everyone, Inputs, Party, Program};
    /// let mut p = Program::new(2);
    /// let ill = p.input::<i32>(Party::new(0), [4]);
    /// let noise = p.noise::<i32>(Noise::new(1.0, 1e-9, 1)?, ());
    /// let total = p.open(ill.sum(0) + noise, Everyone);
    /// let program = p.finish()?;
    /// assert_eq!(program.simulate(&Inputs::new().with([1i32, 0, 1, 1]))?.get(total), [3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn noise<T: Plain>(&mut self, noise: Noise, shape: impl IntoShape) -> Secret<T> {
        Secret::of(self.tensor_noise(noise, T::TYPE, &shape.axes()))
    }

    /// Noise as [`noise`](Self::noise) gives it, of a type that is known when the program runs.
    #[track_caller]
    pub fn tensor_noise(&mut self, noise: Noise, element: Type, axes: &[usize]) -> Tensor {
        let at = Source::here();
        let draw = match Draw::new(noise, element) {
            Ok(draw) => draw,
            Err(problem) => {
                self.recorder().fail(at, Fault::Noise { problem });
                return Tensor::new(self.recorder(), None);
            }
        };
        let Some(shape) = Shape::checked(axes) else {
            let axes = axes.to_vec();
            self.recorder().fail(at, Fault::TooLarge { axes });
            return Tensor::new(self.recorder(), None);
        };
        let word = || Op::Random(u64::TYPE, shape.clone());
        let words = (0..draw.words()).map(|_| self.record(word(), &[]).remove(0));
        let words: Vec<Tensor> = words.collect();
        let words: Vec<&Tensor> = words.iter().collect();
        let op = Op::Each(Each::new(Arc::new(draw)));
        self.record(op, &words).remove(0)
    }
}

impl Draw {
    /// A draw whose numbers are of this type.
    ///
    /// # Errors
    /// Text that says what does not fit.
    fn new(noise: Noise, element: Type) -> Result<Self, String> {
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
    fn words(&self) -> usize {
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
