//! Triples of products by additively homomorphic encryption ([`madrigal_lattice`]): bytes grow with the
//! factors, not with the products.
//!
//! Each party encrypts its share X_i and sends it to all others, which multiply by their Y_j: Z = X Y =
//! sum_i X_i Y_i + sum_{i != j} X_i Y_j. Which of A and B is encrypted, and whether convolutions are computed as such
//! (X are the images then) or as products of matrices, is what takes fewer bytes. A party sends its requests for several triples together,
//! and then all its answers to them as it makes them: two rounds. Large matrices take several requests, and
//! what is requested at a time is bounded ([`TOGETHER`]).

use std::cell::RefCell;
use std::ops::Range;

use futures_util::future::{join, try_join_all};
use madrigal_core::{PhaseCost, Product, Ring};
use madrigal_lattice::{Asked, Layout, Owner, Request, Responder};
use madrigal_net::frame::message_cost;
use madrigal_net::{Channel, Context, Error, Result, breathe, exchange};
use zeroize::Zeroizing;

use super::ProductTriple;
use super::factors::{self, Factors, Unfolded};
use crate::kind::{Width, with_ring};
use crate::links::OUT_OF_STEP;
use crate::rings::random_blocks;

/// Bytes of requests that go together, unless one is longer: what one may have at most. A party keeps
/// two and a half times as much for each peer while it answers.
const TOGETHER: usize = 26 << 20;

/// The keys of one width.
struct Keys {
    owner: Owner,
    /// Our public key, to go with the first request.
    unsent: Vec<u8>,
    /// By peer; empty before its first request.
    responders: Vec<Responder>,
}

/// Makes triples of products with all peers. Keys are made when a width is first asked for.
pub(crate) struct Encrypted {
    context: Context,
    /// By peer.
    requests: Vec<Channel>,
    answers: Vec<Channel>,
    /// By [`Width`].
    keys: [Option<Keys>; Width::ALL.len()],
    /// A call is under way, or did not come to its end: then the parties are out of step.
    broken: bool,
}

/// A product as it is computed: of X, which is encrypted, by Y.
#[derive(Clone, Copy)]
struct Oriented {
    layout: Layout,
    form: Form,
    /// Elements of X, Y and Z of one item.
    lengths: [usize; 3],
}

#[derive(Clone, Copy)]
enum Form {
    /// As so many products of matrices for each triple.
    Matrices(Unfolded),
    /// X are the images, B, and Y the filters, A: nothing is unfolded.
    Images,
}

impl Oriented {
    /// None for what is empty or has no encryption.
    fn new<T: Ring>(one: Product) -> Option<Self> {
        if one.multiplications() == 0 {
            return None;
        }
        let (pieces, _) = one.pieces();
        let matrices = [false, true].into_iter().filter_map(|swapped| {
            let unfolded = Unfolded::new(one, swapped);
            let [p, k, q] = unfolded.sizes;
            Some(Self {
                layout: Layout::new(T::BITS, p, k, q)?,
                form: Form::Matrices(unfolded),
                lengths: [p * k, k * q, p * q],
            })
        });
        let images = match one {
            Product::Matrices(..) => None,
            Product::Convolution(convolution) => {
                let [filters, images, results] = one.lengths();
                Layout::of_images(T::BITS, &convolution).map(|layout| Self {
                    layout,
                    form: Form::Images,
                    lengths: [images, filters, results],
                })
            }
        };
        let bytes = |way: &Self| match way.form {
            Form::Matrices(_) => way.layout.bytes().saturating_mul(pieces),
            Form::Images => way.layout.bytes(),
        };
        images.into_iter().chain(matrices).min_by_key(bytes)
    }

    /// Products that are computed for so many triples.
    fn items(&self, count: usize) -> usize {
        match self.form {
            Form::Matrices(unfolded) => count * unfolded.pieces(),
            Form::Images => count,
        }
    }

    /// The requests for `count` triples, in order.
    fn groups(&self, count: usize) -> impl Iterator<Item = Group> + use<> {
        let layout = self.layout;
        let requests = move |item| layout.requests().map(move |one| (item, one));
        let mut left = (0..self.items(count)).flat_map(requests).peekable();
        std::iter::from_fn(move || {
            let mut group = vec![left.next()?];
            let mut bytes = layout.request_len(&group[0].1);
            while let Some((_, next)) = left.peek() {
                bytes += layout.request_len(next);
                if bytes > TOGETHER {
                    break;
                }
                group.extend(left.next());
            }
            Some(group)
        })
    }

    /// Where X, Y or Z of an item lies.
    fn place(&self, which: usize, item: usize) -> Range<usize> {
        let each = self.lengths[which];
        item * each..(item + 1) * each
    }
}

/// What a party computes with a peer for a triple by encryption, as owner and as responder, in
/// [transforms](Layout::transforms); none where there is no encryption of such elements.
pub(crate) fn transforms(width: Width, one: Product) -> Option<u64> {
    with_ring!(width, T => serves::<T>().then(|| {
        let way = Oriented::new::<T>(one);
        way.map_or(0, |way| way.items(1) as u64 * way.layout.transforms())
    }))
}

/// Requests that go together, each with the number of its product.
type Group = Vec<(usize, Request)>;

/// Whether there is an encryption for elements of this width.
pub(crate) fn serves<T: Ring>() -> bool {
    T::BITS <= 64
}

impl Encrypted {
    pub(crate) fn new(context: &Context) -> Result<Self> {
        let context = context.step("encrypted matrices");
        Ok(Self {
            requests: context.step("requests").channels()?,
            answers: context.step("answers").channels()?,
            context,
            keys: [const { None }; Width::ALL.len()],
            broken: false,
        })
    }

    /// Makes triples, of products that are not empty. `made` hears of products of elements.
    pub(crate) async fn triples<T: Ring>(
        &mut self,
        one: Product,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<Vec<ProductTriple<T>>> {
        if std::mem::replace(&mut self.broken, true) {
            return Err(Error::Ended {
                reason: OUT_OF_STEP.into(),
            });
        }
        let Some(way) = Oriented::new::<T>(one) else {
            unreachable!("`serves` was asked before, and an empty product takes no messages");
        };
        let mut factors = factors::random::<T>(&self.context, one, count).await;
        match way.form {
            Form::Matrices(unfolded) => {
                let mut z = Zeroizing::new(vec![T::ZERO; way.items(count) * way.lengths[2]]);
                {
                    let [x, y] = unfolded.factors(&factors);
                    self.multiply(&way, count, [&x, &y], &mut z, made).await?;
                }
                unfolded.add(&z, &mut factors.c);
            }
            Form::Images => {
                let Factors { a, b, c, .. } = &mut factors;
                self.multiply(&way, count, [b, a], c, made).await?;
            }
        }
        self.broken = false;
        Ok(factors.triples())
    }

    /// Adds this party's shares of the products with all peers to `z`.
    async fn multiply<T: Ring>(
        &mut self,
        way: &Oriented,
        count: usize,
        [x, y]: [&[T]; 2],
        z: &mut [T],
        made: &dyn Fn(usize),
    ) -> Result<()> {
        let z = RefCell::new(z);
        let width = Width::of::<T>() as usize;
        let mut keys = match self.keys[width].take() {
            Some(keys) => keys,
            None => self.start::<T>(),
        };
        self.expect(way, count);
        for group in way.groups(count) {
            let asked = self.ask(&mut keys, way, &group, x).await?;
            self.answer(&mut keys, way, &group, &asked, y, &z, made)
                .await?;
        }
        self.keys[width] = Some(keys);
        Ok(())
    }

    /// Tells the channels how much will come at a time.
    fn expect(&self, way: &Oriented, count: usize) {
        let layout = &way.layout;
        let Some(group) = way.groups(count).next() else {
            return;
        };
        let sum = |cost: &dyn Fn(&Request) -> u64| group.iter().map(|(_, one)| cost(one)).sum();
        let requests = sum(&|request| message_cost(layout.request_len(request)) as u64);
        let answers = sum(&|request| {
            let len = |columns| message_cost(layout.answer_len(request, &columns)) as u64;
            layout.answers().map(len).sum()
        });
        for (request, answer) in self.requests.iter().zip(&self.answers) {
            request.rx.expect(requests);
            answer.rx.expect(answers);
        }
    }

    fn start<T: Ring>(&self) -> Keys {
        let seed = self.context.private_prg().next_block();
        let Some(mut owner) = Owner::new(T::BITS, seed) else {
            unreachable!("`serves` was asked before");
        };
        Keys {
            unsent: owner.public_key(),
            owner,
            responders: Vec::new(),
        }
    }

    /// Sends a group's requests to all, and takes all of theirs: for each peer, as many.
    async fn ask<T: Ring>(
        &mut self,
        keys: &mut Keys,
        way: &Oriented,
        group: &Group,
        x: &[T],
    ) -> Result<Vec<Vec<Asked>>> {
        let layout = &way.layout;
        let mut message = std::mem::take(&mut keys.unsent);
        let ahead = message.len();
        for (item, request) in group {
            let x = &x[way.place(0, *item)];
            message.append(&mut keys.owner.request(layout, request, x));
            breathe().await;
        }
        let expected = message.len();
        let received = exchange(&mut self.requests, message, expected).await?;
        let mut all = Vec::with_capacity(received.len());
        for (index, (channel, message)) in self.requests.iter().zip(received).enumerate() {
            let (key, mut message) = message.split_at(ahead);
            let refuse = |error| channel.refuse(error);
            if ahead > 0 {
                let seed = self.context.private_prg().next_block();
                let responder = Responder::new(T::BITS, key, seed).map_err(refuse)?;
                keys.responders.push(responder);
            }
            let responder = &keys.responders[index];
            let mut theirs = Vec::with_capacity(group.len());
            for (_, request) in group {
                let one;
                (one, message) = message.split_at(layout.request_len(request));
                theirs.push(responder.read(layout, request, one).map_err(refuse)?);
            }
            all.push(theirs);
        }
        Ok(all)
    }

    /// Answers all, and takes all answers. Neither waits for the other.
    #[expect(clippy::too_many_arguments, reason = "one call's state, taken apart")]
    async fn answer<T: Ring>(
        &mut self,
        keys: &mut Keys,
        way: &Oriented,
        group: &Group,
        asked: &[Vec<Asked>],
        y: &[T],
        z: &RefCell<&mut [T]>,
        made: &dyn Fn(usize),
    ) -> Result<()> {
        let received = self.context.beside();
        let (layout, owner) = (&way.layout, &keys.owner);
        let first = self.answers.first().map(Channel::peer);
        let pairs = self.answers.iter_mut().zip(&mut keys.responders).zip(asked);
        let pairs = pairs.map(|((channel, responder), asked)| {
            let leads = first == Some(channel.peer());
            let Channel { tx, rx } = channel;
            rx.count_in(&received);
            let send = async move {
                for ((item, _), asked) in group.iter().zip(asked) {
                    let y = &y[way.place(1, *item)];
                    for columns in layout.answers() {
                        let message = {
                            let z = &mut z.borrow_mut()[way.place(2, *item)];
                            responder.answer(asked, &columns, y, z)
                        };
                        tx.send(message).await?;
                        breathe().await;
                    }
                }
                Ok(())
            };
            let receive = async move {
                for (item, request) in group {
                    for columns in layout.answers() {
                        let expected = layout.answer_len(request, &columns);
                        let message = rx.recv(expected).await?;
                        let z = &mut z.borrow_mut()[way.place(2, *item)];
                        owner
                            .open(layout, request, &columns, &message, z)
                            .map_err(|error| rx.refuse(error))?;
                        if leads {
                            made(layout.products(request, &columns));
                        }
                    }
                }
                Ok(())
            };
            async move {
                let (sent, received) = join(send, receive).await;
                sent.and(received)
            }
        });
        try_join_all(pairs).await?;
        self.context.join(&received);
        Ok(())
    }
}

/// What the first call of a width costs on top: the key is part of the first request. Owner and
/// responders each draw a seed.
fn key_cost<T: Ring>(peers: u64) -> PhaseCost {
    let [bytes, make, take] = Responder::key_cost(T::BITS).unwrap_or_default();
    PhaseCost {
        rounds: 0,
        bytes_sent: peers * bytes,
        bytes_received: peers * bytes,
        messages: 0,
        aes_blocks: 1 + Owner::AES_BLOCKS + make + peers * (1 + take),
    }
}

/// Follows the calls at one party, and knows what the next one costs.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct EncryptedCosts {
    /// By [`Width`].
    started: [bool; Width::ALL.len()],
}

impl EncryptedCosts {
    pub(crate) fn triples<T: Ring>(
        &mut self,
        parties: usize,
        one: Product,
        count: usize,
    ) -> PhaseCost {
        let [left, right, _] = match one {
            Product::Matrices(_, shape) => shape.lengths(),
            Product::Convolution(_) => one.lengths(),
        };
        let mut total = PhaseCost {
            aes_blocks: random_blocks(count * left, T::BYTES)
                + random_blocks(count * right, T::BYTES),
            ..PhaseCost::default()
        };
        let Some(way) = Oriented::new::<T>(one).filter(|_| count > 0) else {
            return total;
        };
        let peers = parties as u64 - 1;
        if !std::mem::replace(&mut self.started[Width::of::<T>() as usize], true) {
            total += key_cost::<T>(peers);
        }
        let answers = way.layout.answers().count() as u64;
        for group in way.groups(count) {
            total.rounds += 2;
            total.messages += peers * (1 + answers * group.len() as u64);
        }
        for (request, times) in way.layout.kinds() {
            let bytes = way.layout.request_len(&request) + way.layout.answers_len(&request);
            let blocks = way.layout.aes_blocks(&request);
            let each = PhaseCost {
                rounds: 0,
                bytes_sent: peers * bytes as u64,
                bytes_received: peers * bytes as u64,
                messages: 0,
                aes_blocks: blocks.owner + peers * blocks.responder,
            };
            total += each.times((way.items(count) * times) as u64);
        }
        total
    }
}
