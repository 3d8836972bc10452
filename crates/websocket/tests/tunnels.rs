//! Bytes go through a tunnel as they went in, and nobody who says something else gets one.

use std::time::Duration;

use madrigal_websocket::{Address, Tunnel, TunnelError, accept, connect};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

const SOON: Duration = Duration::from_secs(20);

async fn run(work: impl Future<Output = ()>) {
    timeout(SOON, work).await.expect("an end in time");
}

/// A port that takes one tunnel, and the address of it.
async fn port() -> (TcpListener, Address) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("ws://{}/way", listener.local_addr().unwrap());
    (listener, address.parse().unwrap())
}

async fn taken(listener: &TcpListener) -> Result<Tunnel<TcpStream>, TunnelError> {
    accept(listener.accept().await.unwrap().0).await
}

#[tokio::test]
async fn bytes_arrive_as_they_were_sent_both_ways() {
    run(async {
        let (listener, address) = port().await;
        let (server, client) = tokio::join!(taken(&listener), connect(&address));
        let (mut server, mut client) = (server.unwrap(), client.unwrap());
        // Longer than a message; and nothing at all.
        for length in [0_usize, 1, 65_536, 65_537, 3_000_000] {
            let bytes: Vec<u8> = (0..length).map(|at| ((at * 31) >> 3) as u8).collect();
            let send = async {
                client.write_all(&bytes).await.unwrap();
                client.flush().await.unwrap();
            };
            let mut came = vec![0; length];
            let ((), read) = tokio::join!(send, server.read_exact(&mut came));
            read.unwrap();
            assert!(came == bytes, "{length} bytes");
            let send = async {
                server.write_all(&came).await.unwrap();
                server.flush().await.unwrap();
            };
            let mut back = vec![0; length];
            let ((), read) = tokio::join!(send, client.read_exact(&mut back));
            read.unwrap();
            assert!(back == bytes, "{length} bytes back");
        }
        client.shutdown().await.unwrap();
        assert_eq!(server.read(&mut [0; 8]).await.unwrap(), 0, "an end");
    })
    .await;
}

#[tokio::test]
async fn a_request_for_something_else_is_refused() {
    run(async {
        for (request, status) in [
            ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", None),
            (
                "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                 Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: chat, madrigals\r\n\r\n",
                Some("400"),
            ),
            ("\x16\x03\x01 no HTTP\r\n\r\n", None),
        ] {
            let (listener, address) = port().await;
            let client = async {
                let mut socket = TcpStream::connect((address.host(), address.port())).await.unwrap();
                socket.write_all(request.as_bytes()).await.unwrap();
                let mut answer = Vec::new();
                let _ = socket.read_to_end(&mut answer).await;
                String::from_utf8_lossy(&answer).into_owned()
            };
            let server = async { taken(&listener).await.map(drop) };
            let (refused, answer) = tokio::join!(server, client);
            assert!(refused.is_err(), "{request}");
            if let Some(status) = status {
                assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{answer}");
                assert!(answer.contains("subprotocol `madrigal`"), "{answer}");
            }
        }
    })
    .await;
}

#[tokio::test]
async fn headers_without_an_end_are_not_gathered_for_ever() {
    run(async {
        let (listener, address) = port().await;
        let client = async {
            let mut socket = TcpStream::connect((address.host(), address.port()))
                .await
                .unwrap();
            socket.write_all(b"GET / HTTP/1.1\r\n").await.unwrap();
            let line = format!("X-Long: {}\r\n", "a".repeat(1000));
            for _ in 0..100_000 {
                if socket.write_all(line.as_bytes()).await.is_err() {
                    return;
                }
            }
            panic!("100 MB of headers were taken");
        };
        let server = async { taken(&listener).await.map(drop) };
        let (refused, ()) = tokio::join!(server, client);
        assert!(refused.is_err());
    })
    .await;
}

#[tokio::test]
async fn a_server_that_speaks_something_else_is_named() {
    run(async {
        for (answer, told) in [
            (
                "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n",
                "502",
            ),
            ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "200"),
            ("SSH-2.0-x\r\n\r\n", "handshake"),
        ] {
            let (listener, address) = port().await;
            let server = async {
                let (mut socket, _) = listener.accept().await.unwrap();
                let _ = socket.read(&mut [0; 1024]).await.unwrap();
                socket.write_all(answer.as_bytes()).await.unwrap();
            };
            let ((), error) = tokio::join!(server, connect(&address));
            let error = error.unwrap_err();
            assert!(error.to_string().contains(told), "{error}");
            assert_eq!(error.may_pass(), told != "200", "{error}");
        }
    })
    .await;
}

#[tokio::test]
async fn nobody_there_is_an_error() {
    let (listener, address) = port().await;
    drop(listener);
    let error = connect(&address).await.unwrap_err();
    assert!(
        matches!(error, TunnelError::Unreachable(_)) && error.may_pass(),
        "{error}"
    );
}
