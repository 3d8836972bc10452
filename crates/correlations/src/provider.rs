//! Sources of correlations that this crate does not know.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use futures_util::future::LocalBoxFuture;
use madrigal_core::time::Work;
use madrigal_core::{Party, PhaseCost};
use madrigal_net::{Context, Error, Result};

use crate::kind::Kind;
use crate::maker::Maker;
use crate::needs::Needs;
use crate::shares::Strings;

/// A source of correlations of a user's own: a protocol that makes them in another way, a file from somebody
/// whom all parties trust, a device. A plan takes it by `Origin::own`.
///
/// Each party has a value of its own, with what that party alone knows: where its file lies, which device is
/// its. What [`name`](Self::name) says, all parties must have in common; what [`bill`](Self::bill) and
/// [`start`](Self::start) declare goes into plans, estimates and the costs of jobs, which counters are held
/// against. What is given out for wrong lengths ends the job with an error that names the source.
///
/// Nobody checks that correlations are right, that they are random to the other parties, or that none was given
/// out to an earlier job: that is the source's to see to, and `madrigal-opcheck` tests the first and, within one
/// job, the last of these.
pub trait Provider: fmt::Debug + Send + Sync {
    /// A stable name with version and parameters, on one line. Parties that differ in it do not compute.
    fn name(&self) -> String;

    /// Whether it has items of this kind; plans that need others are refused. [Correlated
    /// OTs](Kind::CorrelatedOts) come from oblivious transfer alone, and are not asked for.
    fn serves(&self, kind: Kind) -> bool;

    /// Gives the cost that a job which needs `needs` has for `me` of `parties` parties on [`open`](Self::open) and
    /// [`Maker::end`] together.
    fn start(&self, _me: Party, _parties: usize, _needs: &Needs) -> PhaseCost {
        PhaseCost::default()
    }

    /// Gives the cost of one call of [`Maker::make`] for a party, to the byte.
    fn bill(&self, call: &Call<'_>) -> PhaseCost;

    /// Gives the work of making `needs` beside AES blocks, for estimates of time.
    fn work(&self, _needs: &Needs) -> Work {
        Work::default()
    }

    /// Starts one party's end for a job that needs `needs`, in a step of its own.
    ///
    /// # Errors
    /// [`Error`] of the network; [`Error::Correlations`] says in words what else is wrong.
    fn open<'a>(
        &'a self,
        context: &'a Context,
        needs: &'a Needs,
    ) -> LocalBoxFuture<'a, Result<Box<dyn Maker>>>;
}

/// A call of [`Maker::make`], as one party makes it.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Call<'a> {
    /// Who calls.
    pub me: Party,
    /// Number of parties.
    pub parties: usize,
    /// Kind that is made.
    pub kind: Kind,
    /// How much of it; at least one.
    pub count: usize,
    /// Items that the same job has had made before.
    pub before: &'a Needs,
}

impl<'a> Call<'a> {
    /// Says that `me`, one of `parties` parties, has `count` items of a kind made, after `before`.
    pub fn new(me: Party, parties: usize, kind: Kind, count: usize, before: &'a Needs) -> Self {
        Self {
            me,
            parties,
            kind,
            count,
            before,
        }
    }
}

/// A [`Provider`] as an origin: equal to others of its name.
#[derive(Clone)]
pub struct Own(Arc<dyn Provider>);

impl Own {
    /// Makes an origin of a provider.
    pub fn new(provider: Arc<dyn Provider>) -> Self {
        Self(provider)
    }

    /// Starts one party's end, with what checks its deliveries.
    ///
    /// # Errors
    /// [`Error`] of [`Provider::open`].
    pub async fn open_checked(&self, context: &Context, needs: &Needs) -> Result<Box<dyn Maker>> {
        let context = context.step("own");
        let maker = match self.0.open(&context, needs).await {
            Ok(maker) => maker,
            // The others wait for us.
            Err(error) => return Err(context.fail(error)),
        };
        let name = self.0.name();
        Ok(Box::new(Checked {
            context,
            name,
            maker,
        }))
    }
}

impl Deref for Own {
    type Target = dyn Provider;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl PartialEq for Own {
    fn eq(&self, other: &Self) -> bool {
        self.0.name() == other.0.name()
    }
}

impl Eq for Own {}

impl fmt::Debug for Own {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Own({})", self.0.name())
    }
}

/// Looks at what a provider's end gives out.
struct Checked {
    context: Context,
    name: String,
    maker: Box<dyn Maker>,
}

impl Maker for Checked {
    fn make<'a>(
        &'a mut self,
        kind: Kind,
        count: usize,
        made: &'a dyn Fn(usize),
    ) -> LocalBoxFuture<'a, Result<Strings>> {
        Box::pin(async move {
            let made = self.context.metered(self.maker.make(kind, count, made));
            let strings = match made.await {
                Ok(strings) => strings,
                Err(error) => return Err(self.context.fail(error)),
            };
            let wanted = kind.strings(count);
            let got: Vec<usize> = strings.iter().map(|string| string.len()).collect();
            if got != wanted {
                let problem = format!(
                    "it gave out strings of {got:?} bytes for {count} x {kind}, which are {wanted:?}; it must be mended"
                );
                let name = self.name.clone();
                return Err(self.context.fail(Error::Correlations { name, problem }));
            }
            Ok(strings)
        })
    }

    fn end(&mut self) -> LocalBoxFuture<'_, Result<()>> {
        self.maker.end()
    }
}
