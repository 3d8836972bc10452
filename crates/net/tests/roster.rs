//! Tests what `parties.toml` may say, and the words for what it may not.

use madrigal_net::fingerprint::Fingerprint;
use madrigal_net::roster::{Address, MAX_PARTIES, Roster, RosterProblem};
use proptest::prelude::*;

fn key(i: usize) -> String {
    Fingerprint::of_spki(&i.to_le_bytes()).to_string()
}

fn section(name: &str, address: &str, key: &str) -> String {
    format!("[[party]]\nname = \"{name}\"\naddress = \"{address}\"\nkey = \"{key}\"\n")
}

fn many(n: usize) -> String {
    (0..n)
        .map(|i| section(&format!("p{i}"), &format!("10.0.0.{}:7700", i + 1), &key(i)))
        .collect()
}

#[test]
fn rosters_come_back() {
    for n in [2, 3, MAX_PARTIES] {
        let roster = Roster::parse(&many(n)).unwrap();
        assert_eq!(roster.len(), n);
        let again = Roster::parse(&roster.to_toml()).unwrap();
        assert_eq!(again, roster);
        assert_eq!(again.digest(), roster.digest());
        assert_eq!(roster.by_name("p1"), Some(1));
        assert_eq!(roster.by_key(&key(1).parse().unwrap()), Some(1));
    }
}

#[test]
fn a_dealer_is_no_party() {
    let text =
        many(2) + &section("dora", "dora.example:1", &key(9)).replace("[[party]]", "[dealer]");
    let roster = Roster::parse(&text).unwrap();
    assert_eq!((roster.len(), roster.by_name("dora")), (2, None));
    assert_eq!(roster.dealer().unwrap().name, "dora");
    assert_eq!(Roster::parse(&roster.to_toml()).unwrap(), roster);
    let together = roster.with_dealer().unwrap();
    assert_eq!((together.len(), together.by_name("dora")), (3, Some(2)));
    assert_eq!(together.dealer(), None);
    assert_eq!(Roster::parse(&many(2)).unwrap().with_dealer(), None);
    // One party and a dealer are too few, and the dealer's name is its own.
    let one =
        many(1) + &section("dora", "dora.example:1", &key(9)).replace("[[party]]", "[dealer]");
    assert!(Roster::parse(&one).is_err());
    let twice = text
        .replace("dora.example", "other.example")
        .replace("dora", "party0");
    assert!(Roster::parse(&twice).is_err() || !text.contains("party0"));
}

#[test]
fn the_digest_tells_order_and_keys_but_not_addresses() {
    let roster = |parties: [(&str, usize); 2]| {
        let text = parties.map(|(address, i)| section(&format!("p{i}"), address, &key(i)));
        Roster::parse(&text.concat()).unwrap().digest()
    };
    let digest = roster([("a:1", 0), ("b:1", 1)]);
    assert_eq!(digest, roster([("c:9", 0), ("d:1", 1)]));
    assert_ne!(digest, roster([("b:1", 1), ("a:1", 0)]));
    assert_ne!(digest, roster([("a:1", 0), ("b:1", 2)]));
}

#[test]
fn local_rosters() {
    let party = |i: usize| {
        let address = format!("127.0.0.1:{}", 7000 + i)
            .parse::<Address>()
            .unwrap();
        (address, key(i).parse::<Fingerprint>().unwrap())
    };
    let roster = Roster::local((0..3).map(party)).unwrap();
    assert_eq!(roster.party(2).unwrap().name, "party2");
    assert!(Roster::local((0..1).map(party)).is_err());
}

#[test]
fn refusals_name_line_party_and_remedy() {
    let one = section("alice", "a.example:1", &key(0));
    let two = |name: &str, address: &str, key: &str| one.clone() + &section(name, address, key);
    let (b, k) = ("b.example:1", &key(1));
    for (text, words) in [
        (String::new(), &["0 parties, expected 2 to 64"][..]),
        (one.clone(), &["1 parties"]),
        (many(MAX_PARTIES + 1), &["65 parties"]),
        ("[[party]\n".into(), &["line 1"]),
        (
            one.clone() + "port = 5\n",
            &["line 5", "unknown field `port`", "`address`"],
        ),
        (
            "threads = 3\n".into(),
            &["line 1", "unknown field `threads`", "[[party]]"],
        ),
        (
            one.clone() + "[[party]]\nname = \"bob\"\n",
            &["line 5", "missing field `address`"],
        ),
        (
            two("bob", "b.example", k),
            &["line 7", "party 1 `bob`", "host:port"],
        ),
        (two("bob", "b.example:0", k), &["line 7", "1 to 65535"]),
        (two("bob", "b.example:65536", k), &["line 7", "1 to 65535"]),
        (two("bob", "b.example:+5", k), &["line 7", "1 to 65535"]),
        (two("bob", "b/c:5", k), &["line 7", "neither a name nor"]),
        (two("bob", ":5", k), &["line 7", "neither a name nor"]),
        (two("bob", "2001:db8::1:5", k), &["line 7", "in brackets"]),
        (
            two("bob", "[2001:db8::g]:5", k),
            &["line 7", "neither a name nor"],
        ),
        (two("bob", "0.0.0.0:5", k), &["line 7", "cannot dial"]),
        (two("bob", "[::]:5", k), &["line 7", "cannot dial"]),
        (
            two("bob", b, "sha256:12"),
            &["line 8", "party 1 `bob`", "64 hexadecimal", "printed"],
        ),
        (two("bob", b, "md5:12"), &["line 8", "`sha256:`"]),
        (two("", b, k), &["line 5", "name of party 1"]),
        (
            two("b o b", b, k),
            &["line 5", "name of party 1", "choose another"],
        ),
        (two(&"b".repeat(65), b, k), &["line 5", "1 to 64 letters"]),
        (two("alice", b, k), &["line 5", "same name as party 0"]),
        (
            two("bob", "A.Example:1", k),
            &["line 5", "same address as party 0"],
        ),
        (two("bob", b, &key(0)), &["line 5", "same key as party 0"]),
        ("party = 5".into(), &["line 1", "invalid type"]),
    ] {
        let error = Roster::parse(&text).unwrap_err().to_string();
        for word in words {
            assert!(
                error.contains(word),
                "`{word}` is missing in `{error}` for\n{text}"
            );
        }
    }
}

#[test]
fn files_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("parties.toml");
    let missing = Roster::load(&path).unwrap_err();
    assert!(matches!(missing.problem, RosterProblem::File { .. }));
    assert!(missing.to_string().contains("parties.toml"), "{missing}");
    std::fs::write(&path, "\n[[party]]\nport = 1\n").unwrap();
    let text = Roster::load(&path).unwrap_err().to_string();
    assert!(
        text.contains("parties.toml, line 3: unknown field"),
        "{text}"
    );
    std::fs::write(&path, vec![b'#'; 2 << 20]).unwrap();
    let text = Roster::load(&path).unwrap_err().to_string();
    assert!(text.contains("1 MiB"), "{text}");
}

proptest! {
    #[test]
    fn no_text_panics(text in "\\PC{0,200}") {
        let _ = Roster::parse(&text);
        let _ = text.parse::<Address>();
        let _ = text.parse::<Fingerprint>();
    }

    /// Near misses: a good file with a piece replaced.
    #[test]
    fn no_damage_panics(at in 0usize..400, cut in 0usize..60, put in "[\\[\\]\"'=\n:#.a-z0-9é]{0,8}") {
        let mut text = many(3);
        let (at, end) = (at.min(text.len()), (at + cut).min(text.len()));
        text.replace_range(at..end, &put);
        if let Ok(roster) = Roster::parse(&text) {
            prop_assert_eq!(Roster::parse(&roster.to_toml()).unwrap(), roster);
        }
    }

    #[test]
    fn addresses_come_back(ip: std::net::IpAddr, port in 1u16..) {
        if let Ok(address) = Address::try_from(std::net::SocketAddr::new(ip, port)) {
            prop_assert_eq!(address.to_string().parse::<Address>().unwrap(), address);
        }
    }
}
