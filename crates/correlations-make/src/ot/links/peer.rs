//! Both directions of OTs with one peer: how they begin, and what silent ones offer.

use std::cell::RefCell;

use bytes::Bytes;
use madrigal_core::{Party, Zeroizing};
use madrigal_kernels::Block;
use madrigal_net::{Channel, Context, Receiver, Result, Sender};
use madrigal_ot::silent::{QueuedReceiver, QueuedSender, SilentReceiver, SilentSender};
use madrigal_ot::softspoken::{SoftSpokenReceiver, SoftSpokenSender};
use madrigal_ot::{Delta, ExtensionReceiver, ExtensionSender, Instance, OtError, SeededRng};
use rand_core::Rng as _;

use crate::ot::base::{BasePair, Stream, bug, fail};
use crate::ot::extension::{Batch, Extension, SILENT, SILENT_BASE};

/// The extensions with one peer.
pub(super) struct PeerOts {
    pub(super) peer: Party,
    pub(super) sender: RefCell<Sending>,
    pub(super) receiver: Receiving,
    /// First message, which the peer's sender waits for; sent in the first call.
    pub(super) setup: Option<Vec<u8>>,
    pub(super) extension: Channel,
    pub(super) offers: Channel,
    pub(super) corrections: Channel,
}

/// The OTs that we send.
pub(super) enum Sending {
    /// The peer's first message has not come yet.
    Waiting(Box<Waiting>),
    SoftSpoken(Box<SoftSpokenSender>),
    Silent(Box<QueuedSender>),
    /// The first message was no good.
    Failed,
}

pub(super) struct Waiting {
    instance: Instance,
    delta: Delta,
    keys: Zeroizing<Vec<Block>>,
    rng: SeededRng,
}

/// The OTs that we receive.
pub(super) enum Receiving {
    SoftSpoken(Box<SoftSpokenReceiver>),
    Silent(Box<QueuedReceiver>),
}

impl PeerOts {
    pub(super) fn new(
        context: &Context,
        base: &BasePair,
        extension: Extension,
        stream: Stream,
    ) -> Result<Self> {
        let (me, peer) = (context.me(), base.peer);
        let (keys, both) = base.keys(me, stream);
        let number = context.own_key_numbers().of(peer.index() as u64);
        let mut rng = SeededRng::numbered(context.private_prg().next_block(), number);
        let instance = base.instance(peer, me, stream);
        let (receiver, setup) =
            Receiving::new(instance, extension, &both, &mut rng).map_err(bug)?;
        let channel = |name| context.step(name).channel(peer);
        Ok(Self {
            peer,
            sender: RefCell::new(Sending::Waiting(Box::new(Waiting {
                instance: base.instance(me, peer, stream),
                delta: base.delta(),
                keys,
                rng,
            }))),
            receiver,
            setup: Some(setup),
            extension: channel("extension")?,
            offers: channel("offers")?,
            corrections: channel("corrections")?,
        })
    }

    /// Gives the parts that each step of a call uses, and the sender, which two of them share.
    pub(super) fn steps(
        &mut self,
    ) -> (
        &RefCell<Sending>,
        (Offering<'_>, Asking<'_>, Answering<'_>, Correcting<'_>),
    ) {
        let peer = self.peer;
        let steps = (
            Offering {
                peer,
                offers: &mut self.offers.tx,
            },
            Asking {
                peer,
                receiver: &mut self.receiver,
                offers: &mut self.offers.rx,
                extension: &mut self.extension.tx,
            },
            Answering {
                peer,
                extension: &mut self.extension.rx,
                corrections: &mut self.corrections.tx,
            },
            Correcting {
                peer,
                corrections: &mut self.corrections.rx,
            },
        );
        (&self.sender, steps)
    }
}

/// A link as it is seen by who offers OTs.
pub(super) struct Offering<'a> {
    pub(super) peer: Party,
    pub(super) offers: &'a mut Sender,
}

/// By who receives OTs.
pub(super) struct Asking<'a> {
    pub(super) peer: Party,
    pub(super) receiver: &'a mut Receiving,
    pub(super) offers: &'a mut Receiver,
    pub(super) extension: &'a mut Sender,
}

/// By who sends OTs.
pub(super) struct Answering<'a> {
    pub(super) peer: Party,
    pub(super) extension: &'a mut Receiver,
    pub(super) corrections: &'a mut Sender,
}

/// By who receives corrections.
pub(super) struct Correcting<'a> {
    pub(super) peer: Party,
    pub(super) corrections: &'a mut Receiver,
}

impl Asking<'_> {
    /// Takes the peer's offer, if its OTs need one.
    pub(super) async fn accept(&mut self, batch: Batch, counted: &Context) -> Result<()> {
        let Receiving::Silent(receiver) = &mut *self.receiver else {
            return Ok(());
        };
        if batch.ots == 0 {
            return Ok(());
        }
        self.offers.count_in(counted);
        let offer = self.offers.recv(receiver.offer_len(batch.ots)).await?;
        receiver
            .accept(&offer, batch.ots)
            .map_err(|error| fail(self.offers, error))
    }
}

impl Answering<'_> {
    /// Takes the peer's first message, if it has not come yet.
    pub(super) async fn hear(
        &mut self,
        sender: &RefCell<Sending>,
        extension: Extension,
    ) -> Result<()> {
        let message = match &*sender.borrow() {
            Sending::Waiting(_) => extension.setup_len(),
            _ => return Ok(()),
        };
        let setup = match message {
            0 => Bytes::new(),
            expected => self.extension.recv(expected).await?,
        };
        sender.borrow_mut().begin(self.extension, extension, &setup)
    }
}

impl Sending {
    /// Makes the sender from the peer's first message.
    fn begin(&mut self, from: &Receiver, extension: Extension, setup: &[u8]) -> Result<()> {
        if let Self::Waiting(waiting) = std::mem::replace(self, Self::Failed) {
            let sender = waiting.begin(extension, setup);
            *self = sender.map_err(|error| fail(from, error))?;
        }
        Ok(())
    }

    pub(super) fn get(&mut self, from: &Receiver) -> Result<&mut dyn ExtensionSender> {
        match self {
            Self::SoftSpoken(sender) => Ok(&mut **sender),
            Self::Silent(sender) => Ok(&mut **sender),
            // A call after a failed one was refused before it came here.
            Self::Waiting(_) | Self::Failed => Err(from.refuse("its first message failed")),
        }
    }
}

impl Waiting {
    fn begin(self, extension: Extension, setup: &[u8]) -> Result<Sending, OtError> {
        let Self {
            instance,
            delta,
            keys,
            mut rng,
        } = self;
        let k = match extension {
            Extension::SoftSpoken(k) => {
                let sender = SoftSpokenSender::new(instance, k, delta, &keys, setup)?;
                return Ok(Sending::SoftSpoken(Box::new(sender)));
            }
            Extension::Silent => SILENT_BASE,
        };
        let same = Delta::from_block(delta.expose());
        let (setup, message) = setup.split_at(k.setup_len().min(setup.len()));
        let mut base = SoftSpokenSender::new(base_of(instance), k, same, &keys, setup)?;
        let mut rows = Zeroizing::new(vec![Block::ZERO; SILENT.base_rows()]);
        // These rows are never hashed.
        let _ = base.extend(message, rows.len(), &mut rows)?;
        let silent = SilentSender::new(&mut rng, instance, SILENT, delta, &rows)?;
        Ok(Sending::Silent(Box::new(QueuedSender::new(silent))))
    }
}

/// The name of the extension that a silent one starts from.
pub(crate) fn base_of(instance: Instance) -> Instance {
    Instance {
        stream: instance.stream | 1 << 31,
        ..instance
    }
}

impl Receiving {
    /// The receiver and its first message.
    fn new(
        instance: Instance,
        extension: Extension,
        keys: &[[Block; 2]],
        rng: &mut SeededRng,
    ) -> Result<(Self, Vec<u8>), OtError> {
        let k = match extension {
            Extension::SoftSpoken(k) => {
                let (receiver, setup) = SoftSpokenReceiver::new(instance, k, keys)?;
                return Ok((Self::SoftSpoken(Box::new(receiver)), setup));
            }
            Extension::Silent => SILENT_BASE,
        };
        let (mut base, mut setup) = SoftSpokenReceiver::new(base_of(instance), k, keys)?;
        let n = SILENT.base_rows();
        let mut rows = Zeroizing::new(vec![Block::ZERO; n]);
        let mut choices = Zeroizing::new(vec![0; n.div_ceil(8)]);
        rng.fill_bytes(&mut choices);
        let mut message = vec![0; k.message_len(n)];
        let _ = base.extend(&choices, n, &mut message, &mut rows)?;
        setup.append(&mut message);
        let silent = SilentReceiver::new(instance, SILENT, &choices, &rows)?;
        Ok((Self::Silent(Box::new(QueuedReceiver::new(silent))), setup))
    }

    pub(super) fn get(&mut self) -> &mut dyn ExtensionReceiver {
        match self {
            Self::SoftSpoken(receiver) => &mut **receiver,
            Self::Silent(receiver) => &mut **receiver,
        }
    }
}
