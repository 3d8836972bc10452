//! Silent OT between two threads over a channel in memory: rates of both sides, and what crosses.
//!
//! Run with `cargo run --release -p madrigal-ot --example measure_silent [OTS]` (10 million unless
//! given). Both sides run at the same time, each on one thread, and include what bootstraps them
//! from IKNP, but not the base OTs and IKNP themselves. Beside the rate on the clock stands the one
//! by processor time where the system tells it (Linux), which other work on the machine disturbs
//! less.
#![allow(clippy::print_stdout, reason = "an example shows what it did")]

use std::{
    error::Error,
    sync::mpsc::{Receiver, Sender, channel},
    thread,
    time::{Duration, Instant},
};

use madrigal_kernels::Block;
use madrigal_ot::{
    Delta, ExtensionReceiver as _, ExtensionSender as _, Instance, KAPPA, SeededRng, Tweaks,
    base::{BaseContext, BaseReceiver, BaseSender},
    flavour,
    iknp::{IknpReceiver, IknpSender, message_len},
    silent::{SilentParams, SilentReceiver, SilentSender},
};
use rand_core::Rng;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

const REPETITIONS: usize = 5;

/// The IKNP instance that makes the base rows.
const BASE: Instance = instance(0);
const SILENT: Instance = instance(1);

const fn instance(stream: u32) -> Instance {
    Instance {
        sender: 0,
        receiver: 1,
        stream,
    }
}

/// What both sides start from.
struct Setup {
    delta: Block,
    q: Vec<Block>,
    t: Vec<Block>,
    choices: Vec<u8>,
    /// Bytes that IKNP sent.
    bytes: usize,
}

#[derive(Clone, Copy, Default)]
struct Times {
    wall: Duration,
    cpu: Option<Duration>,
    bytes: usize,
}

fn main() -> Result<()> {
    let ots = match std::env::args().nth(1) {
        Some(ots) => ots.parse()?,
        None => 10_000_000,
    };
    let params = SilentParams::for_ots(ots as u64);
    let setup = setup(params)?;
    for hashed in [false, true] {
        let mut runs = Vec::new();
        for _ in 0..REPETITIONS {
            runs.push(run(params, &setup, ots, hashed)?);
        }
        let kind = if hashed {
            "random OT, all outputs hashed"
        } else {
            "correlated OT (rows)"
        };
        for (side, name) in ["sender", "receiver"].into_iter().enumerate() {
            let median = |time: &dyn Fn(&Times) -> Duration| {
                let mut times: Vec<Duration> = runs.iter().map(|run| time(&run[side])).collect();
                times.sort();
                ots as f64 / times[REPETITIONS / 2].as_secs_f64() / 1e6
            };
            let wall = median(&|times| times.wall);
            let cpu = median(&|times| times.cpu.unwrap_or(times.wall));
            println!(
                "{kind}, {name}: {wall:.1} million/s by the clock, {cpu:.1} by processor time"
            );
        }
    }
    let sent = run(params, &setup, ots, false)?[0].bytes;
    let bits = |bytes| 8.0 * bytes as f64 / ots as f64;
    println!(
        "{ots} OTs: {:.3} bits per OT by silent messages, {:.3} by IKNP for {} base rows; level {}",
        bits(sent),
        bits(setup.bytes),
        params.base_rows(),
        madrigal_kernels::level()
    );
    Ok(())
}

fn setup(params: SilentParams) -> Result<Setup> {
    let mut rng = SeededRng::from_seed(Block::new(1, 2));
    let delta = Delta::random_odd(&mut rng);
    let offset = delta.expose();
    let context = BaseContext {
        session: [1; 32],
        instance: BASE,
    };
    let (base_sender, s) = BaseSender::new(&mut rng, context);
    let answer = BaseReceiver::new(context).respond(&mut rng, &s, &delta.choice_bits(), KAPPA)?;
    let pairs = base_sender.finish(&answer.message, KAPPA)?;
    let m = params.base_rows();
    let (mut q, mut t) = (vec![Block::ZERO; m], vec![Block::ZERO; m]);
    let (mut choices, mut u) = (vec![0; m.div_ceil(8)], vec![0; message_len(m)]);
    rng.fill_bytes(&mut choices);
    let mut receiver = IknpReceiver::new(BASE, &pairs)?;
    drop(receiver.extend(&choices, m, &mut u, &mut t)?);
    drop(IknpSender::new(BASE, delta, &answer.keys)?.extend(&u, m, &mut q)?);
    Ok(Setup {
        delta: offset,
        q,
        t,
        choices,
        bytes: u.len(),
    })
}

fn run(params: SilentParams, setup: &Setup, ots: usize, hashed: bool) -> Result<[Times; 2]> {
    let (to, from) = channel();
    thread::scope(|scope| {
        let sender = scope.spawn(move || send(params, setup, ots, hashed, &to));
        let receiver = scope.spawn(move || receive(params, setup, ots, hashed, &from));
        Ok([
            sender.join().map_err(|_| "the sender panicked")??,
            receiver.join().map_err(|_| "the receiver panicked")??,
        ])
    })
}

/// Sizes of the calls: whole chunks, the last one shorter.
fn calls(params: SilentParams, ots: usize) -> impl Iterator<Item = usize> {
    let chunk = params.chunk();
    (0..ots)
        .step_by(chunk)
        .map(move |done| chunk.min(ots - done))
}

fn send(
    params: SilentParams,
    setup: &Setup,
    ots: usize,
    hashed: bool,
    to: &Sender<Vec<u8>>,
) -> Result<Times> {
    let mut rng = SeededRng::from_seed(Block::new(3, 4));
    let delta = Delta::from_block(setup.delta);
    let mut rows = vec![Block::ZERO; params.chunk()];
    let (mut k0, mut k1) = (rows.clone(), rows.clone());
    let mut bytes = 0;
    let (start, cpu) = (Instant::now(), thread_time());
    let mut sender = SilentSender::new(&mut rng, SILENT, params, delta, &setup.q)?;
    for m in calls(params, ots) {
        let mut message = vec![0; sender.message_len(m)];
        let tweaks: Tweaks = sender.extend(m, &mut message, &mut rows[..m])?;
        bytes += message.len();
        to.send(message)?;
        if hashed {
            let (k0, k1) = (&mut k0[..m], &mut k1[..m]);
            flavour::sender_random_blocks(sender.delta(), tweaks, &rows[..m], k0, k1)?;
        }
    }
    Ok(times(start, cpu, bytes))
}

fn receive(
    params: SilentParams,
    setup: &Setup,
    ots: usize,
    hashed: bool,
    from: &Receiver<Vec<u8>>,
) -> Result<Times> {
    let mut rows = vec![Block::ZERO; params.chunk()];
    let mut keys = rows.clone();
    let mut choices = vec![0; params.chunk() / 8];
    let mut bytes = 0;
    let (start, cpu) = (Instant::now(), thread_time());
    let mut receiver = SilentReceiver::new(SILENT, params, &setup.choices, &setup.t)?;
    for m in calls(params, ots) {
        let message = from.recv()?;
        bytes += message.len();
        let choices = &mut choices[..m.div_ceil(8)];
        let tweaks = receiver.extend(&message, m, choices, &mut rows[..m])?;
        if hashed {
            flavour::receiver_random_blocks(tweaks, &rows[..m], &mut keys[..m])?;
        }
    }
    Ok(times(start, cpu, bytes))
}

fn times(start: Instant, cpu: Option<Duration>, bytes: usize) -> Times {
    let spent = thread_time().zip(cpu).map(|(now, then)| now - then);
    Times {
        wall: start.elapsed(),
        cpu: spent,
        bytes,
    }
}

/// Processor time of this thread so far.
fn thread_time() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds = stat.split_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds))
}
