//! Values that are dealt piece by piece are those that are put together.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use madrigal_clients::{
    Elements, Named, Received, ShareFault, ShareFile, StreamDealer, combine, private_seed,
    seeded_generator,
};
use madrigal_core::Party;
use madrigal_core::budget::Budget;
use madrigal_engine::{Element, Shares, Sharing, Width};

fn named(len: usize) -> Named {
    Named {
        job: "job".into(),
        name: "x".into(),
        client: "carol".into(),
        element_type: "u32".into(),
        shape: vec![len],
    }
}

fn numbers(len: usize) -> Vec<u32> {
    (0..len as u32)
        .map(|i| i.wrapping_mul(2_654_435_769))
        .collect()
}

/// A value that says how often it was read, and how much at once.
struct Watched(Shares, Arc<[AtomicUsize; 2]>);

impl Elements for Watched {
    fn read(&self, start: usize, len: usize) -> std::io::Result<Shares> {
        self.1[0].fetch_add(len, Ordering::Relaxed);
        self.1[1].fetch_max(len, Ordering::Relaxed);
        self.0.read(start, len)
    }
}

#[test]
fn pieces_are_parts_of_one_body() {
    let forms = [
        (Sharing::A, Element::Ring(Width::W32), 2),
        (Sharing::A, Element::Ring(Width::W32), 3),
        (Sharing::B, Element::Bits(5), 2),
        (Sharing::B, Element::Bits(32), 4),
        (Sharing::R, Element::Ring(Width::W32), 3),
        (Sharing::R, Element::Bits(7), 3),
    ];
    for (sharing, element, servers) in forms {
        for len in [0, 1, 3, 7, 8, 9, 127, 128, 129, 1000, 40_003] {
            let numbers = numbers(len);
            let value = match element {
                Element::Ring(_) => Shares::ring_of(Sharing::PUBLIC, numbers),
                Element::Bits(bits) => {
                    let numbers: Vec<u32> =
                        numbers.iter().map(|n| n >> (32 - bits as u32)).collect();
                    Shares::bits_of(Sharing::PUBLIC, bits, &numbers)
                }
            };
            let seed = private_seed().unwrap();
            let deal = || {
                let mut random = seeded_generator(&seed);
                let elements = Box::new(value.clone());
                let form = (sharing, element);
                StreamDealer::new(named(len), form, servers, [7; 32], elements, &mut random)
            };
            let dealer = deal().unwrap();
            let files = Party::all(servers).map(|place| {
                let mut body = vec![0; dealer.header().body_bytes(place) as usize];
                dealer.body(place, 0, &mut body).unwrap();
                // From anywhere, by another dealer of the same seed.
                let again = deal().unwrap();
                for (start, step) in [(0, 1 + body.len() / 9), (5, 65_536), (17, 4099)] {
                    for start in (start..body.len()).step_by(step) {
                        let end = body.len().min(start + step);
                        let mut piece = vec![0; end - start];
                        again.body(place, start as u64, &mut piece).unwrap();
                        assert!(piece == body[start..end], "{len} {element} {start}..{end}");
                    }
                }
                // It is checked against the commitments, and for bits after the last element.
                let budget = Budget::new(1 << 30);
                let header = dealer.header().clone();
                let share = ShareFile::of_body(header, place, &mut &body[..], &budget).unwrap();
                let file = PathBuf::from(format!("{place}"));
                Received { file, share }
            });
            let (_, combined) = combine(files.collect()).unwrap();
            match element {
                Element::Ring(_) => {
                    assert_eq!(combined.component::<u32>(0), value.component::<u32>(0));
                }
                Element::Bits(_) => {
                    let [got, expected] = [&combined, &value].map(|one| one.to_numbers::<u32>());
                    assert!(got.unwrap() == expected.unwrap());
                }
            }
        }
    }
}

/// Memory does not grow with the value: it is read some thousands of elements at a time.
#[test]
fn little_is_read_at_once() {
    let read = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
    let len = 1_000_000;
    let value = Shares::ring_of(Sharing::PUBLIC, numbers(len));
    let watched = Box::new(Watched(value, read.clone()));
    let mut random = seeded_generator(&private_seed().unwrap());
    let form = (Sharing::R, Element::Ring(Width::W32));
    let dealer = StreamDealer::new(named(len), form, 3, [1; 32], watched, &mut random).unwrap();
    // Only the last part needs the value.
    assert_eq!(read[0].load(Ordering::Relaxed), len);
    let mut body = vec![0; dealer.header().body_bytes(Party::new(2)) as usize];
    dealer.body(Party::new(2), 0, &mut body).unwrap();
    assert!(read[1].load(Ordering::Relaxed) <= 16_384 + 8);
}

#[test]
fn a_value_of_other_elements_is_refused() {
    struct Short;
    impl Elements for Short {
        fn read(&self, _: usize, len: usize) -> std::io::Result<Shares> {
            let numbers = vec![0_u32; len.saturating_sub(1)];
            Ok(Shares::ring_of(Sharing::PUBLIC, numbers))
        }
    }
    struct Broken;
    impl Elements for Broken {
        fn read(&self, _: usize, _: usize) -> std::io::Result<Shares> {
            Err(std::io::ErrorKind::UnexpectedEof.into())
        }
    }
    let mut random = seeded_generator(&private_seed().unwrap());
    let form = (Sharing::R, Element::Ring(Width::W32));
    let dealt = StreamDealer::new(named(9), form, 3, [1; 32], Box::new(Short), &mut random);
    assert!(matches!(
        dealt,
        Err(ShareFault::Value {
            got: 8,
            expected: 9,
            ..
        })
    ));
    let dealt = StreamDealer::new(named(9), form, 3, [1; 32], Box::new(Broken), &mut random);
    assert!(matches!(dealt, Err(ShareFault::File(_))));
}
