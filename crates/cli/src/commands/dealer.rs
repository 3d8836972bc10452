//! `dealer`: serves the jobs of the parties of one parties.toml, session after session.

use std::io::Write as _;

use madrigal_engine::serve;

use crate::args::{Dealer, Who};
use crate::exit::{Failure, Result};
use crate::remote::RemoteParty;

pub fn run(args: Dealer) -> Result<()> {
    let who = Who {
        local: None,
        party: None,
        roster: Some(args.roster),
        identity: args.identity,
        listen: args.listen,
    };
    loop {
        let dealer = RemoteParty::dealer(&who, &args.net)?;
        let deadline = args.net.patience.deadline;
        let served = dealer.in_session(async |session| Ok(serve(session, deadline).await?));
        let news = match served {
            Ok(jobs) => format!("jobs served: {jobs}"),
            Err(failure) if args.once => return Err(failure),
            // A dealer whose parties have not come yet waits on.
            Err(Failure::Connect(error)) if is_nobody(&error) => continue,
            Err(failure) => failure.to_string(),
        };
        if !args.quiet {
            let _ = writeln!(std::io::stderr(), "madrigal: {news}");
        }
        if args.once {
            return Ok(());
        }
    }
}

fn is_nobody(error: &madrigal_net::transport::ConnectError) -> bool {
    use madrigal_net::transport::ConnectError;
    matches!(
        error,
        ConnectError::Missing { refused: None, .. } | ConnectError::Unreachable { .. }
    )
}
