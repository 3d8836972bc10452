//! Matrix triples by additively homomorphic encryption ([`madrigal_lattice`]): bytes grow with the
//! matrices, not with the products.
//!
//! Each party encrypts its share X_i and sends it to all others, which multiply by their Y_j: Z = X Y =
//! sum_i X_i Y_i + sum_{i != j} X_i Y_j. Which of A and B is encrypted, and so whether Z is C or its
//! transpose, is what takes fewer bytes. A party sends its requests for several triples together,
//! and then all its answers to them as it makes them: two rounds. Large matrices take several requests, and
//! what is requested at a time is bounded ([`TOGETHER`]).

use std::cell::RefCell;
use std::ops::Range;

use futures_util::future::{join, try_join_all};
use madrigal_core::{PhaseCost, Ring};
use madrigal_lattice::{Asked, Layout, Owner, Request, Responder};
use madrigal_net::{Channel, Context, Error, Result, breathe, exchange};
use zeroize::Zeroizing;

use super::{MatrixShape, MatrixTriple, in_shape, own_products};
use crate::kind::{Width, with_ring};
use crate::links::OUT_OF_STEP;
use crate::rings::{random, random_blocks};

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

/// Makes matrix triples with all peers. Keys are made when a width is first asked for.
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

/// A product as it is computed: of X by Y, which are A and B, or the transposes of B and A.
#[derive(Clone, Copy)]
struct Oriented {
    layout: Layout,
    /// Rows of X, between, columns of Y.
    sizes: [usize; 3],
    swapped: bool,
}

impl Oriented {
    /// None for what is empty or has no encryption.
    fn new<T: Ring>(shape: MatrixShape) -> Option<Self> {
        let sizes = [shape.rows, shape.inner, shape.columns];
        if sizes.contains(&0) {
            return None;
        }
        let ways = [false, true].into_iter().filter_map(|swapped| {
            let [p, k, q] = sizes;
            let sizes = if swapped { [q, k, p] } else { sizes };
            let layout = Layout::new(T::BITS, sizes[0], k, sizes[2])?;
            Some(Self {
                layout,
                sizes,
                swapped,
            })
        });
        ways.min_by_key(|way| way.layout.bytes())
    }
}

/// What a party computes with a peer for a triple by encryption, as owner and as responder, in
/// [transforms](Layout::transforms); none where there is no encryption of such elements.
pub(crate) fn transforms(width: Width, shape: MatrixShape) -> Option<u64> {
    with_ring!(width, T => {
        serves::<T>().then(|| Oriented::new::<T>(shape).map_or(0, |way| way.layout.transforms()))
    })
}

/// Requests that go together, each with the number of its triple.
type Group = Vec<(usize, Request)>;

impl Oriented {
    /// The requests for `count` triples, in order.
    fn groups(self, count: usize) -> impl Iterator<Item = Group> {
        let requests = move |triple| self.layout.requests().map(move |one| (triple, one));
        let mut left = (0..count).flat_map(requests).peekable();
        std::iter::from_fn(move || {
            let mut group = vec![left.next()?];
            let mut bytes = self.layout.request_len(&group[0].1);
            while let Some((_, next)) = left.peek() {
                bytes += self.layout.request_len(next);
                if bytes > TOGETHER {
                    break;
                }
                group.extend(left.next());
            }
            Some(group)
        })
    }

    /// Where the matrix with these sizes of a triple lies: X has the first and second, Y the second and
    /// third, Z the first and third.
    fn place(&self, one: usize, other: usize, triple: usize) -> Range<usize> {
        let each = self.sizes[one] * self.sizes[other];
        triple * each..(triple + 1) * each
    }
}

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
        shape: MatrixShape,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<Vec<MatrixTriple<T>>> {
        if std::mem::replace(&mut self.broken, true) {
            return Err(Error::Ended {
                reason: OUT_OF_STEP.into(),
            });
        }
        let Some(way) = Oriented::new::<T>(shape) else {
            unreachable!("`serves` was asked before, and an empty product takes no messages");
        };
        let [p, k, q] = way.sizes;
        let mut prg = self.context.private_prg();
        let x = random::<T>(&mut prg, count * p * k);
        let y = random::<T>(&mut prg, count * k * q);
        let z = RefCell::new(own_products(count, &x, &y, way.sizes));
        let width = Width::of::<T>() as usize;
        let mut keys = match self.keys[width].take() {
            Some(keys) => keys,
            None => self.start::<T>(),
        };
        for group in way.groups(count) {
            let asked = self.ask(&mut keys, &way, &group, &x).await?;
            self.answer(&mut keys, &way, &group, &asked, &y, &z, made)
                .await?;
        }
        self.keys[width] = Some(keys);
        self.broken = false;
        let matrices = [x, y, z.into_inner()];
        Ok(in_shape(shape, count, way.sizes, way.swapped, matrices))
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
        for (triple, request) in group {
            let x = &x[way.place(0, 1, *triple)];
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
        z: &RefCell<Zeroizing<Vec<T>>>,
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
                for ((triple, _), asked) in group.iter().zip(asked) {
                    let y = &y[way.place(1, 2, *triple)];
                    for columns in layout.answers() {
                        let message = {
                            let z = &mut z.borrow_mut()[way.place(0, 2, *triple)];
                            responder.answer(asked, &columns, y, z)
                        };
                        tx.send(message).await?;
                        breathe().await;
                    }
                }
                Ok(())
            };
            let receive = async move {
                for (triple, request) in group {
                    for columns in layout.answers() {
                        let expected = layout.answer_len(request, &columns);
                        let message = rx.recv(expected).await?;
                        let z = &mut z.borrow_mut()[way.place(0, 2, *triple)];
                        owner
                            .open(layout, request, &columns, &message, z)
                            .map_err(|error| rx.refuse(error))?;
                        if leads {
                            made(rows_made(request) * columns.len());
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

/// Products of elements for each column that is answered.
fn rows_made(request: &Request) -> usize {
    request.rows.len() * request.inner.len()
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
        shape: MatrixShape,
        count: usize,
    ) -> PhaseCost {
        let MatrixShape {
            rows,
            inner,
            columns,
        } = shape;
        let mut total = PhaseCost {
            aes_blocks: random_blocks(count * rows * inner, T::BYTES)
                + random_blocks(count * inner * columns, T::BYTES),
            ..PhaseCost::default()
        };
        let Some(way) = Oriented::new::<T>(shape).filter(|_| count > 0) else {
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
            let one = PhaseCost {
                rounds: 0,
                bytes_sent: peers * bytes as u64,
                bytes_received: peers * bytes as u64,
                messages: 0,
                aes_blocks: blocks.owner + peers * blocks.responder,
            };
            total += one.times((count * times) as u64);
        }
        total
    }
}
