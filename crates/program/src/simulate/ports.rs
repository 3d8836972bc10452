//! Inputs and outputs in the clear.

use std::sync::Arc;

use madrigal_engine::{Mismatch, Shares, Sort};
use madrigal_net::Fact;
use thiserror::Error;

use crate::array::{Array, Elements, IntoArray, Words};
use crate::element::{Plain, Type};
use crate::error::Source;
use crate::holder::Holder;
use crate::ports::{InputPort, Named, Opened, OutputPort};
use crate::shape::Shape;

/// Values for a program's inputs: those without a name in the order in which the program asks for them, the
/// others in any.
#[derive(Clone, Default)]
pub struct Inputs {
    given: Vec<Given>,
    shares: Vec<GivenShare>,
}

#[derive(Clone)]
struct Given {
    /// The place of its port, if that is known.
    place: Option<usize>,
    name: Option<String>,
    element: Type,
    axes: Vec<usize>,
    elements: Elements,
}

/// One party's share of a client's input.
#[derive(Debug, Clone)]
pub struct InputShare {
    /// The share, in the form that [`Mix::kept_form`](crate::lower::Mix::kept_form) says.
    pub shares: Shares,
    /// Name that the shares of all parties have in common and no other submission has: parties compare it before they
    /// compute, so that nobody computes with shares that do not go together. It must tell nothing of the value.
    pub submission: String,
}

/// A share, by the place or the name of its port.
#[derive(Clone)]
struct GivenShare {
    place: Option<usize>,
    name: Option<String>,
    share: InputShare,
}

impl Inputs {
    /// An empty list of values.
    pub fn new() -> Self {
        Self::default()
    }

    /// The next value, for the next input without a value.
    #[must_use]
    pub fn with<T: Plain>(self, elements: impl IntoArray<T>) -> Self {
        self.given(None, elements)
    }

    /// A value for the input of this name.
    #[must_use]
    pub fn with_named<T: Plain>(self, name: &str, elements: impl IntoArray<T>) -> Self {
        self.given(Some(name.into()), elements)
    }

    /// The next value, or one for the input of this name, of a type that is known when the program runs.
    #[must_use]
    pub fn with_array(mut self, name: Option<&str>, array: Array) -> Self {
        self.given.push(Given {
            place: None,
            name: name.map(Into::into),
            element: array.element(),
            axes: array.shape().axes().to_vec(),
            elements: array.elements().clone(),
        });
        self
    }

    /// This party's share of what a client brings: for the input of this name, or for the next client's input without a
    /// share.
    #[must_use]
    pub fn with_share(mut self, name: Option<&str>, share: InputShare) -> Self {
        self.shares.push(GivenShare {
            place: None,
            name: name.map(Into::into),
            share,
        });
        self
    }

    /// This party's share of the client's input at `place` among a program's ports.
    ///
    /// # Panics
    /// If there is no such port.
    #[must_use]
    pub fn with_share_at(mut self, ports: &[InputPort], place: usize, share: InputShare) -> Self {
        assert!(place < ports.len(), "an input of the program");
        self.shares.push(GivenShare {
            place: Some(place),
            name: None,
            share,
        });
        self
    }

    fn given<T: Plain>(mut self, name: Option<String>, elements: impl IntoArray<T>) -> Self {
        let (axes, elements) = elements.parts();
        let codes = elements.iter().map(|element| element.encode());
        self.given.push(Given {
            place: None,
            name,
            element: T::TYPE,
            axes,
            elements: Words::collect(T::TYPE, codes).into(),
        });
        self
    }

    /// A value by the place of its port.
    pub(crate) fn push(&mut self, port: &InputPort, place: usize, elements: impl Into<Elements>) {
        self.given.push(Given {
            place: Some(place),
            name: None,
            element: port.tensor_type.element,
            axes: port.tensor_type.shape.axes().to_vec(),
            elements: elements.into(),
        });
    }

    /// The value of the input at `place` among a program's `ports`, if it was given one that fits.
    pub fn value(&self, ports: &[InputPort], place: usize) -> Option<Arc<Array>> {
        self.arrays_of(ports, |_| false)
            .ok()?
            .into_iter()
            .nth(place)?
    }

    /// The share that was given for each client's input.
    pub(crate) fn shares_of<'a>(
        &'a self,
        ports: &[InputPort],
    ) -> Result<Vec<Option<&'a InputShare>>, InputError> {
        let mut found: Vec<Option<&InputShare>> = vec![None; ports.len()];
        for given in &self.shares {
            let wanted = |(number, port): &(usize, &InputPort)| match (given.place, &given.name) {
                (Some(place), _) => *number == place,
                (None, Some(name)) => port.name.as_ref() == Some(name),
                (None, None) => port.owner.client().is_some() && found[*number].is_none(),
            };
            let mut places = ports.iter().enumerate();
            let (number, port) = places.find(wanted).ok_or_else(|| match &given.name {
                Some(name) => InputError::Name { name: name.clone() },
                None => InputError::Many {
                    expected: ports.len(),
                },
            })?;
            if port.owner.client().is_none() {
                return Err(InputError::ShareOfPartys {
                    input: Named("input", number, port.name.as_deref()).to_string(),
                    owner: port.owner.clone(),
                });
            }
            found[number] = Some(&given.share);
        }
        Ok(found)
    }

    /// This party's share of the client's input at `number`, which is to be of this sort.
    pub(crate) fn share_of(
        &self,
        ports: &[InputPort],
        number: usize,
        sort: &Sort,
    ) -> Result<Shares, InputError> {
        let port = &ports[number];
        let input = || Named("input", number, port.name.as_deref()).to_string();
        let share = self.shares_of(ports)?[number];
        let share = share.ok_or_else(|| InputError::NotShared {
            input: input(),
            owner: port.owner.clone(),
            at: port.at,
        })?;
        match share.shares.sort() == sort && share.shares.is_known() {
            true => Ok(share.shares.clone()),
            false => Err(InputError::Share {
                input: input(),
                expected: Box::new(*sort),
                found: Box::new(*share.shares.sort()),
            }),
        }
    }

    /// Facts about the shares that parties bring, which they compare.
    pub(crate) fn facts(&self, ports: &[InputPort]) -> Result<Vec<Fact>, InputError> {
        let shares = self.shares_of(ports)?;
        let given = ports.iter().zip(shares).enumerate();
        let fact = |(number, (port, share)): (usize, (&InputPort, Option<&InputShare>))| {
            let input = Named("input", number, port.name.as_deref());
            share.map(|share| (format!("submission of {input}"), share.submission.clone()))
        };
        Ok(given.filter_map(fact).collect())
    }

    /// The values in the order of the ports, as they are wanted there.
    pub(crate) fn arrays(&self, ports: &[InputPort]) -> Result<Vec<Arc<Array>>, InputError> {
        let arrays = self.arrays_of(ports, |_| true)?;
        Ok(arrays.into_iter().flatten().collect())
    }

    /// The values of those ports alone that are `needed`. Where there are as many values as ports, they are
    /// for all of these; otherwise the first value without a name is for the first needed one.
    pub(crate) fn arrays_of(
        &self,
        ports: &[InputPort],
        needed: impl Fn(&InputPort) -> bool,
    ) -> Result<Vec<Option<Arc<Array>>>, InputError> {
        let all = self.given.len() == ports.len();
        let mut arrays: Vec<Option<Arc<Array>>> = vec![None; ports.len()];
        for given in &self.given {
            let wanted = |(number, port): &(usize, &InputPort)| match (given.place, &given.name) {
                (Some(place), _) => *number == place,
                (None, Some(name)) => port.name.as_ref() == Some(name),
                (None, None) => arrays[*number].is_none() && (all || needed(port)),
            };
            let mut places = ports.iter().enumerate();
            let (number, port) = places.find(wanted).ok_or_else(|| match &given.name {
                Some(name) => InputError::Name { name: name.clone() },
                None => InputError::Many {
                    expected: ports.len(),
                },
            })?;
            let input = Named("input", number, port.name.as_deref()).to_string();
            let (element, shape) = (port.tensor_type.element, &port.tensor_type.shape);
            if given.element != element || given.axes != shape.axes() {
                return Err(InputError::Sort {
                    input,
                    expected: port.tensor_type.to_string(),
                    found: format!("{}{:?}", given.element, given.axes),
                    at: port.at,
                });
            }
            if given.elements.len() != shape.elements() {
                return Err(InputError::Elements {
                    input,
                    shape: shape.clone(),
                    found: given.elements.len(),
                });
            }
            let array = Array::new(element, shape.clone(), given.elements.clone());
            arrays[number] = Some(Arc::new(array));
        }
        let found = arrays.into_iter().zip(ports).enumerate();
        found
            .map(|(number, (array, port))| match array {
                None if needed(port) => Err(InputError::Missing {
                    input: Named("input", number, port.name.as_deref()).to_string(),
                    at: port.at,
                }),
                array => Ok(array),
            })
            .collect()
    }
}

impl std::fmt::Debug for Inputs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inputs")
            .field("given", &self.given.len())
            .field("shares", &self.shares.len())
            .finish_non_exhaustive()
    }
}

/// Inputs that are not those of the program.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum InputError {
    /// An input without a value.
    #[error("{input}, which the program asks for at {at}, has no value; give it one")]
    Missing {
        /// The input.
        input: String,
        /// Line where the program asks for it.
        at: Source,
    },
    /// More values than inputs.
    #[error("there are more values than the program's {expected} inputs; leave some out")]
    Many {
        /// Inputs of the program.
        expected: usize,
    },
    /// A name that no input has.
    #[error("a value for input {name:?}, which the program does not ask for")]
    Name {
        /// The name.
        name: String,
    },
    /// A value of another type or shape.
    #[error("{input} is {expected}, as the program says at {at}; the value is {found}")]
    Sort {
        /// The input.
        input: String,
        /// The type that the program asks for.
        expected: String,
        /// The type that was given.
        found: String,
        /// Line where the program asks for it.
        at: Source,
    },
    /// A client's input without this party's share.
    #[error(
        "{input}, which the program asks for at {at}, is of {owner}: this party needs its share of it; have the client share it"
    )]
    NotShared {
        /// The input.
        input: String,
        /// The client.
        owner: Holder,
        /// Line where the program asks for it.
        at: Source,
    },
    /// A share of a value of another form.
    #[error(
        "{input} is shared as {expected}; the share is of {found}: it was made for another type, shape or mix"
    )]
    Share {
        /// The input.
        input: String,
        /// The sort that is wanted.
        expected: Box<Sort>,
        /// The sort of the share.
        found: Box<Sort>,
    },
    /// A share of what a party brings in the clear.
    #[error("{input} is of {owner}, which brings it in the clear: a share of it has no place here")]
    ShareOfPartys {
        /// The input.
        input: String,
        /// The party.
        owner: Holder,
    },
    /// Values that an operation of the author's is not for.
    #[error("the operation that the program asks for at {at}: {problem}")]
    Refused {
        /// Line where the program asks for it.
        at: Source,
        /// Reason that the operation gives.
        problem: Mismatch,
    },
    /// Values that the program's requirements do not hold of.
    #[error(
        "requirements of the program that the inputs do not meet: {requirements}; nothing is opened: give other values"
    )]
    Unmet {
        /// The requirements that do not hold.
        requirements: String,
    },
    /// A value of an earlier stage, where there is none.
    #[error(
        "the value of an earlier stage that the program takes at {at} is not here; run the program in the stages that keep it"
    )]
    Kept {
        /// Line where the program takes it.
        at: Source,
    },
    /// No random bits from the operating system.
    #[error("the operating system gave no random bits to share what clients bring")]
    NoRandomness,
    /// A value with fewer or more elements than its own shape says.
    #[error("{input}: {found} elements in shape {shape}")]
    Elements {
        /// The input.
        input: String,
        /// The shape that was given.
        shape: Shape,
        /// Elements that were given.
        found: usize,
    },
}

/// Values that a program opened, in the clear, and shares of those that are for clients.
#[derive(Debug, Clone)]
pub struct Outputs {
    values: Vec<OutputValue>,
}

#[derive(Debug, Clone)]
struct OutputValue {
    name: Option<String>,
    /// Nothing where the output is for others.
    array: Option<Arc<Array>>,
    /// The share that this party hands out to clients, if the output is for some.
    share: Option<Arc<Shares>>,
}

/// An output that is not there as it was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum OutputError {
    /// A name that no output has.
    #[error("the program has no output {name:?}")]
    Name {
        /// The name.
        name: String,
    },
    /// An output for others.
    #[error("output {name:?} is not opened to this party")]
    Others {
        /// The name.
        name: String,
    },
    /// An output of another type.
    #[error("output {name:?} is of {found}, not of {expected}")]
    Element {
        /// The name.
        name: String,
        /// The type that was asked for.
        expected: Type,
        /// The output's type.
        found: Type,
    },
}

impl Outputs {
    pub(crate) fn new(ports: &[OutputPort], values: Vec<Arc<Array>>) -> Self {
        let mut outputs = Self::none(ports);
        for (number, array) in values.into_iter().enumerate() {
            outputs.put(number, array);
        }
        outputs
    }

    /// No output is known yet.
    pub(crate) fn none(ports: &[OutputPort]) -> Self {
        let value = |port: &OutputPort| OutputValue {
            name: port.name.clone(),
            array: None,
            share: None,
        };
        Self {
            values: ports.iter().map(value).collect(),
        }
    }

    /// An output that is known here.
    pub(crate) fn put(&mut self, number: usize, array: Arc<Array>) {
        self.values[number].array = Some(array);
    }

    /// This party's share of an output for clients.
    pub(crate) fn put_share(&mut self, number: usize, share: Arc<Shares>) {
        self.values[number].share = Some(share);
    }

    /// This party's shares of outputs for clients, all outputs in order; `None` for those that are for none.
    pub fn shares(&self) -> impl ExactSizeIterator<Item = Option<&Shares>> {
        self.values.iter().map(|value| value.share.as_deref())
    }

    /// The elements of an opened value, row by row.
    ///
    /// # Panics
    /// If `opened` is of another program, or was opened to others alone.
    pub fn get<T: Plain>(&self, opened: Opened<T>) -> Vec<T> {
        let array = self.values[opened.number].array.as_ref();
        let values = array
            .expect("a value that was opened to this party")
            .to_vec();
        values.expect("an output has the type that it was opened with")
    }

    /// The elements of an opened value, if this party is among those that it was opened to.
    ///
    /// # Panics
    /// If `opened` is of another program.
    pub fn get_if_known<T: Plain>(&self, opened: Opened<T>) -> Option<Vec<T>> {
        self.values[opened.number].array.as_ref()?;
        Some(self.get(opened))
    }

    /// The first output of this name.
    ///
    /// # Errors
    /// If there is none, or one of another type.
    pub fn named<T: Plain>(&self, name: &str) -> Result<Vec<T>, OutputError> {
        let mut values = self.values.iter();
        let found = values.find(|value| value.name.as_deref() == Some(name));
        let value = found.ok_or_else(|| OutputError::Name { name: name.into() })?;
        let array =
            (value.array.as_ref()).ok_or_else(|| OutputError::Others { name: name.into() })?;
        array.to_vec().ok_or_else(|| OutputError::Element {
            name: name.into(),
            expected: T::TYPE,
            found: array.element(),
        })
    }

    /// All outputs in the order in which the program opened them; `None` for those of others.
    pub fn arrays(&self) -> impl ExactSizeIterator<Item = Option<&Array>> {
        self.values.iter().map(|value| value.array.as_deref())
    }
}
