//! Plans of the engine run by all parties as threads of this process, again and again.

use madrigal_core::{Party, PhaseCost};
use madrigal_engine::{Extension, Given, Origin, Plan, Shares, run_program};
use madrigal_net::Session;

use crate::args::{Patience, TransportArg};
use crate::everyone::everyone;
use crate::exit::{Failure, Result};
use crate::measured::base_ots;
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

/// Seconds of a run: all of it, the two phases, and base OTs by themselves, just before.
#[derive(Clone, Copy, Default)]
pub struct Times {
    pub total: f64,
    pub setup: f64,
    pub online: f64,
    pub base_ots: f64,
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

impl Repeated for Opened<'_> {
    fn plan(&self) -> &Plan {
        self.plan
    }

    fn given(&self, me: Party) -> Result<Vec<Shares>> {
        let own = |value: &Shares| match value.sort().sharing.is_known_to(me) {
            true => value.clone(),
            false => Shares::unknown(*value.sort()),
        };
        Ok(self.inputs.iter().map(own).collect())
    }

    fn is_right(&self, _: Party, outputs: &[Shares]) -> bool {
        (self.is_right)(outputs)
    }
}

/// Runs a plan, each time after base OTs by themselves.
pub fn run(repeated: &impl Repeated, setting: &Setting) -> Result<Measured> {
    let (threads, plan) = (setting.threads, repeated.plan());
    let extension = match plan.spec().origin {
        Origin::Ot { extension, .. } => extension,
        _ => Extension::default(),
    };
    let parties = everyone(
        setting.transport,
        setting.network,
        plan.spec().graph.parties(),
        threads,
        &Patience::default(),
        async |session: &Session| {
            let me = session.me();
            let mut runs = Vec::new();
            for run in 0..setting.repeat {
                let inputs = repeated.given(me)?;
                let first = 2 * run + 1;
                let with_ots = !plan.needs().is_empty();
                let base_ots = base_ots(session, first, with_ots, extension, threads).await?;
                let given = Given {
                    inputs,
                    ..Given::default()
                };
                let outcome = run_program(session, first + 1, plan, given, None, &|_| {});
                let outcome = outcome.await?;
                if !repeated.is_right(me, &outcome.outputs) {
                    return Err(Failure::bug("a wrong result"));
                }
                let times = Times {
                    total: outcome.total.as_secs_f64(),
                    setup: outcome.setup.time.as_secs_f64(),
                    online: outcome.online.time.as_secs_f64(),
                    base_ots,
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
