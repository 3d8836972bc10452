//! `madrigal-lab serve`: a service of three servers, each a process as `madrigal serve` is, and clients that load it, over TLS on this machine.

mod flood;
mod inference;
mod load;
mod loaded;
mod servers;
mod soak;
mod sums;
mod times;

use std::path::Path;
use std::time::Duration;

use madrigal_service::args::DemoArg;
use madrigal_service::local::{self, Shown};
use serde::Serialize;
use tokio::runtime::{Builder, Runtime};

use self::flood::{Attackers, Done};
use self::inference::Images;
use self::load::Load;
use self::loaded::Loaded;
use self::servers::{SERVERS, Servers, Taken};
use self::soak::Watched;
use self::sums::Sums;
use crate::args::{Attack, BenchServe};
use crate::exit::{Failure, Result};
use crate::measured::{self, Rows, Watch, is_wanted, select};
use crate::numbers::{bytes, count, rate, seconds};
use crate::progress::Steps;

pub use self::flood::take_part as attack;
pub use self::servers::take_part;

/// Threads that the clients have together.
const CLIENT_THREADS: usize = 1;
/// Submissions of each connection under way at once.
const SUBMISSIONS: usize = 16;
/// Images of each connection under way at once.
const IMAGES: usize = 4;
/// Clients that mean well while others attack, each with one submission under way.
const CALM: usize = 8;
/// Time that attackers have to build up.
const BUILD_UP: Duration = Duration::from_secs(20);

/// A measurement of one row.
struct Measured {
    loaded: Loaded,
    taken: Taken,
    /// Use of the machine early and late in a long run.
    watched: Option<Watched>,
    /// Deeds of attackers.
    done: Option<Done>,
}

/// Rows of this benchmark.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Name {
    Logins,
    Sums,
    Inference,
    Soak,
    Calm,
    Under(Attack),
}

/// The names of rows.
const NAMES: [(&str, Name); 9] = [
    ("logins", Name::Logins),
    ("sums", Name::Sums),
    ("inference", Name::Inference),
    ("soak", Name::Soak),
    ("calm", Name::Calm),
    ("under-idle", Name::Under(Attack::Idle)),
    ("under-slow", Name::Under(Attack::Slow)),
    ("under-strangers", Name::Under(Attack::Strangers)),
    ("under-endless", Name::Under(Attack::Endless)),
];

pub fn run(args: &BenchServe) -> Result<()> {
    let wanted = |name: &str| is_wanted(&args.only, name);
    let wanted = select(NAMES.to_vec(), wanted, |(name, _)| name)?;
    let steps = Steps::new((wanted.len() * args.threads.len()) as u64, args.json);
    let mut rows = Rows::new(args.json);
    for (text, name) in wanted {
        for &threads in &args.threads {
            steps.name(text);
            steps.advance();
            let watch = Watch::new(SERVERS + CLIENT_THREADS);
            watch.look();
            let folder = tempfile::tempdir();
            let folder =
                folder.map_err(Failure::system("cannot make a directory for the servers"))?;
            let measured = measure(args, name, folder.path(), threads)?;
            watch.look();
            rows.add(&ServeRow::new(text, name, args, threads, measured, &watch))?;
        }
    }
    steps.clear();
    rows.print(|rows| {
        format!(
            "Three servers and all clients on this machine, over TLS; {} s of load each.\n\n{rows}\n",
            args.seconds
        )
    })
}

fn measure(args: &BenchServe, name: Name, folder: &Path, threads: usize) -> Result<Measured> {
    match name {
        Name::Logins => logins(args, folder, threads),
        Name::Sums => sums(args, folder, threads),
        Name::Inference => inference(args, folder, threads),
        Name::Soak => soak(args, folder, threads),
        Name::Calm => calm(args, None, folder, threads),
        Name::Under(attack) => calm(args, Some(attack), folder, threads),
    }
}

fn clients() -> Result<Runtime> {
    Builder::new_multi_thread()
        .worker_threads(CLIENT_THREADS)
        .enable_all()
        .build()
        .map_err(Failure::system("cannot start the runtime"))
}

/// Requests to a key server.
fn logins(args: &BenchServe, folder: &Path, threads: usize) -> Result<Measured> {
    local::make(folder, SERVERS, &Shown::Demo(DemoArg::Keys), threads)?;
    let servers = Servers::start(folder, SERVERS)?;
    let load = Load {
        seconds: f64::from(args.seconds),
        connections: args.connections as usize,
        in_flight: args.in_flight as usize,
        rate: args.rate.map(f64::from),
    };
    let file = folder.join("member.toml");
    let loaded = clients()?.block_on(load::run(&file, local::LOGIN, load));
    let (mut loaded, learnt) = loaded.map_err(|why| Failure::bug(why + &servers.last_words()))?;
    let taken = servers.taken();
    drop(servers);
    let wrong = learnt.wrong(folder, SERVERS, local::LOGIN);
    loaded.wrong += wrong.map_err(Failure::bug)?;
    Ok(Measured {
        loaded,
        taken,
        watched: None,
        done: None,
    })
}

/// Values of many clients.
fn sums(args: &BenchServe, folder: &Path, threads: usize) -> Result<Measured> {
    local::make(folder, SERVERS, &Shown::Demo(DemoArg::Statistics), threads)?;
    let servers = Servers::start(folder, SERVERS)?;
    let sums = Sums {
        seconds: f64::from(args.seconds),
        connections: args.connections as usize,
        in_flight: SUBMISSIONS,
        most: args.submissions.unwrap_or(u64::MAX),
    };
    let loaded = clients()?.block_on(sums::run(folder, local::AGES, sums));
    let loaded = loaded.map_err(|why| Failure::bug(why + &servers.last_words()))?;
    Ok(Measured {
        loaded,
        taken: servers.taken(),
        watched: None,
        done: None,
    })
}

/// Images of many clients, for a network that the servers hold.
fn inference(args: &BenchServe, folder: &Path, threads: usize) -> Result<Measured> {
    local::make(folder, SERVERS, &Shown::Demo(DemoArg::Inference), threads)?;
    let servers = Servers::start(folder, SERVERS)?;
    let images = Images {
        seconds: f64::from(args.seconds),
        connections: args.connections as usize,
        in_flight: IMAGES,
        most: args.submissions.unwrap_or(u64::MAX),
    };
    let loaded = clients()?.block_on(inference::run(folder, images));
    let loaded = loaded.map_err(|why| Failure::bug(why + &servers.last_words()))?;
    Ok(Measured {
        loaded,
        taken: servers.taken(),
        watched: None,
        done: None,
    })
}

/// Many jobs of several kinds.
fn soak(args: &BenchServe, folder: &Path, threads: usize) -> Result<Measured> {
    local::make(folder, SERVERS, &Shown::Demo(DemoArg::Statistics), threads)?;
    soak::add_kinds(folder, SERVERS)?;
    let servers = Servers::start(folder, SERVERS)?;
    let soaked = clients()?.block_on(soak::run(folder, &servers, args.jobs));
    let (loaded, watched) = soaked.map_err(|why| Failure::bug(why + &servers.last_words()))?;
    Ok(Measured {
        loaded,
        taken: servers.taken(),
        watched: Some(watched),
        done: None,
    })
}

/// A few clients that mean well, alone or under an attack.
fn calm(
    args: &BenchServe,
    attack: Option<Attack>,
    folder: &Path,
    threads: usize,
) -> Result<Measured> {
    local::make(folder, SERVERS, &Shown::Demo(DemoArg::Statistics), threads)?;
    flood::add_bulk(folder, SERVERS)?;
    let servers = Servers::start(folder, SERVERS)?;
    let attackers = attack.map(|attack| Attackers::start(folder, SERVERS, attack));
    let attackers = attackers.transpose()?;
    if attackers.is_some() {
        std::thread::sleep(BUILD_UP);
    }
    let sums = Sums {
        seconds: f64::from(args.seconds),
        connections: CALM,
        in_flight: 1,
        most: u64::MAX,
    };
    let loaded = clients()?.block_on(sums::run(folder, local::AGES, sums));
    let loaded = loaded.map_err(|why| Failure::bug(why + &servers.last_words()))?;
    let taken = servers.taken();
    Ok(Measured {
        loaded,
        taken,
        watched: None,
        done: attackers.map(Attackers::end).transpose()?,
    })
}

/// One line of JSON, one row of the table.
#[derive(Serialize)]
struct ServeRow {
    name: String,
    threads: usize,
    connections: u32,
    in_flight: u32,
    /// Requests a second that were meant, where it was not as many as there is room for.
    rate: Option<u32>,
    seconds: f64,
    per_second: f64,
    p50: f64,
    p99: f64,
    lost: u64,
    wrong: u64,
    /// Bytes of memory of the largest server at its most.
    peak_memory: u64,
    /// Use of the machine by the largest server, early and late in a long run.
    early: Option<Taken>,
    late: Option<Taken>,
    /// Connections that attackers made, and bytes that they sent.
    attackers_connections: Option<u64>,
    attackers_bytes: Option<u64>,
    aes_blocks_per_second: f64,
    cores_free: f64,
}

impl ServeRow {
    fn new(
        text: &str,
        name: Name,
        args: &BenchServe,
        threads: usize,
        measured: Measured,
        watch: &Watch,
    ) -> Self {
        let Measured {
            mut loaded,
            taken,
            watched,
            done,
        } = measured;
        let (connections, in_flight) = match name {
            Name::Logins => (args.connections, args.in_flight),
            Name::Sums => (args.connections, SUBMISSIONS as u32),
            Name::Inference => (args.connections, IMAGES as u32),
            Name::Soak => (1, soak::SIDE_BY_SIDE as u32),
            Name::Calm | Name::Under(_) => (CALM as u32, 1),
        };
        Self {
            name: text.to_owned(),
            threads,
            connections,
            in_flight,
            rate: args.rate.filter(|_| name == Name::Logins),
            seconds: loaded.seconds,
            per_second: loaded.answered as f64 / loaded.seconds,
            p50: loaded.times.quantile(0.5),
            p99: loaded.times.quantile(0.99),
            lost: loaded.lost,
            wrong: loaded.wrong,
            peak_memory: taken.peak,
            early: watched.map(|watched| watched.early),
            late: watched.map(|watched| watched.late),
            attackers_connections: done.map(|done| done.connections),
            attackers_bytes: done.map(|done| done.bytes),
            aes_blocks_per_second: watch.aes(),
            cores_free: watch.least(),
        }
    }
}

impl measured::Row for ServeRow {
    const HEADER: &'static [&'static str] = &[
        "name", "threads", "at once", "answered", "p50", "p99", "lost", "wrong", "memory",
    ];

    fn cells(&self) -> Vec<String> {
        vec![
            self.name.clone(),
            self.threads.to_string(),
            count(u64::from(self.connections) * u64::from(self.in_flight)),
            rate(self.per_second, "/s"),
            seconds(self.p50),
            seconds(self.p99),
            count(self.lost),
            count(self.wrong),
            bytes(self.peak_memory),
        ]
    }
}
