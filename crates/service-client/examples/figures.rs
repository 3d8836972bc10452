//! Rates of submissions and requests over TLS on loopback, with servers that accept and answer at once and keep nothing: what client and wire
//! cost, all on this machine. `cargo run --release -p madrigal-service-client --example figures`.
#![allow(clippy::print_stdout, reason = "a program for the terminal")]

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use madrigal_core::{Digest256, Party};
use madrigal_engine::{Element, Shares, Sharing, Width};
use madrigal_intake::{Answers, Asked, Input, Kind, Receipt, ServerConnection, Terms, What};
use madrigal_net::identity::{Identity, Validity};
use madrigal_net::roster::Roster;
use madrigal_net::rustls::ServerConnection as Tls;
use madrigal_net::tls::{ServerTls, Turn, Wire};
use madrigal_service_client::{ServiceClient, ServiceConfig, Value};
use tokio::net::{TcpListener, TcpStream};

type Fallible<T> = Result<T, Box<dyn Error>>;

const SERVERS: usize = 3;
const SUBMISSIONS: usize = 100_000;
const REQUESTS: u64 = 1_000_000;
const IN_A_FRAME: u64 = 50;

#[tokio::main]
async fn main() -> Fallible<()> {
    let mut listeners = Vec::new();
    let mut identities = Vec::new();
    let mut listed = Vec::new();
    for _ in 0..SERVERS {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let identity = Arc::new(Identity::generate(Validity::days(1)?)?);
        listed.push((listener.local_addr()?.try_into()?, identity.fingerprint()));
        listeners.push(listener);
        identities.push(identity);
    }
    for (place, (listener, identity)) in listeners.into_iter().zip(identities).enumerate() {
        let tls = ServerTls::new(&identity)?;
        let terms = Arc::new(terms(place));
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let (tls, terms, identity) = (tls.clone(), terms.clone(), identity.clone());
                tokio::spawn(async move { serve(socket, tls, terms, identity).await.ok() });
            }
        });
    }
    let mut config = ServiceConfig::new(Roster::local(listed)?);
    config.connections = 4;
    let client = ServiceClient::connect(config).await?;
    submissions(&client).await?;
    requests(&client).await
}

/// A hundred thousand submissions of two hundred bytes, a thousand at once.
async fn submissions(client: &ServiceClient) -> Fallible<()> {
    let value = Shares::ring_of(Sharing::PUBLIC, vec![7_u64; 25]);
    let inputs = vec![("x".to_owned(), Value::Shares(vec![25], value))];
    let all = (0..SUBMISSIONS).map(|i| (format!("client-{i}"), inputs.clone()));
    let start = Instant::now();
    let done = client.many("sums", all, 1_000, |_, _, _| true).await?;
    let taken = start.elapsed();
    println!(
        "{} submissions of 200 bytes, {} failed, 1000 at once over 4 connections to each of {SERVERS} servers: {:.1} s, {:.0} a second",
        done.accepted,
        done.failed,
        taken.as_secs_f64(),
        done.accepted as f64 / taken.as_secs_f64()
    );
    Ok(())
}

/// A million requests of 32 bytes, of which as many are on their way as the servers let.
async fn requests(client: &ServiceClient) -> Fallible<()> {
    let (mut sender, mut receiver) = client.requests("keys").await?;
    let shares = vec![Bytes::from(vec![7; 32 * IN_A_FRAME as usize]); SERVERS];
    let start = Instant::now();
    let sends = async {
        for _ in 0..REQUESTS / IN_A_FRAME {
            sender.send(&shares).await?;
        }
        Ok::<_, Box<dyn Error>>(())
    };
    let receives = async {
        for _ in 0..REQUESTS {
            receiver.next().await.ok_or("it ended")?.shares?;
        }
        Ok::<_, Box<dyn Error>>(())
    };
    tokio::try_join!(sends, receives)?;
    let taken: Duration = start.elapsed();
    println!(
        "{REQUESTS} requests of 32 bytes, {IN_A_FRAME} in a frame, to {SERVERS} servers over one connection each: {:.0} a second, {:.2} us each of all processors",
        REQUESTS as f64 / taken.as_secs_f64(),
        taken.as_micros() as f64 / REQUESTS as f64
            * std::thread::available_parallelism()?.get() as f64
    );
    Ok(())
}

fn terms(place: usize) -> Terms {
    let sums = Kind {
        name: "sums".into(),
        program: Digest256([1; 32]),
        what: What::Program,
        inputs: vec![Input {
            name: "x".into(),
            element_type: "u64".into(),
            shape: vec![None],
            sharing: Sharing::A,
            element: Element::Ring(Width::W64),
        }],
        outputs: Vec::new(),
        submitters: "everybody".into(),
        most_bytes: 1 << 20,
        anonymous: true,
    };
    let keys = Kind {
        name: "keys".into(),
        what: What::Requests {
            request_bytes: 32,
            answer_bytes: 32,
        },
        ..sums.clone()
    };
    Terms {
        server: format!("party{place}"),
        place: Party::new(place),
        servers: SERVERS,
        software: "figures".into(),
        kinds: vec![sums, keys],
        body_window: 1 << 20,
        request_window: 8_192,
    }
}

async fn serve(
    socket: TcpStream,
    tls: ServerTls,
    terms: Arc<Terms>,
    identity: Arc<Identity>,
) -> Fallible<()> {
    socket.set_nodelay(true)?;
    let mut wire = Wire::tls(socket, Tls::new(tls.config())?.into());
    wire.handshake().await?;
    let mut connection = ServerConnection::new(terms.clone());
    let mut output = BytesMut::new();
    loop {
        output.unsplit(connection.output().split());
        let reads = connection.wants_bytes();
        let mut take = |bytes: &[u8]| connection.receive(bytes);
        if wire.turn(&mut output, reads, &mut take).await? == Turn::Ended {
            return Ok(());
        }
        while let Some(asked) = connection.asked() {
            match asked {
                Asked::Hello(_) => drop(connection.welcome(None, 0)),
                Asked::Whole(whole, _) => {
                    connection.taken(whole.body.len() as u64);
                    let kind = &terms.kinds[whole.kind as usize];
                    let receipt = Receipt {
                        server: identity.fingerprint(),
                        kind: kind.name.clone(),
                        program: kind.program,
                        submission: whole.id,
                        digest: whole.digest,
                        time: 0,
                    };
                    connection.accepted(whole.number, receipt.sign(&identity)?);
                }
                Asked::Requests(requests) => drop(connection.answers(Answers {
                    first_number: requests.first_number,
                    each_bytes: requests.each_bytes,
                    payload: requests.payload,
                })),
                _ => {}
            }
        }
    }
}
