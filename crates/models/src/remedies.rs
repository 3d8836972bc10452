//! The flags that mend what an error of this program's own rooms is about; others are in
//! `madrigal_app::remedies`.

use madrigal_nn::secret::{CompareError, EncodeError, UnfitError};
use madrigal_nn::{Fault, ImportError, Problem, ReadError};

/// Names the flags for sizes that a model leaves open, for memory that it asks for, and for numbers that a type does not
/// have; nothing else of a model is mended by a flag.
pub(crate) fn of_model(error: &(dyn std::error::Error + 'static)) -> &'static str {
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
    let large = |problem: &Problem| {
        let Problem::Node { fault, .. } = problem else {
            return false;
        };
        matches!(fault, Fault::Memory { .. })
    };
    let any =
        |of: &dyn Fn(&Problem) -> bool| problems.is_some_and(|error| error.problems.iter().any(of));
    let planned = error.downcast_ref::<UnfitError>();
    let planned = planned.is_some_and(|error| error.nodes.iter().any(|node| node.spent.is_some()));
    let read = matches!(
        error.downcast_ref::<ReadError>(),
        Some(ReadError::Memory(_))
    );
    match (any(&open), any(&large) || planned || read) {
        (true, _) => "; see --batch, --dim and --shape",
        (false, true) => "; see --batch and --file-memory",
        (false, false) => "",
    }
}

#[cfg(test)]
mod tests {
    use madrigal_core::Budget;

    use super::*;

    #[test]
    fn models_that_ask_for_memory_name_the_flag() {
        let Err(spent) = Budget::new(1).take(2) else {
            panic!("two bytes of one");
        };
        let fault = Fault::Memory {
            shape: vec![1 << 28],
            spent,
        };
        let (node, operator) = ("e".to_owned(), "Expand".to_owned());
        let large = ImportError {
            problems: vec![Problem::Node {
                node,
                operator,
                fault,
            }],
        };
        let flags = "; see --batch and --file-memory";
        assert_eq!(of_model(&large), flags);
        assert_eq!(of_model(&ReadError::Memory(spent)), flags);
        assert_eq!(of_model(&ImportError { problems: vec![] }), "");
    }
}
