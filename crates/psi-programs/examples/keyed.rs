//! Times of digests that are encrypted under a shared key on this machine, all parties in one process, one thread each: `cargo run --release -p
//! madrigal-psi-programs --example keyed [R or B] [PARTIES] [DIGESTS of each]`.
#![allow(clippy::print_stdout, reason = "printing is what it is for")]

use std::error::Error;
use std::thread;
use std::time::Instant;

use madrigal_core::{Party, Zeroizing};
use madrigal_kernels::{Block, Prg};
use madrigal_net::transport::mesh;
use madrigal_net::{Session, SessionConfig, block_on};
use madrigal_operations::Backend;
use madrigal_psi_programs::{Keyed, KeyedPlan, OwnPart};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let protocol = args.next().unwrap_or_else(|| "R".to_owned());
    let protocol = Backend::named(&protocol).ok_or("no such protocol")?;
    let parties: usize = args.next().map_or(Ok(3), |word| word.parse())?;
    let digests: usize = args.next().map_or(Ok(100_000), |word| word.parse())?;
    let plan = KeyedPlan::new(&Keyed::new(protocol, vec![digests; parties]))?;
    let mut all = vec![Block::ZERO; digests];
    Prg::new(Block::new(1, digests as u64)).fill_blocks(&mut all);
    let begun = Instant::now();
    thread::scope(|scope| {
        for (me, transport) in Party::all(parties).zip(mesh(parties)) {
            let (plan, digests) = (&plan, &all);
            scope.spawn(move || {
                let done = block_on(async {
                    let session = Session::new(SessionConfig::new(me, parties), transport);
                    session.greet().await?;
                    let key = Zeroizing::new(Block::new(me.index() as u64, 1));
                    let own = OwnPart { key, digests };
                    let tags = plan.run(&session, 1, own, None, &|_| ()).await?;
                    session.close().await;
                    Ok::<_, madrigal_engine::RunError>(tags)
                });
                match done {
                    Ok(tags) if tags.of.windows(2).all(|two| *two[0] == *two[1]) => {}
                    Ok(_) => println!("{me}: equal digests have other tags"),
                    Err(error) => println!("{me}: {error}"),
                }
            });
        }
    });
    let seconds = begun.elapsed().as_secs_f64();
    let cost = plan.cost(Party::new(0));
    let bytes = cost.setup.bytes_sent + cost.online.bytes_sent;
    let all = (parties * digests) as f64;
    println!(
        "{} of {parties} parties, {digests} digests each: {seconds:.2} s, {:.0} digests/s, {:.1} bytes of a party for each digest",
        protocol.name,
        all / seconds,
        bytes as f64 / all
    );
    Ok(())
}
