//! A command's program and settings, made of its flags.

use madrigal_circuit::Goal;
use madrigal_net::Fact;
use madrigal_program::lower::Mix;
use madrigal_program::{Array, Computation, Outputs, Planned};

use crate::arguments::{Flags, Unsound};
use crate::failure::Result;
use crate::must::Required;
use crate::public_numbers::Numbers;
use crate::ways::Ways;

/// Takes an output by its name, if it is wanted elsewhere than on the terminal.
pub type Sink<'a> = &'a dyn Fn(&str, &Array) -> Result<bool>;

pub(crate) type Tell<H> = dyn Fn(&H, &Outputs, &Numbers) -> String;

/// A program with all that its flags say.
pub(crate) struct FlaggedProgram<'a, H> {
    pub(crate) name: &'a str,
    pub(crate) program: Computation,
    pub(crate) required: Vec<Required>,
    pub(crate) handles: H,
    pub(crate) numbers: Numbers,
    /// The public numbers as the parties compare them.
    pub(crate) asked: Vec<Fact>,
    pub(crate) flags: &'a Flags,
    pub(crate) tell: Option<&'a Tell<H>>,
    /// Outputs that go elsewhere than on the terminal.
    pub(crate) sink: Option<Sink<'a>>,
}

/// All of a command's program and flags that plans are made of, for any thread.
#[derive(Clone, Copy)]
pub(crate) struct Planner<'a> {
    program: &'a Computation,
    asked: &'a [Fact],
    flags: &'a Flags,
}

impl<H> FlaggedProgram<'_, H> {
    /// Gives what plans are made of.
    pub(crate) fn planner(&self) -> Planner<'_> {
        Planner {
            program: &self.program,
            asked: &self.asked,
            flags: self.flags,
        }
    }

    /// Goal of circuits, if it is not left to the plan.
    pub(crate) fn goal(&self) -> Option<Goal> {
        self.flags.goal()
    }
}

impl<'a> Planner<'a> {
    /// The plan on this many threads of each party, in the mix that the flags name, else in the program's own.
    pub(crate) fn plan(&self, threads: usize) -> Result<Planned> {
        let mix = self.flags.mix.unwrap_or_else(|| self.program.mix());
        self.plan_in(mix, self.flags.goal(), threads)
    }

    /// Gives the ways in which it is to be computed on this many threads of each party.
    pub(crate) fn ways(&self, threads: usize) -> Ways<'a> {
        self.flags.ways(self.asked, threads)
    }

    /// Plans the program in a mix, on this many threads of each party.
    pub(crate) fn plan_in(&self, mix: Mix, goal: Option<Goal>, threads: usize) -> Result<Planned> {
        let planned = self.ways(threads).plan(self.program, mix, goal);
        planned.map_err(|error| Unsound::plan(&error))
    }
}
