//! Programs that come from files, as commands.

use std::path::{Path, PathBuf};

use clap::Args;
use madrigal_core::Party;
use madrigal_net::Fact;
use madrigal_program::{Computation, Inputs};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::arguments::{Flags, Unsound, What};
use crate::failure::{Failure, Result};
use crate::figures::json_text;
use crate::flagged::FlaggedProgram;
pub use crate::flagged::Sink;
use crate::flags::repeat_fact;
pub use crate::inputs::FileValues;
use crate::present::Present;
use crate::public_numbers::Numbers;
use crate::run::{json, line};
use crate::steps::Step;
use crate::{check, explain, inputs, run};

/// The flags of commands that take a program from a file: those of all programs.
#[derive(Args, Debug)]
pub struct ProgramFlags {
    #[command(flatten)]
    pub(crate) flags: Flags,
}

/// A program of a file, bound to its lengths.
#[derive(Debug)]
pub struct FromFile<'a> {
    /// Name of the program, by which clients' shares are bound to it.
    pub name: &'a str,
    /// The program.
    pub program: Computation,
    /// The lengths of its dimensions, which parties compare.
    pub lengths: Vec<Fact>,
    /// Inputs, where they do not come from flags: those of one party, or of all.
    pub inputs: Option<Inputs>,
}

/// Values of a program in the clear, as JSON has them.
#[derive(Serialize)]
struct Simulated<'a> {
    /// Name of the program.
    program: &'a str,
    /// Outputs by name, as `run` has them.
    outputs: Map<String, Value>,
    /// Numbers that left their type's range, divisions by 0, places beyond tables.
    overflows: Vec<String>,
}

impl ProgramFlags {
    /// Has the values of inputs that are given as files of a kind that `read` knows read by it.
    ///
    /// # Errors
    /// [`Failure`] of `read`.
    pub fn read_files(&mut self, read: impl Fn(&Path) -> Result<Option<FileValues>>) -> Result<()> {
        for input in &mut self.flags.inputs {
            input.read_file(&read)?;
        }
        Ok(())
    }

    /// Whether results are to be JSON.
    pub fn json(&self) -> bool {
        self.flags.json
    }

    /// Whether outputs alone are to be told.
    pub fn quiet(&self) -> bool {
        self.flags.quiet
    }

    /// The number of parties, where all of them are to run here.
    pub fn local(&self) -> Option<usize> {
        self.flags.who.local
    }

    /// The file that lists the parties, where it is given.
    pub fn roster(&self) -> Option<&Path> {
        self.flags.who.roster.as_deref()
    }

    /// Has a party take its shares of clients' inputs of a query from a directory, where they have the names that
    /// [`share_files::write`](crate::share_files::write) gives those of queries. Shares are for one query, so flags that name others are
    /// refused.
    ///
    /// # Errors
    /// [`Failure`]: such a flag.
    pub fn take_query_shares(&mut self, directory: Option<PathBuf>) -> Result<()> {
        self.flags.clients.of_query(directory)
    }

    /// Computes a program that is made once it is known how many parties there are, and which of them runs here if not all do. Gives what
    /// is to be printed; `sink` gets outputs that go elsewhere.
    ///
    /// # Errors
    /// [`Failure`]: flags and inputs that do not fit the program, that of `make`, and what goes wrong between the parties.
    pub fn run<'a>(
        &mut self,
        make: impl FnOnce(usize, Option<Party>) -> Result<FromFile<'a>>,
        sink: Sink<'_>,
    ) -> Result<String> {
        let flags = &mut self.flags;
        flags.settle(What::Run)?;
        let present = Present::new(&flags.who, &flags.net)?;
        let mut made = make(present.parties(), present.me())?;
        made.for_parties(present.parties())?;
        let inputs = made.inputs.take();
        if inputs.is_some() && !flags.inputs.is_empty() {
            return Err(Failure::from(Unsound::Plan {
                problem: "--input: this command brings its inputs itself".into(),
                remedy: "leave it out",
            }));
        }
        run::run(&made.flagged(flags, Some(sink)), inputs, present)
    }
}

impl FromFile<'_> {
    /// Computes it, as all parties or as one. Gives what is to be printed; `sink` gets outputs that go elsewhere.
    ///
    /// # Errors
    /// [`Failure`]: flags and inputs that do not fit the program, and what goes wrong between the parties.
    pub fn run(self, flags: &mut ProgramFlags, sink: Sink<'_>) -> Result<String> {
        flags.run(|_, _| Ok(self), sink)
    }

    /// Says what it costs, operation by operation.
    ///
    /// # Errors
    /// [`Failure`]: flags that do not fit the program.
    pub fn explain(self, flags: &mut ProgramFlags) -> Result<String> {
        self.explain_steps(flags, &[])
    }

    /// Says what it costs, step by step and operation by operation.
    ///
    /// # Errors
    /// [`Failure`]: flags that do not fit the program.
    pub fn explain_steps(self, flags: &mut ProgramFlags, steps: &[Step]) -> Result<String> {
        let flags = &mut flags.flags;
        flags.settle(What::Explain)?;
        explain::explain(&self.flagged(flags, None), steps)
    }

    /// Runs all parties here in every mix, and compares what they open with what the program means in the clear, and costs with
    /// those declared.
    ///
    /// # Errors
    /// [`Failure`]: flags and inputs that do not fit the program, and what is not as it should be.
    pub fn check(self, flags: &mut ProgramFlags) -> Result<String> {
        let flags = &mut flags.flags;
        flags.settle(What::Check)?;
        check::check(&self.flagged(flags, None))
    }

    /// Computes in the clear what it means, from all parties' and clients' inputs.
    ///
    /// # Errors
    /// [`Failure`]: inputs that are missing or do not fit the program.
    pub fn simulate(self, flags: &ProgramFlags, sink: Sink<'_>) -> Result<String> {
        let (program, flags) = (&self.program, &flags.flags);
        let inputs = match &self.inputs {
            Some(inputs) => inputs.clone(),
            None => inputs::read(program, &[], &flags.inputs, None, true)?.0,
        };
        let checked = program.check(&inputs)?;
        let mut outputs = Vec::new();
        for ((place, port), array) in program
            .outputs()
            .iter()
            .enumerate()
            .zip(checked.outputs.arrays())
        {
            let name = port.name.clone().unwrap_or_else(|| place.to_string());
            let array = array.ok_or_else(|| Failure::bug("an output without a value"))?;
            if !sink(&name, array)? {
                outputs.push((name, array));
            }
        }
        let overflows: Vec<String> = checked.overflows.iter().map(ToString::to_string).collect();
        if flags.json {
            let outputs = outputs.iter();
            return json_text(&Simulated {
                program: self.name,
                outputs: outputs
                    .map(|(name, array)| (name.clone(), json(array)))
                    .collect(),
                overflows,
            });
        }
        let lines = outputs.iter().map(|(name, array)| line(name, array));
        let notes = overflows.iter().map(|note| format!("note: {note}\n"));
        Ok(lines.chain(notes).collect())
    }

    /// Checks that as many parties are there as the program has.
    pub(crate) fn for_parties(&self, parties: usize) -> Result<()> {
        let wanted = self.program.parties();
        if parties == wanted {
            return Ok(());
        }
        let problem = format!("the program is for {wanted} parties, and there are {parties}");
        let remedy = "give --local or a list with as many";
        Err(Failure::from(Unsound::Plan { problem, remedy }))
    }

    pub(crate) fn flagged<'f>(
        self,
        flags: &'f Flags,
        sink: Option<Sink<'f>>,
    ) -> FlaggedProgram<'f, ()>
    where
        Self: 'f,
    {
        let mut asked = self.lengths;
        asked.extend(repeat_fact(flags.repeat));
        FlaggedProgram {
            name: self.name,
            required: Vec::new(),
            numbers: Numbers {
                parties: self.program.parties(),
                ..Numbers::default()
            },
            program: self.program,
            handles: (),
            asked,
            flags,
            tell: None,
            sink,
        }
    }
}
