//! Addresses are read whole, or not at all.

use madrigal_websocket::Address;

#[test]
fn addresses_have_hosts_and_ports() {
    let of = |text: &str| {
        let address: Address = text.parse().unwrap();
        (
            address.host().to_owned(),
            address.port(),
            address.is_secure(),
        )
    };
    assert_eq!(
        of("ws://north.example"),
        ("north.example".into(), 80, false)
    );
    assert_eq!(
        of("wss://north.example/a/b"),
        ("north.example".into(), 443, true)
    );
    assert_eq!(
        of("ws://127.0.0.1:65535/"),
        ("127.0.0.1".into(), 65535, false)
    );
    assert_eq!(of("wss://[::1]:9/x?y=z"), ("::1".into(), 9, true));
}

#[test]
fn other_texts_are_refused() {
    for text in [
        "",
        "north.example",
        "http://north.example",
        "ws://",
        "ws:///x",
        "ws://a:b/",
        "ws://a:65536/",
        "ws://a:/",
        "ws://me@north.example/",
        "ws://a b/",
        "wss://[::1/",
    ] {
        let refused = text.parse::<Address>().unwrap_err().to_string();
        assert!(refused.contains("ws://host:port/path"), "{text}: {refused}");
    }
}
