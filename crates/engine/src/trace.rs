//! Traces of runs, as files that trace viewers of browsers open.

use std::fmt::Write as _;

use crate::plan::Plan;
use crate::report::Outcome;

impl Outcome {
    /// Each operation's blocks on the strands that did them, in the JSON of Chrome's trace event format
    /// (<https://ui.perfetto.dev> opens it): a bar from when everything was there that a block reads until
    /// it had ended, waiting for messages included; how many microseconds of that it was at work itself. `plan` is the
    /// one that was run.
    pub fn trace(&self, plan: &Plan) -> String {
        let nodes = plan.spec().graph.nodes();
        let mut events = Vec::with_capacity(self.tasks.len());
        for task in &self.tasks {
            let node = &nodes[task.operation];
            let name = node.operation.as_ref().map(|operation| operation.name());
            let (start, end) = (task.ready.as_secs_f64(), task.ended.as_secs_f64());
            let mut event = String::new();
            let written = write!(
                event,
                "{{\"ph\":\"X\",\"pid\":0,\"tid\":{},\"ts\":{:.3},\"dur\":{:.3},\"name\":{},\
                 \"args\":{{\"at\":{},\"block\":{},\"worked\":{:.3}}}}}",
                task.strand,
                start * 1e6,
                (end - start) * 1e6,
                quoted(&name.unwrap_or_default()),
                quoted(&node.label),
                task.block,
                task.worked.as_secs_f64() * 1e6,
            );
            written.expect("a string takes everything");
            events.push(event);
        }
        format!("[{}]\n", events.join(",\n"))
    }
}

/// A string of JSON.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            control if control < ' ' => {
                let written = write!(quoted, "\\u{:04x}", control as u32);
                written.expect("a string takes everything");
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}
