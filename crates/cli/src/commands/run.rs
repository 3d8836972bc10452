//! `run`: a circuit, by all parties on this machine or as one real party.

use std::path::PathBuf;
use std::sync::Arc;

use madrigal_engine::Circuit;

use crate::args::{CorrelationsArg, InputFile, Run, TransportArg};
use crate::exit::{Result, Usage};
use crate::local::LocalRun;
use crate::party::Prepared;
use crate::remote::RemoteParty;
use crate::stats::{Statistics, write_result};
use crate::stores::StoreFiles;
use crate::work::{Input, Job, Own, Task, read_netlist};

pub fn run(mut args: Run) -> Result<()> {
    if args.store.is_some() {
        match args.work.how.correlations {
            None | Some(CorrelationsArg::Store) => {}
            Some(_) => return Err(Usage::TwoOrigins.into()),
        }
        args.work.how.correlations = Some(CorrelationsArg::Store);
    }
    args.work.how.over.or_network(&args.net.network);
    args.show.check(args.output.as_deref())?;
    match (args.who.local, args.who.party) {
        (Some(parties), _) => run_local(&args, parties),
        (None, Some(_)) => run_remote(&args),
        (None, None) => Err(Usage::NobodyHere.into()),
    }
}

fn run_local(args: &Run, parties: usize) -> Result<()> {
    let circuit = Arc::new(Circuit::new(&read_netlist(&args.work.circuit)?));
    let mut job = Job::from_flags(&args.work, parties, &circuit)?;
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
    };
    let own = files.into_iter().enumerate().map(own).collect();
    let outcome = LocalRun {
        task: &Task::Compute(job),
        circuit: Some(circuit),
        own,
        transport,
        network: &args.net.network,
        patience: &args.net.patience,
        quiet: args.show.quiet,
    }
    .start()?;
    write_result(&outcome.output, args.output.as_deref())?;
    Statistics::new(&plan, transport, &args.net.network, &outcome.figures).tell(&args.show)
}

/// Each party's file, for every party that needs one.
fn local_inputs(given: &[InputFile], job: &Job, circuit: &Circuit) -> Result<Vec<Input>> {
    let mut files: Vec<Option<PathBuf>> = vec![None; job.parties];
    for input in given {
        let Some(party) = input.party else {
            return Err(Usage::NamelessInput {
                path: input.path.clone(),
            }
            .into());
        };
        let of = madrigal_core::Party::checked(party, job.parties);
        of.map_err(|source| Usage::Party {
            flag: "--input",
            source,
        })?;
        if files[party].replace(input.path.clone()).is_some() {
            return Err(Usage::TwoInputs { party }.into());
        }
    }
    let check = |(party, file)| check_input(party, file, job, circuit);
    files.into_iter().enumerate().map(check).collect()
}

fn check_input(party: usize, file: Option<PathBuf>, job: &Job, circuit: &Circuit) -> Result<Input> {
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
        Some(path) => Ok(Input::File(path)),
        None => Ok(Input::None),
    }
}

/// All files must have the same number of lines, which is the number of lanes.
fn count_lanes(inputs: &[Input], flag: Option<u64>) -> Result<u64> {
    let mut first = flag.map(|lanes| ("--lanes".to_owned(), lanes));
    for input in inputs {
        let Input::File(path) = input else { continue };
        let Some(lanes) = input.lanes()? else {
            continue;
        };
        let second = path.display().to_string();
        match &first {
            None => first = Some((second, lanes)),
            Some((_, known)) if *known == lanes => {}
            Some((first, known)) => {
                return Err(Usage::LanesDiffer {
                    first: first.clone(),
                    first_lanes: *known,
                    second,
                    second_lanes: lanes,
                }
                .into());
            }
        }
    }
    // A circuit without inputs gives the same in every lane.
    Ok(first.map_or(1, |(_, lanes)| lanes))
}

fn run_remote(args: &Run) -> Result<()> {
    let helpers = args.work.how.helpers();
    let party =
        RemoteParty::new(&args.who, &args.net, helpers)?.with_threads(args.work.how.threads);
    let circuit = Arc::new(Circuit::new(&read_netlist(&args.work.circuit)?));
    let mut job = Job::from_flags(&args.work, party.parties(), &circuit)?;
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
    let input = [check_input(me, file, &job, &circuit)?];
    job.lanes = match (&input[0], args.work.lanes) {
        (Input::None, None) => return Err(Usage::LanesUnknown { party: me }.into()),
        (_, flag) => count_lanes(&input, flag)?,
    };
    job.repeat = args.repeat;
    let transport = party.transport();
    let [input] = input;
    let key = args.store_key.as_deref();
    let store = args.store.as_ref().map(|store| party.store(store, key));
    let own = Own { input, store };
    let mut prepared = Prepared::new(&Task::Compute(job), me, Some(circuit), &own)?;
    drop(own);
    let outcome = party.run(&mut prepared, args.show.quiet)?;
    if let Some(output) = &outcome.output {
        write_result(output, args.output.as_deref())?;
    }
    let plan = prepared.plan()?;
    Statistics::new(plan, transport, &args.net.network, &[outcome.figures]).tell(&args.show)
}
