//! Runs plans whose inputs and outputs are clear bits, as those of circuits are, from rows to rows.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use madrigal_circuit::Rows;
use madrigal_core::Party;
use madrigal_correlations::Means;
use madrigal_engine::{
    Element, Given, Graph, Outcome, Plan, Progress, RunError, Shares, Sort, Value,
    evaluate_program, run_program,
};
use madrigal_net::{Context, Session};

/// Inputs and means that one party brings to a job. It is made from the party's inputs alone where that is all.
#[derive(Debug)]
pub struct Brought<'a> {
    /// A row for each bit of this party's own input values, in circuit order; all threads read them.
    pub inputs: Arc<Rows>,
    /// Means that the origin of the job's correlations asks for.
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

/// Runs `plan` as [`run_program`] does, with this party's inputs as rows. The outputs are rows, too, one for each bit,
/// and nothing at parties that do not get them.
///
/// The future is boxed, as all of the engine's: so protocols are compiled with the engine, once, and not
/// again in each program and test that runs a job.
///
/// # Errors
/// [`RunError::Inputs`] or [`RunError::Values`] before anything is sent, for inputs that do not fit the plan or a plan
/// whose values are not all clear bits; [`RunError`] for what goes wrong between the parties, after which no party has an
/// output.
pub fn run_rows<'a>(
    session: &'a Session,
    id: u32,
    plan: &'a Plan,
    brought: impl Into<Brought<'a>>,
    deadline: Option<Duration>,
    observe: &'a dyn Fn(Progress),
) -> LocalBoxFuture<'a, Result<Outcome<Option<Rows>>, RunError>> {
    let given = given(plan, session.me(), brought.into());
    Box::pin(async move {
        let outcome = run_program(session, id, plan, given?, deadline, observe).await?;
        Ok(outcome.map(|outputs| rows(&plan.spec().graph, session.me(), outputs)))
    })
}

/// Carries out `plan` within a job that is open already: the part of [`run_rows`] between opening a job
/// and finishing it, for jobs that do more than one thing. Gives the output, if this party is to have it.
///
/// # Errors
/// [`RunError`] in the same cases as [`run_rows`].
pub fn evaluate_rows<'a>(
    context: &'a Context,
    plan: &'a Plan,
    brought: impl Into<Brought<'a>>,
    observe: &'a dyn Fn(Progress),
) -> LocalBoxFuture<'a, Result<Option<Rows>, RunError>> {
    let given = given(plan, context.me(), brought.into());
    Box::pin(async move {
        let outputs = evaluate_program(context, plan, given?, observe).await?;
        Ok(rows(&plan.spec().graph, context.me(), outputs))
    })
}

/// Counts the input bits that a party owns by `graph`, in each lane.
pub fn input_bits_of(graph: &Graph, party: Party) -> usize {
    let sorts = graph.inputs().iter().map(|&value| graph.sort(value));
    let own = sorts.filter(|sort| sort.sharing.is_known_to(party));
    own.map(|sort| sort.element.bits()).sum()
}

/// The program's inputs at one party: its rows, cut into values.
fn given<'a>(plan: &Plan, me: Party, brought: Brought<'a>) -> Result<Given<'a>, RunError> {
    let Brought { inputs, means } = brought;
    let graph = &plan.spec().graph;
    let lanes = checked_lanes(graph, me)?;
    if me.index() < graph.parties() {
        let wires = input_bits_of(graph, me);
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
    let value = |&value: &Value| {
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
        facts: Vec::new(),
    })
}

/// Gives the number of lanes, if all inputs and outputs are clear bits in as many, and all outputs are for the same
/// parties: these get rows, and the others nothing.
fn checked_lanes(graph: &Graph, me: Party) -> Result<usize, RunError> {
    let values = graph.inputs().iter().chain(graph.outputs());
    let mut sorts = values.map(|&value| graph.sort(value));
    let lanes = sorts.clone().next().map_or(0, |sort| sort.len);
    let mut receivers = graph
        .outputs()
        .iter()
        .map(|&value| graph.sort(value).sharing);
    let first = receivers.next();
    if let Some(other) = receivers.find(|sharing| Some(*sharing) != first) {
        return Err(RunError::Values {
            party: me,
            problem: format!(
                "rows are for the same parties, and the plan has outputs that are {} and {other}; run it by `run_program`",
                first.unwrap_or(other)
            ),
        });
    }
    let is_row = |sort: &Sort| {
        matches!(sort.element, Element::Bits(_)) && sort.sharing.is_clear() && sort.len == lanes
    };
    match sorts.find(|sort| !is_row(sort)) {
        None => Ok(lanes),
        Some(sort) => Err(RunError::Values {
            party: me,
            problem: format!(
                "rows are clear bits in {lanes} lanes, and the plan has {sort}; run it by `run_program`"
            ),
        }),
    }
}

/// The outputs, a row for each bit, at a party that gets them all. Each value goes when it is copied.
fn rows(graph: &Graph, me: Party, outputs: Vec<Shares>) -> Option<Rows> {
    if !outputs
        .iter()
        .all(|value| value.sort().sharing.is_known_to(me))
    {
        return None;
    }
    let sorts = || graph.outputs().iter().map(|&value| graph.sort(value));
    let lanes = sorts().next().map_or(0, |sort| sort.len);
    let mut rows = Rows::new(sorts().map(|sort| sort.element.bits()).sum(), lanes);
    let mut next = 0;
    for value in outputs {
        for plane in 0..value.sort().element.bits() {
            rows.row_mut(next).copy_from_slice(value.plane(plane, 0));
            next += 1;
        }
    }
    Some(rows)
}
