//! Forms that each value of a model is kept in.

use std::collections::HashMap;

use madrigal_core::Budget;
use madrigal_program::{Array, Program, Shape, Tensor as Secret, Type};

use super::encoded::encoded;
use super::error::UnfitError;
use super::format::{Format, Roles};
use super::integers::whole;
use super::layers::Layers;
use super::limits::Guards;
use super::masks::Masks;
use super::network::{Network, Port, Weight};
use super::stop::{Lowered, Stop, cannot};
use crate::graph::{Graph, Type as ValueType, ValueId};
use crate::tensor::Tensor;

/// A value on secrets.
#[derive(Clone)]
pub(super) enum Form {
    /// A float, with this many bits more after the point than the format's, which are to be cut off.
    Number(Secret, u32),
    /// An integer, of the model's width and sign.
    Integer(Secret),
    /// A truth value.
    Truth(Secret),
}

impl Form {
    pub(super) fn secret(&self) -> &Secret {
        match self {
            Self::Number(secret, _) | Self::Integer(secret) | Self::Truth(secret) => secret,
        }
    }

    /// Makes the same form with its elements moved.
    pub(super) fn map(&self, f: impl FnOnce(&Secret) -> Secret) -> Self {
        match self {
            Self::Number(secret, more) => Self::Number(f(secret), *more),
            Self::Integer(secret) => Self::Integer(f(secret)),
            Self::Truth(secret) => Self::Truth(f(secret)),
        }
    }
}

/// Sort of value that is wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    Number,
    Integer,
    Truth,
}

impl Sort {
    pub(super) fn of(ty: &ValueType) -> Self {
        match ty.element {
            element if element.is_float() => Self::Number,
            element if element.is_integer() => Self::Integer,
            _ => Self::Truth,
        }
    }
}

/// Bytes that a place in a list takes: in the program, in each of the sharings in which its elements move, in the steps
/// and in the plan.
const PLACE: u64 = 40;

/// The program as it is made, and the forms of the model's values.
pub(super) struct Forms<'a> {
    graph: &'a Graph,
    /// Bytes of memory that may still be taken.
    budget: Budget,
    /// The first node that reads each value.
    readers: Vec<Option<usize>>,
    format: Format,
    public_model: bool,
    owner: madrigal_program::Party,
    pub(super) program: Program,
    made: Vec<Option<Form>>,
    /// Floats without bits too many.
    cut: HashMap<ValueId, Secret>,
    weights: Vec<Weight>,
    /// Constants as secrets: by value, type, and whether they are inverted.
    constants: HashMap<(ValueId, Type, bool), Secret>,
    /// Numbers that stand for those which the type does not have.
    pub(super) masks: Masks,
    inputs: Vec<Port>,
    /// Bits after the point beyond the format's that nodes' results have at first.
    more: HashMap<ValueId, u32>,
    /// Whether numbers leave their ranges, if that is asked for.
    pub(super) guards: Option<Guards>,
}

impl<'a> Forms<'a> {
    pub(super) fn new(
        graph: &'a Graph,
        roles: &Roles,
        format: Format,
        masks: Masks,
        guarded: bool,
    ) -> Self {
        let mut readers = vec![None; graph.values().len()];
        for (place, node) in graph.nodes().iter().enumerate() {
            for id in &node.inputs {
                readers[id.index()].get_or_insert(place);
            }
        }
        let mut forms = Self {
            graph,
            budget: Budget::new(graph.memory),
            readers,
            format,
            public_model: roles.public_model,
            owner: roles.model,
            program: Program::new(roles.parties).with_rounding(format.rounding),
            made: vec![None; graph.values().len()],
            cut: HashMap::new(),
            weights: Vec::new(),
            constants: HashMap::new(),
            masks,
            inputs: Vec::new(),
            more: HashMap::new(),
            guards: guarded.then(Guards::default),
        };
        for (name, id) in graph.inputs() {
            let ty = &graph.value(*id).ty;
            let port = format!("input {name}");
            let element = forms.element(ty);
            let program = &mut forms.program;
            let secret = program.tensor_input(Some(&port), roles.data.clone(), element, &ty.shape);
            forms.made[id.index()] = Some(match Sort::of(ty) {
                Sort::Number => Form::Number(secret, 0),
                Sort::Integer => Form::Integer(secret),
                Sort::Truth => Form::Truth(secret),
            });
            forms.inputs.push(Port {
                name: name.clone(),
                port,
                element,
                ty: ty.clone(),
            });
        }
        forms
    }

    fn element(&self, ty: &ValueType) -> Type {
        match Sort::of(ty) {
            Sort::Number => self.format.number,
            _ => whole(ty.element).unwrap_or(Type::BOOL),
        }
    }

    pub(super) fn set(&mut self, id: ValueId, form: Form) {
        if let Form::Number(_, more) = form {
            self.more.insert(id, more);
        }
        self.made[id.index()] = Some(form);
    }

    /// Whether all know the weights.
    pub(super) fn public_model(&self) -> bool {
        self.public_model
    }

    /// Party that knows them in any case.
    pub(super) fn owner(&self) -> madrigal_program::Party {
        self.owner
    }

    /// Gives a value in the clear, if all know it or its owner does.
    pub(super) fn constant(&self, id: ValueId) -> Option<&'a Tensor> {
        self.graph.value(id).constant.as_deref()
    }

    /// A value; constants as secrets.
    pub(super) fn form(&mut self, id: ValueId) -> Lowered<Form> {
        if self.constant(id).is_none() {
            return self.made[id.index()].clone().ok_or(Stop::Missing);
        }
        let ty = &self.graph.value(id).ty;
        let sort = Sort::of(ty);
        if sort == Sort::Number {
            return Ok(Form::Number(self.weight(id, 0)?, 0));
        }
        let key = (id, self.element(ty), false);
        let secret = match self.constants.get(&key) {
            Some(secret) => secret.clone(),
            None => self.shared(id, self.element(ty), false)?,
        };
        self.constants.insert(key, secret.clone());
        Ok(match sort {
            Sort::Integer => Form::Integer(secret),
            _ => Form::Truth(secret),
        })
    }

    /// A float without bits too many after the point.
    pub(super) fn number(&mut self, id: ValueId) -> Lowered<Secret> {
        if let Some(cut) = self.cut.get(&id) {
            return Ok(cut.clone());
        }
        let Form::Number(secret, more) = self.form(id)? else {
            return cannot("a floating-point operand is wanted: the model lacks a Cast");
        };
        let secret = secret.truncate(more, self.format.rounding);
        if self.constant(id).is_none() {
            self.cut.insert(id, secret.clone());
        }
        Ok(secret)
    }

    pub(super) fn integer(&mut self, id: ValueId) -> Lowered<Secret> {
        match self.form(id)? {
            Form::Integer(secret) => Ok(secret),
            _ => cannot("an integer operand is wanted: the model lacks a Cast"),
        }
    }

    pub(super) fn truth(&mut self, id: ValueId) -> Lowered<Secret> {
        match self.form(id)? {
            Form::Truth(secret) => Ok(secret),
            _ => cannot("a Boolean operand is wanted: the model lacks a Cast"),
        }
    }

    /// Several values of one sort, with as many bits after the point.
    pub(super) fn alike(&mut self, ids: &[ValueId]) -> Lowered<Vec<Form>> {
        let mut most = 0;
        for &id in ids {
            if let (None, Form::Number(_, more)) = (self.constant(id), self.form(id)?) {
                most = most.max(more);
            }
        }
        if self.masks.cut(ids) {
            most = 0;
        }
        ids.iter().map(|&id| self.with_bits(id, most)).collect()
    }

    /// Gives a value; a float with `wanted` bits more after the point.
    pub(super) fn with_bits(&mut self, id: ValueId, wanted: u32) -> Lowered<Form> {
        if self.constant(id).is_some() && Sort::of(&self.graph.value(id).ty) == Sort::Number {
            return Ok(Form::Number(self.weight(id, wanted)?, wanted));
        }
        Ok(match self.form(id)? {
            Form::Number(secret, more) if more <= wanted => {
                Form::Number(secret.extend(wanted - more), wanted)
            }
            Form::Number(..) => Form::Number(self.number(id)?, 0),
            other => other,
        })
    }

    /// Gives weights with `more` bits more after the point than the format's.
    pub(super) fn weight(&mut self, id: ValueId, more: u32) -> Lowered<Secret> {
        let number = self.format.number;
        self.weight_in(id, number.bits(), number.fraction() + more, false)
    }

    /// Weights, or their inverses, in twice the format's bits, half of them after the point: small ones are as exact as
    /// large ones, as factors of numbers of any size.
    pub(super) fn fine(&mut self, id: ValueId, inverse: bool) -> Lowered<Secret> {
        let bits = self.format.number.bits();
        self.weight_in(id, 2 * bits, bits, inverse)
    }

    fn weight_in(
        &mut self,
        id: ValueId,
        bits: u32,
        fraction: u32,
        inverse: bool,
    ) -> Lowered<Secret> {
        let number = self.format.number;
        let Some(element) = Type::fixed(bits, fraction) else {
            return cannot(format!(
                "numbers of {number} have no room for products: give fewer bits after the point"
            ));
        };
        if let Some(secret) = self.constants.get(&(id, element, inverse)) {
            return Ok(secret.clone());
        }
        let secret = self.shared(id, element, inverse)?;
        self.constants
            .insert((id, element, inverse), secret.clone());
        Ok(secret)
    }

    /// A constant: an input of the model's owner, if it is the owner's.
    fn shared(&mut self, id: ValueId, element: Type, inverse: bool) -> Lowered<Secret> {
        if self.public_model || !self.graph.value(id).owned {
            return self.public_constant(id, element, inverse);
        }
        let name = self.reader(id);
        let port = format!("weights {}: {name}", self.weights.len());
        let axes = &self.graph.value(id).ty.shape;
        let secret = (self.program).tensor_input(Some(&port), self.owner, element, axes);
        self.weights.push(Weight {
            name,
            port,
            value: id,
            element,
            number: self.format.number,
            inverse,
        });
        Ok(secret)
    }

    /// A constant that all know.
    pub(super) fn known(&self, id: ValueId) -> Option<&'a Tensor> {
        let known = self.public_model || !self.graph.value(id).owned;
        self.constant(id).filter(|_| known)
    }

    /// The one number of a constant that all know.
    pub(super) fn single(&self, id: ValueId) -> Option<f64> {
        let constant = self.known(id).filter(|one| one.len() == 1);
        constant.map(|one| one.to_f64()[0])
    }

    /// The first node that reads a value.
    fn reader(&self, id: ValueId) -> String {
        let reader = self.readers[id.index()].map(|place| &self.graph.nodes()[place]);
        reader.map_or_else(String::new, |node| node.name.clone())
    }

    /// Takes what lists of places, or numbers that all know, take of memory while the program is planned.
    pub(super) fn take(&self, bytes: u64) -> Lowered<()> {
        self.budget.take(bytes).map_err(Stop::Memory)
    }

    /// Takes memory for lists of `places` places.
    pub(super) fn take_places(&self, places: usize) -> Lowered<()> {
        self.take(PLACE.saturating_mul(places as u64))
    }

    fn public_constant(&mut self, id: ValueId, element: Type, inverse: bool) -> Lowered<Secret> {
        let Some(tensor) = self.constant(id) else {
            return cannot("a constant is wanted");
        };
        // Counts each element as a number, as a word of the program, and as a step's.
        self.take(32 * tensor.len() as u64)?;
        let tensor = self.masks.bounded(id, tensor, element);
        let array = match encoded(&tensor, element, inverse) {
            Ok(array) => array,
            Err(found) => {
                let number = self.format.number;
                return cannot(match inverse {
                    true => format!(
                        "it divides by {found}, whose inverse is beyond the range of {number}: scale the model so that \
                         it divides by a greater number"
                    ),
                    false => format!("it reads {found}, which {element} does not have"),
                });
            }
        };
        Ok(self.program.tensor_constant(array))
    }

    /// A single number that all know, of any type.
    pub(super) fn public(&mut self, element: Type, value: f64) -> Lowered<Secret> {
        match Array::from_f64(element, &Shape::scalar(), &[value]) {
            Some(array) => Ok(self.program.tensor_constant(array)),
            None => cannot(format!("it takes {value}, which {element} does not have")),
        }
    }

    /// Numbers that all know.
    pub(super) fn publics(
        &mut self,
        element: Type,
        axes: &[usize],
        values: &[f64],
    ) -> Lowered<Secret> {
        self.take(32 * values.len() as u64)?;
        let shape = Shape::checked(axes);
        match shape.and_then(|shape| Array::from_f64(element, &shape, values)) {
            Some(array) => Ok(self.program.tensor_constant(array)),
            None => cannot(format!("it takes numbers that {element} does not have")),
        }
    }

    /// The program, with the model's outputs opened.
    pub(super) fn finish(mut self, roles: &Roles, layers: Layers) -> Result<Network, UnfitError> {
        let unfit = |node: &str, reason: String| UnfitError {
            nodes: vec![super::Unfit {
                node: node.into(),
                operator: "output".into(),
                reason,
                spent: None,
            }],
        };
        let mut outputs = Vec::new();
        for (name, id) in self.graph.outputs() {
            let ty = self.graph.value(*id).ty.clone();
            // An output is cut off for the layer that makes it, and opened for none.
            self.program.part(layers.part(*id));
            let found = match Sort::of(&ty) {
                Sort::Number => self.number(*id),
                _ => self.form(*id).map(|form| form.secret().clone()),
            };
            let secret = match found {
                Ok(secret) => secret,
                Err(Stop::Reason(reason)) => return Err(unfit(name, reason)),
                Err(Stop::Memory(spent)) => return Err(unfit(name, super::too_large(&spent))),
                Err(Stop::Missing) => return Err(unfit(name, "nothing makes it".into())),
            };
            let port = format!("output {name}");
            let element = secret.element();
            self.program.part(None);
            (self.program).open_tensor(Some(&port), &secret, roles.to.clone());
            outputs.push(Port {
                name: name.clone(),
                port,
                element,
                ty,
            });
        }
        self.program.part(None);
        let limits = self.guards.map(|guards| guards.finish(&mut self.program));
        let guarded = limits.is_some();
        match self.program.finish() {
            Ok(program) => Ok(Network {
                program,
                number: self.format.number,
                limits: limits.unwrap_or_default(),
                guarded,
                weights: self.weights,
                masks: self.masks,
                inputs: self.inputs,
                outputs,
                more: self.more,
                layers: layers.layers,
            }),
            Err(error) => {
                // Where in our source that is tells nobody anything; the node does.
                let part = error.at.part().and_then(|part| usize::try_from(part).ok());
                let reason = error.fault.to_string();
                Err(match part.and_then(|part| layers.layers.get(part)) {
                    Some(layer) => UnfitError {
                        nodes: vec![super::Unfit {
                            node: layer.name.clone(),
                            operator: layer.operator.clone(),
                            reason,
                            spent: None,
                        }],
                    },
                    None => unfit("the whole model", reason),
                })
            }
        }
    }
}
