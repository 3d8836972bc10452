//! Where constants come from, and which of them are made of what was trained.
//!
//! A file does not say what was trained. So this is decided by what the network makes of it, in the same way from a file
//! with weights and from one without:
//!
//! * A tensor of the file *may be trained* if it has several numbers, or one with dimensions (the bias of a network with
//!   one output has the shape `[1]`), unless that one number decides on the network itself: an exponent, a bound. A number
//!   without dimensions (a factor of a composed activation, an epsilon) is architecture, as attributes are.
//! * A constant that the network reads is its *owner's* if it is a float and anything that may be trained, also integers
//!   and Booleans, was folded into it; or if it is no float and was made of floats that may be trained. All other
//!   constants are architecture: what is computed of sizes, and integers and Booleans that are read as such.

use std::cell::RefCell;

use crate::graph::{Graph, ValueId};

/// A tensor of the model's file, or one given in the place of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Source {
    /// An initializer, by its place.
    Initializer(usize),
    /// An attribute, by the places of the node and of the attribute.
    Attribute(usize, usize),
    /// Given beside the file.
    Given,
}

/// Fates of a tensor of the file whose network is handed over without weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// The architecture needs its numbers.
    Stays,
    /// Weights are made of it, or nothing that depends on its numbers.
    Goes,
    /// Weights are made of it, and the architecture needs its numbers.
    Both,
}

/// Tensors that serve the network's outputs, each with what becomes of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trace {
    pub(crate) sources: Vec<(Source, Fate)>,
    /// Attributes that were looked at: places of node and attribute, and the type that was wanted; ascending.
    pub(crate) attributes: Vec<(usize, usize, i32)>,
}

/// Tensors that a value was made of, where it is a constant.
#[derive(Default)]
struct Origin {
    source: Option<Source>,
    parents: Vec<ValueId>,
}

/// Origins of all values, by their places. Each comes after what it was made of.
#[derive(Default)]
pub(super) struct Origins {
    of: Vec<Origin>,
    /// Values whose numbers decided on the network.
    read: RefCell<Vec<ValueId>>,
}

impl Origins {
    /// Says of the value that was added last from where it comes.
    pub(super) fn add(&mut self, source: Option<Source>, parents: &[ValueId]) {
        self.of.push(Origin {
            source,
            parents: parents.to_vec(),
        });
    }

    /// The numbers of a constant decide on the network: on shapes, places, operators.
    pub(super) fn read(&self, id: ValueId) {
        self.read.borrow_mut().push(id);
    }

    /// Marks what marked values were made of, too.
    fn with_parents(&self, marked: &mut [bool]) {
        for (place, origin) in self.of.iter().enumerate().rev() {
            if marked[place] {
                origin
                    .parents
                    .iter()
                    .for_each(|id| marked[id.index()] = true);
            }
        }
    }

    /// Decides whose each constant of a graph is. Its nodes all serve outputs.
    pub(super) fn decide(&self, graph: &mut Graph) -> Vec<(Source, Fate)> {
        let count = graph.values.len();
        let mut read = vec![false; count];
        self.read
            .borrow()
            .iter()
            .for_each(|id| read[id.index()] = true);
        self.with_parents(&mut read);
        let may_be_trained = |place: usize| {
            let ty = &graph.values[place].ty;
            match ty.elements() {
                0 => false,
                1 => !ty.shape.is_empty() && !read[place],
                _ => true,
            }
        };
        // Whether floats, and anything else, that may be trained went into a value.
        let mut floats = vec![false; count];
        let mut others = vec![false; count];
        for (place, origin) in self.of.iter().enumerate() {
            if origin.source.is_some() && may_be_trained(place) {
                let float = graph.values[place].ty.element.is_float();
                (floats[place], others[place]) = (float, !float);
            }
            for parent in &origin.parents {
                floats[place] |= floats[parent.index()];
                others[place] |= others[parent.index()];
            }
        }
        let (mut to_owner, mut to_all) = (vec![false; count], read.clone());
        let constants: Vec<usize> = graph.constants().iter().map(|(id, _)| id.index()).collect();
        for place in constants {
            let float = graph.values[place].ty.element.is_float();
            let owned = floats[place] || (float && others[place]);
            let marked = if owned { &mut to_owner } else { &mut to_all };
            marked[place] = true;
        }
        let owned = to_owner.clone();
        self.with_parents(&mut to_owner);
        self.with_parents(&mut to_all);
        let mut found = Vec::new();
        let mut trained = 0;
        for (place, origin) in self.of.iter().enumerate() {
            let Some(source) = origin.source else {
                continue;
            };
            let fate = match (to_owner[place], to_all[place]) {
                (true, true) if may_be_trained(place) => Fate::Both,
                (_, true) => Fate::Stays,
                (_, false) => Fate::Goes,
            };
            if to_owner[place] && fate != Fate::Stays {
                let tensor = graph.values[place].constant.as_deref();
                trained += tensor.map_or(0, |tensor| tensor.nonzero());
            }
            found.push((source, fate));
        }
        for (value, owned) in graph.values.iter_mut().zip(owned) {
            value.owned = owned;
        }
        graph.trained = trained;
        found
    }
}
