//! The estimate of how long a plan takes: finite, more for more work and for slower networks, and never
//! less than the processor and the link are at work.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::sync::Arc;

use madrigal_core::Party;
use madrigal_core::time::{Link, Rates};
use madrigal_engine::{Extension, Opening, Origin, Phases, PlanTime};
use madrigal_operations::Circuit;
use madrigal_operations::circuit_job::{CircuitJob, CircuitPlan, Protocol};

use crate::common::netlist;

/// That of a link with so many milliseconds of latency and bytes per second.
fn link(millis: f64, bytes_per_second: f64) -> Link {
    Link {
        latency: millis / 1e3,
        bytes_per_second: Some(bytes_per_second),
    }
}

fn specs() -> Vec<CircuitJob> {
    let circuit = Arc::new(Circuit::new(&netlist("adder64.txt")));
    let plain = CircuitJob::new(circuit, 3);
    let mut all = vec![
        CircuitJob {
            protocol: Protocol::R,
            ..plain.clone()
        },
        CircuitJob {
            opening: Opening::Relay,
            ..plain.clone()
        },
        CircuitJob {
            phases: Some(Phases::Interleaved),
            ..plain.clone()
        },
        plain.clone().on_threads(4),
    ];
    let ots = Extension::all().map(Origin::ot);
    for origin in ots.chain([Origin::Dealer, Origin::Store]) {
        all.push(CircuitJob {
            origin,
            ..plain.clone()
        });
    }
    all
}

fn time(spec: &CircuitJob, lanes: usize, link: Link) -> PlanTime {
    let plan = CircuitPlan::new(CircuitJob {
        lanes,
        ..spec.clone()
    });
    let plan = plan.unwrap();
    let all = Party::all(3).map(|me| plan.time(me, &Rates::ZEN_5, &link));
    all.max_by(|a, b| a.total.total_cmp(&b.total)).unwrap()
}

#[test]
fn it_is_finite_and_grows_with_work_and_slowness() {
    for spec in specs() {
        let usual = time(&spec, 10_000, link(1.0, 1e8));
        assert!(usual.total.is_finite() && usual.total > 0.0, "{spec:?}");
        for (slower, of) in [
            (time(&spec, 10_000, link(2.0, 1e8)), "latency"),
            (time(&spec, 10_000, link(1.0, 1e6)), "bandwidth"),
            (time(&spec, 1_000_000, link(1.0, 1e8)), "lanes"),
        ] {
            assert!(slower.total > usual.total, "{of}: {spec:?}");
            for phase in [slower.setup, slower.online] {
                let parts = [phase.computing, phase.sending];
                assert!(parts.iter().all(|part| *part <= phase.total), "{phase:?}");
                let sum = phase.computing + phase.sending + phase.waiting;
                assert!(phase.total <= sum * (1.0 + 1e-9), "{phase:?}");
                assert!(slower.total >= phase.total);
            }
        }
    }
}

/// Where one thing takes nearly all of the time, the estimate is that thing.
#[test]
fn it_is_what_binds() {
    let spec = &specs()[0];
    let plan = CircuitPlan::new(spec.clone()).unwrap();
    let me = Party::new(0);
    let cost = plan.cost(me);
    let slow = plan.time(me, &Rates::ZEN_5, &link(1e4, 1e9));
    let waiting = 10.0 * cost.online.rounds as f64;
    assert!((slow.online.total / waiting - 1.0).abs() < 1e-3);
    // In protocol R all bytes go to one neighbour.
    let narrow = plan.time(me, &Rates::ZEN_5, &link(0.0, 1.0));
    let bytes = cost.online.bytes_sent.max(cost.online.bytes_received);
    assert!((narrow.online.total / bytes as f64 - 1.0).abs() < 0.01);
}

/// More lanes than anybody has inputs for.
#[test]
fn many_lanes_are_estimated() {
    for spec in specs() {
        let spec = CircuitJob {
            phases: Some(Phases::Interleaved),
            ..spec
        };
        assert!(time(&spec, 100_000_000, link(50.0, 1e8)).total > 6.0);
    }
}
