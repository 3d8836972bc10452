//! Sizes that a model leaves open, and what data says of them.

use std::collections::BTreeSet;

use super::options::Options;
use crate::error::Problem;
use crate::proto::{self, dimension, r#type};
use crate::read::Model;

/// A size of an input, as the file has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size<'a> {
    /// A number.
    Fixed(usize),
    /// Open; with its name, which may be empty.
    Open(&'a str),
}

impl Size<'_> {
    /// Whether data may have this size there. A first dimension of 1 is that of a batch.
    fn takes(self, axis: usize, size: usize) -> bool {
        match self {
            Self::Fixed(own) => own == size || (axis == 0 && own == 1),
            Self::Open(_) => true,
        }
    }
}

/// Sizes of an input; none if the file does not tell its dimensions.
fn sizes(input: &proto::ValueInfo) -> Option<Vec<Size<'_>>> {
    let ty = input.r#type.as_ref()?.value.as_ref()?;
    let r#type::Value::TensorType(ty) = ty else {
        return None;
    };
    let of = |dim| match fixed(dim) {
        Some(size) => Size::Fixed(size),
        None => Size::Open(name(dim)),
    };
    Some(ty.shape.as_ref()?.dim.iter().map(of).collect())
}

/// Names of the dimensions of a model's inputs, in alphabetical order.
pub(super) fn names(graph: &proto::Graph) -> BTreeSet<&str> {
    let all = graph.input.iter().filter_map(sizes).flatten();
    let names = all.filter_map(|size| match size {
        Size::Open(name) if !name.is_empty() => Some(name),
        _ => None,
    });
    names.collect()
}

fn fixed(dim: &proto::Dimension) -> Option<usize> {
    match dim.value {
        Some(dimension::Value::DimValue(size)) => usize::try_from(size).ok(),
        _ => None,
    }
}

fn name(dim: &proto::Dimension) -> &str {
    match &dim.value {
        Some(dimension::Value::DimParam(name)) => name,
        _ => "",
    }
}

impl Model {
    /// Names and sizes of the inputs, weights left out, in the model's order; no sizes where the file tells none.
    pub fn input_sizes(&self) -> Vec<(&str, Option<Vec<Size<'_>>>)> {
        let weights = self.weights();
        let inputs = self.graph.input.iter();
        let inputs = inputs.filter(|input| !weights.contains(&input.name[..]));
        inputs
            .map(|input| (&input.name[..], sizes(input)))
            .collect()
    }
}

impl Options {
    /// Sets what the shape of the data for an input says of sizes that the model leaves open. Data that does not fit
    /// says nothing: whoever takes it will tell.
    ///
    /// # Errors
    /// [`Problem`] if a dimension's name has another size already, by data or because it was told.
    pub fn with_data(
        &mut self,
        (input, sizes): (&str, Option<&[Size<'_>]>),
        shape: &[usize],
    ) -> Result<(), Problem> {
        let Some(sizes) = sizes else {
            self.shapes
                .entry(input.to_owned())
                .or_insert_with(|| shape.to_vec());
            return Ok(());
        };
        let pairs = sizes.iter().zip(shape);
        let fits = sizes.len() == shape.len();
        if !fits || self.shapes.contains_key(input) {
            return Ok(());
        }
        if pairs
            .clone()
            .enumerate()
            .any(|(axis, (own, &size))| !own.takes(axis, size))
        {
            return Ok(());
        }
        for (own, &found) in pairs {
            let Size::Open(name) = *own else { continue };
            if name.is_empty() {
                continue;
            }
            let known = *self.dimensions.entry(name.to_owned()).or_insert(found);
            if known != found {
                return Err(Problem::Sizes {
                    input: input.to_owned(),
                    name: name.to_owned(),
                    known,
                    found,
                });
            }
        }
        self.shapes.insert(input.to_owned(), shape.to_vec());
        Ok(())
    }
}
