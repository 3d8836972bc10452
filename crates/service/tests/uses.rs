//! What servers of all tests in this process take of correlations made ahead, as their log tells it: no part of a unit is taken twice.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use madrigal_service::config::LogConfig;
use madrigal_service::operation::start_log;
use tracing::field::{Field, Visit};
use tracing::span;
use tracing::{Event, Metadata, Subscriber};

/// A part of one kind of a unit's correlations at a server.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Use {
    pub(crate) server: u64,
    pub(crate) unit: String,
    pub(crate) kind: String,
    pub(crate) from: u64,
    pub(crate) to: u64,
}

static USES: Mutex<Vec<Use>> = Mutex::new(Vec::new());

/// Hears of uses until the guard goes. Tests of uses run one after the other.
pub(crate) fn record() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // `RUST_LOG=info` shows what the servers do, and nothing is recorded.
        if std::env::var("RUST_LOG").is_ok() {
            let _ = start_log(&LogConfig::default());
            return;
        }
        let set = tracing::subscriber::set_global_default(Recorder);
        assert!(set.is_ok(), "nothing else hears of events");
    });
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    all_uses().clear();
    alone
}

fn all_uses() -> MutexGuard<'static, Vec<Use>> {
    USES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Uses so far.
pub(crate) fn all() -> Vec<Use> {
    all_uses().clone()
}

/// Two uses that have a part in common, if there are such.
pub(crate) fn twice(mut uses: Vec<Use>) -> Option<[Use; 2]> {
    uses.sort_by_key(|one| (one.server, one.unit.clone(), one.kind.clone(), one.from));
    let mut last: BTreeMap<(u64, String, String), Use> = BTreeMap::new();
    for one in uses {
        let key = (one.server, one.unit.clone(), one.kind.clone());
        if let Some(before) = last.get(&key)
            && before.to > one.from
        {
            return Some([before.clone(), one]);
        }
        last.insert(key, one);
    }
    None
}

struct Recorder;

impl Subscriber for Recorder {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "madrigal_service::ahead::shelf"
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut told = Told::default();
        event.record(&mut told);
        if told.message.contains("are used") {
            all_uses().push(told.one);
        }
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

#[derive(Default)]
struct Told {
    one: Use,
    message: String,
}

impl Visit for Told {
    fn record_u64(&mut self, field: &Field, value: u64) {
        match field.name() {
            "server" => self.one.server = value,
            "from" => self.one.from = value,
            "to" => self.one.to = value,
            _ => {}
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let value = format!("{value:?}");
        match field.name() {
            "unit" => self.one.unit = value,
            "kind" => self.one.kind = value,
            "message" => self.message = value,
            _ => {}
        }
    }
}

#[test]
fn a_part_that_is_taken_twice_is_found() {
    let one = |server, from, to| Use {
        server,
        from,
        to,
        ..Use::default()
    };
    assert_eq!(twice(vec![one(0, 0, 5), one(0, 5, 9), one(1, 0, 5)]), None);
    assert!(twice(vec![one(0, 5, 9), one(1, 0, 5), one(0, 0, 6)]).is_some());
}
