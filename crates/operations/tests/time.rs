//! The estimate of how long a plan takes: finite, more for more work and for slower networks, and never
//! less than the processor and the link are at work.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::sync::Arc;

use madrigal_core::Party;
use madrigal_core::time::{Link, Rates};
use madrigal_engine::{Extension, Opening, Origin, Phases, PlanSpec, PlanTime, Sharing};
use madrigal_operations::{Backend, Circuit, CircuitJob};

use crate::common::{Planned, netlist};

/// Link with `millis` milliseconds of latency.
fn link(millis: f64, bytes_per_second: f64) -> Link {
    Link {
        latency: millis / 1e3,
        bytes_per_second: Some(bytes_per_second),
    }
}

fn plans() -> Vec<Planned> {
    let circuit = Arc::new(Circuit::new(&netlist("adder64.txt")));
    let plain = Planned::new(CircuitJob::new(circuit, 3), |spec| spec);
    let mut all = vec![
        plain.in_protocol(Backend::of(Sharing::R)),
        plain.with(|spec| PlanSpec {
            opening: Opening::Relay,
            ..spec
        }),
        interleaved(&plain),
        plain.with(|spec| spec.on_threads(4)),
    ];
    let ots = Extension::all().map(Origin::ot);
    for origin in ots.chain([Origin::Dealer, Origin::Store]) {
        all.push(plain.with(|spec| PlanSpec { origin, ..spec }));
    }
    all
}

fn interleaved(plan: &Planned) -> Planned {
    plan.with(|spec| PlanSpec {
        phases: Some(Phases::Interleaved),
        ..spec
    })
}

fn time(plan: &Planned, lanes: usize, link: Link) -> PlanTime {
    let plan = plan.of(CircuitJob {
        lanes,
        ..plan.job.clone()
    });
    let all = Party::all(3).map(|me| plan.time(me, &Rates::ZEN_5, &link));
    all.max_by(|a, b| a.total.total_cmp(&b.total)).unwrap()
}

#[test]
fn it_is_finite_and_grows_with_work_and_slowness() {
    for plan in plans() {
        let usual = time(&plan, 10_000, link(1.0, 1e8));
        assert!(usual.total.is_finite() && usual.total > 0.0, "{plan:?}");
        for (slower, of) in [
            (time(&plan, 10_000, link(2.0, 1e8)), "latency"),
            (time(&plan, 10_000, link(1.0, 1e6)), "bandwidth"),
            (time(&plan, 1_000_000, link(1.0, 1e8)), "lanes"),
        ] {
            assert!(slower.total > usual.total, "{of}: {plan:?}");
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
    let plan = &plans()[0];
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
    for plan in plans() {
        assert!(time(&interleaved(&plan), 100_000_000, link(50.0, 1e8)).total > 6.0);
    }
}

/// Seconds that the plan of `lanes` lanes for this line is estimated to take on `threads` threads.
fn on_threads(plan: &Planned, threads: usize, lanes: usize, (line, rates): (Link, Rates)) -> f64 {
    let plan = plan.with(|spec| PlanSpec {
        line,
        ..spec.on_threads(threads)
    });
    let plan = plan.of(CircuitJob {
        lanes,
        ..plan.job.clone()
    });
    let all = Party::all(plan.job.parties);
    let times = all.map(|me| plan.time(me, &rates, &line).total);
    times.fold(0.0, f64::max)
}

fn protocols() -> Vec<(&'static str, Planned)> {
    let circuit = Arc::new(Circuit::new(&netlist("adder64.txt")));
    let of = |parties| Planned::new(CircuitJob::new(Arc::clone(&circuit), parties), |spec| spec);
    let [two, three] = [2, 3].map(of);
    let softspoken = Extension::all().find(|one| one.to_string() == "softspoken8");
    let silent = Extension::all().find(|one| one.to_string() == "silent");
    let [softspoken, silent] = [softspoken, silent].map(|one| {
        two.with(|spec| PlanSpec {
            origin: Origin::ot(one.unwrap()),
            ..spec
        })
    });
    vec![
        ("B, softspoken8", softspoken),
        ("B, silent", silent),
        ("B of three", three.clone()),
        ("Y2", two.in_protocol(Backend::of(Sharing::Y2))),
        ("Y", two.in_protocol(Backend::of(Sharing::Y))),
        ("beta", two.in_protocol(Backend::of(Sharing::BETA))),
        ("R", three.in_protocol(Backend::of(Sharing::R))),
    ]
}

/// Beginnings of lines and rounds of shorter blocks cost a few parts in a hundred on many threads, where they gain nothing.
#[test]
fn more_threads_are_no_worse() {
    let lines = [
        link(0.03, 1e10),
        link(1.0, 1.25e8),
        link(10.0, 1e9),
        link(50.0, 1.25e7),
    ];
    for (name, plan) in protocols() {
        for (lanes, line) in [100, 10_000, 200_000]
            .into_iter()
            .flat_map(|lanes| lines.map(|line| (lanes, line)))
        {
            let mut best = f64::INFINITY;
            for threads in [1, 2, 3, 4, 8, 16, 64] {
                let time = on_threads(&plan, threads, lanes, (line, Rates::ZEN_5));
                let about = format!("{name}, {lanes} lanes, {line:?}, {threads} threads");
                assert!(time < 1.1 * best, "{about}: {time} after {best}");
                best = best.min(time);
            }
        }
    }
}

/// Strands share the threads; links carry what they carry.
#[test]
fn threads_share_what_is_computed_and_not_what_is_sent() {
    // Without rounds, which wait for no thread.
    let rates = Rates {
        hop: 0.0,
        ..Rates::ZEN_5
    };
    let [fast, slow] = [1e12, 1e7].map(|bytes| (link(0.0, bytes), rates));
    for (name, plan) in protocols() {
        let [alone, together] = [1, 8].map(|threads| on_threads(&plan, threads, 400_000, fast));
        let faster = alone / together;
        // Lines of silent OT begin with work of their own.
        let least = if name.contains("silent") { 2.5 } else { 5.0 };
        assert!((least..8.1).contains(&faster), "{name}: {faster}");
        let [alone, together] = [1, 8].map(|threads| on_threads(&plan, threads, 400_000, slow));
        let faster = alone / together;
        assert!((0.95..1.5).contains(&faster), "{name}: {faster}");
    }
}
