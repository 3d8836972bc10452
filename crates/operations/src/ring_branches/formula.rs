//! Branches of sums and products of ring elements.

use madrigal_core::Ring;
use madrigal_core::domains::FORMULAS;
use madrigal_correlations::Width;
use sha2::{Digest, Sha256};

/// Computation of a branch on its inputs, in each lane: sums and products modulo 2^l, one after the other.
///
/// Values have numbers: first the inputs, then what each step makes, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Formula {
    inputs: u32,
    steps: Vec<FormulaStep>,
    outputs: Vec<u32>,
}

/// A step of a [`Formula`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FormulaStep {
    /// The sum of values, each times a factor that all know, and of a constant.
    Linear {
        /// Values and their factors, modulo 2^l.
        terms: Vec<(u32, u128)>,
        /// Number that is added.
        constant: u128,
    },
    /// The product of two values.
    Product(u32, u32),
}

impl Formula {
    /// Makes a formula of `inputs` inputs without steps.
    pub fn new(inputs: u32) -> Self {
        Self {
            inputs,
            ..Self::default()
        }
    }

    /// Adds a sum of values times factors and of a constant; gives its number.
    ///
    /// # Panics
    /// If there is no such value, as with all of these.
    pub fn linear(&mut self, terms: Vec<(u32, u128)>, constant: u128) -> u32 {
        terms.iter().for_each(|&(value, _)| self.check(value));
        self.push(FormulaStep::Linear { terms, constant })
    }

    /// Adds a product; gives its number.
    pub fn product(&mut self, x: u32, y: u32) -> u32 {
        [x, y].into_iter().for_each(|value| self.check(value));
        self.push(FormulaStep::Product(x, y))
    }

    /// Adds an output.
    pub fn output(&mut self, value: u32) {
        self.check(value);
        self.outputs.push(value);
    }

    fn check(&self, value: u32) {
        let known = self.values();
        assert!(value < known, "value {value} of {known}");
    }

    fn push(&mut self, step: FormulaStep) -> u32 {
        self.steps.push(step);
        self.values() - 1
    }

    /// Number of inputs.
    pub fn inputs(&self) -> u32 {
        self.inputs
    }

    /// Steps, in order.
    pub fn steps(&self) -> &[FormulaStep] {
        &self.steps
    }

    /// The numbers of the values that come out.
    pub fn outputs(&self) -> &[u32] {
        &self.outputs
    }

    /// Number of values.
    pub fn values(&self) -> u32 {
        self.inputs + self.steps.len() as u32
    }

    /// Number of products.
    pub fn products(&self) -> usize {
        let products = self.steps.iter();
        products
            .filter(|step| matches!(step, FormulaStep::Product(..)))
            .count()
    }

    /// Computes the outputs of numbers in the clear.
    ///
    /// # Panics
    /// If there are not as many as it has inputs.
    pub fn evaluate<T: Ring>(&self, inputs: &[T]) -> Vec<T> {
        assert_eq!(inputs.len(), self.inputs as usize, "inputs of a formula");
        let mut values = inputs.to_vec();
        for step in &self.steps {
            let value = match step {
                FormulaStep::Linear { terms, constant } => {
                    let term = |&(value, factor): &(u32, u128)| {
                        values[value as usize].mul(T::from_u128(factor))
                    };
                    let terms = terms.iter().map(term);
                    terms.fold(T::from_u128(*constant), Ring::add)
                }
                &FormulaStep::Product(x, y) => values[x as usize].mul(values[y as usize]),
            };
            values.push(value);
        }
        let outputs = self.outputs.iter();
        outputs.map(|&value| values[value as usize]).collect()
    }
}

/// The branches of a conditional over one ring.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Formulas {
    width: Width,
    branches: Vec<Formula>,
}

impl Formulas {
    /// These, of as many inputs and outputs each: at least two branches, an input and an output.
    ///
    /// # Panics
    /// If they are not.
    pub fn new(width: Width, branches: Vec<Formula>) -> Self {
        assert!(branches.len() >= 2, "{} branches", branches.len());
        let first = &branches[0];
        let (inputs, outputs) = (first.inputs, first.outputs.len());
        assert!(
            inputs > 0 && outputs > 0,
            "{inputs} inputs, {outputs} outputs"
        );
        let alike =
            |formula: &Formula| formula.inputs == inputs && formula.outputs.len() == outputs;
        assert!(branches.iter().all(alike), "branches of one shape");
        Self { width, branches }
    }

    /// The ring.
    pub fn width(&self) -> Width {
        self.width
    }

    /// The branches.
    pub fn branches(&self) -> &[Formula] {
        &self.branches
    }

    /// Inputs of each branch.
    pub fn inputs(&self) -> usize {
        self.branches[0].inputs as usize
    }

    /// Outputs of each branch.
    pub fn outputs(&self) -> usize {
        self.branches[0].outputs.len()
    }

    /// Bits of a branch's number.
    pub fn index_bits(&self) -> usize {
        madrigal_circuit::branches::index_bits(self.branches.len())
    }

    /// A hash of all.
    pub fn digest(&self) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(FORMULAS);
        let number = |hash: &mut Sha256, number: usize| hash.update((number as u64).to_le_bytes());
        number(&mut hash, self.width.bits());
        number(&mut hash, self.branches.len());
        for branch in &self.branches {
            number(&mut hash, branch.inputs as usize);
            number(&mut hash, branch.steps.len());
            for step in &branch.steps {
                match step {
                    FormulaStep::Linear { terms, constant } => {
                        number(&mut hash, 0);
                        number(&mut hash, terms.len());
                        for (value, factor) in terms {
                            number(&mut hash, *value as usize);
                            hash.update(factor.to_le_bytes());
                        }
                        hash.update(constant.to_le_bytes());
                    }
                    FormulaStep::Product(x, y) => {
                        number(&mut hash, 1);
                        number(&mut hash, *x as usize);
                        number(&mut hash, *y as usize);
                    }
                }
            }
            number(&mut hash, branch.outputs.len());
            for &output in &branch.outputs {
                number(&mut hash, output as usize);
            }
        }
        hash.finalize().into()
    }
}
