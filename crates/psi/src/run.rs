//! The protocol, over a session of two parties.
//!
//! Partitions are shared out among threads. On each thread, what a party sends and what it waits for go on side by side, so that neither waits while the other
//! computes: the receiver encodes the next partition while the sender makes tags of this one.

use std::future::poll_fn;
use std::sync::Arc;

use futures_channel::mpsc::{Receiver, Sender, channel};
use futures_util::StreamExt as _;
use futures_util::future::{try_join, try_join_all};
use madrigal_core::{Party, Phase, Zeroizing, domains};
use madrigal_correlations_make::{VoleBase, VoleExpected, VoleKeys, VoleKeysBegun, VoleValues};
use madrigal_kernels::Block;
use madrigal_net::{Channel, Context, Error, Result, block_on, on_threads};
use sha2::{Digest as _, Sha256};

use crate::lists::{List, Matched, digests_of, ended};
use crate::oprf::{Function, Setting, Value, message_bytes};
use crate::oracle::to_prove;
use crate::plan::{PsiPlan, Sizes};
use crate::tags::{Own, Received, Tags, rest, tag};

/// The part of a party.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Learns which of its keys the other party has.
    Receiver,
    /// Has a list that is looked at.
    Sender,
}

impl Role {
    /// The role of `me` where `receiver` is the receiver.
    pub fn of(me: Party, receiver: Party) -> Self {
        if me == receiver {
            Self::Receiver
        } else {
            Self::Sender
        }
    }
}

/// The salt of digests of this job: both parties have it once they have met, and nobody before.
pub fn salt(context: &Context) -> [u8; 32] {
    let hash = Sha256::new()
        .chain_update(domains::PSI_SALT)
        .chain_update(context.step("psi salt").public_id());
    hash.finalize().into()
}

/// Tells the other party how many distinct keys one's list has, or a bound, and a number of another meaning, and hears of the other's: both of each, by the
/// parties' order. One round of 16 bytes.
///
/// # Errors
/// [`Error`] of the network; a size that no list has.
pub async fn agree(context: &Context, own: u64, note: u64) -> Result<[(u64, u64); 2]> {
    let context = context.enter(Phase::Online, "sizes of lists");
    let mut channel = context.channel(peer(&context)?)?;
    let Channel { tx, rx } = &mut channel;
    tx.send([own.to_le_bytes(), note.to_le_bytes()].concat())
        .await?;
    context.flush();
    // The other party may still be reading its list.
    let told = rx.recv_idle(16).await?;
    let word = |at: usize| u64::from_le_bytes(*told[at..].first_chunk().unwrap_or(&[0; 8]));
    let theirs = (word(0), word(8));
    if theirs.0 > MOST {
        return Err(rx.refuse(format!("a list of {} keys; the most are {MOST}", theirs.0)));
    }
    let own = (own, note);
    Ok(match context.me().index() {
        0 => [own, theirs],
        _ => [theirs, own],
    })
}

impl Sizes {
    /// The sizes of both parties' lists, by the parties' order, where `receiver` is the receiver.
    pub fn of(sizes: [u64; 2], receiver: Party) -> Self {
        let receiver = receiver.index() % 2;
        Self {
            receiver: sizes[receiver],
            sender: sizes[1 - receiver],
        }
    }
}

/// Error of a sender whose answer is wrong.
const CHECK_FAILED: &str = "its keys of VOLE are not those of our values; an honest party sends none such: find out who changed what it runs";

/// The most keys of a list.
const MOST: u64 = 1 << 40;

fn peer(context: &Context) -> Result<Party> {
    let mut peers = context.peers();
    match (peers.next(), peers.next()) {
        (Some(peer), None) => Ok(peer),
        _ => Err(Error::bug(
            "two lists are matched in a session of two parties",
        )),
    }
}

/// Matches the lists by a plan that both parties have. The receiver's list hears which of its keys the sender has, and with
/// [replies](PsiPlan::replies) the sender's list hears the same. `tell` hears of each partition that is done.
///
/// It computes on `threads` threads, of which both parties have the same number.
///
/// # Errors
/// [`Error`] of the network, of a peer's malformed message, of a list.
pub async fn intersect(
    context: &Context,
    plan: &PsiPlan,
    role: Role,
    list: Arc<dyn List>,
    threads: usize,
    tell: impl FnMut(usize),
) -> Result<()> {
    let threads = threads.clamp(1, plan.left.len().max(1));
    let [receiver, sender] = plan.keys_of_partition();
    let same = [
        receiver,
        sender,
        plan.partitions,
        plan.left.len(),
        plan.replies.into(),
        plan.wide().into(),
        plan.payloads.into(),
        plan.checked().into(),
        threads,
    ];
    context.tally("lists matched", &same);
    if plan.left.is_empty() {
        return Ok(());
    }
    let setup = context.enter(Phase::Setup, "matching, setup");
    let online = context.enter(Phase::Online, "matching");
    let base = Arc::new(VoleBase::new(&setup).await?);
    let strand = |number| Strand {
        setup: setup.fork(&format!("thread {number}")),
        online: online.fork(&format!("thread {number}")),
        plan: plan.clone(),
        list: Arc::clone(&list),
        base: Arc::clone(&base),
        begun: None,
        number,
        threads,
    };
    let strands = (0..threads).map(strand).map(|strand| strand.begun(role));
    // No thread uses Delta, which is that of all, before the receiver's columns have been checked on each.
    let strands = try_join_all(strands).await?.into_iter();
    let strands =
        strands.map(|strand| move |tell: &dyn Fn(usize)| block_on(strand.run(role, tell)));
    // Also a single one: meanwhile this thread serves the sockets.
    let done = on_threads(context, strands, tell).await?;
    for (of_setup, of_online) in &done {
        setup.join(of_setup);
        online.join(of_online);
    }
    Ok(())
}

/// Hands something to the other half of a strand when it has room for it; `false` if that half has ended.
async fn hand<T>(put: &mut Sender<T>, it: T) -> bool {
    let ready = poll_fn(|task| put.poll_ready(task)).await;
    ready.is_ok() && put.start_send(it).is_ok()
}

/// Digests of a partition, and random ones up to the bound: all work from here on is that of the bound.
fn padded(step: &Context, digests: &[Block], most: usize) -> Zeroizing<Vec<Block>> {
    let mut padded = Zeroizing::<Vec<Block>>::zeros(most);
    let (own, more) = padded.split_at_mut(digests.len());
    own.copy_from_slice(digests);
    let mut prg = step.private_prg();
    more.iter_mut()
        .for_each(|digest| *digest = prg.next_block());
    padded
}

/// State of the receiver for a partition whose store it has sent, and waits for the tags.
struct Awaited {
    partition: usize,
    own: Own,
    /// The sender's answer, where it may be malicious.
    answer: Option<VoleExpected>,
}

/// State of the sender for a partition whose tags it has sent, and waits for the reply.
struct Sent {
    partition: usize,
    tags: Tags,
    /// Number of its keys; what comes after them is padding.
    keys: usize,
    id: [u8; 32],
    /// Pads by which a receiver proves that it has keys.
    known: Zeroizing<Vec<u64>>,
}

/// Everything that one thread works with: of the partitions that are left those at `number`, `number + threads`, and so on.
struct Strand {
    setup: Context,
    online: Context,
    plan: PsiPlan,
    list: Arc<dyn List>,
    base: Arc<VoleBase>,
    /// The sender's VOLE, where the receiver may be malicious.
    begun: Option<VoleKeysBegun<Block>>,
    number: usize,
    threads: usize,
}

impl Strand {
    /// Begins the sender's VOLE where the receiver may be malicious: up to the check of what it says.
    async fn begun(mut self, role: Role) -> Result<Self> {
        if role == Role::Sender && self.plan.checked() {
            self.begun = Some(self.begin().await?);
        }
        Ok(self)
    }

    async fn begin<V: Value>(&self) -> Result<VoleKeysBegun<V>> {
        let line = (peer(&self.online)?, self.number as u32);
        let (elements, security) = (self.elements(), self.plan.security());
        VoleKeysBegun::new(&self.setup, &self.base, line, elements, security).await
    }

    async fn run(mut self, role: Role, tell: &dyn Fn(usize)) -> Result<(Context, Context)> {
        match (role, self.plan.wide()) {
            (Role::Receiver, false) => self.receive::<u64>(tell).await?,
            (Role::Receiver, true) => self.receive::<Block>(tell).await?,
            (Role::Sender, false) => self.send::<u64>(self.begin().await?, tell).await?,
            (Role::Sender, true) => {
                let begun = match self.begun.take() {
                    Some(begun) => begun,
                    None => self.begin().await?,
                };
                self.send(begun, tell).await?;
            }
        }
        Ok((self.setup, self.online))
    }

    fn partitions(&self) -> impl ExactSizeIterator<Item = usize> + use<'_> {
        let left = self.plan.left.iter().copied();
        left.skip(self.number).step_by(self.threads)
    }

    /// Elements of VOLE that the thread's partitions take.
    fn elements(&self) -> u64 {
        self.partitions().len() as u64 * self.plan.shape.columns() as u64
    }

    async fn receive<V: Value>(&self, tell: &dyn Fn(usize)) -> Result<()> {
        let peer = peer(&self.online)?;
        let elements = self.elements();
        let line = (peer, self.number as u32);
        let mut vole = VoleValues::<V>::new(
            &self.setup,
            &self.base,
            line,
            elements,
            self.plan.security(),
        )
        .await?;
        let (put, take) = channel(0);
        let stores = self.send_stores(&mut vole, put);
        let tags = self.take_tags(take, tell);
        try_join(stores, tags).await?;
        Ok(())
    }

    /// Encodes partition after partition, and sends the stores.
    async fn send_stores<V: Value>(
        &self,
        vole: &mut VoleValues<V>,
        mut put: Sender<Awaited>,
    ) -> Result<()> {
        let context = self.online.fork("stores");
        let mut channel = context.channel(peer(&context)?)?;
        let most = self.plan.receiver_keys;
        for partition in self.partitions() {
            let step = context.step(&format!("partition {partition}"));
            let digests = digests_of(&step, &self.plan, &*self.list, (partition, most))?;
            let (own, digests) = (digests.len(), padded(&step, &digests, most));
            let function =
                Function::receiver(&step, self.setting(), vole, &mut channel.tx, &digests);
            let (function, answer) = function.await?;
            let own = self.tags(&step, &function, &digests, own)?;
            drop((function, digests));
            let awaited = Awaited {
                partition,
                own,
                answer,
            };
            // Nobody takes them only if the other half has failed.
            if !hand(&mut put, awaited).await {
                return self.online.check();
            }
        }
        Ok(())
    }

    /// Takes the sender's tags of partition after partition, and looks for its own.
    async fn take_tags(&self, mut take: Receiver<Awaited>, tell: &dyn Fn(usize)) -> Result<()> {
        let context = self.online.fork("tags");
        let mut channel = context.channel(peer(&context)?)?;
        let tags = self.partitions().len() * self.plan.tag_bytes();
        channel.rx.expect(tags as u64);
        while let Some(awaited) = take.next().await {
            let Awaited {
                partition,
                own,
                answer,
            } = awaited;
            let message = channel.recv(self.plan.tag_bytes()).await?;
            let (told, tags) = message.split_at(self.plan.answer_bytes());
            if answer.is_some_and(|answer| !answer.check(told)) {
                return Err(channel.refuse(CHECK_FAILED));
            }
            let tags = Received::read(&self.plan, tags);
            let tags = tags.map_err(|problem| channel.refuse(problem))?;
            let (matched, reply) = tags.matches(&own);
            if self.plan.replies {
                channel.send(reply).await?;
                context.flush();
            }
            self.found(&context, partition, matched)?;
            tell(partition);
        }
        Ok(())
    }

    fn found(&self, context: &Context, partition: usize, matched: Matched) -> Result<()> {
        let told = self.list.matched(partition, matched);
        told.map_err(|failed| ended(context, failed))
    }

    async fn send<V: Value>(&self, vole: VoleKeysBegun<V>, tell: &dyn Fn(usize)) -> Result<()> {
        let mut vole = vole.start().await?;
        let (put, take) = channel(0);
        let context = self.online.fork("tags");
        let Channel { tx, rx } = context.channel(peer(&context)?)?;
        let tags = self.send_tags(&mut vole, tx, put, tell);
        let replies = self.take_replies(rx, take, tell);
        try_join(tags, replies).await?;
        Ok(())
    }

    async fn send_tags<V: Value>(
        &self,
        vole: &mut VoleKeys<V>,
        mut tx: madrigal_net::Sender,
        mut put: Sender<Sent>,
        tell: &dyn Fn(usize),
    ) -> Result<()> {
        let context = self.online.fork("stores");
        let mut channel = context.channel(peer(&context)?)?;
        let most = self.plan.sender_keys;
        let store = message_bytes(&self.plan.shape, V::BITS / 8) + self.plan.challenge_bytes();
        let stores = self.partitions().len() * store;
        channel.rx.expect(stores as u64);
        let shape = &self.plan.shape;
        let mut left = self.partitions();
        let mut ahead = match left.next() {
            Some(_) => Some(Function::keys(shape, vole).await?),
            None => None,
        };
        for partition in self.partitions() {
            let step = context.step(&format!("partition {partition}"));
            let Some(keys) = ahead.take() else { break };
            // The receiver gets what it needs for the next store while it makes it; it need not take it before it has sent this one.
            let next = async {
                match left.next() {
                    Some(_) => Ok(Some(Function::keys(shape, vole).await?)),
                    None => Ok(None),
                }
            };
            let function = Function::sender::<V>(&step, self.setting(), keys, &mut channel.rx);
            let ((function, answer), next) = try_join(function, next).await?;
            ahead = next;
            let digests = digests_of(&step, &self.plan, &*self.list, (partition, most))?;
            let (own, digests) = (digests.len(), padded(&step, &digests, most));
            let mut made = self.tags(&step, &function, &digests, own)?;
            drop((function, digests));
            if self.plan.payloads {
                self.mask(&step, &mut made.pads[..own], partition)?;
            }
            let tags = Tags::sorted(&self.plan, &made.tags);
            let message = tags.message(&self.plan, (&made.pads, &made.rests), &answer);
            let Own {
                id, keys, known, ..
            } = made;
            tx.send(message).await?;
            context.flush();
            let sent = Sent {
                partition,
                tags,
                keys,
                id,
                known,
            };
            if !self.plan.replies {
                tell(partition);
            } else if !hand(&mut put, sent).await {
                return self.online.check();
            }
        }
        Ok(())
    }

    fn setting(&self) -> Setting<'_> {
        Setting {
            shape: &self.plan.shape,
            pads: self.plan.payloads,
            evaluated: self.plan.sender_keys as u64,
            checked: self.plan.checked(),
        }
    }

    /// Tags and pads of digests, of which the first `keys` are keys of the list.
    fn tags(
        &self,
        step: &Context,
        function: &Function,
        digests: &[Block],
        keys: usize,
    ) -> Result<Own> {
        let room = |wanted: bool| Zeroizing::zeros(if wanted { digests.len() } else { 0 });
        let mut own = Own {
            id: step.public_id(),
            keys,
            tags: Zeroizing::zeros(digests.len()),
            pads: room(self.plan.payloads),
            rests: room(self.plan.checked()),
            known: room(self.plan.proved()),
        };
        let mut next = own.tags.iter_mut();
        if self.plan.checked() {
            function.each(step, digests, |place, hash, pad| {
                if let Some(next) = next.next() {
                    *next = tag(&self.plan, hash, place);
                }
                let of_place = |all: &mut [u64], value| {
                    if let Some(one) = all.get_mut(place as usize) {
                        *one = value;
                    }
                };
                of_place(&mut own.rests, rest(&self.plan, hash));
                of_place(&mut own.pads, pad.lo());
                of_place(&mut own.known, to_prove(pad));
            })?;
        } else {
            function.each(step, digests, |place, hash, pad| {
                if let Some(next) = next.next() {
                    *next = tag(&self.plan, hash, place);
                }
                if let Some(own) = own.pads.get_mut(place as usize) {
                    *own = pad.lo();
                }
            })?;
        }
        Ok(own)
    }

    /// Adds the payloads of one partition's keys to their pads.
    fn mask(&self, step: &Context, pads: &mut [u64], partition: usize) -> Result<()> {
        let payloads = self.list.payloads(partition);
        let payloads = payloads.map_err(|failed| ended(step, failed))?;
        if payloads.len() != pads.len() {
            return Err(step.fail(Error::bug("a list has other payloads than keys")));
        }
        for (pad, payload) in pads.iter_mut().zip(payloads.iter()) {
            *pad ^= payload;
        }
        Ok(())
    }

    /// Takes the replies.
    async fn take_replies(
        &self,
        mut rx: madrigal_net::Receiver,
        mut take: Receiver<Sent>,
        tell: &dyn Fn(usize),
    ) -> Result<()> {
        while let Some(sent) = take.next().await {
            let reply = rx.recv(self.plan.reply_bytes()).await?;
            let (tags, keys) = (&sent.tags, sent.keys);
            let matched = match self.plan.proved() {
                true => {
                    let reply = reply.split_at(self.plan.marks_met());
                    tags.proved(reply, keys, (&sent.id, &sent.known))
                }
                false => tags.met(&reply, keys),
            };
            let matched = matched.map_err(|problem| rx.refuse(problem))?;
            self.found(&self.online, sent.partition, matched)?;
            tell(sent.partition);
        }
        Ok(())
    }
}
