//! A HyCC program run, by all parties here or as one of several machines.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

use madrigal_app::explain::origin;
use madrigal_app::flags::repeat_fact;
use madrigal_app::present::Present;
use madrigal_app::provenance::Provenance;
use madrigal_app::runs::{PartyStatistics, RunFigures, apart, costs, repeated};
use madrigal_app::threads::unplanned;
use madrigal_circuit::hycc::Type;
use madrigal_core::Party;
use madrigal_engine::{Plan, Progress, run_program};
use madrigal_hycc::{Hybrid, Loaded, Values};
use madrigal_net::Session;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{failure, hybrid, inputs, plan, read};
use crate::args::{Receivers, RunFlags, TransportArg};
use crate::exit::{Failure, Result, Usage};
use crate::files::{self, Output, named};
use crate::show::write_result;

/// Costs and outputs of a run, as JSON has them.
#[derive(Serialize)]
struct Report {
    /// Version of the program.
    madrigal: &'static str,
    /// Who ran it, when, where and how.
    provenance: Provenance,
    /// The bundle, or the module.
    program: String,
    /// Number of parties of the computation.
    parties: usize,
    /// Modules of the program.
    modules: Vec<super::explain::ModuleFigures>,
    /// Runs side by side.
    lanes: usize,
    /// Order of setup and online.
    phases: String,
    /// Origin of the correlations.
    correlations: String,
    /// Threads for which the work was planned: the least number of all parties.
    threads: usize,
    /// Transport, as given.
    transport: TransportArg,
    /// Network, as given.
    network: String,
    /// Outputs of run i by name, as numbers, lists and objects; numbers beyond 2^53 are texts. None where no party
    /// here gets them.
    outputs: Vec<Map<String, Value>>,
    /// Number of runs, one after the other.
    repeat: u32,
    /// Parties of this machine.
    figures: Vec<PartyStatistics>,
}

pub fn run(args: &RunFlags) -> Result<()> {
    args.who.check()?;
    args.clients.check_unused("programs of the HyCC compiler")?;
    let work = &args.work;
    let loaded = read(work)?;
    check_files(args, &loaded)?;
    let present = Present::new(&args.who, &args.net)?;
    let (parties, me) = (present.parties(), present.me());
    let values = inputs::read(&loaded.flat, &args.inputs, parties, me, work.lanes)?;
    let hybrid = hybrid(work, &loaded, parties, values.runs())?;
    let has_none = |me: Party| hybrid.inputs_of(me).next().is_none();
    if let Some(me) = me.filter(|&me| has_none(me) && work.lanes.is_none()) {
        let party = me.index();
        return Err(Usage::LanesUnknown { party }.into());
    }
    let given = |me| hybrid.given(me, &values);
    for me in present.here() {
        given(me).map_err(failure::Inputs::Missing)?;
    }
    let threads = work.how.own_threads();
    let planned = |threads| plan(work, &hybrid, repeat_fact(args.repeat), threads);
    let plan = planned(threads)?;
    let (transport, deadline) = (present.transport(), present.deadline());
    let party = async |session: &Session, observe: &dyn Fn(Progress)| {
        let mut before = None;
        let common = session.common_threads(parties)?;
        let again = (common != threads).then(|| planned(common)).transpose();
        let again = again.inspect_err(|_| unplanned(session))?;
        let plan = again.as_ref().unwrap_or(&plan);
        let done = repeated(args.repeat, async |repetition| {
            let given = given(session.me()).map_err(Failure::bug)?;
            let id = 1 + repetition;
            let outcome = run_program(session, id, plan, given, deadline, observe).await?;
            let outputs = hybrid.values(session.me(), &outcome.outputs);
            if before
                .replace(outputs.clone())
                .is_some_and(|before| before != outputs)
            {
                return Err(Failure::bug("a repetition gave other outputs"));
            }
            Ok((outputs, RunFigures::from(&outcome)))
        });
        let done = done.await?;
        Ok((again, done))
    };
    let done = present.run(threads, args.show.quiet, party)?;
    let (mut again, mut all) = (None, Vec::new());
    for (party, (replanned, done)) in done {
        again = again.or(replanned);
        all.push((party, done));
    }
    let plan = again.as_ref().unwrap_or(&plan);
    tell(args, &loaded, &hybrid, plan, transport, all)
}

/// Checks the files that are to be written, before anything is computed.
fn check_files(args: &RunFlags, loaded: &Loaded) -> Result<()> {
    let inputs = args.inputs.iter().map(|input| &input.path);
    let read = loaded.files.iter().chain(inputs).chain(&args.who.roster);
    let result = Output {
        flag: "--output",
        action: "write the result",
        path: named(args.output.as_deref()),
    };
    let read = read.map(PathBuf::as_path);
    files::check(read, &[result, args.show.output()])
}

/// Outputs of a party's last run, and what each run cost.
type Done = (Option<Values>, Vec<RunFigures>);

/// The outputs, as HyCC writes them; costs on standard error, or both as JSON.
fn tell(
    args: &RunFlags,
    loaded: &Loaded,
    hybrid: &Hybrid,
    plan: &Plan,
    transport: TransportArg,
    done: Vec<(Party, Done)>,
) -> Result<()> {
    let (done, figures) = apart(done);
    let here = done.first().map(|(party, _)| *party);
    let mut outputs: Option<Values> = None;
    for (_, own) in done {
        if own.is_some() && outputs.is_some() && own != outputs {
            return Err(Failure::bug("parties got different outputs"));
        }
        outputs = outputs.or(own);
    }
    let result = named(args.output.as_deref());
    if let Some(values) = outputs
        .as_ref()
        .filter(|_| result.is_some() || !args.show.to_stdout())
    {
        write_result(text(hybrid, values).as_bytes(), result)?;
    }
    if !args.show.quiet && !args.show.to_stdout() {
        // Nobody is left to tell if standard error is gone.
        let _ = writeln!(crate::terminal::stderr(), "{}", costs(&figures));
        if let (None, Some(me), Receivers::These(_)) = (&outputs, here, &args.work.to) {
            let _ = writeln!(
                crate::terminal::stderr(),
                "madrigal: {me} gets no result (--to)"
            );
        }
    }
    let report = Report {
        madrigal: env!("CARGO_PKG_VERSION"),
        provenance: Provenance::of_process(),
        program: loaded.path.display().to_string(),
        parties: plan.spec().graph.parties(),
        modules: super::explain::modules(&args.work, loaded, plan.spec().graph.parties()),
        lanes: hybrid.runs(),
        phases: plan.phases().to_string(),
        correlations: origin(plan),
        threads: plan.spec().threads,
        transport,
        network: args.net.network.clone(),
        outputs: outputs
            .iter()
            .flat_map(|values| objects(hybrid, values))
            .collect(),
        repeat: args.repeat,
        figures,
    };
    args.show.write(&report)
}

/// Lines `NAME := VALUE;`, with `---` between runs.
fn text(hybrid: &Hybrid, values: &Values) -> String {
    let mut text = String::new();
    for run in 0..values.runs() {
        text.push_str(if run > 0 { "---\n" } else { "" });
        for variable in hybrid.outputs() {
            let value = values.text(run, &variable.name, &variable.ty);
            let _ = writeln!(text, "{} := {};", variable.name, value.unwrap_or_default());
        }
    }
    text
}

fn objects(hybrid: &Hybrid, values: &Values) -> Vec<Map<String, Value>> {
    let object = |run| {
        let of = |variable: &madrigal_circuit::hycc::Variable| {
            let mut bits = values.bits(run, &variable.name).unwrap_or_default();
            (variable.name.clone(), json(&mut bits, &variable.ty))
        };
        hybrid.outputs().iter().map(of).collect()
    };
    (0..values.runs()).map(object).collect()
}

/// The largest integer of which a number of JSON's holds all below.
const EXACT: u64 = 1 << 53;

/// The next value of a type.
fn json(bits: &mut &[u8], ty: &Type) -> Value {
    match ty {
        Type::Array { len, element } => {
            let len = if element.bits() == 0 { 0 } else { *len };
            Value::Array((0..len).map(|_| json(bits, element)).collect())
        }
        Type::Struct(members) => {
            let member = |(name, ty): &(String, Type)| (name.clone(), json(bits, ty));
            Value::Object(members.iter().map(member).collect())
        }
        Type::Integer { .. } | Type::Bool => {
            let (own, rest) = bits.split_at((ty.bits() as usize).min(bits.len()));
            *bits = rest;
            let text = Values::written(own, ty);
            let number = text
                .parse::<i64>()
                .ok()
                .filter(|number| number.unsigned_abs() <= EXACT);
            number.map_or(Value::String(text), Value::from)
        }
    }
}
