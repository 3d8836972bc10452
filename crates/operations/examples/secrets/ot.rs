//! Oblivious transfer: base OTs, extensions, flavours, silent OT; both parties in turn.

use madrigal_core::Zeroizing;
use madrigal_kernels::Block;
use madrigal_ot::base::endemic::{EndemicReceiver, EndemicSender};
use madrigal_ot::base::{BaseReceiver, BaseSender, kem};
use madrigal_ot::flavour::{self, OneOf};
use madrigal_ot::silent::{
    QueuedReceiver, QueuedSender, SilentParams, SilentReceiver, SilentSender,
};
use madrigal_ot::softspoken::{FieldBits, SoftSpokenReceiver, SoftSpokenSender};
use madrigal_ot::{
    Delta, ExtensionReceiver, ExtensionSender, Instance, KAPPA, OtError, SeededRng, Tweaks,
};

use crate::{Outcome, Path, drawn, generator, hidden, right, shown};

pub(crate) const PATHS: &[Path] = &[
    ("base/hauck-loss", hauck_loss),
    ("base/endemic", endemic),
    ("base/ml-kem", ml_kem),
    ("extension/softspoken", || {
        (1..=8).try_for_each(|k| softspoken(FieldBits::new(k)?))
    }),
    ("extension/silent", silent),
    ("flavour/bits-and-blocks", bits_and_blocks),
    ("flavour/strings", strings),
    ("flavour/1-of-n", one_of),
];

const INSTANCE: Instance = Instance {
    session: [7; 32],
    sender: 0,
    receiver: 1,
    stream: 0,
};

const SILENT: Instance = Instance {
    stream: 1,
    ..INSTANCE
};

/// Base OTs of a run: all take the same way.
const BASE: usize = 16;

fn rng(label: u64) -> SeededRng {
    SeededRng::from_seed(generator(label).next_block())
}

/// The key of each choice out of both, as an oracle has it.
fn keys_are_right(choices: &[u8], pairs: &[[Block; 2]], chosen: &[Block]) -> Outcome {
    let both: Vec<[u8; 32]> = pairs
        .iter()
        .map(|[zero, one]| {
            let mut both = [0; 32];
            both[..16].copy_from_slice(&zero.to_bytes());
            both[16..].copy_from_slice(&one.to_bytes());
            both
        })
        .collect();
    hidden("both keys", &both)?;
    hidden("the chosen keys", chosen)?;
    let (choices, pairs, chosen) = (shown(choices), shown(pairs), shown(chosen));
    let bit = |i: usize| usize::from(choices[i / 8] >> (i % 8) & 1);
    let so = (0..chosen.len()).all(|i| chosen[i] == pairs[i][bit(i)]);
    right("the chosen keys", so && pairs[0][0] != pairs[0][1])
}

fn hauck_loss() -> Outcome {
    let choices = drawn(1, BASE / 8);
    let (sender, message) = BaseSender::new(&mut rng(2), INSTANCE);
    let answer = BaseReceiver::new(INSTANCE).respond(&mut rng(3), &message, &choices, BASE)?;
    let pairs = sender.finish(&answer.message, BASE)?;
    keys_are_right(&choices, &pairs, &answer.keys)
}

fn endemic() -> Outcome {
    let choices = drawn(1, BASE / 8);
    let (sender, b) = EndemicSender::new(&mut rng(2), INSTANCE);
    let (receiver, message) = EndemicReceiver::new(&mut rng(3), INSTANCE, &choices, BASE)?;
    let pairs = sender.finish(&message, BASE)?;
    keys_are_right(&choices, &pairs, &receiver.finish(&b)?)
}

/// The choices and the vectors that hide the other keys are marked; the secrets of ML-KEM itself are not,
/// as aws-lc draws them where no mark is made.
fn ml_kem() -> Outcome {
    let choices = drawn(1, BASE / 8);
    let (receiver, message) = kem::KemReceiver::new(&mut rng(3), INSTANCE, &choices, BASE)?;
    let response = kem::respond(INSTANCE, &message, BASE)?;
    let chosen = receiver.finish(&response.message)?;
    hidden("the chosen keys", &chosen)?;
    let (choices, pairs, chosen) = (shown(&choices), shown(&response.keys), shown(&chosen));
    let bit = |i: usize| usize::from(choices[i / 8] >> (i % 8) & 1);
    let so = (0..BASE).all(|i| chosen[i] == pairs[i][bit(i)]);
    right("the chosen keys", so && pairs[0][0] != pairs[0][1])
}

/// Results of base OTs: Delta and the keys that its bits select; both keys.
fn dealt() -> (Delta, Vec<Block>, Vec<[Block; 2]>) {
    let mut prg = generator(10);
    let delta = Delta::random_odd(&mut rng(11));
    let pairs: Vec<[Block; 2]> = (0..KAPPA)
        .map(|_| [prg.next_block(), prg.next_block()])
        .collect();
    let bits = delta.choice_bits();
    let keys = pairs.iter().enumerate().map(|(i, &[zero, one])| {
        let mask = madrigal_kernels::opaque_word(u64::from(bits[i / 8] >> (i % 8) & 1));
        zero ^ (zero ^ one) & Block::new(mask.wrapping_neg(), mask.wrapping_neg())
    });
    (delta, keys.collect(), pairs)
}

/// Both ends of an extension.
fn ends(k: FieldBits) -> Result<(SoftSpokenSender, SoftSpokenReceiver), OtError> {
    let (delta, keys, pairs) = dealt();
    let (receiver, setup) = SoftSpokenReceiver::new(INSTANCE, k, &pairs)?;
    Ok((
        SoftSpokenSender::new(INSTANCE, k, delta, &keys, &setup)?,
        receiver,
    ))
}

/// A number that fills no byte, over several chunks.
const OTS: usize = 2500;

fn rows_are_right(delta: &Delta, choices: &[u8], q: &[Block], t: &[Block]) -> Outcome {
    let (choices, q, t) = (shown(choices), shown(q), shown(t));
    let delta = shown(&[delta.expose()])[0];
    let so = (0..q.len()).all(|i| match choices[i / 8] >> (i % 8) & 1 {
        0 => q[i] == t[i],
        _ => q[i] == t[i] ^ delta,
    });
    right("rows", so)
}

fn softspoken(k: FieldBits) -> Outcome {
    let (mut sender, mut receiver) = ends(k)?;
    let choices = drawn(20, OTS.div_ceil(8));
    let (mut q, mut t) = (vec![Block::ZERO; OTS], vec![Block::ZERO; OTS]);
    let mut message = vec![0; receiver.message_len(OTS)];
    let _ = receiver.extend(&choices, OTS, &mut message, &mut t)?;
    let _ = sender.extend(&message, OTS, &mut q)?;
    hidden("the sender's rows", &q)?;
    hidden("the receiver's rows", &t)?;
    rows_are_right(sender.delta(), &choices, &q, &t)?;

    let mut random = vec![0; OTS.div_ceil(8)];
    let mut message = vec![0; receiver.random_message_len(OTS)];
    let _ = receiver.extend_random(&mut rng(21), OTS, &mut random, &mut message, &mut t)?;
    let _ = sender.extend_random(&message, OTS, &mut q)?;
    rows_are_right(sender.delta(), &random, &q, &t)
}

/// Through all stages: base rows of another extension, offers, random and given choices.
fn silent() -> Outcome {
    const PARAMS: SilentParams = SilentParams::SMALL;
    let (mut sender, mut receiver) = ends(FieldBits::MAX)?;
    let n = PARAMS.base_rows();
    let (mut q, mut t) = (vec![Block::ZERO; n], vec![Block::ZERO; n]);
    let mut choices = vec![0; n.div_ceil(8)];
    let mut message = vec![0; receiver.random_message_len(n)];
    let _ = receiver.extend_random(&mut rng(30), n, &mut choices, &mut message, &mut t)?;
    let _ = sender.extend_random(&message, n, &mut q)?;

    let delta = Delta::from_block(sender.delta().expose());
    let sender = SilentSender::new(&mut rng(31), SILENT, PARAMS, delta, &q)?;
    let receiver = SilentReceiver::new(SILENT, PARAMS, &choices, &t)?;
    let (mut sender, mut receiver) = (QueuedSender::new(sender), QueuedReceiver::new(receiver));
    let message = sender.offer(2 * OTS)?;
    receiver.accept(&message, 2 * OTS)?;

    let (mut q, mut t) = (vec![Block::ZERO; OTS], vec![Block::ZERO; OTS]);
    let mut random = vec![0; OTS.div_ceil(8)];
    let _ = receiver.extend_random(&mut rng(32), OTS, &mut random, &mut [], &mut t)?;
    let _ = sender.extend_random(&[], OTS, &mut q)?;
    hidden("the receiver's rows", &t)?;
    rows_are_right(sender.delta(), &random, &q, &t)?;

    let given = drawn(33, OTS.div_ceil(8));
    let mut flips = vec![0; receiver.message_len(OTS)];
    let _ = receiver.extend(&given, OTS, &mut flips, &mut t)?;
    let _ = sender.extend(&flips, OTS, &mut q)?;
    rows_are_right(sender.delta(), &given, &q, &t)
}

/// Rows of OTs with given choices, to be hashed, and the rights to do so, `times` times.
struct Rows {
    delta: Delta,
    choices: Vec<u8>,
    q: Vec<Block>,
    t: Vec<Block>,
    tweaks: (Tweaks, Tweaks),
}

fn rows(choices: &[u8], m: usize) -> Result<Rows, OtError> {
    let (mut sender, mut receiver) = ends(FieldBits::new(4)?)?;
    let (mut q, mut t) = (vec![Block::ZERO; m], vec![Block::ZERO; m]);
    let mut message = vec![0; receiver.message_len(m)];
    let received = receiver.extend(choices, m, &mut message, &mut t)?;
    let sent = sender.extend(&message, m, &mut q)?;
    Ok(Rows {
        delta: Delta::from_block(sender.delta().expose()),
        choices: choices.to_vec(),
        q,
        t,
        tweaks: (sent, received),
    })
}

/// OTs of a flavour.
const FEW: usize = 100;

/// Random, correlated, precomputed and chosen OTs of bits and blocks.
fn bits_and_blocks() -> Outcome {
    let Rows {
        delta,
        choices,
        q,
        t,
        tweaks: (sent, received),
    } = rows(&drawn(40, FEW.div_ceil(8)), FEW)?;
    let bytes = FEW.div_ceil(8);
    let (mut k0, mut k1, mut k) = (vec![0; bytes], vec![0; bytes], vec![0; bytes]);
    flavour::sender_random_bits(&delta, sent, &q, &mut k0, &mut k1)?;
    flavour::receiver_random_bits(received, &t, &mut k)?;
    let (a, wanted) = (drawn(41, bytes), drawn(42, bytes));
    let mut corrections = vec![0; bytes];
    flavour::sender_correlated_bits(FEW, &a, &k0, &k1, &mut corrections)?;
    let flips = flavour::choice_flips(FEW, &choices, &wanted)?;
    let (mut x, mut y) = (k0.clone(), k.clone());
    flavour::sender_precomputed_correlated_bits(FEW, &flips, &mut x, &k1)?;
    flavour::receiver_correlated_bits(FEW, &wanted, &corrections, &mut y)?;
    let product = |i: usize| x[i] ^ y[i] ^ a[i] & wanted[i];
    let wrong: Vec<u8> = (0..FEW / 8).map(product).collect();
    right(
        "precomputed OTs",
        shown(&wrong).iter().all(|&wrong| wrong == 0),
    )?;
    flavour::receiver_correlated_bits(FEW, &choices, &corrections, &mut k)?;
    flavour::swap_bits(FEW, &flips, &mut k0, &mut k1)?;

    let Rows {
        delta,
        choices,
        q,
        t,
        tweaks: (sent, received),
    } = rows(&choices, FEW)?;
    let zeros = || Zeroizing::new(vec![Block::ZERO; FEW]);
    let (mut k0, mut k1, mut k) = (zeros(), zeros(), zeros());
    flavour::sender_random_blocks(&delta, sent, &q, &mut k0, &mut k1)?;
    flavour::receiver_random_blocks(received, &t, &mut k)?;
    let mut prg = generator(43);
    let correlation: Vec<Block> = (0..FEW).map(|_| prg.next_block()).collect();
    let corrections = flavour::sender_correlated_blocks(&correlation, &k0, k1.clone())?;
    flavour::receiver_correlated_blocks(&choices, &corrections, &mut k.clone())?;
    let messages: Vec<[Block; 2]> = (0..FEW)
        .map(|_| [prg.next_block(), prg.next_block()])
        .collect();
    let flips = flavour::choice_flips(FEW, &choices, &wanted)?;
    flavour::swap_blocks(&flips, &mut k0, &mut k1)?;
    let masked = flavour::sender_chosen_blocks(&messages, k0, k1)?;
    flavour::receiver_chosen_blocks(&wanted, &masked, &mut k)?;
    keys_are_right(&wanted, &messages, &k)
}

/// Strings short and long, and additive correlations.
fn strings() -> Outcome {
    for len in [8, 40] {
        let Rows {
            delta,
            choices,
            q,
            t,
            tweaks: (sent, received),
        } = rows(&drawn(50, FEW.div_ceil(8)), FEW)?;
        let zeros = || Zeroizing::new(vec![0; len * FEW]);
        let (mut k0, mut k1, mut k) = (zeros(), zeros(), zeros());
        flavour::sender_random_strings(&delta, sent, &q, len, &mut k0, &mut k1)?;
        flavour::receiver_random_strings(received, &t, len, &mut k)?;
        hidden("strings", &k)?;
        let (x0, x1) = (drawn(51, len * FEW), drawn(52, len * FEW));
        let corrections = flavour::sender_correlated_strings(&x0, &k0, k1.clone())?;
        flavour::receiver_correlated_strings(&choices, len, &corrections, &mut k.clone())?;
        let each = len / 8;
        let correlation: Vec<u64> = (0..each * FEW).map(|i| u64::from(x0[i])).collect();
        let (mut x, mut y) = (vec![0_u64; each * FEW], vec![0_u64; each * FEW]);
        let additive = flavour::sender_additive(&correlation, k0.clone(), k1.clone(), &mut x)?;
        flavour::receiver_additive(&choices, each, &additive, k.clone(), &mut y)?;
        let masked = flavour::sender_chosen_strings(&x0, &x1, k0, k1)?;
        flavour::receiver_chosen_strings(&choices, len, &masked, &mut k)?;
        let (choices, k) = (shown(&choices), shown(&k));
        let (x0, x1) = (shown(&x0), shown(&x1));
        let so = (0..len * FEW).all(|i| {
            let choice = choices[i / len / 8] >> (i / len % 8) & 1;
            k[i] == [x0[i], x1[i]][usize::from(choice)]
        });
        right("chosen strings", so)?;
    }
    Ok(())
}

/// 1-out-of-n OTs, for an n that is no power of two.
fn one_of() -> Outcome {
    const N: usize = 13;
    let n = OneOf::new(N)?;
    // Indices of four secret bits each; so below 16, and made to be below 13 without a look at them.
    let indices: Vec<u16> = drawn(60, FEW)
        .iter()
        .map(|byte| (u16::from(byte & 15) * 13) >> 4)
        .collect();
    let choices = n.choice_bits(&indices)?;
    let m = n.rows() * FEW;
    let Rows {
        delta,
        q,
        t,
        tweaks: (sent, received),
        ..
    } = rows(&choices, m)?;
    let mut masks = Zeroizing::new(vec![Block::ZERO; N * FEW]);
    let mut out = vec![Block::ZERO; FEW];
    flavour::sender_random_one_of(n, &delta, sent, &q, &mut masks)?;
    flavour::receiver_random_one_of(n, received, &t, &mut out)?;
    let mut prg = generator(61);
    let messages: Vec<Block> = (0..N * FEW).map(|_| prg.next_block()).collect();
    let masked = flavour::sender_chosen_one_of(&messages, masks)?;
    flavour::receiver_chosen_one_of(n, &indices, &masked, &mut out)?;
    hidden("the chosen messages", &out)?;
    let (indices, out, messages) = (shown(&indices), shown(&out), shown(&messages));
    right(
        "the chosen messages",
        (0..FEW).all(|i| out[i] == messages[i * N + usize::from(indices[i])]),
    )
}
