//! `precompute`: correlations made ahead, by all parties on this machine or as one real party.

use crate::args::{Precompute, TransportArg};
use crate::exit::Result;
use crate::figures::print;
use crate::jobs::local::LocalRun;
use crate::jobs::{Own, Precomputation, Prepared, Task};
use crate::numbers::{bytes, count, seconds, table};
use crate::remote::RemoteParty;
use crate::stores::{StoreFiles, Unfinished};
use madrigal_app::runs::PartyRuns;

pub fn run(args: Precompute) -> Result<()> {
    args.who.check()?;
    let (id, figures) = match args.who.local {
        Some(parties) => make_here(&args, parties)?,
        None => make_with_others(&args)?,
    };
    if args.quiet {
        return Ok(());
    }
    tell(&args, &id, &figures)
}

fn task(args: &Precompute, parties: usize) -> Task {
    let mut over = args.over.clone();
    over.or_network(&args.net.network, args.who.local.is_some());
    Task::Precompute(Precomputation {
        parties,
        triples: args.triples.to_string(),
        over,
        matrices: args.matrices,
        threads: own_threads(args),
    })
}

/// Number of threads of each party here.
fn own_threads(args: &Precompute) -> usize {
    args.threads.resolve(args.who.here())
}

fn make_here(args: &Precompute, parties: usize) -> Result<(Vec<u8>, Vec<PartyRuns>)> {
    let stores = (0..parties).map(|me| StoreFiles::local(&args.store, me));
    let _unfinished: Vec<Unfinished> = stores.map(StoreFiles::new_store).collect();
    let own = |me| Own {
        store: Some(StoreFiles::local(&args.store, me)),
        ..Own::default()
    };
    let outcome = LocalRun {
        task: &task(args, parties),
        circuit: None,
        circuit_text: None,
        own: (0..parties).map(own).collect(),
        transport: args.net.transport.unwrap_or(TransportArg::Tcp),
        network: &args.net.network,
        patience: &args.net.patience,
        quiet: args.quiet,
    }
    .start()?;
    Ok((outcome.output, outcome.figures))
}

fn make_with_others(args: &Precompute) -> Result<(Vec<u8>, Vec<PartyRuns>)> {
    let party = RemoteParty::new(&args.who, &args.net, 0)?.with_threads(own_threads(args));
    let store = StoreFiles::remote(&args.store, args.store_key.as_deref(), party.identity());
    let _unfinished = store.clone().new_store();
    let own = Own {
        store: Some(store),
        ..Own::default()
    };
    let task = task(args, party.parties());
    let mut prepared = Prepared::new(&task, party.me(), None, &own)?;
    let outcome = prepared.run(party, args.quiet)?;
    let id = outcome.output.map(|id| id.text()).transpose()?;
    Ok((id.unwrap_or_default(), vec![outcome.figures]))
}

fn tell(args: &Precompute, id: &[u8], figures: &[PartyRuns]) -> Result<()> {
    let mut made = table(&["kind", "made"]);
    for (kind, number) in args.triples.kinds() {
        made.add_row([kind.to_string(), count(number as u64)]);
    }
    let runs = || figures.iter().flat_map(|party| &party.runs);
    let time = runs().map(|run| run.total_seconds).fold(0.0, f64::max);
    let sent = runs().map(|run| run.wire_bytes_sent).max().unwrap_or(0);
    let size = u64::try_from(args.triples.share_bytes()).unwrap_or(u64::MAX);
    print(
        format!(
            "Store {} in {}: {} for each party, made in {}, each sent at most {}.\n\n{made}\n",
            String::from_utf8_lossy(id).trim_end(),
            args.store.display(),
            bytes(size),
            seconds(time),
            bytes(sent),
        )
        .as_bytes(),
    )
}
