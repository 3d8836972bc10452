//! A trained network on data that nobody shows, by all parties here or as one of several machines.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use madrigal_app::everyone::everyone;
use madrigal_app::figures::{PartyFigures, costs, peak_rss_bytes};
use madrigal_app::ways::Ways;
use madrigal_core::Party;
use madrigal_engine::Progress;
use madrigal_net::Session;
use madrigal_nn::secret::{EncodeError, Format, Network as Model, Roles, UnfitError};
use madrigal_nn::{Graph, ImportError, Limits, Model as File, Options, Tensor, npy};
use madrigal_program::lower::Mix;
use madrigal_program::{Ended, ExecuteError, Inputs, Planned, Rounding};
use serde::Serialize;

use crate::args::{Infer, Receivers, TransportArg};
use crate::exit::{Failure, Result, Status, Usage};
use crate::files::{self, Output, named};
use crate::progress::Bars;
use crate::reach::Network;
use crate::remote::RemoteParty;
use crate::stats::write_result;

/// Who owns the model, and who the data.
const MODEL: Party = Party::new(0);
const DATA: Party = Party::new(1);

/// What can be wrong with a model, its data, and what is asked of them.
#[derive(Debug, thiserror::Error)]
pub enum Unfit {
    #[error("{}: {error}", path.display())]
    Import { path: PathBuf, error: ImportError },
    #[error("{}: {problem}", path.display())]
    File { path: PathBuf, problem: String },
    #[error("{}: {error}", path.display())]
    Secret { path: PathBuf, error: UnfitError },
    #[error("{}: {error}{}", path.display(), remedy(error))]
    Weights { path: PathBuf, error: EncodeError },
    #[error("--input: {error}{}", remedy(error))]
    Data { error: EncodeError },
    #[error(
        "--input: the model has {expected} inputs, and {found} files are named; name one for each, in its order"
    )]
    Inputs { expected: usize, found: usize },
    #[error("the owner of the data is party 1: two parties at least; correct --local or --parties")]
    Alone,
    #[error("--input: this is party {me}, and the data is party 1's; leave the flag out")]
    Foreign { me: usize },
    #[error(
        "how many inputs are computed at once is not known here; give --batch, the same as the data's first dimension"
    )]
    Batch,
    #[error("--batch {given}: {} has {found} in its first dimension", path.display())]
    OtherBatch {
        path: PathBuf,
        given: usize,
        found: usize,
    },
    #[error("{0}; give another --protocol or number of parties")]
    Plan(ExecuteError),
}

/// The flag that mends it.
fn remedy(error: &EncodeError) -> &'static str {
    match error {
        EncodeError::Weight { .. } | EncodeError::Input { .. } => "; see --numbers",
        _ => "",
    }
}

impl madrigal_app::failure::Fault for Unfit {
    fn status(&self) -> Status {
        match self {
            Self::Import { .. } | Self::File { .. } | Self::Secret { .. } => Status::File,
            Self::Weights { .. } | Self::Data { .. } | Self::OtherBatch { .. } => Status::File,
            _ => Status::Usage,
        }
    }
}

impl From<Unfit> for Failure {
    fn from(unfit: Unfit) -> Self {
        Self::other(unfit)
    }
}

/// What a run has come to, as JSON has it.
#[derive(Serialize)]
struct Report {
    madrigal: &'static str,
    model: String,
    protocol: String,
    /// Bits of a number, and those after the point.
    numbers: [u32; 2],
    batch: Option<usize>,
    parameters: u64,
    multiplications: u64,
    phases: String,
    correlations: String,
    threads: usize,
    transport: TransportArg,
    network: String,
    /// Of the processes here, all parties of a local run together.
    peak_rss_bytes: Option<u64>,
    /// Where no file and no text has them.
    results: Vec<Numbers>,
    /// Party `i` is entry `i`; `null` for those that ran elsewhere.
    parties: Vec<Option<PartyFigures>>,
}

/// One result, row by row.
#[derive(Serialize)]
struct Numbers {
    name: String,
    shape: Vec<usize>,
    numbers: Vec<f64>,
}

/// All that is known before anything is sent.
struct Made {
    graph: Graph,
    network: Model,
    planned: Planned,
    mix: Mix,
}

pub fn run(args: &Infer) -> Result<()> {
    match (args.who.local, args.who.party) {
        (Some(parties), _) => by_all(args, parties),
        (None, Some(_)) => by_one(args),
        (None, None) => Err(madrigal_app::failure::Usage::NobodyHere.into()),
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(Failure::file("read", path))
}

/// The arrays that the flags name.
fn data(args: &Infer) -> Result<Vec<Tensor>> {
    let of = |path: &PathBuf| {
        npy::read(&read(path)?).map_err(|error| {
            let (path, problem) = (path.clone(), error.to_string());
            Unfit::File { path, problem }.into()
        })
    };
    args.inputs.iter().map(of).collect()
}

/// The batch that the flags or the data tell.
fn batch(args: &Infer, data: &[Tensor]) -> Result<Option<usize>> {
    let found = data.first().and_then(|tensor| tensor.shape().first());
    match (args.batch, found) {
        (Some(given), Some(&found)) if given != found => Err(Unfit::OtherBatch {
            path: args.inputs[0].clone(),
            given,
            found,
        }
        .into()),
        (given, found) => Ok(given.or(found.copied())),
    }
}

impl Made {
    fn new(args: &Infer, parties: usize, batch: Option<usize>) -> Result<Self> {
        if parties <= DATA.index() {
            return Err(Unfit::Alone.into());
        }
        let to = receivers(&args.to, parties)?;
        let path = || args.model.clone();
        let folder = args.model.parent().unwrap_or(Path::new(""));
        let file = File::read_beside(read(&args.model)?, folder, &Limits::default());
        let file = file.map_err(|error| {
            let problem = error.to_string();
            Unfit::File {
                path: path(),
                problem,
            }
        })?;
        let options = Options {
            batch,
            ..Options::default()
        };
        let graph = file.import(&options).map_err(|error| Unfit::Import {
            path: path(),
            error,
        })?;
        let roles = Roles {
            parties,
            model: MODEL,
            data: DATA,
            to,
            public_model: args.public_model,
        };
        let format = Format {
            number: args.numbers.0,
            rounding: Rounding::Exact,
        };
        let network = graph.on_secrets(&roles, format);
        let network = network.map_err(|error| Unfit::Secret {
            path: path(),
            error,
        })?;
        let mix = args.protocol.unwrap_or(match parties {
            2 => Mix::ALPHA_BETA,
            3 => Mix::R,
            _ => Mix::AB,
        });
        let mut over = args.over.clone();
        over.or_network(&args.net.network);
        let ways = Ways {
            over: &over,
            threads: args.threads,
            matrices: args.matrices,
        };
        let planned = ways.plan(network.program(), mix, None);
        Ok(Self {
            graph,
            network,
            planned: planned.map_err(Unfit::Plan)?,
            mix,
        })
    }

    /// Of the outputs.
    fn names(&self) -> Vec<String> {
        let outputs = self.graph.outputs().iter();
        outputs.map(|(name, _)| name.clone()).collect()
    }

    /// The model's weights beside other inputs.
    fn with_weights(&self, args: &Infer, inputs: Inputs) -> Result<Inputs> {
        let inputs = self.network.with_weights(&self.graph, inputs);
        Ok(inputs.map_err(|error| Unfit::Weights {
            path: args.model.clone(),
            error,
        })?)
    }

    fn with_data(&self, data: &[Tensor], inputs: Inputs) -> Result<Inputs> {
        let (expected, found) = (self.graph.inputs().len(), data.len());
        if expected != found {
            return Err(Unfit::Inputs { expected, found }.into());
        }
        Ok((self.network.with_data(data, inputs)).map_err(|error| Unfit::Data { error })?)
    }
}

fn receivers(to: &Receivers, parties: usize) -> Result<Vec<Party>> {
    let party = |&index: &usize| {
        Party::checked(index, parties).map_err(|source| Usage::Party {
            flag: "--to",
            source,
        })
    };
    match to {
        Receivers::All => Ok(Party::all(parties).collect()),
        Receivers::These(to) if to.is_empty() => Err(Usage::NoReceiver.into()),
        Receivers::These(to) => Ok(to
            .iter()
            .map(party)
            .collect::<std::result::Result<_, _>>()?),
    }
}

/// What is to be written: for the outputs of these names, in order, or, as long as these are not known, for one.
fn check_files(args: &Infer, names: &[String]) -> Result<()> {
    let inputs = args.inputs.iter().chain([&args.model]);
    let read = inputs.chain(&args.who.roster).map(PathBuf::as_path);
    let paths = match named(args.output.as_deref()) {
        Some(path) => places(path, names),
        None => Vec::new(),
    };
    let written = paths.iter().map(|path| Output {
        flag: "--output",
        action: "write the result",
        path: Some(path),
    });
    let written: Vec<Output<'_>> = written.chain([args.show.output()]).collect();
    files::check(read, &written)
}

/// Where outputs of these names go: one to the file that is named, several to files beside it.
fn places(path: &Path, names: &[String]) -> Vec<PathBuf> {
    if names.len() < 2 {
        return vec![path.to_owned()];
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let safe = |c: char| match c.is_ascii_alphanumeric() || "-_.".contains(c) {
        true => c,
        false => '_',
    };
    let of = |name: &String| {
        let name: String = name.chars().map(safe).collect();
        path.with_file_name(format!("{stem}-{name}.npy"))
    };
    names.iter().map(of).collect()
}

fn by_all(args: &Infer, parties: usize) -> Result<()> {
    check_files(args, &[])?;
    let data = data(args)?;
    let made = Made::new(args, parties, batch(args, &data)?)?;
    check_files(args, &made.names())?;
    let inputs = made.with_weights(args, Inputs::new())?;
    let inputs = made.with_data(&data, inputs)?;
    let network = Network::parse(&args.net.network)?;
    let transport = args.net.transport.unwrap_or(TransportArg::Tcp);
    let (patience, deadline) = (&args.net.patience, args.net.patience.deadline);
    let bars = Bars::new(parties, args.show.quiet);
    let (planned, program) = (&made.planned, made.network.program());
    let done = everyone(
        transport,
        network,
        parties,
        args.threads,
        patience,
        async |session: &Session| {
            let me = session.me();
            let given = planned.given(program, &inputs, me).map_err(Failure::bug)?;
            let observe = |progress: Progress| bars.update(me.index(), progress.into());
            let done = planned.run(session, 1, given, deadline, &observe).await;
            Ok(done?)
        },
    );
    bars.clear();
    let done: Vec<_> = Party::all(parties).zip(done?).collect();
    tell(args, &made, transport, parties, &done)
}

fn by_one(args: &Infer) -> Result<()> {
    check_files(args, &[])?;
    let party = RemoteParty::new(&args.who, &args.net, 0)?.with_threads(args.threads);
    let (parties, me) = (party.parties(), Party::new(party.me()));
    if me != DATA && !args.inputs.is_empty() {
        return Err(Unfit::Foreign { me: me.index() }.into());
    }
    let data = data(args)?;
    let Some(batch) = batch(args, &data)? else {
        return Err(Unfit::Batch.into());
    };
    let made = Made::new(args, parties, Some(batch))?;
    check_files(args, &made.names())?;
    let mut inputs = Inputs::new();
    if me == MODEL {
        inputs = made.with_weights(args, inputs)?;
    }
    if me == DATA {
        inputs = made.with_data(&data, inputs)?;
    }
    let given = made.planned.given(made.network.program(), &inputs, me);
    let given = given.map_err(Failure::bug)?;
    drop((inputs, data));
    let (transport, deadline) = (party.transport(), party.patience().deadline);
    let bars = Bars::new(1, args.show.quiet);
    let observe = |progress: Progress| bars.update(0, progress.into());
    bars.meeting();
    let done = party.in_session(async |session| {
        bars.met();
        let done = made
            .planned
            .run(session, 1, given, deadline, &observe)
            .await;
        Ok(done?)
    });
    bars.clear();
    tell(args, &made, transport, parties, &[(me, done?)])
}

/// The results, and what they cost.
fn tell(
    args: &Infer,
    made: &Made,
    transport: TransportArg,
    count: usize,
    done: &[(Party, Ended)],
) -> Result<()> {
    let mut results: Option<Vec<(String, Tensor)>> = None;
    for (_, ended) in done {
        let named = made.network.results(&ended.outputs).into_iter();
        let own: Option<Vec<_>> = named.map(|(name, one)| Some((name, one?))).collect();
        if own.is_some() && results.is_some() && own != results {
            return Err(Failure::bug("parties got different results"));
        }
        results = results.or(own);
    }
    let figures: Vec<PartyFigures> = done
        .iter()
        .map(|(party, ended)| PartyFigures::new(*party, &ended.outcome))
        .collect();
    if !args.show.quiet && !args.show.to_stdout() {
        // Nobody is left to tell if standard error is gone.
        let _ = writeln!(std::io::stderr(), "{}", costs(&figures));
        if let (None, Some((me, _))) = (&results, done.first()) {
            let _ = writeln!(std::io::stderr(), "madrigal: {me} gets no result (--to)");
        }
    }
    match (&results, named(args.output.as_deref())) {
        (Some(results), Some(path)) => write(results, path)?,
        (Some(results), None) if !args.show.to_stdout() => {
            write_result(text(results).as_bytes(), None)?;
        }
        _ => {}
    }
    let untold = named(args.output.as_deref()).is_none() && args.show.to_stdout();
    let told = results.iter().flatten().filter(|_| untold);
    let told = told.map(|(name, tensor)| Numbers {
        name: name.clone(),
        shape: tensor.shape().to_vec(),
        numbers: tensor.to_f64(),
    });
    let plan = &made.planned.plan;
    let count_of = made.graph.count();
    let number = args.numbers.0;
    let mut parties: Vec<Option<PartyFigures>> = vec![None; count];
    for figures in figures {
        parties[figures.party] = Some(figures);
    }
    args.show.write(&Report {
        madrigal: env!("CARGO_PKG_VERSION"),
        model: args.model.display().to_string(),
        protocol: made.mix.to_string(),
        numbers: [number.bits(), number.fraction()],
        batch: made.graph.inputs().first().and_then(|(_, id)| {
            let shape = &made.graph.value(*id).ty.shape;
            shape.first().copied()
        }),
        parameters: count_of.parameters,
        multiplications: count_of.multiplications,
        phases: plan.phases().to_string(),
        correlations: match plan.needs().is_empty() {
            true => "none".to_owned(),
            false => plan.spec().origin.to_string(),
        },
        threads: args.threads,
        transport,
        network: args.net.network.clone(),
        peak_rss_bytes: peak_rss_bytes(),
        results: told.collect(),
        parties,
    })
}

fn write(results: &[(String, Tensor)], path: &Path) -> Result<()> {
    let names: Vec<String> = results.iter().map(|(name, _)| name.clone()).collect();
    for (path, (_, tensor)) in places(path, &names).iter().zip(results) {
        fs::write(path, npy::write(tensor)).map_err(Failure::file("write the result", path))?;
    }
    Ok(())
}

/// A line for each row; of several numbers first the place of the greatest, counted from 0.
fn text(results: &[(String, Tensor)]) -> String {
    let mut text = String::new();
    for (name, tensor) in results {
        let _ = writeln!(text, "{name}:");
        let columns = tensor
            .shape()
            .get(1..)
            .unwrap_or(&[])
            .iter()
            .product::<usize>();
        let numbers = tensor.to_f64();
        for (at, row) in numbers.chunks(columns.max(1)).enumerate() {
            // The first of equal ones.
            let places = (0..row.len()).rev();
            let greatest = places.max_by(|&a, &b| row[a].total_cmp(&row[b]));
            let _ = write!(text, "  {at}:");
            if let (Some(place), true) = (greatest, row.len() > 1) {
                let _ = write!(text, " {place}, of");
            }
            row.iter().for_each(|number| {
                let _ = write!(text, " {number:.4}");
            });
            text.push('\n');
        }
    }
    text
}
