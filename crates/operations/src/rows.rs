//! Runs plans whose inputs and outputs are bits, as those of circuits are, from rows to rows.

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
use madrigal_net::{Context, Fact, Session};

/// Inputs and means that one party brings to a job. It is made from the party's inputs alone where that is all.
#[derive(Debug)]
pub struct Brought<'a> {
    /// A row for each bit of this party's own input values, in circuit order; all threads read them.
    pub inputs: Arc<Rows>,
    /// Shares of input values that somebody else brings, in circuit order, each with a fact that the shares of all parties have
    /// in common and no others have.
    pub dealt: Vec<(Shares, Fact)>,
    /// Means that the origin of the job's correlations asks for.
    pub means: Means<'a>,
}

/// Outputs of a circuit's job at one party.
#[derive(Debug)]
pub struct RowsOutput {
    /// A row for each bit; nothing at parties that do not get them.
    pub opened: Option<Rows>,
    /// Shares of each output value, to be handed out, if the job hands out any.
    pub handed: Vec<Shares>,
}

impl From<Arc<Rows>> for Brought<'_> {
    fn from(inputs: Arc<Rows>) -> Self {
        Self {
            inputs,
            dealt: Vec::new(),
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
    let given =
        clear_alone(plan, session.me()).and_then(|()| given(plan, session.me(), brought.into()));
    Box::pin(async move {
        let outcome = run_program(session, id, plan, given?, deadline, observe).await?;
        Ok(outcome.map(|outputs| rows(session.me(), outputs).opened))
    })
}

/// Runs `plan` as [`run_rows`] does, where shares of input values may come from somebody who is no party, and shares of
/// outputs may be handed to such. Parties whose shares have different facts compute nothing.
///
/// # Errors
/// [`RunError`] in the same cases as [`run_rows`], and for shares that are not what the plan asks for.
pub fn run_shared_rows<'a>(
    session: &'a Session,
    id: u32,
    plan: &'a Plan,
    brought: Brought<'a>,
    deadline: Option<Duration>,
    observe: &'a dyn Fn(Progress),
) -> LocalBoxFuture<'a, Result<Outcome<RowsOutput>, RunError>> {
    let given = given(plan, session.me(), brought);
    Box::pin(async move {
        let outcome = run_program(session, id, plan, given?, deadline, observe).await?;
        Ok(outcome.map(|outputs| rows(session.me(), outputs)))
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
    let given =
        clear_alone(plan, context.me()).and_then(|()| given(plan, context.me(), brought.into()));
    Box::pin(async move {
        let outputs = evaluate_program(context, plan, given?, observe).await?;
        Ok(rows(context.me(), outputs).opened)
    })
}

/// Counts the input bits that a party owns by `graph`, in each lane.
pub fn input_bits_of(graph: &Graph, party: Party) -> usize {
    let sorts = graph.inputs().iter().map(|&value| graph.sort(value));
    let own = sorts.filter(|sort| sort.sharing.is_known_to(party));
    own.map(|sort| sort.element.bits()).sum()
}

/// The program's inputs at one party: its rows, cut into values, and the shares that it was given.
fn given<'a>(plan: &Plan, me: Party, brought: Brought<'a>) -> Result<Given<'a>, RunError> {
    let Brought {
        inputs,
        dealt,
        means,
    } = brought;
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
    let (shares, facts): (Vec<Shares>, Vec<Fact>) = dealt.into_iter().unzip();
    let mut shares = shares.into_iter();
    let mut next = 0;
    let mut value = |&value: &Value| {
        let sort = *graph.sort(value);
        if !sort.sharing.is_clear() {
            let share = shares.next().filter(|share| *share.sort() == sort);
            return share.ok_or_else(|| RunError::Values {
                party: me,
                problem: format!("a share of {sort} is missing"),
            });
        }
        if !sort.sharing.is_known_to(me) {
            return Ok(Shares::unknown(sort));
        }
        let mut shares = Shares::zeros(sort);
        for plane in 0..sort.element.bits() {
            shares.plane_mut(plane, 0).copy_from_slice(inputs.row(next));
            next += 1;
        }
        Ok(shares)
    };
    let inputs = graph.inputs().iter().map(&mut value);
    let inputs = inputs.collect::<Result<_, _>>()?;
    if shares.next().is_some() {
        return Err(RunError::Values {
            party: me,
            problem: "there are more shares than the plan asks for".to_owned(),
        });
    }
    Ok(Given {
        inputs,
        means,
        facts,
    })
}

/// Checks that nothing comes in or goes out as shares.
fn clear_alone(plan: &Plan, me: Party) -> Result<(), RunError> {
    let graph = &plan.spec().graph;
    let mut sorts = sorts(graph).filter(|sort| !sort.sharing.is_clear());
    match sorts.next() {
        None => Ok(()),
        Some(sort) => Err(RunError::Values {
            party: me,
            problem: format!(
                "rows are clear bits, and the plan has {sort}; run it by `run_program`"
            ),
        }),
    }
}

/// The sorts of inputs and outputs.
fn sorts(graph: &Graph) -> impl Iterator<Item = &Sort> + Clone {
    let values = graph.inputs().iter().chain(graph.outputs());
    values.map(|&value| graph.sort(value))
}

/// Gives the number of lanes, if all inputs and outputs are bits in as many, and all outputs that are opened are for the same
/// parties: these get rows, and the others nothing.
fn checked_lanes(graph: &Graph, me: Party) -> Result<usize, RunError> {
    let mut sorts = sorts(graph);
    let lanes = sorts.clone().next().map_or(0, |sort| sort.len);
    let outputs = graph.outputs().iter();
    let mut receivers = outputs
        .map(|&value| graph.sort(value).sharing)
        .filter(|sharing| sharing.is_clear());
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
    let is_row = |sort: &&Sort| matches!(sort.element, Element::Bits(_)) && sort.len == lanes;
    match sorts.find(|sort| !is_row(sort)) {
        None => Ok(lanes),
        Some(sort) => Err(RunError::Values {
            party: me,
            problem: format!(
                "rows are bits in {lanes} lanes, and the plan has {sort}; run it by `run_program`"
            ),
        }),
    }
}

/// The opened outputs, a row for each bit, at a party that gets them all, and its shares of those that are handed out. Each
/// value goes when it is copied.
fn rows(me: Party, outputs: Vec<Shares>) -> RowsOutput {
    let is_opened = |value: &Shares| value.sort().sharing.is_clear();
    let (opened, handed): (Vec<Shares>, Vec<Shares>) = outputs.into_iter().partition(is_opened);
    let known = |value: &Shares| value.sort().sharing.is_known_to(me);
    // A circuit without outputs has opened all of them.
    if !opened.iter().all(known) || (opened.is_empty() && !handed.is_empty()) {
        let opened = None;
        return RowsOutput { opened, handed };
    }
    let lanes = opened.first().map_or(0, Shares::len);
    let bits = |value: &Shares| value.sort().element.bits();
    let mut rows = Rows::new(opened.iter().map(bits).sum(), lanes);
    let mut next = 0;
    for value in opened {
        for plane in 0..bits(&value) {
            rows.row_mut(next).copy_from_slice(value.plane(plane, 0));
            next += 1;
        }
    }
    RowsOutput {
        opened: Some(rows),
        handed,
    }
}
