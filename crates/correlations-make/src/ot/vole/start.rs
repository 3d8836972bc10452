//! How an instance begins.

use madrigal_core::{Party, Zeroizing};
use madrigal_kernels::{Block, Element};
use madrigal_net::Context;
use madrigal_ot::silent::{SilentParams, SilentReceiver, SilentSender};
use madrigal_ot::softspoken::{FieldBits, SoftSpokenReceiver, SoftSpokenSender, check};
use madrigal_ot::vole::{SHIFT_BYTES, VoleParams, VoleSender};
use madrigal_ot::{ExtensionReceiver as _, ExtensionSender as _, Instance, OtError, SeededRng};
use rand_core::Rng as _;

use super::Security;
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

    /// The sender's base rows, from the receiver's first message.
    pub(super) fn sender_rows<V: Element>(
        &self,
        plan: Plan<V>,
        message: &[u8],
    ) -> Result<Zeroizing<Vec<Block>>, OtError> {
        let (k, same) = (plan.k, self.base.delta());
        let (setup, message) = message.split_at(k.setup_len().min(message.len()));
        let of_base = base_of(self.instance);
        let mut base = SoftSpokenSender::new(of_base, k, same, &self.chosen, setup)?;
        let mut rows = Zeroizing::<Vec<Block>>::zeros(plan.rows);
        // These rows are never hashed.
        let _ = base.extend(message, rows.len(), &mut rows)?;
        Ok(rows)
    }

    /// Whether the receiver's answer to a seed fits the rows.
    pub(super) fn verify(&self, seed: Block, rows: &[Block], answer: &[u8]) -> Result<(), OtError> {
        check::verify(seed, &self.base.delta(), rows, answer)
    }

    /// The sender, with the message to send. Rows that may be of a malicious receiver are checked by now.
    pub(super) fn sender<V: Element>(
        mut self,
        plan: Plan<V>,
        rows: &[Block],
    ) -> Result<(VoleSender<V>, Vec<u8>), OtError> {
        let (params, delta) = (plan.silent, self.base.delta());
        let rows = &rows[..params.base_rows()];
        let silent = SilentSender::new(&mut self.rng, self.instance, params, delta, rows)?;
        match plan.security {
            Security::SemiHonest => VoleSender::new(&mut self.rng, plan.vole, silent),
            Security::Malicious => VoleSender::checked(&mut self.rng, plan.vole, silent),
        }
    }

    /// The receiver's base rows with its choices, and its first message.
    pub(super) fn receiver_rows<V: Element>(
        &mut self,
        plan: Plan<V>,
    ) -> Result<(Chosen, Vec<u8>), OtError> {
        let of_base = base_of(self.instance);
        let (mut base, mut setup) = SoftSpokenReceiver::new(of_base, plan.k, &self.both)?;
        let n = plan.rows;
        let mut rows = Zeroizing::<Vec<Block>>::zeros(n);
        let mut choices = Zeroizing::new(vec![0; n.div_ceil(8)]);
        self.rng.fill_bytes(&mut choices);
        let mut message = vec![0; plan.k.message_len(n)];
        let _ = base.extend(&choices, n, &mut message, &mut rows)?;
        setup.append(&mut message);
        Ok((Chosen { choices, rows }, setup))
    }

    /// The silent OTs of the receiver.
    pub(super) fn receiver<V: Element>(
        self,
        plan: Plan<V>,
        chosen: &Chosen,
    ) -> Result<SilentReceiver, OtError> {
        let n = plan.silent.base_rows();
        let choices = &chosen.choices[..n.div_ceil(8)];
        SilentReceiver::new(self.instance, plan.silent, choices, &chosen.rows[..n])
    }
}

/// The receiver's base rows and their choices.
pub(super) struct Chosen {
    choices: Zeroizing<Vec<u8>>,
    rows: Zeroizing<Vec<Block>>,
}

impl Chosen {
    /// The answer to the sender's seed.
    pub(super) fn answer(&self, seed: &[u8]) -> Result<Vec<u8>, OtError> {
        let seed = Block::from_bytes(*seed.first_chunk().unwrap_or(&[0; 16]));
        check::answer(seed, &self.choices, &self.rows)
    }
}

/// Sizes of an instance, the same at both sides.
pub(super) struct Plan<V> {
    pub(super) vole: VoleParams<V>,
    pub(super) silent: SilentParams,
    pub(super) security: Security,
    /// The field of the extension that makes base rows.
    pub(super) k: FieldBits,
    /// Base rows that it makes, of which silent OT takes the first ones.
    pub(super) rows: usize,
}

impl<V> Clone for Plan<V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V> Copy for Plan<V> {}

impl<V: Element> Plan<V> {
    pub(super) fn new(elements: u64, security: Security) -> Self {
        let vole = VoleParams::<V>::for_elements(elements);
        let silent = vole.silent(elements);
        let (k, rows) = match security {
            Security::SemiHonest => (SILENT_BASE, silent.base_rows()),
            // Trees of a larger field would take a check of their own, for a quarter of a megabyte.
            Security::Malicious => (FieldBits::MIN, check::rows(silent.base_rows())),
        };
        Self {
            vole,
            silent,
            security,
            k,
            rows,
        }
    }

    /// Bytes of the first message of who makes values.
    pub(super) fn first_len(&self) -> usize {
        self.k.setup_len() + self.k.message_len(self.rows)
    }

    /// Bytes of the seed of shifts that the other one's message begins with.
    pub(super) fn shift_len(&self) -> usize {
        match self.security {
            Security::SemiHonest => 0,
            Security::Malicious => SHIFT_BYTES,
        }
    }
}
