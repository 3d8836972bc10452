//! A program on typed secrets as a command.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{ArgMatches, Command};
use madrigal_net::Fact;
use madrigal_program::lower::Mix;
use madrigal_program::{Computation, Outputs, Program};

use crate::arguments::{self, Named, Number, Unsound, What};
use crate::failure::{Failure, Result};
use crate::flagged::{FlaggedProgram, Tell};
use crate::flags::repeat_fact;
use crate::must::{Must, Required, Rule};
use crate::public_numbers::Numbers;
use crate::{check, explain, run};

type Build<H> = dyn Fn(&mut Program, &Numbers) -> H;

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
    rules: Vec<Rule>,
    tell: Option<Box<Tell<H>>>,
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
            rules: Vec::new(),
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

    /// Sets the number of parties where no flag says so; 2 if this is not called.
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

    /// Adds a condition that the owner of an input makes sure of before anything is sent, for these public numbers. Where it
    /// does not hold, the program would compute something else than it says: the owner is told so, and `why`, and nothing runs.
    /// The condition is on inputs that are given; `check` makes random inputs without regard to it.
    #[must_use]
    pub fn requiring(
        mut self,
        input: &'static str,
        must: impl Fn(&Numbers) -> Must + 'static,
        why: &'static str,
    ) -> Self {
        self.rules.push(Rule {
            input,
            must: Box::new(must),
            why,
        });
        self
    }

    /// Sets the text about the outputs at parties that get all of them; where this is not called, and at other
    /// parties, each output with its name.
    #[must_use]
    pub fn telling(self, tell: impl Fn(&H, &Outputs, &Numbers) -> String + 'static) -> Self {
        let tell: Option<Box<Tell<H>>> = Some(Box::new(tell));
        Self { tell, ..self }
    }

    /// Does what the process's arguments say; what went wrong is on standard error.
    pub fn main(self) -> ExitCode {
        crate::stop::watch();
        let matches = arguments::of_process(self.command());
        arguments::told(self.name, self.perform(&matches))
    }

    /// Does what these arguments say, the first of which is the program's name as in those of a process;
    /// gives what would be printed. For tests.
    ///
    /// # Errors
    /// [`Failure`]: arguments that are wrong, and all else that goes wrong.
    pub fn run<A: Into<OsString> + Clone>(
        &self,
        arguments: impl IntoIterator<Item = A>,
    ) -> Result<String> {
        self.perform(&arguments::of_words(self.command(), arguments)?)
    }

    fn named(&self) -> Named<'_> {
        Named {
            name: self.name,
            about: self.about,
            numbers: &self.numbers,
            parties: self.parties,
        }
    }

    fn command(&self) -> Command {
        self.named().command(&self.ports())
    }

    /// The inputs and outputs of the program as it is without flags.
    fn ports(&self) -> String {
        let numbers = self.named().defaults();
        let Ok((program, _)) = self.build(&numbers) else {
            return String::new();
        };
        let inputs = program.inputs().iter().enumerate();
        let inputs = inputs.map(|(place, port)| {
            let name = port.name.clone().unwrap_or_else(|| place.to_string());
            let own = self.rules.iter().filter(|rule| rule.input == name);
            let rules: String = own
                .map(|rule| format!(", {}", rule.required(&numbers).must.told()))
                .collect();
            (
                name,
                format!("{} of {}{rules}", port.tensor_type, port.owner),
            )
        });
        let outputs = program.outputs().iter().enumerate();
        let outputs = outputs.map(|(place, port)| {
            let name = port.name.clone().unwrap_or_else(|| place.to_string());
            let everyone =
                port.parties().len() == program.parties() && port.clients().next().is_none();
            let to: Vec<_> = port.to.iter().map(ToString::to_string).collect();
            let to = if everyone {
                "everyone".into()
            } else {
                to.join(", ")
            };
            (name, format!("{} to {to}", port.tensor_type))
        });
        let mut text = String::new();
        let lists: [(&str, Vec<(String, String)>); 2] =
            [("Inputs", inputs.collect()), ("Outputs", outputs.collect())];
        if !program.requirements().is_empty() {
            text += "Required, or else nothing is opened:\n";
            let requirements = program.requirements().iter();
            text += &requirements
                .map(|one| format!("  {one}\n"))
                .collect::<String>();
            text += "\n";
        }
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
        let program = program.map_err(|error| Failure::from(Unsound::Program(error)))?;
        Ok((program, handles))
    }

    /// Gives the conditions on the inputs of a program.
    fn required(&self, program: &Computation, numbers: &Numbers) -> Result<Vec<Required>> {
        let rules = self.rules.iter().map(|rule| {
            let mut ports = program.inputs().iter();
            let port = ports.find(|port| port.name.as_deref() == Some(rule.input));
            match port.map(|port| port.owner.client()) {
                Some(None) => Ok(rule.required(numbers)),
                Some(Some(client)) => Err(Failure::bug(format!(
                    "the program has a condition on input {}, which {client} shares before any party could check it: \
                     state it with `Program::require`",
                    rule.input
                ))),
                None => Err(Failure::bug(format!("no input {}", rule.input))),
            }
        });
        rules.collect()
    }

    fn perform(&self, matches: &ArgMatches) -> Result<String> {
        let mut flags = self.named().flags(matches)?;
        if flags.what != What::Check {
            flags.mix = flags.mix.or(self.mix);
        }
        let flags = &flags;
        let (present, numbers) = self.named().among(flags, matches)?;
        let (program, handles) = self.build(&numbers)?;
        let made = FlaggedProgram {
            name: self.name,
            required: self.required(&program, &numbers)?,
            asked: asked(&numbers, flags.repeat),
            program,
            handles,
            numbers,
            flags,
            tell: self.tell.as_deref(),
            sink: None,
        };
        match (flags.what, present) {
            (_, Some(present)) => run::run(&made, None, present),
            (What::Check, None) => check::check(&made),
            (_, None) => explain::explain(&made, &[]),
        }
    }
}

/// Facts that parties compare: the public numbers, and how often they compute.
pub(crate) fn asked(numbers: &Numbers, repeat: u32) -> Vec<Fact> {
    let facts = numbers.facts().into_iter();
    facts.chain(repeat_fact(repeat)).collect()
}
