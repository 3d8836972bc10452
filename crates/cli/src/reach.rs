//! From addresses to a session: sockets, runtimes, network profiles.

use std::net::TcpListener;

use madrigal_engine::Progress;
use madrigal_net::transport::{Security, Transport, connect};

use crate::args::Patience;
use crate::exit::{Failure, Result, Usage};
use crate::party::{Outcome, Prepared};

/// How a party takes part over a transport.
pub struct Manner<'a> {
    pub network: Network,
    pub patience: &'a Patience,
    pub repeat: u32,
}

/// `--network`
#[derive(Debug, Clone, Copy)]
pub struct Network;

impl Network {
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "none" => Ok(Self),
            _ => Err(Usage::Network { name: name.to_owned(), known: "none".to_owned() }.into()),
        }
    }
}

impl Manner<'_> {
    /// Takes part over a transport that is there already.
    pub async fn take_part(
        &self,
        prepared: &Prepared,
        transport: impl Transport,
        observe: &dyn Fn(Progress),
    ) -> Result<Outcome> {
        let Network = self.network;
        prepared.take_part(transport, self.patience, self.repeat, observe).await
    }

    /// Meets the other parties over TCP and takes part, on a runtime of this thread.
    pub fn meet_and_take_part(
        &self,
        prepared: &Prepared,
        addresses: &[String],
        listener: TcpListener,
        security: &Security,
        observe: &dyn Fn(Progress),
    ) -> Result<Outcome> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(Failure::system("cannot start the runtime"))?;
        runtime.block_on(async {
            let listener = to_tokio(listener)?;
            let patience = self.patience.connect_timeout;
            let transport = connect(prepared.me, addresses, listener, security, patience).await?;
            self.take_part(prepared, transport, observe).await
        })
    }
}

fn to_tokio(listener: TcpListener) -> Result<tokio::net::TcpListener> {
    let listener = listener
        .set_nonblocking(true)
        .and_then(|()| tokio::net::TcpListener::from_std(listener));
    listener.map_err(Failure::system("cannot listen"))
}
