//! Programs that show what a service is for.

pub(crate) mod auction;
pub(crate) mod inference;

use madrigal_program::{Client, Computation, Program, ProgramError};
use madrigal_program_file::{GeneralError, ProgramFile, SaveError, choices, general};

pub use auction::auction;
pub use inference::{LAYERS, Number, inference};

/// Upper edges of the demo's histogram.
const EDGES: [u32; 4] = [20, 40, 60, 80];
/// The dimension of submissions.
pub(crate) const DIMENSION: &str = "members";
/// The client that receives the demo's results.
pub(crate) const ANALYST: &str = "analyst";
/// Numbers of submissions that the demo's program is recorded for.
const SAMPLES: [usize; 5] = [2, 3, 5, 11, 23];

/// Reason why a demo's program was not made.
#[derive(Debug, thiserror::Error)]
#[error("the demo's program: {0}")]
pub struct DemoError(String);

impl From<ProgramError> for DemoError {
    fn from(error: ProgramError) -> Self {
        Self(error.to_string())
    }
}

impl From<SaveError> for DemoError {
    fn from(error: SaveError) -> Self {
        Self(error.to_string())
    }
}

impl From<GeneralError> for DemoError {
    fn from(error: GeneralError) -> Self {
        Self(error.to_string())
    }
}

/// Statistics of many members' ages: the analyst learns their sum, the least and the greatest, and how many are in each of five ranges. The servers
/// learn nothing.
///
/// # Errors
/// [`DemoError`].
pub fn statistics(servers: usize) -> Result<ProgramFile, DemoError> {
    in_general(DIMENSION, |members| of_members(servers, members))
}

/// A program for any number of submissions, from what it is for some.
fn in_general(
    dimension: &str,
    of: impl Fn(usize) -> Result<Computation, ProgramError>,
) -> Result<ProgramFile, DemoError> {
    debug_assert_eq!(
        SAMPLES.len(),
        choices(1),
        "as many samples as one dimension needs"
    );
    let samples = SAMPLES.map(|number| Ok((vec![number], ProgramFile::of(&of(number)?)?)));
    let samples: Result<Vec<_>, DemoError> = samples.into_iter().collect();
    Ok(general(&[dimension.to_owned()], &samples?)?)
}

fn of_members(servers: usize, members: usize) -> Result<Computation, ProgramError> {
    let (member, analyst) = (Client::new("member"), Client::new(ANALYST));
    let mut program = Program::new(servers);
    let ages = program.input_named::<u32>("age", &member, [members]);
    let sum = ages.sum(0);
    program.open_named("sum", &sum, &analyst);
    program.open_named("least", &ages.least(0), &analyst);
    program.open_named("greatest", &ages.greatest(0), &analyst);
    let below = EDGES.map(|edge| ages.lt(edge).count(0));
    let below = program.stack(&below, 0);
    program.open_named("below", &below, &analyst);
    program.finish()
}
