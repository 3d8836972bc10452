//! Circuits and plans for the engine's tests.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)] // helpers; each test uses its part

use std::ops::Deref;
use std::sync::Arc;

use madrigal_circuit::{Limits, Netlist, Rows};
use madrigal_core::Party;
use madrigal_correlations::Kind;
use madrigal_engine::{Extension, Opening, Origin, Phases, Plan, PlanSpec, Sharing};
use madrigal_kernels::Prg;
use madrigal_operations::{Backend, Circuit, CircuitJob, THREE_HALVES};

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
pub fn own(job: &CircuitJob, all: &Rows, me: Party) -> Rows {
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

/// A job with its plan, and what the plan was made of: tests change one thing at a time.
#[derive(Debug, Clone)]
pub struct Planned {
    pub job: CircuitJob,
    pub plan: Plan,
}

impl Deref for Planned {
    type Target = Plan;

    fn deref(&self) -> &Plan {
        &self.plan
    }
}

impl Planned {
    /// Plans a job with these changes to the usual specification.
    pub fn new(job: CircuitJob, change: impl FnOnce(PlanSpec) -> PlanSpec) -> Self {
        let plan = Plan::new(change(job.spec().unwrap())).unwrap();
        Self { job, plan }
    }

    /// Plans the job with other settings.
    pub fn with(&self, change: impl FnOnce(PlanSpec) -> PlanSpec) -> Self {
        let plan = Plan::new(change(self.plan.spec().clone())).unwrap();
        let job = self.job.clone();
        Self { job, plan }
    }

    /// Plans another job with the same settings.
    pub fn of(&self, job: CircuitJob) -> Self {
        let PlanSpec { graph, also, .. } = job.spec().unwrap();
        let spec = PlanSpec {
            graph,
            also,
            ..self.plan.spec().clone()
        };
        let plan = Plan::new(spec).unwrap();
        Self { job, plan }
    }

    /// Plans the job in another protocol.
    pub fn in_protocol(&self, protocol: &'static Backend) -> Self {
        self.of(CircuitJob {
            protocol,
            ..self.job.clone()
        })
    }

    /// Boolean triples of the plan.
    pub fn triples(&self) -> usize {
        self.plan.needs().of(Kind::BitTriples)
    }
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
) -> Planned {
    let job = CircuitJob {
        to: to.iter().map(|&party| Party::new(party)).collect(),
        lanes,
        ..CircuitJob::new(Arc::new(Circuit::new(netlist)), parties)
    };
    Planned::new(job, |spec| PlanSpec {
        opening,
        phases: Some(phases),
        memory,
        ..spec
    })
}

/// The plan with correlations from elsewhere.
fn from(plan: &Planned, origin: Origin) -> Planned {
    plan.with(|spec| PlanSpec { origin, ..spec })
}

/// The plan with a dealer.
pub fn dealt(plan: &Planned) -> Planned {
    from(plan, Origin::Dealer)
}

/// The plan with correlations from stores.
pub fn stored(plan: &Planned) -> Planned {
    from(plan, Origin::Store)
}

/// The plan over silent OT.
pub fn silent(plan: &Planned) -> Planned {
    from(plan, Origin::ot(Extension::Silent))
}

/// The plan in protocol R.
pub fn replicated(plan: &Planned) -> Planned {
    plan.in_protocol(Backend::of(Sharing::R))
}

/// The schemes of protocol Y2: half gates, and three halves.
pub fn schemes() -> [&'static Backend; 2] {
    [Backend::of(Sharing::Y2), &THREE_HALVES]
}

/// The plan in protocol beta.
pub fn masked(plan: &Planned) -> Planned {
    plan.in_protocol(Backend::of(Sharing::BETA))
}

/// The plan in protocol Y.
pub fn garbled_by_all(plan: &Planned) -> Planned {
    plan.in_protocol(Backend::of(Sharing::Y))
}

/// The plan on this many threads.
pub fn threaded(plan: &Planned, threads: usize) -> Planned {
    plan.with(|spec| spec.on_threads(threads))
}
