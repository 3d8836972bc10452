//! The tests of this crate, in one executable: linking many takes longer than running them.

mod by_hand;
mod cards;
mod closing;
mod connections;
mod exchange;
mod faults;
mod greeting;
mod hostile;
mod identity;
mod meet;
mod memory;
mod messages;
mod metering;
mod races;
mod roster;
mod sealing;
mod shaping;
mod shared_port;
mod splices;
mod threads;
mod tls;
mod tls_clients;
mod wire;

// The examples are tested too.
#[allow(dead_code, reason = "a program, of which the tests use a part")]
#[path = "../examples/pigeon.rs"]
mod pigeon;
