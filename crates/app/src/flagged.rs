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

impl<H> FlaggedProgram<'_, H> {
    /// The plan in the mix that the flags name, else in the program's own.
    pub(crate) fn plan(&self) -> Result<Planned> {
        let mix = self.flags.mix.unwrap_or_else(|| self.program.mix());
        self.plan_in(mix, self.goal())
    }

    /// Goal of circuits, if it is not left to the plan.
    pub(crate) fn goal(&self) -> Option<Goal> {
        self.flags.goal()
    }

    /// Gives the ways in which it is to be computed.
    pub(crate) fn ways(&self) -> Ways<'_> {
        self.flags.ways(&self.asked)
    }

    /// Plans the program in a mix.
    pub(crate) fn plan_in(&self, mix: Mix, goal: Option<Goal>) -> Result<Planned> {
        let planned = self.ways().plan(&self.program, mix, goal);
        planned.map_err(|error| Unsound::plan(&error))
    }
}
