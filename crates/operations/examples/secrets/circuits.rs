//! Jobs of the engine: a circuit in protocols B and R, from the parties' inputs to the outputs.

use std::sync::Arc;

use madrigal_circuit::{Limits, Netlist, Rows};
use madrigal_core::Party;
use madrigal_engine::{Opening, Phases, Plan, PlanSpec, Sharing};
use madrigal_kernels::marks;
use madrigal_net::transport::mesh;
use madrigal_net::{Session, block_on};
use madrigal_operations::{Backend, Circuit, CircuitJob, run_rows};

use crate::{Outcome, Path, generator, opened, right, world};

pub(crate) const PATHS: &[Path] = &[
    ("circuit/B", || {
        let direct = |spec| spec;
        job(Sharing::B, 2, direct)?;
        job(Sharing::B, 3, |spec| PlanSpec {
            opening: Opening::Relay,
            phases: Some(Phases::Interleaved),
            ..spec
        })
    }),
    ("circuit/R", || job(Sharing::R, 3, |spec| spec)),
];

/// Lanes that fill no word.
const LANES: usize = 100;

/// An adder: XOR, NOT and AND in layers.
fn netlist() -> Result<Netlist, Box<dyn std::error::Error>> {
    let name = "int_add8_size.bristol";
    let path = format!(
        "{}/../circuit/tests/data/{name}",
        env!("CARGO_MANIFEST_DIR")
    );
    Ok(Netlist::read(
        name,
        &std::fs::read(path)?,
        &Limits::default(),
    )?)
}

fn job(sharing: Sharing, parties: usize, change: impl Fn(PlanSpec) -> PlanSpec) -> Outcome {
    let netlist = netlist()?;
    let job = CircuitJob {
        protocol: Backend::of(sharing),
        lanes: LANES,
        ..CircuitJob::new(Arc::new(Circuit::new(&netlist)), parties)
    };
    let plan = Plan::new(change(job.spec()?))?;
    let mut inputs = Rows::new(netlist.input_bits() as usize, LANES);
    generator(90).fill(inputs.as_bytes_mut());
    inputs.clear_padding();
    let (job, plan, all, world) = (&job, &plan, &inputs, &world(parties));
    let outputs: Vec<Result<Option<Rows>, String>> = std::thread::scope(|scope| {
        let threads: Vec<_> = Party::all(parties)
            .zip(mesh(parties))
            .map(|(me, transport)| {
                scope.spawn(move || {
                    block_on(async {
                        let session = Session::new(world.config(me), transport);
                        session.greet().await.map_err(|error| error.to_string())?;
                        let report =
                            run_rows(&session, 1, plan, own(job, all, me), None, &|_| {}).await;
                        session.close().await;
                        Ok(report.map_err(|error| error.to_string())?.outputs)
                    })
                })
            })
            .collect();
        let joined = threads.into_iter().map(|thread| thread.join());
        joined
            .map(|outcome| outcome.unwrap_or_else(|_| Err("a party panicked".into())))
            .collect()
    });
    marks::public(inputs.as_bytes_mut());
    let expected = netlist.evaluate(&inputs)?;
    for outputs in outputs {
        let outputs = outputs?.ok_or("every party gets the outputs")?;
        opened("outputs", outputs.as_bytes())?;
        right("outputs", outputs == expected)?;
    }
    Ok(())
}

/// A party's own input rows out of all.
fn own(job: &CircuitJob, all: &Rows, me: Party) -> Rows {
    let values = || job.circuit.inputs().iter().zip(&job.owners);
    let widths = values().filter(|(_, owner)| **owner == Some(me));
    let wires: u32 = widths.map(|(width, _)| width).sum();
    let mut own = Rows::new(wires as usize, all.lanes());
    let (mut from, mut to) = (0, 0);
    for (&width, &owner) in values() {
        for wire in from..from + width as usize {
            if owner == Some(me) {
                own.row_mut(to).copy_from_slice(all.row(wire));
                to += 1;
            }
        }
        from += width as usize;
    }
    own
}
