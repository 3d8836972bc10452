//! Chooses the OT extension that makes correlations.

use std::str::FromStr;
use std::time::Duration;

use clap::Args;
use madrigal_core::time::Link;
use madrigal_correlations_make::{Choice, Extension};
use madrigal_kernels::Level;
use madrigal_net::transport::Profile;
use serde::{Deserialize, Serialize};

use crate::reach::Network;

/// Instruction level that extensions are chosen for: all parties must choose alike, whatever their processors.
const LEVEL: Level = Level::AesNi;

/// Name of this machine's own network in [`LinkArg`].
const HERE: &str = "local";

/// Profile of that network: what it carries in a second is the processor's business.
const LOOPBACK: Profile = Profile {
    latency: Duration::from_micros(30),
    bits_per_second: None,
    jitter: Duration::ZERO,
};

impl Network {
    /// Chooses the extension for this many triples between parties that all run here.
    pub fn extension(&self, threads: usize, triples: u64) -> Extension {
        choose(&self.profile.unwrap_or(LOOPBACK), threads, triples).extension
    }
}

fn choose(profile: &Profile, threads: usize, triples: u64) -> Choice {
    Extension::choose(profile, LEVEL, threads, triples)
}

/// The flags.
#[derive(Args, Debug, Clone, Default, Serialize, Deserialize)]
pub struct Over {
    /// OT extension, the same at all parties: iknp, softspoken2 to softspoken8, or silent. In this
    /// order they send fewer and fewer bytes and take more and more work; auto chooses by --link
    /// and the number of triples
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub extension: ExtensionArg,

    /// The network between the parties, for --extension auto and for how much is under way at once:
    /// a profile as for --network, local if all parties run on one machine, or none if the network
    /// is not known. Must be the same at all parties (`madrigal doctor --peers` measures it)
    /// [default: that of --network, or local where all run here]
    #[arg(long, value_name = "PROFILE")]
    pub link: Option<LinkArg>,
}

impl Over {
    /// Takes the network that the parties are made to feel, if no link was named, or else
    /// that of this machine where they all run here.
    pub fn or_network(&mut self, network: &str, here: bool) {
        if self.link.is_some() {
            return;
        }
        let known = Network::parse(network).ok().and_then(|known| known.profile);
        if known.is_some() {
            self.link = Some(LinkArg(network.to_owned()));
        } else if here {
            self.link = Some(LinkArg(HERE.to_owned()));
        }
    }

    /// Names an extension where neither a flag nor a network does, for parties that all run here: one that sends less than what is chosen for few triples,
    /// as hundreds of megabytes keep loopback busy for longer than the fewest AES blocks are worth.
    pub fn or_extension_for_many(&mut self) {
        let here = self.link.as_ref().is_some_and(|link| link.0 == HERE);
        if here && !self.extension.is_named() {
            self.extension = ExtensionArg("softspoken3".to_owned());
        }
    }

    /// Gives the line that a plan may expect between two parties.
    pub fn line(&self) -> Link {
        Network::new(self.link.as_ref().and_then(LinkArg::profile)).link()
    }

    /// Chooses the extension for this many triples on this many threads, and says why.
    pub fn choose(&self, threads: usize, triples: u64) -> Choice {
        let here = self.link.as_ref().is_some_and(|link| link.0 == HERE);
        let link = self.link.as_ref().and_then(LinkArg::profile);
        match (self.extension.extension(), link) {
            (Some(extension), _) => Choice {
                extension,
                reason: "--extension names it".to_owned(),
            },
            (None, Some(profile)) => choose(&profile, threads, triples),
            (None, None) if here => choose(&LOOPBACK, threads, triples),
            (None, None) => Choice {
                extension: Extension::default(),
                reason: "the default, as --link does not say what the network is like".to_owned(),
            },
        }
    }
}

/// `auto` or an extension's name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExtensionArg(String);

impl Default for ExtensionArg {
    fn default() -> Self {
        Self("auto".to_owned())
    }
}

impl ExtensionArg {
    /// Whether a flag names the extension, so that it is not left to the plan.
    pub fn is_named(&self) -> bool {
        self.extension().is_some()
    }

    fn extension(&self) -> Option<Extension> {
        self.0.parse().ok()
    }
}

impl FromStr for ExtensionArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text != "auto" {
            text.parse::<Extension>()
                .map_err(|error| error.to_string())?;
        }
        Ok(Self(text.to_owned()))
    }
}

/// A network's profile, as it was written, or `local` or `none`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkArg(String);

impl LinkArg {
    fn profile(&self) -> Option<Profile> {
        // `none` is no profile, and `local` none of those that are shaped.
        Network::parse(&self.0).ok()?.profile
    }
}

impl FromStr for LinkArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text != "none" && text != HERE {
            Profile::parse(text).map_err(|error| {
                format!(
                    "{error}; `{HERE}` stands for one machine, `none` for a network that is not known"
                )
            })?;
        }
        Ok(Self(text.to_owned()))
    }
}
