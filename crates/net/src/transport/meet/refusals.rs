//! Those who were turned away: what is told of them at once, and at the end.

use std::collections::HashSet;
use std::mem::{Discriminant, discriminant};
use std::net::IpAddr;

use super::error::ConnectError;
use crate::tls::TlsError;

/// Number of refusals that are told as they happen.
const TOLD: usize = 8;
/// Number of refusals that are kept for the end.
const KEPT: usize = 3;

#[derive(Default)]
pub(super) struct Refusals {
    known: HashSet<(IpAddr, RefusalKind)>,
    /// Refusals that tell most, of each kind and place the first.
    kept: Vec<ConnectError>,
}

/// Kind of a refusal, without its particulars.
type RefusalKind = (Discriminant<ConnectError>, Option<Discriminant<TlsError>>);

impl Refusals {
    /// Notes one more. A refusal that is to be told is told to `tell`, and whether it is the last.
    pub(super) fn note(
        &mut self,
        from: IpAddr,
        error: ConnectError,
        tell: impl FnOnce(&ConnectError, bool),
    ) {
        let tls = match &error {
            ConnectError::Tls(error) => Some(discriminant(error)),
            _ => None,
        };
        let place = (from, (discriminant(&error), tls));
        if self.known.contains(&place) {
            return;
        }
        if self.known.len() < TOLD {
            self.known.insert(place);
            tell(&error, self.known.len() == TOLD);
        }
        // Behind those that tell as much: who comes often does not push out who came before.
        let telling = error.telling();
        let at = self.kept.partition_point(|kept| kept.telling() >= telling);
        self.kept.insert(at, error);
        self.kept.truncate(KEPT);
    }

    /// Gives the refusals that tell most, for the end of the wait.
    pub(super) fn most_telling(self) -> Vec<ConnectError> {
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stranger(address: &str, got: &str) -> ConnectError {
        let (address, got) = (address.to_owned(), got.to_owned());
        ConnectError::Foreign { address, got }
    }

    fn outsider() -> ConnectError {
        ConnectError::Outsider {
            address: "192.0.2.9:1".into(),
            index: 3,
            parties: 2,
        }
    }

    /// However many come, a few are told and kept, and what tells most is among them.
    #[test]
    fn a_crowd_of_strangers_is_told_a_few_times() {
        let mut refusals = Refusals::default();
        let (mut told, mut lasts) = (0, 0);
        for turn in 0..1000_u32 {
            let from = IpAddr::from((turn % 500).to_be_bytes());
            let error = match turn {
                700 => outsider(),
                _ => stranger("192.0.2.1:5", "nothing"),
            };
            refusals.note(from, error, |_, last| {
                told += 1;
                lasts += u32::from(last);
            });
        }
        assert_eq!((told, lasts), (TOLD, 1));
        assert!(refusals.known.len() <= TOLD && refusals.kept.len() <= KEPT);
        let kept = refusals.most_telling();
        assert!(matches!(kept[0], ConnectError::Outsider { .. }));
        assert_eq!(kept.len(), KEPT);
    }
}
