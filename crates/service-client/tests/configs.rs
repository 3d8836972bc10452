//! `service-client.toml`.

use std::fs;
use std::path::Path;

use madrigal_net::identity::{Identity, IdentityFiles, Validity};
use madrigal_service_client::{ConfigError, ServiceConfig};

const KEYS: [&str; 2] = [
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "sha256:60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752",
];

fn text(more: &str) -> String {
    let server = |(i, key): (usize, &&str)| {
        format!(
            "[[servers]]\nname = \"s{i}\"\naddress = \"s{i}.example.org:7700\"\nkey = \"{key}\"\n"
        )
    };
    let servers: String = KEYS.iter().enumerate().map(server).collect();
    format!("{more}\n{servers}")
}

#[test]
fn a_configuration_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let identity = Identity::generate(Validity::days(1).unwrap()).unwrap();
    identity
        .save(&IdentityFiles::in_directory(folder.path(), "me"))
        .unwrap();
    let token = folder.path().join("token");
    fs::write(&token, "sesame\n").unwrap();
    let more = "identity = \"me\"\ntoken-file = \"token\"\nclient = \"carol\"";
    let path = folder.path().join("service-client.toml");
    fs::write(&path, text(more)).unwrap();
    #[cfg(unix)]
    {
        let error = ServiceConfig::load(&path).unwrap_err();
        assert!(
            matches!(error, ConfigError::TokenReadable { .. }),
            "{error}"
        );
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        fs::set_permissions(&token, mode).unwrap();
    }
    let config = ServiceConfig::load(&path).unwrap();
    assert_eq!(config.servers.parties()[1].name, "s1");
    assert_eq!(
        config.identity.as_ref().unwrap().fingerprint(),
        identity.fingerprint()
    );
    assert_eq!(config.token.as_ref().unwrap().as_slice(), b"sesame");
    assert_eq!(config.client.as_deref(), Some("carol"));
    assert!(!format!("{config:?}").contains("sesame"));
    fs::write(&token, "\n").unwrap();
    assert!(matches!(
        ServiceConfig::load(&path),
        Err(ConfigError::Token { .. })
    ));
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    let read = |text: &str| ServiceConfig::parse(text, Path::new("")).unwrap_err();
    let good = text("");
    let line = |error: &ConfigError| error.to_string().contains("line ");
    let wrong = [
        good.replace("s1.example.org:7700", "s1.example.org"),
        good.replace("sha256:60", "sha256:6"),
        good.replace("name = \"s1\"", "nane = \"s1\""),
        text("colour = 1"),
    ];
    for text in &wrong {
        let error = read(text);
        assert!(line(&error), "{error}");
    }
    assert!(matches!(
        read(&good.replace("\"s1\"", "\"s0\"")),
        ConfigError::Servers(_)
    ));
    assert!(matches!(
        read(&text("client = \"a b\"")),
        ConfigError::Client
    ));
    assert!(matches!(
        read(&text("identity = \"nobody\"")),
        ConfigError::Identity(_)
    ));
    assert!(matches!(
        read(&text("token-file = \"nobody\"")),
        ConfigError::File { .. }
    ));
    let missing = ServiceConfig::load(Path::new("/nowhere/service-client.toml"));
    assert!(matches!(missing, Err(ConfigError::File { .. })));
}
