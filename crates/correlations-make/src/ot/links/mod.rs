//! OTs with all peers over any extension, part by part: who sends what when, for every kind of
//! correlation.
//!
//! A kind says how its items are cut into parts, how many OTs each takes and how long corrections are
//! ([`CallLayout`](crate::ot::layout::CallLayout), of which its cost follows), and what it makes of masks ([`OtCall`]). A part goes through
//! four steps:
//!
//! 1. *Offer*: a silent sender offers OTs.
//! 2. *Ask*: the receiver sends the extension's message for its choices.
//! 3. *Answer*: the sender takes it, and sends corrections if the kind has any.
//! 4. *Correct*: the receiver takes those.
//!
//! In the first call the extensions' first messages go ahead, in both directions.
//!
//! The steps of different parts wait for each other only where one needs what the other makes: each
//! step is a loop over the parts (`loops.rs`), and as much is under way as the channels' windows allow.
//! Latency is paid once per call.

mod call;
mod loops;
mod masks;
mod peer;

use std::cell::Cell;

use futures_util::future::LocalBoxFuture;
use madrigal_net::{Context, Error, Result, breathe};

pub(crate) use self::call::{OUT_OF_STEP, OtCall};
use self::loops::Loops;
use self::masks::Space;
pub(crate) use self::masks::{Answer, Ask};
use self::peer::PeerOts;
pub(crate) use self::peer::base_of;
use crate::ot::base::{Base, Stream};
use crate::ot::extension::Extension;
use crate::ot::ledger::{call_rounds, start_rounds};

/// The extensions of one kind of correlation with all peers, in both directions. They go on from call
/// to call.
pub(crate) struct GroupOts {
    context: Context,
    extension: Extension,
    peers: Vec<PeerOts>,
    space: Space,
    /// Bytes that may be sent to a peer before anything is heard of it.
    unheard: usize,
    /// By how much longer than measured round trips have turned out to be.
    longer: Cell<usize>,
    /// Whether the first call has come.
    started: bool,
    /// A call is under way, or did not come to its end: then the parties are out of step.
    broken: bool,
}

impl GroupOts {
    /// Starts the extensions. Local, but work: between peers it lets others run.
    ///
    /// Until all peers have answered, no more than about `unheard` bytes are sent to each: one that is
    /// late has to keep them.
    pub(crate) async fn new(
        context: &Context,
        base: &Base,
        extension: Extension,
        stream: Stream,
        unheard: usize,
    ) -> Result<Self> {
        let context = context.step(stream.group.name());
        let mut peers = Vec::with_capacity(base.peers().len());
        for base in base.peers() {
            peers.push(PeerOts::new(&context, base, extension, stream)?);
            breathe().await;
        }
        Ok(Self {
            peers,
            extension,
            space: Space::new(),
            unheard,
            longer: Cell::new(1),
            started: false,
            broken: false,
            context,
        })
    }

    /// Makes all items of a call. `made` hears how many more are done.
    ///
    /// Boxed, and so compiled once: an `async fn` would be compiled again for every kind, ring and
    /// program that makes correlations.
    pub(crate) fn run<'a>(
        &'a mut self,
        call: &'a mut (dyn OtCall + 'a),
        made: &'a dyn Fn(usize),
    ) -> LocalBoxFuture<'a, Result<()>> {
        Box::pin(self.all(call, made))
    }

    async fn all(&mut self, call: &mut (dyn OtCall + '_), made: &dyn Fn(usize)) -> Result<()> {
        if std::mem::replace(&mut self.broken, true) {
            return Err(Error::Ended {
                reason: OUT_OF_STEP.into(),
            });
        }
        let layout = call.layout();
        if layout.parts().len() > 0 {
            let begins = !std::mem::replace(&mut self.started, true);
            let (before, start) = (self.context.beside(), self.context.beside());
            if begins {
                self.begin(&start).await?;
            }
            let unheard = begins.then_some(self.unheard);
            let work = Loops::new(
                &self.context,
                start,
                self.extension,
                call,
                (&mut self.space, &self.longer),
                made,
            );
            work.run(&mut self.peers, unheard).await?;
            // Not everybody has a message in each round, but a call ends in the same one for all: what comes
            // after it is declared from there on.
            let parties = self.context.parties();
            let mut rounds = call_rounds(self.extension, parties, &*layout, &layout.alike());
            if begins {
                rounds += start_rounds(self.extension);
            }
            self.context.advance(&before, rounds as u32);
        }
        self.broken = false;
        Ok(())
    }

    /// Sends each peer the first message of the OTs that we receive. A silent sender needs the peers'
    /// before it can offer anything; others take them with the first part.
    async fn begin(&mut self, start: &Context) -> Result<()> {
        for link in &mut self.peers {
            if let Some(setup) = link.setup.take_if(|setup| !setup.is_empty()) {
                link.extension.count_in(start);
                link.extension.send(setup).await?;
            }
        }
        if self.extension.is_silent() {
            // All were sent before any came, as far as rounds are concerned.
            let heard = start.beside();
            for link in &mut self.peers {
                let (sender, (_, _, mut answering, _)) = link.steps();
                answering.extension.count_in(&heard);
                answering.hear(sender, self.extension).await?;
                breathe().await;
            }
            start.join(&heard);
        }
        Ok(())
    }
}
