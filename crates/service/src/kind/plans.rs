//! Programs of batches that were bound and planned, kept for the next batch of the same size.

use std::sync::{Arc, Mutex, PoisonError};

use madrigal_program::{Computation, Planned};

/// Plans that a kind keeps. Batches mostly have the largest size or a few others.
const KEPT: usize = 4;

/// A batch's program, and its plan.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) program: Computation,
    pub(crate) planned: Planned,
}

/// The plans that were used last, the newest first. Nothing in them depends on what clients bring but the number of submissions.
#[derive(Debug, Default)]
pub(crate) struct Plans(Mutex<Vec<(Of, Arc<Prepared>)>>);

/// The facts that a batch's plan depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Of {
    pub(super) submissions: usize,
    pub(super) threads: usize,
    pub(super) stored: bool,
}

impl Plans {
    pub(super) fn find(&self, of: Of) -> Option<Arc<Prepared>> {
        let mut plans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = plans.iter().position(|(known, _)| *known == of)?;
        plans[..=at].rotate_right(1);
        Some(Arc::clone(&plans[0].1))
    }

    pub(super) fn keep(&self, of: Of, prepared: &Arc<Prepared>) {
        let mut plans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        plans.insert(0, (of, Arc::clone(prepared)));
        plans.truncate(KEPT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use madrigal_program::{Client, Program};
    use std::error::Error;

    fn prepared(submissions: usize) -> Result<Arc<Prepared>, Box<dyn Error>> {
        let (member, analyst) = (Client::new("member"), Client::new("analyst"));
        let mut program = Program::new(3);
        let x = program.input_named::<u32>("x", &member, [submissions]);
        program.open_named("sum", &x.sum(0), &analyst);
        let program = program.finish()?;
        let planned = program.plan(program.mix(), None, &|_| {})?;
        Ok(Arc::new(Prepared { program, planned }))
    }

    #[test]
    fn plans_used_last_are_kept_and_found_by_size_and_threads() -> Result<(), Box<dyn Error>> {
        let of = |submissions, threads| Of {
            submissions,
            threads,
            stored: false,
        };
        let plans = Plans::default();
        for size in 1..=KEPT {
            plans.keep(of(size, 1), &prepared(size)?);
        }
        // The oldest is used once more, so the second oldest goes.
        let first = plans.find(of(1, 1)).ok_or("gone")?;
        assert_eq!(first.program.inputs()[0].tensor_type.shape.axes(), [1]);
        plans.keep(of(9, 1), &prepared(9)?);
        assert!(plans.find(of(2, 1)).is_none());
        assert!(plans.find(of(1, 2)).is_none());
        for size in [1, 3, KEPT, 9] {
            let found = plans.find(of(size, 1)).ok_or("gone")?;
            assert_eq!(found.program.inputs()[0].tensor_type.shape.axes(), [size]);
        }
        Ok(())
    }
}
