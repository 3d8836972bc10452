//! The estimate of what whole values take on several threads.

use madrigal_core::time::{Link, Rates};
use madrigal_engine::{Extension, Matrices, Origin};
use madrigal_program::lower::Mix;
use madrigal_program::{Everyone, Party, Program};

/// Seconds by the estimate for a product of two matrices on this many threads.
fn product(mix: Mix, threads: usize, line: Link) -> f64 {
    let mut p = Program::new(2);
    let [a, b] = [0, 1].map(|party| p.input::<u64>(Party::new(party), [400, 400]));
    let squared = b.matmul(&b);
    p.open(a.matmul(&squared), Everyone);
    let program = p.finish().expect("a program that can be");
    let planned = program.plan(mix, None, &|spec| {
        (spec.threads, spec.line) = (threads, line);
        spec.origin = Origin::Ot {
            extension: Extension::default(),
            threads,
            matrices: Matrices::Lattice,
        };
    });
    // Without rounds, which wait for no thread.
    let rates = Rates {
        hop: 0.0,
        ..Rates::ZEN_5
    };
    let plan = planned.expect("a plan").plan;
    let time = |party| plan.time(party, &rates, &line).total;
    Party::all(2).map(time).fold(0.0, f64::max)
}

/// A whole value is computed by all threads, and encryption for its triple is, too.
#[test]
fn products_of_matrices_are_shared_by_all_threads() {
    let line = |bytes| Link {
        latency: 0.0,
        bytes_per_second: Some(bytes),
    };
    for mix in [Mix::AB, Mix::ALPHA_BETA] {
        let mut best = f64::INFINITY;
        for threads in [1, 2, 4, 8, 64] {
            let time = product(mix, threads, line(1e12));
            assert!(time <= best, "{mix}, {threads} threads: {time}, {best}");
            best = time;
        }
        let [alone, together] = [1, 8].map(|threads| product(mix, threads, line(1e12)));
        let faster = alone / together;
        assert!((6.0..8.1).contains(&faster), "{mix}: {faster}");
        let [alone, together] = [1, 8].map(|threads| product(mix, threads, line(1e6)));
        let faster = alone / together;
        assert!((0.95..1.5).contains(&faster), "{mix}: {faster}");
    }
}
