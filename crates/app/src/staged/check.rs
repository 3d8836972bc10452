//! Stages compared with their meaning: what is opened with the oracle's, costs with what was declared.

use std::cell::RefCell;
use std::fmt::Write as _;

use madrigal_circuit::Goal;
use madrigal_net::{Session, block_on};
use madrigal_program::lower::Mix;
use madrigal_program::{Array, StageError, StageReport, Stages};
use serde::Serialize;

use super::{How, Staging};
use crate::check::{Tried, Wrong, goals, mixes};
use crate::everyone::everyone;
use crate::failure::{Failure, Result};
use crate::figures::json_text;
use crate::flags::TransportArg;
use crate::numbers::counted;
use crate::public_numbers::Numbers;
use crate::reach::Network;

/// Report of what was compared, as JSON has it.
#[derive(Serialize)]
struct Report {
    /// Name of the program.
    program: &'static str,
    /// Number of parties.
    parties: usize,
    /// Names of the inputs that were random.
    random: Vec<String>,
    /// Seed that these followed from.
    seed: u64,
    /// Number of stages.
    stages: usize,
    /// Mixes in which outputs and costs were right.
    right: Vec<String>,
}

/// Values that one stage opened.
type Opened = Vec<Option<Array>>;

impl<D> Staging<'_, D>
where
    D: AsyncFn(Stages<'_>, &Numbers) -> Result<String, StageError> + Sync,
{
    pub(super) fn check(&self) -> Result<String> {
        let parties = self.numbers.parties();
        let expected = RefCell::new(Vec::new());
        let tell = |report: &StageReport<'_>| {
            let opened: Opened = report.outputs.arrays().map(Option::<&_>::cloned).collect();
            expected.borrow_mut().push(opened);
        };
        let stages = Stages::simulated(parties).telling(tell);
        let (_, random) = block_on(self.follow(stages, self.how(None, true)))?;
        let expected = expected.into_inner();
        let mixes = mixes(self.flags.mix, parties);
        for &mix in &mixes {
            for goal in goals(self.flags.goal()) {
                self.compare(&expected, mix, goal)?;
            }
        }
        let report = Report {
            program: self.name,
            parties,
            random,
            seed: self.flags.seed,
            stages: expected.len(),
            right: mixes.iter().map(ToString::to_string).collect(),
        };
        if self.flags.json {
            return json_text(&report);
        }
        let mut text = format!(
            "right: {} of {} parties, mixes {}; outputs as the programs mean them, costs as declared\n",
            counted(report.stages as u64, "stage"),
            report.parties,
            report.right.join(", ")
        );
        if !report.random.is_empty() {
            let names = report.random.join(", ");
            let _ = writeln!(text, "random, from --seed {}: {names}", report.seed);
        }
        Ok(text)
    }

    fn compare(&self, expected: &[Opened], mix: Mix, goal: Goal) -> Result<()> {
        let patience = &self.flags.net.patience;
        let threads = self.flags.threads.resolve(self.numbers.parties());
        let how = How {
            threads,
            mix: Some(mix),
            goal: Some(goal),
            ..self.how(None, true)
        };
        let party = async |session: &Session| {
            let wrong = RefCell::new(None);
            let seen = RefCell::new(0);
            let tell = |report: &StageReport<'_>| {
                let problem = self.wrong(report, expected.get(*seen.borrow()), (mix, goal));
                *seen.borrow_mut() += 1;
                let mut wrong = wrong.borrow_mut();
                *wrong = wrong.take().or(problem);
            };
            let (parties, observe) = (self.numbers.parties(), &|_| {});
            let stages = Stages::over(session, parties, 1, patience.deadline, observe);
            let stages = stages.telling(tell).dealing(self.flags.seed);
            let done = self.follow(stages, how).await;
            match wrong.into_inner() {
                Some(wrong) => Err(Failure::from(wrong)),
                None if done.is_ok() && seen.into_inner() != expected.len() => {
                    Err(Failure::bug("a run has ended after other stages"))
                }
                None => done.map(drop),
            }
        };
        let (network, parties) = (Network::default(), self.numbers.parties());
        everyone(
            TransportArg::Memory,
            network,
            parties,
            threads,
            patience,
            party,
        )
        .map(drop)
    }

    fn wrong(
        &self,
        report: &StageReport<'_>,
        expected: Option<&Opened>,
        (mix, goal): (Mix, Goal),
    ) -> Option<Wrong> {
        let (party, outcome) = (report.party?, report.outcome?);
        let seed = self.flags.seed;
        let expected = expected.into_iter().flatten();
        let expected: Vec<_> = expected.map(Option::as_ref).collect();
        let outputs = (report.outputs, report.program.outputs());
        let plan = &report.planned?.plan;
        let judged = Tried { mix, goal, seed }.judge(party, outputs, &expected, outcome, plan);
        judged.err().map(|wrong| wrong.of_stage(report.stage))
    }
}
