//! Threads that share the work of one call.

use std::panic::AssertUnwindSafe;

use madrigal_kernels::crew::{self, Crew};
use madrigal_kernels::{Block, Prg, meter};

#[test]
fn all_pieces_are_done_once_in_order() {
    for threads in [1, 2, 5] {
        let crew = Crew::new(threads).expect("threads");
        assert_eq!(crew.threads(), threads);
        crew.at_work(|| {
            for count in [0, 1, 2, 3, 100] {
                assert_eq!(
                    crew::map(0..count, |i| i * i),
                    (0..count).map(|i| i * i).collect::<Vec<_>>()
                );
                let mut all = vec![0; count];
                crew::each(crew::slices(&mut all, 1, 1), |(first, slice)| {
                    (first..).zip(slice).for_each(|(at, place)| *place += at);
                });
                assert_eq!(all, (0..count).collect::<Vec<_>>());
            }
        });
        assert_eq!(crew::threads(), 1, "nobody is at work any more");
    }
}

#[test]
fn ranges_cover_everything_in_whole_units() {
    for threads in [1, 3] {
        Crew::new(threads).expect("threads").at_work(|| {
            for (len, unit, least) in [
                (0, 1, 1),
                (1, 8, 1),
                (1000, 8, 1),
                (1000, 64, 500),
                (17, 1, 1 << 20),
            ] {
                let mut at = 0;
                for range in crew::ranges(len, unit, least) {
                    assert_eq!(range.start, at);
                    assert!(range.start.is_multiple_of(unit) && !range.is_empty());
                    assert!(range.len() >= least || range.end == len);
                    at = range.end;
                }
                assert_eq!(at, len);
            }
        });
    }
}

/// Blocks that others compute count here: declared costs are held against them.
#[test]
fn blocks_of_all_threads_are_counted() {
    let blocks = |threads| {
        let crew = Crew::new(threads).expect("threads");
        let work = |turn: u64| Prg::numbered(Block::new(turn, 0), turn).fill(&mut vec![0; 1600]);
        meter::metered(|| crew.at_work(|| crew::each(0..50, work))).1
    };
    assert_eq!([1, 2, 4].map(blocks), [5000; 3]);
}

#[test]
fn pieces_are_not_cut_again() {
    Crew::new(3).expect("threads").at_work(|| {
        crew::each(0..20, |_| assert_eq!(crew::threads(), 1));
        assert_eq!(crew::threads(), 3);
    });
}

#[test]
fn panics_come_back_to_the_caller() {
    let crew = Crew::new(3).expect("threads");
    let seventh = AssertUnwindSafe(|| {
        crew.at_work(|| crew::each(0..10, |i| assert!(i != 7, "the seventh")));
    });
    let caught = std::panic::catch_unwind(seventh);
    assert!(caught.is_err());
    assert_eq!(crew::threads(), 1);
    crew.at_work(|| assert_eq!(crew::map(0..10, |i| i).len(), 10));
}
