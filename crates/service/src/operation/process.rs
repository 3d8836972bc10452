//! Meters of this process: memory, descriptors, threads, processor time. Systems without `/proc` tell zeros.

use std::fs;
use std::sync::atomic::AtomicU64;

use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};

/// A meter of fractions.
type Fractions = Gauge<f64, AtomicU64>;

/// Meters of this process.
#[derive(Debug, Default)]
pub(super) struct Process {
    resident: Gauge,
    descriptors: Gauge,
    threads: Gauge,
    processor: Fractions,
}

impl Process {
    pub(super) fn registered(registry: &mut Registry) -> Self {
        let made = Self::default();
        let r = registry.sub_registry_with_prefix("process");
        r.register_with_unit(
            "resident_memory",
            "Memory in use",
            Unit::Bytes,
            made.resident.clone(),
        );
        r.register(
            "open_descriptors",
            "Open files and connections",
            made.descriptors.clone(),
        );
        r.register("threads", "Threads", made.threads.clone());
        r.register_with_unit(
            "processor_time",
            "Processor time so far",
            Unit::Seconds,
            made.processor.clone(),
        );
        made
    }

    /// Looks at the process.
    pub(super) fn look(&self) {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
            number.unwrap_or(0_i64)
        };
        self.resident.set(field("VmRSS:") * 1024);
        self.threads.set(field("Threads:"));
        let descriptors = fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
        // Reading the list takes one.
        self.descriptors.set(descriptors.saturating_sub(1) as i64);
        self.processor.set(processor_seconds());
    }
}

/// Time that processors have worked for this process, from `/proc/self/stat`, whose clock ticks a hundred times a second.
fn processor_seconds() -> f64 {
    let text = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, in brackets, may have spaces.
    let rest = text.rsplit_once(')').map_or("", |(_, rest)| rest);
    let mut fields = rest.split_whitespace().skip(11);
    let mut ticks = || fields.next().and_then(|text| text.parse::<u64>().ok());
    let (user, system) = (ticks().unwrap_or(0), ticks().unwrap_or(0));
    (user + system) as f64 / 100.0
}
