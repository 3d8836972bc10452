//! Runs that an earlier one has left something of: answers that need no other party any more, and failures after which something is left.

use madrigal_app::failure::{Failure, Result, Status};
use madrigal_core::Party;

use crate::failure::Unmatched;
use crate::find::{Found, alone};
use crate::state::{State, StateError};
use crate::task::Task;

/// Outcomes of the parties here, where the answers of all are on the disk already: an earlier run could not write them. Nothing where one is not.
///
/// # Errors
/// [`Failure`]: questions that cannot be asked; directories that cannot be used, or have other states; lists that cannot be read, or have changed.
pub(crate) fn all_alone(tasks: &[(Party, &Task)]) -> Result<Option<Vec<Found>>> {
    let states = tasks.iter().filter_map(|(_, task)| task.state.as_ref());
    let states: Vec<&State> = states.collect();
    let twice = (1..states.len()).find(|&at| states[..at].contains(&states[at]));
    if let Some(at) = twice {
        let path = states[at].folder.clone();
        return Err(Unmatched::from(StateError::Used { path }).into());
    }
    let mut found = Vec::new();
    for &(party, task) in tasks {
        task.check(party)?;
        match alone(task, party)? {
            Some(one) => found.push(one),
            None => return Ok(None),
        }
    }
    Ok(Some(found))
}

/// Says where a run goes on that was lost between the parties.
pub(crate) fn lost<'a>(failure: Failure, tasks: impl Iterator<Item = &'a Task>) -> Failure {
    let status = failure.status();
    let here = matches!(status, Status::Usage | Status::File | Status::Internal);
    if here || matches!(failure, Failure::Command(_)) {
        return failure;
    }
    let states = tasks.filter_map(|task| task.state.as_ref());
    let mut kept = states.filter_map(|state| Some((state, state.done()?)));
    match kept.next() {
        Some((state, (done, partitions))) => Unmatched::Lost {
            failure: Box::new(failure),
            done,
            partitions,
            folder: state.folder.clone(),
        }
        .into(),
        None => failure,
    }
}
