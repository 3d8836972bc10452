//! Programs that follow from what the parties tell each other when they meet: how many rows each has, who holds what.

use std::sync::{Mutex, PoisonError};

use clap::Args;
use madrigal_core::Party;
use madrigal_engine::Progress;
use madrigal_net::bytes::Bytes;
use madrigal_net::{Error, Fact, Session, exchange, exchange_each};
use madrigal_program::lower::Mix;
use madrigal_program::{Computation, Inputs, Outputs, Planned};

use crate::ahead::JOB;
use crate::arguments::Unsound;
use crate::explain::explain_plan;
use crate::failure::{Failure, Result};
use crate::flags::{Net, Who};
use crate::over::Over;
use crate::present::Present;
use crate::runs::{PartyStatistics, RunFigures, apart};
use crate::threads::Threads;
use crate::ways::{MatricesArg, Ways};

/// The flags of such commands.
#[derive(Args, Debug)]
pub struct AgreedFlags {
    /// Which protocol does arithmetic and which the rest: A+B, B, or among three parties R; the same at all parties
    /// [default: what takes the least time by an estimate for the number of parties and the network of --link]
    #[arg(long, value_name = "MIX", help_heading = "Work")]
    pub mix: Option<Mix>,

    /// Threads that each party computes with; auto: as many as there are cores for it here, which the parties on this machine
    /// share. Parties may have different numbers: what they do together is planned for the least of them
    #[arg(long, value_name = "auto|N", default_value_t, help_heading = "Work")]
    pub threads: Threads,

    /// The line between the parties.
    #[command(flatten, next_help_heading = "Work")]
    pub over: Over,

    /// Who takes part.
    #[command(flatten)]
    pub who: Who,

    /// Network between them.
    #[command(flatten)]
    pub net: Net,
}

/// A program that parties make of what they tell each other. What it is made of is the same at all of them.
pub trait Agreeing: Sync {
    /// Facts that are made of what all have told.
    type Facts: Send;

    /// Facts that the parties compare before they tell anything, by the flags that they come from.
    fn asked(&self) -> Vec<Fact>;

    /// The public text of a party here.
    fn card(&self, me: Party) -> Vec<u8>;

    /// The program that follows from all parties' texts, in order.
    ///
    /// # Errors
    /// [`Failure`]: texts that do not go together; all parties come to the same.
    fn program(&self, cards: &[Vec<u8>]) -> Result<(Computation, Self::Facts)>;

    /// The inputs of a party here.
    ///
    /// # Errors
    /// [`Failure`]: values that do not fit what the parties agreed on.
    fn inputs(&self, me: Party, facts: &Self::Facts) -> Result<Inputs>;
}

/// A run that has ended.
pub struct AgreedRun<F> {
    /// The plan.
    pub planned: Planned,
    /// Facts that were made of what all parties have told.
    pub facts: F,
    /// Outputs; all parties here have the same.
    pub outputs: Outputs,
    /// Costs of the parties here, without those of telling each other.
    pub parties: Vec<PartyStatistics>,
}

/// Everything that parties of one process have in common.
struct Common<F> {
    program: Computation,
    facts: F,
    planned: Planned,
}

impl AgreedFlags {
    /// Settles flags that follow from others.
    pub fn settle(&mut self) {
        let here = self.who.local.is_some();
        self.over.or_network(&self.net.network, here);
    }

    /// Number of threads of each party here.
    fn own_threads(&self) -> usize {
        self.threads.resolve(self.who.here())
    }

    /// Runs the parties here, which tell each other texts of at most `most` bytes.
    ///
    /// # Errors
    /// [`Failure`] of `agreeing`, and what goes wrong between the parties.
    pub fn run<A: Agreeing>(
        &self,
        agreeing: &A,
        present: Present<'_>,
        most: usize,
        quiet: bool,
    ) -> Result<AgreedRun<A::Facts>> {
        let asked = agreeing.asked();
        let common: Mutex<Option<Common<A::Facts>>> = Mutex::new(None);
        let deadline = self.net.patience.deadline;
        let work = async |session: &Session, observe: &dyn Fn(Progress)| {
            let me = session.me();
            let threads = session.common_threads(session.parties())?;
            let card = agreeing.card(me);
            let cards = tell(session, &asked, card, most, deadline).await?;
            let ready = || -> Result<_> {
                let mut common = common.lock().unwrap_or_else(PoisonError::into_inner);
                // The first party here plans for all.
                let common = match &mut *common {
                    Some(common) => common,
                    none => none.insert(self.common(agreeing, &asked, &cards, threads)?),
                };
                let inputs = agreeing.inputs(me, &common.facts)?;
                let given = common.planned.given(&common.program, &inputs, me)?;
                Ok((common.planned.clone(), given))
            };
            let (planned, given) = ready().inspect_err(|_| {
                // The others are not told what is wrong: it may be about values.
                let reason = "what it brings does not fit what the parties have told each other";
                session.fail(Error::Ended {
                    reason: reason.to_owned(),
                });
            })?;
            let run = planned.run(session, JOB + 1, given, deadline, observe);
            let ended = run.await?;
            let figures = RunFigures::from(&ended.outcome);
            Ok((ended.outputs, vec![figures]))
        };
        let ended = present.run(self.own_threads(), quiet, work)?;
        let (ended, parties) = apart(ended);
        let common = common.into_inner().unwrap_or_else(PoisonError::into_inner);
        let common = common.ok_or_else(|| Failure::bug("a run without a program"))?;
        let mut outputs = ended.into_iter().map(|(_, outputs)| outputs);
        let first = outputs.next();
        let first = first.ok_or_else(|| Failure::bug("a run without parties"))?;
        match outputs.all(|other| other.arrays().eq(first.arrays())) {
            true => Ok(AgreedRun {
                planned: common.planned,
                facts: common.facts,
                outputs: first,
                parties,
            }),
            false => Err(Failure::bug("parties got different outputs")),
        }
    }

    /// Says what the program costs that follows from these texts of all parties.
    ///
    /// # Errors
    /// [`Failure`] of `agreeing`; rates that cannot be measured.
    pub fn explain<A: Agreeing>(
        &self,
        agreeing: &A,
        name: &str,
        parties: usize,
        json: bool,
    ) -> Result<String> {
        let asked = agreeing.asked();
        let cards = Party::all(parties).map(|party| agreeing.card(party));
        let cards = cards.collect::<Vec<_>>();
        let common = self.common(agreeing, &asked, &cards, self.own_threads())?;
        let network = &self.net.network;
        explain_plan(name, &common.planned, &[], network, json)
    }

    fn common<A: Agreeing>(
        &self,
        agreeing: &A,
        asked: &[Fact],
        cards: &[Vec<u8>],
        threads: usize,
    ) -> Result<Common<A::Facts>> {
        let (program, facts) = agreeing.program(cards)?;
        let ways = Ways {
            over: &self.over,
            threads,
            matrices: MatricesArg::Auto,
            stored: false,
            asked,
        };
        let planned = match self.mix {
            Some(mix) => ways.plan(&program, mix, None),
            None => {
                let fastest = ways.fastest(&program, Mix::usual(program.parties()));
                fastest.map(|(_, planned)| planned)
            }
        };
        let planned = planned.map_err(|error| Unsound::plan(&error))?;
        Ok(Common {
            program,
            facts,
            planned,
        })
    }
}

/// Tells all other parties a text, and gives all parties' texts, in their order, once all have compared the facts.
async fn tell(
    session: &Session,
    facts: &[Fact],
    own: Vec<u8>,
    most: usize,
    deadline: Option<std::time::Duration>,
) -> Result<Vec<Vec<u8>>> {
    if own.len() > most {
        return Err(Failure::bug("a text that is longer than parties take"));
    }
    let job = session.job(JOB, facts, deadline).await?;
    let mut channels = job.context().step("cards").channels()?;
    let length = (own.len() as u64).to_le_bytes().to_vec();
    let lengths = exchange(&mut channels, length, size_of::<u64>()).await?;
    let mut expected = Vec::new();
    for (channel, length) in channels.iter().zip(&lengths) {
        let length = <[u8; 8]>::try_from(&length[..]).map_err(Failure::bug)?;
        let length = u64::from_le_bytes(length);
        if length > most as u64 {
            let told =
                format!("it tells {length} bytes of its table, and at most {most} are taken");
            return Err(channel.refuse(told).into());
        }
        expected.push(length as usize);
    }
    let text = Bytes::from(own.clone());
    let peers: Vec<Party> = channels.iter().map(|channel| channel.peer()).collect();
    let (sends, receives): (Vec<_>, Vec<_>) = channels
        .iter_mut()
        .zip(expected)
        .map(|(channel, expected)| ((&mut channel.tx, text.clone()), (&mut channel.rx, expected)))
        .unzip();
    let received = exchange_each(sends, receives).await?;
    drop(channels);
    job.finish().await?;
    let mut cards = vec![Vec::new(); session.parties()];
    for (peer, card) in peers.into_iter().zip(received) {
        cards[peer.index()] = card.to_vec();
    }
    cards[session.me().index()] = own;
    Ok(cards)
}
