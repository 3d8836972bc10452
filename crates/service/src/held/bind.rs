//! Kinds that hold inputs and kinds that use them, checked against each other when a server reads its file.

use std::collections::BTreeMap;

use madrigal_core::domains;
use madrigal_program::Computation;
use sha2::{Digest as _, Sha256};

use crate::kind::{Kind, KindError, KindFault, KindInput};

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
    /// From what a kind holds: the place of that kind among [`Kind::holders`], and of the input among those that it holds.
    Held(usize, usize),
}

impl Kind {
    /// Kinds that hold inputs for this one, in the order of their names.
    pub fn holders(&self) -> Vec<&str> {
        let mut holders: Vec<&str> = self.config.held.values().map(String::as_str).collect();
        holders.sort_unstable();
        holders
    }

    /// Takes the inputs of a holding kind, from its program for one length of all dimensions that the file leaves open and for another.
    pub(crate) fn take_held_inputs(
        &mut self,
        role: &str,
        one: &Computation,
        two: &Computation,
    ) -> Result<(), KindFault> {
        let mix = self.mix(one);
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
    pub(crate) fn take_held_input(&mut self, holder: &str, input: KindInput) {
        let place = self.holders().iter().position(|name| *name == holder);
        let of_holder = self.held.iter().filter(|held| held.holder == holder);
        let source = Source::Held(place.unwrap_or(0), of_holder.count());
        self.sources.push(source);
        self.held.push(HeldInput {
            holder: holder.to_owned(),
            input,
        });
    }

    /// Fault of what this kind wants of another one that is to hold inputs of `role`, if there is any.
    fn unfit(&self, role: &str, holder: Option<&Self>) -> Option<String> {
        let name = &self.config.held[role];
        let Some(holder) = holder else {
            return Some(format!(
                "there is no kind `{name}` with a program: add it, with holds = \"{role}\""
            ));
        };
        match &holder.config.holds {
            None => {
                return Some(format!(
                    "kind `{name}` holds nothing: write holds = \"{role}\" there"
                ));
            }
            Some(holds) if holds != role => {
                return Some(format!(
                    "kind `{name}` holds inputs of `{holds}`, and not of `{role}`: write the same in both"
                ));
            }
            Some(_) => {}
        }
        if holder.bytes() != self.bytes() {
            return Some(format!(
                "the programs of this kind and of kind `{name}` differ, and who loads inputs there agrees to one program: `program` names the same file in both"
            ));
        }
        if holder.config.lengths != self.config.lengths {
            return Some(format!(
                "`lengths` are others here than in kind `{name}`: write the same in both"
            ));
        }
        let wanted = self.held.iter().filter(|held| held.holder == *name);
        let wanted: Vec<&KindInput> = wanted.map(|held| &held.input).collect();
        if wanted.len() != holder.inputs.len() {
            let (here, there) = (wanted.len(), holder.inputs.len());
            return Some(format!(
                "this kind takes {here} inputs of `{role}`, and kind `{name}` holds {there}"
            ));
        }
        let pairs = wanted.into_iter().zip(&holder.inputs);
        let apart = pairs.into_iter().find(|(here, there)| here != there);
        apart.map(|(here, there)| {
            format!(
                "input `{}` is {} {:?} in {} here, and {} {:?} in {} in kind `{name}`: compare `mix`",
                here.name,
                here.element_type,
                here.shape,
                here.form.0,
                there.element_type,
                there.shape,
                there.form.0
            )
        })
    }
}

/// Fault of a held input whose shape depends on a batch.
pub(crate) fn open_shape(input: &str) -> KindFault {
    KindFault::Unfit(format!(
        "the shape of input `{input}` depends on a length that is not in `lengths`, and what is held is the same for batches of every size: give it axes of fixed lengths"
    ))
}

/// Checks kinds that use held inputs against those that hold them, and has each one's digest cover what it uses. Gives all that are wrong.
pub(crate) fn bind(kinds: &mut [Kind]) -> Vec<KindError> {
    let mut wrong = Vec::new();
    let mut digests = BTreeMap::new();
    for kind in kinds.iter() {
        for (role, holder) in &kind.config.held {
            let found = kinds.iter().find(|other| other.config.name == *holder);
            if let Some(problem) = kind.unfit(role, found) {
                wrong.push(KindError {
                    kind: kind.config.name.clone(),
                    program: kind.config.program.clone(),
                    fault: Box::new(KindFault::Unfit(format!("`held.{role}`: {problem}"))),
                });
            }
        }
        digests.insert(kind.config.name.clone(), kind.digest);
    }
    for kind in kinds.iter_mut().filter(|kind| !kind.config.held.is_empty()) {
        let mut hash = Sha256::new_with_prefix(domains::SERVICE_HELD);
        hash.update(kind.digest);
        for (role, holder) in &kind.config.held {
            hash.update((role.len() as u64).to_le_bytes());
            hash.update(role.as_bytes());
            hash.update(digests.get(holder).copied().unwrap_or_default());
        }
        kind.digest = hash.finalize().into();
    }
    wrong
}
