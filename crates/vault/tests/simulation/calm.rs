//! The end of a schedule: no accidents any more, until all has come to rest.

use madrigal_vault::agreement::{Event, Machine};

use super::disk::Op;
use super::node::{Node, OVERDUE};
use super::world::{Found, World};

impl World {
    /// Lets all that is under way come to its end: no accidents.
    pub(super) fn settle(&mut self) -> Found {
        for node in &mut self.nodes {
            node.alive = true;
        }
        for round in 0.. {
            if round > 10_000 {
                return Err("the servers never come to rest".to_owned());
            }
            if self.halted {
                self.lose_session();
            }
            self.new_session();
            let parties = self.nodes.len();
            for i in 0..parties {
                self.tell(i)?;
                self.end_job(i)?;
                while !self.nodes[i].disk.waiting.is_empty() {
                    self.sync(i)?;
                }
                for to in 0..parties {
                    while self
                        .links
                        .get(&(i, to))
                        .is_some_and(|link| !link.is_empty())
                        && self.nodes[to].told == Some(self.generation)
                    {
                        self.deliver(i, to)?;
                    }
                }
            }
            let told = |node: &Node| node.told == Some(self.generation);
            let rests = |node: &Node| node.disk.waiting.is_empty() && node.job.is_none();
            let sent = self.links.values().any(|link| !link.is_empty());
            if self.nodes.iter().all(|node| told(node) && rests(node)) && !sent {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Brings all to an end without accidents: all uploads that are meant to be are done, all ids become overdue.
    pub(crate) fn calm(&mut self) -> Found {
        self.trouble = None;
        self.least.fill(1);
        self.settle()?;
        for upload in &self.uploads {
            for (i, _) in upload.to.iter().enumerate().filter(|(_, to)| **to) {
                let (id, at) = (upload.id, self.now[i]);
                self.nodes[i].disk.waiting.push_back(Op::Accept { id, at });
            }
        }
        for _ in 0..100 {
            self.settle()?;
            let waits = self
                .nodes
                .iter()
                .any(|node| node.disk.accepted().next().is_some());
            let idle = match &self.nodes[0].machine {
                Machine::Leader(leader) => leader.is_idle(),
                Machine::Follower(_) => false,
            };
            if idle && !waits {
                return Ok(());
            }
            self.now.iter_mut().for_each(|now| *now += OVERDUE);
            self.event(0, Event::Trigger)?;
        }
        Err("accepted ids are neither counted nor do they expire".to_owned())
    }
}
