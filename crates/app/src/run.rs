//! A program run: by all parties here, or by one of several machines.

use std::fmt::Write as _;
use std::io::Write as _;

use madrigal_core::Party;
use madrigal_engine::Progress;
use madrigal_net::Session;
use madrigal_program::{Array, Computation, Ended, Inputs, Outputs, Planned};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::ahead::{EndedRuns, JOB, Planning, Prepared, ReadyRun};
use crate::clients::Asked;
use crate::explain::{origin, saving};
use crate::failure::{Failure, Result};
use crate::figures::json_text;
use crate::flagged::FlaggedProgram;
use crate::flags::TransportArg;
use crate::inputs;
use crate::present::Present;
use crate::provenance::Provenance;
use crate::runs::{PartyStatistics, RunFigures, apart, costs};
use crate::seat::Seat;

/// Report of a run, as JSON has it.
#[derive(Serialize)]
struct Report<'a> {
    /// Name of the program.
    program: &'a str,
    /// Who ran it, when, where and how.
    provenance: Provenance,
    /// Sharings that are mixed, as in A+B.
    mix: String,
    /// Goal of circuits: `size` or `depth`.
    circuits: &'static str,
    /// Origin of the correlations, or `none`.
    correlations: String,
    /// Threads for which the work was planned: the least number of all parties.
    threads: usize,
    /// Transport, as given.
    transport: TransportArg,
    /// Network, as given.
    network: String,
    /// Outputs that a party of this process gets, by name: a value or a list, row by row. Integers above 2^53 and
    /// fractions of more than 32 bits are texts.
    outputs: Map<String, Value>,
    /// Number of runs; outputs are those of the last one.
    repeat: u32,
    /// Parties of this process.
    parties: Vec<PartyStatistics>,
}

/// Runs the program as each party of this process, with inputs that are given or come from flags.
pub(crate) fn run<H>(
    made: &FlaggedProgram<'_, H>,
    inputs: Option<Inputs>,
    present: Present<'_>,
) -> Result<String> {
    let (flags, program, me) = (made.flags, &made.program, present.me());
    let quiet = flags.quiet || me.is_none();
    let (threads, planner, name) = (flags.own_threads(), made.planner(), made.name);
    if let Some(runs) = flags.ahead.prepare {
        let spec = |threads| Ok(planner.ways(threads).store(&planner.plan(threads)?, runs));
        let done = (flags.ahead).prepare(&spec, threads, present, flags.quiet);
        return prepared(made, &done?);
    }
    let plan = |threads| planner.plan(threads);
    let planned = plan(threads)?;
    let inputs = match inputs {
        Some(inputs) => inputs,
        None => inputs::read(program, &made.required, &flags.inputs, me, true)?.0,
    };
    let server = present.server();
    let asked = |planned: &Planned| Asked::of_program(program, planned.executable.mix(), name);
    let bring = |planned: &Planned, inputs| {
        (flags.clients).bring(&asked(planned), program, server.as_ref(), inputs)
    };
    let planning = Planning {
        plan: &plan,
        bring: &bring,
    };
    let ready = ReadyRun::new(
        program,
        planning,
        planned,
        inputs,
        &flags.ahead,
        flags.repeat,
        &present,
    )?;
    let transport = present.transport();
    let deadline = flags.net.patience.deadline;
    let work = async |session: &Session, observe: &dyn Fn(Progress)| {
        let ended = ready.run(session, deadline, observe).await?;
        Ok((ended, session.run_id(JOB)))
    };
    let mut ended = present.run(threads, quiet, work)?;
    let mut replanned = ended.iter_mut().map(|(_, (runs, _))| runs.replanned.take());
    let replanned = replanned.next().flatten();
    let planned = replanned.as_ref().unwrap_or(ready.planned());
    if let (Some(server), [(_, (last, run))]) = (&server, &ended[..]) {
        let (asked, shares) = (asked(planned), last.ended.outputs.shares());
        (flags.clients).leave(&asked, server, shares, *run, flags.quiet)?;
    }
    let ended = ended.into_iter().map(|(me, (runs, _))| {
        let EndedRuns { ended, figures, .. } = runs;
        (me, (ended, figures))
    });
    tell(made, planned, transport, ended.collect())
}

/// Runs the program, with this party's inputs, as the next job of a session that is there already.
pub(crate) async fn run_in<H>(
    made: &FlaggedProgram<'_, H>,
    inputs: Inputs,
    seat: &Seat<'_>,
) -> Result<String> {
    let (flags, program, me) = (made.flags, &made.program, seat.session().me());
    let threads = seat.session().common_threads(program.parties())?;
    let planned = made.planner().plan(threads)?;
    let asked = Asked::of_program(program, planned.executable.mix(), made.name);
    let inputs = (flags.clients).bring(&asked, program, seat.server(), inputs)?;
    let given = planned.given(program, &inputs, me)?;
    drop(inputs);
    let run = async |job, observe: &dyn Fn(Progress)| {
        let deadline = flags.net.patience.deadline;
        let run = planned.run(seat.session(), job, given, deadline, observe);
        run.await
    };
    let (job, ended) = seat.job(run).await?;
    if let Some(server) = seat.server() {
        let (shares, run) = (ended.outputs.shares(), seat.session().run_id(job));
        (flags.clients).leave(&asked, server, shares, run, flags.quiet)?;
    }
    let figures = vec![RunFigures::from(&ended.outcome)];
    tell(
        made,
        &planned,
        seat.transport(),
        vec![(me, (ended, figures))],
    )
}

/// Reports what was made ahead, as text or JSON.
fn prepared<H>(made: &FlaggedProgram<'_, H>, done: &Prepared) -> Result<String> {
    let flags = made.flags;
    Ok(match (flags.json, flags.quiet) {
        (true, _) => json_text(done)?,
        (false, true) => String::new(),
        (false, false) => done.text(),
    })
}

/// The outputs, as text or JSON; the costs go to standard error.
fn tell<H>(
    made: &FlaggedProgram<'_, H>,
    planned: &Planned,
    transport: TransportArg,
    ended: Vec<(Party, (Ended, Vec<RunFigures>))>,
) -> Result<String> {
    let flags = made.flags;
    let (ended, parties) = apart(ended);
    let ports = made.program.outputs();
    let together = match ended.len() == made.program.parties() {
        true => Some(put_together(&made.program, &ended)?),
        false => None,
    };
    // Parties that get an output get the same.
    let first = |place: usize| {
        let mut arrays = ended
            .iter()
            .filter_map(|(_, one)| one.outputs.arrays().nth(place).flatten());
        let first = arrays.next();
        let clients = together
            .iter()
            .find_map(|all| all.arrays().nth(place).flatten());
        match arrays.all(|array| Some(array) == first) {
            true => Ok(first.or(clients)),
            false => Err(Failure::bug("parties got different outputs")),
        }
    };
    let (mut outputs, mut is_any) = (Vec::new(), false);
    for (place, port) in ports.iter().enumerate() {
        let name = port.name.clone().unwrap_or_else(|| place.to_string());
        let Some(array) = first(place)? else {
            continue;
        };
        is_any = true;
        let elsewhere = made.sink.map_or(Ok(false), |sink| sink(&name, array))?;
        if !elsewhere {
            outputs.push((name, array));
        }
    }
    if flags.json {
        let outputs = outputs.into_iter();
        let report = Report {
            program: made.name,
            provenance: Provenance::of_process(),
            mix: planned.mix.to_string(),
            circuits: saving(planned.goal),
            correlations: origin(&planned.plan),
            threads: planned.plan.spec().threads,
            transport,
            network: flags.net.network.clone(),
            outputs: outputs.map(|(name, array)| (name, json(array))).collect(),
            repeat: flags.repeat,
            parties,
        };
        return json_text(&report);
    }
    if !flags.quiet {
        let _ = writeln!(crate::terminal::stderr(), "{}", costs(&parties));
        if !is_any {
            let _ = writeln!(crate::terminal::stderr(), "{}: no output here", made.name);
        }
    }
    let knows_all = |one: &&(Party, Ended)| one.1.outputs.arrays().all(|array| array.is_some());
    let mut text = match (made.tell, ended.iter().find(knows_all)) {
        (Some(tell), Some((_, one))) => tell(&made.handles, &one.outputs, &made.numbers),
        _ => outputs
            .iter()
            .map(|(name, array)| line(name, array))
            .collect(),
    };
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(text)
}

/// The outputs of clients, where all parties are here.
fn put_together(program: &Computation, ended: &[(Party, Ended)]) -> Result<Outputs> {
    let outputs: Vec<Outputs> = ended.iter().map(|(_, one)| one.outputs.clone()).collect();
    program.put_together(&outputs).map_err(Failure::bug)
}

/// One output for people.
pub(crate) fn line(name: &str, array: &Array) -> String {
    let mut text = format!("{name}:");
    let axes = array.shape().axes();
    let row = axes.last().copied().unwrap_or(1).max(1);
    for (at, element) in array.texts().enumerate() {
        let between = match at % row {
            0 if axes.len() > 1 => "\n  ",
            _ => " ",
        };
        let _ = write!(text, "{between}{element}");
    }
    text + "\n"
}

/// The largest integer of which a number of JSON's holds all below.
const EXACT: u64 = 1 << 53;

/// One output for scripts.
pub(crate) fn json(array: &Array) -> Value {
    let element = |text: String| match text.parse::<Value>() {
        Ok(Value::Number(number)) => {
            let exact = number.as_i64().map(i64::unsigned_abs).or(number.as_u64());
            let rational = text.contains('.') && array.element().bits() <= 32;
            match exact.is_some_and(|number| number <= EXACT) || rational {
                true => Value::Number(number),
                false => Value::String(text),
            }
        }
        Ok(Value::Bool(bool)) => Value::Bool(bool),
        _ => Value::String(text),
    };
    let mut elements: Vec<Value> = array.texts().map(element).collect();
    match (array.shape().rank(), elements.pop()) {
        (0, Some(only)) => only,
        (_, last) => {
            elements.extend(last);
            Value::Array(elements)
        }
    }
}
