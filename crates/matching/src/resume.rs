//! Runs that an earlier one has left something of: answers that need no other party any more, and failures after which something is left.

use madrigal_app::failure::{Failure, Result, Status};
use madrigal_core::Party;

use crate::failure::Unmatched;
use crate::find::recalled;
use crate::found::Found;
use crate::state::{State, StateError};
use crate::task::Task;

/// Outcomes that are on the disk already, of an earlier run that could not hand them over; nothing where parties have to meet. The answer of all parties
/// here, or, with both here, of one whose other party has forgotten the run, as it does when its answer has been handed over.
///
/// # Errors
/// [`Failure`]: questions that cannot be asked; directories that cannot be used, or have other states; lists that cannot be read, or have changed.
pub(crate) fn all_alone(tasks: &[(Party, &Task)]) -> Result<Option<Vec<(Party, Found)>>> {
    let states = tasks.iter().filter_map(|(_, task)| task.state.as_ref());
    let states: Vec<&State> = states.collect();
    let twice = (1..states.len()).find(|&at| states[..at].contains(&states[at]));
    if let Some(at) = twice {
        let path = states[at].folder.clone();
        return Err(Unmatched::from(StateError::Used { path }).into());
    }
    let (mut done, mut forgotten) = (Vec::new(), 0);
    let both = tasks.len() == 2;
    for &(party, task) in tasks {
        task.check(party)?;
        let Some(state) = &task.state else {
            return Ok(None);
        };
        let folder = state.open(&task.question(party)).map_err(Unmatched::from)?;
        match &folder.kept {
            Some(kept) if kept.is_all() || both && kept.is_done() => {
                done.push((party, task, folder));
            }
            None if both => forgotten += 1,
            _ => return Ok(None),
        }
    }
    if done.is_empty() || forgotten > 0 && done.len() + forgotten < tasks.len() {
        return Ok(None);
    }
    let found = done
        .into_iter()
        .map(|(party, task, folder)| Ok((party, recalled(task, party, folder)?)));
    found.collect::<Result<_>>().map(Some)
}

/// Says where a run goes on that was lost between the parties. Where one of them has refused it, nothing goes on by itself.
pub(crate) fn lost<'a>(
    failure: Failure,
    tasks: impl Iterator<Item = (Party, &'a Task)>,
) -> Failure {
    let status = failure.status();
    let refused = matches!(
        status,
        Status::Usage | Status::File | Status::Internal | Status::Peer
    );
    if refused || matches!(failure, Failure::Command(_)) {
        return failure;
    }
    let mut kept = tasks.filter_map(|(party, task)| {
        let state = task.state.as_ref()?;
        Some((task.to.names(party), state, state.done()?))
    });
    match kept.next() {
        Some((learns, state, (done, partitions))) => Unmatched::Lost {
            failure: Box::new(failure),
            kept: match learns {
                true => format!("{done} of {partitions} partitions are kept"),
                // The other party keeps what it has learnt.
                false => "the run is kept".to_owned(),
            },
            folder: state.folder.clone(),
        }
        .into(),
        None => failure,
    }
}
