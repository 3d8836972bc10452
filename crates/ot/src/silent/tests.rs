//! Silent OT over ideal base rows at sizes too small to be secure, where every boundary is near.

use madrigal_kernels::{
    Block, Prg,
    ggm::{GgmTrees, TREES},
};

use super::{SilentParams, SilentReceiver, SilentSender, Stage};
use crate::{Delta, Instance, Message, OtError, SeededRng, select::bit};

/// Two stages; an iteration of the second hands out 23 groups of 128 rows and keeps 9.
const TINY: SilentParams = SilentParams::new(&[Stage::new(5, 48, 100), Stage::new(5, 128, 500)]);
/// One stage.
const SINGLE: SilentParams = SilentParams::new(&[Stage::new(6, 16, 200)]);

const INSTANCE: Instance = Instance {
    session: [6; 32],
    sender: 3,
    receiver: 4,
    stream: 5,
};

/// Both sides over base rows as the ideal functionality deals them.
fn pair(seed: u64, params: SilentParams) -> (SilentSender, SilentReceiver) {
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

/// One call on both sides, checked against the definition; returns message, choices, q and t.
fn extend(
    sender: &mut SilentSender,
    receiver: &mut SilentReceiver,
    m: usize,
) -> (Vec<u8>, Vec<u8>, Vec<Block>, Vec<Block>) {
    let mut message = vec![0; sender.message_len(m)];
    let (mut q, mut t) = (vec![Block::ZERO; m], vec![Block::ZERO; m]);
    let mut choices = vec![0xff; m.div_ceil(8)];
    let sent = sender.extend(m, &mut message, &mut q).unwrap();
    let got = receiver.extend(&message, m, &mut choices, &mut t).unwrap();
    assert_eq!(sent, got);
    assert_eq!(sent.len(), m);
    let delta = sender.delta().expose();
    for i in 0..m {
        let r = bit(&choices, i) == 1;
        assert!(t[i] == q[i] ^ delta & Block::mask(r), "row {i} of {m}");
        assert!(!q[i].bit(0) && t[i].bit(0) == r, "row {i} of {m}");
    }
    if !m.is_multiple_of(8) {
        assert_eq!(choices[m / 8] >> (m % 8), 0, "padding");
    }
    (message, choices, q, t)
}

#[test]
fn rows_differ_by_choice_times_delta_iteration_after_iteration() {
    for (seed, params) in [(1, TINY), (2, SINGLE), (3, SilentParams::SMALL)] {
        let (mut sender, mut receiver) = pair(seed, params);
        let iteration = params.user_groups() * params.chunk();
        let sizes = [
            0,
            1,
            127,
            params.chunk(),
            1000,
            iteration - 5,
            iteration,
            3 * iteration + 77,
        ];
        for m in sizes {
            let _ = extend(&mut sender, &mut receiver, m);
        }
    }
}

#[test]
fn large_parameters() {
    let params = SilentParams::LARGE;
    let (mut sender, mut receiver) = pair(4, params);
    let chunk = params.chunk();
    // Into the second iteration.
    for _ in 0..=params.user_groups() {
        let _ = extend(&mut sender, &mut receiver, chunk);
    }
}

#[test]
fn the_division_into_calls_does_not_matter() {
    let total = 3 * TINY.user_groups() * TINY.chunk() + 300;
    let run = |sizes: &[usize]| {
        let (mut sender, mut receiver) = pair(5, TINY);
        let (mut message, mut q, mut made) = (Vec::new(), Vec::new(), 0);
        for &m in sizes.iter().cycle() {
            let m = m.min(total - made);
            made += m;
            let (bytes, _, rows, _) = extend(&mut sender, &mut receiver, m);
            message.extend(bytes);
            q.extend(rows);
            if made == total {
                return (message, q);
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
fn costs_are_what_is_sent_and_expanded() {
    for params in [TINY, SINGLE] {
        let (mut sender, mut receiver) = pair(6, params);
        let mut made = 0;
        for m in [0, 1, 5, 122, 128, 129, 2500, 1, 9000] {
            let cost = params.cost(made, m);
            let (roots, coins) = (sender.root_position(), sender.coins_drawn());
            let (message, ..) = extend(&mut sender, &mut receiver, m);
            assert_eq!(message.len(), params.message_len(made, m));
            assert_eq!(message.len() as u64, cost.sender_bytes);
            assert_eq!(cost.receiver_bytes, 0);
            assert_eq!(cost.rounds, u64::from(!message.is_empty()));
            let drawn = sender.root_position() - roots;
            assert_eq!(cost.sender_aes - cost.receiver_aes, drawn);
            // The rest are the trees' hashes and the code's indices, known for each group.
            let groups = drawn / TREES as u64;
            let stage = &params.stages()[0];
            let (leaves, rows) = (1 << stage.depth(), stage.group_rows() as u64);
            let each = TREES as u64 * (leaves - 2) + rows * 5 / 2;
            let coins = sender.coins_drawn() - coins;
            assert_eq!(cost.receiver_aes, groups * each + coins);
            made += m as u64;
        }
    }
}

/// About a bit per OT at ten million, base rows by IKNP (16 bytes each) included.
#[test]
fn large_requests_are_silent() {
    let (params, m) = (SilentParams::LARGE, 10_000_000);
    let base = 16 * params.base_rows().next_multiple_of(128);
    let bits = 8.0 * (params.message_len(0, m) + base) as f64 / m as f64;
    assert!(bits < 1.1, "{bits} bits per OT");
    let later = 8.0 * params.message_len(m as u64, m) as f64 / m as f64;
    assert!(later < 0.75, "{later} bits per OT");
    assert_eq!(params.message_len(u64::MAX, usize::MAX), 0);
}

/// No pattern in choices and rows: every block of rows is new, choices are balanced, also against
/// their predecessors at the distances that the layout suggests, and in each residue class of
/// trees.
#[test]
fn outputs_look_random() {
    let (mut sender, mut receiver) = pair(7, SilentParams::SMALL);
    let m = 600_000;
    let (_, choices, q, t) = extend(&mut sender, &mut receiver, m);
    let ones = |f: &dyn Fn(usize) -> bool, from: usize, step: usize| {
        let taken = (from..m).step_by(step);
        let n = taken.clone().count() as f64;
        let ones = taken.filter(|&i| f(i)).count() as f64;
        let sigmas = (ones - n / 2.0) / (n.sqrt() / 2.0);
        assert!(sigmas.abs() < 5.5, "{sigmas} standard deviations");
    };
    let choice = |i: usize| bit(&choices, i) == 1;
    for tree in 0..4 {
        ones(&choice, tree, 4);
    }
    for distance in [1, 2, 3, 4, 8, 512, 1024, 2048, 249_856] {
        ones(&|i| choice(i) ^ choice(i - distance), distance, 1);
    }
    for column in 1..128 {
        ones(&|i| q[i].bit(column), 0, 1);
        ones(&|i| t[i].bit(column), 0, 1);
    }
    for mut rows in [q, t] {
        rows.sort_by_key(|&row| u128::from(row));
        assert!(rows.windows(2).all(|pair| pair[0] != pair[1]));
    }
}

/// Each leaf at which a tree's noise sits: exactly one per tree, anywhere in it.
#[test]
fn noise_is_regular_and_uniform() {
    let (depth, runs) = (5, 400);
    let mut hits = vec![0_u32; 1 << depth];
    for seed in 0..runs {
        let mut prg = Prg::new(Block::new(seed, 3));
        let mut rows = [Block::ZERO; 4 * 5];
        prg.fill_blocks(&mut rows);
        let mut message = vec![0; 16 * rows.len()];
        prg.fill(&mut message);
        let mut nodes = vec![Block::ONES; 4 << depth];
        let trees = GgmTrees::new(Block::new(seed, 4));
        super::trees::grow_receiver(&trees, &rows, &message, &mut nodes);
        for tree in 0..4 {
            let leaves = nodes[tree..].iter().step_by(4);
            let marked: Vec<usize> = leaves
                .enumerate()
                .filter(|(_, leaf)| leaf.bit(0))
                .map(|(j, _)| j)
                .collect();
            let turns = (0..depth).map(|l| usize::from(!rows[4 * l + tree].bit(0)) << l);
            assert_eq!(marked, [turns.sum::<usize>()]);
            hits[marked[0]] += 1;
        }
    }
    let expected = f64::from(4 * runs as u32) / hits.len() as f64;
    let square = |&h: &u32| (f64::from(h) - expected).powi(2) / expected;
    let chi: f64 = hits.iter().map(square).sum();
    assert!(chi < 80.0, "chi squared {chi} with 31 degrees of freedom");
}

#[test]
fn wrong_lengths_are_errors_and_move_nothing() {
    let (mut sender, mut receiver) = pair(8, TINY);
    let m = 1000;
    let mut message = vec![0; sender.message_len(m)];
    let expected = message.len();
    let (mut q, mut t, mut choices) = (vec![Block::ZERO; m], vec![Block::ZERO; m], vec![0; 125]);
    assert!(sender.extend(m, &mut message[1..], &mut q).is_err());
    assert!(sender.extend(m, &mut message, &mut q[1..]).is_err());
    let _ = sender.extend(m, &mut message, &mut q).unwrap();
    for cut in [0, 1, 15, 16, 17, expected - 1] {
        let error = receiver.extend(&message[..cut], m, &mut choices, &mut t);
        let expected = OtError::MessageLength {
            message: Message::Silent,
            expected,
            got: cut,
        };
        assert_eq!(error, Err(expected));
    }
    message.push(0);
    assert!(receiver.extend(&message, m, &mut choices, &mut t).is_err());
    message.pop();
    assert!(
        receiver
            .extend(&message, m, &mut choices[1..], &mut t)
            .is_err()
    );
    assert!(
        receiver
            .extend(&message, m, &mut choices, &mut t[1..])
            .is_err()
    );
    let _ = receiver.extend(&message, m, &mut choices, &mut t).unwrap();
    for i in 0..m {
        let mask = Block::mask(bit(&choices, i) == 1);
        assert!(t[i] == q[i] ^ sender.delta().expose() & mask);
    }
}

#[test]
fn tampering_gives_other_rows_and_no_panic() {
    let m = 2000;
    for place in [0, 3, 16, 40, 200, 2000] {
        let (mut sender, mut receiver) = pair(9, TINY);
        let mut message = vec![0; sender.message_len(m)];
        let (mut q, mut t) = (vec![Block::ZERO; m], vec![Block::ZERO; m]);
        let mut choices = vec![0; m / 8];
        let _ = sender.extend(m, &mut message, &mut q).unwrap();
        message[place] ^= 0x80;
        let _ = receiver.extend(&message, m, &mut choices, &mut t).unwrap();
        let delta = sender.delta().expose();
        let wrong = |i: usize| t[i] != q[i] ^ delta & Block::mask(bit(&choices, i) == 1);
        assert!((0..m).any(wrong), "byte {place}");
    }
}

/// Codes and trees' keys follow from session and instance, and from nothing else that the parties
/// pass.
#[test]
fn parties_of_different_sessions_get_unrelated_rows() {
    let mut other = INSTANCE;
    other.session[31] ^= 1;
    let m = 2000;
    let base = vec![Block::ZERO; TINY.base_rows()];
    let choices = vec![0; base.len().div_ceil(8)];
    let [a, b, c] = [INSTANCE, INSTANCE, other].map(|context| {
        let mut receiver = SilentReceiver::new(context, TINY, &choices, &base).unwrap();
        let message = vec![0; receiver.message_len(m)];
        let (mut t, mut r) = (vec![Block::ZERO; m], vec![0; m / 8]);
        let _ = receiver.extend(&message, m, &mut r, &mut t).unwrap();
        t
    });
    assert!(a == b);
    let mut both = [a, c].concat();
    both.sort_by_key(|&row| u128::from(row));
    assert!(both.windows(2).all(|pair| pair[0] != pair[1]));
}

#[test]
fn bad_beginnings_are_refused() {
    let mut rng = SeededRng::from_seed(Block::new(1, 1));
    let base = vec![Block::ZERO; TINY.base_rows()];
    let even = Delta::from_block(Block::new(2, 3));
    let error = SilentSender::new(&mut rng, INSTANCE, TINY, even, &base).map(drop);
    assert_eq!(error, Err(OtError::EvenDelta));
    let odd = Delta::from_block(Block::new(3, 3));
    assert!(SilentSender::new(&mut rng, INSTANCE, TINY, odd, &base[1..]).is_err());
    let choices = vec![0; base.len().div_ceil(8)];
    assert!(SilentReceiver::new(INSTANCE, TINY, &choices[1..], &base).is_err());
    assert!(SilentReceiver::new(INSTANCE, TINY, &choices, &base[1..]).is_err());
}

#[test]
fn debug_is_redacted() {
    let (sender, receiver) = pair(10, TINY);
    for text in [format!("{sender:?}"), format!("{receiver:?}")] {
        assert!(text.ends_with("stream: 5 }, .. }"), "{text}");
    }
}

/// Pins the wire format and the outputs: a change here is a change of the protocol's version.
#[test]
fn known_answers() {
    use sha2::{Digest, Sha256};
    let (mut sender, mut receiver) = pair(11, SilentParams::SMALL);
    let (message, choices, q, t) = extend(&mut sender, &mut receiver, 300_000);
    let digest = |bytes: &[u8]| -> String {
        let digest = Sha256::digest(bytes);
        digest[..8].iter().map(|b| format!("{b:02x}")).collect()
    };
    let found = [
        digest(&message),
        digest(&choices),
        digest(madrigal_kernels::blocks_as_bytes(&q)),
        digest(madrigal_kernels::blocks_as_bytes(&t)),
    ];
    let expected = [
        "5f3e371ab2d84f50",
        "016bc244511816d1",
        "16363c19fcdc2f46",
        "031919ea6057f8b8",
    ];
    assert_eq!(found, expected);
}
