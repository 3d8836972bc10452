//! Requirements of a program.

use super::Program;
use crate::error::Source;
use crate::requirement::Requirement;
use crate::secret::Secret;

const REQUIREMENT: &str = "a requirement";

impl Program {
    /// Requires that a condition holds in all of its elements, or else nothing is opened: neither to parties nor to
    /// clients, and nothing is kept for later stages. It is how parties check what clients bring.
    ///
    /// All parties learn one bit, whether the condition holds, and the run ends with
    /// [`RunError::Unmet`](madrigal_engine::RunError::Unmet) at all of them if it does not: the error names the requirement and
    /// the inputs that it depends on. A requirement costs what its condition costs, and the opening of one bit; the program's
    /// other openings come a round later. Two requirements tell which of them is not met; one whose condition is the `&` of both
    /// does not.
    ///
    /// For 1,000 numbers of 8 bits of a client that must be at most 100, the party that sends most sends 5.8 kB in R, 2.3 kB in B
    /// and 7.6 kB in A+B between two parties; in setup nothing, 44 kB and 128 kB, base OTs included.
    ///
    /// Elements are of their type without a requirement: a party or a client that shares a `u8` shares one of 256 numbers,
    /// whatever it sends, and one that shares a `bool` shares a bit.
    ///
    /// A party that deviates from the protocol can have others open results all the same: see `SECURITY.md`.
    ///
    /// ```
    /// use madrigal_program::{Client, Everyone, Inputs, Program};
    /// let clinic = Client::new("clinic");
    /// let mut p = Program::new(2);
    /// let ages = p.input_named::<u8>("ages", &clinic, [3]);
    /// p.require_named("ages are below 130", &ages.within(0..130));
    /// let oldest = p.open(ages.greatest(0), Everyone);
    /// let program = p.finish()?;
    /// let outputs = program.simulate(&Inputs::new().with([40u8, 71, 8]))?;
    /// assert_eq!(outputs.get(oldest), [71]);
    /// let error = program.run_locally(&Inputs::new().with([40u8, 200, 8])).unwrap_err();
    /// let text = error.to_string();
    /// assert!(text.contains("ages are below 130") && text.contains("client clinic"), "{text}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn require(&mut self, condition: &Secret<bool>) {
        self.require_any(None, condition);
    }

    /// Requires that a condition holds, as [`require`](Self::require) does, under a name that tells what is required.
    #[track_caller]
    pub fn require_named(&mut self, name: &str, condition: &Secret<bool>) {
        self.require_any(Some(name), condition);
    }

    #[track_caller]
    fn require_any(&mut self, name: Option<&str>, condition: &Secret<bool>) {
        let at = self.recorder.placed(Source::here());
        self.recorder.fail_in_body(REQUIREMENT, at);
        let all = match condition.rank() {
            0 => condition.clone(),
            _ => condition.flatten().all(0),
        };
        if let Some(value) = all.tensor().import(&self.recorder, REQUIREMENT, at) {
            let requirement = Requirement {
                name: name.map(Into::into),
                at,
                inputs: Vec::new(),
            };
            self.required.push((value, requirement));
        }
    }
}
