//! Programs that compute one circuit of a file.

use madrigal_circuit::{Netlist, WidthsError};

use crate::computation::Computation;
use crate::element::Type;
use crate::error::ProgramError;
use crate::holder::Holder;
use crate::program::Program;
use crate::secret::Tensor;

/// Widths of elements, the widest first: a value of another width is an array of the widest elements that it is made of.
const WIDTHS: [u32; 6] = [128, 64, 32, 16, 8, 1];

/// A program that computes one circuit: who brings its inputs, and who learns its outputs.
///
/// A value of 1, 8, 16, 32, 64 or 128 bits is a `bool` or an unsigned number. One of another width is an array of such, the lowest bits first: 256 bits are
/// two `u128`, and 5 bits are five `bool`. With `places`, each value has one more axis before these, and the circuit is computed at each place.
///
/// ```
/// use madrigal_circuit::Builder;
/// use madrigal_program::{Client, Inputs, OfCircuit};
/// let mut b = Builder::new("nand");
/// let (x, y) = (b.input(8), b.input(8));
/// let both = b.and_all(&x, &y);
/// let nand = b.not_all(&both);
/// b.output(&nand);
/// let member = Client::new("member");
/// let of = OfCircuit {
///     parties: 3,
///     inputs: vec![("x".into(), member.clone().into()), ("y".into(), member.clone().into())],
///     outputs: vec![("nand".into(), vec![member.into()])],
///     places: Some(2),
/// };
/// let program = of.program(&b.finish())?;
/// let outputs = program.simulate(&Inputs::new().with([12u8, 255]).with([10u8, 255]))?;
/// let nand = outputs.arrays().next().flatten().and_then(|nand| nand.to_vec::<u8>());
/// assert_eq!(nand, Some(vec![!8, 0]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct OfCircuit {
    /// Number of parties that compute.
    pub parties: usize,
    /// Name of each input of the circuit, in order, and who brings it.
    pub inputs: Vec<(String, Holder)>,
    /// Name of each output of the circuit, in order, and who learns it.
    pub outputs: Vec<(String, Vec<Holder>)>,
    /// Number of places at which the circuit is computed; none for one circuit without such an axis.
    pub places: Option<usize>,
}

/// Reason why a circuit is no program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OfCircuitError {
    /// Another number of values than the circuit has.
    #[error("the circuit has {expected} {side}s, and {found} have a name: name each, in order")]
    Values {
        /// `input` or `output`.
        side: &'static str,
        /// Values of the circuit.
        expected: usize,
        /// Values that were named.
        found: usize,
    },
    /// A value without bits.
    #[error("{side} {place} of the circuit has no bits")]
    Empty {
        /// `input` or `output`.
        side: &'static str,
        /// Place of the value, from 0 on.
        place: usize,
    },
    /// The program cannot be.
    #[error(transparent)]
    Program(#[from] ProgramError),
}

/// The elements of a circuit's value.
#[derive(Clone, Copy)]
struct Elements {
    typed: Type,
    /// Number of elements; one alone has no axis.
    count: usize,
}

impl Elements {
    fn of(side: &'static str, place: usize, bits: u32) -> Result<Self, OfCircuitError> {
        let width = WIDTHS.into_iter().find(|width| bits.is_multiple_of(*width));
        match width {
            Some(width) if bits > 0 => Ok(Self {
                typed: Type::unsigned(width),
                count: (bits / width) as usize,
            }),
            _ => Err(OfCircuitError::Empty { side, place }),
        }
    }

    fn all(side: &'static str, named: usize, widths: &[u32]) -> Result<Vec<Self>, OfCircuitError> {
        if named != widths.len() {
            return Err(OfCircuitError::Values {
                side,
                expected: widths.len(),
                found: named,
            });
        }
        let all = widths.iter().enumerate();
        all.map(|(place, &bits)| Self::of(side, place, bits))
            .collect()
    }

    /// Bits of each element.
    fn widths(all: &[Self]) -> Vec<u32> {
        let each = |one: &Self| std::iter::repeat_n(one.typed.bits(), one.count);
        all.iter().flat_map(each).collect()
    }
}

impl OfCircuit {
    /// The program.
    ///
    /// # Errors
    /// [`OfCircuitError`]: names that are not as many as the circuit's values, or a program that cannot be.
    pub fn program(&self, circuit: &Netlist) -> Result<Computation, OfCircuitError> {
        let inputs = Elements::all("input", self.inputs.len(), circuit.inputs())?;
        let outputs = Elements::all("output", self.outputs.len(), circuit.outputs())?;
        let split = circuit.clone().with_inputs(&Elements::widths(&inputs));
        let split = split.and_then(|one| one.with_outputs(&Elements::widths(&outputs)));
        let split =
            split.unwrap_or_else(|WidthsError { .. }| unreachable!("elements have all bits"));
        let mut program = Program::new(self.parties);
        // Elements of an array stand along its last axis.
        let axis = usize::from(self.places.is_some());
        let mut values = Vec::new();
        for ((name, owner), elements) in self.inputs.iter().zip(&inputs) {
            let mut axes: Vec<usize> = self.places.into_iter().collect();
            axes.extend((elements.count > 1).then_some(elements.count));
            let value = program.tensor_input(Some(name), owner.clone(), elements.typed, &axes);
            match elements.count {
                1 => values.push(value),
                count => values.extend((0..count).map(|at| value.at(axis, at))),
            }
        }
        let types: Vec<Type> = outputs
            .iter()
            .flat_map(|elements| std::iter::repeat_n(elements.typed, elements.count))
            .collect();
        let operands: Vec<&Tensor> = values.iter().collect();
        let mut results = program.circuit(&split, &operands, &types).into_iter();
        for ((name, to), elements) in self.outputs.iter().zip(&outputs) {
            let parts: Vec<Tensor> = results.by_ref().take(elements.count).collect();
            let value = match &parts[..] {
                [one] => one.clone(),
                parts => {
                    let parts: Vec<Tensor> = parts.iter().map(|part| part.expand(axis)).collect();
                    let parts: Vec<&Tensor> = parts.iter().collect();
                    Tensor::concat(&parts, axis).expect("a value has an element")
                }
            };
            program.open_tensor(Some(name), &value, to.clone());
        }
        Ok(program.finish()?)
    }
}
