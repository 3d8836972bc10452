//! Messages of OT extensions: setup and extension of SoftSpoken, offers and flips of silent OT. Any
//! bytes are taken if they have the right length and no padding, and refused otherwise; a refused
//! message moves nothing.
#![no_main]

use libfuzzer_sys::fuzz_target;
use madrigal_kernels::Block;
use madrigal_ot::silent::{
    QueuedReceiver, QueuedSender, SilentParams, SilentReceiver, SilentSender,
};
use madrigal_ot::softspoken::{FieldBits, SoftSpokenSender};
use madrigal_ot::{Delta, ExtensionSender, Instance, KAPPA, SeededRng};

const INSTANCE: Instance = Instance {
    session: [7; 32],
    sender: 0,
    receiver: 1,
    stream: 0,
};

/// The bytes as they are, or over and over until they have the length that is due.
fn message(bytes: &[u8], due: usize, fit: bool) -> Vec<u8> {
    if fit && !bytes.is_empty() {
        bytes.iter().copied().cycle().take(due).collect()
    } else {
        bytes.to_vec()
    }
}

fuzz_target!(|bytes: &[u8]| {
    let [which, count, first, rest @ ..] = bytes else {
        return;
    };
    let (fit, count) = (which & 1 == 1, usize::from(*count) * 3 + 1);
    let mut rng = SeededRng::from_seed(Block::new(1, 2));
    let bytes = count.div_ceil(8);
    let (mut k0, mut k1) = (vec![0; bytes], vec![0; bytes]);
    match which >> 1 & 3 {
        0 | 1 => {
            let k = FieldBits::new(first % 8 + 1).expect("1 to 8");
            let keys = [Block::new(3, 4); KAPPA];
            let delta = Delta::random(&mut rng);
            let setup = message(rest, k.setup_len(), fit);
            let sender = SoftSpokenSender::new(INSTANCE, k, delta, &keys, &setup);
            assert_eq!(sender.is_ok(), setup.len() == k.setup_len());
            let Ok(mut sender) = sender else { return };
            let u = message(rest, k.message_len(count), fit);
            let taken = sender.extend_bits(&u, count, &mut k0, &mut k1);
            assert_eq!(taken.is_ok(), u.len() == k.message_len(count));
        }
        2 => {
            let params = SilentParams::SMALL;
            let n = params.base_rows();
            let (choices, rows) = (vec![*first; n.div_ceil(8)], vec![Block::new(5, 6); n]);
            let silent = SilentReceiver::new(INSTANCE, params, &choices, &rows).expect("rows");
            let mut receiver = QueuedReceiver::new(silent);
            let offer = message(rest, receiver.offer_len(count), fit);
            let taken = receiver.accept(&offer, count);
            assert_eq!(taken.is_ok(), offer.len() == params.message_len(0, count));
        }
        _ => {
            let params = SilentParams::SMALL;
            let rows = vec![Block::new(5, 6); params.base_rows()];
            let delta = Delta::random_odd(&mut rng);
            let silent = SilentSender::new(&mut rng, INSTANCE, params, delta, &rows).expect("rows");
            let mut sender = QueuedSender::new(silent);
            let offer = sender.offer(count).expect("an offer");
            assert_eq!(offer.len(), params.message_len(0, count));
            let flips = message(rest, sender.message_len(count), fit);
            let taken = sender.extend_bits(&flips, count, &mut k0, &mut k1);
            let padded =
                count % 8 != 0 && flips.last().is_some_and(|last| last >> (count % 8) != 0);
            assert_eq!(taken.is_ok(), flips.len() == bytes && !padded);
            assert_eq!(sender.available(), if taken.is_ok() { 0 } else { count });
        }
    }
});
