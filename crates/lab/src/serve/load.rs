//! Load for a key server: clients on many connections, each of which has requests in flight all the time, and checks of all answers.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use madrigal_kernels::{Block, Kernels};
use madrigal_service_client::{
    AnswerReceiver, ClientError, RequestSender, ServiceClient, ServiceConfig, combine_block,
};
use madrigal_vault::{Limits, Vault, VaultKey};

use super::loaded::Loaded;

/// Blocks that are asked for, again and again. Their answers were learnt, twice, before the time begins.
const BLOCKS: usize = 1024;
/// Time that servers have to meet.
const MEET: Duration = Duration::from_secs(60);
/// The longest pause between requests that come at a rate.
const PACE: Duration = Duration::from_millis(2);

/// Requests that clients make.
#[derive(Debug, Clone, Copy)]
pub struct Load {
    pub seconds: f64,
    pub connections: usize,
    /// Requests of each connection in flight.
    pub in_flight: usize,
    /// Requests of all connections in a second, if not as many as there is room for.
    pub rate: Option<f64>,
}

pub type Block16 = [u8; 16];

/// Answers as the servers gave them before the time began.
pub struct Learnt(Vec<Block16>);

/// A block by its number.
fn block(number: usize) -> Block16 {
    let mut block = *b"a bench's block ";
    block[12..].copy_from_slice(&(number as u32).to_le_bytes());
    block
}

impl Learnt {
    /// Counts the answers that are not AES under the key that the servers' vaults in a folder have parts of. The servers have ended: nobody else has
    /// all parts in one place.
    pub fn wrong(&self, folder: &Path, servers: usize, kind: &str) -> Result<u64, String> {
        let mut key = [0; 16];
        for server in 0..servers {
            let data = folder.join(format!("data{server}"));
            let told =
                |error: &dyn std::fmt::Display| format!("the vault of server {server}: {error}");
            let sealed = VaultKey::load(&data.join("vault.key")).map_err(|error| told(&error))?;
            let vault = Vault::open(&data.join("server.vault"), &sealed, Limits::default());
            let vault = vault.map_err(|error| told(&error))?;
            let part = vault.noted(&format!("key of {kind}"));
            let part = part.map_err(|error| told(&error))?;
            let part = part.as_ref().and_then(|part| part.get(..16));
            let part = part.ok_or_else(|| told(&"it has no part of the key"))?;
            key.iter_mut().zip(part).for_each(|(all, one)| *all ^= one);
        }
        let aes = Kernels::detect().aes128(Block::from_bytes(key));
        let mut right: Vec<Block> = (0..BLOCKS).map(|at| Block::from_bytes(block(at))).collect();
        aes.encrypt_blocks(&mut right);
        let pairs = right.iter().zip(&self.0);
        Ok(pairs
            .filter(|(right, told)| right.to_bytes() != **told)
            .count() as u64)
    }
}

/// Loads the service whose servers a client's file names.
pub async fn run(file: &Path, kind: &str, load: Load) -> Result<(Loaded, Learnt), String> {
    let config = ServiceConfig::load(file).map_err(|error| error.to_string())?;
    let client = ServiceClient::connect(config)
        .await
        .map_err(|error| error.to_string())?;
    let expected = Arc::new(learnt(&client, kind).await?);
    let over = Arc::new(AtomicBool::new(false));
    let mut connections = Vec::new();
    for number in 0..load.connections {
        let ends = client.requests(kind).await;
        let (sender, receiver) = ends.map_err(|error| error.to_string())?;
        connections.push(Connection {
            sender,
            receiver,
            expected: Arc::clone(&expected),
            over: Arc::clone(&over),
            flights: VecDeque::new(),
            next: number * 97,
            load,
            loaded: Loaded::default(),
        });
    }
    let begun = Instant::now();
    let tasks: Vec<_> = connections
        .into_iter()
        .map(|connection| tokio::spawn(connection.work()))
        .collect();
    tokio::time::sleep(Duration::from_secs_f64(load.seconds)).await;
    over.store(true, Relaxed);
    let mut all = Loaded::default();
    for task in tasks {
        all.add(task.await.map_err(|error| error.to_string())?);
    }
    // Answers that came after the end were asked for before it, and count.
    all.seconds = begun.elapsed().as_secs_f64();
    Ok((all, Learnt(expected.to_vec())))
}

/// Gives the answers to all blocks, which two clients learnt alike.
pub async fn learnt(client: &ServiceClient, kind: &str) -> Result<Vec<Block16>, String> {
    let until = Instant::now() + MEET;
    let mut first: Option<Vec<Block16>> = None;
    loop {
        match (once(client, kind).await, first.take()) {
            (Ok(answers), None) => first = Some(answers),
            (Ok(answers), Some(before)) if answers == before => return Ok(answers),
            (Ok(_), Some(_)) => {
                return Err("two clients got different answers to the same blocks".to_owned());
            }
            (Err(why), _) if Instant::now() > until => return Err(why),
            (Err(_), before) => {
                first = before;
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// Asks for all blocks on connections of their own.
pub async fn once(client: &ServiceClient, kind: &str) -> Result<Vec<Block16>, String> {
    let told = |error: ClientError| error.to_string();
    let (mut sender, mut receiver) = client.requests(kind).await.map_err(told)?;
    let blocks: Vec<Block16> = (0..BLOCKS).map(block).collect();
    let numbers = sender.send_blocks(&blocks).await.map_err(told)?;
    let mut answers = vec![None; BLOCKS];
    for _ in 0..BLOCKS {
        let answer = receiver.next().await.ok_or("the connections are over")?;
        let shares = answer.shares.map_err(|failed| failed.to_string())?;
        let block = combine_block(&shares).map_err(|error| error.to_string())?;
        answers[(answer.number - numbers.start) as usize] = Some(block);
    }
    let answers: Option<Vec<Block16>> = answers.into_iter().collect();
    answers.ok_or_else(|| "a request was answered twice".to_owned())
}

/// Requests that were sent together.
struct Flight {
    /// Number of the first request.
    first: u64,
    count: usize,
    /// Number of the first request's block.
    block: usize,
    /// Requests whose answers are not here.
    missing: usize,
    sent: Instant,
}

/// One client with connections to all servers.
struct Connection {
    sender: RequestSender,
    receiver: AnswerReceiver,
    expected: Arc<Vec<Block16>>,
    over: Arc<AtomicBool>,
    flights: VecDeque<Flight>,
    /// Number of the next block.
    next: usize,
    load: Load,
    loaded: Loaded,
}

impl Connection {
    async fn work(mut self) -> Loaded {
        let (begun, mut sent, mut back) = (Instant::now(), 0, 0);
        let mut ended = false;
        loop {
            let is_over = self.over.load(Relaxed) || ended;
            if is_over && sent == back {
                return self.loaded;
            }
            let room = self.load.in_flight.saturating_sub(sent - back);
            let allowed = match self.load.rate {
                // Several at once: a message for each request would measure messages.
                None if room >= (self.load.in_flight / 4).max(1) => room,
                None => 0,
                Some(rate) => {
                    let own = rate / self.load.connections as f64;
                    let due = (own * begun.elapsed().as_secs_f64()) as usize;
                    room.min(due.saturating_sub(sent))
                }
            };
            if !is_over && allowed > 0 {
                match self.send(allowed).await {
                    Ok(()) => sent += allowed,
                    Err(_) => ended = true,
                }
                continue;
            }
            let waited = match self.load.rate {
                Some(_) if !is_over => tokio::time::timeout(PACE, self.receiver.next()).await,
                _ => Ok(self.receiver.next().await),
            };
            let Ok(answer) = waited else { continue };
            let Some(answer) = answer else {
                self.loaded.lost += (sent - back) as u64;
                return self.loaded;
            };
            back += 1;
            self.judge(answer);
        }
    }

    async fn send(&mut self, count: usize) -> Result<(), ClientError> {
        let blocks: Vec<Block16> = (self.next..self.next + count)
            .map(|number| block(number % BLOCKS))
            .collect();
        // The time that a request waits for room counts.
        let sent = Instant::now();
        let numbers = self.sender.send_blocks(&blocks).await?;
        self.flights.push_back(Flight {
            first: numbers.start,
            count,
            block: self.next,
            missing: count,
            sent,
        });
        self.next += count;
        Ok(())
    }

    fn judge(&mut self, answer: madrigal_service_client::Answer) {
        let number = answer.number;
        let holds =
            |flight: &Flight| (flight.first..flight.first + flight.count as u64).contains(&number);
        let Some(place) = self.flights.iter().position(holds) else {
            self.loaded.wrong += 1;
            return;
        };
        let flight = &mut self.flights[place];
        let block = (flight.block + (number - flight.first) as usize) % BLOCKS;
        let seconds = flight.sent.elapsed().as_secs_f64();
        flight.missing -= 1;
        if flight.missing == 0 {
            self.flights.remove(place);
        }
        match answer.shares {
            Err(_) => self.loaded.lost += 1,
            Ok(shares) if combine_block(&shares) == Ok(self.expected[block]) => {
                self.loaded.answered += 1;
                self.loaded.times.add(seconds);
            }
            Ok(_) => self.loaded.wrong += 1,
        }
    }
}
