//! VOLE with one peer: the party that has Delta and makes keys, and the one that makes values and their tags.
//!
//! Unlike other correlations these are of one direction and of one use, and no stock keeps them.

use std::fmt;

use bytes::Bytes;
use madrigal_core::{Party, PhaseCost, Zeroizing};
use madrigal_kernels::{Block, Element};
use madrigal_net::{Channel, Context, Error, Result};
use madrigal_ot::cost;
use madrigal_ot::silent::{SilentReceiver, SilentSender};
use madrigal_ot::softspoken::{SoftSpokenReceiver, SoftSpokenSender};
use madrigal_ot::vole::{VoleParams, VoleReceiver, VoleSender};
use madrigal_ot::{
    ExtensionReceiver as _, ExtensionSender as _, Instance, KAPPA, OtError, SeededRng,
};
use rand_core::Rng as _;

use crate::MAX_THREADS;
use crate::ot::base::{Base, BasePair, Group, Stream, base_cost, bug, fail, stream_cost};
use crate::ot::extension::SILENT_BASE;
use crate::ot::links::base_of;

/// Elements that are made at a time: a message of a few megabytes, so that both sides compute at once.
const PIECE: usize = 1 << 20;

/// Base OTs with the one peer of a session of two, from which instances of VOLE start, one for each thread and
/// direction.
pub struct VoleBase {
    base: Base,
}

impl VoleBase {
    /// Runs the base OTs, in both directions. Two rounds; [`VoleBase::cost`].
    ///
    /// # Errors
    /// [`Error`] of the network; of a peer's malformed message.
    pub async fn new(context: &Context) -> Result<Self> {
        let base = context.metered(Base::new(context)).await?;
        Ok(Self { base })
    }

    /// Cost of [`VoleBase::new`].
    pub fn cost() -> PhaseCost {
        base_cost(2)
    }

    fn with(&self, peer: Party) -> Result<&BasePair> {
        let pair = self.base.peers().find(|pair| pair.peer == peer);
        pair.ok_or_else(|| Error::bug(format!("no base OTs with {peer}")))
    }
}

impl fmt::Debug for VoleBase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VoleBase").finish_non_exhaustive()
    }
}

/// The side that has Delta: makes keys K for values U in [`Element`]s of the peer, whose tags are K + U Delta.
pub struct VoleKeys<V> {
    context: Context,
    channel: Channel,
    sender: VoleSender<V>,
}

/// The side that makes random values U and their tags M = K + U Delta.
pub struct VoleValues<V: Element> {
    context: Context,
    channel: Channel,
    receiver: VoleReceiver<V>,
}

impl<V: Element> VoleKeys<V> {
    /// Starts an instance for about `elements` elements with `peer`, as thread number `line` below [`MAX_THREADS`]. Two rounds, the
    /// first message is the peer's.
    ///
    /// # Errors
    /// [`Error`] of the network; of a peer's malformed message.
    pub async fn new(
        context: &Context,
        base: &VoleBase,
        (peer, line): (Party, u32),
        elements: u64,
    ) -> Result<Self> {
        let context = context.step(&name(context.me(), line));
        let mut channel = context.channel(peer)?;
        let start = Start::new(&context, base.with(peer)?, line, (context.me(), peer));
        let message = channel.recv(first_len::<V>(elements)).await?;
        let started = context.metered_now(|| start.sender::<V>(elements, &message));
        let (sender, setup) = started.map_err(|error| fail(&channel.rx, error))?;
        channel.send(setup).await?;
        context.flush();
        Ok(Self {
            context,
            channel,
            sender,
        })
    }

    /// The factor of all values.
    pub fn delta(&self) -> Zeroizing<Block> {
        Zeroizing::new(self.sender.delta().expose())
    }

    /// Makes the keys of the next elements. It waits for nothing from the peer.
    ///
    /// # Errors
    /// [`Error`] of the network.
    pub async fn extend(&mut self, keys: &mut [Block]) -> Result<()> {
        for keys in keys.chunks_mut(PIECE) {
            let mut message = vec![0; self.sender.message_len(keys.len())];
            let made = || self.sender.extend(keys.len(), &mut message, keys);
            self.context.metered_now(made).map_err(bug)?;
            self.channel.send(Bytes::from(message)).await?;
            self.context.flush();
        }
        Ok(())
    }
}

impl<V: Element> VoleValues<V> {
    /// Starts an instance for about `elements` elements with `peer`, as thread number `line` below [`MAX_THREADS`]. Two rounds, the
    /// first message is ours.
    ///
    /// # Errors
    /// [`Error`] of the network; of a peer's malformed message.
    pub async fn new(
        context: &Context,
        base: &VoleBase,
        (peer, line): (Party, u32),
        elements: u64,
    ) -> Result<Self> {
        let context = context.step(&name(peer, line));
        let mut channel = context.channel(peer)?;
        let start = Start::new(&context, base.with(peer)?, line, (peer, context.me()));
        let started = context.metered_now(|| start.receiver::<V>(elements));
        let (silent, message) = started.map_err(bug)?;
        channel.send(message).await?;
        let params = VoleParams::<V>::for_elements(elements);
        let setup = silent.message_len(params.setup_ots());
        let setup = channel.recv(setup).await?;
        let receiver = context.metered_now(|| VoleReceiver::new(params, silent, &setup));
        let receiver = receiver.map_err(|error| fail(&channel.rx, error))?;
        Ok(Self {
            context,
            channel,
            receiver,
        })
    }

    /// Makes the next elements: random values and their tags. It sends nothing.
    ///
    /// # Errors
    /// [`Error`] of the network; of a peer's malformed message.
    ///
    /// # Panics
    /// If there are not as many tags as values.
    pub async fn extend(&mut self, values: &mut [V], tags: &mut [Block]) -> Result<()> {
        assert_eq!(values.len(), tags.len(), "a tag for each value");
        for (values, tags) in values.chunks_mut(PIECE).zip(tags.chunks_mut(PIECE)) {
            let m = values.len();
            let message = self.channel.recv(self.receiver.message_len(m)).await?;
            let made = || self.receiver.extend(&message, m, values, tags);
            let made = self.context.metered_now(made);
            made.map_err(|error| fail(&self.channel.rx, error))?;
        }
        Ok(())
    }
}

impl<V> fmt::Debug for VoleKeys<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VoleKeys").finish_non_exhaustive()
    }
}

impl<V: Element> fmt::Debug for VoleValues<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VoleValues").finish_non_exhaustive()
    }
}

/// The step of an instance: both sides have it.
fn name(keys: Party, line: u32) -> String {
    format!("VOLE with keys of {keys}, thread {line}")
}

/// Beginnings of an instance: keys of base OTs, and a generator.
struct Start<'a> {
    base: &'a BasePair,
    chosen: Zeroizing<Vec<Block>>,
    both: Zeroizing<Vec<[Block; 2]>>,
    instance: Instance,
    rng: SeededRng,
}

impl<'a> Start<'a> {
    fn new(context: &Context, base: &'a BasePair, line: u32, (from, to): (Party, Party)) -> Self {
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

    fn sender<V: Element>(
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

    fn receiver<V: Element>(mut self, elements: u64) -> Result<(SilentReceiver, Vec<u8>), OtError> {
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
fn first_len<V: Element>(elements: u64) -> usize {
    let silent = VoleParams::<V>::for_elements(elements).silent(elements);
    SILENT_BASE.setup_len() + SILENT_BASE.message_len(silent.base_rows())
}

/// Costs of one instance of [`VoleKeys`] and [`VoleValues`], call by call.
#[derive(Clone, Debug)]
pub struct VoleCosts<V> {
    params: VoleParams<V>,
    elements: u64,
    made: u64,
}

/// Cost of one call for both sides.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct VoleCost {
    /// Cost for the party that has Delta.
    pub keys: PhaseCost,
    /// Cost for the party that makes values.
    pub values: PhaseCost,
}

impl<V: Element> VoleCosts<V> {
    /// Makes the costs of an instance for about `elements` elements.
    pub fn new(elements: u64) -> Self {
        Self {
            params: VoleParams::for_elements(elements),
            elements,
            made: 0,
        }
    }

    /// Cost of [`VoleKeys::new`] and [`VoleValues::new`].
    pub fn start(&self) -> VoleCost {
        let silent = self.params.silent(self.elements);
        let rows = silent.base_rows() as u64;
        let base = cost::softspoken_setup(SILENT_BASE) + cost::softspoken(SILENT_BASE, rows);
        let setup = self.params.setup_cost(&silent);
        let stream = stream_cost(2);
        let first = first_len::<V>(self.elements) as u64;
        VoleCost {
            keys: PhaseCost {
                rounds: 2,
                bytes_sent: setup.sender_bytes,
                bytes_received: first,
                messages: 1,
                // Two seeds of the sender's own.
                aes_blocks: stream.aes_blocks + base.sender_aes + setup.sender_aes + 2,
            },
            values: PhaseCost {
                rounds: 2,
                bytes_sent: first,
                bytes_received: setup.sender_bytes,
                messages: 1,
                aes_blocks: stream.aes_blocks
                    + base.receiver_aes
                    + setup.receiver_aes
                    + rows.div_ceil(KAPPA as u64),
            },
        }
    }

    /// Cost of the next call for `m` elements.
    pub fn extend(&mut self, m: usize) -> VoleCost {
        let silent = self.params.silent(self.elements);
        let mut total = VoleCost::default();
        let mut left = m;
        while left > 0 {
            let now = left.min(PIECE);
            let one = self.params.cost(&silent, self.made, now);
            total.keys += PhaseCost {
                rounds: 0,
                bytes_sent: one.sender_bytes,
                bytes_received: 0,
                messages: 1,
                aes_blocks: one.sender_aes,
            };
            total.values += PhaseCost {
                rounds: 0,
                bytes_sent: 0,
                bytes_received: one.sender_bytes,
                messages: 0,
                aes_blocks: one.receiver_aes,
            };
            self.made += now as u64;
            left -= now;
        }
        total
    }
}
