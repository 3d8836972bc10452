//! Clients that mean no good: a process for each server and attack, which goes on until its input ends, and then says what it did.

use std::io::{Read as _, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use bytes::BytesMut;
use madrigal_intake::{ClientConnection, Hello};
use madrigal_net::rustls::ClientConnection as TlsConnection;
use madrigal_net::tls::{ClientTls, Wire, server_name};
use madrigal_program::{Array, Client, Computation, Program, ProgramError, Shape, Type};
use madrigal_program_file::{ProgramFile, general};
use madrigal_service_client::{ServiceClient, ServiceConfig, Submit, Value};
use serde::{Deserialize, Serialize};
use tokio::net::{TcpSocket, TcpStream};
use tokio::runtime::Builder;
use tokio::time::sleep;

use crate::args::Attack;
use crate::exit::{Failure, Result};
use crate::figures::print_json_line;

/// The command of an attacker's process.
const COMMAND: &str = "serve-flood";
/// Connections that say nothing, of each attacker.
pub const IDLE: usize = 10_000;
/// Connections of one address: servers take no more.
const OF_ONE: usize = 1_000;
/// Connections that send a byte at a time, of each attacker.
const SLOW: usize = 256;
/// Time between two bytes of a slow client.
const DRIP: Duration = Duration::from_millis(100);
/// Time between two connections that are made and closed.
const STRANGER: Duration = Duration::from_millis(10);
/// Connections that are made side by side.
const SIDE_BY_SIDE: usize = 16;
/// The kind of large submissions, which no batch takes.
pub const BULK: &str = "bulk";
/// Elements of a large submission: 16 MiB for each server in R.
pub const BULK_ELEMENTS: usize = 1 << 20;

/// Bytes that servers keep.
const STORAGE: &str = "256 MiB";
/// Who would get a sum of large submissions.
const ANALYST: &str = "analyst";
/// Numbers of submissions that the program is recorded for.
const SAMPLES: [usize; 5] = [2, 3, 5, 11, 23];

/// Sum of what attackers did.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Done {
    /// Connections that were made.
    pub connections: u64,
    /// Bytes that were sent, under TLS.
    pub bytes: u64,
}

/// Adds a kind of large submissions, which no batch takes, to the files of servers; and bounds what servers keep.
pub fn add_bulk(folder: &Path, servers: usize) -> Result<()> {
    let member = Client::new("member");
    let of = |members: usize| -> std::result::Result<Computation, ProgramError> {
        let mut program = Program::new(servers);
        let x = program.input_named::<u64>("value", &member, [members, BULK_ELEMENTS]);
        program.open_named("sum", &x.sum(0).sum(0), Client::new(ANALYST));
        program.finish()
    };
    let samples = SAMPLES.map(|members| {
        let file = ProgramFile::of(&of(members).map_err(Failure::bug)?);
        Ok((vec![members], file.map_err(Failure::bug)?))
    });
    let samples: Result<Vec<_>> = samples.into_iter().collect();
    let program = general(&["members".to_owned()], &samples?).map_err(Failure::bug)?;
    let saved = program.save(folder.join(format!("{BULK}.madrigal")));
    saved.map_err(Failure::bug)?;
    for server in 0..servers {
        let path = folder.join(format!("server{server}.toml"));
        let text = std::fs::read_to_string(&path).map_err(Failure::file("read the file", &path))?;
        let text = format!(
            "{text}\n[[kinds]]\nname = \"{BULK}\"\nprogram = \"{BULK}.madrigal\"\nsubmit = \"anyone\"\n\
             receive = {{ {ANALYST} = [\"{ANALYST}\"] }}\n\
             batch = {{ dimension = \"members\", least = 20, most = 20, after = \"1h\" }}\n\
             \n[limits]\nstorage = \"{STORAGE}\"\n"
        );
        let written = std::fs::write(&path, text);
        written.map_err(Failure::file("write the file", &path))?;
    }
    Ok(())
}

/// Attackers, ended when dropped.
pub struct Attackers(Vec<Child>);

impl Attackers {
    /// Starts an attacker of each server.
    pub fn start(folder: &Path, servers: usize, attack: Attack) -> Result<Self> {
        let program = std::env::current_exe();
        let program = program.map_err(Failure::system("cannot find this program"))?;
        let mut all = Self(Vec::new());
        for server in 0..servers {
            let mut command = Command::new(&program);
            command
                .arg(COMMAND)
                .arg("--service")
                .arg(folder.join("member.toml"));
            command.arg("--server").arg(server.to_string());
            command.arg("--attack").arg(attack.to_string());
            command
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::null());
            let child = command.spawn();
            let child = child.map_err(Failure::system("cannot start an attacker"))?;
            all.0.push(child);
        }
        Ok(all)
    }

    /// Ends them, and gives what they did.
    pub fn end(mut self) -> Result<Done> {
        let mut all = Done::default();
        for child in &mut self.0 {
            drop(child.stdin.take());
            let mut text = String::new();
            if let Some(mut told) = child.stdout.take() {
                let read = told.read_to_string(&mut text);
                read.map_err(Failure::system("cannot hear an attacker"))?;
            }
            let done: Done = serde_json::from_str(&text).map_err(Failure::bug)?;
            all.connections += done.connections;
            all.bytes += done.bytes;
        }
        Ok(all)
    }
}

impl Drop for Attackers {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Numbers that all tasks of an attacker add to.
#[derive(Default)]
struct Counted {
    connections: AtomicU64,
    bytes: AtomicU64,
}

/// One server as attackers see it.
struct Target {
    config: ServiceConfig,
    server: usize,
    address: SocketAddr,
    tls: ClientTls,
    counted: Counted,
}

/// Attacks a server until the input ends, and prints what was done.
pub fn take_part(service: PathBuf, server: usize, attack: Attack) -> Result<()> {
    let config = ServiceConfig::load(&service).map_err(Failure::bug)?;
    let entry = config.servers.party(server);
    let entry = entry.ok_or_else(|| Failure::bug("no such server"))?;
    let target = Arc::new(Target {
        address: entry.address.to_string().parse().map_err(Failure::bug)?,
        tls: ClientTls::new(Arc::clone(&config.servers), None).map_err(Failure::bug)?,
        config,
        server,
        counted: Counted::default(),
    });
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(Failure::system("cannot start the runtime"))?;
    let (end, ended) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        let _ = end.send(());
    });
    runtime.block_on(async {
        match attack {
            Attack::Idle => (0..SIDE_BY_SIDE).for_each(|task| {
                tokio::spawn(idle(Arc::clone(&target), task));
            }),
            Attack::Slow => (0..SLOW).for_each(|_| {
                tokio::spawn(slow(Arc::clone(&target)));
            }),
            Attack::Strangers => drop(tokio::spawn(strangers(Arc::clone(&target)))),
            Attack::Endless => drop(tokio::spawn(endless(Arc::clone(&target)))),
        }
        let _ = ended.await;
    });
    let done = Done {
        connections: target.counted.connections.load(Relaxed),
        bytes: target.counted.bytes.load(Relaxed),
    };
    print_json_line(&done)?;
    std::io::stdout()
        .flush()
        .map_err(Failure::system("cannot say what was done"))
}

/// A connection after its handshake.
struct Line {
    wire: Wire<TcpStream>,
    connection: ClientConnection,
}

impl Target {
    /// Connects from the address with this number of this machine.
    async fn dial(&self, from: usize) -> std::io::Result<Line> {
        let socket = TcpSocket::new_v4()?;
        let own = [127, 0, 1, 1 + from as u8];
        socket.bind((own, 0).into())?;
        let stream = socket.connect(self.address).await?;
        self.counted.connections.fetch_add(1, Relaxed);
        let (config, _) = self
            .tls
            .dial_config(self.server)
            .map_err(std::io::Error::other)?;
        let tls = TlsConnection::new(config, server_name()).map_err(std::io::Error::other)?;
        let mut wire = Wire::tls(stream, tls.into());
        wire.handshake().await?;
        let connection = ClientConnection::new(Hello {
            least: 1,
            most: 1,
            token: None,
            client: None,
            software: "a stranger".to_owned(),
            session: [7; 16],
        });
        Ok(Line { wire, connection })
    }
}

impl Line {
    /// Sends what is ready, and waits for the server's next bytes.
    async fn turn(&mut self) -> std::io::Result<()> {
        let mut output = std::mem::take(self.connection.output());
        let connection = &mut self.connection;
        let mut take = |bytes: &[u8]| connection.receive(bytes);
        self.wire.turn(&mut output, true, &mut take).await?;
        output.unsplit(std::mem::take(self.connection.output()));
        *self.connection.output() = output;
        Ok(())
    }

    /// Greets, and waits for the welcome.
    async fn greet(&mut self) -> std::io::Result<()> {
        while self.connection.welcome().is_none() {
            self.turn().await?;
            self.connection.told().map_err(std::io::Error::other)?;
            if self.connection.is_over() {
                return Err(std::io::Error::other("refused"));
            }
        }
        Ok(())
    }
}

/// Keeps a share of all connections open, greeted and silent; those that are lost are made again.
async fn idle(target: Arc<Target>, task: usize) {
    for number in (task..IDLE).step_by(SIDE_BY_SIDE) {
        let target = Arc::clone(&target);
        let Ok(line) = hold(&target, number / OF_ONE).await else {
            sleep(DRIP).await;
            continue;
        };
        tokio::spawn(async move {
            let mut line = line;
            loop {
                // Nothing comes until the server closes it.
                while line.turn().await.is_ok() && !line.connection.is_over() {}
                sleep(Duration::from_secs(1)).await;
                if let Ok(again) = hold(&target, number / OF_ONE).await {
                    line = again;
                }
            }
        });
    }
}

async fn hold(target: &Target, from: usize) -> std::io::Result<Line> {
    let mut line = target.dial(from).await?;
    line.greet().await?;
    Ok(line)
}

/// Sends a greeting, and then a message that never ends, a byte at a time.
async fn slow(target: Arc<Target>) {
    loop {
        if let Ok(mut line) = hold(&target, 0).await {
            // The length of a message in front, and then its bytes.
            let mut rest = BytesMut::from(&64_000_u32.to_le_bytes()[..]);
            loop {
                let mut drip = match rest.is_empty() {
                    true => BytesMut::from(&[0_u8][..]),
                    false => rest.split_to(1),
                };
                let sent = async {
                    while !drip.is_empty() {
                        line.wire.turn(&mut drip, false, &mut |_: &[u8]| {}).await?;
                    }
                    Ok::<(), std::io::Error>(())
                };
                if sent.await.is_err() {
                    break;
                }
                target.counted.bytes.fetch_add(1, Relaxed);
                sleep(DRIP).await;
            }
        }
        sleep(DRIP).await;
    }
}

/// Connects, shakes hands, and goes.
async fn strangers(target: Arc<Target>) {
    loop {
        let target = Arc::clone(&target);
        tokio::spawn(async move { target.dial(0).await.map(drop) });
        sleep(STRANGER).await;
    }
}

/// Submits large values, one after the other, to all servers: as a client of the service that does not stop. One attacker is enough.
async fn endless(target: Arc<Target>) {
    if target.server != 0 {
        return;
    }
    let (Some(shape), Ok(typed)) = (Shape::checked(&[1, BULK_ELEMENTS]), "u64".parse::<Type>())
    else {
        return;
    };
    let codes = std::iter::repeat_n(7, BULK_ELEMENTS);
    let Some(array) = Array::from_codes(typed, &shape, codes) else {
        return;
    };
    let inputs = [("value".to_owned(), Value::from(array))];
    loop {
        let Ok(client) = ServiceClient::connect(target.config.clone()).await else {
            sleep(DRIP).await;
            continue;
        };
        target.counted.connections.fetch_add(3, Relaxed);
        loop {
            let submission = Submit {
                kind: BULK,
                inputs: &inputs,
                client: "mallory",
                pending: None,
                receipt: None,
            };
            if client.submit(&submission).await.is_err() {
                break;
            }
            let bytes = 3 * 2 * 8 * BULK_ELEMENTS as u64;
            target.counted.bytes.fetch_add(bytes, Relaxed);
        }
        sleep(DRIP).await;
    }
}
