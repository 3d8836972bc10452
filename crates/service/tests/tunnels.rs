//! Clients that come through WebSockets get what those over TCP get.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::time::Duration;

use madrigal_program::{Array, Shape, Type};
use madrigal_service_client::{ServiceClient, ServiceConfig, Submit, Value};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::common::{Service, statistics};
use crate::jobs::runtime;

const SOON: Duration = Duration::from_secs(60);

fn ages(age: u32) -> [(String, Value); 1] {
    let shape = Shape::checked(&[1]).unwrap();
    let typed: Type = "u32".parse().unwrap();
    let array = Array::from_codes(typed, &shape, [u128::from(age)].into_iter()).unwrap();
    [("age".to_owned(), Value::from(array))]
}

#[test]
fn values_go_through_tunnels() {
    let work = async {
        let text = format!("websocket = \"127.0.0.1:0\"\n{}", statistics(2, 2, "1h"));
        let mut service = Service::new(3, &text);
        service.start_all().await;
        let servers = service.servers.iter().flatten();
        let ports: Vec<_> = servers.map(|server| server.websocket().unwrap()).collect();
        let mut config = ServiceConfig::new((*service.roster).clone());
        config.token = Some(b"secret of ann".to_vec().into());
        config.websockets = ports
            .iter()
            .map(|port| Some(format!("ws://{port}/north").parse().unwrap()))
            .collect();
        let client = ServiceClient::connect(config.clone()).await.unwrap();
        for age in [31, 44] {
            let inputs = ages(age);
            let submission = Submit {
                kind: "ages",
                inputs: &inputs,
                client: "ann",
                pending: None,
                receipt: None,
            };
            client.submit(&submission).await.unwrap();
        }
        let outputs = client.wait_after("ages", 0).await.unwrap();
        assert_eq!(outputs.values[0].1.component::<u32>(0), [75]);
        // A tunnel to another server than the one that is meant ends at the pinned key.
        config.websockets.swap(0, 1);
        config.patience = Duration::ZERO;
        let error = ServiceClient::connect(config)
            .await
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("server0") && error.contains("key"),
            "{error}"
        );
        // Whoever asks for no WebSocket is shown the door.
        let mut stranger = TcpStream::connect(ports[0]).await.unwrap();
        stranger
            .write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            .await
            .unwrap();
        let _ = stranger.read_to_end(&mut Vec::new()).await;
        let meters = service.servers[0]
            .as_ref()
            .unwrap()
            .meters()
            .in_words()
            .unwrap();
        let refused = "reason=\"no WebSocket\"} 1";
        assert!(meters.contains(refused), "{meters}");
        service.stop_all().await;
    };
    runtime().block_on(async { timeout(SOON, work).await.expect("an end in time") });
}
