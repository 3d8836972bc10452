//! A service on this machine: keys and files for all its servers, each of which is a process.

mod served;

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use madrigal_app::failure::{Failure, Result};
use madrigal_app::progress::say;
use madrigal_app::stop;
use madrigal_intake::token_digest;
use madrigal_net::identity::{Identity, IdentityFiles, Validity};
use madrigal_net::roster::RosterEntry;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::sleep;

use self::served::Served;
pub use self::served::{AGES, AUCTION, DIGITS, DIGITS_MODEL, LOGIN, Shown};
use crate::args::DemoArg;
use crate::config::ConfigError;
use crate::server::{Checked, ServeError};

/// The list of servers.
const PARTIES: &str = "parties.toml";
/// Servers of a key server.
const KEY_SERVERS: usize = 3;
/// Days for which the servers' certificates are valid.
const DAYS: u32 = 365;
/// Time that the servers have to end.
const END: Duration = Duration::from_secs(40);

/// Runs a service until it is told to stop.
pub(crate) fn run(servers: usize, shown: &Shown, directory: Option<&Path>) -> Result<()> {
    stop::leave_signals_to_the_command();
    let temporary = match directory {
        Some(_) => None,
        None => Some(tempfile::tempdir().map_err(Failure::system("cannot make a directory"))?),
    };
    let folder = match (&temporary, directory) {
        (Some(temporary), _) => temporary.path(),
        (None, Some(directory)) => directory,
        (None, None) => return Err(Failure::bug("no directory")),
    };
    if !folder.join(PARTIES).exists() {
        make(folder, servers, shown, 1)?;
    }
    // Faults of a program are told before there are processes.
    Checked::load(&folder.join("server0.toml"))?.allowed()?;
    let program = std::env::current_exe();
    let program = program.map_err(Failure::system("cannot find this program"))?;
    let mut children = Children::default();
    for server in 0.. {
        let file = folder.join(format!("server{server}.toml"));
        if !file.exists() {
            break;
        }
        let mut command = Command::new(&program);
        command.arg("serve").arg("--config").arg(&file);
        let child = command.stdin(Stdio::null()).spawn();
        let child = child.map_err(Failure::system("cannot start a server"))?;
        children.0.push(child);
    }
    let place = folder.display();
    let how = Served::of(shown, servers)?.how;
    let how = how.replace("{folder}", &folder.display().to_string());
    say(format_args!(
        "a service of {} servers runs; its files are in {place}\n{how}\nCtrl-C ends it",
        children.0.len(),
    ));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Failure::system("cannot start the runtime"))?;
    runtime.block_on(children.watch())
}

/// Processes of servers, which end with this one.
#[derive(Default)]
struct Children(Vec<Child>);

impl Children {
    /// Watches the servers until one ends by itself, or a signal says that it is enough; then all are told to end.
    async fn watch(mut self) -> Result<()> {
        let system = || Failure::system("cannot hear signals");
        let mut terminate = signal(SignalKind::terminate()).map_err(system())?;
        let mut interrupt = signal(SignalKind::interrupt()).map_err(system())?;
        let gone = loop {
            tokio::select! {
                _ = terminate.recv() => break None,
                _ = interrupt.recv() => break None,
                () = sleep(Duration::from_millis(100)) => {}
            }
            let mut all = self.0.iter_mut().enumerate();
            let gone = all.find_map(|(at, child)| Some((at, child.try_wait().ok()??)));
            if gone.is_some() {
                break gone;
            }
        };
        self.end().await;
        match gone {
            None => Ok(()),
            Some((server, status)) => {
                let what = format!("server {server} has ended with {status}");
                Err(Failure::System {
                    what: "a server of the service is gone",
                    source: std::io::Error::other(what),
                })
            }
        }
    }

    /// Tells all servers to end, and waits for them.
    async fn end(&mut self) {
        for child in &self.0 {
            tell_to_end(child);
        }
        let until = tokio::time::Instant::now() + END;
        while tokio::time::Instant::now() < until {
            if self
                .0
                .iter_mut()
                .all(|child| matches!(child.try_wait(), Ok(Some(_))))
            {
                return;
            }
            sleep(Duration::from_millis(20)).await;
        }
    }
}

impl Drop for Children {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Sends SIGTERM, by the program that sends signals: this library has no unsafe code to call the system itself.
fn tell_to_end(child: &Child) {
    let mut kill = Command::new("kill");
    kill.arg("-TERM").arg(child.id().to_string());
    let _ = kill.stderr(Stdio::null()).status();
}

/// Makes keys, the list of servers, a file for each (`server0.toml` and so on), and files for clients: `member.toml` for all, and one for each client that
/// the service knows by a token, as `analyst.toml` for who learns results. Each server computes with `threads` threads.
///
/// # Errors
/// [`Failure`]: files that cannot be written; a service that is for another number of servers.
pub fn make(folder: &Path, servers: usize, shown: &Shown, threads: usize) -> Result<()> {
    if *shown == Shown::Demo(DemoArg::Keys) && servers != KEY_SERVERS {
        return Err(Failure::from(ServeError::Config(ConfigError::Field {
            file: folder.join("server0.toml"),
            field: format!("kinds.{LOGIN}.requests"),
            problem: format!("a key server has {KEY_SERVERS} servers, and {servers} are asked for"),
        })));
    }
    let write = |name: &str, text: &[u8]| {
        let path = folder.join(name);
        fs::write(&path, text).map_err(Failure::file("write the file", &path))
    };
    let service = Served::of(shown, servers)?;
    fs::create_dir_all(folder).map_err(Failure::file("make the directory", folder))?;
    let (mut ports, mut operations) = (Vec::new(), Vec::new());
    let mut entries = Vec::new();
    let mut free = || {
        let port = TcpListener::bind("127.0.0.1:0");
        let port = port.map_err(Failure::system("cannot find a free port"))?;
        let address = port.local_addr();
        let address = address.map_err(Failure::system("cannot find a free port"))?;
        // All are held until each has its own.
        ports.push(port);
        Ok::<_, Failure>(address)
    };
    for server in 0..servers {
        let address = free()?;
        operations.push(free()?);
        let name = format!("server{server}");
        let identity = Identity::generate(Validity::days(DAYS)?)?;
        identity.save(&files(folder, &name))?;
        entries.push(RosterEntry {
            name,
            address: address.to_string().parse().map_err(Failure::bug)?,
            key: identity.fingerprint(),
            sealing: None,
        });
    }
    if let Some((name, program)) = &service.program {
        program.save(folder.join(name)).map_err(Failure::bug)?;
    }
    let tokens: Vec<(&str, String)> = (service.clients.iter())
        .map(|client| Ok((client.as_str(), token()?)))
        .collect::<Result<_>>()?;
    let list: String = entries.iter().map(RosterEntry::to_toml).collect();
    for (server, (entry, operation)) in entries.iter().zip(operations).enumerate() {
        let known = tokens.iter().map(|(client, token)| {
            let digest = token_digest(token.as_bytes(), &entry.key);
            format!("[[clients]]\nname = \"{client}\"\ntoken-sha256 = \"{digest}\"\n\n")
        });
        let (known, kinds) = (known.collect::<String>(), &service.kinds);
        let text = format!(
            "# One server of a service on this machine.\n\
             parties = \"{PARTIES}\"\nparty = \"server{server}\"\ndata = \"data{server}\"\noperation = \"{operation}\"\nthreads = {threads}\n\n{known}{kinds}"
        );
        write(&format!("server{server}.toml"), text.as_bytes())?;
    }
    let servers: String = list.replace("[[party]]", "[[servers]]");
    write("member.toml", servers.as_bytes())?;
    for (client, token) in &tokens {
        let text = format!("token-file = \"{client}.token\"\nclient = \"{client}\"\n\n{servers}");
        write(&format!("{client}.toml"), text.as_bytes())?;
        write_private(&folder.join(format!("{client}.token")), token.as_bytes())?;
    }
    // The last file says that all are there.
    write(PARTIES, list.as_bytes())
}

/// A client's secret token: 64 digits.
fn token() -> Result<String> {
    let mut token = [0; 32];
    getrandom::fill(&mut token).map_err(Failure::bug)?;
    Ok(token.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn write_private(path: &PathBuf, text: &[u8]) -> Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path);
    let written = file.and_then(|mut file| std::io::Write::write_all(&mut file, text));
    written.map_err(Failure::file("write the file", path))
}

fn files(folder: &Path, name: &str) -> IdentityFiles {
    IdentityFiles {
        key: folder.join(format!("{name}.key")),
        certificate: folder.join(format!("{name}.crt")),
    }
}
