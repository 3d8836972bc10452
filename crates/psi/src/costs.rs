//! Costs of matching, by the plan alone.

use madrigal_core::PhaseCost;
use madrigal_correlations_make::{VoleBase, VoleCost, VoleCosts};
use madrigal_kernels::{Block, Element};

use crate::oprf::{message_bytes, messages};
use crate::plan::PsiPlan;
use crate::run::Role;

/// Bytes and messages that matching by a plan costs a party, beside those in which the sizes are told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PsiCosts {
    /// Cost of VOLE, with its base OTs. Its rounds are those of one thread: all threads' go on together.
    pub setup: PhaseCost,
    /// Cost of stores, tags and replies. AES blocks are not counted here; rounds are the most that can wait for each other.
    pub online: PhaseCost,
}

impl PsiCosts {
    /// The cost of a plan on `threads` threads, for one party.
    pub fn new(plan: &PsiPlan, role: Role, threads: usize) -> Self {
        if plan.wide() {
            Self::of::<Block>(plan, role, threads)
        } else {
            Self::of::<u64>(plan, role, threads)
        }
    }

    fn of<V: Element>(plan: &PsiPlan, role: Role, threads: usize) -> Self {
        let left = plan.left().len();
        if left == 0 {
            return Self {
                setup: PhaseCost::default(),
                online: PhaseCost::default(),
            };
        }
        let threads = threads.clamp(1, left);
        let side = |cost: VoleCost| match role {
            Role::Receiver => cost.values,
            Role::Sender => cost.keys,
        };
        let mut setup = VoleBase::cost();
        for thread in 0..threads {
            let partitions = (thread..left).step_by(threads).len();
            let columns = plan.shape.columns();
            let mut vole = VoleCosts::<V>::new(partitions as u64 * columns as u64, plan.security());
            let start = side(vole.start());
            let rounds = setup.rounds.max(VoleBase::cost().rounds + start.rounds);
            setup += start;
            for _ in 0..partitions {
                setup += side(vole.extend(columns));
                if plan.checked() {
                    setup += side(vole.check(columns));
                }
            }
            setup.rounds = rounds;
        }
        let partitions = left as u64;
        let store = partitions
            * (message_bytes(&plan.shape, plan.element_bytes()) + plan.challenge_bytes()) as u64;
        let store_messages = partitions * messages(&plan.shape) as u64;
        let tags = partitions * plan.tag_bytes() as u64;
        let replies = partitions * plan.reply_bytes() as u64;
        let reply_messages = if plan.replies() { partitions } else { 0 };
        let of_receiver = (store + replies, store_messages + reply_messages);
        let of_sender = (tags, partitions);
        let ((sent, messages), (received, _)) = match role {
            Role::Receiver => (of_receiver, of_sender),
            Role::Sender => (of_sender, of_receiver),
        };
        Self {
            setup,
            online: PhaseCost {
                rounds: 2 + u64::from(plan.replies()),
                bytes_sent: sent,
                bytes_received: received,
                messages,
                aes_blocks: 0,
            },
        }
    }
}
