//! Questions whose answers are numbers: how many keys both lists have, and what payloads of these add up to. Nobody learns which they are.
//!
//! Both lists are put into bins, and a program on secrets goes on from there ([`madrigal_psi::BinsPlan`], [`madrigal_psi_programs`]).

use std::slice;

use madrigal_app::failure::{Failure, Result};
use madrigal_app::ways::{MatricesArg, Ways};
use madrigal_core::{Cost, Party, Phase, Zeroizing};
use madrigal_engine::{Progress, Shares};
use madrigal_kernels::Block;
use madrigal_lists::Listed;
use madrigal_net::{Context, Session, on_threads};
use madrigal_noise::Noise;
use madrigal_program::lower::Mix;
use madrigal_program::{Array, Client, Computation, Ended, Inputs, Program};
use madrigal_psi::{BinsPlan, Sizes, receive_bins, send_bins};
use madrigal_psi_programs::{Ask, Asked, Matched, Parts, Question as Numbers, check_payloads};

use crate::cells::CELLS;
use crate::failure::{Unmatched, give_up};
use crate::question::{Question, Told};
use crate::task::Task;

/// Numbers that a party learns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Answer {
    /// Keys that both lists have, if that was asked for. With noise, which is not cut, it may be below 0, and more than either list has.
    pub keys: Option<i64>,
    /// Sum of each party's payloads over these keys, where it has payloads and sums were asked for: in units of the last place, 2^-64 and
    /// more being left out.
    pub sums: [Option<i64>; 2],
}

/// One party's inputs of the program that comes after the bins.
pub struct InBins {
    /// Bytes that both parties have, and no other run.
    pub run: [u8; 32],
    /// Number of bins.
    pub bins: usize,
    /// The party whose keys are in the bins.
    pub receiver: Party,
    /// Whether each party has payloads, by the parties' order.
    pub payloads: [bool; 2],
    /// Tags that the receiver found, or that the sender drew.
    pub tags: Zeroizing<Vec<u64>>,
    /// Masked payloads that the receiver found, or masks that the sender drew; empty if the sender has no payloads.
    pub masked: Zeroizing<Vec<u64>>,
    /// Payloads of the receiver's own keys, by their bins; empty if it has none, and at the sender.
    pub own: Zeroizing<Vec<u64>>,
    /// Bin of each of the receiver's keys, in the order of their digests; empty at the sender.
    pub places: Zeroizing<Vec<u32>>,
}

madrigal_core::opaque!(InBins);

/// Sizes of both lists, and whether they have payloads, by the parties' order.
pub(crate) struct Known {
    pub(crate) sizes: [u64; 2],
    pub(crate) payloads: [bool; 2],
}

/// Digests of a whole list, and its payloads.
struct Whole {
    digests: Zeroizing<Vec<Block>>,
    payloads: Zeroizing<Vec<u64>>,
}

/// Checks that no sum of payloads of `keys` keys leaves 64 bits.
pub(crate) fn check_sums(listed: &Listed, keys: u64) -> Result<(), Unmatched> {
    for cell in 0..CELLS {
        let part = listed.partition(cell)?;
        let checked = check_payloads(part.values().unwrap_or_default(), keys);
        // The error has the payload, which is for nobody's eyes.
        checked.map_err(|error| Unmatched::Payload {
            keys,
            most: error.most,
        })?;
    }
    Ok(())
}

fn whole(listed: &Listed) -> Result<Whole, Unmatched> {
    let keys = listed.keys() as usize;
    let of_payloads = if listed.source().numbers().is_some() {
        keys
    } else {
        0
    };
    let mut whole = Whole {
        digests: Zeroizing::new(Vec::with_capacity(keys)),
        payloads: Zeroizing::new(Vec::with_capacity(of_payloads)),
    };
    for cell in 0..CELLS {
        let part = listed.partition(cell)?;
        whole.digests.extend_from_slice(part.digests());
        if let Some(values) = part.values() {
            whole
                .payloads
                .extend(values.iter().map(|&value| value as u64));
        }
    }
    Ok(whole)
}

/// Puts both lists into bins.
pub(crate) async fn in_bins(
    context: &Context,
    known: &Known,
    receiver: Party,
    listed: &Listed,
    threads: usize,
) -> Result<InBins> {
    let me = context.me();
    let sizes = Sizes::of(known.sizes, receiver);
    let masked = known.payloads[1 - receiver.index()];
    let plan = BinsPlan::new(sizes, masked);
    let plan = plan.map_err(|error| give_up(context, error))?;
    let Whole {
        digests,
        mut payloads,
    } = whole(listed).map_err(|error| give_up(context, error))?;
    let peer = Party::new(1 - me.index());
    let (bins, run) = (plan.bins(), context.step("bins").public_id());
    let (inner, all) = (context.clone(), known.payloads);
    let own = all[receiver.index()];
    // Parties wait for each other here, so each may take all cores.
    let crew = context.crew(threads)?;
    let work = move |_: &dyn Fn(())| {
        let both = async {
            if me != receiver {
                let targets = send_bins(
                    &inner,
                    &plan,
                    peer,
                    &digests,
                    if masked { &payloads } else { &[] },
                )
                .await?;
                return Ok(InBins {
                    run,
                    bins,
                    receiver,
                    payloads: all,
                    tags: targets.tags,
                    // Nobody finds anything by them where there are no payloads.
                    masked: if masked {
                        targets.masks
                    } else {
                        Zeroizing::default()
                    },
                    own: Zeroizing::default(),
                    places: Zeroizing::default(),
                });
            }
            let received = receive_bins(&inner, &plan, peer, &digests).await?;
            let own = match own {
                false => Zeroizing::default(),
                true => {
                    payloads.resize(sizes.receiver as usize, 0);
                    let by_bin = received.placed.by_bin(&payloads);
                    by_bin.map_err(|error| inner.fail(madrigal_net::Error::bug(error)))?
                }
            };
            let mut places = received.placed.bins;
            places.truncate(digests.len());
            Ok(InBins {
                run,
                bins,
                receiver,
                payloads: all,
                tags: received.found.tags,
                masked: received.found.masked,
                own,
                places,
            })
        };
        crew.at_work(|| madrigal_net::block_on(both))
    };
    // Meanwhile this thread serves the sockets.
    let mut made = on_threads(context, [work], |()| ()).await?;
    made.pop()
        .ok_or_else(|| Failure::bug("a thread without a result"))
}

impl InBins {
    fn parts(&self) -> Parts {
        let sender = Party::new(1 - self.receiver.index());
        Parts::new(self.bins, self.receiver, sender)
    }

    /// The inputs that a program of these parts asks this party for, with its number where the program has noise.
    fn inputs(&self, me: Party, program: &Computation, noise: Option<&u64>) -> Result<Inputs> {
        let values = |name: &str| match name {
            "tags found" | "tags drawn" => &self.tags,
            "own payloads" => &self.own,
            _ => &self.masked,
        };
        let own = program
            .inputs()
            .iter()
            .filter(|port| port.owner.party() == Some(me));
        let mut inputs = Inputs::new();
        for port in own {
            let Some(name) = port.name.as_deref() else {
                continue;
            };
            let values = match noise {
                Some(drawn) if name.starts_with("noise") => slice::from_ref(drawn),
                _ => &values(name)[..],
            };
            // Arrays are wiped, and lists on the way to them would not be.
            let array = Array::of(&port.tensor_type.shape, values);
            let array = array.ok_or_else(|| bug(format!("{name} has another length")))?;
            inputs = inputs.with_array(Some(name), array);
        }
        Ok(inputs)
    }
}

/// Outcome of a program's job.
pub(crate) struct Ran {
    pub(crate) ended: Ended,
    pub(crate) cost: Cost,
}

/// Inputs of this party for a program: its part of the bins, and its number where there is noise.
pub(crate) type Brought<'a> = (&'a InBins, Option<&'a u64>);

/// Runs a program on what is brought, as the job with this number.
async fn run(
    session: &Session,
    job: u32,
    task: &Task,
    (in_bins, drawn): Brought<'_>,
    program: &Computation,
    observe: &dyn Fn(Progress),
) -> Result<Ran> {
    let ways = Ways {
        over: &task.over,
        threads: session.common_threads(2)?,
        matrices: MatricesArg::Auto,
        stored: false,
        asked: &[],
    };
    let planned = ways.plan(program, Mix::AB, None).map_err(Failure::bug)?;
    let me = session.me();
    let inputs = in_bins.inputs(me, program, drawn)?;
    let given = planned.given(program, &inputs, me);
    let given = given.map_err(Failure::bug)?;
    let ended = planned
        .run(session, job, given, task.deadline, observe)
        .await?;
    let (setup, online) = (ended.outcome.setup.spent, ended.outcome.online.spent);
    Ok(Ran {
        ended,
        cost: Cost { setup, online },
    })
}

/// The program that answers a question for numbers, where the parties have payloads or not, by their order.
pub(crate) fn asked(
    question: Question,
    to: Told,
    noise: Option<Noise>,
    payloads: [bool; 2],
    parts: Parts,
) -> Result<Asked> {
    let [own, other] = [parts.receiver, parts.sender].map(|party| payloads[party.index()]);
    let mut asks = Vec::new();
    if let Question::Numbers { keys, sums } = question {
        asks.extend(keys.then_some(Ask::Count));
        asks.extend((sums && other).then_some(Ask::Sum));
        asks.extend((sums && own).then_some(Ask::OwnSum));
    }
    let to: Vec<Party> = match to {
        Told::Both => Party::all(2).collect(),
        Told::One(one) => vec![one],
    };
    let question = match noise {
        Some(noise) => Numbers::noisy_count(noise.half()),
        None => Numbers::new(asks),
    };
    question.program(parts, to.as_slice()).map_err(bug)
}

/// A program or a plan that cannot be is a fault of ours.
pub(crate) fn bug(error: impl std::fmt::Display) -> Failure {
    Failure::bug(error)
}

/// Answers a question for numbers.
pub(crate) async fn answer(
    session: &Session,
    job: u32,
    task: &Task,
    known: &Known,
    brought: Brought<'_>,
    observe: &dyn Fn(Progress),
) -> Result<(Option<Answer>, Cost)> {
    let (receiver, parts) = (brought.0.receiver.index(), brought.0.parts());
    let Asked {
        program,
        count,
        noisy_count,
        sum,
        own_sum,
    } = asked(task.question, task.to, task.noise, known.payloads, parts)?;
    let Ran { ended, cost } = run(session, job, task, brought, &program, observe).await?;
    if !task.to.names(session.me()) {
        return Ok((None, cost));
    }
    let mut answer = Answer::default();
    let outputs = &ended.outputs;
    let count = count.and_then(|count| outputs.get(count).first().copied());
    let noisy = noisy_count.and_then(|count| outputs.get(count).first().copied());
    answer.keys = noisy.or_else(|| count.and_then(|count| count.try_into().ok()));
    answer.sums[receiver] = own_sum.and_then(|sum| outputs.get(sum).first().copied());
    answer.sums[1 - receiver] = sum.and_then(|sum| outputs.get(sum).first().copied());
    Ok((Some(answer), cost))
}

/// Makes shares of which keys both have and, where the sender has payloads, of these, which nobody opens: for each bin.
pub async fn shares(
    session: &Session,
    job: u32,
    task: &Task,
    in_bins: &InBins,
    observe: &dyn Fn(Progress),
) -> Result<(Vec<Shares>, Cost)> {
    let mut program = Program::new(2);
    let matched = Matched::new(&mut program, in_bins.parts());
    let keep = Client::new("shares");
    program.open_named("in both", matched.in_both().clone(), &keep);
    if !in_bins.masked.is_empty() {
        let payload = matched.payload(&mut program);
        program.open_named("payloads", matched.values(&payload), &keep);
    }
    let program = program.finish().map_err(Failure::bug)?;
    let Ran { ended, cost } = run(session, job, task, (in_bins, None), &program, observe).await?;
    let shares = ended.outputs.shares().flatten().cloned().collect();
    Ok((shares, cost))
}

/// The cost of a job so far.
pub(crate) fn spent(job: &madrigal_net::Job) -> Cost {
    Cost {
        setup: job.spent(Phase::Setup),
        online: job.spent(Phase::Online),
    }
}
