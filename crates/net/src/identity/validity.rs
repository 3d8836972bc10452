//! Validity periods, and reading them back from a certificate.

use std::fmt;
use std::time::{Duration, SystemTime};

use rustls::client::verify_server_cert_signed_by_trust_anchor;
use rustls::crypto::aws_lc_rs::default_provider;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, RootCertStore};
use time::OffsetDateTime;

use super::error::IdentityError;
use crate::fingerprint::Fingerprint;

/// Days that a certificate lasts unless the user says otherwise.
pub const DEFAULT_VALIDITY_DAYS: u32 = 365;

/// Certificates begin this much early, so that a party whose clock is behind accepts one that was
/// made a moment ago.
const CLOCK_SKEW: Duration = Duration::from_secs(3600);

/// Time before the end of a certificate at which its owner hears of it.
const SOON: Duration = Duration::from_secs(30 * 86_400);

/// 9999-12-31 23:59:59 UTC, the last second that X.509 can say (RFC 5280, section 4.1.2.5).
const LAST_SECOND: u64 = 253_402_300_799;

/// The period in which a certificate is accepted, both ends included, in seconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Validity {
    not_before: u64,
    not_after: u64,
}

impl Validity {
    /// All of time, where there is no certificate.
    pub(crate) const ALWAYS: Self = Self {
        not_before: 0,
        not_after: LAST_SECOND,
    };

    /// Makes the period from one point in time to another; fractions of a second are dropped.
    ///
    /// # Errors
    /// [`IdentityError`]: the end does not follow the beginning, or lies beyond the year 9999. Times before
    /// 1970 count as 1970.
    pub fn new(not_before: SystemTime, not_after: SystemTime) -> Result<Self, IdentityError> {
        let seconds = |at: SystemTime| {
            at.duration_since(SystemTime::UNIX_EPOCH)
                .map_or(0, |since| since.as_secs())
        };
        Self::from_seconds(seconds(not_before), seconds(not_after))
    }

    /// Makes the period from now (an hour ago, for clocks that differ) and for `days` days.
    ///
    /// # Errors
    /// [`IdentityError`]: `days` is 0 or leads beyond the year 9999.
    pub fn days(days: u32) -> Result<Self, IdentityError> {
        let now = UnixTime::now().as_secs();
        let not_after = now.saturating_add(u64::from(days) * 86_400);
        if days == 0 {
            return Err(IdentityError::Validity {
                from: now,
                to: not_after,
            });
        }
        Self::from_seconds(now.saturating_sub(CLOCK_SKEW.as_secs()), not_after)
    }

    fn from_seconds(not_before: u64, not_after: u64) -> Result<Self, IdentityError> {
        if not_before >= not_after || not_after > LAST_SECOND {
            return Err(IdentityError::Validity {
                from: not_before,
                to: not_after,
            });
        }
        Ok(Self {
            not_before,
            not_after,
        })
    }

    /// The first second.
    pub fn not_before(&self) -> UnixTime {
        UnixTime::since_unix_epoch(Duration::from_secs(self.not_before))
    }

    /// The last second.
    pub fn not_after(&self) -> UnixTime {
        UnixTime::since_unix_epoch(Duration::from_secs(self.not_after))
    }

    /// Whether `now` lies in the period.
    pub fn contains(&self, now: UnixTime) -> bool {
        (self.not_before..=self.not_after).contains(&now.as_secs())
    }

    /// Says that it is time to renew: at most 30 days of the period are left, and at most a third of it.
    pub fn ends_soon(&self, now: UnixTime) -> bool {
        let left = self.not_after.saturating_sub(now.as_secs());
        left <= SOON.as_secs().min((self.not_after - self.not_before) / 3)
    }

    /// Both ends as the certificate's writer wants them.
    pub(super) fn to_dates(self) -> (OffsetDateTime, OffsetDateTime) {
        let date = |seconds: u64| {
            OffsetDateTime::UNIX_EPOCH + time::Duration::seconds(seconds.min(LAST_SECOND) as i64)
        };
        (date(self.not_before), date(self.not_after))
    }
}

impl fmt::Display for Validity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}", utc(self.not_before()), utc(self.not_after()))
    }
}

/// A point in time for people, to the minute.
pub(crate) fn utc(at: UnixTime) -> String {
    let Ok(at) = OffsetDateTime::from_unix_timestamp(at.as_secs().min(LAST_SECOND) as i64) else {
        return "an unknown time".into();
    };
    format!(
        "{:04}-{:02}-{:02} {:02}:{:02} UTC",
        at.year(),
        u8::from(at.month()),
        at.day(),
        at.hour(),
        at.minute()
    )
}

/// The key that a certificate names, not yet checked against anything.
pub(crate) fn certified_fingerprint(
    certificate: &CertificateDer<'_>,
) -> Result<Fingerprint, rustls::Error> {
    let parsed = ParsedCertificate::try_from(certificate)?;
    Ok(Fingerprint::of_spki(
        parsed.subject_public_key_info().as_ref(),
    ))
}

/// Checks that a certificate is self-signed and valid at `now`.
///
/// The certificate is its own trust anchor, so this says nothing about whose it is: compare the
/// key's fingerprint first.
pub(crate) fn check_self_signed(
    certificate: &CertificateDer<'_>,
    now: UnixTime,
) -> Result<(), rustls::Error> {
    let parsed = ParsedCertificate::try_from(certificate)?;
    let mut anchor = RootCertStore::empty();
    anchor.add(certificate.clone().into_owned())?;
    verify_server_cert_signed_by_trust_anchor(
        &parsed,
        &anchor,
        &[],
        now,
        default_provider().signature_verification_algorithms.all,
    )
}

/// Key and validity period of a certificate.
///
/// The verifier tells the dates of a certificate only in its refusals, so it is asked at both ends
/// of time; this spares a second X.509 reader.
pub(crate) fn inspect(
    certificate: &CertificateDer<'_>,
) -> Result<(Fingerprint, Validity), rustls::Error> {
    let fingerprint = certified_fingerprint(certificate)?;
    let at = |seconds| {
        let at = UnixTime::since_unix_epoch(Duration::from_secs(seconds));
        check_self_signed(certificate, at)
    };
    let not_after = match at(LAST_SECOND + 1) {
        Err(rustls::Error::InvalidCertificate(CertificateError::ExpiredContext {
            not_after,
            ..
        })) => not_after.as_secs(),
        Err(error) => return Err(error),
        Ok(()) => LAST_SECOND,
    };
    let not_before = match at(0) {
        Err(rustls::Error::InvalidCertificate(CertificateError::NotValidYetContext {
            not_before,
            ..
        })) => not_before.as_secs(),
        Err(error) => return Err(error),
        Ok(()) => 0,
    };
    // The two refusals came before the signature was looked at.
    at(not_before)?;
    Ok((
        fingerprint,
        Validity {
            not_before,
            not_after,
        },
    ))
}
