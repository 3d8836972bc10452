//! Noise that the parties draw together, and that none of them knows: discrete Laplace, for differential privacy.

use std::sync::Arc;

use madrigal_noise::Noise;

use crate::draw::Draw;
use crate::element::{Plain, Type};
use crate::error::{Fault, Source};
use crate::ir::{Each, Op};
use crate::program::Program;
use crate::secret::{Secret, Tensor};
use crate::shape::{IntoShape, Shape};

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
