//! Jobs as the engine runs them: right against the oracle, at the declared cost, for every number of
//! parties, opening and order of phases.

use std::sync::Arc;

use madrigal_circuit::{Limits, Netlist, Rows};
use madrigal_core::{Cost, Party};
use madrigal_engine::{Circuit, JobSpec, Opening, Phases, Plan, Report, RunError, run};
use madrigal_kernels::{Block, Prg};
use madrigal_net::transport::mesh;
use madrigal_net::{Session, block_on};
use madrigal_testkit::{World, seed};

fn netlist(name: &str) -> Netlist {
    let path = format!(
        "{}/../circuit/tests/data/{name}",
        env!("CARGO_MANIFEST_DIR")
    );
    let text = std::fs::read(path).unwrap();
    Netlist::read(name, &text, &Limits::default()).unwrap()
}

fn random_rows(rows: usize, lanes: usize, prg: &mut Prg) -> Rows {
    let mut random = Rows::new(rows, lanes);
    prg.fill(random.as_bytes_mut());
    random.clear_padding();
    random
}

/// A party's own input rows out of all.
fn own(plan: &Plan, all: &Rows, me: Party) -> Rows {
    let mut own = Rows::new(plan.input_bits_of(me), all.lanes());
    let (mut from, mut to) = (0, 0);
    for (&width, &owner) in plan.spec().circuit.inputs().iter().zip(&plan.spec().owners) {
        for wire in from..from + width as usize {
            if owner == me {
                own.row_mut(to).copy_from_slice(all.row(wire));
                to += 1;
            }
        }
        from += width as usize;
    }
    own
}

/// Runs `plan` as all parties; checks outputs and costs.
fn check(plan: &Plan, netlist: &Netlist, seed: u64) {
    let spec = plan.spec();
    let mut prg = Prg::new(Block::new(seed, 7));
    let inputs = random_rows(netlist.input_bits() as usize, spec.lanes, &mut prg);
    let expected = netlist.evaluate(&inputs).unwrap();
    let world = World::new(spec.parties, seed);
    let reports: Vec<Result<Report, RunError>> = std::thread::scope(|scope| {
        let threads: Vec<_> = Party::all(spec.parties)
            .zip(mesh(spec.parties))
            .map(|(me, transport)| {
                let (world, inputs) = (&world, own(plan, &inputs, me));
                scope.spawn(move || {
                    block_on(async {
                        let session = Session::new(world.config(me), transport);
                        session.greet().await?;
                        let report = run(&session, 1, plan, &inputs, None, &|_| {}).await;
                        session.close().await;
                        report
                    })
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    let about = format!("{} for {} parties, {plan:?}", netlist.name(), spec.parties);
    for (me, report) in Party::all(spec.parties).zip(reports) {
        let report = report.unwrap_or_else(|error| panic!("{me}: {error}"));
        match report.outputs {
            Some(outputs) => assert!(
                outputs == expected && spec.to.contains(&me),
                "{me}: {about}"
            ),
            None => assert!(!spec.to.contains(&me), "{me}: {about}"),
        }
        let spent = Cost {
            setup: report.setup.spent,
            online: report.online.spent,
        };
        assert_eq!(spent, plan.cost(me), "{me}: {about}");
    }
}

struct Case<'a> {
    circuit: &'a str,
    parties: usize,
    lanes: usize,
    to: &'a [usize],
    opening: Opening,
    phases: Phases,
    memory: usize,
}

impl Case<'_> {
    fn check(&self, seed: u64) {
        let netlist = netlist(self.circuit);
        let circuit = Arc::new(Circuit::new(&netlist));
        let values = circuit.inputs().len();
        let spec = JobSpec {
            parties: self.parties,
            owners: (0..values)
                .map(|value| Party::new(value % self.parties))
                .collect(),
            to: self.to.iter().map(|&party| Party::new(party)).collect(),
            circuit,
            lanes: self.lanes,
            opening: self.opening,
            phases: Some(self.phases),
            memory: self.memory,
        };
        check(&Plan::new(spec).unwrap(), &netlist, seed);
    }
}

const CASE: Case<'static> = Case {
    circuit: "adder64.txt",
    parties: 2,
    lanes: 10,
    to: &[0, 1],
    opening: Opening::Direct,
    phases: Phases::Sequential,
    memory: 1 << 30,
};

#[test]
fn every_number_of_lanes_for_two_parties() {
    let seed = seed();
    for lanes in [1, 2, 3, 7, 8, 9, 63, 64, 65, 100, 511, 512, 1000] {
        Case { lanes, ..CASE }.check(seed);
    }
}

#[test]
fn every_number_of_parties_and_opening() {
    let seed = seed();
    for parties in 2..=5 {
        for opening in [Opening::Direct, Opening::Relay] {
            for to in [
                &[0][..],
                &[parties - 1],
                &[0, parties - 1],
                &(0..parties).collect::<Vec<_>>(),
            ] {
                Case {
                    parties,
                    opening,
                    to,
                    ..CASE
                }
                .check(seed);
            }
        }
    }
}

#[test]
fn parts_and_blocks_in_both_orders_of_phases() {
    let seed = seed();
    for parties in [2, 3] {
        for (phases, memory) in [
            (Phases::Sequential, 1 << 30),
            (Phases::Interleaved, 1 << 20),
            (Phases::Interleaved, 1 << 30),
        ] {
            for lanes in [1, 30, 70_000] {
                let circuit = "zero_equal.txt";
                Case {
                    parties,
                    lanes,
                    phases,
                    memory,
                    circuit,
                    to: &[0],
                    ..CASE
                }
                .check(seed);
            }
        }
    }
}

#[test]
fn circuits_without_ands_and_with_constants() {
    let seed = seed();
    for circuit in ["handmade_eq_const.txt", "handmade_mux8_mand.txt"] {
        for parties in [2, 3] {
            Case {
                circuit,
                parties,
                to: &[1],
                ..CASE
            }
            .check(seed);
        }
    }
}

#[test]
fn aes_for_three_parties() {
    Case {
        circuit: "aes_128.txt",
        parties: 3,
        lanes: 100,
        to: &[1],
        ..CASE
    }
    .check(seed());
}
