//! Operations that a program's author brings.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use madrigal_engine::{Element, Mismatch, Operation, Sharing, Width};
use madrigal_operations::BACKENDS;

use super::TensorType;
use crate::array::Array;
use crate::error::Fault;

/// An operation of the engine, with the sharings that it takes its operands in and results of known sorts.
#[derive(Clone)]
pub struct OwnOperation {
    operation: Arc<dyn Operation>,
    takes: Vec<(Sharing, Element)>,
    outputs: Vec<TensorType>,
}

impl OwnOperation {
    /// Makes an operation among `parties` parties on values that it takes in these sharings, with results of these types and
    /// shapes.
    ///
    /// # Errors
    /// [`Fault::Operation`] if the operation does not take these values, or makes others.
    pub(crate) fn new(
        operation: Arc<dyn Operation>,
        parties: usize,
        inputs: &[(&TensorType, Sharing)],
        outputs: Vec<TensorType>,
    ) -> Result<Self, Fault> {
        let fault = |problem| Fault::Operation {
            operator: format!("operation {}", operation.name()),
            problem,
        };
        let mut refused = Mismatch::new("an operation of one's own takes one value at least");
        // Replicated sharing has ring elements and bits of a number: what the operation takes decides.
        for ring_first in [true, false] {
            let element = |&(typed, sharing): &(&TensorType, Sharing)| {
                let bits = typed.element.bits() as usize;
                let known = BACKENDS.iter().find(|known| known.sharing == sharing);
                let both =
                    known.is_none_or(|known| known.bits.is_some() && known.numbers.is_some());
                let ring = match both {
                    true => ring_first,
                    false => known.is_some_and(|known| known.numbers.is_some()),
                };
                let width = Width::ALL.into_iter().find(|width| width.bits() == bits);
                match width.filter(|_| ring) {
                    Some(width) => Element::Ring(width),
                    None => Element::Bits(bits),
                }
            };
            let takes: Vec<(Sharing, Element)> = inputs
                .iter()
                .map(|input| (input.1, element(input)))
                .collect();
            let types: Vec<_> = (inputs.iter().zip(&takes))
                .map(|((typed, _), &(sharing, element))| {
                    madrigal_engine::Sort::new(sharing, element, typed.shape.elements())
                })
                .collect();
            let made = match operation.sorts(&types, parties) {
                Ok(made) => made,
                Err(problem) => {
                    refused = problem;
                    continue;
                }
            };
            let fits = |(made, typed): (&madrigal_engine::Sort, &TensorType)| {
                let bits = typed.element.bits() as usize;
                (made.element.bits(), made.len) == (bits, typed.shape.elements())
                    && !made.sharing.is_clear()
            };
            if made.len() != outputs.len() || !made.iter().zip(&outputs).all(fits) {
                let made: Vec<String> = made.iter().map(ToString::to_string).collect();
                let wanted: Vec<String> = outputs.iter().map(ToString::to_string).collect();
                return Err(fault(Mismatch::new(format!(
                    "it makes {}, of which {} cannot be taken",
                    made.join(", "),
                    wanted.join(", ")
                ))));
            }
            return Ok(Self {
                operation,
                takes,
                outputs,
            });
        }
        Err(fault(refused))
    }

    /// The sharing and the element of each operand.
    pub fn takes(&self) -> &[(Sharing, Element)] {
        &self.takes
    }

    /// The operation.
    pub fn operation(&self) -> &Arc<dyn Operation> {
        &self.operation
    }

    /// Types and shapes of the results.
    pub fn outputs(&self) -> &[TensorType] {
        &self.outputs
    }

    /// The results' elements, by the operation in the clear.
    ///
    /// # Errors
    /// Values that the operation is not for.
    pub(crate) fn evaluate(&self, inputs: &[Arc<Array>]) -> Result<Vec<Array>, Mismatch> {
        let elements: Vec<Element> = self.takes.iter().map(|take| take.1).collect();
        crate::clear::by_operation(&*self.operation, inputs, &elements, &self.outputs)
    }
}

impl PartialEq for OwnOperation {
    fn eq(&self, other: &Self) -> bool {
        (&self.takes, &self.outputs) == (&other.takes, &other.outputs)
            && self.operation.name() == other.operation.name()
    }
}

impl Eq for OwnOperation {}

impl Hash for OwnOperation {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.operation.name(), &self.outputs).hash(state);
    }
}

impl fmt::Display for OwnOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "operation {}", self.operation.name())
    }
}

impl fmt::Debug for OwnOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
