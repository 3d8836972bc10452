//! `demo aes-ctr`: party 0 has a key, party 1 a file; party 1 alone gets the file encrypted.
//!
//! Each lane is one block: `AES-128(key, counter) ^ plaintext`, with the key schedule inside the
//! circuit. The key is party 0's input, counter and plaintext are party 1's, and the sum is made
//! inside too, so the key stream is never opened. The counter is no secret: party 1 tells everyone
//! the first one and the length of the file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use madrigal_app::holders::HolderArg;
use madrigal_app::read::read_file;
use madrigal_app::threads::Threads;
use madrigal_core::{Party, Zeroizing};
use madrigal_engine::Progress;
use madrigal_net::Session;
use madrigal_operations::Circuit;

use crate::args::{AesCtr, BranchesArg, CorrelationsArg, Demo, How, TransportArg};
use crate::exit::{Content, Failure, Result, Usage};
use crate::figures::print;
use crate::files::{self, Output};
use crate::jobs::local::LocalRun;
use crate::jobs::{Input, Job, Own, Prepared, Runs, Source, Statistics, Task};
use crate::numbers::{bytes, counted, hex, seconds, table};
use crate::progress::Bars;
use crate::remote::RemoteParty;

/// Bytes of a block, and so of a lane.
const BLOCK: usize = 16;
/// The file that is encrypted belongs to this party; party 0 has the key.
const FILE_OWNER: usize = 1;
/// The most lanes of a run, and so blocks of a file.
const MAX_BLOCKS: u64 = 1 << 30;

pub fn run(command: Demo) -> Result<()> {
    let Demo::AesCtr(args) = command;
    args.show.begin();
    if args.how.origin() == CorrelationsArg::Store {
        return Err(crate::jobs::Misuse::StoreElsewhere.into());
    }
    match args.who.party {
        None => encrypt_here(&args),
        Some(_) => encrypt_with_others(&args),
    }
}

/// Public facts of a file: its length and the first counter block.
#[derive(Clone, Copy)]
struct Announcement {
    length: u64,
    iv: [u8; BLOCK],
}

impl Announcement {
    const BYTES: usize = 8 + BLOCK;

    fn encode(self) -> Vec<u8> {
        [&self.length.to_le_bytes()[..], &self.iv].concat()
    }

    /// Reads the message of party 1; `None` if it is malformed.
    fn decode(message: &[u8]) -> Option<Self> {
        let (length, iv) = message.split_at_checked(8)?;
        let announcement = Self {
            length: u64::from_le_bytes(length.try_into().ok()?),
            iv: iv.try_into().ok()?,
        };
        (1..=MAX_BLOCKS)
            .contains(&announcement.blocks())
            .then_some(announcement)
    }

    fn blocks(self) -> u64 {
        self.length.div_ceil(BLOCK as u64)
    }

    fn job(self, parties: usize, how: How) -> Job {
        Job {
            circuit: Source::AesCtr,
            parties,
            owners: [0, FILE_OWNER, FILE_OWNER].map(HolderArg::Party).into(),
            to: vec![HolderArg::Party(FILE_OWNER)],
            lanes: self.blocks(),
            how,
            branches: BranchesArg::Auto,
            repeat: 1,
            apart: false,
        }
    }

    /// Party 0's lines: the key for each block.
    fn key_lines(self, key: &[u8; BLOCK]) -> Input {
        let line = Zeroizing::new(hex(key) + "\n");
        let mut text = Zeroizing::new(Vec::with_capacity(line.len() * self.blocks() as usize));
        for _ in 0..self.blocks() {
            text.extend_from_slice(line.as_bytes());
        }
        Input {
            name: "the key".to_owned(),
            text,
        }
    }

    /// Party 1's lines: counter and plaintext of each block. The last block is filled up with
    /// zeros, and what comes of them is dropped.
    fn file_lines(self, plaintext: &[u8]) -> Input {
        let length = (4 * BLOCK + 2) * self.blocks() as usize;
        let mut text = Zeroizing::new(Vec::with_capacity(length));
        let mut counter = u128::from_be_bytes(self.iv);
        for part in plaintext.chunks(BLOCK) {
            let mut block = Zeroizing::new([0; BLOCK]);
            block[..part.len()].copy_from_slice(part);
            let digits = Zeroizing::new(hex(&*block));
            text.extend_from_slice(format!("{counter:032x} ").as_bytes());
            text.extend_from_slice(digits.as_bytes());
            text.push(b'\n');
            counter = counter.wrapping_add(1);
        }
        Input {
            name: "the file".to_owned(),
            text,
        }
    }

    /// The ciphertext from its lines.
    fn ciphertext(self, lines: &[u8]) -> Result<Vec<u8>> {
        let digits = lines
            .split(|&byte| byte == b'\n')
            .filter(|line| !line.is_empty());
        let mut ciphertext = Vec::with_capacity(lines.len() / 2);
        for line in digits {
            let text = std::str::from_utf8(line).map_err(Failure::bug)?;
            let block = u128::from_str_radix(text, 16).map_err(Failure::bug)?;
            ciphertext.extend_from_slice(&block.to_be_bytes());
        }
        ciphertext.truncate(usize::try_from(self.length).map_err(Failure::bug)?);
        Ok(ciphertext)
    }
}

/// File and counter of party 1.
struct Secret {
    path: PathBuf,
    out: PathBuf,
    plaintext: Zeroizing<Vec<u8>>,
    announcement: Announcement,
}

impl Secret {
    fn read(args: &AesCtr) -> Result<Self> {
        let Some(path) = args.file.clone() else {
            let why = "it is the one whose file is encrypted";
            return Err(Usage::DemoFlag {
                party: FILE_OWNER,
                flag: "--file",
                why,
            }
            .into());
        };
        let out = args.out.clone().unwrap_or_else(|| {
            let mut out = path.clone().into_os_string();
            out.push(".enc");
            out.into()
        });
        if !tells(args) && args.iv.is_none() {
            return Err(Usage::DemoUntold { flag: "--iv" }.into());
        }
        if files::named(Some(&out)).is_none() {
            return Err(Usage::DemoOut.into());
        }
        let ciphertext = Output {
            flag: "--out",
            action: "write the ciphertext",
            path: Some(&out),
        };
        let read = [Some(&path), args.key.as_ref(), args.who.roster.as_ref()];
        let read = read.into_iter().flatten().map(PathBuf::as_path);
        files::check(read, &[ciphertext, args.show.output()])?;
        let plaintext = read_file("read the file", &path)?;
        let plaintext = Zeroizing::new(plaintext);
        let iv = match args.iv {
            Some(iv) => iv.0,
            None => random_block()?,
        };
        let length = plaintext.len() as u64;
        if Announcement::decode(&Announcement { length, iv }.encode()).is_none() {
            return Err(Content::Length { path }.into());
        }
        Ok(Self {
            path,
            out,
            plaintext,
            announcement: Announcement { length, iv },
        })
    }

    /// Writes the ciphertext.
    fn write(&self, lines: &[u8]) -> Result<()> {
        let ciphertext = self.announcement.ciphertext(lines)?;
        files::write_bytes("write the ciphertext", &self.out, ciphertext)
    }

    /// The command that does the same without any secrecy.
    fn check_command(&self, key: &str) -> String {
        format!(
            "openssl enc -aes-128-ctr -K {key} -iv {} -in {} | cmp - {}",
            hex(&self.announcement.iv),
            quoted(&self.path),
            quoted(&self.out)
        )
    }
}

/// Whether party 1 is told what was done, and with what key and counter.
fn tells(args: &AesCtr) -> bool {
    !args.show.quiet && !args.show.to_stdout()
}

fn encrypt_here(args: &AesCtr) -> Result<()> {
    if !tells(args) && args.key.is_none() {
        return Err(Usage::DemoUntold { flag: "--key" }.into());
    }
    let secret = Secret::read(args)?;
    let key = match &args.key {
        Some(path) => read_key(path)?,
        None => Zeroizing::new(random_block()?),
    };
    let parties = args.who.local.unwrap_or(3);
    let announcement = secret.announcement;
    let mut how = args.how.clone();
    how.settle(&args.net.network, Some(parties));
    let job = announcement.job(parties, how);
    let circuit = Arc::new(Circuit::new(&job.circuit.netlist()?));
    let plan = job.plan(Arc::clone(&circuit))?;
    let mut inputs = vec![
        Some(announcement.key_lines(&key)),
        Some(announcement.file_lines(&secret.plaintext)),
    ];
    inputs.resize_with(parties, || None);
    let transport = args.net.transport.unwrap_or(TransportArg::Tcp);
    let own = inputs.into_iter().map(|input| Own {
        input,
        ..Own::default()
    });
    let outcome = LocalRun {
        task: &Task::Compute(job),
        circuit: Some(circuit),
        circuit_text: None,
        own: own.collect(),
        transport,
        network: &args.net.network,
        patience: &args.net.patience,
        quiet: args.show.quiet,
    }
    .start()?;
    secret.write(&outcome.output)?;
    let statistics = Statistics::new(&plan, transport, &args.net.network, &outcome.figures);
    if tells(args) {
        // A key that was given is not shown; one made for this run has to be.
        let key = match &args.key {
            Some(path) => format!("$(tr -d '[:space:]' < {})", quoted(path)),
            None => hex(&*key),
        };
        tell(&secret, &args.how, &statistics, true, &key)?;
    }
    finish(args, &statistics)
}

fn encrypt_with_others(args: &AesCtr) -> Result<()> {
    let party = RemoteParty::new(&args.who, &args.net, args.how.helpers())?;
    let party = party.with_threads(args.how.own_threads());
    let (me, parties) = (party.me(), party.parties());
    let for_other = |flag| {
        Err(Usage::DemoForeign {
            party: FILE_OWNER,
            flag,
        }
        .into())
    };
    let secret = match me {
        FILE_OWNER => Some(Secret::read(args)?),
        _ if args.file.is_some() => return for_other("--file"),
        _ if args.out.is_some() => return for_other("--out"),
        _ => {
            let read = [&args.key, &args.who.roster].into_iter().flatten();
            files::check(read.map(PathBuf::as_path), &[args.show.output()])?;
            None
        }
    };
    let key = match (me, &args.key) {
        (0, Some(path)) => Some(read_key(path)?),
        (0, None) => {
            let why = "it is the one whose key encrypts";
            return Err(Usage::DemoFlag {
                party: 0,
                flag: "--key",
                why,
            }
            .into());
        }
        (_, Some(_)) => {
            return Err(Usage::DemoForeign {
                party: 0,
                flag: "--key",
            }
            .into());
        }
        (_, None) => None,
    };
    // Compiled before the others wait for us.
    let circuit = Arc::new(Circuit::new(&Source::AesCtr.netlist()?));
    let transport = party.transport();
    let bars = Bars::new(1, args.show.quiet);
    let observe = |progress: Progress| bars.update(0, progress.into());
    let runs = Runs {
        first_job: 2,
        patience: &args.net.patience,
    };
    let ours = secret.as_ref().map(|secret| secret.announcement);
    let work = async |session: &Session| {
        let announcement = announce(session, ours).await?;
        let input = match (&secret, &key) {
            (Some(secret), _) => Some(announcement.file_lines(&secret.plaintext)),
            (_, Some(key)) => Some(announcement.key_lines(key)),
            _ => None,
        };
        let mut how = args.how.clone();
        how.threads = Threads::Exactly(session.common_threads(parties)?);
        let job = announcement.job(parties, how);
        let own = Own {
            input,
            ..Own::default()
        };
        let mut prepared = Prepared::new(&Task::Compute(job), me, Some(circuit), &own)?;
        drop(own);
        let outcome = prepared.work(session, runs, &observe).await?;
        Ok((prepared.planned()?.clone(), outcome))
    };
    let done = party.with_quiet(args.show.quiet).in_session(work);
    bars.clear();
    let (plan, outcome) = done?;
    let statistics = Statistics::new(&plan, transport, &args.net.network, &[outcome.figures]);
    if let (Some(secret), Some(output)) = (&secret, &outcome.output) {
        secret.write(&output.text()?)?;
        if tells(args) {
            tell(secret, &args.how, &statistics, false, "KEY")?;
        }
    }
    finish(args, &statistics)
}

/// Party 1 tells everyone how long its file is, and the first counter block.
async fn announce(session: &Session, ours: Option<Announcement>) -> Result<Announcement> {
    let facts = [("program".to_owned(), "AES-128-CTR demonstration".to_owned())];
    let job = session.job(1, &facts, None).await?;
    let context = job.context().step("announce");
    let announcement = match ours {
        Some(ours) => {
            for mut channel in context.channels()? {
                channel.send(ours.encode()).await?;
            }
            context.flush();
            ours
        }
        None => {
            let mut channel = context.channel(Party::new(FILE_OWNER))?;
            let message = channel.recv(Announcement::BYTES).await?;
            Announcement::decode(&message)
                .ok_or_else(|| channel.refuse("a file that is empty or larger than 16 GiB"))?
        }
    };
    job.finish().await?;
    Ok(announcement)
}

/// Tells party 1 at the end what was done.
fn tell(secret: &Secret, how: &How, statistics: &Statistics, here: bool, key: &str) -> Result<()> {
    let mut sent = table(&[
        "party",
        "brings",
        "gets",
        "sent before",
        "sent during",
        "time",
    ]);
    for (party, figures) in statistics.parties.iter().enumerate() {
        let (brings, gets) = match party {
            0 => ("the key", "nothing"),
            FILE_OWNER => ("the file", "the ciphertext"),
            _ => ("nothing", "nothing"),
        };
        let mut row = vec![party.to_string(), brings.to_owned(), gets.to_owned()];
        if let Some(figures) = figures {
            row.push(bytes(figures.setup.figures.bytes_sent));
            row.push(bytes(figures.online.figures.bytes_sent));
            row.push(seconds(figures.total_seconds));
        }
        sent.add_row(row);
    }
    let parties = statistics.parties.len();
    let learned = if parties == 2 {
        "Party 0 learned the length of the file and the first counter, party 1 the ciphertext; beyond that,\n\
         each saw random numbers alone"
    } else {
        "The others learned the length of the file and the first counter, party 1 the ciphertext; beyond\n\
         that, each saw random numbers alone"
    };
    let backend = how.backend();
    let holds = match backend.parties.end() {
        2 => "as long as the two do not pool what they saw, and",
        _ if backend.honest_majority => "as long as no two parties pool what they saw, and",
        _ => "even if all but one pool what they saw, as long as",
    };
    let dealer = match how.origin() {
        CorrelationsArg::Dealer => " and the dealer works with none of them",
        CorrelationsArg::Ot | CorrelationsArg::Store => "",
    };
    let place = if here {
        "\nHere all parties ran on one machine, which could see everything. On one machine each:\n\
         madrigal demo aes-ctr --help, flags --party and --parties."
    } else {
        ""
    };
    print(
        format!(
            "{} encrypted to {}: {}, {}, {parties} parties.\n\n{sent}\n\n\
             {learned}. That holds {holds}\n\
             every party runs the program as it is (semi-honest security){dealer}.{place}\n\n\
             Check: {}\n",
            secret.path.display(),
            secret.out.display(),
            counted(secret.announcement.length, "byte"),
            counted(secret.announcement.blocks(), "block"),
            secret.check_command(key),
        )
        .as_bytes(),
    )
}

fn finish(args: &AesCtr, statistics: &Statistics) -> Result<()> {
    if args.show.to_stdout() || args.show.stats.is_some() {
        let mut show = args.show.clone();
        show.quiet = true;
        return show.tell(statistics);
    }
    Ok(())
}

fn read_key(path: &Path) -> Result<Zeroizing<[u8; BLOCK]>> {
    let text = Zeroizing::new(read_file("read the key", path)?);
    let malformed = || {
        Failure::from(Content::Key {
            path: path.to_owned(),
        })
    };
    let digits = std::str::from_utf8(text.trim_ascii()).map_err(|_| malformed())?;
    let key: crate::args::HexBlock = digits.parse().map_err(|_| malformed())?;
    Ok(Zeroizing::new(key.0))
}

fn random_block() -> Result<[u8; BLOCK]> {
    let mut block = [0; BLOCK];
    getrandom::fill(&mut block).map_err(Failure::bug)?;
    Ok(block)
}

/// A path as a shell takes it.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+".contains(c);
    if text.chars().all(plain) {
        text
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}
