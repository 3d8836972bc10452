//! One party's part in a job, wherever it runs.

use std::sync::Arc;

use madrigal_circuit::{Rows, values};
use madrigal_core::Party;
use madrigal_engine::{Circuit, Plan, Progress, RunError, run};
use madrigal_net::transport::Transport;
use madrigal_net::{Session, SessionConfig};

use crate::args::Patience;
use crate::exit::{Failure, Result};
use crate::stats::{PartyFigures, RunFigures, peak_rss_bytes};
use crate::work::{Input, Job};

/// A party that has read all it needs.
pub struct Prepared {
    pub me: Party,
    pub plan: Plan,
    inputs: Rows,
}

/// What a party has at the end.
pub struct Outcome {
    /// The result, as lines; `None` at a party that does not get it.
    pub output: Option<Vec<u8>>,
    pub figures: PartyFigures,
}

impl Outcome {
    /// Of a party of the session that computes nothing.
    pub fn of_helper(party: usize) -> Self {
        Self {
            output: None,
            figures: PartyFigures {
                party,
                runs: Vec::new(),
                peak_rss_bytes: peak_rss_bytes(),
            },
        }
    }
}

/// How often to compute, in a session.
#[derive(Clone, Copy)]
pub struct Runs<'a> {
    /// Number of the first job in its session; the parties have the same.
    pub first_job: u32,
    pub repeat: u32,
    pub patience: &'a Patience,
}

impl Prepared {
    /// Reads the party's inputs and makes the plan.
    pub fn new(job: &Job, me: usize, circuit: Arc<Circuit>, input: &Input) -> Result<Self> {
        let me = Party::checked(me, job.parties).map_err(Failure::bug)?;
        let inputs = input.rows(job, me.index(), &circuit)?;
        let plan = job.plan(circuit)?;
        let inputs = inputs.unwrap_or_else(|| Rows::new(0, plan.spec().lanes));
        Ok(Self { me, plan, inputs })
    }

    /// Computes, `repeat` times.
    pub async fn compute(
        &self,
        session: &Session,
        runs: Runs<'_>,
        observe: &dyn Fn(Progress),
    ) -> Result<Outcome> {
        let mut figures = Vec::new();
        let mut output: Option<Rows> = None;
        for id in (runs.first_job..).take(runs.repeat as usize) {
            let deadline = runs.patience.deadline;
            let report = run(session, id, &self.plan, &self.inputs, deadline, observe)
                .await
                .map_err(of_engine)?;
            if !figures.is_empty() && report.outputs != output {
                return Err(Failure::bug("a repetition gave another result"));
            }
            figures.push(RunFigures::from(&report));
            output = report.outputs;
        }
        let widths = self.plan.spec().circuit.outputs();
        let output = output.map(|rows| values::write(&rows, widths)).transpose();
        Ok(Outcome {
            output: output.map_err(Failure::bug)?,
            figures: PartyFigures {
                party: self.me.index(),
                runs: figures,
                peak_rss_bytes: peak_rss_bytes(),
            },
        })
    }
}

/// Greets the other parties over `transport`, does `work`, and takes leave. On an error the other
/// parties are told before it returns.
pub async fn in_session<T>(
    me: Party,
    parties: usize,
    transport: impl Transport,
    patience: &Patience,
    work: impl AsyncFnOnce(&Session) -> Result<T>,
) -> Result<T> {
    let mut config = SessionConfig::new(me, parties);
    // We may have met everybody while two others still look for each other.
    config.patience = config.patience.max(patience.connect_timeout);
    config.silence = patience.silence_timeout;
    config.stall = patience.stall_timeout;
    if let Some(version) = patience.test_protocol_version {
        config.protocol_version = version;
    }
    let session = Session::new(config, transport);
    let done = match session.greet().await {
        Ok(()) => work(&session).await,
        Err(error) => Err(error.into()),
    };
    session.close().await;
    done
}

fn of_engine(error: RunError) -> Failure {
    match error {
        RunError::Net(error) => error.into(),
        other => Failure::bug(other),
    }
}
