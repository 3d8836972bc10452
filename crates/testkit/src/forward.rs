//! Whoever stands between the parties, and has no key: connections that are passed on, bytes as they come.

use std::io;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

/// Passes every connection that comes to `from` on to the address `to`, for as long as the process lives.
///
/// # Panics
/// If the system gives no second handle to a connection.
pub fn forward(from: TcpListener, to: String) {
    thread::spawn(move || {
        for near in from.incoming().flatten() {
            // Nobody may listen there yet: whoever dials is to wait, not to be turned away.
            let far = loop {
                match TcpStream::connect(&to) {
                    Ok(far) => break far,
                    Err(_) => thread::sleep(Duration::from_millis(20)),
                }
            };
            let twice = |stream: &TcpStream| stream.try_clone().expect("a second handle");
            let (back, forth) = ((twice(&far), twice(&near)), (near, far));
            for (mut from, mut to) in [back, forth] {
                thread::spawn(move || {
                    let _ = io::copy(&mut from, &mut to);
                    let _ = to.shutdown(Shutdown::Write);
                });
            }
        }
    });
}
