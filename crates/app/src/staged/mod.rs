//! A computation in stages as a command.

mod check;
mod explain;
pub(crate) mod run;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use clap::{ArgMatches, Command};
use madrigal_circuit::Goal;
use madrigal_core::Party;
use madrigal_program::lower::Mix;
use madrigal_program::{Computation, Inputs, OutputPort, StageError, Stages};

use crate::arguments::{self, Flags, Named, Number, Unsound, What};
use crate::clients::{Asked, Server};
use crate::command::asked;
use crate::failure::{Failure, Result};
use crate::inputs::{self, Given};
use crate::present::Present;
use crate::public_numbers::Numbers;

/// Programs that run one after another, as opened values decide, as a command: one function of a run of
/// [`Stages`] makes all parties on this machine, one real party, an estimate and a test.
///
/// ```no_run
/// use madrigal_app::{Numbers, Staged};
/// use madrigal_program::{Everyone, Party, StageError, Stages};
///
/// async fn halvings(mut stages: Stages<'_>, _: &Numbers) -> Result<String, StageError> {
///     let mut p = stages.program();
///     let secret = p.input_named::<u32>("secret", Party::new(0), ());
///     let mut kept = p.keep(&secret);
///     stages.run(p).await?;
///     loop {
///         let mut p = stages.program();
///         let secret = p.kept(&kept);
///         let below = p.open(secret.lt(4u32), Everyone);
///         kept = p.keep(&(secret >> 1));
///         if stages.run(p).await?.get(below) == [true] {
///             return Ok(format!("{} stages", stages.ended()));
///         }
///     }
/// }
///
/// fn main() -> std::process::ExitCode {
///     Staged::new("halvings", "How often a number can be halved", halvings).main()
/// }
/// ```
///
/// Inputs have [names](madrigal_program::Program::input_named): the flags give those of all stages. `explain` follows
/// the stages in the clear, on inputs that are given or random, and says what each costs; `check` compares all mixes
/// of protocols with that.
pub struct Staged<D> {
    name: &'static str,
    about: &'static str,
    numbers: Vec<Number>,
    parties: usize,
    mix: Option<Mix>,
    drive: D,
}

impl<D> Staged<D>
where
    D: AsyncFn(Stages<'_>, &Numbers) -> Result<String, StageError> + Sync,
{
    /// A command of this name. `drive` runs the stages and gives what is printed.
    pub fn new(name: &'static str, about: &'static str, drive: D) -> Self {
        Self {
            name,
            about,
            numbers: Vec::new(),
            parties: 2,
            mix: None,
            drive,
        }
    }

    /// A public number that the stages depend on, all parties alike: `--name N`, from 1 to `most`.
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

    /// The mix of protocols where no flag says so, instead of the programs' own.
    #[must_use]
    pub fn mix(self, mix: Mix) -> Self {
        let mix = Some(mix);
        Self { mix, ..self }
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
        self.named().command(
            "It runs in stages: what one opens decides what the next one is. `explain` follows them on the\n\
             inputs that are given, or on random ones, and says what each asks for, opens and costs.\n\n",
        )
    }

    fn perform(&self, matches: &ArgMatches) -> Result<String> {
        let mut flags = self.named().flags(matches)?;
        if flags.what != What::Check {
            flags.mix = flags.mix.or(self.mix);
        }
        if flags.ahead.prepare.is_some() || flags.ahead.is_stored() {
            return Err(Failure::from(Unsound::Plan {
                problem: "--store: how many correlations stages need is not known ahead".to_owned(),
                remedy: "leave it out",
            }));
        }
        let (present, numbers) = self.named().among(&flags, matches)?;
        let command = Staging {
            name: self.name,
            given: inputs::load(&flags.inputs)?,
            flags: &flags,
            numbers,
            drive: &self.drive,
        };
        let server = present.as_ref().and_then(Present::server);
        flags.clients.check_here(server.as_ref())?;
        match (flags.what, present) {
            (_, Some(present)) => command.run(present),
            (What::Check, None) => command.check(),
            (_, None) => command.explain(),
        }
    }
}

/// Makes the failure of a stage; of inputs, of those that were read and checked before.
impl From<StageError> for Failure {
    fn from(error: StageError) -> Self {
        match error {
            StageError::Program(error) => Self::from(Unsound::Program(error)),
            StageError::Execute(error) => Unsound::plan(&error),
            StageError::Run(error) => error.into(),
            StageError::Inputs(error) => error.into(),
            error => Self::bug(error),
        }
    }
}

/// Stages with all that flags say.
struct Staging<'a, D> {
    name: &'static str,
    flags: &'a Flags,
    given: Vec<Given>,
    numbers: Numbers,
    drive: &'a D,
}

/// Way in which one run of stages is done.
#[derive(Clone, Copy)]
struct How<'a> {
    mix: Option<Mix>,
    goal: Option<Goal>,
    /// Number of threads of each party.
    threads: usize,
    /// Party whose inputs are read, if not all are.
    me: Option<Party>,
    /// Whether inputs that are not given are random.
    random: bool,
    /// The party here as share files are for it, if it is one of several machines.
    server: Option<&'a Server>,
}

impl<D> Staging<'_, D>
where
    D: AsyncFn(Stages<'_>, &Numbers) -> Result<String, StageError> + Sync,
{
    fn how(&self, me: Option<Party>, random: bool) -> How<'static> {
        How {
            server: None,
            mix: self.flags.mix,
            goal: self.flags.goal(),
            threads: self.flags.own_threads(),
            me,
            random,
        }
    }

    /// Runs the stages; gives what is printed, and the names of the inputs that were random.
    async fn follow(&self, stages: Stages<'_>, how: How<'_>) -> Result<(String, Vec<String>)> {
        let first = stages.me().is_none_or(|me| me.index() == 0);
        let problem = RefCell::new(None);
        let (used, random) = (RefCell::new(BTreeSet::new()), RefCell::new(Vec::new()));
        let clients = RefCell::new(BTreeSet::new());
        let asked = asked(&self.numbers, self.flags.repeat);
        let plan = |program: &Computation| {
            let mix = how.mix.unwrap_or_else(|| program.mix());
            self.flags
                .ways(&asked, how.threads)
                .plan(program, mix, how.goal)
        };
        let inputs = |program: &Computation| {
            let ports = program.inputs();
            let names = ports.iter().enumerate();
            let names = names.map(|(place, port)| inputs::name(place, port));
            used.borrow_mut().extend(names);
            let outputs = program.outputs().iter().flat_map(OutputPort::clients);
            let names = outputs.map(|client| client.name().to_owned());
            clients.borrow_mut().extend(names);
            let failed = |failure: Failure| {
                let reason = failure.to_string();
                *problem.borrow_mut() = Some(failure);
                StageError::NoInputs { reason }
            };
            let read = inputs::read_stage(program, &self.given, how.me, !how.random);
            let (inputs, missing): (Inputs, Vec<usize>) = read.map_err(failed)?;
            let asked =
                Asked::of_program(program, how.mix.unwrap_or_else(|| program.mix()), self.name);
            let shares = &self.flags.clients;
            let brought = shares.bring_to_stage(&asked, program, how.server, inputs);
            let mut inputs = brought.map_err(failed)?;
            inputs.fill(ports, &missing, self.flags.seed);
            let missing = missing.iter();
            let names = missing.filter_map(|&place| ports[place].name.clone());
            random.borrow_mut().extend(names);
            Ok(inputs)
        };
        let stages = stages.with_plan(plan).with_inputs(inputs);
        let done = (self.drive)(stages, &self.numbers).await;
        if let Some(problem) = problem.into_inner() {
            return Err(problem);
        }
        let told = done?;
        let used = used.into_inner();
        let unused = inputs::unused(&self.given, &used).into_iter();
        let mut unused = unused.map(|name| format!("--input {name}"));
        let of_clients = self.flags.clients.unused(&used, &clients.into_inner());
        if let Some(flag) = unused.next().or_else(|| of_clients.into_iter().next()) {
            let problem = format!("{flag}=...: no stage has asked for it");
            if how.random {
                let remedy = "leave it out, or correct its name";
                return Err(Failure::from(Unsound::Plan { problem, remedy }));
            }
            // The results so far are of use all the same. All parties here have the same flags.
            if how.me.is_some() || first {
                let _ = writeln!(crate::terminal::stderr(), "{}: note: {problem}", self.name);
            }
        }
        Ok((told, random.into_inner()))
    }
}
