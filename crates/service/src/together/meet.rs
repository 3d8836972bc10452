//! The servers meet, and meet again whenever their session has ended.

use std::sync::Arc;
use std::time::Duration;

use madrigal_core::Party;
use madrigal_net::transport::{ConnectConfig, HandedOn, Meeting, Security, connect};
use madrigal_net::{Session, SessionConfig};
use tracing::{info, warn};

use crate::operation::{Health, Trouble};

/// Time that a look for the others takes before it begins anew. Who is not there by then may have another address.
const LOOK: Duration = Duration::from_secs(20);
/// Time after which a server that is silent is taken for lost.
const SILENCE: Duration = Duration::from_secs(10);
/// The shortest and the longest pause between two looks.
const PAUSES: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(5)];

/// How a server meets the others.
#[derive(Debug)]
pub(crate) struct Meet {
    pub(crate) me: Party,
    pub(crate) addresses: Vec<String>,
    pub(crate) names: Vec<String>,
    pub(crate) security: Security,
    /// Threads that this server computes with.
    pub(crate) threads: usize,
    pub(crate) health: Arc<Health>,
}

impl Meet {
    /// The next session with all others, for however long that takes.
    pub(crate) async fn next(&self, handed: &mut HandedOn) -> Session {
        let mut pause = PAUSES[0];
        loop {
            let failure = match self.once(handed).await {
                Ok(session) => return session,
                Err(failure) => failure,
            };
            info!(error = failure, "no session with the other servers yet");
            self.health.trouble(Trouble::Servers, failure);
            // Servers that lost each other at the same time do not all dial at the same time again.
            let mut random = [0; 1];
            let _ = getrandom::fill(&mut random);
            tokio::time::sleep(pause.mul_f64(0.5 + f64::from(random[0]) / 256.0)).await;
            pause = (pause * 2).min(PAUSES[1]);
        }
    }

    /// Looks for the others once.
    async fn once(&self, handed: &mut HandedOn) -> Result<Session, String> {
        let name = |party: &Party| {
            let name = self.names.get(party.index());
            name.map_or_else(|| party.to_string(), |name| format!("{party} `{name}`"))
        };
        let observe = |meeting: Meeting<'_>| match meeting {
            Meeting::Waiting { missing } => {
                let missing: Vec<String> = missing.iter().map(name).collect();
                let missing = missing.join(", ");
                self.health
                    .trouble(Trouble::Servers, format!("waiting for {missing}"));
                info!(missing, "waiting for other servers");
            }
            Meeting::Refused { why, .. } => {
                warn!(error = %why, "a connection as a server was refused");
            }
            _ => {}
        };
        let config = ConnectConfig {
            patience: LOOK,
            observe: &observe,
            ..ConnectConfig::new(self.me, &self.addresses, &self.security)
        };
        let transport = connect(config, handed);
        let transport = transport.await.map_err(|error| error.to_string())?;
        let mut config = SessionConfig::new(self.me, self.addresses.len());
        config.threads = self.threads;
        config.silence = SILENCE;
        config.patience = LOOK;
        let session = Session::new(config, transport);
        match session.greet().await {
            Ok(()) => Ok(session),
            Err(error) => {
                session.close().await;
                Err(error.to_string())
            }
        }
    }
}
