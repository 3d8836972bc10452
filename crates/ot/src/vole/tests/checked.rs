//! Checked instances: honest parties pass, and whatever a malicious sender changes either is found or has changed nothing.

use super::*;
use crate::vole::shifts::Shifts;
use crate::vole::{ANSWER_BYTES, CHALLENGE_BYTES, Expected, SHIFT_BYTES, mask_elements};

/// Everything that both sides have of one batch, its mask at the end.
struct Batch<V> {
    values: Vec<V>,
    tags: Vec<Block>,
    keys: Vec<Block>,
}

impl<V: Element> Batch<V> {
    /// Whether all tags fit the keys, and so does what the mask's are added up to.
    fn fits(&self, delta: Block) -> bool {
        let mut sums = self.keys.clone();
        Kernels::detect().field_multiply_add(delta, &self.values, &mut sums);
        sums == self.tags
    }

    fn challenge(
        &self,
        receiver: &mut VoleReceiver<V>,
        seed: Block,
    ) -> ([u8; CHALLENGE_BYTES], Expected) {
        let m = self.keys.len() - mask_elements::<V>();
        let ((values, mask), (tags, of_mask)) = (self.values.split_at(m), self.tags.split_at(m));
        receiver
            .challenge(seed, (values, tags), (mask, of_mask))
            .unwrap()
    }

    fn answer(&self, sender: &mut VoleSender<V>, challenge: &[u8]) -> [u8; ANSWER_BYTES] {
        let m = self.keys.len() - mask_elements::<V>();
        let (keys, mask) = self.keys.split_at(m);
        sender.answer(challenge, keys, mask).unwrap()
    }

    fn passes(
        &self,
        sender: &mut VoleSender<V>,
        receiver: &mut VoleReceiver<V>,
        seed: u64,
    ) -> bool {
        let (challenge, expected) = self.challenge(receiver, Block::new(seed, 77));
        expected.check(&self.answer(sender, &challenge))
    }
}

/// Both sides, over silent OTs whose sender has changed its Delta by `other`, and whose setup message `tamper` changes.
fn tampered_pair<V: Element>(
    seed: u64,
    params: VoleParams<V>,
    other: Block,
    tamper: impl FnOnce(&mut [u8]),
) -> (VoleSender<V>, VoleReceiver<V>) {
    let ots = SilentParams::SMALL;
    let n = ots.base_rows();
    let mut prg = Prg::new(Block::new(seed, 1));
    let (mut q, mut choices) = (vec![Block::ZERO; n], vec![0; n.div_ceil(8)]);
    prg.fill_blocks(&mut q);
    prg.fill(&mut choices);
    let mut rng = SeededRng::from_seed(Block::new(seed, 2));
    let delta = Delta::random_odd(&mut rng).expose();
    let add = |(i, &q): (usize, &Block)| q ^ delta & Block::mask(bit(&choices, i) == 1);
    let t: Vec<Block> = q.iter().enumerate().map(add).collect();
    let wrong = Delta::from_block(delta ^ other);
    let sender = SilentSender::new(&mut rng, INSTANCE, ots, wrong, &q).unwrap();
    let receiver = SilentReceiver::new(INSTANCE, ots, &choices, &t).unwrap();
    let (sender, mut setup) = VoleSender::checked(&mut rng, params, sender).unwrap();
    tamper(&mut setup);
    let receiver = VoleReceiver::checked(params, receiver, &setup).unwrap();
    (sender, receiver)
}

fn checked<V: Element>(seed: u64, params: VoleParams<V>) -> (VoleSender<V>, VoleReceiver<V>) {
    tampered_pair(seed, params, Block::ZERO, |_| ())
}

/// A batch of `m` elements and its mask, whose message `tamper` changes.
fn batch<V: Element>(
    (sender, receiver): (&mut VoleSender<V>, &mut VoleReceiver<V>),
    m: usize,
    tamper: impl FnOnce(&mut [u8]),
) -> Batch<V> {
    let all = m + mask_elements::<V>();
    let mut message = vec![0; sender.message_len(all)];
    let mut batch = Batch {
        values: vec![V::default(); all],
        tags: vec![Block::ZERO; all],
        keys: vec![Block::ZERO; all],
    };
    sender.extend(all, &mut message, &mut batch.keys).unwrap();
    tamper(&mut message);
    receiver
        .extend(&message, all, &mut batch.values, &mut batch.tags)
        .unwrap();
    batch
}

#[test]
fn honest_parties_pass_batch_after_batch() {
    fn run<V: Element>(params: VoleParams<V>) {
        let (mut sender, mut receiver) = checked(21, params);
        for (seed, m) in [0, 1, 1000, 2048, 0, 5000].into_iter().enumerate() {
            let made = batch((&mut sender, &mut receiver), m, |_| ());
            assert!(made.fits(sender.delta().expose()), "{} {m}", name_of::<V>());
            assert!(
                made.passes(&mut sender, &mut receiver, seed as u64),
                "{} {m}",
                name_of::<V>()
            );
        }
    }
    run(tiny::<u64>());
    run(tiny::<Block>());
    run(single::<Block>());
}

/// Errors, and their sums, in any element and in the mask: one changed bit of a key.
#[test]
fn a_wrong_key_anywhere_is_found() {
    fn run<V: Element>() {
        let (mut sender, mut receiver) = checked(22, tiny::<V>());
        let mut made = batch((&mut sender, &mut receiver), 1500, |_| ());
        let all = made.keys.len();
        for (seed, place) in [0, 1, 1023, 1024, 1499, 1500, all - 1]
            .into_iter()
            .enumerate()
        {
            made.keys[place] ^= Block::new(1 << seed, 0);
            assert!(!made.passes(&mut sender, &mut receiver, seed as u64));
            made.keys[place] ^= Block::new(1 << seed, 0);
            // The numbers of checks go on at both sides.
            assert!(made.passes(&mut sender, &mut receiver, 100 + seed as u64));
        }
        // Two errors that cancel in a sum without factors.
        made.keys.swap(3, 4);
        assert!(!made.passes(&mut sender, &mut receiver, 200));
    }
    run::<u64>();
    run::<Block>();
}

/// Bits anywhere in the messages: silent OTs, level sums, sums of leaves. Values stay as they are; tags are wrong and this is found, in the first batch or in one that
/// is made of it, or they are right and it is not.
#[test]
fn changed_messages_are_found_or_change_nothing() {
    if level() == Level::Portable {
        // Dozens of setups take seconds there, and the bits are those of any other level.
        return;
    }
    fn run<V: Element>() {
        let (m, params) = (1200, tiny::<V>());
        let (mut sender, mut receiver) = checked(23, params);
        let setup = SHIFT_BYTES + SilentParams::SMALL.message_len(0, params.setup_ots());
        let length = sender.message_len(m + mask_elements::<V>());
        let honest = [(); 2].map(|()| batch((&mut sender, &mut receiver), m, |_| ()));
        let step = |len: usize| (len / 24).max(1);
        let in_setup = (0..setup).step_by(step(setup)).map(|at| (true, at));
        let in_batch = (0..length).step_by(step(length)).map(|at| (false, at));
        let mut found = 0;
        for (in_setup, at) in in_setup.chain(in_batch) {
            let change = |yes: bool| {
                move |bytes: &mut [u8]| {
                    if yes {
                        bytes[at] ^= 1 << (at % 8);
                    }
                }
            };
            let (mut sender, mut receiver) =
                tampered_pair(23, params, Block::ZERO, change(in_setup));
            let mut passes = true;
            for (i, honest) in honest.iter().enumerate() {
                let made = batch((&mut sender, &mut receiver), m, change(!in_setup && i == 0));
                // The shift is what values hang on, and is the sender's to choose.
                if !in_setup || at >= SHIFT_BYTES {
                    assert!(made.values == honest.values, "values, byte {at}");
                }
                let fits = made.fits(sender.delta().expose());
                let here = made.passes(&mut sender, &mut receiver, at as u64);
                assert_eq!(here, fits, "byte {at}, of the setup: {in_setup}");
                passes &= here;
            }
            found += usize::from(!passes);
        }
        // Level sums on the other side of a place change nothing.
        assert!(found >= 20, "{found} changes are found");
    }
    run::<u64>();
    run::<Block>();
}

#[test]
fn another_delta_than_that_of_the_base_is_found() {
    for other in [Block::new(2, 0), Block::new(0, 1 << 63)] {
        let (mut sender, mut receiver) = tampered_pair(24, tiny::<u64>(), other, |_| ());
        let (_, mut honest) = checked(24, tiny::<u64>());
        let made = batch((&mut sender, &mut receiver), 500, |_| ());
        assert!(!made.fits(sender.delta().expose()));
        assert!(!made.passes(&mut sender, &mut receiver, 1));
        let (mut again, _) = checked(24, tiny::<u64>());
        let same = batch((&mut again, &mut honest), 500, |_| ());
        assert!(made.values == same.values);
    }
}

/// A sender that spoils the sum of a tree's leaves spoils the tag of one of 16 elements, and passes if it guesses which.
#[test]
fn guesses_pass_as_often_as_they_are_right() {
    if level() == Level::Portable {
        // Dozens of setups take seconds there, and the bits are those of any other level.
        return;
    }
    let (runs, mut passed) = (160, 0);
    for seed in 0..runs {
        let params = single::<u64>();
        let (mut sender, mut receiver) = checked(1000 + seed, params);
        let error = Block::new(5, seed);
        // One group of four trees, whose message ends with the sum of the fourth one's leaves.
        let m = params.chunk() - mask_elements::<u64>();
        let mut made = batch((&mut sender, &mut receiver), m, |message| {
            let last = message.len() - 16;
            let sum = Block::from_bytes(*message[last..].first_chunk().unwrap());
            message[last..].copy_from_slice(&(sum ^ error).to_bytes());
        });
        let guess = (seed % 16) as usize;
        made.keys[4 * guess + 3] ^= error;
        let fits = made.fits(sender.delta().expose());
        assert_eq!(made.passes(&mut sender, &mut receiver, seed), fits);
        passed += u64::from(fits);
    }
    // Ten of 160 are expected, with a standard deviation of three.
    assert!((1..=24).contains(&passed), "{passed} of {runs} guesses");
}

/// A wrong sum in a challenge gets an answer that only who knows Delta expects, and another for each number.
#[test]
fn wrong_challenges_get_answers_that_say_nothing() {
    let (mut sender, mut receiver) = checked(26, tiny::<Block>());
    let made = batch((&mut sender, &mut receiver), 100, |_| ());
    let (challenge, expected) = made.challenge(&mut receiver, Block::new(1, 2));
    let answer = made.answer(&mut sender, &challenge);
    assert!(expected.check(&answer));
    assert!(!expected.check(&answer[1..]) && !expected.check(&[]));
    assert!(!expected.check(&[0; ANSWER_BYTES]));
    let again = made.answer(&mut sender, &challenge);
    assert!(!expected.check(&again), "the number is hashed, too");
    let _ = made.challenge(&mut receiver, Block::ZERO);
    for at in [0, 15, 16, 31] {
        let (mut challenge, expected) = made.challenge(&mut receiver, Block::new(3, at));
        challenge[at as usize] ^= 1;
        assert!(!expected.check(&made.answer(&mut sender, &challenge)));
    }
    for got in [0, CHALLENGE_BYTES - 1, CHALLENGE_BYTES + 1] {
        let error = sender.answer(&vec![0; got], &made.keys, &made.keys[..1]);
        let length = OtError::MessageLength {
            message: Message::VoleChallenge,
            expected: CHALLENGE_BYTES,
            got,
        };
        assert_eq!(error, Err(length));
    }
    assert!(sender.answer(&challenge, &made.keys, &[]).is_err());
    assert!(format!("{expected:?}").len() < 40);
}

/// A group's shift is no other group's: one for all of them would cancel where an error becomes another tree's.
#[test]
fn each_group_has_a_shift_of_its_own() {
    let mut shifts = Shifts::new(&[7; SHIFT_BYTES]);
    let mut some: Vec<u128> = (0..1000).map(|_| shifts.next::<Block>().into()).collect();
    some.sort_unstable();
    assert!(some.windows(2).all(|pair| pair[0] != pair[1]));
    assert!(Shifts::new(&[]).next::<u64>() == 0);

    // Values, which choices of the base alone would make, hang on the seed from the first batch on.
    let [a, b] = [0, 1].map(|bit| {
        let (mut sender, mut receiver) =
            tampered_pair(27, tiny::<Block>(), Block::ZERO, |setup| setup[3] ^= bit);
        batch((&mut sender, &mut receiver), 500, |_| ()).values
    });
    assert!(a != b);

    let (_, ots) = silent(27, SilentParams::SMALL);
    let params = tiny::<Block>();
    let expected = SHIFT_BYTES + ots.message_len(params.setup_ots());
    let error = VoleReceiver::checked(params, ots, &vec![0; expected - SHIFT_BYTES]).map(drop);
    let length = OtError::MessageLength {
        message: Message::VoleSetup,
        expected,
        got: expected - SHIFT_BYTES,
    };
    assert_eq!(error, Err(length));
}
