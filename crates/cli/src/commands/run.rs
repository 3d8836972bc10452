//! `run`: a circuit, by all parties on this machine or as one real party. HyCC programs: [`super::hycc`].

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use madrigal_app::clients::Server;
use madrigal_operations::Circuit;

use crate::args::{CorrelationsArg, InputFile, RunFlags, TransportArg};
use crate::exit::{Result, Usage};
use crate::files::{self, Output, named};
use crate::jobs::local::LocalRun;
use crate::jobs::{
    Input, Job, Own, Prepared, ReadCircuit, Statistics, Task, asked_of_clients, check_correlations,
    dealt_shares, lanes_of, read_circuit,
};
use crate::remote::RemoteParty;
use crate::show::{write_lines, write_result};
use crate::stores::{StoreFiles, check_local};

pub fn run(mut args: RunFlags) -> Result<()> {
    args.show.begin();
    if args.store.is_some() {
        match args.work.how.correlations {
            None | Some(CorrelationsArg::Store) => {}
            Some(_) => return Err(Usage::TwoOrigins.into()),
        }
        args.work.how.correlations = Some(CorrelationsArg::Store);
    } else if args.work.how.origin() == CorrelationsArg::Store {
        check_correlations(&args.work.how)?;
        return Err(Usage::NoStore.into());
    }
    (args.work.how).settle(&args.net.network, args.who.local);
    if args.work.hycc.hycc.is_some() {
        return super::hycc::run(&args);
    }
    check_files(&args)?;
    args.who.check()?;
    match args.who.local {
        Some(parties) => run_local(&args, parties),
        None => run_remote(&args),
    }
}

/// Checks the files that are to be written, before anything is read.
fn check_files(args: &RunFlags) -> Result<()> {
    let output = named(args.output.as_deref());
    let result = match (args.who.party, &args.work.to) {
        // The flags may be the same at all parties; who gets no result writes none.
        (Some(me), to) if !to.names(me) => {
            if let Some(path) = output {
                let note = "gets no result (--to), so nothing is written to";
                let _ = writeln!(
                    crate::terminal::stderr(),
                    "madrigal: party {me} {note} {}",
                    path.display()
                );
            }
            None
        }
        _ if output.is_none() && args.show.to_stdout() => return Err(Usage::TwoOutputs.into()),
        _ => output,
    };
    let inputs = args.inputs.iter().map(|input| &input.path);
    let others = [&args.who.roster, &args.store_key];
    let read = others.into_iter().flatten().chain(inputs);
    let read = read.map(PathBuf::as_path).chain([args.work.circuit()]);
    let read = read.chain(args.clients.files());
    let result = Output {
        flag: "--output",
        action: "write the result",
        path: result,
    };
    files::check(read, &[result, args.show.output()])
}

fn run_local(args: &RunFlags, parties: usize) -> Result<()> {
    let path = args.work.circuit();
    if let Some(store) = &args.store {
        check_local(store, parties)?;
    }
    let mut text = read_circuit(path)?;
    let read = ReadCircuit::of(path, &text, args.work.widths.as_deref())?;
    if args.work.widths.is_some() {
        // The parties' processes read it again.
        text = read.write()?;
    }
    let circuit = Arc::new(read.compiled());
    drop(read);
    let mut job = args.work.job(parties, &circuit)?;
    if job.has_clients() || args.clients.is_used() {
        return Err(Usage::LocalClients.into());
    }
    let files = local_inputs(&args.inputs, &job, &circuit)?;
    job.lanes = count_lanes(&files, args.work.lanes)?;
    job.repeat = args.repeat;
    let plan = job.plan(Arc::clone(&circuit))?;
    let transport = args.net.transport.unwrap_or(TransportArg::Tcp);
    let own = |(me, input)| Own {
        input,
        store: args
            .store
            .as_ref()
            .map(|store| StoreFiles::local(store, me)),
        dealt: Vec::new(),
    };
    let own = files.into_iter().enumerate().map(own).collect();
    let outcome = LocalRun {
        task: &Task::Compute(job),
        circuit: Some(circuit),
        circuit_text: Some(text),
        own,
        transport,
        network: &args.net.network,
        patience: &args.net.patience,
        quiet: args.show.quiet,
    }
    .start()?;
    write_result(&outcome.output, named(args.output.as_deref()))?;
    let statistics = Statistics::new(&plan, transport, &args.net.network, &outcome.figures);
    args.show.tell(&statistics)
}

/// Each party's file, for every party that needs one.
fn local_inputs(given: &[InputFile], job: &Job, circuit: &Circuit) -> Result<Vec<Option<Input>>> {
    let mut files: Vec<Option<PathBuf>> = vec![None; job.parties];
    for input in given {
        let Some(party) = input.party else {
            return Err(Usage::NamelessInput {
                path: input.path.clone(),
            }
            .into());
        };
        madrigal_app::failure::Usage::checked("--input", &[party], job.parties)?;
        if files[party].replace(input.path.clone()).is_some() {
            return Err(Usage::TwoInputs { party }.into());
        }
    }
    let check = |(party, file)| read_input(party, file, job, circuit);
    files.into_iter().enumerate().map(check).collect()
}

fn read_input(
    party: usize,
    file: Option<PathBuf>,
    job: &Job,
    circuit: &Circuit,
) -> Result<Option<Input>> {
    let values = job.values_of(party, circuit).len();
    match file {
        Some(_) if values == 0 => Err(Usage::NeedlessInput { party }.into()),
        None if values > 0 => {
            let circuit = job.circuit.name();
            Err(Usage::NoInput {
                party,
                values,
                circuit,
            }
            .into())
        }
        Some(path) => Input::read(&path).map(Some),
        None => Ok(None),
    }
}

/// All files must have the same number of lines, which is the number of lanes.
pub fn count_lanes(inputs: &[Option<Input>], flag: Option<u64>) -> Result<u64> {
    let flag = flag.map(|lanes| ("--lanes".to_owned(), lanes));
    let inputs = inputs.iter().flatten();
    let lanes = same_lanes(flag.into_iter().chain(inputs.map(lanes_of_file)))?;
    // A circuit without inputs gives the same in every lane.
    Ok(lanes.unwrap_or(1))
}

fn lanes_of_file(input: &Input) -> (String, u64) {
    (input.name.clone(), input.lanes())
}

/// The number of lanes that all of these have.
fn same_lanes(all: impl IntoIterator<Item = (String, u64)>) -> Result<Option<u64>> {
    let mut first: Option<(String, u64)> = None;
    for (name, lanes) in all {
        match first {
            None => first = Some((name, lanes)),
            Some((_, known)) if known == lanes => {}
            Some((first, first_lanes)) => {
                return Err(Usage::LanesDiffer {
                    first,
                    first_lanes,
                    second: name,
                    second_lanes: lanes,
                }
                .into());
            }
        }
    }
    Ok(first.map(|(_, lanes)| lanes))
}

fn run_remote(args: &RunFlags) -> Result<()> {
    let helpers = args.work.how.helpers();
    let party =
        RemoteParty::new(&args.who, &args.net, helpers)?.with_threads(args.work.how.own_threads());
    let circuit = Arc::new(args.work.read()?.compiled());
    let mut job = args.work.job(party.parties(), &circuit)?;
    let me = party.me();
    let mut file = None;
    for input in &args.inputs {
        if let Some(party) = input.party.filter(|&party| party != me) {
            return Err(Usage::ForeignInput { party, me }.into());
        }
        if file.replace(input.path.clone()).is_some() {
            return Err(Usage::TwoInputs { party: me }.into());
        }
    }
    let input = read_input(me, file, &job, &circuit)?;
    let asked = asked_of_clients(&job, &circuit, None)?;
    let server = Server::from(&party);
    let shares = args.clients.shares(&asked, &server)?;
    let flag = args.work.lanes.map(|lanes| ("--lanes".to_owned(), lanes));
    let own = input.as_ref().map(lanes_of_file);
    let dealt = lanes_of(&circuit, &asked, &shares);
    let dealt = dealt
        .into_iter()
        .map(|(name, lanes)| (format!("--shared-input {name}"), lanes));
    let lanes = same_lanes(flag.into_iter().chain(own).chain(dealt))?;
    job.lanes = lanes.ok_or(Usage::LanesUnknown { party: me })?;
    job.repeat = args.repeat;
    let transport = party.transport();
    let dealt = dealt_shares(&circuit, &asked, shares);
    let asked = asked_of_clients(&job, &circuit, Some(job.lanes))?;
    let key = args.store_key.as_deref();
    let store = args
        .store
        .as_ref()
        .map(|store| StoreFiles::remote(store, key, party.identity()));
    let own = Own {
        input,
        dealt,
        store,
    };
    let mut prepared = Prepared::new(&Task::Compute(job), me, Some(Arc::clone(&circuit)), &own)?;
    drop(own);
    let outcome = prepared.run(party, args.show.quiet)?;
    if let Some(handed) = &outcome.handed {
        let shares = handed.for_files(&circuit);
        let shares = shares.iter().map(Some);
        (args.clients).leave(&asked, &server, shares, handed.run, args.show.quiet)?;
    }
    if let Some(output) = &outcome.output {
        write_lines(&|to| output.write_to(to), named(args.output.as_deref()))?;
    }
    let plan = prepared.planned()?;
    let statistics = Statistics::new(plan, transport, &args.net.network, &[outcome.figures]);
    args.show.tell(&statistics)
}
