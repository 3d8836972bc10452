//! Key and certificate files: what is written, what is refused, and with what words.
#![allow(
    clippy::unwrap_used,
    reason = "test helpers; a failed unwrap is a failed test"
)]

use std::fs;
use std::time::{Duration, SystemTime};

use madrigal_net::fingerprint::{Fingerprint, FingerprintError};
use madrigal_net::identity::{
    DEFAULT_VALIDITY_DAYS, Identity, IdentityError, IdentityFiles, Validity,
};

fn year() -> Validity {
    Validity::days(DEFAULT_VALIDITY_DAYS).unwrap()
}

fn saved() -> (tempfile::TempDir, IdentityFiles, Identity) {
    let directory = tempfile::tempdir().unwrap();
    let files = IdentityFiles::in_directory(directory.path(), "alice");
    let identity = Identity::generate(year()).unwrap();
    identity.save(&files).unwrap();
    (directory, files, identity)
}

#[test]
fn files_come_back() {
    let (_directory, files, identity) = saved();
    let loaded = Identity::load(&files).unwrap();
    assert_eq!(loaded.fingerprint(), identity.fingerprint());
    assert_eq!(loaded.validity(), identity.validity());
    assert_eq!(loaded.certificate(), identity.certificate());
}

#[test]
fn validity_survives_the_certificate() {
    let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    let directory = tempfile::tempdir().unwrap();
    // 2049 and 2050 are written differently (RFC 5280, section 4.1.2.5); the last is year 9999.
    for (i, (from, to)) in [
        (0, 1),
        (1, 2_524_607_999),
        (5, 2_524_608_000),
        (7, 253_402_300_799),
    ]
    .into_iter()
    .enumerate()
    {
        let validity = Validity::new(at(from), at(to)).unwrap();
        let files = IdentityFiles::in_directory(directory.path(), &i.to_string());
        Identity::generate(validity).unwrap().save(&files).unwrap();
        assert_eq!(Identity::load(&files).unwrap().validity(), validity);
    }
    for (from, to) in [(5, 5), (6, 5), (0, 253_402_300_800)] {
        assert!(Validity::new(at(from), at(to)).is_err());
    }
    assert!(Validity::days(0).is_err());
    assert!(Validity::days(u32::MAX).is_err());
}

#[test]
fn renewal_keeps_the_key() {
    let (_directory, files, identity) = saved();
    fs::remove_file(&files.certificate).unwrap();
    let missing = Identity::load(&files).unwrap_err();
    assert!(
        matches!(missing, IdentityError::Missing { .. }),
        "{missing}"
    );
    let renewed = Identity::renew_from_key(&files.key, Validity::days(30).unwrap()).unwrap();
    assert_eq!(renewed.fingerprint(), identity.fingerprint());
    assert_ne!(renewed.certificate(), identity.certificate());
    renewed.save_certificate(&files.certificate).unwrap();
    let again = Identity::load(&files).unwrap();
    assert_eq!(again.fingerprint(), identity.fingerprint());
    assert_eq!(
        again.renew(year()).unwrap().fingerprint(),
        identity.fingerprint()
    );
}

#[test]
fn keys_are_not_overwritten() {
    let (_directory, files, identity) = saved();
    let other = Identity::generate(year()).unwrap();
    let error = other.save(&files).unwrap_err();
    assert!(matches!(error, IdentityError::KeyExists { .. }));
    assert!(error.to_string().contains("renew"), "{error}");
    assert_eq!(
        Identity::load(&files).unwrap().fingerprint(),
        identity.fingerprint()
    );
}

#[cfg(unix)]
#[test]
fn keys_open_to_others_are_refused() {
    use std::os::unix::fs::PermissionsExt;
    let (_directory, files, _) = saved();
    let mode = fs::metadata(&files.key).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    for mode in [0o640, 0o604, 0o620, 0o777] {
        fs::set_permissions(&files.key, fs::Permissions::from_mode(mode)).unwrap();
        let error = Identity::load(&files).unwrap_err();
        assert!(matches!(error, IdentityError::KeyReadable { mode: m, .. } if m == mode));
        let remedy = format!("chmod 600 {}", files.key.display());
        assert!(error.to_string().contains(&remedy), "{error}");
    }
    fs::set_permissions(&files.key, fs::Permissions::from_mode(0o400)).unwrap();
    Identity::load(&files).unwrap();
}

#[test]
fn damaged_files_are_refused() {
    let (_directory, files, _) = saved();
    let certificate = fs::read(&files.certificate).unwrap();
    // A bit anywhere in the certificate: the text, the structure, or the signature.
    for i in (0..certificate.len()).step_by(3) {
        let mut damaged = certificate.clone();
        damaged[i] ^= 1;
        fs::write(&files.certificate, &damaged).unwrap();
        if let Ok(identity) = Identity::load(&files) {
            // Base64 in its last digit, or the text around it, may have bits that mean nothing.
            let whole = identity.certificate_pem();
            assert_eq!(whole.as_bytes(), certificate, "bit {i}");
        }
    }
    for text in [
        "",
        "no PEM",
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    ] {
        fs::write(&files.certificate, text).unwrap();
        let error = Identity::load(&files).unwrap_err();
        assert!(
            matches!(error, IdentityError::DamagedCertificate { .. }),
            "{error}"
        );
    }
    fs::write(&files.certificate, vec![b'x'; 70_000]).unwrap();
    assert!(matches!(
        Identity::load(&files).unwrap_err(),
        IdentityError::TooLarge { .. }
    ));
    // Writing keeps the mode of the existing file.
    for text in [
        "",
        "-----BEGIN PRIVATE KEY-----\nMC4CAQAw\n-----END PRIVATE KEY-----\n",
    ] {
        fs::write(&files.key, text).unwrap();
        let error = Identity::load(&files).unwrap_err();
        assert!(matches!(error, IdentityError::DamagedKey { .. }), "{error}");
    }
}

#[test]
fn a_certificate_for_another_key_is_refused() {
    let (_directory, files, identity) = saved();
    let other = Identity::generate(year()).unwrap();
    other.save_certificate(&files.certificate).unwrap();
    let error = Identity::load(&files).unwrap_err();
    assert!(
        matches!(error, IdentityError::Mismatch { key, certificate, .. }
        if key == identity.fingerprint() && certificate == other.fingerprint())
    );
}

#[test]
fn debug_shows_no_key() {
    let (_directory, files, identity) = saved();
    let text = format!("{identity:?}");
    let pem = fs::read_to_string(&files.key).unwrap();
    let secret = pem.lines().nth(1).unwrap();
    assert!(
        !text.contains(&secret[22..40]) && text.contains("sha256:") && text.ends_with(".. }"),
        "{text}"
    );
}

#[test]
fn fingerprints() {
    let key = Fingerprint::of_spki(b"");
    let text = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert_eq!(key.to_string(), text);
    assert_eq!(text.parse(), Ok(key));
    assert_eq!(text.to_uppercase().replace("SHA", "sha").parse(), Ok(key));
    for (text, error) in [
        ("", FingerprintError::Prefix),
        ("SHA256:00", FingerprintError::Prefix),
        ("sha256:", FingerprintError::Length { got: 0 }),
        ("sha256:é", FingerprintError::Length { got: 1 }),
        (
            &format!("sha256:{}", "é".repeat(32)),
            FingerprintError::Digit,
        ),
        (
            &format!("sha256:{}g", "0".repeat(63)),
            FingerprintError::Digit,
        ),
    ] {
        assert_eq!(text.parse::<Fingerprint>(), Err(error), "{text}");
    }
}
