//! Both parties tell which run they have a state of, and what of it is done.

use madrigal_app::failure::Result;
use madrigal_core::Phase;
use madrigal_net::{Channel, Context, Error};

use super::{Folder, Kept, StateError};
use crate::failure::Unmatched;
use crate::partitions::CELLS;
use crate::question::Told;

/// Bytes that mark partitions.
const MARKS: usize = CELLS as usize / 8;
/// Bytes of what a party tells: whether it has a state, and by how many partitions, the name of its run, and the partitions that it has the answers of.
const BYTES: usize = 1 + 32 + MARKS;

/// How a run begins.
pub(crate) struct Going {
    /// The directory, with the state if the run goes on.
    pub(crate) folder: Folder,
    /// Partitions of an earlier run of which all have the answers that they are to learn.
    pub(crate) done: [bool; CELLS as usize],
    /// Name in the ledger of a run that told nothing, which this one keeps.
    pub(crate) id: Option<String>,
    /// Partitions, where the run goes on and either party knows them.
    pub(crate) partitions: Option<usize>,
    /// Whether all of the answer is here, and the other party has forgotten the run, which it does once it has its own: there is nothing to be sent.
    pub(crate) alone: bool,
}

/// State of one party.
#[derive(Clone, Copy)]
struct Of {
    run: Option<[u8; 32]>,
    /// Partitions of the run, where the party knows them: a power of two.
    partitions: Option<usize>,
    done: [bool; CELLS as usize],
}

/// Agrees with the other party whether the run goes on or begins anew, before any list is read. One round of 65 bytes.
///
/// A party that has all of the answer goes on alone if the other one has no state. The run begins anew where nothing would be lost: where neither party has an answer of a partition.
///
/// # Errors
/// [`StateError`] at both parties where one of them would go on and the other one cannot; those of the session.
pub(crate) async fn begin(context: &Context, mut folder: Folder, to: Told) -> Result<Going> {
    let me = context.me();
    let other = 1 - me.index().min(1);
    let mut own = Of {
        run: None,
        partitions: None,
        done: [false; CELLS as usize],
    };
    if let Some(kept) = &folder.kept {
        own.run = Some(kept.run());
        own.partitions = kept.of_lists().map(|cut| cut.partitions);
        // A party that learns nothing has no answers to go on from.
        let all = own.done.iter_mut().zip(kept.done());
        all.for_each(|(mark, done)| *mark = done && to.names(me));
    }
    let context = context.enter(Phase::Online, "states of runs");
    let peers: Vec<_> = context.peers().collect();
    let mut channel = match peers[..] {
        [peer] => context.channel(peer)?,
        _ => return Err(Error::bug("two parties match their lists").into()),
    };
    let Channel { tx, rx } = &mut channel;
    tx.send(own.message()).await?;
    context.flush();
    let told = rx.recv(BYTES).await?;
    let theirs = Of::read(&told).map_err(|problem| rx.refuse(problem))?;
    let path = folder.path.clone();
    let error = match (own.run, theirs.run) {
        (Some(run), Some(theirs_run)) if run == theirs_run => {
            let needed =
                |party: usize, done: bool| done || !to.names(madrigal_core::Party::new(party));
            let both = own.done.iter().zip(&theirs.done);
            let both = both.map(|(&own, &theirs)| needed(me.index(), own) && needed(other, theirs));
            let mut done = [false; CELLS as usize];
            done.iter_mut()
                .zip(both)
                .for_each(|(mark, done)| *mark = done);
            if let (Some(then), Some(theirs)) = (own.partitions, theirs.partitions)
                && then != theirs
            {
                let problem = format!("{theirs} partitions of a run that has {then}");
                return Err(rx.refuse(problem).into());
            }
            return Ok(Going {
                folder,
                done,
                id: None,
                partitions: own.partitions.or(theirs.partitions),
                alone: false,
            });
        }
        _ if !own.done.contains(&true) && !theirs.done.contains(&true) => {
            // Whoever had sizes may have given the other party its answer.
            let before = folder.kept.take().filter(|kept| kept.of_lists().is_none());
            return Ok(Going {
                folder,
                done: own.done,
                id: before.map(|kept| kept.id().to_owned()),
                partitions: None,
                alone: false,
            });
        }
        (Some(_), None) if folder.kept.as_ref().is_some_and(Kept::is_done) => {
            // It has forgotten the run, which it does once it has its answer.
            context.fail(Error::Ended {
                reason: "it has its answer of the run that it goes on with, and the other party has forgotten that run: run again to ask anew".to_owned(),
            });
            return Ok(Going {
                folder,
                done: own.done,
                id: None,
                partitions: own.partitions,
                alone: true,
            });
        }
        (None, Some(_)) if theirs.is_done() => {
            // It goes on alone, and ends the job once it has heard that: a failure from here might come before that.
            let _ = rx.recv(1).await;
            StateError::None { path, other }
        }
        (_, None) => StateError::OtherHasNone { path, other },
        (None, _) => StateError::None { path, other },
        _ => StateError::OtherRun { path, other },
    };
    context.fail(Error::Ended {
        reason: "the parties do not have states of the same run (--state): each has to name the directory of that run, or both remove theirs to begin anew".to_owned(),
    });
    Err(Unmatched::from(error).into())
}

impl Of {
    fn message(&self) -> Vec<u8> {
        let partitions = self
            .partitions
            .map_or(0, |partitions| 1 + partitions.ilog2());
        let mut message = vec![u8::from(self.run.is_some()) + partitions as u8];
        message.extend_from_slice(&self.run.unwrap_or_default());
        let marks = self.done.chunks(8).map(|marks| {
            let bits = marks.iter().enumerate();
            bits.fold(0, |byte, (i, &done)| byte | u8::from(done) << i)
        });
        message.extend(marks);
        message
    }

    /// Whether the party has the answer of each partition.
    fn is_done(&self) -> bool {
        let done = self.partitions.map(|partitions| &self.done[..partitions]);
        done.is_some_and(|done| !done.contains(&false))
    }

    /// Reads what the other party tells.
    fn read(message: &[u8]) -> std::result::Result<Self, &'static str> {
        let (&has, rest) = message.split_first().ok_or("it is empty")?;
        let (run, marks) = rest.split_first_chunk().ok_or("it has no name of a run")?;
        let mut done = [false; CELLS as usize];
        for (i, mark) in done.iter_mut().enumerate() {
            *mark = marks
                .get(i / 8)
                .is_some_and(|byte| byte >> (i % 8) & 1 == 1);
        }
        let some = done.contains(&true);
        let (run, partitions) = match has {
            0 if some => return Err("it has partitions of a run and no run"),
            0 => (None, None),
            1 if some => return Err("it has partitions of a run whose sizes it does not know"),
            1 => (Some(*run), None),
            _ => {
                let partitions = 1_usize.checked_shl(u32::from(has) - 2);
                let partitions = partitions.filter(|&partitions| partitions <= CELLS as usize);
                let partitions = partitions.ok_or("it has more partitions than there can be")?;
                if done[partitions..].contains(&true) {
                    return Err("it has partitions beyond the last one of its run");
                }
                (Some(*run), Some(partitions))
            }
        };
        Ok(Self {
            run,
            partitions,
            done,
        })
    }
}
