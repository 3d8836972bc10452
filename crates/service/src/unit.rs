//! Unit of correlations that a kind keeps ready: how much of which, its bytes on disk, and the time to make it.

use madrigal_app::over::Over;
use madrigal_app::ways::{AGREED, MatricesArg, Ways};
use madrigal_core::Party;
use madrigal_correlations::Needs;
use madrigal_engine::StoreSpec;
use madrigal_program::Planned;

use crate::config::AheadConfig;

/// Correlations of one job, as a kind keeps them ready.
#[derive(Debug, Clone)]
pub struct AheadUnit {
    /// Number of jobs for which there are to be some, and their size.
    pub config: AheadConfig,
    /// Correlations that a job uses up.
    pub needs: Needs,
    /// Bytes that a unit takes on each server's disk, but for what seals it.
    pub bytes: u64,
    /// Time that making one is expected to take between machines side by side, in seconds.
    pub seconds: f64,
}

impl AheadUnit {
    /// A unit for jobs of this plan.
    ///
    /// # Errors
    /// Reason for which there is nothing to keep, in words.
    pub fn of(config: AheadConfig, planned: &Planned) -> Result<Self, String> {
        let needs = planned.plan.needs();
        if needs.is_empty() {
            return Err(format!(
                "a job in {} uses no correlations up: leave `ahead` out",
                planned.mix
            ));
        }
        let spec = spec(planned);
        let parties = planned.plan.spec().graph.parties();
        let line = planned.plan.spec().line;
        let seconds = |me| spec.time(me, parties, &AGREED, &line).total;
        Ok(Self {
            config,
            bytes: u64::try_from(needs.share_bytes()).unwrap_or(u64::MAX),
            seconds: Party::all(parties).map(seconds).fold(0.0, f64::max),
            needs,
        })
    }
}

/// Specification of a store with the correlations of one job of this plan.
pub(crate) fn spec(planned: &Planned) -> StoreSpec {
    let over = Over::default();
    let ways = Ways {
        over: &over,
        threads: planned.plan.spec().threads,
        matrices: MatricesArg::Auto,
        stored: true,
        asked: &[],
    };
    ways.store(planned, 1)
}

/// Number of jobs with these needs that `left` is enough for: the least over all kinds.
pub(crate) fn times(left: &Needs, needs: &Needs) -> f64 {
    let of = |(kind, count)| left.of(kind) as f64 / count as f64;
    needs
        .kinds()
        .into_iter()
        .map(of)
        .fold(f64::INFINITY, f64::min)
}
