//! The course of the iterations, the same for both parties: which group of trees comes next, what
//! its rows are for, and where it stands in the message.

use core::ops::Range;

use madrigal_core::Zeroizing;
use madrigal_kernels::{Element, lpn::LocalCode};

use super::{
    params::{SilentParams, Stage},
    public::PublicCoins,
};
use crate::{Instance, Tweaks, instance::TweakCounter};

/// A party's stream of rows, without what is peculiar to sender or receiver; also its stream of the elements of
/// [VOLE](crate::vole), of which a receiver has two.
pub(crate) struct Iterations<V: Element> {
    /// Tweaks of the rows handed out.
    tweaks: TweakCounter,
    params: SilentParams,
    coins: PublicCoins,
    stage: usize,
    /// Next group of the current iteration.
    group: usize,
    /// The code of the current iteration, from its first group on.
    code: Option<LocalCode>,
    /// The rows that the current iteration uses up: the code's table, then the trees' rows. Secret.
    base: Zeroizing<Vec<V>>,
    /// The next iteration's base, filled up to `reserved`. Secret.
    reserve: Zeroizing<Vec<V>>,
    reserved: usize,
    /// A group of which the last `left` rows wait for the next call; empty until needed. Secret.
    buffer: Zeroizing<Vec<V>>,
    left: usize,
}

impl<V: Element> Iterations<V> {
    /// Starts from [`SilentParams::base_rows`] rows.
    pub(crate) fn new(
        instance: Instance,
        coins: PublicCoins,
        params: SilentParams,
        base: Zeroizing<Vec<V>>,
    ) -> Self {
        Iterations {
            tweaks: TweakCounter::new(instance),
            params,
            coins,
            stage: 0,
            group: 0,
            code: None,
            base,
            reserve: Zeroizing::default(),
            reserved: 0,
            buffer: Zeroizing::default(),
            left: 0,
        }
    }

    pub(crate) fn instance(&self) -> Instance {
        self.tweaks.instance()
    }

    pub(crate) fn params(&self) -> SilentParams {
        self.params
    }

    pub(crate) fn made(&self) -> u64 {
        self.tweaks.taken()
    }

    /// Public blocks drawn so far.
    #[cfg(test)]
    pub(crate) fn coins_drawn(&self) -> u64 {
        self.coins.drawn()
    }

    /// Fills `rows` with the next rows of the stream. `grow` makes the leaves of one group from the public coins, the
    /// rows it uses up and the given part of the message.
    pub(crate) fn fill(
        &mut self,
        rows: &mut [V],
        mut grow: impl FnMut(&mut PublicCoins, &[V], Range<usize>, &mut [V]),
    ) -> Tweaks {
        let m = rows.len();
        let mut place = 0;
        let mut next_place = |stage: &Stage| {
            let range = place..place + stage.group_bytes();
            place = range.end;
            range
        };
        let (waiting, mut rows) = rows.split_at_mut(self.left.min(m));
        let first = self.buffer.len() - self.left;
        waiting.copy_from_slice(&self.buffer[first..first + waiting.len()]);
        self.left -= waiting.len();
        while !rows.is_empty() {
            let stage = &self.params.stages()[self.stage];
            let whole = stage.group_rows();
            let inner = self.params.inner_groups(self.stage);
            if inner.contains(&self.group) {
                let mut buffer = self.take_buffer(whole);
                self.make_group(stage, next_place(stage), &mut grow, &mut buffer);
                self.keep(&buffer);
                self.buffer = buffer;
                if self.group == inner.end {
                    self.begin_next();
                }
            } else if rows.len() >= whole {
                let (now, later) = rows.split_at_mut(whole);
                self.make_group(stage, next_place(stage), &mut grow, now);
                rows = later;
            } else {
                let mut buffer = self.take_buffer(whole);
                self.make_group(stage, next_place(stage), &mut grow, &mut buffer);
                rows.copy_from_slice(&buffer[..rows.len()]);
                self.left = whole - rows.len();
                self.buffer = buffer;
                break;
            }
        }
        self.tweaks.take(m)
    }

    /// The next group: leaves from `grow`, to which the code of the table is added.
    fn make_group(
        &mut self,
        stage: &Stage,
        place: Range<usize>,
        grow: &mut impl FnMut(&mut PublicCoins, &[V], Range<usize>, &mut [V]),
        nodes: &mut [V],
    ) {
        let (table, tree_rows) = self.base.split_at(stage.dimension());
        let per_group = stage.base_rows_of_group();
        let first = self.group * per_group;
        let used = &tree_rows[first..first + per_group];
        grow(&mut self.coins, used, place, nodes);
        let code = self.code.get_or_insert_with(|| self.coins.next_code(stage));
        code.encode((self.group * stage.group_rows()) as u64, table, nodes);
        self.group += 1;
    }

    /// Keeps rows for the next iteration, as many as that needs.
    fn keep(&mut self, rows: &[V]) {
        let needed = self.next_stage().base_rows();
        if self.reserve.len() != needed {
            self.reserve = Zeroizing::zeros(needed);
        }
        let kept = rows.len().min(needed - self.reserved);
        self.reserve[self.reserved..self.reserved + kept].copy_from_slice(&rows[..kept]);
        self.reserved += kept;
    }

    fn next_stage(&self) -> &'static Stage {
        let stages = self.params.stages();
        &stages[(self.stage + 1).min(stages.len() - 1)]
    }

    fn begin_next(&mut self) {
        core::mem::swap(&mut self.base, &mut self.reserve);
        self.reserved = 0;
        self.group = 0;
        self.code = None;
        if self.stage + 1 < self.params.stages().len() {
            self.stage += 1;
            self.reserve = Zeroizing::default();
        }
    }

    /// Lends the buffer out for a group of `len` rows.
    fn take_buffer(&mut self, len: usize) -> Zeroizing<Vec<V>> {
        let buffer = core::mem::take(&mut self.buffer);
        if buffer.len() == len {
            buffer
        } else {
            Zeroizing::zeros(len)
        }
    }
}
