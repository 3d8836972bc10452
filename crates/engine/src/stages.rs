//! Programs one after another in a session, where values that were opened decide which comes next.
//!
//! A stage is a job of its own: planned when it is reached, by the same rules at all parties, from what all of
//! them know. It ends by opening values and by keeping others as shares, which later stages begin with.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use madrigal_core::{Digest256, domains};
use madrigal_net::{Fact, Session};
use sha2::{Digest, Sha256};

use crate::carry_out::{Given, run_with_facts};
use crate::error::RunError;
use crate::graph::Value;
use crate::plan::Plan;
use crate::report::{Outcome, Progress};
use crate::shares::Shares;
use crate::sort::Sort;

/// One party's side of programs that run one after another in a session.
///
/// Before each stage the parties compare, beside its plan, a digest of what was run and opened so far, and where
/// each kept value that it begins with comes from. So parties that would do different things next learn in what
/// they differ before anything is computed.
#[derive(Debug)]
pub struct Stages {
    session: Session,
    /// The number of the next stage's job.
    job: u32,
    /// Stages that have ended.
    ended: u32,
    /// Digest of what was run and opened.
    chain: [u8; 32],
    /// Mark by which kept values are known as this run's.
    run: Arc<Run>,
    failed: Option<RunError>,
}

/// Compared by address alone, which no other run has as long as a value of this one is kept.
#[derive(Debug)]
struct Run;

/// This party's share of a value that a stage kept for later ones; wiped when dropped.
#[derive(Clone)]
pub struct KeptShares {
    shares: Shares,
    stage: u32,
    place: u32,
    run: Arc<Run>,
}

/// A stage that has ended well.
#[derive(Debug)]
pub struct StageOutcome {
    /// Opened values, and what was spent.
    pub outcome: Outcome,
    /// The graph's outputs that are shared, in order.
    pub kept: Vec<KeptShares>,
}

impl fmt::Debug for KeptShares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeptShares({}: {})", self.name(), self.sort())
    }
}

impl KeptShares {
    /// Sort of the value.
    pub fn sort(&self) -> &Sort {
        self.shares.sort()
    }

    /// This party's share.
    pub fn shares(&self) -> &Shares {
        &self.shares
    }

    /// As parties compare it.
    fn name(&self) -> String {
        format!("stage {} value {}", self.stage, self.place)
    }
}

impl Stages {
    /// No stage has run yet; they are the jobs of `session` from number `first_job` on.
    pub fn new(session: &Session, first_job: u32) -> Self {
        Self {
            session: session.clone(),
            job: first_job,
            ended: 0,
            chain: [0; 32],
            run: Arc::new(Run),
            failed: None,
        }
    }

    /// Number of stages that have ended.
    pub fn ended(&self) -> u32 {
        self.ended
    }

    /// Number of the job that the next stage would be.
    pub fn next_job(&self) -> u32 {
        self.job
    }

    /// Runs `plan` as the next stage: `kept` has values of earlier stages, each with the input of the plan's graph that
    /// it is, and `given` all other inputs in order.
    ///
    /// A stage that failed ends the run: this party cannot know how far the others have come.
    ///
    /// # Errors
    /// [`RunError`] for inputs that do not fit the plan, and values that were kept in another run, before anything is sent; for what
    /// goes wrong between the parties; of a run that has failed, the failure.
    pub fn run<'a>(
        &'a mut self,
        plan: &'a Plan,
        given: Given<'a>,
        kept: &'a [(Value, &'a KeptShares)],
        deadline: Option<Duration>,
        observe: &'a dyn Fn(Progress),
    ) -> LocalBoxFuture<'a, Result<StageOutcome, RunError>> {
        Box::pin(async move {
            if let Some(error) = &self.failed {
                return Err(error.clone());
            }
            let done = self.next(plan, given, kept, deadline, observe).await;
            if let Err(error) = &done {
                self.failed = Some(error.clone());
            }
            done
        })
    }

    async fn next(
        &mut self,
        plan: &Plan,
        given: Given<'_>,
        kept: &[(Value, &KeptShares)],
        deadline: Option<Duration>,
        observe: &dyn Fn(Progress),
    ) -> Result<StageOutcome, RunError> {
        let given = self.together(plan, given, kept)?;
        let kept: Vec<_> = kept.iter().map(|(_, kept)| kept.name()).collect();
        let (kept, stage) = (kept.join(", "), self.ended);
        let mut facts: Vec<Fact> = [
            ("stage", stage.to_string()),
            ("stages before", Digest256(self.chain).to_string()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        if !kept.is_empty() {
            facts.push(("kept values".to_owned(), kept.clone()));
        }
        facts.extend(plan.facts());
        let job = self.job;
        let mut outcome =
            run_with_facts(&self.session, job, plan, &facts, given, deadline, observe).await?;
        self.chain = self.followed_by(plan, &kept, &outcome.outputs);
        self.job = job.saturating_add(1); // the last number there is was used: an error by itself
        self.ended += 1;
        let (shared, opened): (Vec<Shares>, Vec<Shares>) =
            (outcome.outputs.drain(..)).partition(|value| !value.sort().sharing.is_clear());
        outcome.outputs = opened;
        let kept = (0..).zip(shared).map(|(place, shares)| KeptShares {
            shares,
            stage,
            place,
            run: Arc::clone(&self.run),
        });
        let kept = kept.collect();
        Ok(StageOutcome { outcome, kept })
    }

    /// All inputs of the plan in order.
    fn together<'a>(
        &self,
        plan: &Plan,
        given: Given<'a>,
        kept: &[(Value, &KeptShares)],
    ) -> Result<Given<'a>, RunError> {
        let graph = &plan.spec().graph;
        let wrong = |problem: String| RunError::Values {
            party: self.session.me(),
            problem,
        };
        let inputs = graph.inputs();
        let found = |value: &Value| kept.iter().find(|(input, _)| input == value);
        let filled = inputs.iter().filter(|value| found(value).is_some()).count();
        if (inputs.len() - filled, filled) != (given.inputs.len(), kept.len()) {
            return Err(wrong(format!(
                "the stage has {} inputs, of which {} kept values are {filled}; {} others were given",
                inputs.len(),
                kept.len(),
                given.inputs.len(),
            )));
        }
        let foreign = |(_, kept): &&(Value, &KeptShares)| !Arc::ptr_eq(&kept.run, &self.run);
        if let Some((_, foreign)) = kept.iter().find(foreign) {
            return Err(wrong(format!(
                "{foreign:?} was kept in another run of stages: shares of different runs do not go together"
            )));
        }
        let mut others = given.inputs.into_iter();
        let inputs = inputs.iter().filter_map(|value| match found(value) {
            Some((_, kept)) => Some(kept.shares.clone()),
            None => others.next(),
        });
        Ok(Given {
            inputs: inputs.collect(),
            means: given.means,
            facts: given.facts,
        })
    }

    /// The digest of what was run and opened, with this stage. The computing parties alone compare it: a helper is none
    /// of those that values were opened to, and could search a digest of few bits for them.
    fn followed_by(&self, plan: &Plan, kept: &str, outputs: &[Shares]) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(domains::STAGES);
        hash.update(self.chain);
        hash.update(plan.digest());
        hash.update((kept.len() as u64).to_le_bytes());
        hash.update(kept);
        let parties = plan.spec().graph.parties();
        let is_public = |value: &&Shares| value.sort().sharing.is_public(parties);
        for value in outputs.iter().filter(is_public) {
            value.each_bytes(|bytes| hash.update(bytes));
        }
        hash.finalize().into()
    }
}
