//! Queries made into programs on secrets.

mod copies;
mod find;
mod group;
mod needs;
mod open;
mod relation;
mod window;

use std::collections::HashMap;

use madrigal_program::{Plain, Program, Tensor, Type};

use crate::column::Column;
use crate::error::Fault;
use crate::expression::{Cell, Expression, Scope, fit, widest};
use crate::frame::{Frame, Join, Node};
use crate::kind::Kind;
use crate::table::Table;

use needs::{Needs, Uses};
pub(crate) use open::Opened;
pub(crate) use relation::Relation;

type Result<T> = std::result::Result<T, Fault>;

/// An input of the program: a column of a table, or whether its rows count.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Port {
    pub(crate) table: String,
    pub(crate) what: Input,
    pub(crate) element: Type,
}

/// Part of a table that an input brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Input {
    /// An element of each value of a column, by their numbers.
    Part(usize, usize),
    /// Whether each value of a column is there.
    Present(usize),
    /// Whether each row counts.
    Valid,
}

/// Makes a program of steps.
pub(crate) struct Lowering<'a> {
    pub(crate) program: &'a mut Program,
    /// Inputs in the order of the program's ports.
    pub(crate) ports: Vec<Port>,
    /// Inputs that are there.
    brought: HashMap<Port, Tensor>,
    /// Rows that each step gives, in the order of [`Frame::visit`].
    pub(crate) rows: Vec<usize>,
    /// Uses of each step that is not computed yet.
    uses: HashMap<*const Node, Uses>,
    /// Steps that are computed.
    done: HashMap<*const Node, Relation>,
}

impl<'a> Lowering<'a> {
    pub(crate) fn new(program: &'a mut Program, query: &Frame) -> Self {
        Self {
            program,
            ports: Vec::new(),
            brought: HashMap::new(),
            rows: Vec::new(),
            uses: needs::uses(query),
            done: HashMap::new(),
        }
    }

    /// The rows of a step, with the columns that are needed of it. A step that several are made of is computed once, so that all of them see the same
    /// rows where these are any.
    pub(crate) fn lower(&mut self, frame: &Frame) -> Result<Relation> {
        let identity = needs::identity(frame);
        if let Some(relation) = self.done.get(&identity) {
            return Ok(relation.clone());
        }
        let Uses { needs, may_spread } = self.uses.remove(&identity).expect("uses of each step");
        let mut inputs = Vec::new();
        let asked = needs::inputs(frame, &needs, may_spread);
        for (input, own) in frame.inputs().into_iter().zip(asked) {
            let all = self.uses.get(&needs::identity(input));
            let is_all = all.is_some_and(|all| all.needs == own.needs);
            let relation = self.lower(input)?;
            inputs.push(match is_all {
                true => relation,
                false => relation.only(&own.needs),
            });
        }
        self.begin();
        let relation = self.step(frame, inputs, &needs, may_spread)?;
        self.rows.push(relation.rows);
        self.done.insert(identity, relation.clone());
        Ok(relation)
    }

    /// The rows of a step, of those of the steps that it is made of.
    fn step(
        &mut self,
        frame: &Frame,
        inputs: Vec<Relation>,
        needs: &Needs,
        may_spread: bool,
    ) -> Result<Relation> {
        let mut inputs = inputs.into_iter();
        let mut next = || inputs.next().expect("an input of the step");
        Ok(match &*frame.node {
            Node::Table(table) => self.table(table, needs),
            Node::Filter(_, condition) => {
                let relation = next();
                let keep = relation.scope(self.program).truth(condition)?;
                relation.filtered(&keep).only(needs)
            }
            Node::Select(_, columns) => self.select(frame, next(), columns, needs)?,
            Node::Lookup(_, _, lookup) => {
                let (left, right) = (next(), next());
                self.find(frame, left, right, lookup, needs, may_spread)?
            }
            Node::Beside(_, _, outer) => {
                let (left, right) = (next(), next());
                let right = right.bounded(self.program, 1, "one row to put beside others");
                left.beside(self.program, &right, *outer)
            }
            Node::Group(input, groups) => self.group(frame, input, next(), groups, needs)?,
            Node::Sort(input, keys) => self.sort(input, next(), keys)?.only(needs),
            Node::Window(input, windows) => self.window(frame, input, next(), windows, needs)?,
            Node::Copies(_, copies) => self.copies(frame, next(), copies, needs)?,
            Node::Slice(_, skip, rows) => {
                // The first of rows without an order are any, and not those that come first in a table.
                let front = next().settled().compacted();
                front.slice(*skip..skip.saturating_add(*rows))
            }
            Node::Bound(_, rows) => {
                next().bounded(self.program, *rows, &format!("at most {rows} rows"))
            }
            Node::Union(all) => self.union(frame, inputs.collect(), all, needs)?,
        })
    }

    /// Operations from here on belong to the next step.
    fn begin(&mut self) {
        self.program.part(Some(self.rows.len() as u32));
    }

    fn table(&mut self, table: &Table, needs: &Needs) -> Relation {
        let mut columns = Vec::new();
        let mut cells = Vec::new();
        for (number, column) in table.columns.iter().enumerate() {
            let Some(wide) = needs.of(&column.name) else {
                continue;
            };
            let elements = column.kind.elements().into_iter().enumerate();
            let parts = elements
                .map(|(part, element)| {
                    let element = match wide && matches!(column.kind, Kind::Number(_)) {
                        true => widened(element),
                        false => element,
                    };
                    self.input(table, Input::Part(number, part), element)
                })
                .collect();
            let present = column
                .nullable
                .then(|| self.input(table, Input::Present(number), bool::TYPE));
            columns.push(column.clone());
            cells.push(Cell::new(column.kind.clone(), parts, present));
        }
        let valid = table
            .is_padded
            .then(|| self.input(table, Input::Valid, bool::TYPE));
        Relation::new(columns, cells, valid, table.rows)
    }

    fn input(&mut self, table: &Table, what: Input, element: Type) -> Tensor {
        let port = Port {
            table: table.name.clone(),
            what,
            element,
        };
        if let Some(tensor) = self.brought.get(&port) {
            return tensor.clone();
        }
        let name = match what {
            Input::Part(column, 0) => format!("{}.{}", table.name, table.columns[column].name),
            Input::Part(column, part) => {
                format!("{}.{}, part {part}", table.name, table.columns[column].name)
            }
            Input::Present(column) => {
                format!("{}.{}, present", table.name, table.columns[column].name)
            }
            Input::Valid => format!("{}, rows", table.name),
        };
        let name = match self
            .ports
            .iter()
            .any(|other| other.what == what && other.table == port.table)
        {
            true => format!("{name}, {element}"),
            false => name,
        };
        let tensor =
            self.program
                .tensor_input(Some(&name), table.owner.clone(), element, &[table.rows]);
        self.ports.push(port.clone());
        self.brought.insert(port, tensor.clone());
        tensor
    }

    fn select(
        &mut self,
        frame: &Frame,
        relation: Relation,
        columns: &[(String, Expression)],
        needs: &Needs,
    ) -> Result<Relation> {
        let mut made = Vec::new();
        let mut cells = Vec::new();
        let mut known: Vec<(&Expression, Cell)> = Vec::new();
        for (column, (name, value)) in frame.columns.iter().zip(columns) {
            if needs.of(name).is_none() {
                continue;
            }
            let cell = match known.iter().find(|one| one.0 == value) {
                Some((_, cell)) => cell.clone(),
                None => relation.scope(self.program).value(value)?,
            };
            known.push((value, cell.clone()));
            made.push(column.clone());
            cells.push(cell);
        }
        let renamed = |name: &String| -> Vec<String> {
            let of = columns
                .iter()
                .filter(|one| one.1 == Expression::Column(name.clone()));
            of.map(|one| one.0.clone()).collect()
        };
        let mut selected = relation.with_cells(made, cells);
        // An order that follows from columns that go tells of these.
        let kept = |column: &Column| {
            let own = Expression::Column(column.name.clone());
            columns
                .iter()
                .any(|(name, value)| *value == own && needs.of(name).is_some())
        };
        selected.is_canonical &= selected.is_asked || relation.columns.iter().all(kept);
        selected.rename(renamed);
        Ok(selected)
    }

    /// Rows in an order, those that count first. Rows with equal keys would stay in their order, which may tell of what is not opened: they
    /// are shuffled before.
    fn sort(
        &mut self,
        input: &Frame,
        relation: Relation,
        keys: &[crate::SortKey],
    ) -> Result<Relation> {
        let names: Vec<String> = keys.iter().map(|key| key.column.clone()).collect();
        let relation = match input.facts.is_unique(&names) {
            true => relation,
            // Groups that are equal in the keys come in the order of what names them.
            false if relation.is_canonical => relation,
            false => relation.mixed(),
        };
        let by = self.places_in_order(&relation, keys)?;
        Ok(relation.sorted(by, true).in_order())
    }

    /// The elements that rows are sorted by, and whether the greatest come first.
    fn places_in_order(
        &mut self,
        relation: &Relation,
        keys: &[crate::SortKey],
    ) -> Result<Vec<(Tensor, bool)>> {
        let mut by: Vec<(Tensor, bool)> = Vec::new();
        for key in keys {
            let mut scope = relation.scope(self.program);
            let cell = scope.value(&Expression::Column(key.column.clone()))?;
            let cell = scope.divided(cell)?.full(relation.rows);
            if let Some(present) = &cell.present {
                by.push((present.clone(), !key.nulls_first));
            }
            let zeroed = cell.zeroed(self.program);
            by.extend(zeroed.into_iter().map(|part| (part, key.descending)));
        }
        Ok(by)
    }

    fn union(
        &mut self,
        frame: &Frame,
        relations: Vec<Relation>,
        inputs: &[Frame],
        needs: &Needs,
    ) -> Result<Relation> {
        let mut columns = Vec::new();
        let mut cells = Vec::new();
        let rows: usize = relations.iter().map(|relation| relation.rows).sum();
        for (number, column) in frame.columns.iter().enumerate() {
            if needs.of(&column.name).is_none() {
                continue;
            }
            let mut parts: Vec<Vec<Tensor>> = Vec::new();
            let mut present: Vec<Option<Tensor>> = Vec::new();
            for (relation, input) in relations.iter().zip(inputs) {
                let name = &input.columns[number].name;
                let mut scope = relation.scope(self.program);
                let cell = scope.value(&Expression::Column(name.clone()))?;
                let cell = scope.converted(cell, &column.kind)?;
                let cell = cell.full(relation.rows);
                parts.push(cell.parts);
                present.push(cell.present);
            }
            let elements = column.kind.elements();
            let joined = (0..elements.len()).map(|part| {
                let all: Vec<&Tensor> = parts.iter().map(|parts| &parts[part]).collect();
                let element = widest(elements[part], all.iter().copied());
                let all: Vec<Tensor> = all.into_iter().map(|one| fit(one, element)).collect();
                Tensor::concat(&all.iter().collect::<Vec<_>>(), 0).expect("a table at least")
            });
            let joined = joined.collect();
            let present = self.flags(&relations, &present);
            columns.push(column.clone());
            cells.push(Cell::new(column.kind.clone(), joined, present));
        }
        let valid: Vec<Option<Tensor>> = relations
            .iter()
            .map(|relation| relation.valid.clone())
            .collect();
        let valid = self.flags(&relations, &valid);
        Ok(Relation::new(columns, cells, valid, rows))
    }

    /// Flags of several tables one after the other: all are true where there are none.
    fn flags(&mut self, relations: &[Relation], flags: &[Option<Tensor>]) -> Option<Tensor> {
        flags.iter().any(Option::is_some).then(|| {
            let all: Vec<Tensor> = relations
                .iter()
                .zip(flags)
                .map(|(relation, flag)| match flag {
                    Some(flag) => flag.clone(),
                    None => crate::rows::filled(self.program, true, [relation.rows]),
                })
                .collect();
            Tensor::concat(&all.iter().collect::<Vec<_>>(), 0).expect("a table at least")
        })
    }
}

/// The type of at least 64 bits that holds the elements of another one: what is added up and multiplied is wide from the beginning.
fn widened(element: Type) -> Type {
    match element.bits() {
        8 | 16 | 32 if element.is_signed() => i64::TYPE,
        8 | 16 | 32 => u64::TYPE,
        _ => element,
    }
}

/// Whether a join takes columns of the other table over.
pub(crate) const fn takes(join: Join) -> bool {
    matches!(join, Join::Inner | Join::Left)
}

impl Relation {
    /// Scope of expressions on the columns.
    pub(crate) fn scope<'a>(&'a self, program: &'a mut Program) -> Scope<'a> {
        Scope {
            program,
            columns: &self.columns,
            cells: &self.cells,
        }
    }
}

/// A column that a program alone knows.
pub(crate) fn hidden(name: &str, kind: Kind) -> Column {
    Column::new(format!("{name}\u{0}"), kind)
}
