//! Digests under a shared key, against AES in the clear.

use std::sync::Arc;
use std::thread;

use madrigal_core::{Cost, Party};
use madrigal_engine::{RunError, Sharing};
use madrigal_kernels::{Aes128, Block, Prg};
use madrigal_net::transport::{Fault, Transport, mesh};
use madrigal_net::{Session, block_on};
use madrigal_operations::Backend;
use madrigal_psi_programs::{Keyed, KeyedError, KeyedPlan, OwnPart, Tags};
use madrigal_testkit::{Transcript, World, impatient, must_end_well, run_session_with_fault, seed};

/// Keys and digests of all parties.
struct Trial {
    keys: Vec<Block>,
    digests: Vec<Vec<Block>>,
}

impl Trial {
    fn new(seed: u64, lens: &[usize]) -> Self {
        let mut prg = Prg::new(Block::new(seed, 3));
        let mut draw = |len: usize| {
            let mut blocks = vec![Block::ZERO; len];
            prg.fill_blocks(&mut blocks);
            blocks
        };
        Self {
            keys: draw(lens.len()),
            digests: lens.iter().map(|&len| draw(len)).collect(),
        }
    }

    /// All tags, by AES in the clear under the XOR of all keys.
    fn tags(&self) -> Vec<Vec<u128>> {
        let key = self.keys.iter().fold(Block::ZERO, |sum, &key| sum ^ key);
        let aes = Aes128::new(key);
        let of = |digests: &Vec<Block>| {
            let mut tags = digests.clone();
            aes.encrypt_blocks(&mut tags);
            tags.into_iter().map(u128::from).collect()
        };
        self.digests.iter().map(of).collect()
    }

    fn own(&self, me: Party) -> OwnPart<'_> {
        OwnPart {
            key: madrigal_core::Zeroizing::new(self.keys[me.index()]),
            digests: &self.digests[me.index()],
        }
    }
}

/// Runs a plan of each party's, as all of them.
fn run_each(
    transports: Vec<impl Transport>,
    world: &World,
    plans: &[KeyedPlan],
    trial: &Trial,
) -> Vec<Result<Tags, RunError>> {
    thread::scope(|scope| {
        let parties = Party::all(plans.len()).zip(transports);
        let all: Vec<_> = parties
            .map(|(me, transport)| {
                let plan = &plans[me.index()];
                scope.spawn(move || {
                    block_on(async {
                        let session = Session::new(world.config(me), transport);
                        session.greet().await?;
                        let done = plan.run(&session, 5, trial.own(me), None, &|_| ()).await?;
                        session.close().await;
                        Ok(done)
                    })
                })
            })
            .collect();
        let all = all.into_iter();
        all.map(|one| {
            one.join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
        .collect()
    })
}

fn check(sharing: Sharing, lens: &[usize], to: &[usize], far: bool) {
    let seed = seed();
    let trial = Trial::new(seed, lens);
    let mut keyed = Keyed::new(Backend::of(sharing), lens.to_vec());
    keyed.to = to.iter().map(|&party| Party::new(party)).collect();
    if far {
        keyed.line.latency = 0.02;
        keyed.threads = 2;
    }
    let plan = KeyedPlan::new(&keyed).unwrap();
    let world = World::light(lens.len(), seed);
    let plans = vec![plan.clone(); lens.len()];
    let done = run_each(mesh(lens.len()), &world, &plans, &trial);
    let expected = trial.tags();
    for (me, done) in Party::all(lens.len()).zip(done) {
        let done = done.unwrap_or_else(|error| panic!("{me}: {error}"));
        let about = format!("{me} of {lens:?} in {sharing}, MADRIGAL_SEED={seed}");
        assert_eq!(done.next_job, 5 + plan.jobs(), "{about}");
        let learns = to.contains(&me.index());
        for (party, of) in done.of.iter().enumerate() {
            let expected: &[u128] = if learns { &expected[party] } else { &[] };
            assert!(of.as_slice() == expected, "tags of party {party}: {about}");
        }
        let declared = plan.cost(me);
        let bytes = |cost: &Cost| {
            let phases = [&cost.setup, &cost.online];
            phases.map(|phase| (phase.bytes_sent, phase.messages, phase.aes_blocks))
        };
        assert_eq!(bytes(&done.cost), bytes(&declared), "{about}");
    }
}

#[test]
fn tags_are_aes_under_the_xor_of_all_keys() {
    check(Sharing::R, &[70, 1, 0], &[0], false);
    check(Sharing::R, &[3, 70, 66], &[0, 1, 2], true);
    check(Sharing::B, &[5, 0, 9], &[1, 2], false);
    check(Sharing::B, &[2, 3, 1, 0, 4], &[4], true);
    check(Sharing::B, &[3, 4], &[0, 1], false);
}

/// More digests than a stage holds.
#[test]
fn stages_follow_each_other() {
    let lens = [(3 << 16) + 5, 1 << 16, 7];
    let plan = KeyedPlan::new(&Keyed::new(Backend::of(Sharing::R), lens.to_vec())).unwrap();
    assert_eq!(plan.jobs(), 3);
    check(Sharing::R, &lens, &[2], false);
}

/// FIPS 197, appendix B, where the key is in three parts.
#[test]
fn the_standards_example() {
    let bytes = |hex: &str| u128::from_str_radix(hex, 16).unwrap().swap_bytes();
    let key = Block::from(bytes("2b7e151628aed2a6abf7158809cf4f3c"));
    let parts = [Block::new(5, 6), Block::new(u64::MAX, 1 << 63)];
    let trial = Trial {
        keys: vec![parts[0], parts[1], key ^ parts[0] ^ parts[1]],
        digests: vec![
            vec![],
            vec![Block::from(bytes("3243f6a8885a308d313198a2e0370734"))],
            vec![],
        ],
    };
    let keyed = Keyed::new(Backend::of(Sharing::R), vec![0, 1, 0]);
    let plans = vec![KeyedPlan::new(&keyed).unwrap(); 3];
    let world = World::light(3, seed());
    for done in run_each(mesh(3), &world, &plans, &trial) {
        let tags = done.unwrap();
        assert_eq!(tags.of[1][..], [bytes("3925841d02dc09fbdc118597196a0b32")]);
    }
}

#[test]
fn parties_with_other_plans_compute_nothing() {
    let trial = Trial::new(seed(), &[2, 2, 2]);
    let keyed = Keyed::new(Backend::of(Sharing::R), vec![2, 2, 2]);
    let of = |change: &dyn Fn(&mut Keyed)| {
        let mut other = keyed.clone();
        change(&mut other);
        KeyedPlan::new(&other).unwrap()
    };
    let same = of(&|_| ());
    let others = [
        of(&|keyed| keyed.lens[0] = 3),
        of(&|keyed| keyed.to = vec![Party::new(1)]),
        of(&|keyed| keyed.line.latency = 1.0),
        of(&|keyed| keyed.protocol = Backend::of(Sharing::B)),
    ];
    for other in others {
        let plans = [same.clone(), other, same.clone()];
        let world = World::light(3, 1);
        for done in run_each(mesh(3), &world, &plans, &trial) {
            assert!(done.is_err());
        }
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let of =
        |sharing, lens: &[usize]| KeyedPlan::new(&Keyed::new(Backend::of(sharing), lens.to_vec()));
    for (sharing, lens) in [
        (Sharing::R, &[1, 1][..]),
        (Sharing::R, &[1; 4]),
        (Sharing::B, &[1]),
        (Sharing::A, &[1; 3]),
        (Sharing::Y, &[1; 3]),
        (Sharing::BETA, &[1; 2]),
    ] {
        assert!(
            matches!(of(sharing, lens), Err(KeyedError::Protocol { .. })),
            "{sharing}"
        );
    }
    let keyed = Keyed::new(Backend::of(Sharing::B), vec![1; 3]);
    for to in [vec![], vec![Party::new(3)]] {
        let wrong = KeyedPlan::new(&Keyed {
            to,
            ..keyed.clone()
        });
        assert!(matches!(wrong, Err(KeyedError::Receivers { parties: 3 })));
    }
    let trial = Trial::new(1, &[1, 1, 2]);
    let plans = vec![KeyedPlan::new(&keyed).unwrap(); 3];
    let done: Vec<_> = run_each(mesh(3), &World::light(3, 1), &plans, &trial);
    assert!(matches!(&done[2], Err(RunError::Values { .. })));
}

/// Digests that are all the same have tags that are the same, and nothing else shows that: what the only party receives that learns nothing has no
/// two blocks in common, though all lanes compute the same.
#[test]
fn who_learns_nothing_receives_no_block_twice() {
    let seed = seed();
    for sharing in [Sharing::R, Sharing::B] {
        let mut trial = Trial::new(seed, &[256, 256, 0]);
        trial.digests[..2]
            .iter_mut()
            .for_each(|digests| digests.fill(Block::ZERO));
        let to = vec![Party::new(0), Party::new(1)];
        let keyed = Keyed {
            to,
            ..Keyed::new(Backend::of(sharing), vec![256, 256, 0])
        };
        let plans = vec![KeyedPlan::new(&keyed).unwrap(); 3];
        let (transcript, transports) = Transcript::of(Party::new(2), mesh(3));
        let world = World::light(3, seed);
        for done in run_each(transports, &world, &plans, &trial) {
            let tags = done.unwrap();
            assert!(
                tags.of
                    .iter()
                    .flat_map(|of| of.iter())
                    .all(|&tag| tag == tags.of[0][0])
            );
        }
        let bytes = transcript.bytes();
        let mut blocks: Vec<&[u8]> = bytes.chunks_exact(16).collect();
        let all = blocks.len();
        blocks.sort_unstable();
        blocks.dedup();
        // As many as ten rounds of ANDs in 512 lanes are, at least.
        assert!(all > 5000, "{all} blocks");
        assert_eq!(blocks.len(), all, "in {sharing}, MADRIGAL_SEED={seed}");
    }
}

#[test]
fn faults_end_with_the_result_or_an_error() {
    let seed = seed();
    let lens = [5, 70, 3];
    let trial = Arc::new(Trial::new(seed, &lens));
    let keyed = Keyed::new(Backend::of(Sharing::R), lens.to_vec());
    let plan = Arc::new(KeyedPlan::new(&keyed).unwrap());
    let once = |number: u64| {
        let fault = Fault {
            at: (number >> 8) as u32 % 60,
            ..Fault::random(number, 3)
        };
        let again = format!("MADRIGAL_SEED={seed}, fault {number}");
        let tried = must_end_well(&again, |patience| {
            let (world, limit) = impatient(3, number, patience);
            let expected = trial.tags();
            let right = move |_: Party, tags: &Vec<Vec<u128>>| *tags == expected;
            let (trial, plan) = (Arc::clone(&trial), Arc::clone(&plan));
            let work = move |session: Session| {
                let (trial, plan) = (Arc::clone(&trial), Arc::clone(&plan));
                async move {
                    let own = trial.own(session.me());
                    match plan.run(&session, 1, own, None, &|_| ()).await {
                        Ok(tags) => Ok(tags.of.iter().map(|of| of.to_vec()).collect()),
                        Err(RunError::Net(error)) => Err(error),
                        Err(other) => panic!("{other}"),
                    }
                }
            };
            run_session_with_fault(&world, fault, limit, work, right)
        });
        tried.fired
    };
    let mut prg = Prg::new(Block::new(seed, 4));
    let numbers: Vec<u64> = (0..10).map(|_| prg.next_block().lo()).collect();
    let fired = thread::scope(|scope| {
        let once = &once;
        let all: Vec<_> = numbers
            .iter()
            .map(|&number| scope.spawn(move || once(number)))
            .collect();
        let ended = all.into_iter().map(|one| one.join());
        ended.filter(|fired| *fired.as_ref().unwrap()).count()
    });
    assert!(fired > 2, "{fired} of 10 faults happened");
}
