//! Requests: what a server receives of the others is independent of the blocks and of the others' parts of the key.

use std::time::{Duration, Instant};

use madrigal_core::Party;
use madrigal_engine::{Given, Shares, Sharing, run_program};
use madrigal_kernels::{Block, Prg};
use madrigal_net::transport::mesh;
use madrigal_net::{Session, block_on};
use madrigal_psi_programs::SharedAes;
use madrigal_service_client::{AnswerReceiver, RequestSender, ServiceClient, ServiceConfig};
use madrigal_testkit::places::{self, Counts};
use madrigal_testkit::transcripts::{RUNS, count, difference, must_agree};
use madrigal_testkit::{Transcript, World, seed};

use crate::batch_views::{must_match, run, start};
use crate::common::Service;
use crate::random::Random;
use crate::requests::login;
use crate::tap::{Before, Passed, Taps, View, finished, view};

/// Servers that a key is shared by.
const SERVERS: usize = 3;
/// Rounds that are counted of zeros and of ones, in a service at work.
const ROUNDS: usize = 40;
/// Blocks of a batch of a job alone.
const LANES: usize = 4;

/// Parts of the key and of blocks, all bits alike but for a server's own.
struct Parts {
    key: [Block; SERVERS],
    blocks: [Vec<u128>; SERVERS],
}

impl Parts {
    /// Parts as `to` may see them: its own ones are random and the same whatever the others' are. Blocks are dealt at random.
    fn new(to: usize, ends: bool, seed: u64, run: u64) -> Self {
        let mut own = Prg::new(Block::new(5, 5));
        let mut random = Prg::new(Block::new(seed, 100 + run));
        let draw = |random: &mut Prg| {
            let mut block = [Block::ZERO];
            random.fill_blocks(&mut block);
            block[0]
        };
        let [zeros, ones] = [0, u128::MAX].map(Block::from);
        let mut key = [if ends { ones } else { zeros }; SERVERS];
        key[to] = draw(&mut own);
        let mut blocks = [(); SERVERS].map(|()| Vec::new());
        for lane in 0..LANES {
            let ends = ends && lane > 0;
            let [first, second] = [0; 2].map(|_| u128::from(draw(&mut random)));
            let third = first ^ second ^ if ends { u128::MAX } else { 0 };
            blocks
                .iter_mut()
                .zip([first, second, third])
                .for_each(|(all, part)| all.push(part));
        }
        Self { key, blocks }
    }
}

/// How often each bit is 1 of what a server sees of the key's schedule and of a batch. Where a server tells, one bit of its part of the key goes to another.
fn ones(aes: &SharedAes, to: usize, ends: bool, seed: u64, tells: bool) -> Vec<u32> {
    let blocks = aes.blocks(LANES).unwrap();
    let mut ones = Vec::new();
    for run in 0..RUNS {
        let parts = Parts::new(to, ends, seed, run);
        let (transcript, transports) = Transcript::of(Party::new(to), mesh(SERVERS));
        let world = World::light(SERVERS, seed.wrapping_add(run));
        let (parts, blocks) = (&parts, &blocks);
        std::thread::scope(|scope| {
            for (me, transport) in Party::all(SERVERS).zip(transports) {
                let config = world.config(me);
                scope.spawn(move || {
                    block_on(async {
                        let session = Session::new(config, transport);
                        session.greet().await.unwrap();
                        let inputs = aes.key_parts(me, &parts.key[me.index()]);
                        let given = Given {
                            inputs,
                            ..Given::default()
                        };
                        let keys = run_program(&session, 2, aes.schedule(), given, None, &|_| ());
                        let mut inputs = keys.await.unwrap().outputs;
                        let own = Sharing::clear(&[me]);
                        let own = Shares::bits_of(own, 128, &parts.blocks[me.index()]);
                        inputs.extend(SharedAes::parts(me, own));
                        let given = Given {
                            inputs,
                            ..Given::default()
                        };
                        run_program(&session, 3, blocks, given, None, &|_| ())
                            .await
                            .unwrap();
                        session.close().await;
                    });
                });
            }
        });
        let mut bytes = transcript.bytes();
        bytes.extend(transcript.sums());
        bytes.extend(parts.blocks[to].iter().flat_map(|part| part.to_le_bytes()));
        if tells {
            bytes[7] = bytes[7] & !1 | u8::from(ends);
        }
        count(&mut ones, &bytes);
    }
    ones
}

#[test]
fn no_server_learns_of_blocks_or_of_others_parts_of_the_key() {
    let seed = seed();
    let aes = SharedAes::new(1).unwrap();
    for to in 0..SERVERS {
        let zeros = ones(&aes, to, false, seed, false);
        let ends = ones(&aes, to, true, seed ^ 0x5555_0000_0000_0000, false);
        must_agree(&zeros, &ends, &format!("to {to}"));
    }
}

#[test]
fn a_server_that_tells_of_its_part_would_be_seen() {
    let (seed, aes) = (seed(), SharedAes::new(1).unwrap());
    let zeros = ones(&aes, 1, false, seed, true);
    let ends = ones(&aes, 1, true, !seed, true);
    assert!(difference(&zeros, &ends).is_some_and(|told| told.starts_with("one bit")));
}

/// A service that answers requests, and a client of it.
struct Asking {
    service: Service,
    taps: Taps,
    sender: RequestSender,
    receiver: AnswerReceiver,
    /// The last job so far.
    last: u32,
}

impl Asking {
    async fn start() -> Self {
        let mut service = Service::new(SERVERS, &login(""));
        let taps = start(&mut service).await;
        let mut config = ServiceConfig::new((*service.roster).clone());
        config.patience = Duration::from_secs(30);
        let client = ServiceClient::connect(config).await.unwrap();
        let (sender, receiver) = client.requests("login").await.unwrap();
        let mut asking = Self {
            service,
            taps,
            sender,
            receiver,
            last: 0,
        };
        // Servers that do not answer yet say so. With the first answer comes what they say when they meet.
        let until = Instant::now() + Duration::from_secs(60);
        while asking.round(0).await.is_none() {
            assert!(Instant::now() < until, "no answer in time");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        asking
    }

    /// Asks for three blocks, and gives what the servers see; nothing if they do not answer.
    async fn round(&mut self, byte: u8) -> Option<Vec<View>> {
        let blocks = [[byte; 16]; 3];
        let numbers = self.sender.send_blocks(&blocks).await.unwrap();
        let mut good = true;
        for _ in &blocks {
            good &= self.receiver.next().await.unwrap().shares.is_ok();
        }
        if !good {
            return None;
        }
        let until = Instant::now() + Duration::from_secs(20);
        let passed = loop {
            let whole = |passed: &[Passed]| finished(passed, SERVERS).is_some();
            if let Some(passed) = self.taps.take_if(whole) {
                break passed;
            }
            assert!(Instant::now() < until, "a job without an end");
            tokio::time::sleep(Duration::from_millis(1)).await;
        };
        // A view tells the first job of a round as job 2, whatever number it had.
        let jobs = self.last.saturating_sub(1);
        self.last = finished(&passed, SERVERS).unwrap();
        let requests = numbers.start - 1;
        let before = Before {
            batches: 0,
            jobs,
            requests,
        };
        Some(
            Party::all(SERVERS)
                .map(|to| view(&passed, to, before))
                .collect(),
        )
    }
}

/// Notes and sizes of all messages are the same whatever blocks are, and bits have the same distribution. A batch has 64 lanes, eight bytes of each row, and
/// the blocks are in the first one.
#[test]
fn a_server_sees_the_same_of_the_others_whatever_blocks_are() {
    let seed = seed();
    let mut random = Random::new(seed);
    let mut left = [ROUNDS; 2];
    let mut counts = [const { Counts::new() }; 2];
    let (mut split, mut first) = (0, None);
    run(async {
        let mut asking = Asking::start().await;
        while left != [0; 2] {
            let ends = random.below(left[0] + left[1]) >= left[0];
            let views = asking.round(if ends { 255 } else { 0 }).await.unwrap();
            let job = 2;
            let alone = |view: &View| view.payloads.keys().all(|place| place.1 == job);
            let lacks = |view: &View| view.form.iter().any(|form| form.contains("lacks [Req"));
            // Requests that come late at one server are put off: on a machine that is busy, which is no matter of blocks.
            if !views.iter().all(alone) || views.iter().any(lacks) {
                split += 1;
                assert!(split < ROUNDS, "requests are late again and again");
                continue;
            }
            left[usize::from(ends)] -= 1;
            for (to, view) in views.iter().enumerate() {
                view.count(to, SERVERS, 8, &mut counts[usize::from(ends)]);
            }
            let forms: Vec<_> = views.into_iter().map(|view| view.form).collect();
            let first = first.get_or_insert_with(|| forms.clone());
            must_match(first, &forms, seed);
        }
        asking.service.stop_all().await;
    });
    let (largest, bits) = places::compare(&counts[0], &counts[1]);
    println!("{bits} bits, at most {largest:.1} deviations, {split} rounds left out");
    assert!(
        bits > 10_000 && largest < 6.5,
        "{largest} in {bits} bits, MADRIGAL_SEED={seed}"
    );
}
