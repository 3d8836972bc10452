//! VOLE over ideal base rows, at sizes too small to be secure, where every boundary is near, and at real ones.

use madrigal_kernels::{Block, Element, Kernels, Level, Prg, field, level, meter};

use madrigal_kernels::RowHash;
use madrigal_kernels::field::times_y;

use super::{VoleParams, VoleReceiver, VoleSender, pack::pack};
use crate::select::bit;
use crate::silent::{SilentParams, SilentReceiver, SilentSender, Stage};
use crate::{Delta, Instance, Message, OtError, SeededRng};

mod checked;

const INSTANCE: Instance = Instance {
    session: [6; 32],
    sender: 3,
    receiver: 4,
    stream: 5,
};

fn name_of<V: Element>() -> &'static str {
    if V::BITS == 64 { "words" } else { "blocks" }
}

/// Two stages; groups have 32 and 128 elements.
fn tiny<V: Element>() -> VoleParams<V> {
    VoleParams::new(if V::BITS == 64 {
        const {
            &[
                Stage::of_elements(64, 3, 48, 60),
                Stage::of_elements(64, 5, 128, 200),
            ]
        }
    } else {
        const {
            &[
                Stage::of_elements(128, 3, 48, 60),
                Stage::of_elements(128, 5, 128, 200),
            ]
        }
    })
}

/// One stage.
fn single<V: Element>() -> VoleParams<V> {
    VoleParams::new(if V::BITS == 64 {
        const { &[Stage::of_elements(64, 4, 16, 50)] }
    } else {
        const { &[Stage::of_elements(128, 4, 16, 50)] }
    })
}

/// Both sides of silent OTs over base rows as the ideal functionality deals them.
fn silent(seed: u64, params: SilentParams) -> (SilentSender, SilentReceiver) {
    let n = params.base_rows();
    let mut prg = Prg::new(Block::new(seed, 1));
    let (mut q, mut choices) = (vec![Block::ZERO; n], vec![0; n.div_ceil(8)]);
    prg.fill_blocks(&mut q);
    prg.fill(&mut choices);
    let mut rng = SeededRng::from_seed(Block::new(seed, 2));
    let delta = Delta::random_odd(&mut rng);
    let add = |(i, &q): (usize, &Block)| q ^ delta.expose() & Block::mask(bit(&choices, i) == 1);
    let t: Vec<Block> = q.iter().enumerate().map(add).collect();
    (
        SilentSender::new(&mut rng, INSTANCE, params, delta, &q).unwrap(),
        SilentReceiver::new(INSTANCE, params, &choices, &t).unwrap(),
    )
}

fn pair<V: Element>(seed: u64, params: VoleParams<V>) -> (VoleSender<V>, VoleReceiver<V>) {
    let (sender, receiver) = silent(seed, SilentParams::SMALL);
    let mut rng = SeededRng::from_seed(Block::new(seed, 3));
    let (sender, setup) = VoleSender::new(&mut rng, params, sender).unwrap();
    (sender, VoleReceiver::new(params, receiver, &setup).unwrap())
}

/// One call on both sides, checked against the definition; returns message, values, keys and tags.
fn extend<V: Element>(
    sender: &mut VoleSender<V>,
    receiver: &mut VoleReceiver<V>,
    m: usize,
) -> (Vec<u8>, Vec<V>, Vec<Block>, Vec<Block>) {
    let mut message = vec![0; sender.message_len(m)];
    assert_eq!(receiver.message_len(m), message.len());
    let (mut keys, mut tags) = (vec![Block::ZERO; m], vec![Block::ZERO; m]);
    let mut values = vec![V::default(); m];
    sender.extend(m, &mut message, &mut keys).unwrap();
    receiver
        .extend(&message, m, &mut values, &mut tags)
        .unwrap();
    let mut sums = keys.clone();
    Kernels::detect().field_multiply_add(sender.delta().expose(), &values, &mut sums);
    let wrong = (0..m).find(|&i| sums[i] != tags[i]);
    assert!(
        wrong.is_none(),
        "element {wrong:?} of {m} {}",
        name_of::<V>()
    );
    (message, values, keys, tags)
}

fn many_sizes<V: Element>() {
    for (seed, params) in [(1, tiny::<V>()), (2, single())] {
        let (mut sender, mut receiver) = pair(seed, params);
        let iteration = params.course().user_groups() * params.chunk();
        let chunk = params.chunk();
        for m in [
            0,
            1,
            2,
            chunk - 1,
            chunk,
            1000,
            iteration - 5,
            iteration,
            3 * iteration + 77,
        ] {
            let _ = extend(&mut sender, &mut receiver, m);
        }
    }
}

#[test]
fn tags_are_keys_plus_values_times_delta_iteration_after_iteration() {
    many_sizes::<u64>();
    many_sizes::<Block>();
}

#[test]
fn real_parameters() {
    fn run<V: Element>(seed: u64, m: u64) {
        let params = VoleParams::<V>::for_elements(m);
        let (mut sender, mut receiver) = pair(seed, params);
        let _ = extend(&mut sender, &mut receiver, m as usize);
    }
    run::<u64>(4, 1);
    // Plain AES takes seconds for a setup.
    if level() != Level::Portable {
        run::<Block>(5, 1);
        run::<u64>(6, 100_000);
        run::<u64>(7, 1_000_000);
        run::<Block>(8, 1_000_000);
    }
}

#[test]
fn the_division_into_calls_does_not_matter() {
    let params = tiny::<u64>();
    let total = 3 * params.course().user_groups() * params.chunk() + 300;
    let run = |sizes: &[usize]| {
        let (mut sender, mut receiver) = pair(5, params);
        let (mut bytes, mut made, mut all) = (0, 0, (Vec::new(), Vec::new()));
        for &m in sizes.iter().cycle() {
            let m = m.min(total - made);
            made += m;
            let (message, values, keys, _) = extend(&mut sender, &mut receiver, m);
            bytes += message.len();
            all.0.extend(values);
            all.1.extend(keys);
            if made == total {
                return (bytes, all);
            }
        }
        unreachable!("sizes are not empty")
    };
    let whole = run(&[total]);
    for sizes in [&[128][..], &[1, 2, 3, 500], &[127, 129, 128, 4000]] {
        assert!(run(sizes) == whole, "{sizes:?}");
    }
}

#[test]
fn costs_are_what_is_sent_and_computed() {
    fn run<V: Element>(params: VoleParams<V>) {
        let ots = SilentParams::SMALL;
        let (sender, receiver) = silent(6, ots);
        let mut rng = SeededRng::from_seed(Block::new(6, 3));
        let (made, blocks) = meter::metered(|| VoleSender::new(&mut rng, params, sender));
        let (mut sender, setup) = made.unwrap();
        let cost = params.setup_cost(&ots);
        assert_eq!(cost.sender_bytes, setup.len() as u64);
        // The roots' seed is the caller's.
        assert_eq!(cost.sender_aes + 1, blocks);
        let (made, blocks) = meter::metered(|| VoleReceiver::new(params, receiver, &setup));
        let mut receiver = made.unwrap();
        assert_eq!(cost.receiver_aes, blocks);
        let mut made = 0;
        for m in [0, 1, 5, 122, 128, 129, 2500, 1, 9000] {
            let cost = params.cost(&ots, made, m);
            let mut message = vec![0; sender.message_len(m)];
            let (mut keys, mut values) = (vec![Block::ZERO; m], vec![V::default(); m]);
            let (done, blocks) = meter::metered(|| sender.extend(m, &mut message, &mut keys));
            assert_eq!((done, blocks), (Ok(()), cost.sender_aes), "{m}, sender");
            let read = || receiver.extend(&message, m, &mut values, &mut keys);
            let (done, blocks) = meter::metered(read);
            assert_eq!((done, blocks), (Ok(()), cost.receiver_aes), "{m}, receiver");
            assert_eq!(message.len() as u64, cost.sender_bytes);
            assert_eq!(cost.rounds, u64::from(!message.is_empty()));
            assert_eq!(
                (cost.receiver_bytes, cost.sender_aes > 0),
                (0, !message.is_empty())
            );
            made += m as u64;
        }
    }
    run(tiny::<u64>());
    run(single::<Block>());
}

/// A byte for each element, and the setup.
#[test]
fn large_requests_are_short() {
    let m = 10_000_000;
    let params = VoleParams::<u64>::for_elements(m as u64);
    let silent = params.silent(m as u64);
    assert_eq!(silent, SilentParams::LARGE);
    let bytes = params.cost(&silent, 0, m).sender_bytes as f64 / m as f64;
    assert!(
        (1.0..1.2).contains(&bytes),
        "{bytes} bytes for each element"
    );
    let setup = params.setup_cost(&silent).sender_bytes;
    assert!(setup < 250_000, "{setup} bytes of setup");
    assert!(VoleParams::<Block>::for_elements(u64::MAX).silent(u64::MAX) == SilentParams::LARGE);
}

/// A packed row is the row of the element whose bits are the choices.
#[test]
fn packed_rows_belong_to_packed_choices() {
    fn run<V: Element>() {
        let mut prg = Prg::new(Block::new(V::BITS as u64, 8));
        let delta = prg.next_block();
        let mut value = [V::default()];
        prg.fill(V::bytes_mut(&mut value));
        let choices = V::bytes_mut(&mut value).to_vec();
        let mut q = vec![Block::ZERO; V::BITS];
        prg.fill_blocks(&mut q);
        let row = |i: usize| q[i] ^ delta & Block::mask(bit(&choices, i) == 1);
        let t: Vec<Block> = (0..V::BITS).map(row).collect();
        let mut sum = [pack::<V>(&q)];
        Kernels::detect().field_multiply_add(delta, &value, &mut sum);
        assert!(sum[0] == pack::<V>(&t), "{}", name_of::<V>());
    }
    run::<u64>();
    run::<Block>();
    assert!(field::times_y(Block::new(1, 0)) == Block::new(0, 1));
}

/// No pattern in values, keys and tags: every element is new, bits are balanced, also against those before them
/// at the distances that the layout suggests, and in each residue class of trees.
#[test]
fn outputs_look_random() {
    if level() == Level::Portable {
        // The bits are those of any other level; see `known_answers`.
        return;
    }
    let (mut sender, mut receiver) = pair(7, VoleParams::<u64>::for_elements(1_000_000));
    let m = 400_000;
    let (_, values, keys, tags) = extend(&mut sender, &mut receiver, m);
    let ones = |what: &str, f: &dyn Fn(usize) -> bool, from: usize, step: usize| {
        let taken = (from..m).step_by(step);
        let n = taken.clone().count() as f64;
        let ones = taken.filter(|&i| f(i)).count() as f64;
        let sigmas = (ones - n / 2.0) / (n.sqrt() / 2.0);
        assert!(sigmas.abs() < 5.5, "{what}: {sigmas} standard deviations");
    };
    for column in [0, 1, 31, 63] {
        let value = |i: usize| values[i] >> column & 1 == 1;
        for tree in 0..4 {
            ones("values", &value, tree, 4);
        }
        for distance in [1, 2, 3, 4, 8, 64, 128, 512, 1024] {
            ones(
                "neighbours",
                &|i| value(i) ^ value(i - distance),
                distance,
                1,
            );
        }
    }
    for column in 0..128 {
        ones("keys", &|i| keys[i].bit(column), 0, 1);
        ones("tags", &|i| tags[i].bit(column), 0, 1);
    }
    for mut rows in [keys, tags] {
        rows.sort_by_key(|&row| u128::from(row));
        assert!(rows.windows(2).all(|pair| pair[0] != pair[1]));
    }
    let mut values = values;
    values.sort_unstable();
    assert!(values.windows(2).all(|pair| pair[0] != pair[1]));
}

#[test]
fn wrong_lengths_are_errors_and_move_nothing() {
    let params = tiny::<u64>();
    let (ots, receiver_ots) = silent(8, SilentParams::SMALL);
    let mut rng = SeededRng::from_seed(Block::new(8, 3));
    let (mut sender, setup) = VoleSender::new(&mut rng, params, ots).unwrap();
    let due = setup.len();
    let length = |message, expected, got| OtError::MessageLength {
        message,
        expected,
        got,
    };
    for got in [0, due - 1, due + 1] {
        let (_, ots) = silent(8, SilentParams::SMALL);
        let mut setup = setup.clone();
        setup.resize(got, 0);
        let error = VoleReceiver::new(params, ots, &setup).map(drop);
        assert_eq!(error, Err(length(Message::VoleSetup, due, got)));
    }
    let mut receiver = VoleReceiver::new(params, receiver_ots, &setup).unwrap();
    let m = 1000;
    let mut message = vec![0; sender.message_len(m)];
    let (mut keys, mut tags, mut values) = (vec![Block::ZERO; m], vec![Block::ZERO; m], vec![0; m]);
    assert!(sender.extend(m, &mut message[1..], &mut keys).is_err());
    assert!(sender.extend(m, &mut message, &mut keys[1..]).is_err());
    sender.extend(m, &mut message, &mut keys).unwrap();
    let due = message.len();
    for got in [0, 1, 16, due - 1] {
        let error = receiver.extend(&message[..got], m, &mut values, &mut tags);
        assert_eq!(error, Err(length(Message::Vole, due, got)));
    }
    message.push(0);
    assert!(
        receiver
            .extend(&message, m, &mut values, &mut tags)
            .is_err()
    );
    message.pop();
    assert!(
        receiver
            .extend(&message, m, &mut values[1..], &mut tags)
            .is_err()
    );
    assert!(
        receiver
            .extend(&message, m, &mut values, &mut tags[1..])
            .is_err()
    );
    receiver
        .extend(&message, m, &mut values, &mut tags)
        .unwrap();
    Kernels::detect().field_multiply_add(sender.delta().expose(), &values, &mut keys);
    assert!(keys == tags);
    let text = length(Message::Vole, 5, 4).to_string();
    assert!(
        text.contains("VOLE message") && text.contains("4 bytes where 5 are due"),
        "{text}"
    );
}

/// A message that was changed anywhere gives other tags, and no panic: silent OTs, level sums, sums of leaves.
#[test]
fn tampering_gives_other_tags_and_no_panic() {
    let m = 2000;
    let params = tiny::<Block>();
    let length = pair(9, params).0.message_len(m);
    let mut caught = 0;
    for place in (0..length).step_by(length / 40) {
        let (mut sender, mut receiver) = pair(9, params);
        let mut message = vec![0; length];
        let (mut keys, mut tags) = (vec![Block::ZERO; m], vec![Block::ZERO; m]);
        let mut values = vec![Block::ZERO; m];
        sender.extend(m, &mut message, &mut keys).unwrap();
        message[place] ^= 0x80;
        receiver
            .extend(&message, m, &mut values, &mut tags)
            .unwrap();
        Kernels::detect().field_multiply_add(sender.delta().expose(), &values, &mut keys);
        caught += usize::from(keys != tags);
    }
    // A level sum that is wrong on the other side of a point changes nothing.
    assert!(caught >= 20, "{caught} of 41 changes show");
}

/// Codes and keys follow from session and instance, and from nothing else that the parties pass.
#[test]
fn parties_of_different_sessions_get_unrelated_values() {
    let params = tiny::<u64>();
    let mut other = INSTANCE;
    other.session[31] ^= 1;
    let base = vec![Block::ZERO; SilentParams::SMALL.base_rows()];
    let choices = vec![0; base.len().div_ceil(8)];
    let [a, b, c] = [INSTANCE, INSTANCE, other].map(|instance| {
        let ots = SilentReceiver::new(instance, SilentParams::SMALL, &choices, &base).unwrap();
        let setup = vec![0; ots.message_len(params.setup_ots())];
        let mut receiver = VoleReceiver::new(params, ots, &setup).unwrap();
        let m = 500;
        let message = vec![0; receiver.message_len(m)];
        let (mut values, mut tags) = (vec![0; m], vec![Block::ZERO; m]);
        receiver
            .extend(&message, m, &mut values, &mut tags)
            .unwrap();
        tags
    });
    assert!(a == b);
    let mut both = [a, c].concat();
    both.sort_by_key(|&row| u128::from(row));
    assert!(both.windows(2).all(|pair| pair[0] != pair[1]));
}

#[test]
fn debug_is_redacted() {
    let (sender, receiver) = pair(10, tiny::<u64>());
    for text in [format!("{sender:?}"), format!("{receiver:?}")] {
        assert!(text.ends_with("stream: 5 }, .. }"), "{text}");
    }
}

/// Pins the wire format and the outputs: a change here is a change of the protocol's version.
#[test]
fn known_answers() {
    use sha2::{Digest, Sha256};
    let digest = |bytes: &[u8]| -> String {
        let digest = Sha256::digest(bytes);
        digest[..8].iter().map(|b| format!("{b:02x}")).collect()
    };
    let (mut sender, mut receiver) = pair(11, tiny::<Block>());
    let (message, values, keys, tags) = extend(&mut sender, &mut receiver, 10_000);
    let blocks =
        [values, keys, tags].map(|blocks| digest(madrigal_kernels::blocks_as_bytes(&blocks)));
    assert_eq!(
        (
            digest(&message).as_str(),
            blocks.each_ref().map(String::as_str)
        ),
        (
            "b8a4f6fc823448c8",
            ["7fe8a15f612e800e", "b8ee9dd12f5932ec", "4f1908aa17d3d829"]
        )
    );
}

/// An error of 1 adds Delta once to the hash of a leaf: with a plain hash that would leave what the cipher gives of the leaf, which can be
/// turned back.
#[test]
fn an_error_of_one_does_not_lay_a_leaf_bare() {
    let hash = RowHash::new(Block::new(3, 4));
    let cipher = |x: Block| {
        let mut out = [Block::ZERO];
        hash.hash_same_row(0, &[x], &mut out);
        out[0] ^ x
    };
    let (known, delta) = (Block::new(5, 6), Block::new(7, 9));
    let leaf = known ^ delta;
    let mut hashed = [Block::ZERO];
    super::hashed(&hash, &mut [leaf], &mut hashed);
    let told = hashed[0] ^ delta;
    assert_ne!(told ^ known, cipher(leaf));
    assert_ne!(told ^ times_y(known), cipher(times_y(leaf)));
    assert_eq!(hashed[0], cipher(times_y(leaf)) ^ times_y(leaf));
    // An error of y does, which a malicious receiver can have; not once a public shift is added that it did not know.
    let times = |error: Block| Kernels::detect().field_product(error, delta);
    let (y, shift) = (Block::new(0, 1), Block::new(10, 11));
    let told = |error: Block| hashed[0] ^ times(error);
    assert_eq!(told(y) ^ times_y(known), cipher(times_y(leaf)));
    assert_ne!(told(y ^ shift) ^ times_y(known), cipher(times_y(leaf)));
}
