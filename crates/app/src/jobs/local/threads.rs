//! Each party a thread of this process, over memory.

use std::thread;

use madrigal_core::Party;
use madrigal_engine::serve;
use madrigal_net::transport::mesh;
use madrigal_net::{Session, block_on};

use super::job::{LocalOutcome, LocalRun, differing};
use crate::failure::{Failure, Result, first_cause};
use crate::jobs::fault::PartyFailure;
use crate::jobs::party::{PartyOutcome, Prepared, Runs};
use crate::progress::Bars;
use crate::reach::Network;

pub(super) fn run(local: &mut LocalRun<'_>, bars: &Bars) -> Result<LocalOutcome> {
    let parties = local.task.parties();
    let prepare = |me: usize| {
        let (circuit, own) = (local.circuit.clone(), &local.own[me]);
        Prepared::new(local.task, me, circuit, own)
    };
    let mut prepared = (0..parties).map(prepare).collect::<Result<Vec<_>>>()?;
    local.own.clear();
    let local = &*local;
    let network = Network::parse(local.network)?;
    let runs = Runs {
        first_job: 1,
        patience: local.patience,
    };
    let all = parties + local.task.helpers();
    let take_part = |prepared: &mut Prepared, transport| {
        let me = prepared.me;
        let observe =
            |progress: madrigal_engine::Progress| bars.update(me.index(), progress.into());
        let work = async |session: &Session| prepared.work(session, runs, &observe).await;
        let threads = local.task.own_threads();
        block_on(network.in_session(me, all, transport, local.patience, threads, work))
    };
    let take_part = &take_part;
    let results: Vec<Result<PartyOutcome>> = thread::scope(|scope| {
        let mut transports = mesh(all);
        for (i, transport) in transports.split_off(parties).into_iter().enumerate() {
            let me = Party::new(parties + i);
            let deadline = local.patience.deadline;
            // The parties tell what goes wrong with it.
            let work = async move |session: &Session| Ok(serve(session, deadline).await?);
            scope.spawn(move || {
                block_on(network.in_session(me, all, transport, local.patience, 0, work))
            });
        }
        let threads: Vec<_> = prepared
            .iter_mut()
            .zip(transports)
            .map(|(prepared, transport)| scope.spawn(move || take_part(prepared, transport)))
            .collect();
        let join = |thread: thread::ScopedJoinHandle<'_, _>| {
            thread
                .join()
                .unwrap_or_else(|_| Err(Failure::bug("a party's thread panicked")))
        };
        threads.into_iter().map(join).collect()
    });

    let mut outcomes = Vec::new();
    let mut failures = Vec::new();
    for (party, result) in Party::all(parties).zip(results) {
        match result {
            Ok(outcome) => outcomes.push(outcome),
            Err(failure) => failures.push((party, failure)),
        }
    }
    if let Some((party, failure)) = first_cause(failures, |(_, failure)| failure.is_echo()) {
        return Err(PartyFailure {
            party,
            status: failure.status(),
            message: failure.to_string(),
        }
        .into());
    }
    together(local, outcomes)
}

fn together(local: &LocalRun<'_>, mut outcomes: Vec<PartyOutcome>) -> Result<LocalOutcome> {
    let spokesman = local.spokesman();
    let output = outcomes[spokesman].output.take();
    let output = output.ok_or_else(|| Failure::bug("no result"))?;
    for (party, outcome) in outcomes.iter().enumerate() {
        if outcome
            .output
            .as_ref()
            .is_some_and(|theirs| *theirs != output)
        {
            return Err(differing(party, spokesman));
        }
    }
    Ok(LocalOutcome {
        output: output.text()?,
        figures: outcomes
            .into_iter()
            .map(|outcome| outcome.figures)
            .collect(),
    })
}
