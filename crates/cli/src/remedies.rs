//! The flags that mend what an error of this program's own rooms is about; others are in
//! `madrigal_app::remedies`.

use madrigal_correlations::store::StoreError;
use madrigal_engine::PlanError;

use madrigal_app::remedies::STORES;
pub use madrigal_app::remedies::with;

pub fn of_plan(error: &PlanError) -> Option<&'static str> {
    Some(match error {
        PlanError::Threads { .. } => "--threads",
        PlanError::Owners { .. } => "--owners",
        PlanError::NoReceiver => "--to",
        PlanError::Memory { .. } => "--memory, or --phases interleaved",
        _ => return None,
    })
}

pub fn of_store(error: &StoreError) -> Option<&'static str> {
    Some(match error {
        StoreError::KeyMissing { .. } | StoreError::KeyDamaged { .. } => "--store-key",
        StoreError::Header => "--store-key, or `madrigal precompute`",
        StoreError::Damaged { .. } | StoreError::Copied | StoreError::Few { .. } => STORES,
        _ => return None,
    })
}
