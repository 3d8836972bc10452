//! A service's file that is read again while its server is at work: what holds at once, and what holds after a restart.

use std::collections::BTreeMap;

use super::Config;

/// Has a field be as it was; notes its name if it was changed.
fn stays<T: PartialEq + Clone>(field: &str, now: &mut T, before: &T, changed: &mut Vec<String>) {
    if now != before {
        changed.push(field.to_owned());
        now.clone_from(before);
    }
}

impl Config {
    /// Has all fields that hold after a restart alone be as they are in the file that the server was started with, or read last. Gives the names of
    /// those that were changed.
    pub(crate) fn renewed(&mut self, before: &Self) -> Vec<String> {
        let mut changed = Vec::new();
        let all = &mut changed;
        stays("parties", &mut self.roster, &before.roster, all);
        stays("party", &mut self.me, &before.me, all);
        stays("identity", &mut self.identity, &before.identity, all);
        stays("listen", &mut self.listen, &before.listen, all);
        stays("websocket", &mut self.websocket, &before.websocket, all);
        stays("data", &mut self.data, &before.data, all);
        stays("vault-key", &mut self.vault_key, &before.vault_key, all);
        stays("memory", &mut self.memory, &before.memory, all);
        stays("threads", &mut self.threads, &before.threads, all);
        stays("operation", &mut self.operation, &before.operation, all);
        // Whoever edits the service's file does not choose another policy for a server that is at work.
        stays("policy", &mut self.policy, &before.policy, all);
        stays("limits", &mut self.limits, &before.limits, all);
        stays("log", &mut self.log, &before.log, all);
        let then = before.gone.iter().chain(&before.kinds);
        let then: BTreeMap<_, _> = then
            .map(|(name, kind)| (name.clone(), kind.clone()))
            .collect();
        let gone = then
            .iter()
            .filter(|(name, _)| !self.kinds.contains_key(*name));
        self.gone = gone
            .map(|(name, kind)| (name.clone(), kind.clone()))
            .collect();
        for (name, kind) in &mut self.kinds {
            let field = |field: &str| format!("kinds.{name}.{field}");
            let Some(before) = then.get(name) else {
                stays(&field("ahead"), &mut kind.ahead, &None, all);
                continue;
            };
            stays(&field("ahead"), &mut kind.ahead, &before.ahead, all);
            // Batches of another size, or a plan of another one, are nothing to begin with in the middle of a session.
            stays(&field("batch.most"), &mut kind.most, &before.most, all);
            stays(&field("runs"), &mut kind.runs, &before.runs, all);
            stays(&field("memory"), &mut kind.memory, &before.memory, all);
        }
        for (name, kind) in &mut self.requests {
            let Some(before) = before.requests.get(name) else {
                continue;
            };
            let field = |field: &str| format!("kinds.{name}.{field}");
            stays(&field("window"), &mut kind.window, &before.window, all);
            stays(&field("most"), &mut kind.most, &before.most, all);
            stays(
                &field("deadline"),
                &mut kind.deadline,
                &before.deadline,
                all,
            );
        }
        let names = |config: &Self| config.requests.keys().cloned().collect::<Vec<_>>();
        let (now, then) = (names(self), names(before));
        for name in now.iter().filter(|name| !then.contains(name)) {
            self.requests.remove(name);
            changed.push(format!("kinds.{name}.requests"));
        }
        for name in then.iter().filter(|name| !now.contains(name)) {
            let kind = &before.requests[name];
            self.requests.insert(name.clone(), kind.clone());
            changed.push(format!("kinds.{name}.requests"));
        }
        changed
    }
}
