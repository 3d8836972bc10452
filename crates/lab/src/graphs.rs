//! Plans of the engine run by all parties as threads of this process, again and again.

use madrigal_core::{Party, PhaseCost};
use madrigal_engine::{Given, Outcome, Plan, Shares, run_program};
use madrigal_net::Session;

use crate::args::{Patience, TransportArg};
use crate::everyone::everyone;
use crate::exit::{Failure, Result};
use crate::reach::Network;
use crate::spread::Spread;

/// How plans are run.
#[derive(Clone, Copy)]
pub struct Setting {
    pub transport: TransportArg,
    pub network: Network,
    /// Threads of each party.
    pub threads: usize,
    /// Runs.
    pub repeat: u32,
}

/// Seconds of a run, of the party for which each is most.
#[derive(Clone, Copy, Default)]
pub struct Times {
    pub total: f64,
    pub setup: f64,
    pub online: f64,
    /// Base OTs, which are part of the setup.
    pub base_ots: f64,
    /// The total without base OTs, and the setup without them.
    pub beyond_base_ots: f64,
    pub setup_beyond_base_ots: f64,
    /// The online time by its parts, as [`Part`] has them: each lasts from the end of the one before to its own.
    pub parts: [f64; 3],
}

/// Purpose of an operation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Share,
    Between,
    Open,
}

impl Part {
    /// Gives the part of an operation by its name.
    pub fn of(name: &str) -> Self {
        match name {
            name if name.starts_with("share/") => Self::Share,
            name if name.starts_with("open/") => Self::Open,
            _ => Self::Between,
        }
    }
}

/// All runs of all parties.
pub struct Measured {
    /// Times of the slowest party, for each run.
    pub times: Vec<Times>,
    /// Costs of each party in one run, both phases together.
    pub costs: Vec<PhaseCost>,
    /// Costs of each party online.
    pub online_costs: Vec<PhaseCost>,
}

impl Measured {
    pub fn spread(&self, pick: impl Fn(&Times) -> f64) -> Spread {
        Spread::of(self.times.iter().map(pick).collect())
    }

    pub fn median(&self, pick: impl Fn(&Times) -> f64) -> f64 {
        self.spread(pick).median
    }
}

/// A plan that is run again and again.
pub trait Repeated: Sync {
    fn plan(&self) -> &Plan;

    /// Gives the inputs of a party.
    fn given(&self, me: Party) -> Result<Vec<Shares>>;

    /// Tells whether a party got what it should.
    fn is_right(&self, me: Party, outputs: &[Shares]) -> bool;
}

/// A plan with the inputs of all parties in the clear, whose results are opened to all.
pub struct Opened<'a> {
    pub plan: &'a Plan,
    pub inputs: &'a [Shares],
    pub is_right: &'a (dyn Fn(&[Shares]) -> bool + Sync),
}

/// Gives the values in the clear as a party knows them.
pub fn known_to(me: Party, inputs: &[Shares]) -> Vec<Shares> {
    let own = |value: &Shares| match value.sort().sharing.is_known_to(me) {
        true => value.clone(),
        false => Shares::unknown(*value.sort()),
    };
    inputs.iter().map(own).collect()
}

impl Repeated for Opened<'_> {
    fn plan(&self) -> &Plan {
        self.plan
    }

    fn given(&self, me: Party) -> Result<Vec<Shares>> {
        Ok(known_to(me, self.inputs))
    }

    fn is_right(&self, _: Party, outputs: &[Shares]) -> bool {
        (self.is_right)(outputs)
    }
}

/// Splits the online time of a party: sharing lasts until the last value is shared, opening from where all was there.
fn parts(outcome: &Outcome, operations: &[Part]) -> [f64; 3] {
    let end = |which: &[Part]| {
        let tasks = outcome.tasks.iter();
        let those = tasks.filter(|task| which.contains(&operations[task.operation]));
        those
            .map(|task| task.ended.as_secs_f64())
            .fold(0.0, f64::max)
    };
    let last = end(&[Part::Share, Part::Between, Part::Open]);
    let begin = last - outcome.online.time.as_secs_f64();
    let shared = end(&[Part::Share]).max(begin);
    let done = end(&[Part::Share, Part::Between]).max(shared);
    [shared - begin, done - shared, last - done]
}

/// Runs a plan.
pub fn run(repeated: &impl Repeated, setting: &Setting) -> Result<Measured> {
    let (threads, plan) = (setting.threads, repeated.plan());
    let names = plan.spec().graph.describe();
    let operations: Vec<Part> = names.map(|name| Part::of(&name)).collect();
    let parties = everyone(
        setting.transport,
        setting.network,
        plan.spec().graph.parties(),
        threads,
        &Patience::default(),
        async |session: &Session| {
            let me = session.me();
            let mut runs = Vec::new();
            for id in 1..=setting.repeat {
                let inputs = repeated.given(me)?;
                let given = Given {
                    inputs,
                    ..Given::default()
                };
                let outcome = run_program(session, id, plan, given, None, &|_| {});
                let outcome = outcome.await?;
                if !repeated.is_right(me, &outcome.outputs) {
                    return Err(Failure::bug("a wrong result"));
                }
                let times = Times {
                    total: outcome.total.as_secs_f64(),
                    setup: outcome.setup.time.as_secs_f64(),
                    online: outcome.online.time.as_secs_f64(),
                    base_ots: outcome.opening.as_secs_f64(),
                    beyond_base_ots: (outcome.total - outcome.opening).as_secs_f64(),
                    setup_beyond_base_ots: (outcome.setup.time - outcome.opening).as_secs_f64(),
                    parts: parts(&outcome, &operations),
                };
                runs.push((times, [outcome.setup.spent, outcome.online.spent]));
            }
            Ok(runs)
        },
    )?;
    let slowest = |run: usize| {
        let of = |pick: fn(&Times) -> f64| {
            let times = parties.iter().map(|runs| pick(&runs[run].0));
            times.fold(0.0, f64::max)
        };
        Times {
            total: of(|times| times.total),
            setup: of(|times| times.setup),
            online: of(|times| times.online),
            base_ots: of(|times| times.base_ots),
            beyond_base_ots: of(|times| times.beyond_base_ots),
            setup_beyond_base_ots: of(|times| times.setup_beyond_base_ots),
            parts: [0, 1, 2].map(|part| {
                let times = parties.iter().map(|runs| runs[run].0.parts[part]);
                times.fold(0.0, f64::max)
            }),
        }
    };
    // Costs are declared and counted alike in all runs.
    let costs = parties.iter().map(|runs| runs[0].1);
    Ok(Measured {
        times: (0..setting.repeat as usize).map(slowest).collect(),
        costs: costs
            .clone()
            .map(|[setup, online]| setup + online)
            .collect(),
        online_costs: costs.map(|[_, online]| online).collect(),
    })
}
