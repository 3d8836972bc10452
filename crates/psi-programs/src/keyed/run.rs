//! Plans carried out by one party.

use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use madrigal_core::{Cost, Phase, Zeroizing};
use madrigal_engine::{
    Element, Given, Outcome, Progress, RunError, Shares, Sharing, Sort, StageOutcome, Stages,
};
use madrigal_kernels::Block;
use madrigal_net::Session;

use super::circuits::BITS;
use super::plan::KeyedPlan;

/// Inputs of one party.
pub struct OwnPart<'a> {
    /// Part of the key, drawn for this run alone. The first byte of AES' key is the least significant one.
    pub key: Zeroizing<Block>,
    /// Digests, as many as the plan says, none twice. Receivers know tags by the places of their digests here: so they are in an order that nobody else knows.
    pub digests: &'a [Block],
}

madrigal_core::opaque!(OwnPart<'_>);

/// Tags that a party learnt, and what it cost.
pub struct Tags {
    /// Tags of each party's digests, in their order, as numbers of which the first byte is the least significant one; none at a party that does not get them.
    pub of: Vec<Zeroizing<Vec<u128>>>,
    /// Cost by the counters.
    pub cost: Cost,
    /// Number of the session's next job.
    pub next_job: u32,
}

madrigal_core::opaque!(Tags);

/// Parts of a stage's work by which progress is told.
const STEPS: u64 = 1000;

impl KeyedPlan {
    /// Encrypts all digests, in jobs of a session from number `job` on; `observe` hears of progress. Each job ends at the latest after `deadline`.
    ///
    /// # Errors
    /// [`RunError`]: a number of digests that is not the plan's, before anything is sent; what goes wrong between the parties.
    pub fn run<'a>(
        &'a self,
        session: &'a Session,
        job: u32,
        own: OwnPart<'a>,
        deadline: Option<Duration>,
        observe: &'a dyn Fn(Progress),
    ) -> LocalBoxFuture<'a, Result<Tags, RunError>> {
        Box::pin(self.carry_out(session, job, own, deadline, observe))
    }

    async fn carry_out(
        &self,
        session: &Session,
        job: u32,
        own: OwnPart<'_>,
        deadline: Option<Duration>,
        observe: &dyn Fn(Progress),
    ) -> Result<Tags, RunError> {
        let me = session.me();
        let want = self.keyed.lens.get(me.index()).copied().unwrap_or(0);
        if own.digests.len() != want {
            let got = own.digests.len();
            return Err(RunError::Values {
                party: me,
                problem: format!("{got} digests were given, and the plan is for {want}"),
            });
        }
        let mut stages = Stages::new(session, job);
        let mut cost = Cost::default();
        let part = |sort: &Sort| match sort.sharing.is_known_to(me) {
            true => Shares::bits_of(sort.sharing, BITS, &[u128::from(*own.key)]),
            false => Shares::unknown(*sort),
        };
        let graph = &self.schedule.spec().graph;
        let inputs = graph.inputs().iter().map(|&value| part(graph.sort(value)));
        let brought = given(inputs.collect());
        let StageOutcome { outcome, kept } = stages
            .run(&self.schedule, brought, &[], deadline, &|_| ())
            .await?;
        add(&mut cost, &outcome);
        let mut of: Vec<Zeroizing<Vec<u128>>> = Vec::new();
        for &len in &self.keyed.lens {
            let len = if self.keyed.to.contains(&me) { len } else { 0 };
            of.push(Zeroizing::new(Vec::with_capacity(len)));
        }
        for (number, (pieces, plan)) in (0..).zip(&self.stages) {
            let planned = &self.plans[*plan];
            let keys: Vec<_> = planned.keys.iter().copied().zip(&kept).collect();
            let digests = pieces.iter().map(|piece| {
                let sharing = Sharing::clear(&[piece.owner]);
                if piece.owner != me {
                    let element = Element::Bits(BITS);
                    return Shares::unknown(Sort::new(sharing, element, piece.range.len()));
                }
                let own = own.digests[piece.range.clone()].iter();
                let own: Zeroizing<Vec<u128>> =
                    Zeroizing::new(own.map(|&digest| digest.into()).collect());
                Shares::bits_of(sharing, BITS, &own)
            });
            let brought = given(digests.collect());
            let all = STEPS * self.stages.len() as u64;
            let tell = |progress: Progress| {
                if progress.phase == Phase::Online {
                    let done = STEPS * progress.done.min(progress.total) / progress.total.max(1);
                    observe(Progress {
                        phase: Phase::Online,
                        done: STEPS * number + done,
                        total: all,
                    });
                }
            };
            let StageOutcome { outcome, .. } = stages
                .run(&planned.plan, brought, &keys, deadline, &tell)
                .await?;
            add(&mut cost, &outcome);
            if self.keyed.to.contains(&me) {
                for (piece, tags) in pieces.iter().zip(&outcome.outputs) {
                    let tags = tags.to_numbers::<u128>().map_err(|_| RunError::Values {
                        party: me,
                        problem: "tags that are opened to it and not known".to_owned(),
                    })?;
                    of[piece.owner.index()].extend_from_slice(&tags);
                }
            }
        }
        Ok(Tags {
            of,
            cost,
            next_job: stages.next_job(),
        })
    }
}

fn given(inputs: Vec<Shares>) -> Given<'static> {
    Given {
        inputs,
        ..Given::default()
    }
}

fn add(cost: &mut Cost, outcome: &Outcome) {
    cost.setup += outcome.setup.spent;
    cost.online += outcome.online.spent;
}
