//! Matching whose results are shares: the receiver's keys are put into bins, and for each bin both parties get a word, its tag. The two words are equal just if
//! the sender has the bin's key, too. Nobody learns which are: a program on secrets goes on from here ([`madrigal_psi_bins`]).
//!
//! The function of [`oprf`](crate::oprf) hides the sender's tags from whoever does not have a key: the receiver evaluates it at one key for each of its items, the sender at three for each of its
//! own.

use bytes::Bytes;
use madrigal_core::{Party, Phase, PhaseCost, Zeroizing};
use madrigal_correlations_make::{Security, VoleBase, VoleCosts, VoleKeys, VoleValues};
use madrigal_kernels::{Block, Element, crew};
use madrigal_net::{Context, Error, Receiver, Result, Sender};
use madrigal_okvs::{OkvsError, Shape};
use madrigal_ot::SeededRng;
use madrigal_psi_bins::{
    Bins, BinsError, CHOICES, Found, Hints, Placed, Shape as BinsShape, Targets,
};

use crate::PsiError;
use crate::lists::{ListFailed, ended};
use crate::oprf::{ELEMENTS, Function, Setting, message_bytes, messages};
use crate::plan::Sizes;
use crate::run::Role;

/// The most keys of a list that is put into bins.
pub const MOST_IN_BINS: u64 = {
    let (receiver, sender) = (BinsShape::MOST_ITEMS, BinsShape::MOST_OF_SENDER);
    if receiver < sender { receiver } else { sender }
};

/// Keys at which a thread evaluates the function, at least.
const LEAST: usize = 1 << 16;

/// How two lists are put into bins. Both parties make the same plan from the same sizes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BinsPlan {
    sizes: Sizes,
    bins: BinsShape,
    /// Shape of the receiver's store.
    function: Shape,
    /// Columns of each of the sender's three stores of hints.
    columns: usize,
    payloads: bool,
}

/// Items of the receiver in bins, and what it found there.
pub struct ReceiverBins {
    /// Bins of the items, those that were added up to the bound at the end.
    pub placed: Placed,
    /// Inputs of the program.
    pub found: Found,
}

madrigal_core::opaque!(ReceiverBins);

impl BinsPlan {
    /// Makes a plan for lists of these sizes, which may be bounds. With `payloads` the sender has a word with each key, and the receiver gets each one of the
    /// bin's key, masked.
    ///
    /// # Errors
    /// [`PsiError::Bins`] for lists that are too long.
    pub fn new(sizes: Sizes, payloads: bool) -> Result<Self, PsiError> {
        let bug = |error: &dyn ToString| PsiError::Bug(error.to_string());
        let columns = match payloads {
            true => Hints::<Block>::columns(sizes.sender),
            false => Hints::<u64>::columns(sizes.sender),
        };
        Ok(Self {
            sizes,
            bins: BinsShape::for_items(sizes.receiver)?,
            function: Shape::for_keys(sizes.receiver).map_err(|error| bug(&error))?,
            columns: columns?,
            payloads,
        })
    }

    /// Number of bins.
    pub const fn bins(&self) -> usize {
        self.bins.bins()
    }

    fn setting(&self) -> Setting<'_> {
        Setting {
            shape: &self.function,
            pads: false,
            evaluated: CHOICES as u64 * self.sizes.sender,
            checked: false,
        }
    }

    fn element_bytes(&self) -> usize {
        if self.payloads { 16 } else { 8 }
    }

    /// Cost of [`receive_bins`] or [`send_bins`], in setup and online. AES blocks online are not counted here.
    pub fn cost(&self, role: Role) -> [PhaseCost; 2] {
        let columns = self.function.columns();
        let mut vole = VoleCosts::<u64>::new(columns as u64, Security::SemiHonest);
        let (start, extend) = (vole.start(), vole.extend(columns));
        let [start, extend] = match role {
            Role::Receiver => [start.values, extend.values],
            Role::Sender => [start.keys, extend.keys],
        };
        let setup = VoleBase::cost() + start + extend;
        let store = 16 + message_bytes(&self.function, 8) as u64;
        let hints = (CHOICES * (16 + self.columns * self.element_bytes())) as u64;
        let store_messages = 1 + messages(&self.function) as u64;
        let hint_messages = (CHOICES * (1 + self.columns.div_ceil(ELEMENTS))) as u64;
        let (sent, received, messages) = match role {
            Role::Receiver => (store, hints, store_messages),
            Role::Sender => (hints, store, hint_messages),
        };
        let online = PhaseCost {
            rounds: 2,
            bytes_sent: sent,
            bytes_received: received,
            messages,
            aes_blocks: 0,
        };
        [setup, online]
    }

    /// The digests, and random ones up to the bound.
    fn padded(
        &self,
        step: &Context,
        digests: &[Block],
        most: u64,
    ) -> Result<Zeroizing<Vec<Block>>> {
        let own = digests.len();
        if own as u64 > most {
            return Err(ended(step, ListFailed));
        }
        let mut padded = Zeroizing::<Vec<Block>>::zeros(most as usize);
        padded[..own].copy_from_slice(digests);
        let mut prg = step.private_prg();
        padded[own..]
            .iter_mut()
            .for_each(|digest| *digest = prg.next_block());
        Ok(padded)
    }
}

/// Puts the receiver's digests, all distinct, into bins, and gets what the sender has for each. What takes long is shared out among the
/// [crew] that is at work here, as in [`send_bins`]; parties need not have as many threads.
///
/// # Errors
/// [`Error`] of the network, of a peer's malformed message.
pub async fn receive_bins(
    context: &Context,
    plan: &BinsPlan,
    peer: Party,
    digests: &[Block],
) -> Result<ReceiverBins> {
    let (setup, online) = phases(context, plan);
    let base = VoleBase::new(&setup).await?;
    let elements = plan.function.columns() as u64;
    let mut vole =
        VoleValues::<u64>::new(&setup, &base, (peer, 0), elements, Security::SemiHonest).await?;
    let step = online.step("bins");
    let mut channel = step.channel(peer)?;
    let digests = plan.padded(&step, digests, plan.sizes.receiver)?;
    let mut rng = private_rng(&step);
    let placed = step.metered_now(|| Bins::for_receiver(plan.bins, &digests, &mut rng));
    let (seed, _, placed) = placed.map_err(|error| failed(&step, error))?;
    drop(digests);
    channel.send(seed.to_bytes().to_vec()).await?;
    let setting = plan.setting();
    let function = step.step("function");
    let function = Function::receiver(&function, setting, &mut vole, &mut channel.tx, &placed.keys);
    let (function, _) = function.await?;
    let pads = pads(&step, &function, &placed.keys)?;
    drop(function);
    let mut found = step.metered_now(|| Found::nothing(&placed, plan.payloads, &mut rng));
    for choice in 0..CHOICES {
        let items = plan.sizes.sender;
        let done = if plan.payloads {
            let hints = received::<Block>(&mut channel.rx, plan.columns).await?;
            step.metered_now(|| found.find_with(&placed, choice, items, &hints, &pads))
        } else {
            let hints = received::<u64>(&mut channel.rx, plan.columns).await?;
            step.metered_now(|| found.find(&placed, choice, items, &hints, &pads))
        };
        done.map_err(|error| failed(&step, error))?;
    }
    Ok(ReceiverBins { placed, found })
}

/// Gives the receiver what the sender has for each bin, from its digests, all distinct, and a payload of each where the plan has payloads. What
/// it draws are its inputs of the program.
///
/// # Errors
/// [`Error`] of the network, of a peer's malformed message.
pub async fn send_bins(
    context: &Context,
    plan: &BinsPlan,
    peer: Party,
    digests: &[Block],
    payloads: &[u64],
) -> Result<Targets> {
    let wanted = if plan.payloads { digests.len() } else { 0 };
    if payloads.len() != wanted {
        return Err(context.fail(Error::bug("as many payloads as keys, if the plan has any")));
    }
    let (setup, online) = phases(context, plan);
    let base = VoleBase::new(&setup).await?;
    let elements = plan.function.columns() as u64;
    let mut vole =
        VoleKeys::<u64>::new(&setup, &base, (peer, 0), elements, Security::SemiHonest).await?;
    let step = online.step("bins");
    let mut channel = step.channel(peer)?;
    let digests = plan.padded(&step, digests, plan.sizes.sender)?;
    let mut rng = private_rng(&step);
    let seed = channel.recv(16).await?;
    let seed = Block::from_bytes(*seed.first_chunk().unwrap_or(&[0; 16]));
    let spread = step.metered_now(|| Bins::new(plan.bins, seed).spread(&digests));
    let setting = plan.setting();
    let function = step.step("function");
    let keys = Function::keys(setting.shape, &mut vole).await?;
    let (function, _) = Function::sender::<u64>(&function, setting, keys, &mut channel.rx).await?;
    let targets = step.metered_now(|| Targets::draw(&plan.bins, &mut rng));
    let mut all = Zeroizing::<Vec<u64>>::zeros(if plan.payloads { digests.len() } else { 0 });
    all[..payloads.len()].copy_from_slice(payloads);
    drop(digests);
    // As many stores at a time as there are threads; the receiver looks into them while others are made.
    let mut stores = (0..CHOICES).map(|choice| {
        let seed = step.private_prg().next_block();
        let number = step.own_key_numbers().of(2 + choice as u64);
        (choice, SeededRng::numbered(seed, number))
    });
    let each = crew::threads().min(CHOICES);
    loop {
        let some: Vec<_> = stores.by_ref().take(each).collect();
        if some.is_empty() {
            break;
        }
        if plan.payloads {
            let make = |(choice, mut rng): (usize, SeededRng)| {
                let pads = function.at(&spread.keys[choice])?;
                targets.hints_with(&spread, choice, &all, &pads, &mut rng)
            };
            send_hints(
                &step,
                &mut channel.tx,
                step.metered_now(|| crew::map(some, make)),
            )
            .await?;
        } else {
            let make = |(choice, mut rng): (usize, SeededRng)| {
                let pads = function.at(&spread.keys[choice])?;
                targets.hints(&spread, choice, &pads, &mut rng)
            };
            send_hints(
                &step,
                &mut channel.tx,
                step.metered_now(|| crew::map(some, make)),
            )
            .await?;
        }
    }
    Ok(targets)
}

fn phases(context: &Context, plan: &BinsPlan) -> (Context, Context) {
    let [receiver, sender] = [plan.sizes.receiver, plan.sizes.sender].map(|keys| keys as usize);
    context.tally("lists in bins", &[receiver, sender, plan.payloads.into()]);
    (
        context.enter(Phase::Setup, "bins, setup"),
        context.enter(Phase::Online, "bins"),
    )
}

fn private_rng(step: &Context) -> SeededRng {
    let seed = step.private_prg().next_block();
    SeededRng::numbered(seed, step.own_key_numbers().of(1))
}

fn failed(step: &Context, error: BinsError) -> Error {
    step.fail(match error {
        BinsError::Full | BinsError::Store(OkvsError::Dependent) => Error::Ended {
            reason: format!("{error}: run again"),
        },
        error => Error::bug(error),
    })
}

/// The function at keys, in their order, made by all threads that are at work.
fn pads(step: &Context, function: &Function, keys: &[Block]) -> Result<Zeroizing<Vec<Block>>> {
    let mut pads = Zeroizing::<Vec<Block>>::zeros(keys.len());
    let made = step.metered_now(|| {
        let pieces = crew::slices(&mut pads, 1, LEAST);
        crew::map(pieces, |(first, pads)| {
            function.fill(&keys[first..][..pads.len()], pads)
        })
    });
    for made in made {
        made.map_err(|error| step.fail(Error::bug(error)))?;
    }
    Ok(pads)
}

async fn send_hints<V: Element>(
    step: &Context,
    tx: &mut Sender,
    made: Vec<Result<Hints<V>, BinsError>>,
) -> Result<()> {
    for hints in made {
        let mut hints = hints.map_err(|error| failed(step, error))?;
        tx.send(hints.seed.to_bytes().to_vec()).await?;
        for piece in hints.store.chunks_mut(ELEMENTS) {
            tx.send(Bytes::copy_from_slice(V::bytes_mut(piece))).await?;
        }
    }
    step.flush();
    Ok(())
}

async fn received<V: Element>(rx: &mut Receiver, columns: usize) -> Result<Hints<V>> {
    let seed = rx.recv(16).await?;
    let seed = Block::from_bytes(*seed.first_chunk().unwrap_or(&[0; 16]));
    let mut store = Zeroizing::<Vec<V>>::zeros(columns);
    for piece in store.chunks_mut(ELEMENTS) {
        let bytes = rx.recv(piece.len() * (V::BITS / 8)).await?;
        V::bytes_mut(piece).copy_from_slice(&bytes);
    }
    Ok(Hints { seed, store })
}
