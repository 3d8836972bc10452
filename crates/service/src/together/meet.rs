//! The servers meet, and meet again whenever their session has ended.

use std::sync::Arc;
use std::time::Duration;

use madrigal_core::Party;
use madrigal_net::transport::{ConnectConfig, HandedOn, Meeting, Security, Transport, connect};
use madrigal_net::{Session, SessionConfig, Speaks};
use tokio::time::timeout;
use tracing::{debug, info, warn};

use crate::operation::{Health, Trouble};

/// Time that a look for the others takes before it begins anew: a connection that a server has given up since is noticed then.
const LOOK: Duration = Duration::from_secs(5);
/// Time that servers have to greet each other once they have met.
const GREETING: Duration = Duration::from_secs(5);
/// Time that servers have to announce a job that one has announced: they read and plan first.
const PATIENCE: Duration = Duration::from_secs(60);
/// Time after which a server that is silent is taken for lost.
const SILENCE: Duration = Duration::from_secs(10);
/// Pause between two looks, on average. It stays short: a server that is there again is found by dialing, and servers that have lost each other
/// at the same moment look again at about the same moment.
const PAUSE: Duration = Duration::from_millis(100);

/// A way to stand between a server and its lines to the others: for tests of what servers get to see.
pub type Between = Box<dyn Fn(Box<dyn Transport>) -> Box<dyn Transport> + Send + Sync>;

/// How a server meets the others.
pub(crate) struct Meet {
    pub(crate) me: Party,
    pub(crate) addresses: Vec<String>,
    pub(crate) names: Vec<String>,
    pub(crate) security: Security,
    /// Threads that this server computes with.
    pub(crate) threads: usize,
    /// Protocols above the session's that this server speaks.
    pub(crate) speaks: Vec<Speaks>,
    pub(crate) health: Arc<Health>,
    pub(crate) between: Option<Between>,
}

impl Meet {
    /// The next session with all others, for however long that takes.
    pub(crate) async fn next(&self, handed: &mut HandedOn) -> Session {
        let mut last = None;
        loop {
            let failure = match self.once(handed).await {
                Ok(session) => return session,
                Err(failure) => failure,
            };
            // While a server is away, each look fails in the same way.
            match last.as_ref() == Some(&failure) {
                true => debug!(error = failure, "no session with the other servers yet"),
                false => info!(error = failure, "no session with the other servers yet"),
            }
            self.health.trouble(Trouble::Servers, failure.clone());
            last = Some(failure);
            // Servers that lost each other at the same time do not all dial at the same time again.
            let mut random = [0; 1];
            let _ = getrandom::fill(&mut random);
            tokio::time::sleep(PAUSE.mul_f64(0.5 + f64::from(random[0]) / 256.0)).await;
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
        config.speaks.clone_from(&self.speaks);
        config.silence = SILENCE;
        config.patience = PATIENCE;
        let session = match &self.between {
            None => Session::new(config, transport),
            Some(between) => Session::new(config, between(Box::new(transport))),
        };
        let failure = match timeout(GREETING, session.greet()).await {
            Ok(Ok(())) => return Ok(session),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "a server does not greet us".to_owned(),
        };
        session.close().await;
        Err(failure)
    }
}
