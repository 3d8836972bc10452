//! Reasons that keep a model from being computed on secrets.

use std::fmt;

use madrigal_core::budget::Spent;

use crate::tensor::HeldError;

/// A node that cannot be computed on secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfit {
    /// The node's name.
    pub node: String,
    /// Operator of the node in the model.
    pub operator: String,
    /// Reason, and what to do.
    pub reason: String,
    /// The budget that it overdraws, if that is why.
    pub spent: Option<Spent>,
}

/// All of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnfitError {
    /// Nodes in the order of the model; never empty.
    pub nodes: Vec<Unfit>,
}

impl fmt::Display for UnfitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the model cannot be computed on secrets:")?;
        for node in &self.nodes {
            write!(f, "\n  {} {:?}: {}", node.operator, node.node, node.reason)?;
        }
        Ok(())
    }
}

impl std::error::Error for UnfitError {}

/// Numbers that the type does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// A weight.
    #[error(
        "the weights {name:?} hold {found}, which {element} does not: give numbers more bits, or fewer after the point"
    )]
    Weight {
        /// The node that reads it.
        name: String,
        /// The first such number.
        found: String,
        /// The type.
        element: String,
    },
    /// A weight that other numbers are divided by.
    #[error(
        "the weights {name:?} are divided by, and hold {found}, whose inverse is beyond the range of {number}: take such \
         divisors out of the model, or scale it so that it divides by greater ones"
    )]
    Divisor {
        /// The node that reads it.
        name: String,
        /// The first such number.
        found: String,
        /// The type of numbers.
        number: String,
    },
    /// An input.
    #[error(
        "input {name:?} holds {found}, which {element} does not: scale the data, or give numbers more bits"
    )]
    Input {
        /// The input.
        name: String,
        /// The first such number.
        found: String,
        /// The type.
        element: String,
    },
    /// An input with numbers that its elements do not have.
    #[error("input {name:?}: {wrong}")]
    Element {
        /// The input.
        name: String,
        /// The first such number.
        wrong: HeldError,
    },
    /// Another number of inputs than the model has.
    #[error("inputs given: {found}; inputs of the model: {expected}")]
    Count {
        /// Number of inputs of the model.
        expected: usize,
        /// Number of inputs that was given.
        found: usize,
    },
    /// An input of another shape.
    #[error("input {name:?} is of shape {expected:?}, and {found:?} was given")]
    Shape {
        /// The input.
        name: String,
        /// Dimensions in the model.
        expected: Vec<usize>,
        /// Dimensions that were given.
        found: Vec<usize>,
    },
}
