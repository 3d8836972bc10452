//! Triples of products by additively homomorphic encryption ([`madrigal_lattice`]): bytes grow with the
//! factors, not with the products.
//!
//! Each party encrypts its share X_i and sends it to all others, which multiply by their Y_j: Z = X Y =
//! sum_i X_i Y_i + sum_{i != j} X_i Y_j. Which of A and B is encrypted, and whether convolutions are computed as such
//! (X are the images then) or as products of matrices, is what takes fewer bytes.
//!
//! In a [split](Tripled) triple one party has all of X and the other one all of Y: only the first one asks, and only
//! the other one answers.
//!
//! A call, for one product or several, is two rounds: requests, a message each, leave as they are encrypted, and answers,
//! some messages for each request, as requests come. Asking, answering and opening do not wait for each other but where a party
//! would be more than [`AHEAD`] of its answers. So nobody waits for ever: opening waits for answers alone,
//! answering for requests and for room that the peer's opening makes, asking for opening.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::ops::Range;
use std::task::Poll;

use bytes::Bytes;
use futures_util::future::{try_join_all, try_join3};
use madrigal_core::{Party, PhaseCost, Piece, Product, Ring, Zeroizing};
use madrigal_correlations::{ProductTriple, Tripled, Width, with_ring};
use madrigal_lattice::{Layout, Owner, Request, Responder};
use madrigal_net::frame::message_cost;
use madrigal_net::{Channel, Context, Error, Receiver, Result, Sender, breathe};

use super::factors::{self, Factors, Unfolded};
use crate::ot::links::OUT_OF_STEP;

/// Bytes of requests that may wait for their answers at each peer, unless one is longer: the longest one, which the peer
/// answers, and as much in its inbox, so that it goes on with that while we encrypt more.
const AHEAD: u64 = 52 << 20;

/// The keys of one width.
#[derive(Default)]
struct Keys {
    /// None before our first request.
    owner: Option<Owner>,
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
    keys: [Keys; Width::ALL.len()],
    /// A call is under way, or did not come to its end: then the parties are out of step.
    broken: bool,
}

/// A product as it is computed: of X, which is encrypted, by Y.
#[derive(Clone, Copy)]
struct Oriented {
    /// Who has X; none where all have shares of it.
    first: Option<Party>,
    layout: Layout,
    form: Form,
    /// Elements of X, Y and Z of one item.
    lengths: [usize; 3],
}

#[derive(Clone, Copy)]
enum Form {
    /// Several products of matrices for each triple.
    Matrices(Unfolded),
    /// X are the images, B, and Y the filters, A: nothing is unfolded.
    Images,
}

impl Oriented {
    /// None for what is empty or has no encryption.
    fn new<T: Ring>(tripled: Tripled) -> Option<Self> {
        let one = tripled.product;
        if one.multiplications() == 0 {
            return None;
        }
        let (pieces, _) = one.pieces();
        let matrices = [false, true].into_iter().filter_map(|swapped| {
            let unfolded = Unfolded::new(one, swapped);
            let [p, k, q] = unfolded.sizes;
            Some(Self {
                first: tripled.first(swapped),
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
                    first: tripled.first(true),
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

    /// Whether a party asks, and whether it answers others.
    fn parts_of(&self, me: Party) -> [bool; 2] {
        self.first
            .map_or([true; 2], |first| [first == me, first != me])
    }

    /// Counts the products that are computed for `count` triples.
    fn items(&self, count: usize) -> usize {
        match self.form {
            Form::Matrices(unfolded) => count * unfolded.pieces(),
            Form::Images => count,
        }
    }

    /// The requests for `count` triples in order, each with the number of its product.
    fn requests(&self, count: usize) -> impl Iterator<Item = (usize, Request)> + use<> {
        let layout = self.layout;
        (0..self.items(count)).flat_map(move |item| layout.requests().map(move |one| (item, one)))
    }

    /// Where X, Y or Z of an item lies.
    fn place(&self, which: usize, item: usize) -> Range<usize> {
        let each = self.lengths[which];
        item * each..(item + 1) * each
    }
}

/// Gives the work of a party with a peer for a triple by encryption, as owner and as responder, in
/// [transforms](Layout::transforms), of a split one half of it; none where there is no encryption of such elements.
pub(crate) fn transforms(width: Width, one: Tripled) -> Option<u64> {
    with_ring!(width, T => serves::<T>().then(|| {
        let way = Oriented::new::<T>(one);
        let both = way.map_or(0, |way| way.items(1) as u64 * way.layout.transforms());
        if one.left.is_none() { both } else { both.div_ceil(2) }
    }))
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
            keys: Default::default(),
            broken: false,
        })
    }

    /// Makes triples of several products that are not empty, all in two rounds: while a party answers for one, another
    /// one encrypts for the next. `made` hears of products of elements.
    pub(crate) async fn triples<T: Ring>(
        &mut self,
        wanted: &[(Tripled, usize)],
        made: &dyn Fn(usize),
    ) -> Result<Vec<Vec<ProductTriple<T>>>> {
        if std::mem::replace(&mut self.broken, true) {
            return Err(Error::Ended {
                reason: OUT_OF_STEP.into(),
            });
        }
        let mut all = Vec::with_capacity(wanted.len());
        for &(one, count) in wanted {
            all.push(factors::random::<T>(&self.context, one, count).await);
        }
        let jobs: Vec<_> = all
            .iter_mut()
            .zip(wanted)
            .map(|(factors, &(one, count))| Job::new(one, count, factors))
            .collect();
        self.multiply(&jobs, made).await?;
        jobs.into_iter().for_each(Job::finish);
        self.broken = false;
        Ok(all.into_iter().map(Factors::triples).collect())
    }

    /// Adds this party's shares of the products with all peers to what jobs have of Z.
    async fn multiply<T: Ring>(&mut self, jobs: &[Job<'_, T>], made: &dyn Fn(usize)) -> Result<()> {
        let me = self.context.me();
        let any = |part: usize| jobs.iter().any(|job| job.way.parts_of(me)[part]);
        let [asks, answers_others] = [any(0), any(1)];
        self.expect(jobs);
        let mut keys = std::mem::take(&mut self.keys[Width::of::<T>() as usize]);
        let mut key = Vec::new();
        let owner = match keys.owner.take() {
            None if asks => {
                let mut owner = self.owner::<T>();
                key = owner.public_key();
                Some(owner)
            }
            known => known,
        };
        let (start, asked, received) = (
            self.context.beside(),
            self.context.beside(),
            self.context.beside(),
        );
        let (mut askings, mut requests, mut answers, mut openings) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for channel in &mut self.requests {
            channel.tx.count_in(&start);
            channel.rx.count_in(&asked);
            askings.extend(asks.then_some(&mut channel.tx));
            requests.extend(answers_others.then_some(&mut channel.rx));
        }
        for channel in &mut self.answers {
            channel.tx.count_in(&asked);
            channel.rx.count_in(&received);
            answers.extend(answers_others.then_some(&mut channel.tx));
            openings.extend(asks.then_some(&mut channel.rx));
        }
        let call = EncryptedCall {
            context: &self.context,
            jobs,
            owner: RefCell::new(owner),
            opened: (0..openings.len()).map(|_| Cell::new(0)).collect(),
            made,
        };
        let mut answering = Vec::new();
        if answers_others {
            let mut responders = keys.responders.drain(..);
            let pairs = requests.into_iter().zip(answers);
            answering.extend(pairs.map(|(from, to)| call.answer(responders.next(), from, to)));
        }
        let opening = openings.into_iter().enumerate();
        let opening = opening.map(|(index, from)| call.open(index, from));
        // Messages that have come are worked on before more is asked for.
        let (_, responders, ()) = try_join3(
            try_join_all(opening),
            try_join_all(answering),
            call.ask(key, askings),
        )
        .await?;
        if answers_others {
            keys.responders = responders;
        }
        keys.owner = call.owner.into_inner();
        self.context.join(&asked);
        self.context.join(&received);
        // Who has Y alone hears nothing in the second round.
        self.context.advance(&start, 2);
        self.keys[Width::of::<T>() as usize] = keys;
        Ok(())
    }

    /// Tells the channels how much will come.
    fn expect<T: Ring>(&self, jobs: &[Job<'_, T>]) {
        let (mut requests, mut answers) = (0, 0);
        for Job { way, count, .. } in jobs {
            let layout = &way.layout;
            let [asks, answers_others] = way.parts_of(self.context.me());
            for (request, times) in layout.kinds() {
                let times = (way.items(*count) * times) as u64;
                let answer = |columns| message_cost(layout.answer_len(&request, &columns)) as u64;
                if answers_others {
                    requests += times * message_cost(layout.request_len(&request)) as u64;
                }
                if asks {
                    answers += times * layout.answers().map(answer).sum::<u64>();
                }
            }
        }
        for (request, answer) in self.requests.iter().zip(&self.answers) {
            if requests > 0 {
                request.rx.expect(requests.min(AHEAD));
            }
            if answers > 0 {
                answer.rx.expect(answers);
            }
        }
    }

    fn owner<T: Ring>(&self) -> Owner {
        let seed = self.context.private_prg().next_block();
        let Some(owner) = Owner::new(T::BITS, seed, key_number::<T>(&self.context, None)) else {
            unreachable!("`serves` was asked before");
        };
        owner
    }
}

/// The number of our seed as the owner of a key, or as responder to a peer's: one of each for each width.
fn key_number<T: Ring>(context: &Context, of: Option<Party>) -> u64 {
    let place = of.map_or(0, |peer| 1 + peer.index() as u64);
    context.own_key_numbers().of((T::BITS as u64) << 32 | place)
}

/// Triples of one product that are being made.
struct Job<'a, T: Ring> {
    way: Oriented,
    count: usize,
    /// X and Y.
    factors: [Piece<'a, T>; 2],
    /// Z. Borrowed between messages, never while one is awaited.
    z: RefCell<Results<'a, T>>,
}

/// Elements that products are added to.
enum Results<'a, T: Ring> {
    /// In the place where they stay.
    InPlace(&'a mut [T]),
    /// Elements of matrices, which are put in their place in the end.
    Unfolded(Unfolded, Zeroizing<Vec<T>>, &'a mut [T]),
}

impl<'a, T: Ring> Job<'a, T> {
    fn new(one: Tripled, count: usize, factors: &'a mut Factors<T>) -> Self {
        let Some(way) = Oriented::new::<T>(one) else {
            unreachable!("`serves` was asked before, and an empty product takes no messages");
        };
        let Factors { a, b, c, .. } = factors;
        let (factors, z) = match way.form {
            Form::Images => {
                let factors = [Piece::from(&b[..]), Piece::from(&a[..])];
                (factors, Results::InPlace(c))
            }
            Form::Matrices(unfolded) => {
                let z = Zeroizing::new(vec![T::ZERO; way.items(count) * way.lengths[2]]);
                let factors = unfolded.factors(count, a, b);
                (factors, Results::Unfolded(unfolded, z, c))
            }
        };
        Self {
            way,
            count,
            factors,
            z: RefCell::new(z),
        }
    }

    fn finish(self) {
        if let Results::Unfolded(unfolded, z, c) = self.z.into_inner() {
            unfolded.add(&z, c);
        }
    }

    fn requests(&self) -> impl Iterator<Item = (usize, Request)> {
        self.way.requests(self.count)
    }

    /// Gives the elements that an item has of X or Y.
    fn of(&self, which: usize, item: usize) -> &[T] {
        &self.factors[which][self.way.place(which, item)]
    }
}

impl<T: Ring> Results<'_, T> {
    fn all(&mut self) -> &mut [T] {
        match self {
            Self::InPlace(z) => z,
            Self::Unfolded(_, z, _) => z,
        }
    }
}

/// A call under way: loops over the requests of all jobs, which are polled together.
struct EncryptedCall<'a, 'f, T: Ring> {
    context: &'a Context,
    jobs: &'a [Job<'f, T>],
    /// Borrowed between messages, as Z is.
    owner: RefCell<Option<Owner>>,
    /// By peer: bytes of the requests whose answers have been opened.
    opened: Vec<Cell<u64>>,
    made: &'a dyn Fn(usize),
}

impl<'a, 'f, T: Ring> EncryptedCall<'a, 'f, T> {
    /// Gives the jobs in which we ask, or answer others.
    fn jobs(&self, part: usize) -> impl Iterator<Item = &'a Job<'f, T>> + use<'a, 'f, T> {
        let (me, jobs) = (self.context.me(), self.jobs);
        (jobs.iter()).filter(move |job| job.way.parts_of(me)[part])
    }

    /// Sends all requests to all peers, the first one after the key, where we ask at all.
    async fn ask(&self, key: Vec<u8>, mut to: Vec<&mut Sender>) -> Result<()> {
        let mut message = key;
        let mut asked = 0;
        for (job, item, request) in self.jobs(0).flat_map(with_requests) {
            let layout = &job.way.layout;
            let bytes = layout.request_len(&request) as u64;
            self.until(|opened| asked == opened || asked + bytes <= opened + AHEAD)
                .await;
            asked += bytes;
            if let Some(owner) = &mut *self.owner.borrow_mut() {
                message.append(&mut owner.request(layout, &request, job.of(0, item)));
            }
            let message = Bytes::from(std::mem::take(&mut message));
            try_join_all(to.iter_mut().map(|to| to.send(message.clone()))).await?;
            breathe().await;
        }
        Ok(())
    }

    /// Waits for what all peers' answers have opened. Who opens some has all loops polled again.
    async fn until(&self, enough: impl Fn(u64) -> bool) {
        poll_fn(|_| {
            let opened = self.opened.iter().map(Cell::get).min();
            match opened.is_none_or(&enough) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        })
        .await;
    }

    /// Answers a peer's requests. Gives back what its public key became.
    async fn answer(
        &self,
        responder: Option<Responder>,
        from: &mut Receiver,
        to: &mut Sender,
    ) -> Result<Responder> {
        let mut responder = responder;
        for (job, item, request) in self.jobs(1).flat_map(with_requests) {
            let Job { way, .. } = job;
            let layout = &way.layout;
            let key = responder.is_none().then(key_bytes::<T>).unwrap_or(0);
            let message = from.recv(key + layout.request_len(&request)).await?;
            let (key, message) = message.split_at(key);
            let refuse = |error| from.refuse(error);
            let known = match responder.take() {
                Some(known) => known,
                None => {
                    let seed = self.context.private_prg().next_block();
                    let number = key_number::<T>(self.context, Some(from.peer()));
                    Responder::new(T::BITS, key, seed, number).map_err(refuse)?
                }
            };
            let responder = responder.insert(known);
            let asked = responder.read(layout, &request, message).map_err(refuse)?;
            for columns in layout.answers() {
                let answer = {
                    let mut z = job.z.borrow_mut();
                    let z = &mut z.all()[way.place(2, item)];
                    responder.answer(&asked, &columns, job.of(1, item), z)
                };
                to.send(answer).await?;
                if way.first.is_some() {
                    (self.made)(layout.products(&request, &columns));
                }
                breathe().await;
            }
        }
        let Some(responder) = responder else {
            unreachable!("an empty product takes no messages");
        };
        Ok(responder)
    }

    /// Opens a peer's answers.
    async fn open(&self, index: usize, from: &mut Receiver) -> Result<()> {
        for (job, item, request) in self.jobs(0).flat_map(with_requests) {
            let Job { way, .. } = job;
            let layout = &way.layout;
            for columns in layout.answers() {
                let expected = layout.answer_len(&request, &columns);
                let message = from.recv(expected).await?;
                {
                    let mut z = job.z.borrow_mut();
                    let z = &mut z.all()[way.place(2, item)];
                    if let Some(owner) = &*self.owner.borrow() {
                        owner
                            .open(layout, &request, &columns, &message, z)
                            .map_err(|error| from.refuse(error))?;
                    }
                }
                if index == 0 {
                    (self.made)(layout.products(&request, &columns));
                }
            }
            let opened = &self.opened[index];
            opened.set(opened.get() + layout.request_len(&request) as u64);
            breathe().await;
        }
        Ok(())
    }
}

/// Gives the requests of a job, each with the job and the item that it is about.
fn with_requests<'a, 'f, T: Ring>(
    job: &'a Job<'f, T>,
) -> impl Iterator<Item = (&'a Job<'f, T>, usize, Request)> {
    job.requests()
        .map(move |(item, request)| (job, item, request))
}

/// Bytes of a public key.
fn key_bytes<T: Ring>() -> usize {
    Responder::key_cost(T::BITS).unwrap_or_default()[0] as usize
}

/// Gives the costs on top of asking for the first time for a width, and of being asked: the key is part of the first request.
/// Owner and responders each draw a seed.
fn key_costs<T: Ring>(peers: u64) -> [PhaseCost; 2] {
    let [bytes, make, take] = Responder::key_cost(T::BITS).unwrap_or_default();
    let asking = PhaseCost {
        bytes_sent: peers * bytes,
        aes_blocks: 1 + Owner::AES_BLOCKS + make,
        ..PhaseCost::default()
    };
    let answering = PhaseCost {
        bytes_received: peers * bytes,
        aes_blocks: peers * (1 + take),
        ..PhaseCost::default()
    };
    [asking, answering]
}

/// Follows the calls at one party, and knows what the next one costs.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct EncryptedCosts {
    /// By [`Width`]: whether we have asked, and have been asked.
    started: [[bool; 2]; Width::ALL.len()],
}

impl EncryptedCosts {
    /// Gives the cost of triples of these products, which are made together.
    pub(crate) fn triples<T: Ring>(
        &mut self,
        who: (Party, usize),
        wanted: &[(Tripled, usize)],
    ) -> PhaseCost {
        wanted
            .iter()
            .fold(PhaseCost::default(), |total, &(one, count)| {
                let more = self.of_product::<T>(who, one, count);
                PhaseCost {
                    rounds: total.rounds.max(more.rounds),
                    ..total + more
                }
            })
    }

    fn of_product<T: Ring>(
        &mut self,
        (me, parties): (Party, usize),
        one: Tripled,
        count: usize,
    ) -> PhaseCost {
        let mut total = PhaseCost {
            aes_blocks: factors::drawn::<T>(me, one, count),
            ..PhaseCost::default()
        };
        let Some(way) = Oriented::new::<T>(one).filter(|_| count > 0) else {
            return total;
        };
        let peers = parties as u64 - 1;
        let started = &mut self.started[Width::of::<T>() as usize];
        let parts = way.parts_of(me);
        for ((takes_part, started), key) in
            parts.into_iter().zip(started).zip(key_costs::<T>(peers))
        {
            if takes_part && !std::mem::replace(started, true) {
                total += key;
            }
        }
        let answers = way.layout.answers().count() as u64;
        total.rounds += 2;
        for (request, times) in way.layout.kinds() {
            let [asked, answered] = [
                way.layout.request_len(&request),
                way.layout.answers_len(&request),
            ]
            .map(|bytes| peers * bytes as u64);
            let blocks = way.layout.aes_blocks(&request);
            let asking = PhaseCost {
                rounds: 0,
                bytes_sent: asked,
                bytes_received: answered,
                messages: peers,
                aes_blocks: blocks.owner,
            };
            let answering = PhaseCost {
                rounds: 0,
                bytes_sent: answered,
                bytes_received: asked,
                messages: peers * answers,
                aes_blocks: peers * blocks.responder,
            };
            for (takes_part, each) in parts.into_iter().zip([asking, answering]) {
                if takes_part {
                    total += each.times((way.items(count) * times) as u64);
                }
            }
        }
        total
    }
}
