//! Over TLS on loopback: who a client is, and who a server is.

use std::sync::Arc;

use madrigal_engine::Sharing;
use madrigal_intake::Code;
use madrigal_net::identity::Identity;
use madrigal_net::rustls::ServerConnection;
use madrigal_net::tls::{ServerTls, Wire};
use madrigal_service_client::{ClientError, ServiceClient, Stream, Submit};
use tokio::net::TcpListener;

use crate::fake::*;
use crate::submissions::{inputs, run, submit};

/// A service whose servers listen; server 1 shows another key if one is given.
async fn listening(other: Option<&Identity>) -> Service {
    let mut listeners = Vec::new();
    for _ in 0..3 {
        listeners.push(TcpListener::bind("127.0.0.1:0").await.unwrap());
    }
    let ports: Vec<u16> = listeners
        .iter()
        .map(|one| one.local_addr().unwrap().port())
        .collect();
    let service = Service::new(Sharing::R, &ports);
    for (place, listener) in listeners.into_iter().enumerate() {
        let server = service.servers[place].clone();
        let shown = other.filter(|_| place == 1).unwrap_or(&server.identity);
        let tls = ServerTls::new(shown).unwrap();
        tokio::spawn(async move {
            loop {
                let (socket, from) = listener.accept().await.unwrap();
                let socket: Box<dyn Stream> = Box::new(socket);
                let accepted = ServerConnection::new(tls.config()).unwrap();
                let mut wire = Wire::tls(socket, accepted.into());
                let (server, tls) = (server.clone(), tls.clone());
                tokio::spawn(async move {
                    if wire.handshake().await.is_ok() {
                        let connection = wire.connection().unwrap();
                        let key = tls.client(connection, &from.to_string()).unwrap();
                        server.serve(wire, key).await;
                    }
                });
            }
        });
    }
    service
}

#[test]
fn clients_are_known_by_key_or_token_or_not() {
    run(async {
        let service = listening(None).await;
        let me = Arc::new(fresh());
        let inputs = inputs(20_000);
        for (identity, token, known) in [
            (None, None, false),
            (Some(me.clone()), None, true),
            (None, Some("sesame"), true),
        ] {
            let mut config = service.config();
            config.identity = identity.clone();
            config.token = token.map(|token| token.as_bytes().to_vec().into());
            let client = ServiceClient::connect(config).await.unwrap();
            let came = service.servers[2].came.lock().unwrap().pop().unwrap();
            assert_eq!(came.0, identity.map(|identity| identity.fingerprint()));
            let submission = client.submit(&submit(&inputs)).await.unwrap();
            client.wait(&submission).await.unwrap();
            let members = Submit {
                kind: "members",
                ..submit(&inputs)
            };
            let submitted = client.submit(&members).await;
            match known {
                true => drop(submitted.unwrap()),
                false => assert!(matches!(
                    submitted,
                    Err(ClientError::Refused {
                        code: Code::NotAllowed,
                        ..
                    })
                )),
            }
        }
        let mut config = service.config();
        config.token = Some(b"wrong".to_vec().into());
        let refused = ServiceClient::connect(config).await.unwrap_err();
        assert!(
            matches!(
                refused,
                ClientError::Refused {
                    code: Code::Unknown,
                    ..
                }
            ),
            "{refused}"
        );
    });
}

#[test]
fn a_server_with_another_key_is_refused_at_once() {
    run(async {
        let other = fresh();
        let service = listening(Some(&other)).await;
        let error = ServiceClient::connect(service.config()).await.unwrap_err();
        let ClientError::Dial { server, fault } = &error else {
            panic!("{error}");
        };
        assert_eq!(server.place, 1);
        assert!(
            fault.to_string().contains(&other.fingerprint().to_string()),
            "{error}"
        );
    });
}
