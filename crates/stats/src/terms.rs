//! Sums that statistics are made of, and which party has what of them.
//!
//! Each statistic but quantiles is made of sums over rows of products of factors: of 1, values, squares, and bits that say
//! in which bin a value is. A party that has all factors of a sum, and the groups, adds up alone and brings one number for
//! each group: that is so of all sums where parties hold rows, so that nothing but additions is left for the
//! protocols, however long the tables are. Where parties hold columns, factors of several parties meet row by row.

use crate::card::Agreed;
use crate::question::{Ask, Held, Question};

/// A factor of a sum, that one column has in each row; 0 where the value is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Factor {
    /// 1.
    Present(usize),
    /// The value.
    Value(usize),
    /// The value's square.
    Square(usize),
    /// 1 where the value is in a bin of the histogram that is asked for in this place.
    Bin {
        /// Place of the question's statistic.
        ask: usize,
        /// Column.
        column: usize,
        /// Number of the bin.
        bin: usize,
    },
}

impl Factor {
    pub(crate) fn column(self) -> usize {
        match self {
            Self::Present(column) | Self::Value(column) | Self::Square(column) => column,
            Self::Bin { column, .. } => column,
        }
    }
}

/// A sum over rows: of the product of these factors, or of 1 without any.
pub(crate) type Term = Vec<Factor>;

/// Sums that a statistic is made of: those in 64 bits, and those in 128.
pub(crate) struct Terms {
    /// Numbers of rows or values first, then sums of values.
    pub(crate) narrow: Vec<Term>,
    /// Sums that squares and products of values go with.
    pub(crate) wide: Vec<Term>,
}

impl Terms {
    /// The sums of the question's statistic `place`.
    pub(crate) fn of(question: &Question, place: usize) -> Self {
        use Factor::{Bin, Present, Square, Value};
        let (narrow, wide) = match &question.asks[place] {
            Ask::Rows => (vec![vec![]], vec![]),
            &Ask::Count(x) | &Ask::Quantiles(x, _) => (vec![vec![Present(x)]], vec![]),
            &Ask::Sum(x) | &Ask::Mean(x) => (vec![vec![Present(x)], vec![Value(x)]], vec![]),
            &Ask::Variance(x) => {
                let wide = vec![vec![Present(x)], vec![Value(x)], vec![Square(x)]];
                (vec![vec![Present(x)]], wide)
            }
            &Ask::Correlation(x, y) => {
                let both = vec![Present(x), Present(y)];
                let wide = vec![
                    both.clone(),
                    vec![Value(x), Present(y)],
                    vec![Present(x), Value(y)],
                    vec![Square(x), Present(y)],
                    vec![Present(x), Square(y)],
                    vec![Value(x), Value(y)],
                ];
                (vec![both], wide)
            }
            Ask::Histogram(column, edges) => {
                let bins = 0..=edges.len();
                let column = *column;
                let bin = |bin| {
                    vec![Bin {
                        ask: place,
                        column,
                        bin,
                    }]
                };
                (bins.map(bin).collect(), vec![])
            }
        };
        Self { narrow, wide }
    }
}

/// All sums of one width, and who brings what.
#[derive(Debug, Default)]
pub(crate) struct Width {
    /// The sums, each once.
    pub(crate) terms: Vec<Term>,
    /// For each party the sums that it adds up alone.
    pub(crate) local: Vec<Vec<usize>>,
    /// For each party the products of its own factors that it brings row by row.
    pub(crate) factors: Vec<Vec<Term>>,
    /// Sums of products of what several parties bring row by row: party and place among its factors.
    pub(crate) joint: Vec<(usize, Vec<(usize, usize)>)>,
}

impl Width {
    /// Who brings what of these sums.
    pub(crate) fn new(question: &Question, agreed: &Agreed, terms: Vec<Term>) -> Self {
        let mut width = Self {
            local: vec![Vec::new(); agreed.parties],
            factors: vec![Vec::new(); agreed.parties],
            ..Self::default()
        };
        for term in terms {
            if !width.terms.contains(&term) {
                width.terms.push(term);
            }
        }
        for (number, term) in width.terms.clone().iter().enumerate() {
            if question.held == Held::Rows {
                for party in agreed.holders() {
                    width.local[party].push(number);
                }
                continue;
            }
            let holder = |factor: &Factor| agreed.columns[factor.column()].holder;
            let mut owners: Vec<usize> = term.iter().filter_map(holder).collect();
            owners.sort_unstable();
            owners.dedup();
            let alone = agreed.group_holder.or_else(|| agreed.holders().next());
            match (&owners[..], agreed.group_holder) {
                ([], _) => width.local[alone.unwrap_or(0)].push(number),
                (&[owner], None) => width.local[owner].push(number),
                (&[owner], Some(groups)) if groups == owner => width.local[owner].push(number),
                _ => {
                    let part = |&owner: &usize| {
                        let own = term
                            .iter()
                            .copied()
                            .filter(|one| holder(one) == Some(owner));
                        (owner, width.factor(owner, own.collect()))
                    };
                    let parts = owners.iter().map(part).collect::<Vec<_>>();
                    width.joint.push((number, parts));
                }
            }
        }
        width
    }

    /// Place of a product among those that a party brings.
    fn factor(&mut self, owner: usize, factor: Term) -> usize {
        let own = &mut self.factors[owner];
        let place = own.iter().position(|one| *one == factor);
        place.unwrap_or_else(|| {
            own.push(factor);
            own.len() - 1
        })
    }

    /// Place of a sum.
    pub(crate) fn place(&self, term: &Term) -> usize {
        let place = self.terms.iter().position(|one| one == term);
        place.expect("a sum of the question")
    }
}

/// All sums of a question.
pub(crate) struct Layout {
    /// Those in 64 bits.
    pub(crate) narrow: Width,
    /// Those in 128 bits.
    pub(crate) wide: Width,
}

impl Layout {
    pub(crate) fn new(question: &Question, agreed: &Agreed) -> Self {
        let (mut narrow, mut wide) = (Vec::new(), Vec::new());
        for place in 0..question.asks.len() {
            let terms = Terms::of(question, place);
            narrow.extend(terms.narrow);
            wide.extend(terms.wide);
        }
        Self {
            narrow: Width::new(question, agreed, narrow),
            wide: Width::new(question, agreed, wide),
        }
    }
}
