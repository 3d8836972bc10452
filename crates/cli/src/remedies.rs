//! The flags that mend what an error of this program's own rooms is about; others are in
//! `madrigal_app::remedies`.

use madrigal_engine::PlanError;
use madrigal_nn::secret::{CompareError, EncodeError};
use madrigal_nn::{ImportError, Problem};

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

/// What is to be said of sizes that a model leaves open, and of numbers that a type does not have; nothing else of a model
/// is mended by a flag.
pub fn of_model(error: &(dyn std::error::Error + 'static)) -> &'static str {
    let encoded = match error.downcast_ref::<CompareError>() {
        Some(CompareError::Encode(error)) => Some(error),
        _ => error.downcast_ref::<EncodeError>(),
    };
    if let Some(EncodeError::Weight { .. } | EncodeError::Input { .. }) = encoded {
        return "; see --numbers";
    }
    let problems = error.downcast_ref::<ImportError>();
    let open = |problem: &Problem| {
        matches!(
            problem,
            Problem::Dimension { .. }
                | Problem::NoSuchDimension { .. }
                | Problem::InputShape { .. }
                | Problem::Given { .. }
        )
    };
    match problems.is_some_and(|error| error.problems.iter().any(open)) {
        true => "; see --batch, --dim and --shape",
        false => "",
    }
}
