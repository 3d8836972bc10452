//! Servers of a service on this machine, and clients made by hand.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use madrigal_clients::{Named, Received, ShareFile, combine, deal_with, nonce, private_generator};
use madrigal_core::chain::Chain;
use madrigal_core::{Budget, Digest256, Party};
use madrigal_engine::{Shares, Sharing};
use madrigal_intake::{
    ClientConnection, FromServer, Hello, JobReceipt, Receipt, Signed, check, pack, submission_name,
    token_digest, token_for,
};
use madrigal_net::identity::{Identity, IdentityFiles, Validity};
use madrigal_net::roster::{Roster, RosterEntry};
use madrigal_net::rustls::ClientConnection as TlsConnection;
use madrigal_net::tls::{ClientTls, Wire, server_name};
use madrigal_service::{Checked, Server, demo};
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Stands for the digest of Ann's token at each server.
pub(crate) const ANN: &str = "DIGEST-OF-ANN";
/// Stands for the digest of Bob's token at each server.
pub(crate) const BOB: &str = "DIGEST-OF-BOB";
/// Time within which anything happens.
const SOON: Duration = Duration::from_secs(30);

/// Servers of a service, with their files.
pub(crate) struct Service {
    pub(crate) folder: TempDir,
    pub(crate) roster: Arc<Roster>,
    pub(crate) servers: Vec<Option<Server>>,
}

/// Everything of a service's file but who the server is, with a kind of statistics.
pub(crate) fn statistics(least: usize, most: usize, after: &str) -> String {
    format!(
        "[[clients]]\nname = \"ann\"\ntoken-sha256 = \"{}\"\n\
         [[kinds]]\nname = \"ages\"\nprogram = \"ages.madrigal\"\nsubmit = \"anyone\"\nreceive = {{ analyst = [\"ann\"] }}\n\
         batch = {{ dimension = \"members\", least = {least}, most = {most}, after = \"{after}\" }}\n",
        ANN,
    )
}

impl Service {
    /// Makes the files of a service; no server is started.
    pub(crate) fn new(servers: usize, text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let ports: Vec<TcpListener> = (0..servers)
            .map(|_| TcpListener::bind("127.0.0.1:0").unwrap())
            .collect();
        let mut entries = Vec::new();
        for (at, port) in ports.iter().enumerate() {
            let name = format!("server{at}");
            let identity = Identity::generate(Validity::days(2).unwrap()).unwrap();
            let base = folder.path().join(&name);
            identity
                .save(&IdentityFiles {
                    key: base.with_extension("key"),
                    certificate: base.with_extension("crt"),
                })
                .unwrap();
            entries.push(RosterEntry {
                name,
                address: port.local_addr().unwrap().to_string().parse().unwrap(),
                key: identity.fingerprint(),
                sealing: None,
            });
        }
        let list: String = entries.iter().map(RosterEntry::to_toml).collect();
        fs::write(folder.path().join("parties.toml"), list).unwrap();
        let program = demo::statistics(servers).unwrap();
        program.save(folder.path().join("ages.madrigal")).unwrap();
        for (at, entry) in entries.iter().enumerate() {
            let head = format!(
                "parties = \"parties.toml\"\nparty = \"server{at}\"\ndata = \"data{at}\"\n"
            );
            let ann = token_digest(b"secret of ann", &entry.key).to_string();
            let bob = token_digest(b"secret of bob", &entry.key).to_string();
            let text = text.replace(ANN, &ann).replace(BOB, &bob);
            fs::write(folder.path().join(format!("{at}.toml")), head + &text).unwrap();
        }
        Self {
            folder,
            roster: Arc::new(Roster::new(entries).unwrap()),
            servers: (0..servers).map(|_| None).collect(),
        }
    }

    pub(crate) fn file(&self, at: usize) -> PathBuf {
        self.folder.path().join(format!("{at}.toml"))
    }

    pub(crate) async fn start(&mut self, at: usize) {
        let checked = Checked::load(&self.file(at)).unwrap();
        // The port of a server that has just gone may not be free yet.
        for _ in 0..100 {
            match Server::start(Checked::load(&self.file(at)).unwrap()).await {
                Ok(server) => {
                    self.servers[at] = Some(server);
                    return;
                }
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
        self.servers[at] = Some(Server::start(checked).await.unwrap());
    }

    pub(crate) async fn start_all(&mut self) {
        for at in 0..self.servers.len() {
            self.start(at).await;
        }
    }

    pub(crate) async fn stop_all(&mut self) {
        for server in self.servers.iter_mut().filter_map(Option::take) {
            server.leave(Duration::from_secs(5)).await;
        }
    }
}

/// A client's connections to all servers.
pub(crate) struct Client {
    pub(crate) lines: Vec<Line>,
    roster: Arc<Roster>,
}

/// A client's connection to one server.
pub(crate) struct Line {
    wire: Wire<TcpStream>,
    pub(crate) connection: ClientConnection,
}

impl Line {
    pub(crate) async fn dial(roster: &Arc<Roster>, at: usize, token: Option<&[u8]>) -> Self {
        let address = roster.party(at).unwrap().address.to_string();
        let socket = TcpStream::connect(address).await.unwrap();
        socket.set_nodelay(true).unwrap();
        let tls = ClientTls::new(Arc::clone(roster), None).unwrap();
        let (config, _) = tls.dial_config(at).unwrap();
        let tls = TlsConnection::new(config, server_name()).unwrap();
        let mut wire = Wire::tls(socket, tls.into());
        wire.handshake().await.unwrap();
        let mut line = Self {
            wire,
            connection: ClientConnection::new(Hello {
                least: 1,
                most: 1,
                token: token.map(|secret| token_for(secret, &roster.party(at).unwrap().key)),
                client: None,
                software: "a test".to_owned(),
                session: [7; 16],
            }),
        };
        match line.told().await {
            FromServer::Welcome(_) => line,
            other => panic!("{other:?}"),
        }
    }

    /// Sends what is ready to be sent.
    pub(crate) async fn flush(&mut self) {
        let mut output = std::mem::take(self.connection.output());
        while !output.is_empty() {
            let connection = &mut self.connection;
            let mut take = |bytes: &[u8]| connection.receive(bytes);
            self.wire.turn(&mut output, false, &mut take).await.unwrap();
        }
    }

    /// The server's next message.
    pub(crate) async fn told(&mut self) -> FromServer {
        let told = async {
            loop {
                if let Some(told) = self.connection.told().unwrap() {
                    return told;
                }
                let mut output = std::mem::take(self.connection.output());
                let connection = &mut self.connection;
                let mut take = |bytes: &[u8]| connection.receive(bytes);
                self.wire.turn(&mut output, true, &mut take).await.unwrap();
                let mut rest = std::mem::take(self.connection.output());
                output.unsplit(std::mem::take(&mut rest));
                *self.connection.output() = output;
            }
        };
        timeout(SOON, told).await.expect("an answer in time")
    }
}

/// A submission, as it goes to each server.
pub(crate) struct Prepared {
    pub(crate) id: Digest256,
    pub(crate) headers: BytesMut,
    pub(crate) bodies: Vec<Vec<u8>>,
}

impl Client {
    pub(crate) async fn dial(service: &Service, token: Option<&[u8]>) -> Self {
        let mut lines = Vec::new();
        for at in 0..service.roster.len() {
            lines.push(Line::dial(&service.roster, at, token).await);
        }
        Self {
            lines,
            roster: Arc::clone(&service.roster),
        }
    }

    /// Cuts an age up for the servers.
    pub(crate) fn prepare(&self, client: &str, age: u32) -> Prepared {
        let welcome = self.lines[0].connection.welcome().unwrap();
        let kind = welcome
            .kinds
            .iter()
            .find(|kind| kind.name == "ages")
            .unwrap();
        let input = &kind.inputs[0];
        let named = Named {
            job: "ages".to_owned(),
            name: input.name.clone(),
            client: client.to_owned(),
            element_type: input.element_type.clone(),
            shape: vec![1],
        };
        let mut rng = private_generator().unwrap();
        let (value, nonce) = (Shares::ring_of(Sharing::PUBLIC, vec![age]), nonce(&mut rng));
        let files = deal_with(
            named,
            &value,
            input.sharing,
            self.lines.len(),
            nonce,
            &mut rng,
        );
        let files = files.unwrap();
        let headers = pack(&[files[0].header().clone()]).unwrap();
        let id = submission_name("ages", &kind.program, &headers);
        let body = |file: &ShareFile| {
            let mut body = Vec::new();
            file.write_body(&mut body).unwrap();
            body
        };
        Prepared {
            id,
            headers: headers[..].into(),
            bodies: files.iter().map(body).collect(),
        }
    }

    /// Submits to one server; gives its receipt.
    pub(crate) async fn submit_to(&mut self, at: usize, prepared: &Prepared) -> Signed {
        let line = &mut self.lines[at];
        let body = prepared.bodies[at].clone();
        let digest = Chain::digest(&prepared.headers, &body);
        let headers = prepared.headers.clone().freeze();
        let place = line.connection.welcome().unwrap().kinds.iter();
        let place = place.clone().position(|kind| kind.name == "ages").unwrap();
        let sent =
            (line.connection).whole(place as u32, (prepared.id, headers, digest), body.into());
        let number = sent.unwrap();
        let receipt = match line.told().await {
            FromServer::Accepted {
                number: of,
                receipt,
            } if of == number => receipt,
            other => panic!("{other:?}"),
        };
        let key = self.roster.party(at).unwrap().key;
        let told = Receipt::verify(&receipt, &key).unwrap();
        assert_eq!(told.submission, prepared.id);
        receipt
    }

    pub(crate) async fn submit(&mut self, prepared: &Prepared) {
        for at in 0..self.lines.len() {
            self.submit_to(at, prepared).await;
        }
    }

    /// Waits for a submission's job; gives its receipt, and the outputs that may be fetched.
    pub(crate) async fn wait(&mut self, id: Digest256) -> (JobReceipt, Vec<u32>) {
        let (mut receipts, mut outputs) = (Vec::new(), Vec::new());
        for line in &mut self.lines {
            line.connection.wait(id).unwrap();
            match line.told().await {
                FromServer::Finished(finished) => {
                    receipts.push(finished.receipt);
                    outputs = finished.outputs.iter().map(|(place, _)| *place).collect();
                }
                other => panic!("{other:?}"),
            }
        }
        (check(&receipts, &self.roster).unwrap(), outputs)
    }

    /// Fetches an output of all servers, and puts it together.
    pub(crate) async fn fetch(&mut self, id: Digest256, output: u32) -> Shares {
        let mut files = Vec::new();
        for line in &mut self.lines {
            let mut file = Vec::new();
            loop {
                line.connection
                    .fetch(id, output, file.len() as u64)
                    .unwrap();
                match line.told().await {
                    FromServer::OutputPiece(piece) => {
                        file.extend_from_slice(&piece.bytes);
                        if piece.last {
                            break;
                        }
                    }
                    other => panic!("{other:?}"),
                }
            }
            let budget = Budget::of_file(file.len());
            let share = ShareFile::read(&mut &file[..], file.len() as u64, None, &budget).unwrap();
            assert_eq!(share.place(), Party::new(files.len()));
            files.push(Received {
                file: Path::new("a server's share").to_owned(),
                share,
            });
        }
        combine(files).unwrap().1
    }
}
