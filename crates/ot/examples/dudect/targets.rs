//! Times every step that holds a choice, an index or Delta.

use std::hint::black_box;

use madrigal_core::Zeroizing;
use madrigal_kernels::Block;
use madrigal_ot::base::endemic::{EndemicReceiver, EndemicSender};
use madrigal_ot::base::{BaseReceiver, BaseSender};
use madrigal_ot::flavour::{self, OneOf};
use madrigal_ot::silent::{SilentParams, SilentReceiver, SilentSender};
use madrigal_ot::softspoken::{FieldBits, SoftSpokenReceiver, SoftSpokenSender, check};
use madrigal_ot::vole::{CHALLENGE_BYTES, VoleParams, VoleReceiver, VoleSender, mask_elements};
use madrigal_ot::{
    Delta, ExtensionReceiver, ExtensionSender, Instance, KAPPA, OtError, SeededRng, Tweaks,
};
use rand_core::Rng;

use crate::ntt;

/// Work with its inputs, ready to be timed.
pub(crate) type TimedCall = Box<dyn FnOnce() -> Result<(), OtError>>;
type Prepare = Box<dyn Fn(&mut Draw, bool) -> Result<TimedCall, OtError>>;

pub(crate) struct Target {
    pub(crate) name: &'static str,
    /// Prepares the class of the fixed secret, or of random ones.
    pub(crate) prepare: Prepare,
}

/// Leaks on purpose.
pub(crate) const CONTROL: &str = "control";

pub(crate) fn all() -> Vec<Target> {
    let mut all = vec![
        target(CONTROL, control),
        target("base/respond", base_respond),
        target("endemic/new", endemic_new),
        target("endemic/finish", endemic_finish),
    ];
    #[cfg(feature = "ml-kem")]
    all.extend([
        target("ml-kem/new", kem::new),
        target("ml-kem/finish", kem::finish),
    ]);
    all.extend([
        target("iknp/sender", |d, fixed| sender(d, fixed, 1)),
        target("iknp/receiver", |d, fixed| receiver(d, fixed, 1)),
        target("softspoken2/new", |d, fixed| sender_new(d, fixed, 2)),
        target("softspoken8/new", |d, fixed| sender_new(d, fixed, 8)),
        target("softspoken2/sender", |d, fixed| sender(d, fixed, 2)),
        target("softspoken2/receiver", |d, fixed| receiver(d, fixed, 2)),
        target("softspoken4/sender", |d, fixed| sender(d, fixed, 4)),
        target("softspoken4/receiver", |d, fixed| receiver(d, fixed, 4)),
        target("softspoken8/sender", |d, fixed| sender(d, fixed, 8)),
        target("softspoken8/receiver", |d, fixed| receiver(d, fixed, 8)),
        target("silent/sender", silent_sender),
        target("silent/receiver", silent_receiver),
        target("vole/sender", vole_sender),
        target("vole/receiver", vole_receiver),
        target("vole/answer", vole_answer),
        target("check/verify", check_verify),
        target("check/answer", check_answer),
        target("random/bits/sender", random_bits),
        target("random/blocks/sender", random_blocks),
        target("random/strings/sender", random_strings),
        target("random/1of16/sender", random_one_of),
        target("correlated/bits/receiver", correlated_bits),
        target("correlated/blocks/receiver", correlated_blocks),
        target("correlated/strings/receiver", correlated_strings),
        target("additive/receiver", additive),
        target("chosen/blocks/receiver", chosen_blocks),
        target("chosen/strings/receiver", chosen_strings),
        target("chosen/1of16/receiver", chosen_one_of),
        target("1of16/choice-bits", choice_bits),
        target("precomputed/choice-flips", choice_flips),
        target("ntt/forward", ntt::forward),
        target("ntt/inverse", ntt::inverse),
        target("ntt/multiply", ntt::multiply),
        target("ntt/scale", ntt::scale),
        target("ntt/sums/add", ntt::add),
        target("ntt/sums/take", ntt::take),
    ]);
    all
}

fn target(
    name: &'static str,
    prepare: impl Fn(&mut Draw, bool) -> Result<TimedCall, OtError> + 'static,
) -> Target {
    Target {
        name,
        prepare: Box::new(prepare),
    }
}

/// Draws inputs. Both classes take the same way here: a fixed secret is a random one and zero.
pub(crate) struct Draw(SeededRng);

impl Draw {
    pub(crate) fn new(seed: Block) -> Self {
        Self(SeededRng::from_seed(seed))
    }

    fn bytes(&mut self, n: usize) -> Vec<u8> {
        let mut bytes = vec![0; n];
        self.0.fill_bytes(&mut bytes);
        bytes
    }

    pub(crate) fn secret(&mut self, n: usize, fixed: bool) -> Vec<u8> {
        let mut secret = self.bytes(n);
        let mask = u8::from(fixed).wrapping_sub(1);
        secret.iter_mut().for_each(|byte| *byte &= mask);
        secret
    }

    fn block(&mut self) -> Block {
        Block::new(self.0.next_u64(), self.0.next_u64())
    }

    fn blocks(&mut self, n: usize) -> Vec<Block> {
        (0..n).map(|_| self.block()).collect()
    }

    fn delta(&mut self, fixed: bool) -> Block {
        self.block() & Block::mask(!fixed)
    }

    fn rng(&mut self) -> SeededRng {
        SeededRng::from_seed(self.block())
    }
}

const INSTANCE: Instance = Instance {
    session: [7; 32],
    sender: 0,
    receiver: 1,
    stream: 0,
};
/// Base OTs of a measurement.
const FEW: usize = 8;
/// Extended OTs of a measurement.
const OTS: usize = 2048;

/// Compares byte by byte and stops at the first difference: the classic.
fn control(draw: &mut Draw, fixed: bool) -> Result<TimedCall, OtError> {
    let secret = draw.secret(4096, fixed);
    Ok(Box::new(move || {
        black_box(secret.iter().position(|&byte| black_box(byte) != 0));
        Ok(())
    }))
}

fn base_respond(draw: &mut Draw, fixed: bool) -> Result<TimedCall, OtError> {
    let choices = draw.secret(FEW / 8, fixed);
    let (_, message) = BaseSender::new(&mut draw.0, INSTANCE);
    let mut rng = draw.rng();
    Ok(Box::new(move || {
        let receiver = BaseReceiver::new(INSTANCE);
        black_box(receiver.respond(&mut rng, &message, &choices, FEW)?);
        Ok(())
    }))
}

fn endemic_new(draw: &mut Draw, fixed: bool) -> Result<TimedCall, OtError> {
    let choices = draw.secret(FEW / 8, fixed);
    let mut rng = draw.rng();
    Ok(Box::new(move || {
        black_box(EndemicReceiver::new(&mut rng, INSTANCE, &choices, FEW)?);
        Ok(())
    }))
}

fn endemic_finish(draw: &mut Draw, fixed: bool) -> Result<TimedCall, OtError> {
    let choices = draw.secret(FEW / 8, fixed);
    let (receiver, _) = EndemicReceiver::new(&mut draw.0, INSTANCE, &choices, FEW)?;
    let (_, message) = EndemicSender::new(&mut draw.0, INSTANCE);
    Ok(Box::new(move || {
        black_box(receiver.finish(&message)?);
        Ok(())
    }))
}

#[cfg(feature = "ml-kem")]
mod kem {
    use madrigal_ot::base::kem::{KemReceiver, respond};

    use super::*;

    /// ML-KEM draws its public matrix by rejection: that is noise, and public. The rest takes as many
    /// bytes of the hash and of the generator whatever the choices are.
    pub(super) fn new(draw: &mut Draw, fixed: bool) -> Result<TimedCall, OtError> {
        let choices = draw.secret(FEW / 8, fixed);
        let mut rng = draw.rng();
        Ok(Box::new(move || {
            black_box(KemReceiver::new(&mut rng, INSTANCE, &choices, FEW)?);
            Ok(())
        }))
    }

    pub(super) fn finish(draw: &mut Draw, fixed: bool) -> Result<TimedCall, OtError> {
        let choices = draw.secret(FEW / 8, fixed);
        let (receiver, message) = KemReceiver::new(&mut draw.0, INSTANCE, &choices, FEW)?;
        let response = respond(INSTANCE, &message, FEW)?;
        Ok(Box::new(move || {
            black_box(receiver.finish(&response.message)?);
            Ok(())
        }))
    }
}

/// The sender of an extension. Its keys need not belong to base OTs.
fn a_sender(draw: &mut Draw, fixed: bool, k: u8) -> Result<SoftSpokenSender, OtError> {
    let delta = Delta::from_block(draw.delta(fixed));
    let (k, keys) = (FieldBits::new(k)?, draw.blocks(KAPPA));
    let setup = draw.bytes(k.setup_len());
    SoftSpokenSender::new(INSTANCE, k, delta, &keys, &setup)
}

fn sender_new(draw: &mut Draw, fixed: bool, k: u8) -> Result<TimedCall, OtError> {
    let k = FieldBits::new(k)?;
    let delta = Delta::from_block(draw.delta(fixed));
    let (keys, setup) = (draw.blocks(KAPPA), draw.bytes(k.setup_len()));
    Ok(Box::new(move || {
        black_box(SoftSpokenSender::new(INSTANCE, k, delta, &keys, &setup)?);
        Ok(())
    }))
}

fn sender(draw: &mut Draw, fixed: bool, k: u8) -> Result<TimedCall, OtError> {
    let mut sender = a_sender(draw, fixed, k)?;
    let u = draw.bytes(sender.message_len(OTS));
    let mut rows = vec![Block::ZERO; OTS];
    // The first call brings everything into the caches.
    drop(sender.extend(&u, OTS, &mut rows)?);
    Ok(Box::new(move || {
        drop(black_box(sender.extend(&u, OTS, &mut rows)?));
        Ok(())
    }))
}

fn receiver(draw: &mut Draw, fixed: bool, k: u8) -> Result<TimedCall, OtError> {
    let pairs: Vec<[Block; 2]> = (0..KAPPA).map(|_| [draw.block(), draw.block()]).collect();
    let (mut receiver, _) = SoftSpokenReceiver::new(INSTANCE, FieldBits::new(k)?, &pairs)?;
    let choices = draw.secret(OTS / 8, fixed);
    let mut u = vec![0; receiver.message_len(OTS)];
    let mut rows = vec![Block::ZERO; OTS];
    drop(receiver.extend(&choices, OTS, &mut u, &mut rows)?);
    Ok(Box::new(move || {
        drop(black_box(
            receiver.extend(&choices, OTS, &mut u, &mut rows)?,
        ));
        Ok(())
    }))
}

const SILENT: SilentParams = SilentParams::SMALL;

/// The code is public, and the same for both classes: its reads of memory are not what is looked at.
fn silent_sender(draw: &mut Draw, fixed: bool) -> Result<TimedCall, OtError> {
    let Block([lo, hi]) = draw.delta(fixed);
    let delta = Delta::from_block(Block::new(lo | 1, hi));
    let base = draw.blocks(SILENT.base_rows());
    let mut sender = SilentSender::new(&mut draw.0, INSTANCE, SILENT, delta, &base)?;
    let mut message = vec![0; sender.message_len(OTS)];
    let mut rows = vec![Block::ZERO; OTS];
    Ok(Box::new(move || {
        drop(black_box(sender.extend(OTS, &mut message, &mut rows)?));
        Ok(())
    }))
}

/// The base's choices are the secret of the code and the places of the errors.
fn silent_receiver(draw: &mut Draw, fixed: bool) -> Result<TimedCall, OtError> {
    let base = draw.blocks(SILENT.base_rows());
    let secret = draw.secret(base.len().div_ceil(8), fixed);
    let mut receiver = SilentReceiver::new(INSTANCE, SILENT, &secret, &base)?;
    let message = draw.bytes(receiver.message_len(OTS));
    let (mut choices, mut rows) = (vec![0; OTS / 8], vec![Block::ZERO; OTS]);
    Ok(Box::new(move || {
        drop(black_box(receiver.extend(
            &message,
            OTS,
            &mut choices,
            &mut rows,
        )?));
        Ok(())
    }))
}

/// Parameters of VOLE for few elements: its setup, half a million OTs, is not timed.
fn vole() -> VoleParams<u64> {
    VoleParams::for_elements(OTS as u64)
}

fn vole_sender(draw: &mut Draw, fixed: bool) -> Result<TimedCall, OtError> {
    let Block([lo, hi]) = draw.delta(fixed);
    let delta = Delta::from_block(Block::new(lo | 1, hi));
    let base = draw.blocks(SILENT.base_rows());
    let ots = SilentSender::new(&mut draw.0, INSTANCE, SILENT, delta, &base)?;
    let (mut sender, _) = VoleSender::new(&mut draw.0, vole(), ots)?;
    let mut message = vec![0; sender.message_len(OTS)];
    let mut keys = vec![Block::ZERO; OTS];
    Ok(Box::new(move || {
        sender.extend(OTS, &mut message, &mut keys)?;
        black_box(&keys);
        Ok(())
    }))
}

/// The choices are the values of the base and the places of the errors.
fn vole_receiver(draw: &mut Draw, fixed: bool) -> Result<TimedCall, OtError> {
    let base = draw.blocks(SILENT.base_rows());
    let secret = draw.secret(base.len().div_ceil(8), fixed);
    let ots = SilentReceiver::new(INSTANCE, SILENT, &secret, &base)?;
    let setup = draw.bytes(ots.message_len(vole().setup_ots()));
    let mut receiver = VoleReceiver::new(vole(), ots, &setup)?;
    let message = draw.bytes(receiver.message_len(OTS));
    let (mut values, mut tags) = (vec![0; OTS], vec![Block::ZERO; OTS]);
    Ok(Box::new(move || {
        receiver.extend(&message, OTS, &mut values, &mut tags)?;
        black_box((&values, &tags));
        Ok(())
    }))
}

/// The answer to a challenge, with Delta of the class.
fn vole_answer(draw: &mut Draw, fixed: bool) -> Result<TimedCall, OtError> {
    let Block([lo, hi]) = draw.delta(fixed);
    let delta = Delta::from_block(Block::new(lo | 1, hi));
    let base = draw.blocks(SILENT.base_rows());
    let ots = SilentSender::new(&mut draw.0, INSTANCE, SILENT, delta, &base)?;
    let (mut sender, _) = VoleSender::checked(&mut draw.0, vole(), ots)?;
    let (keys, mask) = (draw.blocks(OTS), draw.blocks(mask_elements::<u64>()));
    let challenge = draw.bytes(CHALLENGE_BYTES);
    Ok(Box::new(move || {
        black_box(sender.answer(&challenge, &keys, &mask)?);
        Ok(())
    }))
}

/// An answer that does not fit, under Delta of the class.
fn check_verify(draw: &mut Draw, fixed: bool) -> Result<TimedCall, OtError> {
    let delta = Delta::from_block(draw.delta(fixed));
    let rows = draw.blocks(check::rows(OTS));
    let (answer, seed) = (draw.bytes(check::ANSWER_BYTES), draw.blocks(1)[0]);
    Ok(Box::new(move || {
        let verified = check::verify(seed, &delta, &rows, &answer);
        let _ = black_box(verified);
        Ok(())
    }))
}

/// The answer to the check of columns, for choices of the class.
fn check_answer(draw: &mut Draw, fixed: bool) -> Result<TimedCall, OtError> {
    let rows = draw.blocks(check::rows(OTS));
    let secret = draw.secret(rows.len() / 8, fixed);
    let seed = draw.blocks(1)[0];
    Ok(Box::new(move || {
        black_box(check::answer(seed, &secret, &rows)?);
        Ok(())
    }))
}

/// Rows to hash, with Delta of the class.
fn rows(draw: &mut Draw, fixed: bool) -> Result<(Delta, Tweaks, Vec<Block>), OtError> {
    let mut sender = a_sender(draw, fixed, 1)?;
    let u = draw.bytes(sender.message_len(OTS));
    let mut rows = vec![Block::ZERO; OTS];
    let tweaks = sender.extend(&u, OTS, &mut rows)?;
    Ok((Delta::from_block(sender.delta().expose()), tweaks, rows))
}

fn random_bits(draw: &mut Draw, fixed: bool) -> Result<TimedCall, OtError> {
    let (delta, tweaks, rows) = rows(draw, fixed)?;
    let (mut k0, mut k1) = (vec![0; OTS / 8], vec![0; OTS / 8]);
    Ok(Box::new(move || {
        flavour::sender_random_bits(&delta, tweaks, &rows, &mut k0, &mut k1)?;
        black_box((k0, k1));
        Ok(())
    }))
}

fn random_blocks(draw: &mut Draw, fixed: bool) -> Result<TimedCall, OtError> {
    let (delta, tweaks, rows) = rows(draw, fixed)?;
    let (mut k0, mut k1) = (vec![Block::ZERO; OTS], vec![Block::ZERO; OTS]);
    Ok(Box::new(move || {
        flavour::sender_random_blocks(&delta, tweaks, &rows, &mut k0, &mut k1)?;
        black_box((k0, k1));
        Ok(())
    }))
}

/// Bytes of a string.
const LEN: usize = 40;

fn random_strings(draw: &mut Draw, fixed: bool) -> Result<TimedCall, OtError> {
    let (delta, tweaks, rows) = rows(draw, fixed)?;
    let (mut k0, mut k1) = (vec![0; LEN * OTS], vec![0; LEN * OTS]);
    Ok(Box::new(move || {
        flavour::sender_random_strings(&delta, tweaks, &rows, LEN, &mut k0, &mut k1)?;
        black_box((k0, k1));
        Ok(())
    }))
}

/// 1-out-of-16 OTs, of four rows each.
const SIXTEEN: usize = 16;
const CHOSEN: usize = OTS / 4;

fn random_one_of(draw: &mut Draw, fixed: bool) -> Result<TimedCall, OtError> {
    let (delta, tweaks, rows) = rows(draw, fixed)?;
    let n = OneOf::new(SIXTEEN)?;
    let mut out = vec![Block::ZERO; SIXTEEN * CHOSEN];
    Ok(Box::new(move || {
        flavour::sender_random_one_of(n, &delta, tweaks, &rows, &mut out)?;
        black_box(out);
        Ok(())
    }))
}

fn correlated_bits(draw: &mut Draw, fixed: bool) -> Result<TimedCall, OtError> {
    let choices = draw.secret(OTS / 8, fixed);
    let (corrections, mut out) = (draw.bytes(OTS / 8), draw.bytes(OTS / 8));
    Ok(Box::new(move || {
        flavour::receiver_correlated_bits(OTS, &choices, &corrections, &mut out)?;
        black_box(out);
        Ok(())
    }))
}

fn correlated_blocks(draw: &mut Draw, fixed: bool) -> Result<TimedCall, OtError> {
    let choices = draw.secret(OTS / 8, fixed);
    let (corrections, mut out) = (draw.bytes(16 * OTS), draw.blocks(OTS));
    Ok(Box::new(move || {
        flavour::receiver_correlated_blocks(&choices, &corrections, &mut out)?;
        black_box(out);
        Ok(())
    }))
}

fn correlated_strings(draw: &mut Draw, fixed: bool) -> Result<TimedCall, OtError> {
    let choices = draw.secret(OTS / 8, fixed);
    let (corrections, mut out) = (draw.bytes(LEN * OTS), draw.bytes(LEN * OTS));
    Ok(Box::new(move || {
        flavour::receiver_correlated_strings(&choices, LEN, &corrections, &mut out)?;
        black_box(out);
        Ok(())
    }))
}

fn additive(draw: &mut Draw, fixed: bool) -> Result<TimedCall, OtError> {
    let choices = draw.secret(OTS / 8, fixed);
    let (corrections, k) = (draw.bytes(8 * OTS), Zeroizing::new(draw.bytes(8 * OTS)));
    let mut out = vec![0u64; OTS];
    Ok(Box::new(move || {
        flavour::receiver_additive(&choices, 1, &corrections, k, &mut out)?;
        black_box(out);
        Ok(())
    }))
}

fn chosen_blocks(draw: &mut Draw, fixed: bool) -> Result<TimedCall, OtError> {
    let choices = draw.secret(OTS / 8, fixed);
    let (masked, mut out) = (draw.bytes(32 * OTS), draw.blocks(OTS));
    Ok(Box::new(move || {
        flavour::receiver_chosen_blocks(&choices, &masked, &mut out)?;
        black_box(out);
        Ok(())
    }))
}

fn chosen_strings(draw: &mut Draw, fixed: bool) -> Result<TimedCall, OtError> {
    let choices = draw.secret(OTS / 8, fixed);
    let (masked, mut out) = (draw.bytes(2 * LEN * OTS), draw.bytes(LEN * OTS));
    Ok(Box::new(move || {
        flavour::receiver_chosen_strings(&choices, LEN, &masked, &mut out)?;
        black_box(out);
        Ok(())
    }))
}

/// Indices below 16.
fn indices(draw: &mut Draw, fixed: bool) -> Vec<u16> {
    let secret = draw.secret(CHOSEN, fixed);
    secret.iter().map(|byte| u16::from(byte & 15)).collect()
}

fn chosen_one_of(draw: &mut Draw, fixed: bool) -> Result<TimedCall, OtError> {
    let n = OneOf::new(SIXTEEN)?;
    let indices = indices(draw, fixed);
    let (masked, mut out) = (draw.bytes(16 * SIXTEEN * CHOSEN), draw.blocks(CHOSEN));
    Ok(Box::new(move || {
        flavour::receiver_chosen_one_of(n, &indices, &masked, &mut out)?;
        black_box(out);
        Ok(())
    }))
}

fn choice_bits(draw: &mut Draw, fixed: bool) -> Result<TimedCall, OtError> {
    let n = OneOf::new(SIXTEEN)?;
    let indices = indices(draw, fixed);
    Ok(Box::new(move || {
        black_box(n.choice_bits(&indices)?);
        Ok(())
    }))
}

fn choice_flips(draw: &mut Draw, fixed: bool) -> Result<TimedCall, OtError> {
    let (random, wanted) = (draw.bytes(OTS / 8), draw.secret(OTS / 8, fixed));
    Ok(Box::new(move || {
        black_box(flavour::choice_flips(OTS, &random, &wanted)?);
        Ok(())
    }))
}
