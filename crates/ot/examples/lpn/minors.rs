//! Dense minors: the code is sparse, so a set S of b k columns has rows all of whose ones lie in it,
//! about n b^d of them. Once these are b k they determine the secret there, and so few rows escape
//! the errors far more often than k do: (1 - b k / n)^t. Rows that also touch columns outside S are no
//! use unless such a column has a second row, and then it belongs into S. (The name is that of the
//! literature on sparse LPN, where the same attack is a distinguisher; what a secret is found by in
//! "Algorithms for Sparse LPN and LSPN Against Low-noise", arXiv 2407.19215, is the first step here.)
//!
//! The question is how small S may be. [`random`] columns give a first answer. [`peel`] simulates an attacker who
//! drops the column with the fewest rows over and over. And [`exists`] is what nobody can undercut: below
//! it the expected *number* of sets with as many rows as columns is less than one.

use madrigal_kernels::{Block, Prg};

use crate::problem::Problem;

/// Share of the columns at which random ones have as many rows: b^d n = b k.
pub(crate) fn random(problem: &Problem) -> f64 {
    (problem.k / problem.n).powf(1.0 / (problem.d - 1.0))
}

/// Share of the columns below which no set has as many rows as columns, by the first moment: the number
/// of sets, 2^(k h(b)), times the chance that one of them has b k rows or more, which is at most
/// exp(-n D(b k / n || b^d)) by Chernoff's bound. (An index that comes twice in a row cancels; rows
/// with such are some n d^2 / 2 k, too few to matter.)
pub(crate) fn exists(problem: &Problem) -> f64 {
    let enough = |b: f64| best_share(problem, b) * problem.n >= b * problem.k;
    crate::problem::least(1e-3, 1.0, enough).unwrap_or(1.0)
}

/// The largest share of the rows that any b k columns may hold, by the same bound.
pub(crate) fn best_share(problem: &Problem, b: f64) -> f64 {
    if b >= 1.0 {
        return 1.0;
    }
    let nats = |x: f64| if x > 0.0 { -x * x.ln() } else { 0.0 };
    let sets = problem.k * (nats(b) + nats(1.0 - b));
    let p = b.powf(problem.d);
    let divergence = |x: f64| {
        let rest = if x < 1.0 {
            (1.0 - x) * ((1.0 - x) / (1.0 - p)).ln()
        } else {
            0.0
        };
        x * (x / p).ln() + rest
    };
    crate::problem::least(p, 1.0, |x| problem.n * divergence(x) >= sets).unwrap_or(1.0)
}

/// A code as [`madrigal_kernels::lpn`] makes it: `rows[i]` lists the columns of row i.
pub(crate) struct Code {
    pub(crate) columns: usize,
    pub(crate) locality: usize,
    pub(crate) ones: Vec<u32>,
}

impl Code {
    pub(crate) fn new(seed: u64, rows: usize, columns: usize, locality: usize) -> Self {
        let mut words = vec![0_u64; (rows * locality).div_ceil(2)];
        Prg::new(Block::new(seed, 0x6c70_6e00)).fill_words(&mut words);
        let halves = words
            .iter()
            .flat_map(|&word| [word as u32, (word >> 32) as u32]);
        let place = |word: u32| ((u64::from(word) * columns as u64) >> 32) as u32;
        Code {
            columns,
            locality,
            ones: halves.take(rows * locality).map(place).collect(),
        }
    }

    pub(crate) fn rows(&self) -> std::slice::ChunksExact<'_, u32> {
        self.ones.chunks_exact(self.locality)
    }
}

/// The columns that are left when those with the fewest rows have been dropped, one by one, for as
/// long as more than `surplus` rows more than columns remain. `dropped` are out from the start.
pub(crate) fn peel(code: &Code, surplus: usize, dropped: &[usize]) -> Vec<bool> {
    let mut queue = Queue::new(code);
    let mut alive = vec![true; code.rows().len()];
    let mut best = 0;
    let mut order = Vec::new();
    let mut rows = alive.len();
    let mut dropped = dropped.iter();
    while let Some(column) = dropped.next().copied().or_else(|| queue.lightest()) {
        queue.remove(column);
        order.push(column);
        let (first, end) = (queue.start[column], queue.start[column + 1]);
        for place in first..end {
            let row = queue.rows[place as usize] as usize;
            if std::mem::replace(&mut alive[row], false) {
                rows -= 1;
                for &other in &code.ones[row * code.locality..][..code.locality] {
                    queue.lighten(other as usize);
                }
            }
        }
        if rows >= code.columns - order.len() + surplus {
            best = order.len();
        }
    }
    let mut left = vec![true; code.columns];
    for &column in &order[..best] {
        left[column] = false;
    }
    left
}

/// The columns by their number of living rows: a doubly linked list for each number.
struct Queue {
    /// Rows of column j are `rows[start[j]..start[j + 1]]`.
    start: Vec<u32>,
    rows: Vec<u32>,
    degree: Vec<u32>,
    heads: Vec<u32>,
    links: Vec<[u32; 2]>,
    gone: Vec<bool>,
    least: usize,
}

const NONE: u32 = u32::MAX;

impl Queue {
    fn new(code: &Code) -> Self {
        let mut degree = vec![0_u32; code.columns];
        for &column in &code.ones {
            degree[column as usize] += 1;
        }
        let mut start = vec![0; code.columns + 1];
        for (column, &degree) in degree.iter().enumerate() {
            start[column + 1] = start[column] + degree;
        }
        let mut next = start.clone();
        let mut rows = vec![0; code.ones.len()];
        for (place, &column) in code.ones.iter().enumerate() {
            let to = &mut next[column as usize];
            rows[*to as usize] = (place / code.locality) as u32;
            *to += 1;
        }
        let most = degree.iter().max().copied().unwrap_or(0);
        let mut queue = Queue {
            start,
            rows,
            degree,
            heads: vec![NONE; most as usize + 1],
            links: vec![[NONE; 2]; code.columns],
            gone: vec![false; code.columns],
            least: 0,
        };
        for column in 0..code.columns {
            queue.insert(column);
        }
        queue
    }

    fn lightest(&mut self) -> Option<usize> {
        while self.least < self.heads.len() {
            match self.heads[self.least] {
                NONE => self.least += 1,
                column => return Some(column as usize),
            }
        }
        None
    }

    fn insert(&mut self, column: usize) {
        let degree = self.degree[column] as usize;
        let head = std::mem::replace(&mut self.heads[degree], column as u32);
        if head != NONE {
            self.links[head as usize][0] = column as u32;
        }
        self.links[column] = [NONE, head];
        self.least = self.least.min(degree);
    }

    fn unlink(&mut self, column: usize) {
        let [before, after] = self.links[column];
        match before {
            NONE => self.heads[self.degree[column] as usize] = after,
            before => self.links[before as usize][1] = after,
        }
        if after != NONE {
            self.links[after as usize][0] = before;
        }
    }

    fn remove(&mut self, column: usize) {
        self.unlink(column);
        self.gone[column] = true;
    }

    /// A row of the column is gone.
    fn lighten(&mut self, column: usize) {
        if !self.gone[column] {
            self.unlink(column);
            self.degree[column] -= 1;
            self.insert(column);
        }
    }
}
