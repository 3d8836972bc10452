//! A model that has become a program.

use std::collections::{BTreeSet, HashMap};

use madrigal_program::{Array, Computation, Inputs, Outputs, Type};

use super::encoded::encoded;
use super::error::EncodeError;
use super::layers::Layer;
use super::limits::OwnersLimit;
use super::masks::Masks;
use crate::graph::{Graph, Type as ValueType, ValueId};
use crate::tensor::{Data, Tensor};

/// An input or an output of the model.
#[derive(Clone, Debug)]
pub(super) struct Port {
    pub(super) name: String,
    /// Name of the input in the program.
    pub(super) port: String,
    pub(super) element: Type,
    pub(super) ty: ValueType,
}

/// Weights that their owner brings.
#[derive(Clone, Debug)]
pub(super) struct Weight {
    /// The first node that reads them.
    pub(super) name: String,
    pub(super) port: String,
    pub(super) value: ValueId,
    pub(super) element: Type,
    /// The type of the model's numbers.
    pub(super) number: Type,
    /// Whether their inverses are wanted.
    pub(super) inverse: bool,
}

/// A program for one model and one batch, whose weights and data are inputs.
#[derive(Clone, Debug)]
pub struct Network {
    pub(super) program: Computation,
    pub(super) weights: Vec<Weight>,
    /// Numbers that stand for those which the type does not have.
    pub(super) masks: Masks,
    pub(super) inputs: Vec<Port>,
    pub(super) outputs: Vec<Port>,
    /// Bits after the point beyond the format's that nodes' results have at first.
    pub(super) more: HashMap<ValueId, u32>,
    pub(super) layers: Vec<Layer>,
    pub(super) number: Type,
    /// Limits that the owner of the weights brings for the check of ranges.
    pub(super) limits: Vec<OwnersLimit>,
    /// Whether there is that check: its bit is the last output.
    pub(super) guarded: bool,
}

/// Counts of a model's numbers: those that all parties know, and those that their owner alone knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Shown {
    /// Constants that are part of the program.
    pub to_all: u64,
    /// Numbers that are inputs of the model's owner.
    pub to_owner: u64,
}

impl Network {
    /// The program. It depends on the architecture and on public weights, not on others.
    pub fn program(&self) -> &Computation {
        &self.program
    }

    /// Names of the program's inputs and outputs that are the model's, each with the model's own name.
    pub fn names(&self) -> impl Iterator<Item = (&str, &str)> {
        let ports = self.inputs.iter().chain(&self.outputs);
        ports.map(|port| (port.port.as_str(), port.name.as_str()))
    }

    /// The model's nodes, in order. The work of the program for one of them belongs to the part of the program that has the
    /// layer's number ([`Executable::part`](madrigal_program::Executable::part)): the sharing of its weights, too. What
    /// belongs to none shares the data and opens the results.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// Counts the numbers that the model's nodes read by who knows them, each once.
    pub fn shown(&self, graph: &Graph) -> Shown {
        let own: BTreeSet<ValueId> = self.weights.iter().map(|weight| weight.value).collect();
        let mut shown = Shown::default();
        for (id, tensor) in graph.constants() {
            match own.contains(&id) {
                true => shown.to_owner += tensor.len() as u64,
                false => shown.to_all += tensor.len() as u64,
            }
        }
        shown
    }

    /// The weights, as the model's owner brings them, beside other inputs.
    ///
    /// # Errors
    /// [`EncodeError`]: weights that the type of numbers does not have.
    pub fn with_weights(&self, graph: &Graph, mut inputs: Inputs) -> Result<Inputs, EncodeError> {
        for weight in &self.weights {
            let Some(tensor) = &graph.value(weight.value).constant else {
                continue;
            };
            let tensor = self.masks.bounded(weight.value, tensor, weight.element);
            let array = encoded(&tensor, weight.element, weight.inverse);
            let (name, element) = (weight.name.clone(), weight.element.to_string());
            let array = array.map_err(|found| match weight.inverse {
                true => EncodeError::Divisor {
                    name,
                    found,
                    number: weight.number.to_string(),
                },
                false => EncodeError::Weight {
                    name,
                    found,
                    element,
                },
            })?;
            inputs = inputs.with_array(Some(&weight.port), array);
        }
        for limit in &self.limits {
            inputs = limit.given(graph, self.number, inputs)?;
        }
        Ok(inputs)
    }

    /// The data, in the order of the model's inputs, beside other inputs.
    ///
    /// # Errors
    /// [`EncodeError`]: data of other shapes, or that the type of numbers does not have.
    pub fn with_data(&self, data: &[Tensor], mut inputs: Inputs) -> Result<Inputs, EncodeError> {
        if data.len() != self.inputs.len() {
            return Err(EncodeError::Count {
                expected: self.inputs.len(),
                found: data.len(),
            });
        }
        for (port, tensor) in self.inputs.iter().zip(data) {
            if tensor.shape() != port.ty.shape {
                return Err(EncodeError::Shape {
                    name: port.name.clone(),
                    expected: port.ty.shape.clone(),
                    found: tensor.shape().to_vec(),
                });
            }
            let held = tensor.converted(port.ty.element);
            let held = held.map_err(|wrong| EncodeError::Element {
                name: port.name.clone(),
                wrong,
            })?;
            let array = encoded(&held, port.element, false);
            let array = array.map_err(|found| EncodeError::Input {
                name: port.name.clone(),
                found,
                element: port.element.to_string(),
            })?;
            inputs = inputs.with_array(Some(&port.port), array);
        }
        Ok(inputs)
    }

    /// The model's outputs by name, in its order; none for parties that do not learn them.
    pub fn results(&self, outputs: &Outputs) -> Vec<(String, Option<Tensor>)> {
        let of = |(port, array): (&Port, Option<&Array>)| {
            let tensor = array.map(|array| decoded(array, &port.ty));
            (port.name.clone(), tensor)
        };
        self.outputs.iter().zip(outputs.arrays()).map(of).collect()
    }

    /// Whether a number may have left its range, and results are of no use: of a network that
    /// [checks that](Graph::on_secrets_checked), as all parties learn it.
    pub fn may_have_left(&self, outputs: &Outputs) -> Option<bool> {
        let bit = outputs.arrays().nth(self.outputs.len()).flatten();
        let bit = bit.filter(|_| self.guarded)?;
        bit.codes().next().map(|code| code == 1)
    }
}

/// Numbers as the model has them.
fn decoded(array: &Array, ty: &ValueType) -> Tensor {
    let data = match ty.element {
        crate::tensor::Element::F64 => Data::F64(array.to_f64()),
        element if element.is_float() => {
            Data::F32(array.to_f64().iter().map(|&n| n as f32).collect())
        }
        // All bits; narrow ones get their sign when the tensor is made.
        element if element.is_integer() => {
            Data::Int(array.codes().map(|code| code as i64).collect())
        }
        _ => Data::Bool(array.codes().map(|code| code != 0).collect()),
    };
    Tensor::made(ty.element, ty.shape.clone(), data)
}
