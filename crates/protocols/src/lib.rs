//! The MPC protocols, one module each. A protocol is written as rounds over a
//! [`Context`](madrigal_net::Context): what do I send, what do I make of what I got. Each declares
//! its cost.
//!
//! | letter | module | parties | corrupted | source |
//! |---|---|---|---|---|
//! | alpha, beta | [`aby2`] | 2 | one, semi-honest | ABY2.0; MOTION2NX A.2 |
//! | A | [`arithmetic`] | 2 or more | all but one, semi-honest | MOTION 6.1, 7.1, 7.5 |
//! | B | [`gmw`] | 2 or more | all but one, semi-honest | MOTION 6.2 |
//! | Y | [`bmr`] | 2 or more | all but one, semi-honest | MOTION 6.3, 7.2, 7.3 |
//! | R | [`replicated`] | 3 | one, semi-honest | Araki et al. 2016 |
//! | Y2 | [`yao`] | 2 | one, semi-honest | MOTION2NX A.2 |

pub mod aby2;
pub mod arithmetic;
pub mod bmr;
pub mod branches;
pub mod gmw;
mod inputs;
mod opening;
mod permutations;
pub mod planes;
pub mod replicated;
mod rounds;
pub mod sorting;
pub mod yao;
mod zeros;

pub use opening::Opening;
pub use rounds::Rounds;
pub use zeros::ZeroSharing;
