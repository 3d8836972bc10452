//! Inputs and outputs of a kind: what submissions bring, what other kinds hold, and who gets what.

use std::collections::BTreeSet;
use std::fmt;

use madrigal_engine::{Element, Sharing};
use madrigal_program::lower::Mix;
use madrigal_program::{Client, Computation};

use super::fault::KindFault;
use crate::config::{KindConfig, Submitters};

/// An input, as one submission brings it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KindInput {
    /// Name.
    pub name: String,
    /// The type of the elements, in words that clients and servers agree on.
    pub element_type: String,
    /// Lengths of the axes. The first one is 1 where a batch has a row for each submission.
    pub shape: Vec<usize>,
    /// Sharing and element of the shares.
    pub form: (Sharing, Element),
}

/// An input that another kind holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldInput {
    /// The kind that holds it.
    pub holder: String,
    /// The input, as the program has it.
    pub input: KindInput,
}

/// Where a job takes an input of its program from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// From the batch's submissions: the place among the inputs of each.
    Submissions(usize),
    /// From what a kind holds: the place of that kind among [`Kind::holders`](super::Kind::holders), and of the input among those that it holds.
    Held(usize, usize),
}

/// An output of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KindOutput {
    /// Name.
    pub name: String,
    /// The type of the elements, in words.
    pub element_type: String,
    /// Lengths of the axes, of what one receiver gets; nothing for those that depend on the batch.
    pub shape: Vec<Option<usize>>,
    /// Whoever gets it.
    pub to: Receivers,
}

/// Whoever gets an output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Receivers {
    /// Each submitter a row of its own.
    OwnRow,
    /// All submitters the same.
    Submitters,
    /// These clients.
    Named(BTreeSet<String>),
}

impl fmt::Display for Receivers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OwnRow => write!(f, "each submitter, its own row"),
            Self::Submitters => write!(f, "all submitters"),
            Self::Named(names) => {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                write!(f, "{}", names.join(", "))
            }
        }
    }
}

/// All of a kind's inputs and outputs.
#[derive(Debug, Default)]
pub(super) struct Ports {
    pub(super) inputs: Vec<KindInput>,
    pub(super) held: Vec<HeldInput>,
    pub(super) sources: Vec<Source>,
    pub(super) outputs: Vec<KindOutput>,
}

/// Kinds that hold inputs for a kind, in the order of their names.
pub(super) fn holders(config: &KindConfig) -> Vec<&str> {
    let mut holders: Vec<&str> = config.held.values().map(String::as_str).collect();
    holders.sort_unstable();
    holders
}

impl Ports {
    /// Takes the inputs of a kind that computes, from its program for one submission and for two. Gives the client that stands for each submitter.
    pub(super) fn take_inputs(
        &mut self,
        (config, mix): (&KindConfig, Mix),
        one: &Computation,
        two: &Computation,
    ) -> Result<Client, KindFault> {
        let mut submitter: Option<Client> = None;
        for (place, (port, other)) in one.inputs().iter().zip(two.inputs()).enumerate() {
            let name = port.name.clone().unwrap_or_else(|| place.to_string());
            let Some(client) = port.owner.client() else {
                let owner = &port.owner;
                return Err(KindFault::Unfit(format!(
                    "input `{name}` is of {owner}, and a service computes on what clients bring: make it a client's"
                )));
            };
            let shape = port.tensor_type.shape.axes();
            let input = KindInput {
                name: name.clone(),
                element_type: port.tensor_type.element.to_string(),
                shape: shape.to_vec(),
                form: mix.kept_form(port.tensor_type.element),
            };
            if let Some(holder) = config.held.get(client.name()).cloned() {
                if shape != other.tensor_type.shape.axes() {
                    return Err(open_shape(&name));
                }
                self.take_held_input(config, &holder, input);
                continue;
            }
            if let Some(first) = submitter.as_ref().filter(|first| *first != client) {
                return Err(KindFault::Unfit(format!(
                    "inputs are of {first} and of {client}: all inputs of a kind are of one client, who stands for each submitter, but for those that another kind holds (`held`)"
                )));
            }
            submitter = Some(client.clone());
            if config.dimension.is_some() && !rows(shape, other.tensor_type.shape.axes()) {
                let dimension = config.dimension.clone().unwrap_or_default();
                return Err(KindFault::Unfit(format!(
                    "the first axis of input `{name}` is not `{dimension}`: each submission brings one row, and what is the same for all batches another kind holds (`held`)"
                )));
            }
            self.sources.push(Source::Submissions(self.inputs.len()));
            self.inputs.push(input);
        }
        let mut roles = config.held.iter();
        let unused = roles.find(|(_, holder)| self.held.iter().all(|held| held.holder != **holder));
        if let Some((role, _)) = unused {
            return Err(KindFault::Unfit(format!(
                "`held` names `{role}`, and the program has no input of that client"
            )));
        }
        submitter.ok_or_else(|| KindFault::Unfit("it has no inputs".to_owned()))
    }

    /// Takes the outputs in the same way.
    pub(super) fn take_outputs(
        &mut self,
        config: &KindConfig,
        one: &Computation,
        two: &Computation,
        submitter: &Client,
    ) -> Result<(), KindFault> {
        for (place, (port, other)) in one.outputs().iter().zip(two.outputs()).enumerate() {
            let name = port.name.clone().unwrap_or_else(|| place.to_string());
            if let Some(party) = port.parties().first() {
                return Err(KindFault::Unfit(format!(
                    "output `{name}` is opened to {party}, and servers learn nothing: open it to a client"
                )));
            }
            let shape = port.tensor_type.shape.axes();
            let others = other.tensor_type.shape.axes();
            for client in port.clients() {
                let to = match client == submitter {
                    true if rows(shape, others) => Receivers::OwnRow,
                    true => Receivers::Submitters,
                    false => {
                        let role = client.name();
                        let named = config.receive.get(role);
                        let named = named.ok_or_else(|| {
                            KindFault::Unfit(format!(
                                "output `{name}` is for `{role}`: say in the service's file who that is, as in receive = {{ {role} = [\"alice\"] }}"
                            ))
                        })?;
                        Receivers::Named(named.clone())
                    }
                };
                let own = to == Receivers::OwnRow;
                let axes = shape.iter().zip(others);
                let axis = |(&one, &two): (&usize, &usize)| (own || one == two).then_some(one);
                self.outputs.push(KindOutput {
                    name: name.clone(),
                    element_type: port.tensor_type.element.to_string(),
                    shape: axes.map(axis).collect(),
                    to,
                });
            }
        }
        let own = |output: &KindOutput| !matches!(output.to, Receivers::Named(_));
        if config.submit == Submitters::Anyone && self.outputs.iter().any(own) {
            return Err(KindFault::Unfit(
                "it has outputs for those who submit, and anyone may: a server that poses as such a client could have them from the others. Name the clients that may submit (`submit`)".to_owned(),
            ));
        }
        match self.outputs.is_empty() {
            true => Err(KindFault::Unfit("it has no outputs".to_owned())),
            false => Ok(()),
        }
    }

    /// Takes the inputs of a holding kind, from its program for one length of all dimensions that the file leaves open and for another.
    pub(super) fn take_held_inputs(
        &mut self,
        mix: Mix,
        role: &str,
        one: &Computation,
        two: &Computation,
    ) -> Result<(), KindFault> {
        for (place, (port, other)) in one.inputs().iter().zip(two.inputs()).enumerate() {
            let name = port.name.clone().unwrap_or_else(|| place.to_string());
            if port
                .owner
                .client()
                .is_none_or(|client| client.name() != role)
            {
                continue;
            }
            let shape = port.tensor_type.shape.axes();
            if shape != other.tensor_type.shape.axes() {
                return Err(open_shape(&name));
            }
            self.sources.push(Source::Submissions(self.inputs.len()));
            self.inputs.push(KindInput {
                name,
                element_type: port.tensor_type.element.to_string(),
                shape: shape.to_vec(),
                form: mix.kept_form(port.tensor_type.element),
            });
        }
        match self.inputs.is_empty() {
            true => Err(KindFault::Unfit(format!(
                "`holds` is `{role}`, and the program has no input of that client"
            ))),
            false => Ok(()),
        }
    }

    /// Notes an input that a kind holds for this one.
    fn take_held_input(&mut self, config: &KindConfig, holder: &str, input: KindInput) {
        let place = holders(config).iter().position(|name| *name == holder);
        let of_holder = self.held.iter().filter(|held| held.holder == holder);
        let source = Source::Held(place.unwrap_or(0), of_holder.count());
        self.sources.push(source);
        self.held.push(HeldInput {
            holder: holder.to_owned(),
            input,
        });
    }
}

/// Whether an axis is the number of submissions: it is 1 in the one shape and 2 in the other, and no other axis differs.
fn rows(one: &[usize], two: &[usize]) -> bool {
    match (one, two) {
        ([1, one @ ..], [2, two @ ..]) => one == two,
        _ => false,
    }
}

/// Fault of a held input whose shape depends on a batch.
fn open_shape(input: &str) -> KindFault {
    KindFault::Unfit(format!(
        "the shape of input `{input}` depends on a length that is not in `lengths`, and what is held is the same for batches of every size: give it axes of fixed lengths"
    ))
}
