//! Permutations of rows, which users cannot make up.
//!
//! Rows are moved by opening their places after a shuffle ([`Op::MoveRows`]). Places of a permutation tell nothing then; of others it would be
//! seen which are alike. So a program moves rows by what follows from [`Op::Numbered`] alone, and by operations that change its order.

use super::{Graph, Op};
use crate::error::{Fault, ProgramError};

impl Graph {
    /// Checks that rows are moved by permutations, also in bodies.
    ///
    /// # Errors
    /// [`Fault::NoPermutation`] of the first operation that moves them by something else.
    pub(crate) fn moves_by_permutations(&self) -> Result<(), ProgramError> {
        self.checked(&[])
    }

    /// Checks a graph, of whose arguments these are permutations; what others there are is none.
    fn checked(&self, arguments: &[bool]) -> Result<(), ProgramError> {
        // For each result of each node whether it is a permutation.
        let mut known: Vec<Vec<bool>> = Vec::with_capacity(self.nodes().len());
        for node in self.nodes() {
            let operands = node.inputs.iter();
            let operands = operands.map(|input| known[input.node as usize][input.output as usize]);
            let mut operands: Vec<bool> = operands.collect();
            let made = match &node.op {
                Op::Numbered(_) => vec![true],
                Op::Argument(number) => vec![arguments.get(*number) == Some(&true)],
                Op::Shuffle | Op::SortBy(_) => operands,
                Op::MoveRows => {
                    if !operands.remove(0) {
                        let (at, fault) = (node.at, Fault::NoPermutation);
                        return Err(ProgramError { at, fault });
                    }
                    operands
                }
                Op::Repeat { carried, body, .. } | Op::Map { carried, body, .. } => {
                    // States change, and of mapped values bodies have rows.
                    operands[..*carried].fill(false);
                    body.checked(&operands)?;
                    vec![false; node.outputs.len()]
                }
                Op::Choose(branches) => {
                    operands[0] = false;
                    for branch in branches.iter() {
                        branch.checked(&operands)?;
                    }
                    vec![false; node.outputs.len()]
                }
                _ => vec![false; node.outputs.len()],
            };
            known.push(made);
        }
        Ok(())
    }
}
