//! `dealer`: serves the jobs of the parties of one parties.toml, session after session.

use std::io::Write as _;
use std::time::Duration;

use madrigal_engine::serve;

use crate::args::{Dealer, Who};
use crate::exit::{Failure, Result};
use crate::remote::RemoteParty;
use madrigal_app::stop;

/// Between two tries to meet the parties, at first and at most. Parties that are started anew wait
/// longer than that for their dealer.
const PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

pub fn run(args: Dealer) -> Result<()> {
    let who = Who {
        local: None,
        party: None,
        roster: Some(args.roster),
        identity: args.identity,
        key: args.key,
        listen: args.listen,
    };
    let mut pause = PAUSE;
    let mut told = String::new();
    loop {
        let dealer = RemoteParty::dealer(&who, &args.net)?.with_quiet(args.quiet);
        let deadline = args.net.patience.deadline;
        let done = dealer.in_session(async |session| Ok(serve(session, deadline).await?));
        // Between two sessions a signal ends the process at once.
        if done.is_err() && stop::told().is_some() {
            return done.map(drop);
        }
        let served = done.is_ok();
        let news = match done {
            Ok(jobs) => format!("jobs served: {jobs}"),
            Err(failure) if args.once => return Err(failure),
            // A dealer whose parties have not come yet waits on.
            Err(Failure::Connect(error)) if is_nobody(&error) => String::new(),
            Err(failure) => failure.to_string(),
        };
        // A party's fault lasts until somebody acts: it is told once.
        if !args.quiet && !news.is_empty() && (served || news != told) {
            let _ = writeln!(crate::terminal::stderr(), "madrigal: {news}");
            told = news;
        }
        if args.once {
            return Ok(());
        }
        if served {
            pause = PAUSE;
        } else {
            std::thread::sleep(pause);
            pause = (2 * pause).min(LONGEST_PAUSE);
        }
    }
}

fn is_nobody(error: &madrigal_net::transport::ConnectError) -> bool {
    use madrigal_net::transport::ConnectError;
    matches!(
        error,
        ConnectError::Missing { refused, .. } if refused.is_empty()
    ) || matches!(error, ConnectError::Unreachable { .. })
}
