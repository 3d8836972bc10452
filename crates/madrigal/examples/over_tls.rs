//! Two parties learn which of them is richer, each on a thread with a tokio runtime of its own, over TCP under
//! TLS with pinned keys.
//!
//! In earnest each party is a program on its own machine, loads its key and the list of parties from
//! files (`Identity::load` and `Roster::load`; `madrigal keygen` makes them), and listens at the
//! address that the list has for it.
//!
//! `cargo run --release -p madrigal --example over_tls`
#![allow(clippy::print_stdout, reason = "an example shows what it did")]

use std::error::Error;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use madrigal::circuit::{Limits, Netlist, values};
use madrigal::net::identity::{DEFAULT_VALIDITY_DAYS, Identity, Validity};
use madrigal::net::roster::{Roster, RosterEntry};
use madrigal::net::tls::TlsParty;
use madrigal::net::transport::{ConnectConfig, Security, connect};
use madrigal::net::{Session, SessionConfig};
use madrigal::{Circuit, CircuitJob, Party, Phase, Plan};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Is the first number, of 8 bits and signed, greater than the second?
const GREATER: &[u8] = include_bytes!("../../circuit/tests/data/int_gt8_size.bristol");

const NAMES: [&str; 2] = ["alice", "bob"];
/// A line for each lane: hexadecimal numbers.
const FORTUNES: [&str; 2] = ["2a\n07\nff\n", "29\n08\n00\n"];

/// Does one party's part.
async fn party(
    me: Party,
    identity: &Identity,
    roster: Arc<Roster>,
    listener: TcpListener,
    (job, plan): (&CircuitJob, &Plan),
) -> Result<Vec<u8>> {
    let addresses: Vec<String> = roster
        .parties()
        .iter()
        .map(|entry| entry.address.to_string())
        .collect();
    let security = Security::Tls(TlsParty::new(identity, Arc::clone(&roster))?);
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let config = ConnectConfig {
        patience: Duration::from_secs(10),
        ..ConnectConfig::new(me, &addresses, &security)
    };
    let transport = connect(config, listener).await?;

    let session = Session::new(SessionConfig::new(me, roster.len()), transport);
    session.greet().await?;
    let name = roster.party(me.index()).map_or("?", |entry| &entry.name);
    // The widths of the values that this party owns, as the plan has them.
    let widths = [job.circuit.inputs()[me.index()]];
    let inputs = values::read(
        name,
        FORTUNES[me.index()].as_bytes(),
        &widths,
        &Default::default(),
    )?;
    let report = madrigal::run_rows(&session, 1, plan, inputs, None, &|_| {}).await?;
    session.close().await;

    // The plan has declared what was spent, to the byte.
    let declared = plan.cost(me);
    assert_eq!(declared.online, report.online.spent);
    assert_eq!(*declared.phase(Phase::Setup), report.setup.spent);
    let outputs = report.outputs.ok_or("all parties get the output")?;
    Ok(values::write(&outputs, job.circuit.outputs())?)
}

/// Both parties: what each has got.
fn both() -> Result<Vec<Vec<u8>>> {
    let netlist = Netlist::read("greater", GREATER, &Limits::default())?;
    let job = CircuitJob {
        lanes: 3,
        ..CircuitJob::new(Arc::new(Circuit::new(&netlist)), NAMES.len())
    };
    let plan = Plan::new(job.spec()?)?;
    let (mut machines, mut entries) = (Vec::new(), Vec::new());
    for name in NAMES {
        let identity = Identity::generate(Validity::days(DEFAULT_VALIDITY_DAYS)?)?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        entries.push(RosterEntry {
            name: name.into(),
            address: listener.local_addr()?.to_string().parse()?,
            key: identity.fingerprint(),
            sealing: None,
        });
        machines.push((identity, listener));
    }
    let roster = Arc::new(Roster::new(entries)?);
    thread::scope(|scope| {
        let parties: Vec<_> = Party::all(NAMES.len())
            .zip(machines)
            .map(|(me, (identity, listener))| {
                let (roster, planned) = (Arc::clone(&roster), (&job, &plan));
                // The future stays on this thread, as it must: it is not `Send`.
                scope.spawn(move || {
                    tokio::runtime::Builder::new_current_thread()
                        .enable_all()
                        .build()?
                        .block_on(party(me, &identity, roster, listener, planned))
                })
            })
            .collect();
        let joined = parties.into_iter().map(thread::ScopedJoinHandle::join);
        joined
            .map(|done| done.map_err(|_| "a party panicked")?)
            .collect()
    })
}

fn main() -> Result<()> {
    for (name, output) in NAMES.iter().zip(both()?) {
        println!("{name} gets {:?}", String::from_utf8(output)?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_get_the_answer() {
        let answers = both().expect("both parties succeed");
        assert_eq!(answers, [b"01\n00\n00\n"; 2]);
    }
}
