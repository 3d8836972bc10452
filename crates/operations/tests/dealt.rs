//! Circuits whose values come as shares of somebody who is no party, and whose outputs are handed to such: right in each
//! protocol at the declared cost, and refused where shares do not go together.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::sync::Arc;

use madrigal_circuit::{Netlist, Rows};
use madrigal_core::{Cost, Party};
use madrigal_engine::{Element, Outcome, Plan, RunError, Shares, Sharing, Sort};
use madrigal_kernels::{Block, Prg};
use madrigal_net::transport::mesh;
use madrigal_net::{Error, Fact, Session, block_on};
use madrigal_operations::{
    BACKENDS, Backend, Brought, Circuit, CircuitJob, HandOut, RowsOutput, THREE_HALVES,
    run_shared_rows,
};
use madrigal_testkit::{World, seed};

use crate::common::{netlist, own, random_rows};

type Ended = Result<Outcome<RowsOutput>, RunError>;

/// What each party brings: its rows, and its shares with their facts.
type Bring = (Rows, Vec<(Shares, Fact)>);

fn run(plan: &Plan, brought: Vec<Bring>, seed: u64) -> Vec<Ended> {
    let parties = brought.len();
    let world = World::light(parties, seed);
    std::thread::scope(|scope| {
        let all = Party::all(parties).zip(mesh(parties)).zip(brought);
        let threads: Vec<_> = all
            .map(|((me, transport), (inputs, dealt))| {
                let world = &world;
                scope.spawn(move || {
                    block_on(async {
                        let session = Session::new(world.config(me), transport);
                        session.greet().await?;
                        let brought = Brought {
                            dealt,
                            ..Brought::from(inputs)
                        };
                        let ended = run_shared_rows(&session, 1, plan, brought, None, &|_| {});
                        let ended = ended.await;
                        session.close().await;
                        ended
                    })
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    })
}

/// Protocols that compute circuits, with all ways to garble.
fn protocols() -> impl Iterator<Item = &'static Backend> {
    let all = BACKENDS.iter().chain([&THREE_HALVES]);
    all.filter(|backend| backend.bits.is_some())
}

/// Bits of one of the circuit's input values.
fn value(netlist: &Netlist, all: &Rows, value: usize) -> Rows {
    let before: u32 = netlist.inputs()[..value].iter().sum();
    let mut rows = Rows::new(netlist.inputs()[value] as usize, all.lanes());
    for row in 0..rows.rows() {
        rows.row_mut(row)
            .copy_from_slice(all.row(before as usize + row));
    }
    rows
}

/// What parties bring of these inputs, of which those without an owner are dealt.
fn brought(job: &CircuitJob, netlist: &Netlist, all: &Rows, rng: &mut Prg) -> Vec<Bring> {
    let mut brought: Vec<Bring> = Party::all(job.parties)
        .map(|me| (own(job, all, me), Vec::new()))
        .collect();
    for (place, _) in job
        .owners
        .iter()
        .enumerate()
        .filter(|(_, owner)| owner.is_none())
    {
        let clear = Shares::rows(Sharing::PUBLIC, &value(netlist, all, place));
        let shares = job.protocol.kept.deal(&clear, job.parties, rng);
        for ((_, dealt), share) in brought.iter_mut().zip(shares) {
            let fact = (format!("submission of input {place}"), "one".to_owned());
            dealt.push((share, fact));
        }
    }
    brought
}

fn check(job: &CircuitJob, netlist: &Netlist, seed: u64) {
    let plan = Plan::new(job.spec().unwrap()).unwrap();
    let mut rng = Prg::new(Block::new(seed, 9));
    let inputs = random_rows(netlist.input_bits() as usize, job.lanes, &mut rng);
    let expected = netlist.evaluate(&inputs).unwrap();
    let about = format!(
        "{} of {} parties, seed {seed}",
        job.protocol.name, job.parties
    );
    let ended = run(&plan, brought(job, netlist, &inputs, &mut rng), seed);
    let mut handed: Vec<Vec<Shares>> = vec![Vec::new(); netlist.outputs().len()];
    for (me, ended) in Party::all(job.parties).zip(ended) {
        let ended = ended.unwrap_or_else(|error| panic!("{me}: {error}; {about}"));
        let spent = Cost {
            setup: ended.setup.spent,
            online: ended.online.spent,
        };
        assert_eq!(spent, plan.cost(me), "{me}: {about}");
        let opened = ended.outputs.opened;
        let wanted = job.to.contains(&me).then_some(&expected);
        assert!(opened.as_ref() == wanted, "{me}: {about}");
        let shares = ended.outputs.handed;
        assert_eq!(shares.len(), if job.hands_out { handed.len() } else { 0 });
        handed
            .iter_mut()
            .zip(shares)
            .for_each(|(all, share)| all.push(share));
    }
    if job.hands_out {
        let kept = &Backend::of(HandOut::sharing(Element::Bits(1))).kept;
        let mut at = 0;
        for shares in handed {
            let value = kept.combine(&shares).unwrap().to_rows().unwrap();
            for row in 0..value.rows() {
                assert_eq!(value.row(row), expected.row(at), "{about}");
                at += 1;
            }
        }
    }
}

#[test]
fn shares_come_in_and_go_out_in_each_protocol() {
    let seed = seed();
    let netlist = netlist("int_add8_size.bristol");
    let circuit = Arc::new(Circuit::new(&netlist));
    for protocol in protocols() {
        for parties in [2, 3, 5]
            .into_iter()
            .filter(|parties| protocol.parties.contains(parties))
        {
            let usual = CircuitJob {
                protocol,
                lanes: 67,
                ..CircuitJob::new(Arc::clone(&circuit), parties)
            };
            let last = Party::new(parties - 1);
            for (owners, to, hands_out) in [
                (vec![None, None], vec![], true),
                (vec![Some(last), None], vec![last], true),
                (vec![None, Some(last)], vec![last], false),
                (vec![Some(last), Some(last)], vec![], true),
            ] {
                let job = CircuitJob {
                    owners,
                    to,
                    hands_out,
                    ..usual.clone()
                };
                check(&job, &netlist, seed);
            }
        }
    }
}

fn job(protocol: Sharing, parties: usize, circuit: &Arc<Circuit>) -> CircuitJob {
    CircuitJob {
        protocol: Backend::of(protocol),
        owners: vec![None, Some(Party::new(0))],
        hands_out: true,
        lanes: 3,
        ..CircuitJob::new(Arc::clone(circuit), parties)
    }
}

#[test]
fn shares_that_do_not_go_together_are_refused() {
    let seed = seed();
    let netlist = netlist("int_add8_size.bristol");
    let circuit = Arc::new(Circuit::new(&netlist));
    let job = job(Sharing::B, 3, &circuit);
    let plan = Plan::new(job.spec().unwrap()).unwrap();
    let mut rng = Prg::new(Block::new(seed, 9));
    let inputs = random_rows(netlist.input_bits() as usize, job.lanes, &mut rng);
    let mut other = brought(&job, &netlist, &inputs, &mut rng);
    other[1].1[0].1.1 = "another".to_owned();
    for ended in run(&plan, other, seed) {
        let told = ended.unwrap_err().to_string();
        assert!(told.contains("submission of input 0"), "{told}");
    }
    // Each of these is found before anything is sent; the parties after the first one then miss it.
    let sort = |width, lanes| Sort::new(Sharing::B, Element::Bits(width), lanes);
    let fact = || ("submission of input 0".to_owned(), "one".to_owned());
    for wrong in [
        vec![],
        vec![(Shares::zeros(sort(8, 4)), fact())],
        vec![(Shares::zeros(sort(7, 3)), fact())],
        vec![
            (Shares::zeros(sort(8, 3)), fact()),
            (Shares::zeros(sort(8, 3)), fact()),
        ],
    ] {
        let mut other = brought(&job, &netlist, &inputs, &mut rng);
        other
            .iter_mut()
            .for_each(|(_, dealt)| dealt.clone_from(&wrong));
        for ended in run(&plan, other, seed) {
            assert!(matches!(ended, Err(RunError::Values { .. })), "{ended:?}");
        }
    }
}

/// Rows alone would drop shares.
#[test]
fn rows_alone_take_no_shares() {
    let circuit = Arc::new(Circuit::new(&netlist("int_add8_size.bristol")));
    for job in [
        CircuitJob {
            hands_out: false,
            ..job(Sharing::B, 2, &circuit)
        },
        CircuitJob {
            owners: vec![Some(Party::new(0)); 2],
            ..job(Sharing::Y, 2, &circuit)
        },
    ] {
        let plan = Plan::new(job.spec().unwrap()).unwrap();
        let ended = World::light(2, 1).run(|context| {
            let plan = plan.clone();
            async move {
                let rows = Rows::new(0, 3);
                let ended = madrigal_operations::evaluate_rows(&context, &plan, rows, &|_| {});
                Ok::<_, Error>(ended.await.unwrap_err().to_string())
            }
        });
        for (told, _) in ended {
            assert!(told.contains("run it by `run_program`"), "{told}");
        }
    }
}
