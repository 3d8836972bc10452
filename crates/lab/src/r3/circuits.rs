//! Circuits through the engine.

use std::fmt::Write as _;
use std::sync::Arc;

use madrigal_circuit::{Limits, Netlist, Rows};
use madrigal_core::Party;
use madrigal_engine::{Plan, PlanSpec, Sharing};
use madrigal_kernels::{Block, Prg};
use madrigal_net::Session;
use madrigal_operations::{Backend, Circuit, CircuitJob, input_bits_of, run_rows};
use madrigal_protocols::replicated::PARTIES;

use super::ceilings::{Measured, Part};
use super::setting::Setting;
use super::workload::Workload;
use crate::args::{BenchR3, Patience};
use crate::everyone::everyone;
use crate::exit::{Failure, Result};
use crate::known::Known;
use crate::reach::Network;

/// ANDs side by side, and one after the other, of the circuit that is nothing but ANDs.
const WIDTH: usize = 128;
const DEPTH: usize = 64;
/// Lanes of a run that are compared with the evaluation in the clear.
const CHECKED: usize = 64;

pub(super) fn workloads(args: &BenchR3) -> Result<Vec<Workload>> {
    let scaled = |lanes: usize| (lanes as f64 * args.scale).ceil().max(1.0) as usize;
    let (ands, gates) = ands()?;
    let (aes, sha) = (Known::Aes.netlist()?, Known::Sha256.netlist()?);
    Ok(vec![
        workload("and", ands, scaled(1 << 19), gates),
        workload("aes128", aes.clone(), scaled(1 << 19), 1),
        workload("sha256", sha.clone(), scaled(1 << 14), 1),
        workload("aes128/one", aes, 1, 1),
        workload("sha256/one", sha, 1, 1),
    ])
}

/// AES-128 in this many lanes.
pub(super) fn aes(lanes: usize) -> Result<Workload> {
    Ok(workload("aes128", Known::Aes.netlist()?, lanes, 1))
}

/// `WIDTH` ANDs in each of `DEPTH` layers, and their number.
pub fn ands() -> Result<(Netlist, usize)> {
    let gates = WIDTH * DEPTH;
    let mut text = format!(
        "{gates} {}\n2 {} {}\n1 {WIDTH}\n\n",
        WIDTH + gates,
        WIDTH / 2,
        WIDTH / 2
    );
    for gate in 0..gates {
        let (layer, place) = (gate / WIDTH, gate % WIDTH);
        let other = (place + 1 + layer % (WIDTH - 1)) % WIDTH;
        let first = layer * WIDTH;
        let _ = writeln!(
            text,
            "2 1 {} {} {} AND",
            first + place,
            first + other,
            WIDTH + gate
        );
    }
    let netlist = Netlist::read("ANDs", text.as_bytes(), &Limits::default())?;
    Ok((netlist, gates))
}

fn workload(name: &'static str, netlist: Netlist, lanes: usize, ops_per_lane: usize) -> Workload {
    let netlist = Arc::new(netlist);
    let circuit = Arc::new(Circuit::new(&netlist));
    Workload {
        name,
        measure: Box::new(move |setting| {
            let job = CircuitJob {
                protocol: Backend::of(Sharing::R),
                to: vec![Party::new(0)],
                lanes,
                ..CircuitJob::new(Arc::clone(&circuit), PARTIES)
            };
            let plan = Plan::new(PlanSpec {
                threads: setting.threads,
                ..job.spec().map_err(Failure::bug)?
            });
            let plan = plan.map_err(Failure::bug)?;
            let inputs = random(netlist.input_bits() as usize, lanes)?;
            measure(&netlist, (&job, &plan), &inputs, setting, ops_per_lane)
        }),
    }
}

fn random(rows: usize, lanes: usize) -> Result<Rows> {
    let mut seed = [0; 16];
    getrandom::fill(&mut seed).map_err(Failure::bug)?;
    let mut random = Rows::new(rows, lanes);
    Prg::new(Block::from_bytes(seed)).fill(random.as_bytes_mut());
    random.clear_padding();
    Ok(random)
}

fn measure(
    netlist: &Netlist,
    (job, plan): (&CircuitJob, &Plan),
    inputs: &Rows,
    setting: &Setting,
    ops_per_lane: usize,
) -> Result<Measured> {
    let checked = part(inputs, CHECKED.min(job.lanes));
    let expected = netlist.evaluate(&checked).map_err(Failure::bug)?;
    let (expected, own) = (&expected, &own(job, plan, inputs));
    let parties = everyone(
        setting.transport,
        Network::new(None),
        PARTIES,
        plan.spec().threads,
        &Patience::default(),
        async |session: &Session| {
            let own = &own[session.me().index()];
            let mut parts = Vec::new();
            for id in 1..=setting.repeat {
                let report = run_rows(session, id, plan, Arc::clone(own), None, &|_| {}).await;
                let report = report.map_err(Failure::bug)?;
                if let Some(outputs) = &report.outputs
                    && part(outputs, expected.lanes()) != *expected
                {
                    return Err(Failure::bug(format!("{}: a wrong result", netlist.name())));
                }
                parts.push(Part {
                    seconds: report.online.time.as_secs_f64(),
                    bytes: report.online.spent.bytes_sent,
                    aes: report.online.spent.aes_blocks,
                    rounds: report.online.spent.rounds,
                });
            }
            Ok(parts)
        },
    )?;
    Ok(Measured::together(job.lanes * ops_per_lane, &parties))
}

/// The first lanes.
fn part(rows: &Rows, lanes: usize) -> Rows {
    let mut part = Rows::new(rows.rows(), lanes);
    for row in 0..rows.rows() {
        let bytes = part.stride();
        part.row_mut(row).copy_from_slice(&rows.row(row)[..bytes]);
    }
    part.clear_padding();
    part
}

/// Each party's own rows.
fn own(job: &CircuitJob, plan: &Plan, inputs: &Rows) -> Vec<Arc<Rows>> {
    let mut own: Vec<Rows> = Party::all(PARTIES)
        .map(|party| Rows::new(input_bits_of(&plan.spec().graph, party), job.lanes))
        .collect();
    let mut next = [0; PARTIES];
    let mut from = 0;
    let owners = job.owners.iter().flatten();
    for (&width, owner) in job.circuit.inputs().iter().zip(owners) {
        for wire in from..from + width as usize {
            let to = &mut next[owner.index()];
            own[owner.index()]
                .row_mut(*to)
                .copy_from_slice(inputs.row(wire));
            *to += 1;
        }
        from += width as usize;
    }
    own.into_iter().map(Arc::new).collect()
}
