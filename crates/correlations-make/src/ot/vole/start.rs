//! How an instance begins.

use madrigal_core::{Party, Zeroizing};
use madrigal_kernels::{Block, Element};
use madrigal_net::Context;
use madrigal_ot::silent::{SilentReceiver, SilentSender};
use madrigal_ot::softspoken::{SoftSpokenReceiver, SoftSpokenSender};
use madrigal_ot::vole::{VoleParams, VoleSender};
use madrigal_ot::{ExtensionReceiver as _, ExtensionSender as _, Instance, OtError, SeededRng};
use rand_core::Rng as _;

use crate::MAX_THREADS;
use crate::ot::base::{BasePair, Group, Stream};
use crate::ot::extension::SILENT_BASE;
use crate::ot::links::base_of;

/// Beginnings of an instance: keys of base OTs, and a generator.
pub(super) struct Start<'a> {
    base: &'a BasePair,
    chosen: Zeroizing<Vec<Block>>,
    both: Zeroizing<Vec<[Block; 2]>>,
    instance: Instance,
    rng: SeededRng,
}

impl<'a> Start<'a> {
    pub(super) fn new(
        context: &Context,
        base: &'a BasePair,
        line: u32,
        (from, to): (Party, Party),
    ) -> Self {
        assert!((line as usize) < MAX_THREADS, "a thread beyond the most");
        let stream = Stream {
            group: Group::Vole,
            line,
        };
        let number = context.own_key_numbers().of(0);
        let seed = context.private_prg().next_block();
        context.metered_now(|| {
            let (chosen, both) = base.keys(context.me(), stream);
            Start {
                chosen,
                both,
                instance: base.instance(from, to, stream),
                rng: SeededRng::numbered(seed, number),
                base,
            }
        })
    }

    pub(super) fn sender<V: Element>(
        mut self,
        elements: u64,
        message: &[u8],
    ) -> Result<(VoleSender<V>, Vec<u8>), OtError> {
        let params = VoleParams::<V>::for_elements(elements);
        let (k, silent) = (SILENT_BASE, params.silent(elements));
        let (setup, message) = message.split_at(k.setup_len().min(message.len()));
        let same = self.base.delta();
        let of_base = base_of(self.instance);
        let mut base = SoftSpokenSender::new(of_base, k, same, &self.chosen, setup)?;
        let mut rows = Zeroizing::<Vec<Block>>::zeros(silent.base_rows());
        // These rows are never hashed.
        let _ = base.extend(message, rows.len(), &mut rows)?;
        let delta = self.base.delta();
        let silent = SilentSender::new(&mut self.rng, self.instance, silent, delta, &rows)?;
        VoleSender::new(&mut self.rng, params, silent)
    }

    pub(super) fn receiver<V: Element>(
        mut self,
        elements: u64,
    ) -> Result<(SilentReceiver, Vec<u8>), OtError> {
        let (k, silent) = (
            SILENT_BASE,
            VoleParams::<V>::for_elements(elements).silent(elements),
        );
        let of_base = base_of(self.instance);
        let (mut base, mut setup) = SoftSpokenReceiver::new(of_base, k, &self.both)?;
        let n = silent.base_rows();
        let mut rows = Zeroizing::<Vec<Block>>::zeros(n);
        let mut choices = Zeroizing::new(vec![0; n.div_ceil(8)]);
        self.rng.fill_bytes(&mut choices);
        let mut message = vec![0; k.message_len(n)];
        let _ = base.extend(&choices, n, &mut message, &mut rows)?;
        setup.append(&mut message);
        let silent = SilentReceiver::new(self.instance, silent, &choices, &rows)?;
        Ok((silent, setup))
    }
}

/// Bytes of the first message of who makes values.
pub(super) fn first_len<V: Element>(elements: u64) -> usize {
    let silent = VoleParams::<V>::for_elements(elements).silent(elements);
    SILENT_BASE.setup_len() + SILENT_BASE.message_len(silent.base_rows())
}
