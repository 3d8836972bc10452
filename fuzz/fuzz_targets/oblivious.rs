//! Messages of oblivious transfer: any bytes are taken or refused, whichever state machine they reach.
#![no_main]

use libfuzzer_sys::fuzz_target;
use madrigal_kernels::Block;
use madrigal_ot::base::{BaseReceiver, BaseSender};
use madrigal_ot::softspoken::{FieldBits, SoftSpokenSender};
use madrigal_ot::{Delta, ExtensionSender, Instance, KAPPA, SeededRng};

fuzz_target!(|bytes: &[u8]| {
    let instance = Instance {
        session: [7; 32],
        sender: 0,
        receiver: 1,
        stream: 0,
    };
    let mut rng = SeededRng::from_seed(Block::new(1, 2));
    let (Some((&which, message)), few) = (bytes.split_first(), 3) else {
        return;
    };
    match which % 3 {
        0 => {
            let (sender, _) = BaseSender::new(&mut rng, instance);
            let _ = sender.finish(message, few);
        }
        1 => {
            let _ = BaseReceiver::new(instance).respond(&mut rng, message, &[5], few);
        }
        _ => {
            let delta = Delta::random(&mut rng);
            let keys = [Block::new(3, 4); KAPPA];
            let mut sender = SoftSpokenSender::new(instance, FieldBits::MIN, delta, &keys, &[])
                .expect("128 keys");
            let count = usize::from(which) * 3;
            let (mut k0, mut k1) = (vec![0; count.div_ceil(8)], vec![0; count.div_ceil(8)]);
            let _ = sender.extend_bits(message, count, &mut k0, &mut k1);
        }
    }
});
