//! Carries out a circuit's plan as one party of a session.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use madrigal_circuit::Rows;
use madrigal_core::Party;
use madrigal_correlations::Means;
use madrigal_engine::{Given, RunError, Shares, evaluate_program, run_with_facts};
use madrigal_net::{Context, Session};

use super::plan::CircuitPlan;
use super::report::Report;
use madrigal_engine::Progress;

/// What one party brings to a job. Made from its inputs alone where that is all.
#[derive(Debug)]
pub struct Brought<'a> {
    /// A row for each bit of this party's own input values, in circuit order; all threads read them.
    pub inputs: Arc<Rows>,
    /// What the origin of the job's correlations asks for.
    pub means: Means<'a>,
}

impl From<Arc<Rows>> for Brought<'_> {
    fn from(inputs: Arc<Rows>) -> Self {
        Self {
            inputs,
            means: Means::default(),
        }
    }
}

impl From<Rows> for Brought<'_> {
    fn from(inputs: Rows) -> Self {
        Arc::new(inputs).into()
    }
}

/// Runs `plan` as job `id` of `session`, with what this party brings: its inputs, and its store where
/// the plan's origin is one. `observe` hears of progress; it must be quick.
///
/// # Errors
/// Inputs that do not fit the plan, before anything is sent; what goes wrong between the parties,
/// after which no party has an output.
///
/// The future is boxed, as all of the engine's: so protocols are compiled with the engine, once, and not
/// again in each program and test that runs a job.
pub fn run<'a>(
    session: &'a Session,
    id: u32,
    plan: &'a CircuitPlan,
    brought: impl Into<Brought<'a>>,
    deadline: Option<Duration>,
    observe: &'a dyn Fn(Progress),
) -> LocalBoxFuture<'a, Result<Report, RunError>> {
    let given = given(plan, session.me(), brought.into());
    Box::pin(async move {
        let (program, facts) = (plan.program(), plan.facts());
        let outcome =
            run_with_facts(session, id, program, &facts, given?, deadline, observe).await?;
        Ok(Report {
            outputs: rows(plan, session.me(), outcome.outputs),
            setup: outcome.setup,
            online: outcome.online,
            total: outcome.total,
            wire_bytes_sent: outcome.wire_bytes_sent,
        })
    })
}

/// Carries out `plan` within a job that is open already: the part of [`run`] between opening a job
/// and finishing it, for jobs that do more than one thing. Gives the output, if this party is to
/// have it.
///
/// # Errors
/// As [`run`].
pub fn evaluate<'a>(
    context: &'a Context,
    plan: &'a CircuitPlan,
    brought: impl Into<Brought<'a>>,
    observe: &'a dyn Fn(Progress),
) -> LocalBoxFuture<'a, Result<Option<Rows>, RunError>> {
    let given = given(plan, context.me(), brought.into());
    Box::pin(async move {
        let outputs = evaluate_program(context, plan.program(), given?, observe).await?;
        Ok(rows(plan, context.me(), outputs))
    })
}

/// The program's inputs at one party: its rows, cut into values.
fn given<'a>(plan: &CircuitPlan, me: Party, brought: Brought<'a>) -> Result<Given<'a>, RunError> {
    let Brought { inputs, means } = brought;
    let graph = &plan.program().spec().graph;
    if me.index() < graph.parties() {
        let (wires, lanes) = (plan.input_bits_of(me), plan.spec().lanes);
        if inputs.rows() != wires || (wires > 0 && inputs.lanes() != lanes) {
            return Err(RunError::Inputs {
                party: me,
                wires,
                lanes,
                got_wires: inputs.rows(),
                got_lanes: inputs.lanes(),
            });
        }
    }
    let mut next = 0;
    let value = |&value: &_| {
        let sort = *graph.sort(value);
        if !sort.sharing.is_known_to(me) {
            return Shares::unknown(sort);
        }
        let mut shares = Shares::zeros(sort);
        for plane in 0..sort.element.bits() {
            shares.plane_mut(plane, 0).copy_from_slice(inputs.row(next));
            next += 1;
        }
        shares
    };
    Ok(Given {
        inputs: graph.inputs().iter().map(value).collect(),
        means,
    })
}

/// The circuit's outputs, a row for each bit, at a party that gets them. Each value goes when it is copied.
fn rows(plan: &CircuitPlan, me: Party, outputs: Vec<Shares>) -> Option<Rows> {
    let spec = plan.spec();
    if !spec.to.contains(&me) {
        return None;
    }
    let mut rows = Rows::new(spec.circuit.output_bits(), spec.lanes);
    let mut next = 0;
    for value in outputs {
        for plane in 0..value.sort().element.bits() {
            rows.row_mut(next).copy_from_slice(value.plane(plane, 0));
            next += 1;
        }
    }
    Some(rows)
}
