//! Kinds that hold inputs and kinds that use them, checked against each other when a server reads its file.

use std::collections::BTreeMap;

use madrigal_core::domains;
use sha2::{Digest as _, Sha256};

use crate::kind::{Kind, KindError, KindFault, KindInput};

impl Kind {
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
