//! Items that are bought together: each party is a shop that knows which of its items each of the same customers
//! has bought, and all learn the sets of items that at least `--support` customers have bought whole.
//!
//! A set is frequent only if all sets within it are, so the candidates of a stage are put together of those that the
//! stage before has found frequent (Agrawal and Srikant, "Fast algorithms for mining association rules", 1994; on
//! tables of several parties Vaidya and Clifton, 2002). What is opened decides what is computed next: to look at
//! all sets at once, 64 for two shops of three items and 2^40 for two of twenty, would be the only other way.
//!
//! Opened is, for each candidate, whether it is frequent. That is no more than the result says: candidates that are
//! frequent are the result, and of the others the result says that they are not. How many customers have bought
//! a set, and which, stays secret.
//!
//! `cargo run --release --example frequent_sets -- --local 2 --customers 4 --items 2 --support 3 -i bought0=1,1,1,0,1,1,0,1 -i bought1=1,0,1,0,1,1,0,0`

use std::collections::BTreeSet;
use std::process::ExitCode;

use madrigal::Party;
use madrigal::app::{Numbers, Staged};
use madrigal::program::{Everyone, Secret, StageError, Stages};

/// Items by number, those of the first shop first; in order.
type Set = Vec<usize>;

async fn frequent_sets(mut stages: Stages<'_>, numbers: &Numbers) -> Result<String, StageError> {
    let (customers, items) = (numbers.get("customers"), numbers.get("items"));
    let support = numbers.get("support") as u32;
    let mut p = stages.program();
    let shops: Vec<Secret<bool>> = Party::all(p.parties())
        .map(|shop| {
            let name = format!("bought{}", shop.index());
            p.input_named(&name, shop, [customers, items])
        })
        .collect();
    // A row for each item, of 1 for each customer who has bought it.
    let bought = p.concat(&shops, 1).transpose().cast::<u32>();
    let mut enough = p.open_named("frequent", bought.sum(1).ge(support), Everyone);
    let single = p.keep(&bought);
    let mut together = single.clone();
    let mut candidates: Vec<Set> = (0..bought.shape().axes()[0])
        .map(|item| vec![item])
        .collect();
    let mut found: Vec<Set> = Vec::new();
    loop {
        let opened = stages.run(p).await?.get(enough);
        let frequent: Vec<usize> = (0..opened.len()).filter(|&place| opened[place]).collect();
        found.extend(frequent.iter().map(|&place| candidates[place].clone()));
        let (sets, places) = larger(&candidates, &frequent);
        if sets.is_empty() {
            break;
        }
        p = stages.program();
        let added: Vec<usize> = sets.iter().filter_map(|set| set.last().copied()).collect();
        let smaller = p.kept(&together).pick(0, &places);
        let both = smaller * p.kept(&single).pick(0, &added);
        enough = p.open_named("frequent", both.sum(1).ge(support), Everyone);
        together = p.keep(&both);
        candidates = sets;
    }
    let item = |item: &usize| format!("{}.{}", item / items, item % items);
    let line = |set: &Set| set.iter().map(item).collect::<Vec<_>>().join(" ") + "\n";
    match found.is_empty() {
        true => Ok("no items".to_owned()),
        false => Ok(found.iter().map(line).collect()),
    }
}

/// The sets with one item more, all of whose parts are frequent; and for each the place of its first part among
/// the candidates of now.
fn larger(candidates: &[Set], frequent: &[usize]) -> (Vec<Set>, Vec<usize>) {
    let known: BTreeSet<&Set> = frequent.iter().map(|&place| &candidates[place]).collect();
    let mut larger = Vec::new();
    for (at, &place) in frequent.iter().enumerate() {
        for &other in &frequent[at + 1..] {
            let (first, second) = (&candidates[place], &candidates[other]);
            let last = first.len() - 1;
            let mut set = first.clone();
            set.push(second[last]);
            let part = |left_out: usize| {
                let mut part = set.clone();
                part.remove(left_out);
                part
            };
            let frequent = (0..set.len()).all(|left_out| known.contains(&part(left_out)));
            if first[..last] == second[..last] && frequent {
                larger.push((set, place));
            }
        }
    }
    larger.into_iter().unzip()
}

pub(crate) fn command()
-> Staged<impl AsyncFn(Stages<'_>, &Numbers) -> Result<String, StageError> + Sync> {
    Staged::new(
        "frequent_sets",
        "Which items at least so many customers have bought together, as shop.item; each party is a shop",
        frequent_sets,
    )
    .number("customers", 4, 1 << 20, "Customers, the same in each shop")
    .number("items", 2, 1 << 10, "Items of each shop")
    .number("support", 3, 1 << 20, "Customers that make a set frequent")
}

fn main() -> ExitCode {
    command().main()
}
