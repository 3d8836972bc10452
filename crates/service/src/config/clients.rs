//! Clients that a service knows, as its file has them.

use madrigal_net::fingerprint::Fingerprint;
use madrigal_net::roster::is_name;
use serde::Deserialize;

/// A client that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientConfig {
    /// The key that it proves itself with.
    pub key: Option<Fingerprint>,
    /// SHA-256 of the token that it proves itself with.
    pub token: Option<Fingerprint>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ClientText {
    pub(crate) name: String,
    key: Option<String>,
    token_sha256: Option<String>,
}

impl ClientText {
    /// The client with its name, or the field that is wrong and how.
    pub(crate) fn checked(self) -> Result<(String, ClientConfig), (String, String)> {
        let at = |field: &str| format!("clients.{}{field}", self.name);
        if !is_name(&self.name) {
            let problem = "a client's name has 1 to 64 letters, digits, `-`, `_` and `.`";
            return Err((at(""), problem.to_owned()));
        }
        let read = |field: &str, text: &Option<String>| {
            let text = text.as_deref().map(str::parse::<Fingerprint>).transpose();
            text.map_err(|error| (at(field), error.to_string()))
        };
        let client = ClientConfig {
            key: read(".key", &self.key)?,
            token: read(".token-sha256", &self.token_sha256)?,
        };
        if client.key.is_none() && client.token.is_none() {
            let problem = "give `key`, the fingerprint of the client's key, or `token-sha256`";
            return Err((at(""), problem.to_owned()));
        }
        Ok((self.name, client))
    }
}
