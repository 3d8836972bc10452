//! The arguments of commands that are programs: flags, public numbers, who takes part.

use std::process::ExitCode;

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, ValueEnum};
use madrigal_circuit::Goal;
use madrigal_net::Fact;
use madrigal_program::lower::Mix;
use madrigal_program::{ExecuteError, ProgramError};

use crate::ahead::Ahead;
use crate::clients::ClientFlags;
use crate::failure::{EXIT_STATUS, Failure, Fault, Result, Status};
use crate::flags::{Net, Who, repetitions};
use crate::inputs::InputFlag;
use crate::over::Over;
use crate::present::Present;
use crate::public_numbers::Numbers;
use crate::threads::Threads;
use crate::ways::{MatricesArg, Ways};

/// A number's flag.
pub(crate) struct Number {
    pub(crate) name: &'static str,
    pub(crate) help: String,
    pub(crate) default: usize,
    pub(crate) most: usize,
}

/// Actions of a command with its program.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// Compute it, with --local or --party
    Run,
    /// Say what it costs, for each operation
    Explain,
    /// Run all parties here, in every mix of protocols, and compare the outputs with what the program
    /// means in the clear and the costs with those declared; inputs that are not given are random
    Check,
}

/// Goals of circuits.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
enum CircuitsArg {
    /// What takes less time over --link
    Auto,
    /// ANDs
    Size,
    /// Layers of ANDs, and with them rounds
    Depth,
}

/// Name of the argument that says what is done with a program.
const WHAT: &str = "what";

/// The flags that all programs have.
#[derive(Args, Debug)]
pub(crate) struct Flags {
    #[arg(skip = What::Run)]
    pub(crate) what: What,

    /// Elements of an input, with commas, spaces or line ends between them; after an @ a file that has
    /// them, after @- standard input. Others on this machine can see what stands on the command line
    #[arg(long = "input", short = 'i', value_name = "NAME=VALUES")]
    pub(crate) inputs: Vec<InputFlag>,

    #[command(flatten)]
    pub(crate) clients: ClientFlags,

    /// Which protocol does arithmetic and which the rest: A+B, B, or among three parties R. Several
    /// for the rest (A+B+Y, between two parties A+B+Y2) let the plan choose for each operation, auto
    /// among all mixes; the same at all parties [default: the program's own; for check, all]
    #[arg(long, value_name = "MIX")]
    pub(crate) mix: Option<Mix>,

    /// What circuits save; the same at all parties
    #[arg(long, value_name = "WHAT", default_value = "auto")]
    circuits: CircuitsArg,

    /// What makes the triples for products of matrices and convolutions; the same at all parties
    #[arg(long, value_name = "HOW", default_value = "auto")]
    matrices: MatricesArg,

    #[command(flatten)]
    pub(crate) over: Over,

    /// Threads that each party computes with; auto: as many as there are cores for it here, which the parties on this machine
    /// share. Parties may have different numbers: what they do together is planned for the least of them
    #[arg(long, value_name = "auto|N", default_value_t)]
    pub(crate) threads: Threads,

    #[command(flatten)]
    pub(crate) ahead: Ahead,

    /// Compute K times with the same inputs, and report mean, median, standard deviation and extremes with --json; the same at
    /// all parties
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = repetitions())]
    pub(crate) repeat: u32,

    /// For check: random inputs follow from this
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Print JSON: outputs and costs
    #[arg(long)]
    pub(crate) json: bool,

    /// Print outputs alone
    #[arg(long, short)]
    pub(crate) quiet: bool,

    #[command(flatten)]
    pub(crate) who: Who,

    #[command(flatten)]
    pub(crate) net: Net,
}

/// A program that cannot be, or cannot be carried out.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unsound {
    /// The program's author is to mend it.
    #[error("{0}; correct the program")]
    Program(#[from] ProgramError),
    /// Whoever gave the flags is.
    #[error("{problem}; {remedy}")]
    Plan {
        problem: String,
        remedy: &'static str,
    },
}

impl Fault for Unsound {
    fn status(&self) -> Status {
        match self {
            Self::Program(_) => Status::Internal,
            Self::Plan { .. } => Status::Usage,
        }
    }
}

impl Unsound {
    pub(crate) fn plan(error: &ExecuteError) -> Failure {
        Failure::from(Self::Plan {
            problem: error.to_string(),
            remedy: "give another --mix or number of parties",
        })
    }
}

impl Flags {
    /// Settles what is to be done, and flags that follow from others.
    pub(crate) fn settle(&mut self, what: What) -> Result<()> {
        madrigal_kernels::level_from_env().map_err(|error| {
            Failure::from(Unsound::Plan {
                problem: error.to_string(),
                remedy: "correct the environment",
            })
        })?;
        self.what = what;
        let here = self.who.local.is_some();
        self.over.or_network(&self.net.network, here);
        let foreign = match what {
            What::Run => None,
            What::Explain if self.ahead.prepare.is_some() => Some("--prepare"),
            What::Explain => None,
            What::Check if self.ahead.is_stored() => Some("--store"),
            What::Check => None,
        };
        match foreign {
            None => Ok(()),
            Some(flag) => Err(Failure::from(Unsound::Plan {
                problem: format!("{flag} is for `run`"),
                remedy: "leave it out",
            })),
        }
    }

    /// Goal of circuits, if it is not left to the plan.
    pub(crate) fn goal(&self) -> Option<Goal> {
        match self.circuits {
            CircuitsArg::Auto => None,
            CircuitsArg::Size => Some(Goal::Size),
            CircuitsArg::Depth => Some(Goal::Depth),
        }
    }

    /// Number of threads of each party here.
    pub(crate) fn own_threads(&self) -> usize {
        self.threads.resolve(self.who.here())
    }

    /// Gives the ways in which it is to be computed on this many threads of each party.
    pub(crate) fn ways<'a>(&'a self, asked: &'a [Fact], threads: usize) -> Ways<'a> {
        Ways {
            over: &self.over,
            threads,
            matrices: self.matrices,
            stored: self.ahead.is_stored(),
            asked,
        }
    }
}

/// Names of a command.
pub(crate) struct Named<'a> {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) numbers: &'a [Number],
    /// Number of parties that it has where no flag says so.
    pub(crate) parties: usize,
}

impl Named<'_> {
    /// The command, with a text below its flags.
    pub(crate) fn command(&self, below: &str) -> Command {
        let command = Flags::augment_args(Command::new(self.name))
            // After the flags, which bring a text of their own.
            .about(self.about)
            .long_about(None)
            .max_term_width(100)
            .arg(
                Arg::new(WHAT)
                    .help("What to do")
                    .value_name("WHAT")
                    .value_parser(clap::value_parser!(What))
                    .default_value("run"),
            )
            .after_help(format!("{below}{EXIT_STATUS}"));
        let heading = "The program";
        let numbers = self.numbers.iter().map(|number| {
            let range = 1..=number.most as u64;
            Arg::new(number.name)
                .long(number.name)
                .help(format!("{} [default: {}]", number.help, number.default))
                .help_heading(heading)
                .value_name("N")
                .value_parser(clap::value_parser!(u64).range(range))
        });
        command.args(numbers)
    }

    /// The numbers as they are without flags.
    pub(crate) fn defaults(&self) -> Numbers {
        let defaults = self.numbers.iter().map(|one| (one.name, one.default));
        Numbers {
            parties: self.parties,
            by_name: defaults.collect(),
        }
    }

    /// Reads the flags.
    pub(crate) fn flags(&self, matches: &ArgMatches) -> Result<Flags> {
        let mut flags = Flags::from_arg_matches(matches).map_err(Failure::bug)?;
        let what = matches.get_one(WHAT).copied().unwrap_or(What::Run);
        flags.settle(what)?;
        Ok(flags)
    }

    /// The parties that run here, if any are to, and the numbers.
    pub(crate) fn among<'f>(
        &self,
        flags: &'f Flags,
        matches: &ArgMatches,
    ) -> Result<(Option<Present<'f>>, Numbers)> {
        let value = |number: &Number| {
            let value = matches.get_one::<u64>(number.name).copied();
            let value = value.and_then(|value| usize::try_from(value).ok());
            (number.name, value.unwrap_or(number.default))
        };
        // A party counts the others in the list of them.
        let present = match flags.what {
            What::Run => Some(Present::new(&flags.who, &flags.net)?),
            What::Explain | What::Check => None,
        };
        let parties = present.as_ref().map(Present::parties);
        let parties = parties.or(flags.who.local).unwrap_or(self.parties);
        let numbers = Numbers {
            parties,
            by_name: self.numbers.iter().map(value).collect(),
        };
        Ok((present, numbers))
    }
}

/// Reads a process's arguments, or ends it: with help, or because one is wrong.
pub(crate) fn of_process(command: Command) -> ArgMatches {
    match command.try_get_matches() {
        Ok(matches) => matches,
        Err(error) => error.exit(),
    }
}

/// Reads arguments that are given, for tests.
pub(crate) fn of_words<A: Into<std::ffi::OsString> + Clone>(
    command: Command,
    arguments: impl IntoIterator<Item = A>,
) -> Result<ArgMatches> {
    let matches = command.try_get_matches_from(arguments);
    matches.map_err(|error| {
        Failure::from(Unsound::Plan {
            problem: error.to_string().trim_end().to_owned(),
            remedy: "see --help",
        })
    })
}

/// Prints what a command has done, or what went wrong.
pub(crate) fn told(name: &str, done: Result<String>) -> ExitCode {
    match done.and_then(|text| crate::figures::print(text.as_bytes())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            crate::terminal::failed(name, &failure);
            failure.status().into()
        }
    }
}
