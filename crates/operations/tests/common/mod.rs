//! Circuits and plans for the engine's tests.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)] // helpers; each test uses its part

use std::sync::Arc;

use madrigal_circuit::{Limits, Netlist, Rows};
use madrigal_core::Party;
use madrigal_engine::{Extension, Opening, Origin, Phases};
use madrigal_kernels::Prg;
use madrigal_operations::Circuit;
use madrigal_operations::circuit_job::{CircuitJob, CircuitPlan, Protocol, Scheme};

/// A netlist of crates/circuit's test data.
pub fn netlist(name: &str) -> Netlist {
    let path = format!(
        "{}/../circuit/tests/data/{name}",
        env!("CARGO_MANIFEST_DIR")
    );
    let text = std::fs::read(path).unwrap();
    Netlist::read(name, &text, &Limits::default()).unwrap()
}

pub fn random_rows(rows: usize, lanes: usize, prg: &mut Prg) -> Rows {
    let mut random = Rows::new(rows, lanes);
    prg.fill(random.as_bytes_mut());
    random.clear_padding();
    random
}

/// A party's own input rows out of all.
pub fn own(plan: &CircuitPlan, all: &Rows, me: Party) -> Rows {
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

/// Value i belongs to party i mod N.
pub fn plan(
    netlist: &Netlist,
    parties: usize,
    lanes: usize,
    to: &[usize],
    opening: Opening,
    phases: Phases,
    memory: usize,
) -> CircuitPlan {
    let spec = CircuitJob {
        to: to.iter().map(|&party| Party::new(party)).collect(),
        lanes,
        opening,
        phases: Some(phases),
        memory,
        ..CircuitJob::new(Arc::new(Circuit::new(netlist)), parties)
    };
    CircuitPlan::new(spec).unwrap()
}

/// The same, with a dealer.
pub fn dealt(plan: &CircuitPlan) -> CircuitPlan {
    let spec = CircuitJob {
        origin: Origin::Dealer,
        ..plan.spec().clone()
    };
    CircuitPlan::new(spec).unwrap()
}

/// The same, with correlations from stores.
pub fn stored(plan: &CircuitPlan) -> CircuitPlan {
    let spec = CircuitJob {
        origin: Origin::Store,
        ..plan.spec().clone()
    };
    CircuitPlan::new(spec).unwrap()
}

/// The same, in protocol R.
pub fn replicated(plan: &CircuitPlan) -> CircuitPlan {
    let spec = CircuitJob {
        protocol: Protocol::R,
        ..plan.spec().clone()
    };
    CircuitPlan::new(spec).unwrap()
}

/// The same, garbled.
pub fn garbled(plan: &CircuitPlan, scheme: Scheme) -> CircuitPlan {
    let spec = CircuitJob {
        protocol: Protocol::Y2(scheme),
        ..plan.spec().clone()
    };
    CircuitPlan::new(spec).unwrap()
}

/// The same, in protocol beta.
pub fn masked(plan: &CircuitPlan) -> CircuitPlan {
    let spec = CircuitJob {
        protocol: Protocol::Beta,
        ..plan.spec().clone()
    };
    CircuitPlan::new(spec).unwrap()
}

/// The same, garbled by all.
pub fn garbled_by_all(plan: &CircuitPlan) -> CircuitPlan {
    let spec = CircuitJob {
        protocol: Protocol::Y,
        ..plan.spec().clone()
    };
    CircuitPlan::new(spec).unwrap()
}

/// The same, over silent OT.
pub fn silent(plan: &CircuitPlan) -> CircuitPlan {
    let spec = CircuitJob {
        origin: Origin::ot(Extension::Silent),
        ..plan.spec().clone()
    };
    CircuitPlan::new(spec).unwrap()
}

/// The same, on so many threads.
pub fn threaded(plan: &CircuitPlan, threads: usize) -> CircuitPlan {
    CircuitPlan::new(plan.spec().clone().on_threads(threads)).unwrap()
}
