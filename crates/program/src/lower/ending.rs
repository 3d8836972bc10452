//! Openings and hand-outs, under the conditions that the program requires.

use std::sync::Arc;

use madrigal_engine::Operation;
use madrigal_operations::WhenMet;

use super::state::{Lowering, Result};
use super::steps::Slot;

impl Lowering<'_> {
    /// An operation that ends the program: it takes place if the requirements are met.
    pub(super) fn ending(&mut self, operation: Arc<dyn Operation>, value: Slot) -> Result<Slot> {
        if self.conditions.is_empty() {
            return self.operation(operation, &[value]);
        }
        let count = self.conditions.len();
        let operation = WhenMet::new(operation, count);
        let inputs = [&[value], &*self.conditions].concat();
        self.operation(Arc::new(operation), &inputs)
    }
}
