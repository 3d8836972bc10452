//! A program on typed secrets as a command.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, ValueEnum};
use madrigal_circuit::Goal;
use madrigal_program::lower::Mix;
use madrigal_program::{Computation, Outputs, Planned, Program, ProgramError};

use crate::ahead::Ahead;
use crate::failure::{Failure, Fault, Result, Status};
use crate::flags::{Net, Who, threads};
use crate::inputs::InputFlag;
use crate::over::Over;
use crate::remote::RemoteParty;
use crate::ways::{MatricesArg, Ways};
use crate::{check, explain, run};

/// Shown below `--help`: scripts rely on it.
const EXIT_STATUS: &str = "\
Exit status:
  0  the result is right
  1  a fault of this program or machine
  2  wrong usage: a flag or an argument
  3  a given file is missing, malformed, or cannot be written
  4  the network: a party lost, silent, slow, or out of reach
  5  another party: its program, its version, its key, or its behaviour";

/// The public numbers that a program depends on, by the flags that give them.
#[derive(Debug, Clone, Default)]
pub struct Numbers {
    parties: usize,
    by_name: BTreeMap<&'static str, usize>,
}

impl Numbers {
    /// How many parties there are.
    pub fn parties(&self) -> usize {
        self.parties
    }

    /// A number, by its name.
    ///
    /// # Panics
    /// If the command has no such number.
    pub fn get(&self, name: &str) -> usize {
        let known = self.by_name.get(name);
        *known.unwrap_or_else(|| panic!("the command has a number {name:?}"))
    }
}

/// A number's flag.
struct Number {
    name: &'static str,
    help: String,
    default: usize,
    most: usize,
}

type Build<H> = dyn Fn(&mut Program, &Numbers) -> H;
pub(crate) type Tell<H> = dyn Fn(&H, &Outputs, &Numbers) -> String;

/// A program as a command: one function that builds it makes all parties on this machine, one real party, an
/// estimate and a test.
///
/// ```no_run
/// use madrigal_app::App;
/// use madrigal_program::{Everyone, Party};
///
/// fn main() -> std::process::ExitCode {
///     App::new("richer", "Which of two is richer, and nothing else", |p, _| {
///         let [a, b] = [0, 1].map(|i| p.input_named::<u64>(["first", "second"][i], Party::new(i), ()));
///         p.open_named("the first is richer", a.gt(b), Everyone)
///     })
///     .main()
/// }
/// ```
///
/// Then `richer --local 2 --input first=3 --input second=2` runs both parties, `richer --party 0 --parties
/// parties.toml --input first=@mine.txt` is one of two machines, `richer explain --network wan` says what
/// each operation costs, and `richer check` compares all mixes of protocols with the meaning in the clear.
pub struct App<H> {
    name: &'static str,
    about: &'static str,
    numbers: Vec<Number>,
    parties: usize,
    mix: Option<Mix>,
    build: Box<Build<H>>,
    tell: Option<Box<Tell<H>>>,
}

/// What a command does with its program.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    /// Compute it, with --local or --party
    Run,
    /// Say what it costs, for each operation
    Explain,
    /// Run all parties here, in every mix of protocols, and compare the outputs with what the program
    /// means in the clear and the costs with those declared; inputs that are not given are random
    Check,
}

/// What circuits save.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
enum CircuitsArg {
    /// What takes less time over --link
    Auto,
    /// ANDs
    Size,
    /// Layers of ANDs, and with them rounds
    Depth,
}

/// The flags that all programs have.
#[derive(Args, Debug)]
pub(crate) struct Flags {
    /// What to do
    #[arg(value_enum, default_value = "run", value_name = "WHAT")]
    what: What,

    /// Elements of an input, with commas, spaces or line ends between them; after an @ a file that has
    /// them, after @- standard input. Others on this machine can see what stands on the command line
    #[arg(long = "input", short = 'i', value_name = "NAME=VALUES")]
    pub(crate) inputs: Vec<InputFlag>,

    /// Which protocol does arithmetic and which the rest: A+B, B, or among three parties R; the same
    /// at all parties [default: the program's own; for check, all]
    #[arg(long, value_name = "MIX")]
    pub(crate) mix: Option<Mix>,

    /// What circuits save; the same at all parties
    #[arg(long, value_name = "WHAT", default_value = "auto")]
    circuits: CircuitsArg,

    /// What makes the triples for products of matrices and convolutions; the same at all parties
    #[arg(long, value_name = "HOW", default_value = "auto")]
    matrices: MatricesArg,

    #[command(flatten)]
    over: Over,

    /// Threads that each party computes with; the same number at all parties
    #[arg(long, value_name = "N", value_parser = threads, default_value = "1")]
    pub(crate) threads: usize,

    #[command(flatten)]
    pub(crate) ahead: Ahead,

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
enum Unsound {
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

/// A program with all that its flags say.
pub(crate) struct Made<'a, H> {
    pub(crate) name: &'static str,
    pub(crate) program: Computation,
    pub(crate) handles: H,
    pub(crate) numbers: Numbers,
    pub(crate) flags: &'a Flags,
    pub(crate) tell: Option<&'a Tell<H>>,
}

impl<H> App<H> {
    /// A command of this name. `build` makes the program of as many parties as the flags say, from the
    /// public numbers that the command asks for; what it gives is handed to [`telling`](Self::telling).
    /// Inputs are given by their names ([`Program::input_named`]), or by their places if they have none.
    pub fn new(
        name: &'static str,
        about: &'static str,
        build: impl Fn(&mut Program, &Numbers) -> H + 'static,
    ) -> Self {
        Self {
            name,
            about,
            numbers: Vec::new(),
            parties: 2,
            mix: None,
            build: Box::new(build),
            tell: None,
        }
    }

    /// A public number that the program depends on, all parties alike: `--name N`, from 1 to `most`.
    #[must_use]
    pub fn number(mut self, name: &'static str, default: usize, most: usize, help: &str) -> Self {
        self.numbers.push(Number {
            name,
            help: format!("{help}; the same at all parties"),
            default,
            most,
        });
        self
    }

    /// How many parties it has where no flag says so; 2 if this is not called.
    #[must_use]
    pub fn parties(self, parties: usize) -> Self {
        Self { parties, ..self }
    }

    /// The mix of protocols where no flag says so, instead of the program's own.
    #[must_use]
    pub fn mix(self, mix: Mix) -> Self {
        let mix = Some(mix);
        Self { mix, ..self }
    }

    /// What is told of the outputs at parties that get all of them; where this is not called, and at other
    /// parties, each output with its name.
    #[must_use]
    pub fn telling(self, tell: impl Fn(&H, &Outputs, &Numbers) -> String + 'static) -> Self {
        let tell: Option<Box<Tell<H>>> = Some(Box::new(tell));
        Self { tell, ..self }
    }

    /// Does what the process's arguments say; what went wrong is on standard error.
    pub fn main(self) -> ExitCode {
        let matches = match self.command().try_get_matches() {
            Ok(matches) => matches,
            Err(error) => error.exit(),
        };
        let done = self
            .perform(&matches)
            .and_then(|text| crate::figures::print(text.as_bytes()));
        match done {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => {
                // Nobody is left to tell if standard error is gone.
                let _ = writeln!(std::io::stderr(), "{}: {failure}", self.name);
                failure.status().into()
            }
        }
    }

    /// Does what these arguments say, the first of which is the program's name as in those of a process;
    /// gives what would be printed. For tests.
    ///
    /// # Errors
    /// Arguments that are wrong, and all else that goes wrong.
    pub fn run<A: Into<OsString> + Clone>(
        &self,
        arguments: impl IntoIterator<Item = A>,
    ) -> Result<String> {
        let matches = self.command().try_get_matches_from(arguments);
        let matches = matches.map_err(|error| {
            Failure::other(Unsound::Plan {
                problem: error.to_string().trim_end().to_owned(),
                remedy: "see --help",
            })
        })?;
        self.perform(&matches)
    }

    fn command(&self) -> Command {
        let command = Flags::augment_args(Command::new(self.name))
            // After the flags, which bring a text of their own.
            .about(self.about)
            .long_about(None)
            .max_term_width(100)
            .after_help(format!("{}{EXIT_STATUS}", self.ports()));
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

    /// The inputs and outputs of the program as it is without flags.
    fn ports(&self) -> String {
        let defaults = self.numbers.iter().map(|one| (one.name, one.default));
        let numbers = Numbers {
            parties: self.parties,
            by_name: defaults.collect(),
        };
        let Ok((program, _)) = self.build(&numbers) else {
            return String::new();
        };
        let inputs = program.inputs().iter().enumerate();
        let inputs = inputs.map(|(place, port)| {
            let name = port.name.clone().unwrap_or_else(|| place.to_string());
            (name, format!("{} of {}", port.sort, port.owner))
        });
        let outputs = program.outputs().iter().enumerate();
        let outputs = outputs.map(|(place, port)| {
            let name = port.name.clone().unwrap_or_else(|| place.to_string());
            let everyone = port.to.len() == program.parties();
            let to: Vec<_> = port.to.iter().map(ToString::to_string).collect();
            let to = if everyone {
                "everyone".into()
            } else {
                to.join(", ")
            };
            (name, format!("{} to {to}", port.sort))
        });
        let mut text = String::new();
        let lists: [(&str, Vec<(String, String)>); 2] =
            [("Inputs", inputs.collect()), ("Outputs", outputs.collect())];
        for (title, lines) in lists {
            let parties = program.parties();
            text += &format!("{title}, as it is for {parties} parties without other flags:\n");
            let wide = lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
            for (name, what) in lines {
                text += &format!("  {name:wide$}  {what}\n");
            }
            text += "\n";
        }
        text
    }

    fn build(&self, numbers: &Numbers) -> Result<(Computation, H)> {
        let mut p = Program::new(numbers.parties);
        let handles = (self.build)(&mut p, numbers);
        let program = p.finish();
        let program = program.map_err(|error| Failure::other(Unsound::Program(error)))?;
        Ok((program, handles))
    }

    fn perform(&self, matches: &ArgMatches) -> Result<String> {
        madrigal_kernels::level_from_env().map_err(|error| {
            Failure::other(Unsound::Plan {
                problem: error.to_string(),
                remedy: "correct the environment",
            })
        })?;
        let mut flags = Flags::from_arg_matches(matches).map_err(Failure::bug)?;
        flags.over.or_network(&flags.net.network);
        if flags.what != What::Check {
            flags.mix = flags.mix.or(self.mix);
        }
        let value = |number: &Number| {
            let value = matches.get_one::<u64>(number.name).copied();
            let value = value.and_then(|value| usize::try_from(value).ok());
            (number.name, value.unwrap_or(number.default))
        };
        let flags = &flags;
        let foreign = match flags.what {
            What::Run => None,
            What::Explain if flags.ahead.prepare.is_some() => Some("--prepare"),
            What::Explain => None,
            What::Check if flags.ahead.is_stored() => Some("--store"),
            What::Check => None,
        };
        if let Some(flag) = foreign {
            return Err(Failure::other(Unsound::Plan {
                problem: format!("{flag} is for `run`"),
                remedy: "leave it out",
            }));
        }
        // A party counts the others in the list of them.
        let remote = match (flags.what, flags.who.local, flags.who.party) {
            (What::Run, None, Some(_)) => Some(RemoteParty::new(&flags.who, &flags.net, 0)?),
            (What::Run, None, None) => return Err(crate::failure::Usage::NobodyHere.into()),
            _ => None,
        };
        let parties = remote.as_ref().map(RemoteParty::parties);
        let parties = parties.or(flags.who.local).unwrap_or(self.parties);
        let numbers = Numbers {
            parties,
            by_name: self.numbers.iter().map(value).collect(),
        };
        let (program, handles) = self.build(&numbers)?;
        let made = Made {
            name: self.name,
            program,
            handles,
            numbers,
            flags,
            tell: self.tell.as_deref(),
        };
        match (flags.what, remote) {
            (What::Run, Some(remote)) => run::as_one(&made, remote.with_threads(flags.threads)),
            (What::Run, None) => run::as_all(&made),
            (What::Explain, _) => explain::explain(&made),
            (What::Check, _) => check::check(&made),
        }
    }
}

impl<H> Made<'_, H> {
    /// The plan in the mix that the flags name, else in the program's own.
    pub(crate) fn plan(&self) -> Result<Planned> {
        let mix = self.flags.mix.unwrap_or_else(|| self.program.mix());
        self.plan_in(mix, self.goal())
    }

    /// What circuits are to save, if that is not left to the plan.
    pub(crate) fn goal(&self) -> Option<Goal> {
        match self.flags.circuits {
            CircuitsArg::Auto => None,
            CircuitsArg::Size => Some(Goal::Size),
            CircuitsArg::Depth => Some(Goal::Depth),
        }
    }

    /// How it is to be computed.
    pub(crate) fn ways(&self) -> Ways<'_> {
        let flags = self.flags;
        Ways {
            over: &flags.over,
            threads: flags.threads,
            matrices: flags.matrices,
            stored: flags.ahead.is_stored(),
        }
    }

    /// The same in a mix.
    pub(crate) fn plan_in(&self, mix: Mix, goal: Option<Goal>) -> Result<Planned> {
        let ways = self.ways();
        ways.plan(&self.program, mix, goal).map_err(|error| {
            Failure::other(Unsound::Plan {
                problem: error.to_string(),
                remedy: "give another --mix or number of parties",
            })
        })
    }
}
