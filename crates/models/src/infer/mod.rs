//! A trained network on data that nobody shows, by all parties here or as one of several machines.

mod layers;
pub(crate) mod model_program;
mod place;
mod planned;
mod range;
mod report;
mod results;
mod unfit;

use std::io::Write as _;
use std::path::Path;

use madrigal_app::ahead::{EndedRuns, JOB, Planning, Prepared, ReadyRun};
use madrigal_app::explain::origin;
use madrigal_app::failure::{Failure, Result};
use madrigal_app::figures::{json_text, peak_rss_bytes};
use madrigal_app::files::{self, named};
use madrigal_app::flags::TransportArg;
use madrigal_app::flags::repeat_fact;
use madrigal_app::held::Seat;
use madrigal_app::over::Over;
use madrigal_app::present::Present;
use madrigal_app::progress::say;
use madrigal_app::provenance::Provenance;
use madrigal_app::runs::{PartyStatistics, RunFigures, apart, costs};
use madrigal_app::seen::Seen;
use madrigal_app::show::write_result;
use madrigal_app::terminal::stderr;
use madrigal_app::ways::Ways;
use madrigal_core::Party;
use madrigal_engine::{Progress, StoreSpec};
use madrigal_net::{Fact, Session};
use madrigal_nn::{Model, Tensor};
use madrigal_program::lower::Mix;
use madrigal_program::{Client, Ended, Inputs, Outputs, Planned};
use serde::Serialize;

use crate::args::{Infer, NumberArg};
use crate::data::Files;
use layers::LayerFigures;
pub(crate) use layers::OUTSIDE;
use model_program::{Asked, DATA, MODEL, ModelProgram};
use planned::PlannedRun;
use results::check_files;
use unfit::Unfit;

/// Statistics and results of a run, as JSON has them.
#[derive(Serialize)]
struct Statistics {
    /// Version of the program.
    madrigal: &'static str,
    /// Who ran it, when, where and how.
    provenance: Provenance,
    /// File of the model.
    model: String,
    /// Mix of protocols.
    protocol: String,
    /// Whether the mix was chosen as the fastest by an estimate.
    protocol_chosen: bool,
    /// Bits of a number, and how many of them are after the point.
    numbers: [u32; 2],
    /// Inputs computed at once.
    batch: Option<usize>,
    /// Numbers among the model's weights.
    parameters: u64,
    /// Products of numbers that the model computes.
    multiplications: u64,
    /// Order of setup and online as planned.
    phases: String,
    /// Origin of the correlations.
    correlations: String,
    /// Threads for which the work was planned: the least number of all parties.
    threads: usize,
    /// Transport, as given.
    transport: TransportArg,
    /// Network, as given.
    network: String,
    /// Peak memory of this process, in which all parties of a local run are.
    peak_rss_bytes: Option<u64>,
    /// Without `--output`, each output that the party here gets.
    results: Vec<Numbers>,
    /// Number of runs; results and layers are those of the last one.
    repeat: u32,
    /// Party i; `null` for those that ran elsewhere.
    parties: Vec<Option<PartyStatistics>>,
    /// Layers in order, and last what belongs to none, `inputs and results`.
    layers: Vec<LayerFigures>,
}

/// One result, row by row.
#[derive(Serialize)]
struct Numbers {
    /// Name of the output.
    name: String,
    /// Dimensions.
    shape: Vec<usize>,
    /// Numbers, row by row.
    numbers: Vec<f64>,
}

/// A run that has ended, or what was made for later runs.
pub enum Done {
    /// Correlations for later runs, with `--prepare`.
    Prepared(Prepared),
    /// A run.
    Run(Box<FinishedRun>),
}

/// Does what the flags say, and tells results and costs where they want it.
///
/// # Errors
/// [`Failure`]: files, models and data that are not as they should be, and what goes wrong between the parties.
pub fn run(args: &Infer) -> Result<()> {
    match compute(args, None)? {
        Done::Prepared(done) => tell_prepared(args, &done),
        Done::Run(run) => tell(args, &run),
    }
}

/// Where a network is computed.
struct Parties {
    count: usize,
    /// The one party that runs here; `None` where all do.
    me: Option<Party>,
    transport: TransportArg,
}

/// Does what the flags say. Data that is `given` takes the place of the files that they name.
///
/// # Errors
/// [`Failure`]: files, models and data that are not as they should be, and what goes wrong between the parties.
pub fn compute(args: &Infer, given: Option<Vec<Tensor>>) -> Result<Done> {
    args.show.begin();
    args.who.check()?;
    check_files(args, &[])?;
    let present = Present::new(&args.who, &args.net)?;
    let here = Parties {
        count: present.parties(),
        me: present.me(),
        transport: present.transport(),
    };
    let (model, data, made) = read(args, given, &here)?;
    let threads = args.threads.resolve(args.who.here());
    if let Some(runs) = args.ahead.prepare {
        let spec = |threads| Ok(store(args, &plan(args, &made, threads)?, runs, threads));
        let done = (args.ahead).prepare(&spec, threads, present, args.show.quiet);
        return Ok(Done::Prepared(done?));
    }
    let inputs = own_inputs(args, &model, &made, data, here.me)?;
    let program = made.network.program();
    let asked = |planned: &Planned| made.asked_of_clients(&args.model, planned.executable.mix());
    let server = present.server();
    let plan = |threads| plan(args, &made, threads);
    let bring = |planned: &Planned, inputs| {
        (args.clients).bring(&asked(planned), program, server.as_ref(), inputs)
    };
    let planning = Planning {
        plan: &plan,
        bring: &bring,
    };
    let planned = plan(threads)?;
    let ready = ReadyRun::new(
        program,
        planning,
        planned,
        inputs,
        &args.ahead,
        args.repeat,
        &present,
    )?;
    let deadline = present.deadline();
    let party = async |session: &Session, observe: &dyn Fn(Progress)| {
        let ended = ready.run(session, deadline, observe).await?;
        Ok((ended, session.run_id(JOB)))
    };
    let mut done = present.run(threads, args.show.quiet, party)?;
    let mut replanned = done.iter_mut().map(|(_, (runs, _))| runs.replanned.take());
    let replanned = replanned.next().flatten();
    let planned = replanned.unwrap_or_else(|| ready.planned().clone());
    drop(ready);
    if let (Some(server), [(_, (last, run))]) = (&server, &done[..]) {
        let (asked, shares) = (asked(&planned), last.ended.outputs.shares());
        (args.clients).leave(&asked, server, shares, *run, args.show.quiet)?;
    }
    let done = done.into_iter().map(|(me, (runs, _))| {
        let EndedRuns { ended, figures, .. } = runs;
        (me, (ended, figures))
    });
    let work = planned_run(args, made, planned, here.transport);
    let run = FinishedRun::new(work, done.collect())?;
    Ok(Done::Run(Box::new(run)))
}

/// Computes a network once as the next job of a party that is in a session already; what the flags say of parties is the
/// session's.
///
/// # Errors
/// [`Failure`]: files, models and data that are not as they should be, and what goes wrong between the parties.
pub async fn compute_in(
    args: &Infer,
    given: Option<Vec<Tensor>>,
    seat: &Seat<'_>,
) -> Result<FinishedRun> {
    args.show.begin();
    check_files(args, &[])?;
    let me = seat.session().me();
    let here = Parties {
        count: seat.session().parties(),
        me: Some(me),
        transport: seat.transport(),
    };
    let (model, data, made) = read(args, given, &here)?;
    let inputs = own_inputs(args, &model, &made, data, here.me)?;
    let threads = seat.session().common_threads(here.count)?;
    let planned = plan(args, &made, threads)?;
    let work = planned_run(args, made, planned, here.transport);
    let program = work.made.network.program();
    let asked = (work.made).asked_of_clients(&args.model, work.planned.executable.mix());
    let inputs = (args.clients).bring(&asked, program, seat.server(), inputs)?;
    let given = work.planned.given(program, &inputs, me)?;
    drop(inputs);
    let run = async |job, observe: &dyn Fn(Progress)| {
        let deadline = args.net.patience.deadline;
        let run = (work.planned).run(seat.session(), job, given, deadline, observe);
        run.await
    };
    let (job, ended) = seat.job(run).await?;
    if let Some(server) = seat.server() {
        let (shares, run) = (ended.outputs.shares(), seat.session().run_id(job));
        (args.clients).leave(&asked, server, shares, run, args.show.quiet)?;
    }
    let figures = vec![RunFigures::from(&ended.outcome)];
    FinishedRun::new(work, vec![(me, (ended, figures))])
}

/// Whether the data comes from here. With all parties here, a client's is given in the clear as well.
fn has_data(args: &Infer, me: Option<Party>) -> bool {
    me.is_none_or(|me| me == DATA && args.data.is_none())
}

/// Reads the model and the data, and makes them a program.
fn read(
    args: &Infer,
    given: Option<Vec<Tensor>>,
    here: &Parties,
) -> Result<(Model, Files, ModelProgram)> {
    let brings = !args.inputs.is_empty() || given.is_some();
    let foreign = here.me.filter(|_| !has_data(args, here.me) && brings);
    if let Some(me) = foreign {
        let owner = args.data.as_deref();
        let owner = owner.map_or(DATA.into(), |client| Client::new(client).into());
        let me = me.index();
        return Err(Unfit::Foreign { me, owner }.into());
    }
    let data = Files::read_or(given, &args.inputs, &args.pixels)?;
    let model = model_program::read(&args.model, &args.sizes)?;
    let batch = batch(args, &model, &data)?;
    if here.me.is_some() && batch.is_none() && !args.sizes.is_given() {
        return Err(Unfit::Batch.into());
    }
    let made = made(args, here.count, &model, batch, &data)?;
    Ok((model, data, made))
}

/// The weights and the data, as far as those here have them.
fn own_inputs(
    args: &Infer,
    model: &Model,
    made: &ModelProgram,
    data: Files,
    me: Option<Party>,
) -> Result<Inputs> {
    let is_here = |party| me.is_none_or(|me| me == party);
    let mut inputs = Inputs::new();
    if is_here(MODEL) {
        inputs = made.with_weights(&args.model, inputs)?;
    }
    if has_data(args, me) {
        let data = data.tensors(&made.graph)?;
        let weights = is_here(MODEL) || args.public_model;
        range::check(args, model, made, &data, weights)?;
        inputs = made.with_data(&data, inputs)?;
    }
    Ok(inputs)
}

/// The batch that the flags or the data tell.
fn batch(args: &Infer, model: &Model, data: &Files) -> Result<Option<usize>> {
    match (args.batch, data.batch(model.inputs()), data.first()) {
        (Some(given), Some(found), Some(path)) if given != found => Err(Unfit::OtherBatch {
            path: path.to_owned(),
            given,
            found,
        }
        .into()),
        (given, found, _) => Ok(given.or(found)),
    }
}

/// The model as a program, and its plan.
fn made(
    args: &Infer,
    parties: usize,
    model: &Model,
    batch: Option<usize>,
    data: &Files,
) -> Result<ModelProgram> {
    let mut options = args.sizes.options(batch);
    let told = data.tell_sizes(model, &mut options);
    told.map_err(|error| Unfit::Import {
        path: args.model.clone(),
        error,
    })?;
    let asked = Asked {
        model: &args.model,
        parties,
        options,
        data: args.data.as_deref(),
        to: &args.to,
        public_model: args.public_model,
        number: args.numbers,
        check_range: args.check_range,
        dishonest_majority: args.dishonest_majority,
    };
    let mut made = ModelProgram::new(model, &asked)?;
    made.asked.extend(repeat_fact(args.repeat));
    check_files(args, &made.names())?;
    Ok(made)
}

/// Plans for parties of this many threads each.
fn plan(args: &Infer, made: &ModelProgram, threads: usize) -> Result<Planned> {
    let (over, asked) = (over(args), &made.asked);
    let planned = made.plan(&ways(args, &over, asked, threads), args.protocol)?;
    if args.protocol.is_none() && !args.show.quiet {
        let parties = made.roles.parties;
        say(chosen(planned.mix, parties));
    }
    Ok(planned)
}

fn planned_run(
    args: &Infer,
    made: ModelProgram,
    planned: Planned,
    transport: TransportArg,
) -> PlannedRun {
    PlannedRun {
        made,
        planned,
        transport,
        local: args.who.local.is_some(),
    }
}

/// Tells which mix is taken where nobody named one, before anything runs: above all, whom it trusts.
fn chosen(mix: Mix, parties: usize) -> String {
    let corrupted = match (mix.withstands(parties), parties) {
        (1, 2) => "either of the two parties may be corrupted".to_owned(),
        (1, _) => format!(
            "at most one of the {parties} parties may be corrupted (--dishonest-majority for more)"
        ),
        _ => "all parties but one may be corrupted".to_owned(),
    };
    format!("computing in {mix}, the fastest by an estimate (--protocol): {corrupted}, semi-honest")
}

fn over(args: &Infer) -> Over {
    let mut over = args.over.clone();
    over.or_network(&args.net.network, args.who.local.is_some());
    over
}

fn ways<'a>(args: &Infer, over: &'a Over, asked: &'a [Fact], threads: usize) -> Ways<'a> {
    Ways {
        over,
        threads,
        matrices: args.matrices,
        stored: args.ahead.is_stored(),
        asked,
    }
}

/// The stores that later runs take correlations from.
fn store(args: &Infer, planned: &Planned, runs: u32, threads: usize) -> StoreSpec {
    ways(args, &over(args), &[], threads).store(planned, runs)
}

fn tell_prepared(args: &Infer, done: &Prepared) -> Result<()> {
    if !args.show.quiet && !args.show.to_stdout() {
        write_result(done.text().as_bytes(), None)?;
    }
    args.show.write(done)
}

/// The results of a run, and what it cost.
pub struct FinishedRun {
    work: PlannedRun,
    done: Vec<(Party, Ended)>,
    figures: Vec<PartyStatistics>,
    results: Option<Vec<(String, Tensor)>>,
}

impl FinishedRun {
    fn new(work: PlannedRun, done: Vec<(Party, (Ended, Vec<RunFigures>))>) -> Result<Self> {
        let (done, figures) = apart(done);
        let mut results: Option<Vec<(String, Tensor)>> = None;
        let outputs: Vec<Outputs> = done
            .iter()
            .map(|(_, ended)| ended.outputs.clone())
            .collect();
        let program = work.made.network.program();
        // Clients get what all parties' shares give.
        let clients = (outputs.len() == program.parties())
            .then(|| program.put_together(&outputs).map_err(Failure::bug));
        for outputs in outputs.iter().chain(&clients.transpose()?) {
            let named = work.made.network.results(outputs).into_iter();
            let own: Option<Vec<_>> = named.map(|(name, one)| Some((name, one?))).collect();
            if own.is_some() && results.is_some() && own != results {
                return Err(Failure::bug("parties got different results"));
            }
            results = results.or(own);
        }
        let left = |(_, ended): &(Party, Ended)| work.made.network.may_have_left(&ended.outputs);
        if done.iter().filter_map(left).any(|left| left) {
            return Err(Unfit::Left {
                numbers: NumberArg(work.made.number),
            }
            .into());
        }
        Ok(Self {
            work,
            done,
            figures,
            results,
        })
    }

    /// The results by the outputs' names, where a party here, or a client of parties that are all here, gets them.
    pub fn results(&self) -> Option<&[(String, Tensor)]> {
        self.results.as_deref()
    }

    /// Statistics as JSON, without the results.
    ///
    /// # Errors
    /// [`Failure`]: figures that JSON cannot hold.
    pub fn statistics(&self, args: &Infer) -> Result<String> {
        json_text(&self.told(args, self.layers()))
    }

    /// Writes the page that the flags ask for, if they do.
    ///
    /// # Errors
    /// [`Failure`]: a file that cannot be written.
    pub fn write_report(&self, args: &Infer) -> Result<()> {
        match &args.report {
            Some(path) => write_report(args, self, &self.layers(), path),
            None => Ok(()),
        }
    }

    /// Who saw what of the model, the data and the results.
    pub fn seen(&self, args: &Infer) -> Seen {
        report::ReportedRun {
            args,
            work: &self.work,
            done: &self.done,
            layers: &[],
        }
        .scene()
        .seen()
    }

    fn layers(&self) -> Vec<LayerFigures> {
        let names = self.work.made.network.layers().iter();
        let names: Vec<_> = names
            .map(|layer| (layer.name.clone(), layer.operator.clone()))
            .collect();
        layers::layers(&names, &self.work.planned, &self.done)
    }

    fn told(&self, args: &Infer, layers: Vec<LayerFigures>) -> Statistics {
        let work = &self.work;
        let plan = &work.planned.plan;
        let count_of = work.made.graph.count();
        let number = work.made.number;
        let mut parties: Vec<Option<PartyStatistics>> = vec![None; work.made.roles.parties];
        for figures in &self.figures {
            parties[figures.party] = Some(figures.clone());
        }
        Statistics {
            madrigal: env!("CARGO_PKG_VERSION"),
            provenance: Provenance::of_process(),
            model: args.model.display().to_string(),
            protocol: work.planned.mix.to_string(),
            protocol_chosen: args.protocol.is_none(),
            numbers: [number.bits(), number.fraction()],
            batch: work.made.batch(),
            parameters: count_of.parameters,
            multiplications: count_of.multiplications,
            phases: plan.phases().to_string(),
            correlations: origin(plan),
            threads: plan.spec().threads,
            transport: work.transport,
            network: args.net.network.clone(),
            peak_rss_bytes: peak_rss_bytes(),
            results: Vec::new(),
            repeat: args.repeat,
            parties,
            layers,
        }
    }
}

/// Tells results and costs where the flags want them.
fn tell(args: &Infer, run: &FinishedRun) -> Result<()> {
    let FinishedRun { results, done, .. } = run;
    if !args.show.quiet && !args.show.to_stdout() {
        // Nobody is left to tell if standard error is gone.
        let _ = writeln!(stderr(), "{}", costs(&run.figures));
        if let (None, Some((me, _))) = (results, done.first()) {
            let _ = writeln!(stderr(), "madrigal: {me} gets no result (--to)");
        }
    }
    match (results, named(args.output.as_deref())) {
        (Some(results), Some(path)) => results::write(results, path)?,
        (Some(results), None) if !args.show.to_stdout() => {
            write_result(results::text(results).as_bytes(), None)?;
        }
        _ => {}
    }
    if args.report.is_none() && !args.show.json && args.show.stats.is_none() {
        return Ok(());
    }
    let layers = run.layers();
    if let Some(path) = &args.report {
        write_report(args, run, &layers, path)?;
    }
    let untold = named(args.output.as_deref()).is_none() && args.show.to_stdout();
    let told = results.iter().flatten().filter(|_| untold);
    let told = told.map(|(name, tensor)| Numbers {
        name: name.clone(),
        shape: tensor.shape().to_vec(),
        numbers: tensor.to_f64(),
    });
    args.show.write(&Statistics {
        results: told.collect(),
        ..run.told(args, layers)
    })
}

fn write_report(
    args: &Infer,
    run: &FinishedRun,
    layers: &[LayerFigures],
    path: &Path,
) -> Result<()> {
    let page = report::page(&report::ReportedRun {
        args,
        work: &run.work,
        done: &run.done,
        layers,
    });
    files::write_bytes("write the report", path, page)
}
