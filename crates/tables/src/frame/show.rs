//! Steps as text, a line for each.

use std::fmt;

use super::{Frame, Join, Node, SortKey};

fn keys_of(keys: &[SortKey]) -> String {
    let keys = keys.iter().map(|key| match key.descending {
        true => format!("{} descending", key.column),
        false => key.column.clone(),
    });
    keys.collect::<Vec<_>>().join(", ")
}

impl Frame {
    /// The step in words, without the bytes that tell names apart which no query has.
    pub(crate) fn words(&self) -> String {
        self.full_words().replace('\u{0}', "")
    }

    fn full_words(&self) -> String {
        let names = |names: &[String]| names.join(", ");
        match &*self.node {
            Node::Table(table) => format!(
                "table {} of {}, {} rows{}",
                table.name,
                table.owner,
                table.rows,
                if table.is_padded { " at most" } else { "" }
            ),
            Node::Filter(_, condition) => format!("filter {condition}"),
            Node::Select(_, columns) => {
                let columns: Vec<String> = columns
                    .iter()
                    .map(|(name, value)| {
                        let value = value.to_string();
                        match *name == value {
                            true => value,
                            false => format!("{value} as {name}"),
                        }
                    })
                    .collect();
                format!("select {}", columns.join(", "))
            }
            Node::Lookup(_, _, lookup) => {
                let on: Vec<String> = lookup
                    .on
                    .iter()
                    .map(|(own, others)| format!("{own} = {others}"))
                    .collect();
                let join = match lookup.join {
                    Join::Inner => "inner",
                    Join::Left => "left",
                    Join::Semi => "semi",
                    Join::Anti => "anti",
                    Join::Full => "full",
                };
                format!("{join} join on {}", on.join(" and "))
            }
            Node::Beside(..) => "beside the only row of".into(),
            Node::Group(_, groups) => {
                let told: Vec<String> = groups
                    .aggregates
                    .iter()
                    .map(|(name, aggregate)| format!("{aggregate} as {name}"))
                    .collect();
                let by = match groups.keys.is_empty() {
                    true => "all rows".into(),
                    false => format!("group by {}", names(&groups.keys)),
                };
                let least = match groups.at_least {
                    0 | 1 => String::new(),
                    least => format!(", groups of {least} rows or more"),
                };
                match told.is_empty() {
                    true => format!("{by}{least}"),
                    false => format!("{by}{least}: {}", told.join(", ")),
                }
            }
            Node::Sort(_, keys) => format!("sort by {}", keys_of(keys)),
            Node::Window(_, windows) => {
                let told: Vec<String> = windows
                    .functions
                    .iter()
                    .map(|(name, function)| format!("{function} as {name}"))
                    .collect();
                let mut over = Vec::new();
                if !windows.partition.is_empty() {
                    over.push(format!("partition by {}", names(&windows.partition)));
                }
                if !windows.order.is_empty() {
                    over.push(format!("order by {}", keys_of(&windows.order)));
                }
                format!("{} over ({})", told.join(", "), over.join(" "))
            }
            Node::Copies(_, copies) => format!(
                "as many copies as {} says, at most {}",
                copies.count, copies.most
            ),
            Node::Slice(_, 0, rows) => format!("first {rows} rows"),
            Node::Slice(_, skip, usize::MAX) => format!("rows after the first {skip}"),
            Node::Slice(_, skip, rows) => format!("{rows} rows after the first {skip}"),
            Node::Bound(_, rows) => format!("at most {rows} rows"),
            Node::Union(_) => "union of".into(),
        }
    }

    fn tree(&self, depth: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:width$}{}", "", self.words(), width = 2 * depth)?;
        self.inputs()
            .into_iter()
            .try_for_each(|input| input.tree(depth + 1, f))
    }
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.tree(0, f)
    }
}
