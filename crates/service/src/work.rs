//! A job: the shares of a batch's submissions go into the kind's program, and shares of its outputs come out.

use std::sync::Arc;
use std::time::Duration;

use madrigal_clients::{Named, ShareFault, ShareFile};
use madrigal_core::{Digest256, domains};
use madrigal_engine::{Means, Progress, RunError, Shares};
use madrigal_net::Session;
use madrigal_program::{Client, InputError, InputShare, Inputs};
use sha2::{Digest as _, Sha256};

use crate::kind::{Kind, KindFault, Prepared, Receivers, Source};

/// The share files of a submission at this server: one for each input, in the program's order.
pub type Submitted = Vec<ShareFile>;

/// This server's shares of an output of a batch, as files for its receivers.
#[derive(Debug)]
pub struct Output {
    /// Place among the kind's outputs.
    pub place: usize,
    /// Share files, one after the other and of one length: one for all receivers, or one for each submission in the batch's order.
    pub files: Vec<u8>,
    /// Bytes of one of them.
    pub each: usize,
}

/// A job that has ended well.
#[derive(Debug)]
pub struct Done {
    /// Shares of outputs.
    pub outputs: Vec<Output>,
    /// Bytes that this server sent, headers and control messages among them.
    pub bytes_sent: u64,
    /// Bytes of the job's own messages that this server sent, by counters, in setup and online: what the plan declares.
    pub own_bytes_sent: [u64; 2],
}

/// Correlations that are there before a job: a store that all servers have, or nothing, where the job makes its own.
pub type Ready<'a> = Means<'a>;

/// Held inputs and correlations that a job takes beside its batch.
#[derive(Default)]
pub struct Beside<'a> {
    /// Shares that each of [`Kind::holders`] holds, in their order.
    pub held: &'a [Arc<Submitted>],
    /// Correlations that are there already.
    pub ready: Ready<'a>,
}

/// Reason why a job came to nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkError {
    /// The batch's program cannot be planned.
    #[error(transparent)]
    Kind(#[from] KindFault),
    /// Shares do not fit the program.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The job failed between the servers, or here.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A share of an output cannot be written.
    #[error("a share of an output: {0}")]
    Output(#[from] ShareFault),
}

/// A session in which a job runs, and the job's number in it.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// The session.
    pub session: &'a Session,
    /// Number of the job, which no other job of the session has.
    pub job: u32,
    /// Name of the run, the same at all servers, which no other run has: by it clients see that shares of an output go together.
    pub run: [u8; 32],
}

impl Kind {
    /// Computes on the shares of a batch, in its order, as one of the servers. The job makes its correlations.
    ///
    /// # Errors
    /// [`WorkError`].
    pub async fn work(
        &self,
        place: Place<'_>,
        batch: Vec<Submitted>,
        deadline: Duration,
        observe: &dyn Fn(Progress),
    ) -> Result<Done, WorkError> {
        let beside = Beside::default();
        self.work_with(place, batch, beside, deadline, observe)
            .await
    }

    /// Computes as [`work`](Self::work) does, with what other kinds hold, and on correlations that are there already, if there are some: at all servers or
    /// at none.
    ///
    /// # Errors
    /// [`WorkError`] in the same cases; what is held of fewer kinds, or other values than the kind's, are a fault of the run.
    pub async fn work_with(
        &self,
        place: Place<'_>,
        batch: Vec<Submitted>,
        beside: Beside<'_>,
        deadline: Duration,
        observe: &dyn Fn(Progress),
    ) -> Result<Done, WorkError> {
        let Place { session, job, run } = place;
        let size = batch.len();
        let threads = session.common_threads(session.parties());
        let threads = threads.map_err(RunError::from)?;
        let Beside { held, ready } = beside;
        let prepared = self.prepared(size, threads, ready.is_some())?;
        let Prepared { program, planned } = &*prepared;
        let mut inputs = Inputs::new();
        for (at, source) in self.sources.iter().enumerate() {
            let share = match *source {
                Source::Submissions(place) => input(&batch, place),
                Source::Held(holder, place) => {
                    let of = held.get(holder).filter(|held| place < held.len());
                    let of = of.ok_or_else(|| RunError::Values {
                        party: session.me(),
                        problem: format!("what input {at} is taken from is not held here"),
                    })?;
                    input(std::slice::from_ref(&**of), place)
                }
            };
            inputs = inputs.with_share_at(program.inputs(), at, share);
        }
        // Shares are in the inputs now, and are large.
        drop(batch);
        let mut given = planned.given(program, &inputs, session.me())?;
        given.means = ready;
        drop(inputs);
        let ended = planned.run(session, job, given, Some(deadline), observe);
        let ended = ended.await?;
        let mut outputs = Vec::new();
        let mut place = 0;
        for (port, shares) in program.outputs().iter().zip(ended.outputs.shares()) {
            for client in port.clients() {
                let shares = shares.ok_or_else(|| RunError::Values {
                    party: session.me(),
                    problem: "shares of an output for a client are not there".to_owned(),
                })?;
                let shape = port.tensor_type.shape.axes();
                let of = OfBatch {
                    client,
                    shape,
                    size,
                };
                outputs.push(self.output(place, of, shares, session, run)?);
                place += 1;
            }
        }
        let outcome = &ended.outcome;
        Ok(Done {
            outputs,
            bytes_sent: outcome.wire_bytes_sent,
            own_bytes_sent: [&outcome.setup, &outcome.online].map(|phase| phase.spent.bytes_sent),
        })
    }

    fn output(
        &self,
        place: usize,
        of: OfBatch<'_>,
        shares: &Shares,
        session: &Session,
        run: [u8; 32],
    ) -> Result<Output, WorkError> {
        let output = &self.outputs[place];
        let count = match output.to {
            Receivers::OwnRow => of.size,
            Receivers::Submitters | Receivers::Named(_) => 1,
        };
        let mut shape = of.shape.to_vec();
        if output.to == Receivers::OwnRow {
            shape[0] = 1;
        }
        let named = || Named {
            job: self.config.name.clone(),
            name: output.name.clone(),
            client: of.client.name().to_owned(),
            element_type: output.element_type.clone(),
            shape: shape.clone(),
        };
        let (me, servers) = (session.me(), session.parties());
        let mut files = Vec::new();
        let mut put = |shares: Shares| {
            let file = ShareFile::of_output(named(), shares, me, servers, run)?;
            file.write(&mut files, None)
        };
        let row = shares.len() / count;
        for at in 0..count {
            put(shares.slice(at * row..(at + 1) * row))?;
        }
        // Their headers differ in nothing, so all have one length.
        let each = files.len() / count;
        Ok(Output { place, files, each })
    }
}

/// An output of a batch.
#[derive(Clone, Copy)]
struct OfBatch<'a> {
    /// Name that the program has for who gets it.
    client: &'a Client,
    /// Lengths of its axes in this batch.
    shape: &'a [usize],
    /// Number of submissions.
    size: usize,
}

/// One input's share: the rows of all submissions, in the batch's order.
fn input(batch: &[Submitted], at: usize) -> InputShare {
    let mut hash = Sha256::new_with_prefix(domains::SERVICE_BATCH);
    for submitted in batch {
        hash.update(submitted[at].header().submission().0);
    }
    let shares: Vec<&Shares> = batch.iter().map(|one| one[at].shares()).collect();
    InputShare {
        shares: Shares::concat(&shares),
        submission: Digest256(hash.finalize().into()).to_string(),
    }
}
