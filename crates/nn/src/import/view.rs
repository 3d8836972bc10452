//! A node of the model as its importer sees it: inputs by place, attributes by name and type.

use std::cell::RefCell;
use std::sync::Arc;

use super::builder::Builder;
use super::live::Live;
use super::origin::Source;
use crate::error::Fault;
use crate::graph::ValueId;
use crate::proto;
use crate::read::Limits;
use crate::tensor::{MAX_RANK, Tensor};

/// A node, and the graph to which its import adds.
pub(super) struct View<'a> {
    pub(super) proto: &'a proto::Node,
    /// The node's place in the file.
    pub(super) place: usize,
    /// Places of node and attribute, and the type that was wanted, of attributes that were looked at.
    pub(super) seen: &'a RefCell<Vec<(usize, usize, i32)>>,
    pub(super) opset: i64,
    /// Inputs of the node, without those left out at the end.
    pub(super) inputs: &'a [Option<ValueId>],
    pub(super) limits: &'a Limits,
    /// Names of the model's inputs, to say on which a value depends.
    pub(super) sources: &'a [(String, ValueId)],
    /// Parts of the model that serve an output.
    pub(super) live: &'a Live<'a>,
}

/// ONNX's numbers for the types of attributes.
pub(crate) mod kinds {
    /// Kind for an attribute of which only whether there is one is asked.
    pub(crate) const NONE: i32 = 0;
    pub(crate) const FLOAT: i32 = 1;
    pub(crate) const INT: i32 = 2;
    pub(crate) const STRING: i32 = 3;
    pub(crate) const TENSOR: i32 = 4;
    pub(crate) const FLOATS: i32 = 6;
    pub(crate) const INTS: i32 = 7;
}

impl View<'_> {
    /// An input that must be there.
    pub(super) fn input(&self, index: usize) -> Result<ValueId, Fault> {
        self.optional(index).ok_or(Fault::InputMissing { index })
    }

    /// An input that may be left out.
    pub(super) fn optional(&self, index: usize) -> Option<ValueId> {
        self.inputs.get(index).copied().flatten()
    }

    /// All inputs, none of which may be left out.
    pub(super) fn all(&self) -> Result<Vec<ValueId>, Fault> {
        let count = self.inputs.len().max(1);
        (0..count).map(|index| self.input(index)).collect()
    }

    /// Whether an output is read by somebody who serves an output of the model.
    pub(super) fn makes(&self, index: usize) -> bool {
        let name = self.proto.output.get(index);
        name.is_some_and(|name| self.live.reads(name))
    }

    /// An attribute and its place.
    fn named(&self, name: &str, kind: i32) -> Option<(usize, &proto::Attribute)> {
        let mut all = self.proto.attribute.iter().enumerate();
        let (at, found) = all.find(|(_, own)| own.name == name)?;
        self.seen.borrow_mut().push((self.place, at, kind));
        Some((at, found))
    }

    /// Gives the tensor of the file that an attribute is.
    pub(super) fn source(&self, name: &str) -> Option<Source> {
        let (at, _) = self.named(name, kinds::NONE)?;
        Some(Source::Attribute(self.place, at))
    }

    /// Whether the model has an attribute, which is of the type that it should have.
    fn attribute(
        &self,
        name: &'static str,
        kind: i32,
        expected: &'static str,
    ) -> Result<Option<&proto::Attribute>, Fault> {
        let found = self.named(name, kind).map(|(_, found)| found);
        // Files older than types of attributes say nothing.
        match found {
            Some(found) if found.r#type != kind && found.r#type != 0 => {
                Err(Fault::AttributeType { name, expected })
            }
            Some(found) if !found.ref_attr_name.is_empty() => {
                Err(Fault::AttributeType { name, expected })
            }
            _ => Ok(found),
        }
    }

    /// Whether there is an attribute of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.named(name, kinds::NONE).is_some()
    }

    pub(super) fn maybe_int(&self, name: &'static str) -> Result<Option<i64>, Fault> {
        let found = self.attribute(name, kinds::INT, "an integer")?;
        Ok(found.map(|found| found.i))
    }

    pub(super) fn int(&self, name: &'static str, default: i64) -> Result<i64, Fault> {
        Ok(self.maybe_int(name)?.unwrap_or(default))
    }

    pub(super) fn flag(&self, name: &'static str, default: bool) -> Result<bool, Fault> {
        Ok(self.int(name, i64::from(default))? != 0)
    }

    pub(super) fn maybe_float(&self, name: &'static str) -> Result<Option<f64>, Fault> {
        let found = self.attribute(name, kinds::FLOAT, "a float")?;
        Ok(found.map(|found| f64::from(found.f)))
    }

    pub(super) fn float(&self, name: &'static str, default: f64) -> Result<f64, Fault> {
        Ok(self.maybe_float(name)?.unwrap_or(default))
    }

    pub(super) fn ints(&self, name: &'static str) -> Result<Option<Vec<i64>>, Fault> {
        let found = self.attribute(name, kinds::INTS, "a list of integers")?;
        Ok(found.map(|found| found.ints.clone()))
    }

    pub(super) fn floats(&self, name: &'static str) -> Result<Option<Vec<f32>>, Fault> {
        let found = self.attribute(name, kinds::FLOATS, "a list of floats")?;
        Ok(found.map(|found| found.floats.clone()))
    }

    pub(super) fn string(&self, name: &'static str, default: &str) -> Result<String, Fault> {
        let found = self.attribute(name, kinds::STRING, "a string")?;
        Ok(found.map_or(default.to_string(), |found| {
            String::from_utf8_lossy(&found.s).into_owned()
        }))
    }

    /// A string that is one of those in `supported`, which lie between commas.
    pub(super) fn choice(
        &self,
        name: &'static str,
        default: &str,
        supported: &'static str,
    ) -> Result<String, Fault> {
        let found = self.string(name, default)?;
        match supported.split(", ").any(|one| one == found) {
            true => Ok(found),
            false => Err(Fault::attribute(name, found, supported)),
        }
    }

    pub(super) fn tensor(&self, b: &Builder, name: &'static str) -> Result<Option<Tensor>, Fault> {
        let Some(found) = self.attribute(name, kinds::TENSOR, "a tensor")? else {
            return Ok(None);
        };
        let Some(stored) = &found.t else {
            return Ok(None);
        };
        let tensor = crate::read::tensor(stored, self.limits, &b.budget);
        tensor.map(Some).map_err(|error| Fault::StoredTensor {
            name,
            fault: error.fault,
        })
    }

    /// An operand that must be known beforehand.
    pub(super) fn constant(
        &self,
        builder: &Builder,
        index: usize,
        what: &'static str,
    ) -> Result<Arc<Tensor>, Fault> {
        let id = self.input(index)?;
        match builder.read(id) {
            Some(known) => Ok(known.clone()),
            None => Err(Fault::NotConstant {
                what,
                inputs: self.depends_on(builder, id),
            }),
        }
    }

    /// Integers that must be known beforehand.
    pub(super) fn const_ints(
        &self,
        builder: &Builder,
        index: usize,
        what: &'static str,
    ) -> Result<Vec<i64>, Fault> {
        let tensor = self.constant(builder, index, what)?;
        let found = tensor.element();
        tensor.as_ints().map(<[i64]>::to_vec).ok_or(Fault::Element {
            found,
            supported: "integers",
        })
    }

    /// Integers that are an input since some version, and were an attribute before. None where they are left out.
    pub(super) fn ints_from(
        &self,
        builder: &Builder,
        name: &'static str,
        (index, since): (usize, i64),
    ) -> Result<Option<Vec<i64>>, Fault> {
        if self.opset < since {
            return self.ints(name);
        }
        match self.optional(index) {
            Some(_) => self.const_ints(builder, index, name).map(Some),
            None => Ok(None),
        }
    }

    /// One number that must be known beforehand.
    pub(super) fn const_number(
        &self,
        builder: &Builder,
        index: usize,
        what: &'static str,
    ) -> Result<f64, Fault> {
        let tensor = self.constant(builder, index, what)?;
        match tensor.to_f64()[..] {
            [value] => Ok(value),
            _ => Err(Fault::shape(what, tensor.shape(), "one element")),
        }
    }

    /// The model's inputs on which a value depends.
    fn depends_on(&self, builder: &Builder, id: ValueId) -> Vec<String> {
        let mut needed = vec![false; builder.values.len()];
        needed[id.index()] = true;
        for node in builder.nodes.iter().rev() {
            if node.outputs.iter().any(|output| needed[output.index()]) {
                for input in &node.inputs {
                    needed[input.index()] = true;
                }
            }
        }
        let sources = self.sources.iter().filter(|(_, id)| needed[id.index()]);
        sources.map(|(name, _)| name.clone()).collect()
    }
}

/// An attribute, or an input that was one, that must be there.
pub(super) fn required<T>(name: &'static str, found: Result<Option<T>, Fault>) -> Result<T, Fault> {
    found?.ok_or(Fault::AttributeMissing { name })
}

/// An axis as the model says it: below 0 counted from the end. `rank` may be that of a result.
pub(super) fn axis_of(axis: i64, rank: usize) -> Result<usize, Fault> {
    let counted = match axis < 0 {
        true => axis.saturating_add(rank as i64),
        false => axis,
    };
    let found = usize::try_from(counted).ok().filter(|&found| found < rank);
    found.ok_or(Fault::Axis { axis, rank })
}

/// Several axes, in ascending order, each once.
pub(super) fn axes_of(axes: &[i64], rank: usize) -> Result<Vec<usize>, Fault> {
    few(axes)?;
    let found: Result<Vec<usize>, Fault> = axes.iter().map(|&axis| axis_of(axis, rank)).collect();
    let mut found = found?;
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// Checks that a list has no more entries than a tensor has dimensions.
pub(super) fn few(list: &[i64]) -> Result<(), Fault> {
    match list.len() {
        found if found > MAX_RANK => Err(Fault::Rank { found }),
        _ => Ok(()),
    }
}

/// A number that must not be below `least`.
pub(super) fn at_least(
    least: i64,
    found: i64,
    what: &'static str,
    expected: &'static str,
) -> Result<usize, Fault> {
    let number = usize::try_from(found).ok().filter(|_| found >= least);
    number.ok_or(Fault::number(what, found, expected))
}
