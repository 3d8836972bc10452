//! One party's part in a job, wherever it runs.

use std::sync::Arc;
use std::time::Duration;

use madrigal_circuit::{Rows, values};
use madrigal_core::Party;
use madrigal_engine::{Circuit, Plan, Progress, RunError, run};
use madrigal_net::transport::Transport;
use madrigal_net::{Session, SessionConfig};

use crate::args::Patience;
use crate::exit::{Failure, Result};
use crate::stats::{PartyFigures, RunFigures, peak_rss_bytes};
use crate::work::{Input, Job};

/// A party that has read all it needs, and has not spoken to anybody yet.
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

impl Prepared {
    /// Reads the party's inputs and makes the plan.
    pub fn new(job: &Job, me: usize, circuit: Arc<Circuit>, input: &Input) -> Result<Self> {
        let me = Party::checked(me, job.parties).map_err(Failure::bug)?;
        let mut inputs = input.rows(job, me.index(), &circuit)?;
        let plan = job.plan(circuit)?;
        let inputs = inputs.take().unwrap_or_else(|| Rows::new(0, plan.spec().lanes));
        Ok(Self { me, plan, inputs })
    }

    /// Takes part in a session over `transport`: greets, computes `repeat` times, takes leave. On an
    /// error the other parties are told before it returns.
    pub async fn take_part(
        &self,
        transport: impl Transport,
        patience: &Patience,
        repeat: u32,
        observe: &dyn Fn(Progress),
    ) -> Result<Outcome> {
        let mut config = SessionConfig::new(self.me, self.plan.spec().parties);
        config.silence = patience.silence_timeout;
        config.stall = patience.stall_timeout;
        if let Some(version) = patience.test_protocol_version {
            config.protocol_version = version;
        }
        let session = Session::new(config, transport);
        let done = self.compute(&session, patience.deadline, repeat, observe).await;
        session.close().await;
        done
    }

    async fn compute(
        &self,
        session: &Session,
        deadline: Option<Duration>,
        repeat: u32,
        observe: &dyn Fn(Progress),
    ) -> Result<Outcome> {
        session.greet().await?;
        let mut runs = Vec::new();
        let mut output: Option<Rows> = None;
        for id in 1..=repeat {
            let report = run(session, id, &self.plan, &self.inputs, deadline, observe)
                .await
                .map_err(of_engine)?;
            runs.push(RunFigures::from(&report));
            if id > 1 && report.outputs != output {
                return Err(Failure::bug(format!("run {id} gave another result than run 1")));
            }
            output = report.outputs;
        }
        let widths = self.plan.spec().circuit.outputs();
        let output = output.map(|rows| values::write(&rows, widths)).transpose();
        Ok(Outcome {
            output: output.map_err(Failure::bug)?,
            figures: PartyFigures {
                party: self.me.index(),
                runs,
                peak_rss_bytes: peak_rss_bytes(),
            },
        })
    }
}

fn of_engine(error: RunError) -> Failure {
    match error {
        RunError::Net(error) => error.into(),
        other => Failure::bug(other),
    }
}
