//! The program of a question: sums of what parties bring, suppression, and what is opened.

use madrigal_program::{
    Computation, Everyone, Integer, Opened, Party, Program, ProgramError, Secret,
};

use crate::card::Agreed;
use crate::inputs::{BITS, NARROW, WIDE, bits_of, groups_as_bits, names};
use crate::quantile::quantiles;
use crate::question::{Ask, Held, Question};
use crate::shown::{complemented, shown};
use crate::terms::{Layout, Term, Terms, Width};

/// Opened values of a statistic, group by group; 0 where they are withheld.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Handle {
    /// Number.
    Count(Opened<i64>),
    /// Whether it is told, and the sum.
    Sum(Opened<bool>, Opened<i64>),
    /// Number and sum.
    Mean(Opened<i64>, Opened<i64>),
    /// Number, and number times sum of squares less square of the sum.
    Variance(Opened<i64>, Opened<i128>),
    /// Whether it is told; number times sum of products less product of the sums: of the first column with itself, of the
    /// second, of both.
    Correlation(Opened<bool>, Opened<i128>),
    /// Numbers, bin by bin.
    Histogram(Opened<i64>),
    /// Whether they are told; quantiles less the least of the column's range, one by one.
    Quantiles(Opened<bool>, Opened<i64>),
}

/// A question as a program.
#[derive(Debug, Clone)]
pub struct Answering {
    /// The program.
    pub program: Computation,
    pub(crate) handles: Vec<Handle>,
}

/// Sums of one width.
struct Sums<T> {
    /// Each sum of all parties, `[group]`.
    totals: Vec<Secret<T>>,
    /// For each sum what each party has added up alone.
    own: Vec<Vec<Secret<T>>>,
}

impl Answering {
    /// Makes the program of a question, on what the parties agree on: equal at all of them.
    ///
    /// # Errors
    /// [`ProgramError`]: tables that are too large for a program.
    pub fn new(question: &Question, agreed: &Agreed) -> Result<Self, ProgramError> {
        let mut p = Program::new(agreed.parties);
        let layout = Layout::new(question, agreed);
        let narrow = sums::<i64>(&mut p, question, agreed, &layout.narrow, NARROW);
        let wide = sums::<i128>(&mut p, question, agreed, &layout.wide, WIDE);
        let mut building = Building {
            question,
            agreed,
            narrow: (&layout.narrow, narrow),
            wide: (&layout.wide, wide),
            shown: Vec::new(),
            group_bits: groups_as_bits(question, agreed).then(|| {
                let holder = Party::new(agreed.group_holder.unwrap_or(0));
                let axes = [question.groups(), agreed.rows[holder.index()]];
                p.input_named(&names::groups(BITS), holder, axes)
            }),
            columns: Vec::new(),
        };
        let handles = (0..question.asks.len()).map(|place| building.ask(&mut p, place));
        let handles = handles.collect();
        let program = p.finish()?;
        Ok(Self { program, handles })
    }
}

/// Makes sums of what the parties bring.
fn sums<T: Integer>(
    p: &mut Program,
    question: &Question,
    agreed: &Agreed,
    width: &Width,
    name: &str,
) -> Sums<T> {
    let groups = question.groups();
    let mut own: Vec<Vec<Secret<T>>> = width.terms.iter().map(|_| Vec::new()).collect();
    for (party, local) in width
        .local
        .iter()
        .enumerate()
        .filter(|(_, local)| !local.is_empty())
    {
        let name = names::sums(name, party);
        let sums = p.input_named::<T>(&name, Party::new(party), [local.len(), groups]);
        for (place, &term) in local.iter().enumerate() {
            own[term].push(sums.at(0, place));
        }
    }
    let mut joint: Vec<Option<Secret<T>>> = width.terms.iter().map(|_| None).collect();
    if !width.joint.is_empty() {
        let factors = width.factors.iter().enumerate();
        let factors: Vec<Option<Secret<T>>> = factors
            .map(|(party, factors)| {
                let axes = [factors.len(), agreed.rows[party]];
                let name = names::factors(name, party);
                let here = !factors.is_empty();
                here.then(|| p.input_named(&name, Party::new(party), axes))
            })
            .collect();
        let by = agreed.group_holder.map(|holder| {
            let axes = [groups, agreed.rows[holder]];
            p.input_named::<T>(&names::groups(name), Party::new(holder), axes)
        });
        let factor = |&(party, place): &(usize, usize)| {
            let of = factors[party].as_ref().expect("a party with factors");
            of.slice(0, place..=place)
        };
        let terms = width.joint.iter();
        let products: Vec<Secret<T>> = terms
            .map(|(_, parts)| {
                let all = parts.iter().map(factor);
                let product = all.reduce(|product, next| product * next);
                product.expect("a product has a factor")
            })
            .collect();
        let products = p.concat(&products, 0);
        let found = match by {
            Some(by) => products.matmul(by.transpose()),
            None => products.sum(1).expand(1),
        };
        for (place, (term, _)) in width.joint.iter().enumerate() {
            joint[*term] = Some(found.at(0, place));
        }
    }
    let totals = own.iter().zip(joint).map(|(own, joint)| {
        let all = own.iter().cloned().chain(joint);
        all.reduce(|sum, next| sum + next)
            .expect("a sum that somebody brings")
    });
    let totals = totals.collect();
    if question.held == Held::Columns {
        own.iter_mut().for_each(Vec::clear);
    }
    Sums { totals, own }
}

/// A program in the making.
struct Building<'a> {
    question: &'a Question,
    agreed: &'a Agreed,
    narrow: (&'a Width, Sums<i64>),
    wide: (&'a Width, Sums<i128>),
    /// Bits that say what may be told, by the numbers that they are about.
    shown: Vec<(Term, Secret<bool>)>,
    /// Groups as bits, where these are brought apart from columns.
    group_bits: Option<Secret<bool>>,
    /// Bits and members of columns with quantiles.
    columns: Vec<(usize, Secret<bool>, Secret<bool>)>,
}

impl Building<'_> {
    fn narrow(&self, term: &Term) -> Secret<i64> {
        self.narrow.1.totals[self.narrow.0.place(term)].clone()
    }

    fn wide(&self, term: &Term) -> Secret<i128> {
        self.wide.1.totals[self.wide.0.place(term)].clone()
    }

    /// Whether small groups are withheld.
    fn suppresses(&self) -> bool {
        self.question.least > 1
    }

    /// Whether what rests on this number of members may be told, `[group]`.
    fn shown(&mut self, p: &mut Program, count: &Term) -> Secret<bool> {
        if let Some((_, known)) = self.shown.iter().find(|(term, _)| term == count) {
            return known.clone();
        }
        let place = self.narrow.0.place(count);
        let sums = &self.narrow.1;
        let found = shown(
            p,
            &sums.totals[place],
            &sums.own[place],
            self.question.least,
        );
        self.shown.push((count.clone(), found.clone()));
        found
    }

    /// A value where it may be told, else 0.
    fn told<T: Integer>(&mut self, p: &mut Program, count: &Term, value: Secret<T>) -> Secret<T> {
        match self.suppresses() {
            true => self.shown(p, count).select(value, T::default()),
            false => value,
        }
    }

    /// Opens a statistic.
    fn ask(&mut self, p: &mut Program, place: usize) -> Handle {
        let question = self.question;
        let title = format!("{place}: {}", question.title(&question.asks[place]));
        let open = |what: &str| format!("{title}, {what}");
        let terms = Terms::of(question, place);
        let count = &terms.narrow[0];
        let members = self.narrow(count);
        match &question.asks[place] {
            Ask::Rows | Ask::Count(_) => {
                let told = self.told(p, count, members);
                Handle::Count(p.open_named(&open("number"), told, Everyone))
            }
            Ask::Sum(_) => {
                let sum = self.told(p, count, self.narrow(&terms.narrow[1]));
                let shown = self.shown(p, count);
                Handle::Sum(
                    p.open_named(&open("is told"), shown, Everyone),
                    p.open_named(&open("sum"), sum, Everyone),
                )
            }
            Ask::Mean(_) => {
                let sum = self.told(p, count, self.narrow(&terms.narrow[1]));
                let members = self.told(p, count, members);
                Handle::Mean(
                    p.open_named(&open("number"), members, Everyone),
                    p.open_named(&open("sum"), sum, Everyone),
                )
            }
            Ask::Variance(_) => {
                let [number, sum, squares] = [0, 1, 2].map(|at| self.wide(&terms.wide[at]));
                let spread = number * squares - sum.square();
                let spread = self.told(p, count, spread);
                let members = self.told(p, count, members);
                Handle::Variance(
                    p.open_named(&open("number"), members, Everyone),
                    p.open_named(&open("spread"), spread, Everyone),
                )
            }
            Ask::Correlation(..) => {
                let all = [0, 1, 2, 3, 4, 5].map(|at| self.wide(&terms.wide[at]));
                let [number, x, y, xx, yy, xy] = &all;
                let (left, right) = (
                    p.stack(&[x.clone(), y.clone(), x.clone()], 0),
                    p.stack(&[x.clone(), y.clone(), y.clone()], 0),
                );
                let sums = p.stack(&[xx.clone(), yy.clone(), xy.clone()], 0);
                let spreads = number.expand(0) * sums - left * right;
                let spreads = self.told(p, count, spreads);
                let shown = self.shown(p, count);
                Handle::Correlation(
                    p.open_named(&open("is told"), shown, Everyone),
                    p.open_named(&open("spreads"), spreads, Everyone),
                )
            }
            Ask::Histogram(..) => self.histogram(p, &terms.narrow, &open("numbers")),
            Ask::Quantiles(column, at) => {
                let (bits, rows) = self.column(p, *column);
                let found = quantiles(p, &bits, &rows, &members, at);
                let shown = self.shown(p, count);
                let found = shown.expand(1).select(found, 0);
                Handle::Quantiles(
                    p.open_named(&open("is told"), shown, Everyone),
                    p.open_named(&open("values"), found, Everyone),
                )
            }
        }
    }

    /// Opens the numbers of bins, `[group, bin]`.
    fn histogram(&mut self, p: &mut Program, bins: &[Term], name: &str) -> Handle {
        let sums = &self.narrow.1;
        let places: Vec<usize> = bins.iter().map(|bin| self.narrow.0.place(bin)).collect();
        let side = |p: &mut Program, of: &dyn Fn(usize) -> Secret<i64>| {
            let each: Vec<Secret<i64>> = places.iter().map(|&place| of(place)).collect();
            p.stack(&each, 1)
        };
        let counts = side(p, &|place| sums.totals[place].clone());
        let told = match self.suppresses() {
            false => counts,
            true => {
                let parties = places.first().map_or(0, |&place| sums.own[place].len());
                let own =
                    (0..parties).map(|party| side(p, &|place| sums.own[place][party].clone()));
                let own: Vec<Secret<i64>> = own.collect();
                let shown = shown(p, &counts, &own, self.question.least);
                complemented(p, &counts, &shown).select(counts, 0)
            }
        };
        Handle::Histogram(p.open_named(name, told, Everyone))
    }

    /// Bits of a column's values, `[bit, row]`, and which rows count in which group, `[group, row]`.
    fn column(&mut self, p: &mut Program, column: usize) -> (Secret<bool>, Secret<bool>) {
        let known = self.columns.iter().find(|(known, ..)| *known == column);
        if let Some((_, bits, members)) = known {
            return (bits.clone(), members.clone());
        }
        let of = &self.agreed.columns[column];
        let apart = of.holder.is_some() && self.agreed.group_holder != of.holder;
        let groups = if apart { 1 } else { self.question.groups() };
        let (mut bits, mut members) = (Vec::new(), Vec::new());
        let holders = self.agreed.holders();
        for holder in holders.filter(|&party| of.holder.is_none_or(|holder| holder == party)) {
            let (party, rows) = (Party::new(holder), self.agreed.rows[holder]);
            let axes = [bits_of(of.range) as usize, rows];
            bits.push(p.input_named::<bool>(&names::bits(column, holder), party, axes));
            let axes = [groups, rows];
            members.push(p.input_named::<bool>(&names::members(column, holder), party, axes));
        }
        let (bits, mut members) = (p.concat(&bits, 1), p.concat(&members, 1));
        if let Some(by) = self.group_bits.as_ref().filter(|_| apart) {
            members = members & by;
        }
        self.columns.push((column, bits.clone(), members.clone()));
        (bits, members)
    }
}
