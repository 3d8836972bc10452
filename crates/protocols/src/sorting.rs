//! Order of rows found by comparisons whose results are opened: which rows are compared, and when.
//!
//! The rows were shuffled by a permutation that nobody knows, and no two are alike, since each has a secret number of its
//! own as its lowest bits: its place before the shuffle, not the public one behind it, by which all would see who is equal. Then their order is one of n! that are equally likely, and all results of comparisons follow from
//! it: they tell nothing of what the rows hold (Hamada et al., ICISC 2012), and ways of sorting that branch on results are
//! allowed.
//!
//! The number of comparisons is a matter of luck in such a way of sorting. Here it is not: a [`Course`] says for each step
//! how many there are, from the number of rows alone, so that a sort's cost is known before it begins. Comparisons that a step has
//! too many are done with a row and itself.
//!
//! # Course
//! Up to 256 rows: all pairs, in one step. Of more rows the first ones, between a fourth and an eighth of all, are sorted in
//! the same way; they are a balanced tree of 2^k - 1 rows. Each other row goes down that tree in k comparisons. Now rows lie in 2^k
//! *buckets* between the rows of the tree: a bucket has j rows with a chance near (1 - q) q^j. A step or two compare the rows of each bucket
//! with one of them, which cuts it in two, and a last one compares all pairs that are left in buckets. That makes about 20
//! comparisons for each of a million rows, where 18.5 are the least that any way of sorting needs.
//!
//! # Luck
//! Steps on buckets have room for the comparisons that are expected, eight standard deviations more, and 2,048 more. The pairs in a bucket
//! go with the square of its rows, so that few long buckets can exceed any such room: these are cut into eight at once, where the room
//! allows. Rows of a bucket that do not fit into a step wait for the next one, and a step of 2,048 follows the last one. A sort in which rows
//! are left then fails, and tells nothing but that. Sampled by importance, that happens to fewer than one of 10^16 sorts of 2,000 rows, to fewer
//! of 400 or 1,000, and by the trend to fewer of more. Without cutting into eight it happened to one in 10^7 sorts of 510 rows.

/// Rows up to which all pairs are compared.
const BASE: usize = 256;

/// Comparisons that a step on buckets can do beyond those it is planned for.
const SPARE: usize = 2048;

/// Rows from which on a bucket is long.
const LONG: usize = 32;

/// Rows at which long buckets are cut.
const PIVOTS: usize = 7;

/// Longest bucket that is expected, as a multiple of rows for each bucket: the chance of a longer one is below 2^-50.
const LONGEST: usize = 40;

/// Comparisons that a sort does side by side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// Comparisons of these many pairs of rows.
    Pairs(usize),
    /// A tree of 2^`depth` - 1 sorted rows that each of `rows` others goes down.
    Tree {
        /// Number of rows that go down the tree.
        rows: usize,
        /// Number of comparisons of each, one after the other.
        depth: usize,
    },
}

/// Steps of a sort of a number of rows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Course {
    base: usize,
    levels: Vec<Level>,
}

/// Rows that join those that are sorted already.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Level {
    /// Sorted rows are 2^depth - 1.
    depth: usize,
    /// Number of rows, with those.
    rows: usize,
    /// Comparisons of the steps that cut buckets in two.
    cuts: Vec<usize>,
    /// Comparisons of the steps that compare all pairs in buckets.
    pairs: Vec<usize>,
}

impl Level {
    fn sorted(&self) -> usize {
        (1 << self.depth) - 1
    }
}

impl Course {
    /// Steps for this number of rows.
    #[must_use]
    pub fn new(rows: usize) -> Self {
        let mut levels = Vec::new();
        let mut rest = rows;
        while rest > BASE {
            let depth = (rest + 1).ilog2() as usize - 2;
            levels.push(Level::new(depth, rest));
            rest = (1 << depth) - 1;
        }
        levels.reverse();
        Self { base: rest, levels }
    }

    /// Steps, one after the other.
    pub fn steps(&self) -> impl Iterator<Item = Step> {
        let base = (self.base > 1).then_some(Step::Pairs(pairs_of(self.base)));
        let levels = self.levels.iter().flat_map(|level| {
            let tree = Step::Tree {
                rows: level.rows - level.sorted(),
                depth: level.depth,
            };
            let steps = level.cuts.iter().chain(&level.pairs);
            std::iter::once(tree).chain(steps.map(|count| Step::Pairs(*count)))
        });
        base.into_iter().chain(levels)
    }

    /// Number of comparisons in all steps.
    #[must_use]
    pub fn comparisons(&self) -> usize {
        let of = |step| match step {
            Step::Pairs(count) => count,
            Step::Tree { rows, depth } => rows * depth,
        };
        self.steps().map(of).sum()
    }
}

/// Bits of the number of a row, which is a key's lowest part.
#[must_use]
pub const fn index_bits(rows: usize) -> usize {
    match rows {
        0 | 1 => 1,
        _ => (rows - 1).ilog2() as usize + 1,
    }
}

/// The row that goes to each place, if each place has one.
#[must_use]
pub fn inverse(places: &[u32]) -> Option<Vec<u32>> {
    let mut order = vec![u32::MAX; places.len()];
    for (row, &place) in (0..).zip(places) {
        match order.get_mut(place as usize) {
            Some(to) if *to == u32::MAX => *to = row,
            _ => return None,
        }
    }
    Some(order)
}

/// Number of pairs among `rows`.
const fn pairs_of(rows: usize) -> usize {
    rows * rows.saturating_sub(1) / 2
}

impl Level {
    fn new(depth: usize, rows: usize) -> Self {
        let sorted = (1 << depth) - 1;
        let each = (rows - sorted) as f64 / (sorted + 1) as f64;
        let mut buckets = Buckets::new(sorted + 1, each);
        let number = if each < 5.0 { 1 } else { 2 };
        let cuts = (0..number)
            .map(|_| {
                let room = room(buckets.expected(|size| size.saturating_sub(1)));
                buckets.cut();
                room
            })
            .collect();
        let pairs = vec![room(buckets.expected(pairs_of)), SPARE];
        Self {
            depth,
            rows,
            cuts,
            pairs,
        }
    }
}

/// Room for a number with this mean and variance.
fn room((mean, variance): (f64, f64)) -> usize {
    (mean + 8.0 * variance.sqrt()) as usize + SPARE
}

/// Expected number of buckets by their number of rows.
struct Buckets {
    of_size: Vec<f64>,
}

impl Buckets {
    /// `count` buckets between sorted rows, with `each` rows on average.
    fn new(count: usize, each: f64) -> Self {
        let longest = LONGEST * (each as usize + 1);
        let more = each / (1.0 + each);
        let mut expected = count as f64 * (1.0 - more);
        let of_size = (0..longest).map(|_| {
            let now = expected;
            expected *= more;
            now
        });
        Self {
            of_size: of_size.collect(),
        }
    }

    /// Mean and variance of the sum of `what` over all buckets, as if they were independent.
    fn expected(&self, what: impl Fn(usize) -> usize) -> (f64, f64) {
        let mut sums = (0.0, 0.0);
        for (size, count) in self.of_size.iter().enumerate() {
            let value = what(size) as f64;
            sums.0 += count * value;
            sums.1 += count * value * value;
        }
        sums
    }

    /// Cuts each bucket at one of its rows, each of which is as likely.
    fn cut(&mut self) {
        let mut above = 0.0;
        for size in (0..self.of_size.len()).rev() {
            let here = self.of_size[size];
            self.of_size[size] = above;
            if size > 0 {
                above += 2.0 * here / size as f64;
            }
        }
    }
}

/// Comparisons of rows, which are known by their numbers.
pub trait Comparing {
    /// Failure of a comparison.
    type Error;

    /// Says for each pair whether the left row comes before the right one, a packed bit for each. A row that is compared with
    /// itself may give anything.
    fn before(
        &mut self,
        left: &[u32],
        right: &[u32],
    ) -> impl Future<Output = Result<Vec<u8>, Self::Error>>;

    /// Gives for each row from `first` on how many rows of `tree` come before it: these are sorted, 2^`depth` - 1.
    fn places(
        &mut self,
        first: usize,
        count: usize,
        tree: &[u32],
    ) -> impl Future<Output = Result<Vec<u32>, Self::Error>>;
}

/// Why rows are not in order.
#[derive(Debug)]
pub enum Unsorted<E> {
    /// A comparison failed.
    Failed(E),
    /// The declared number of comparisons was not enough: bad luck.
    Luck,
}

/// Rows between two sorted ones, as a range of the rows that join.
#[derive(Clone, Copy)]
struct Bucket {
    start: usize,
    end: usize,
}

impl Bucket {
    const fn len(&self) -> usize {
        self.end - self.start
    }
}

/// Sorts the rows that `course` is for: gives their numbers in order.
///
/// # Errors
/// [`Unsorted`].
pub async fn order<C: Comparing>(
    course: &Course,
    rows: &mut C,
) -> Result<Vec<u32>, Unsorted<C::Error>> {
    let mut order: Vec<u32> = (0..course.base as u32).collect();
    if order.len() > 1 {
        let all = Bucket {
            start: 0,
            end: order.len(),
        };
        pairs(rows, &mut order, &mut vec![all], pairs_of(course.base)).await?;
    }
    for level in &course.levels {
        order = level.join(rows, order).await?;
    }
    Ok(order)
}

impl Level {
    /// Puts the rows that are new in this level among those that are sorted.
    async fn join<C: Comparing>(
        &self,
        rows: &mut C,
        sorted: Vec<u32>,
    ) -> Result<Vec<u32>, Unsorted<C::Error>> {
        let first = sorted.len();
        let count = self.rows - first;
        let places = rows.places(first, count, &sorted).await;
        let places = places.map_err(Unsorted::Failed)?;
        let (mut joining, starts) = by_place(first, &places, first + 1);
        drop(places);
        let buckets = starts.windows(2).map(|pair| Bucket {
            start: pair[0],
            end: pair[1],
        });
        let mut open: Vec<Bucket> = buckets.filter(|bucket| bucket.len() > 1).collect();
        for &room in &self.cuts {
            cut(rows, &mut joining, &mut open, room).await?;
        }
        for &room in &self.pairs {
            pairs(rows, &mut joining, &mut open, room).await?;
        }
        if !open.is_empty() {
            return Err(Unsorted::Luck);
        }
        let mut order = Vec::with_capacity(self.rows);
        for (bucket, pair) in starts.windows(2).enumerate() {
            order.extend_from_slice(&joining[pair[0]..pair[1]]);
            order.extend(sorted.get(bucket));
        }
        Ok(order)
    }
}

/// Rows from `first` on, bucket by bucket, and where each of `buckets` begins, with the end of the last one.
fn by_place(first: usize, places: &[u32], buckets: usize) -> (Vec<u32>, Vec<usize>) {
    let mut starts = vec![0_usize; buckets + 1];
    for &place in places {
        starts[place as usize + 1] += 1;
    }
    for bucket in 0..buckets {
        starts[bucket + 1] += starts[bucket];
    }
    let mut next = starts.clone();
    let mut rows = vec![0; places.len()];
    for (row, &place) in (first as u32..).zip(places) {
        let at = &mut next[place as usize];
        rows[*at] = row;
        *at += 1;
    }
    (rows, starts)
}

/// A packed bit.
const fn bit(string: &[u8], at: usize) -> bool {
    string[at / 8] >> (at % 8) & 1 == 1
}

/// Pairs of one step, up to its room.
struct Batch {
    left: Vec<u32>,
    right: Vec<u32>,
    room: usize,
}

impl Batch {
    fn new(room: usize) -> Self {
        Self {
            left: Vec::with_capacity(room),
            right: Vec::with_capacity(room),
            room,
        }
    }

    fn has_room(&self, more: usize) -> bool {
        self.left.len() + more <= self.room
    }

    fn push(&mut self, left: u32, right: u32) {
        self.left.push(left);
        self.right.push(right);
    }

    /// Compares, rows with themselves where there is room left.
    async fn compare<C: Comparing>(mut self, rows: &mut C) -> Result<Vec<u8>, Unsorted<C::Error>> {
        self.left.resize(self.room, 0);
        self.right.resize(self.room, 0);
        let found = rows.before(&self.left, &self.right).await;
        found.map_err(Unsorted::Failed)
    }
}

/// How a bucket is cut, and where its comparisons begin.
struct Cut {
    bucket: Bucket,
    pivots: usize,
}

impl Cut {
    /// Number of comparisons: of the pivots with each other, and of the other rows with each of them.
    const fn comparisons(&self) -> usize {
        pairs_of(self.pivots) + (self.bucket.len() - self.pivots) * self.pivots
    }
}

/// Cuts buckets at their first row, as far as there is room; long ones at their first [`PIVOTS`] rows, as long as there is room
/// to cut all others.
async fn cut<C: Comparing>(
    rows: &mut C,
    joining: &mut [u32],
    open: &mut Vec<Bucket>,
    room: usize,
) -> Result<(), Unsorted<C::Error>> {
    let mut batch = Batch::new(room);
    let mut left: usize = open.iter().map(|bucket| bucket.len() - 1).sum();
    let mut cuts = Vec::with_capacity(open.len());
    for &bucket in &*open {
        left -= bucket.len() - 1;
        let one = Cut { bucket, pivots: 1 };
        let many = Cut {
            bucket,
            pivots: PIVOTS,
        };
        let cut = match bucket.len() > LONG && batch.has_room(many.comparisons() + left) {
            true => many,
            false => one,
        };
        if !batch.has_room(cut.comparisons()) {
            break;
        }
        let (pivots, others) = joining[bucket.start..bucket.end].split_at(cut.pivots);
        for (at, &pivot) in pivots.iter().enumerate() {
            pivots[at + 1..]
                .iter()
                .chain(others)
                .for_each(|&row| batch.push(row, pivot));
        }
        cuts.push(cut);
    }
    let before = batch.compare(rows).await?;
    let mut parts = Vec::with_capacity(2 * open.len());
    let (mut at, mut places, mut members) = (0, Vec::new(), Vec::new());
    for Cut { bucket, pivots } in &cuts {
        let rows = &mut joining[bucket.start..bucket.end];
        // For each row the number of pivots before it.
        places.clear();
        places.resize(rows.len(), 0);
        for pivot in 0..*pivots {
            for row in pivot + 1..rows.len() {
                let later = if bit(&before, at) { pivot } else { row };
                // Pivots count among themselves; others only what lies before them.
                if later == row || row < *pivots {
                    places[later] += 1;
                }
                at += 1;
            }
        }
        members.clear();
        members.extend_from_slice(rows);
        let mut next = bucket.start;
        for part in 0..=*pivots {
            let start = next;
            for (row, _) in (*pivots..)
                .zip(&members[*pivots..])
                .filter(|(row, _)| places[*row] == part)
            {
                joining[next] = members[row];
                next += 1;
            }
            parts.push(Bucket { start, end: next });
            if let Some(pivot) = (0..*pivots).find(|&pivot| places[pivot] == part) {
                joining[next] = members[pivot];
                next += 1;
            }
        }
    }
    let rest = open[cuts.len()..].iter().copied();
    let all = parts.into_iter().chain(rest);
    *open = all.filter(|bucket| bucket.len() > 1).collect();
    Ok(())
}

/// Sorts buckets by the comparisons of all their pairs, short ones first, as far as there is room.
async fn pairs<C: Comparing>(
    rows: &mut C,
    joining: &mut [u32],
    open: &mut Vec<Bucket>,
    room: usize,
) -> Result<(), Unsorted<C::Error>> {
    open.sort_by_key(Bucket::len);
    let mut batch = Batch::new(room);
    let mut done = 0;
    for bucket in &*open {
        if !batch.has_room(pairs_of(bucket.len())) {
            break;
        }
        let members = &joining[bucket.start..bucket.end];
        for (i, &left) in members.iter().enumerate() {
            members[i + 1..]
                .iter()
                .for_each(|&right| batch.push(left, right));
        }
        done += 1;
    }
    let before = batch.compare(rows).await?;
    let mut at = 0;
    let (mut ranks, mut members) = (Vec::new(), Vec::new());
    for bucket in open.drain(..done) {
        let places = &mut joining[bucket.start..bucket.end];
        ranks.clear();
        ranks.resize(places.len(), 0);
        for left in 0..places.len() {
            for right in left + 1..places.len() {
                let later = if bit(&before, at) { right } else { left };
                ranks[later] += 1;
                at += 1;
            }
        }
        members.clear();
        members.extend_from_slice(places);
        for (&row, &rank) in members.iter().zip(&ranks) {
            places[rank] = row;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures_util::FutureExt;
    use madrigal_core::bits;
    use madrigal_kernels::{Block, Prg};

    use super::*;

    /// Rows in the clear.
    struct Clear<'a> {
        keys: &'a [u32],
        asked: Vec<Step>,
        used: Vec<usize>,
    }

    impl Comparing for Clear<'_> {
        type Error = Infallible;

        async fn before(&mut self, left: &[u32], right: &[u32]) -> Result<Vec<u8>, Infallible> {
            assert_eq!(left.len(), right.len());
            self.asked.push(Step::Pairs(left.len()));
            let mut used = 0;
            let mut found = vec![0; bits::bytes_for(left.len())];
            for (i, (&left, &right)) in left.iter().zip(right).enumerate() {
                used += usize::from(left != right);
                let before = self.keys[left as usize] < self.keys[right as usize];
                found[i / 8] |= u8::from(before) << (i % 8);
            }
            self.used.push(used);
            Ok(found)
        }

        async fn places(
            &mut self,
            first: usize,
            count: usize,
            tree: &[u32],
        ) -> Result<Vec<u32>, Infallible> {
            let depth = (tree.len() + 1).ilog2() as usize;
            self.asked.push(Step::Tree { rows: count, depth });
            self.used.push(count * depth);
            let keys = &self.keys[first..first + count];
            let place = |key: &u32| tree.partition_point(|&row| self.keys[row as usize] < *key);
            Ok(keys.iter().map(|key| place(key) as u32).collect())
        }
    }

    fn shuffled(rows: usize, seed: u64) -> Vec<u32> {
        let mut rng = Prg::numbered(Block::new(seed, 1), rows as u64);
        let mut keys: Vec<u32> = (0..rows as u32).collect();
        for i in (1..rows).rev() {
            keys.swap(i, (rng.next_block().lo() % (i as u64 + 1)) as usize);
        }
        keys
    }

    fn sorted(keys: &[u32]) -> (Vec<usize>, Course) {
        let course = Course::new(keys.len());
        let mut rows = Clear {
            keys,
            asked: Vec::new(),
            used: Vec::new(),
        };
        let order = order(&course, &mut rows)
            .now_or_never()
            .expect("nobody waits");
        let order = order.unwrap_or_else(|_| panic!("bad luck with {} rows", keys.len()));
        assert_eq!(rows.asked, course.steps().collect::<Vec<_>>());
        let found: Vec<u32> = order.iter().map(|&row| keys[row as usize]).collect();
        assert!(found.iter().copied().eq(0..keys.len() as u32));
        (rows.used, course)
    }

    /// Keys with few long buckets and many, around all lengths where a course changes: in order, and with room to spare. The seeds are the
    /// same each time, as bad luck is allowed.
    #[test]
    fn rows_are_sorted_with_room_to_spare() {
        let rows = [
            0, 1, 2, 3, 100, 256, 257, 382, 383, 510, 511, 1022, 1023, 1500, 2046, 5000, 40_000,
        ];
        for rows in rows {
            let course = Course::new(rows);
            for seed in 0..(60_000 / rows.max(100)) as u64 {
                let (used, _) = sorted(&shuffled(rows, seed));
                let mut steps = course.steps().zip(used).collect::<Vec<_>>();
                let last = steps.pop();
                for (step, used) in &steps {
                    if let Step::Pairs(room) = *step {
                        assert!(*used <= room, "{used} of {room}");
                    }
                }
                // Nothing is left for the last step of a level.
                assert!(
                    rows <= BASE || last.is_some_and(|(_, used)| used == 0),
                    "{rows} rows, {seed}"
                );
            }
        }
    }

    /// A bucket of hundreds of rows, which would not fit the room for pairs, is cut into eight.
    #[test]
    fn long_buckets_are_cut_into_eight() {
        let rows = 600;
        let keys: Vec<u32> = (0..rows as u32).collect();
        let sorted_rows = Course::new(rows).levels[0].sorted();
        let mut joining: Vec<u32> = (sorted_rows as u32..rows as u32).collect();
        let start = Bucket {
            start: 0,
            end: joining.len(),
        };
        let mut open = vec![start];
        let mut clear = Clear {
            keys: &keys,
            asked: Vec::new(),
            used: Vec::new(),
        };
        let room = 7 * joining.len();
        let made = cut(&mut clear, &mut joining, &mut open, room).now_or_never();
        made.expect("nobody waits")
            .unwrap_or_else(|_| panic!("no luck is needed"));
        assert_eq!(clear.asked, [Step::Pairs(room)]);
        // Rows stand in ascending order here, so that the seven first ones are the least: one part has all the rest.
        assert_eq!(open.len(), 1);
        assert_eq!(open[0].len(), joining.len() - PIVOTS);
        let found = joining.iter().map(|&row| keys[row as usize]);
        assert!(found.is_sorted());
    }

    #[test]
    fn places_have_one_row_each() {
        assert_eq!(inverse(&[]), Some(vec![]));
        assert_eq!(inverse(&[2, 0, 1]), Some(vec![1, 2, 0]));
        assert_eq!(inverse(&[0, 1, 1]), None);
        assert_eq!(inverse(&[0, 1, 3]), None);
        assert_eq!(inverse(&[u32::MAX]), None);
    }

    #[test]
    fn a_million_rows_take_twenty_comparisons_each() {
        let course = Course::new(1_000_000);
        assert!((19_000_000..21_000_000).contains(&course.comparisons()));
        assert_eq!(course.steps().count(), 26);
        assert_eq!(Course::new(0).steps().count(), 0);
        assert_eq!(Course::new(1).steps().count(), 0);
        assert_eq!(
            Course::new(256).steps().collect::<Vec<_>>(),
            [Step::Pairs(32_640)]
        );
    }
}
