//! Operations on elements, each by itself, that say all there is to say of themselves.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use madrigal_circuit::{Builder, Netlist, Rows, Wire};
use madrigal_core::Digest256;
use madrigal_noise::Noise;

use crate::element::Type;

/// An operation on the elements of values of one shape, each by itself, as a circuit. Functions of networks and a user's own
/// circuits are such operations; [`Program::each`](crate::Program::each) puts one into a program.
pub trait Elementwise: Send + Sync {
    /// Names the operation with all of its parameters, on one line. Parties compare it: two operations of one name are
    /// the same.
    fn name(&self) -> String;

    /// Names the operation briefly, for labels of circuits.
    fn label(&self) -> String {
        self.name()
    }

    /// The operation as files of programs hold it; `None` for one that they cannot hold.
    fn form(&self) -> Option<EachForm> {
        None
    }

    /// The types of the results for operands of these types.
    ///
    /// # Errors
    /// Text that says what does not fit.
    fn results(&self, operands: &[Type]) -> Result<Vec<Type>, String>;

    /// Numbers between which the elements of the first result lie, if that is known.
    fn range(&self) -> Option<(i128, i128)> {
        None
    }

    /// Computes the results in the clear: a list for each, of an element for each element of the operands. Elements are
    /// their bits as numbers.
    fn evaluate(&self, operands: &[Vec<u128>]) -> Vec<Vec<u128>>;

    /// Adds the operation on one element to a circuit: the bits of each result for the bits of each operand, the lowest
    /// first.
    fn build(&self, builder: &mut Builder, operands: &[Vec<Wire>]) -> Vec<Vec<Wire>>;
}

/// An operation on elements as files of programs hold it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum EachForm {
    /// A function of the library.
    Function {
        /// Name of the function.
        name: String,
        /// Type of the numbers that it takes.
        from: Type,
        /// Type of the numbers that its results are meant as.
        to: Type,
    },
    /// Noise, made of random bits.
    Noise {
        /// The noise.
        noise: Noise,
        /// Type of the numbers.
        element: Type,
    },
    /// A circuit.
    Circuit {
        /// The circuit.
        netlist: Arc<Netlist>,
        /// Types of its outputs.
        outputs: Vec<Type>,
    },
}

/// An operation with its name; equal where names are.
#[derive(Clone)]
pub struct Each {
    name: Arc<str>,
    operation: Arc<dyn Elementwise>,
}

impl Each {
    pub(crate) fn new(operation: Arc<dyn Elementwise>) -> Self {
        Self {
            name: operation.name().into(),
            operation,
        }
    }

    /// The operation.
    pub fn operation(&self) -> &dyn Elementwise {
        &*self.operation
    }
}

impl PartialEq for Each {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Each {}

impl Hash for Each {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl fmt::Display for Each {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl fmt::Debug for Each {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// A circuit on elements: one input for each operand, one output for each result.
#[derive(Clone)]
pub(crate) struct OwnCircuit {
    netlist: Arc<Netlist>,
    outputs: Vec<Type>,
}

impl OwnCircuit {
    /// A circuit with results of these types.
    pub(crate) fn new(netlist: Arc<Netlist>, outputs: Vec<Type>) -> Self {
        Self { netlist, outputs }
    }
}

impl Elementwise for OwnCircuit {
    fn name(&self) -> String {
        let digest = Digest256::from(self.netlist.digest());
        format!("circuit {} ({digest})", self.netlist.name())
    }

    fn label(&self) -> String {
        self.netlist.name().to_owned()
    }

    fn form(&self) -> Option<EachForm> {
        Some(EachForm::Circuit {
            netlist: Arc::clone(&self.netlist),
            outputs: self.outputs.clone(),
        })
    }

    fn results(&self, operands: &[Type]) -> Result<Vec<Type>, String> {
        for (side, given, own) in [
            ("inputs", operands, self.netlist.inputs()),
            ("outputs", &self.outputs, self.netlist.outputs()),
        ] {
            let given: Vec<u32> = given.iter().map(|element| element.bits()).collect();
            if given != own {
                return Err(format!(
                    "the circuit has {side} of {own:?} bits, and values of {given:?} bits are given"
                ));
            }
        }
        Ok(self.outputs.clone())
    }

    fn evaluate(&self, operands: &[Vec<u128>]) -> Vec<Vec<u128>> {
        let lanes = operands[0].len();
        let mut rows = Rows::new(self.netlist.input_bits() as usize, lanes);
        let mut row = 0;
        for (codes, &bits) in operands.iter().zip(self.netlist.inputs()) {
            for bit in 0..bits {
                for (lane, code) in codes.iter().enumerate() {
                    rows.set(row, lane, code >> bit & 1 == 1);
                }
                row += 1;
            }
        }
        let made = self.netlist.evaluate(&rows).expect("widths were compared");
        let mut row = 0;
        let mut results = Vec::new();
        for &element in &self.outputs {
            let bits = element.bits() as usize;
            let code = |lane: usize| {
                (0..bits).fold(0, |code, bit| {
                    code | u128::from(made.get(row + bit, lane)) << bit
                })
            };
            results.push((0..lanes).map(code).collect());
            row += bits;
        }
        results
    }

    fn build(&self, builder: &mut Builder, operands: &[Vec<Wire>]) -> Vec<Vec<Wire>> {
        builder.netlist(&self.netlist, operands)
    }
}
