//! The search for the plan of a program that takes the least time, by the model of time at fixed rates.
//!
//! Whole plans are compared: circuits of few ANDs or of few layers, tournaments in pairs or in groups, ways to compute
//! conditionals. Where a mix has several sharings of bits, all operations are planned in each of them first. From the best of
//! these plans on, [`Unit`](crate::lower::Unit)s of operations are put into other sharings: one by one, with all that come after, and with all before; what
//! takes less time stays, until nothing does or as many plans were made as there may be. Conversions are part of each
//! plan. So a plan never takes more time, by the model, than the best in a single sharing, and all parties come to the same.

use std::cmp::Ordering;
use std::collections::HashSet;

use madrigal_circuit::Goal;
use madrigal_core::Party;
use madrigal_core::time::Link;
use madrigal_engine::{Origin, Plan, PlanSpec};
use madrigal_operations::{Backend, Gated, SortRounds};

use super::{Considered, Held, Planned};
use crate::computation::Computation;
use crate::error::{Fault, ProgramError};
use crate::lower::{ExecuteError, Lowered, Manner, Mix, OneOperation, Sharing, Way};

/// A search for the fastest plan of a program.
pub(crate) struct Search<'a> {
    pub(crate) program: &'a Computation,
    /// The goal of circuits, if it is given.
    pub(crate) goal: Option<Goal>,
    /// Changes to the usual plan.
    pub(crate) adjust: &'a dyn Fn(&mut PlanSpec),
}

/// A plan with all bits in one sharing, unless the program says otherwise, and how it came about.
struct Uniform {
    planned: Planned,
    manner: Manner,
    home: Sharing,
}

/// Compares the times of plans.
fn faster(a: &&Uniform, b: &&Uniform) -> Ordering {
    a.planned.seconds().total_cmp(&b.planned.seconds())
}

impl Search<'_> {
    /// The fastest plan in a mix.
    pub(crate) fn plan(&self, mix: Mix) -> Result<Planned, ExecuteError> {
        match (mix.is_auto(), mix.has_several()) {
            (true, _) => self.in_any(),
            (false, true) => {
                let uniform = self.uniform(mix)?;
                self.in_several(mix, uniform)
            }
            (false, false) => Ok(self.in_one(mix, mix.bits())?.planned),
        }
    }

    /// The fastest plan in any mix that the parties can run.
    fn in_any(&self) -> Result<Planned, ExecuteError> {
        let parties = self.program.parties();
        let several = Mix::of_several(parties);
        let covered: Vec<Mix> = several.iter().flat_map(|mix| mix.singles()).collect();
        let alone = Mix::all().filter(|mix| mix.is_for(parties) && !covered.contains(mix));
        let all = several.into_iter().chain(alone);
        let mut problem = None;
        let mut families = Vec::new();
        for mix in all.filter(|&mix| self.suits_clients(mix)) {
            match self.uniform(mix) {
                Ok(uniform) => families.push((mix, uniform)),
                Err(error) => problem = problem.or(Some(error)),
            }
        }
        let Some(single) = families.iter().flat_map(|(_, all)| all).min_by(faster) else {
            return Err(problem.expect("every number of parties has a mix"));
        };
        let single = single.planned.clone();
        // Where all of a mix takes far more time than another one does, parts of it do not make up for it.
        let near = |one: &Uniform| one.planned.seconds() <= FAR_FROM_BEST * single.seconds();
        families.retain(|(_, all)| all.iter().any(near));
        let mut fastest = Fastest::default();
        for (mix, uniform) in families {
            fastest.take(self.in_several(mix, uniform)?, ());
        }
        Ok(Planned {
            single: Some(Box::new(single)),
            ..fastest.planned()
        })
    }

    /// Whether clients, who know the type of a value and no plan, share it in the form that a mix takes.
    fn suits_clients(&self, mix: Mix) -> bool {
        let inputs = self.program.inputs().iter();
        let inputs = inputs.filter(|port| port.owner.client().is_some());
        let outputs = self.program.outputs().iter();
        let outputs = outputs.filter(|port| port.clients().next().is_some());
        let mut types = inputs
            .map(|port| &port.tensor_type)
            .chain(outputs.map(|port| &port.tensor_type));
        types.all(|typed| mix.kept_form(typed.element) == Mix::AUTO.kept_form(typed.element))
    }

    /// The fastest plans with all bits in each of a mix's sharings.
    ///
    /// # Errors
    /// The first one's, where there is none.
    fn uniform(&self, mix: Mix) -> Result<Vec<Uniform>, ExecuteError> {
        let mut made = Vec::new();
        let mut problem = None;
        for single in mix.singles() {
            let home = single.bits();
            // Where the program names another sharing, it is in that one alone.
            let planned = match self.in_one(single, home) {
                Err(ExecuteError::Program(ProgramError {
                    fault: Fault::NotInMix { .. } | Fault::NoShuffle { .. },
                    ..
                })) if mix != single => self.in_one(mix, home),
                planned => planned,
            };
            match planned {
                Ok(uniform) => made.push(uniform),
                Err(error) => problem = problem.or(Some(error)),
            }
        }
        match problem {
            Some(problem) if made.is_empty() || !mix.is_for(self.program.parties()) => Err(problem),
            _ => Ok(made),
        }
    }

    /// The fastest plan of a mix, from those with all bits in one sharing on.
    fn in_several(&self, mix: Mix, uniform: Vec<Uniform>) -> Result<Planned, ExecuteError> {
        let best = uniform
            .iter()
            .min_by(faster)
            .expect("there is one at least");
        if !mix.has_several() {
            return Ok(best.planned.clone());
        }
        // The goal of circuits where layers take rounds.
        let layered = |one: &&Uniform| Backend::of(one.home).bits().layered;
        let model = uniform
            .iter()
            .filter(layered)
            .min_by(faster)
            .unwrap_or(best);
        let manner = Manner {
            home: Some(best.home),
            ..model.manner.clone()
        };
        let (pairs, vectors) = (model.planned.pairs, model.planned.vectors);
        let sort_rounds = model.planned.sort_rounds;
        let lowered = self.program.lower_with(mix, &manner)?;
        let free: Vec<_> = lowered.units.iter().filter(|unit| !unit.fixed).collect();
        let mut chosen = vec![best.home; free.len()];
        let mut seen = HashSet::from([chosen.clone()]);
        let mut fastest = Fastest::default();
        fastest.take(best.planned.clone(), ());
        let steps = lowered.body.steps.len().max(1);
        let mut left = (STEPS_PLANNED / steps).clamp(FEWEST_PLANS, MOST_PLANS);
        let evaluate = |chosen: &[Sharing]| -> Result<Planned, ExecuteError> {
            let mut held = vec![None; lowered.nodes];
            for (unit, &sharing) in free.iter().zip(chosen) {
                unit.nodes
                    .iter()
                    .for_each(|&node| held[node] = Some(sharing));
            }
            let manner = Manner {
                held: Some(held.into()),
                ..manner.clone()
            };
            let mut lowered = self.program.lower_with(mix, &manner)?;
            (lowered.pairs, lowered.vectors) = (pairs, vectors);
            lowered.sort_rounds = sort_rounds;
            self.planned(manner.goal, &lowered)
        };
        let mut improves = free.len() > 1;
        while std::mem::take(&mut improves) {
            for unit in 0..free.len() {
                for sharing in mix.all_bits() {
                    for units in [unit..unit + 1, unit..free.len(), 0..unit + 1] {
                        let mut other = chosen.clone();
                        other[units].fill(sharing);
                        if left == 0 || !seen.insert(other.clone()) {
                            continue;
                        }
                        left -= 1;
                        // A plan that cannot be is left out.
                        let Ok(planned) = evaluate(&other) else {
                            continue;
                        };
                        if fastest.take(planned, ()) {
                            (chosen, improves) = (other, true);
                        }
                    }
                }
            }
        }
        let single = Some(Box::new(best.planned.clone()));
        Ok(Planned {
            single,
            ..fastest.planned()
        })
    }

    /// A plan of steps.
    fn planned(&self, goal: Goal, lowered: &Lowered) -> Result<Planned, ExecuteError> {
        let executable = lowered.executable()?;
        let mut spec = executable.spec();
        (self.adjust)(&mut spec);
        let several = lowered.mix.has_several();
        let held = lowered.units.iter().map(|unit| Held {
            at: unit.at,
            what: unit.what.clone(),
            sharing: unit.sharing,
            said: several && unit.fixed,
        });
        let held: Vec<Held> = held.collect();
        Ok(Planned {
            plan: Plan::fastest(spec)?,
            executable,
            mix: lowered
                .mix
                .with_only(|bits| held.iter().any(|one| one.sharing == bits)),
            held,
            single: None,
            goal,
            pairs: lowered.pairs,
            vectors: lowered.vectors,
            sort_rounds: match lowered.sorts_rows() {
                true => lowered.sort_rounds,
                false => SortRounds::default(),
            },
            groups: lowered.round > 0,
            conditionals: lowered.conditionals(),
            multiplexed: None,
            considered: Vec::new(),
        })
    }

    /// The fastest plan with all bits in one sharing of a mix.
    fn in_one(&self, mix: Mix, home: Sharing) -> Result<Uniform, ExecuteError> {
        let layered = Backend::of(home).bits().layered;
        let has_groups = layered && self.program.graph().has_tournaments();
        let mut manners: Vec<(Goal, u64)> = match self.goal {
            Some(goal) => vec![(goal, 0)],
            None => vec![(Goal::Size, 0), (Goal::Depth, 0)],
        };
        let mut plain = Fastest::<(Lowered, Manner)>::default();
        let mut best = Fastest::<(Lowered, Manner)>::default();
        let mut considered: Vec<Considered> = Vec::new();
        let mut forms = Vec::new();
        let mut at = 0;
        while let Some(&(goal, round)) = manners.get(at) {
            at += 1;
            let manner = |kept| Manner {
                round,
                home: Some(home),
                ..Manner::usual(goal, kept)
            };
            let lower = |kept| self.program.lower_with(mix, &manner(kept));
            let lowered = lower(OneOperation::Nothing)?;
            let made = self.planned(goal, &lowered)?;
            let groups = goal == Goal::Depth && round == 0 && has_groups;
            if let (true, Some(round)) = (groups, ands_in_a_round(&made.plan.spec().line)) {
                manners.push((goal, round));
            }
            if made.conditionals.is_empty() {
                plain.take(made, (lowered, manner(OneOperation::Nothing)));
                continue;
            }
            Considered::add(&mut considered, OneOperation::Nothing, &made);
            plain.take(made, (lowered, manner(OneOperation::Nothing)));
            for kept in [OneOperation::Both, OneOperation::Bits, OneOperation::Rings] {
                let lowered = lower(kept)?;
                let [circuits, rings] = lowered.shared();
                if kept == OneOperation::Both {
                    forms.clone_from(&lowered.multiplexed);
                    if rings == 0 || circuits == 0 {
                        // One of the others.
                        continue;
                    }
                }
                if circuits + rings == 0 {
                    continue;
                }
                let mut fastest = Fastest::<(Vec<Way>, Lowered)>::default();
                let schemes = if rings > 0 { Gated::ALL.len() } else { 1 };
                for &gated in &Gated::ALL[..schemes] {
                    let gated = lowered.with_gated(gated);
                    let try_ways = |fastest: &mut Fastest<_>, ways: Vec<Way>| {
                        let lowered = gated.with_ways(&ways);
                        fastest.take(self.planned(goal, &lowered)?, (ways, lowered));
                        Ok::<_, ExecuteError>(())
                    };
                    for way in Way::ALL {
                        try_ways(&mut fastest, vec![way; circuits])?;
                        if circuits == 0 {
                            break;
                        }
                    }
                    if (2..=EACH).contains(&circuits) {
                        for step in 0..circuits {
                            for way in Way::ALL {
                                let mut ways = fastest.with().0.clone();
                                if std::mem::replace(&mut ways[step], way) != way {
                                    try_ways(&mut fastest, ways)?;
                                }
                            }
                        }
                    }
                }
                let (_, fastest, (_, lowered)) = fastest.0.expect("a plan was taken");
                Considered::add(&mut considered, kept, &fastest);
                best.take(fastest, (lowered, manner(kept)));
            }
        }
        if Backend::of(home).bits().pairs {
            let (lowered, manner) = plain.with();
            let (lowered, manner) = (lowered.in_pairs(), manner.clone());
            // A program that does not fit in pairs may fit without.
            if let Ok(made) = self.planned(manner.goal, &lowered) {
                if !made.conditionals.is_empty() {
                    Considered::add(&mut considered, OneOperation::Nothing, &made);
                }
                plain.take(made, (lowered, manner));
            }
        }
        if Backend::of(home).bits().vectors {
            for fastest in [&mut plain, &mut best] {
                let Some((.., (lowered, manner))) = &fastest.0 else {
                    continue;
                };
                let (lowered, manner) = (lowered.in_vectors(), manner.clone());
                let executable = lowered.executable()?;
                // Stores are filled with what circuits take otherwise.
                let mut spec = executable.spec();
                (self.adjust)(&mut spec);
                if executable.has_vectors()
                    && spec.origin != Origin::Store
                    && let Ok(made) = self.planned(manner.goal, &lowered)
                {
                    if !made.conditionals.is_empty() {
                        Considered::add(&mut considered, manner.kept, &made);
                    }
                    fastest.take(made, (lowered, manner));
                }
            }
        }
        for fastest in [&mut plain, &mut best] {
            self.with_other_sorts(fastest, &mut considered);
        }
        let (plain_seconds, plain, (_, plain_manner)) = plain.0.expect("a plan was taken");
        let (mut taken, manner) = match best.0 {
            Some((seconds, best, (_, manner))) if seconds < plain_seconds => {
                let multiplexed = Some(Box::new(plain.plan));
                (
                    Planned {
                        multiplexed,
                        ..best
                    },
                    manner,
                )
            }
            _ => (plain, plain_manner),
        };
        for conditional in &mut taken.conditionals {
            let known = forms.iter().find(|form| form.at == conditional.at);
            if let (Some(known), Some(why)) = (known, &mut conditional.why) {
                *why = known.why.unwrap_or(*why);
            }
        }
        taken.considered = considered;
        Ok(Uniform {
            planned: taken,
            manner,
            home,
        })
    }
}

impl Search<'_> {
    /// Takes the fastest plan with sorts of rows in other numbers of rounds, if it is faster still, whatever the circuits save.
    fn with_other_sorts(
        &self,
        fastest: &mut Fastest<(Lowered, Manner)>,
        considered: &mut Vec<Considered>,
    ) {
        let Some((_, planned, (lowered, manner))) = &fastest.0 else {
            return;
        };
        if !lowered.sorts_rows() {
            return;
        }
        let waits = planned.plan.spec().line.latency > 0.0;
        let (lowered, manner) = (lowered.clone(), manner.clone());
        for rounds in SortRounds::ALL {
            let useless = !waits && rounds != SortRounds::Many;
            if rounds == lowered.sort_rounds || useless {
                continue;
            }
            let other = lowered.with_sort_rounds(rounds);
            let Ok(made) = self.planned(manner.goal, &other) else {
                continue;
            };
            if !made.conditionals.is_empty() {
                Considered::add(considered, manner.kept, &made);
            }
            fastest.take(made, (other, manner.clone()));
        }
    }
}

/// The most times as long as the best plan that a plan may take from which the search for a better one still begins.
const FAR_FROM_BEST: f64 = 2.0;

/// Steps in all plans that are made for the sharings of a program's units, and the fewest and most plans.
const STEPS_PLANNED: usize = 20_000;
const FEWEST_PLANS: usize = 6;
const MOST_PLANS: usize = 64;

/// ANDs that take as long as the line needs for a round; nothing on a line without latency. An AND is taken for five bytes and 50 ns,
/// so that this is a rough number: plans are compared by the model of time.
fn ands_in_a_round(line: &Link) -> Option<u64> {
    let and = 50e-9 + line.bytes_per_second.map_or(0.0, |rate| 5.0 / rate);
    Some((line.latency / and) as u64).filter(|&ands| ands > 0)
}

/// Up to how many conditionals each is computed in the way that is best for it; more are all computed in
/// one way.
const EACH: usize = 4;

/// The plan that takes the least time, the first of equal ones, and what it came of.
struct Fastest<T>(Option<(f64, Planned, T)>);

impl<T> Default for Fastest<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Fastest<T> {
    /// Takes a plan if it is the fastest so far; gives whether it is.
    fn take(&mut self, planned: Planned, with: T) -> bool {
        let seconds = planned.seconds();
        let faster = self.0.as_ref().is_none_or(|(least, ..)| seconds < *least);
        if faster {
            self.0 = Some((seconds, planned, with));
        }
        faster
    }

    fn with(&self) -> &T {
        &self.0.as_ref().expect("a plan was taken").2
    }

    fn planned(self) -> Planned {
        self.0.expect("a plan was taken").1
    }
}

impl Considered {
    /// Keeps the fastest plan of each way.
    fn add(all: &mut Vec<Self>, kept: OneOperation, planned: &Planned) {
        let plan = &planned.plan;
        let costs = Party::all(plan.spec().graph.parties()).map(|party| plan.cost(party));
        let sent = costs.map(|cost| cost.setup.bytes_sent + cost.online.bytes_sent);
        let this = Self {
            how: match kept {
                OneOperation::Nothing => "all branches computed and multiplexed",
                OneOperation::Bits => "branches as circuits on bits that share their cost",
                OneOperation::Rings => "branches on ring elements that share their cost",
                OneOperation::Both => {
                    "branches that share their cost, on bits or on ring elements each"
                }
            },
            seconds: planned.seconds(),
            bytes_sent: sent.max().unwrap_or(0),
        };
        match all.iter_mut().find(|other| other.how == this.how) {
            Some(other) if other.seconds <= this.seconds => {}
            Some(other) => *other = this,
            None => all.push(this),
        }
    }
}
