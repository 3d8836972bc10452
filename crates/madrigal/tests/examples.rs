//! The examples compute what they say, in every mix, and tell what is wrong.

use madrigal::app::App;
use madrigal_testkit::shared_data;

#[allow(dead_code, reason = "its main function is for the command line")]
#[path = "../examples/auction.rs"]
mod auction;
#[allow(dead_code, reason = "its main function is for the command line")]
#[path = "../examples/cross_table.rs"]
mod cross_table;
#[allow(dead_code, reason = "its main function is for the command line")]
#[path = "../examples/frequent_sets.rs"]
mod frequent_sets;
#[allow(dead_code, reason = "its main function is for the command line")]
#[path = "../examples/inner_product.rs"]
mod inner_product;
#[allow(dead_code, reason = "its main function is for the command line")]
#[path = "../examples/listing1.rs"]
mod listing1;
#[allow(dead_code, reason = "its main function is for the command line")]
#[path = "../examples/listing2.rs"]
mod listing2;
#[allow(dead_code, reason = "its main function is for the command line")]
#[path = "../examples/millionaires.rs"]
mod millionaires;
#[allow(dead_code, reason = "its main function is for the command line")]
#[path = "../examples/nearest.rs"]
mod nearest;
#[allow(dead_code, reason = "its main function is for the command line")]
#[path = "../examples/percentiles.rs"]
mod percentiles;
#[allow(dead_code, reason = "its main function is for the command line")]
#[path = "../examples/scoring.rs"]
mod scoring;
#[allow(dead_code, reason = "its main function is for the command line")]
#[path = "../examples/statistics.rs"]
mod statistics;
#[allow(dead_code, reason = "its main function is for the command line")]
#[path = "../examples/through_garbled.rs"]
mod through_garbled;

/// What an example prints, with arguments that spaces separate.
fn run<H>(app: &App<H>, arguments: &str) -> Result<String, String> {
    let arguments = std::iter::once("example").chain(arguments.split_whitespace());
    app.run(arguments).map_err(|error| error.to_string())
}

/// Mixes with a number of parties that can have them.
const MIXES: [(&str, usize); 9] = [
    ("A+B", 2),
    ("B", 2),
    ("A+B", 3),
    ("B", 3),
    ("R", 3),
    ("A+B+Y2", 2),
    ("A+B+Y", 3),
    ("auto", 2),
    ("auto", 3),
];

/// The same in each mix that its parties can have, over memory; of two and of three parties, if the
/// arguments leave that open.
fn in_all_mixes<H>(app: &App<H>, arguments: &str, expected: &str) {
    in_mixes(&MIXES, app, arguments, expected);
}

fn in_mixes<H>(mixes: &[(&str, usize)], app: &App<H>, arguments: &str, expected: &str) {
    for (mix, parties) in mixes {
        let local = format!("--local {parties}");
        let line = match arguments.contains("--local") {
            false => format!("{local} {arguments}"),
            true if arguments.contains(&local) => arguments.to_owned(),
            true => continue,
        };
        let line = format!("--quiet --transport memory --mix {mix} {line}");
        let told = run(app, &line);
        assert_eq!(told.as_deref(), Ok(expected), "{line}");
    }
}

#[test]
fn the_richer_of_two() {
    let app = millionaires::command();
    for (first, second, expected) in [
        (7, 3, "the first is richer\n"),
        (3, 7, "the first is not richer\n"),
        (5, 5, "the first is not richer\n"),
        (u64::MAX, 0, "the first is richer\n"),
    ] {
        in_all_mixes(
            &app,
            &format!("-i first={first} -i second={second}"),
            expected,
        );
    }
}

#[test]
fn the_winner_pays_the_second_price() {
    let app = auction::command();
    let bids = "--local 3 -i bid0=120 -i bid1=340 -i bid2=335";
    in_all_mixes(&app, bids, "bidder 1 wins and pays 335\n");
    let two = "--local 2 -q -i bid0=4294967295 -i bid1=0";
    assert_eq!(run(&app, two).unwrap(), "bidder 0 wins and pays 0\n");
}

#[test]
fn inner_products_have_signs() {
    let app = inner_product::command();
    let line = "--length 4 -i left=1,2,3,-4 -i right=4,-5,6,1518500249";
    let expected = 4 - 10 + 18 - 4 * 1_518_500_249_i64;
    in_all_mixes(&app, line, &format!("product: {expected}\n"));
}

#[test]
fn mean_and_variance_of_all() {
    let app = statistics::command();
    let line = "--local 2 --length 3 -i numbers0=31,45,28 -i numbers1=52,39,47";
    let numbers = [31, 45, 28, 52, 39, 47].map(f64::from);
    let mean = numbers.iter().sum::<f64>() / 6.0;
    let variance = numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 6.0;
    in_all_mixes(
        &app,
        line,
        &format!("mean {mean:.4}, variance {variance:.4}\n"),
    );
}

/// Against all sets of items, counted one by one; stages as many as the largest set found has items, and one more
/// where there are candidates that are all too rare.
#[test]
fn frequent_sets_of_items_in_as_many_stages_as_it_takes() {
    let seed = madrigal_testkit::seed();
    let mut lengths = std::collections::BTreeSet::new();
    for round in 0..6_u64 {
        let (customers, items, shops) = (9, 3, 2 + (round % 2) as usize);
        let bought = |shop: usize, customer: usize, item: usize| {
            let place = ((shop * customers + customer) * items + item) as u64;
            let mixed = (seed ^ place << 8 ^ round).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 60 > 4
        };
        let support = [1, 3, 5, 7, 8, 9][round as usize];
        let all = shops * items;
        let mut expected: Vec<Vec<usize>> = (1..1_usize << all)
            .map(|set| (0..all).filter(|item| set >> item & 1 == 1).collect())
            .filter(|set: &Vec<usize>| {
                let has = |customer| {
                    let mut items_of = set.iter().map(|&item| (item / items, item % items));
                    items_of.all(|(shop, item)| bought(shop, customer, item))
                };
                (0..customers).filter(|&customer| has(customer)).count() >= support
            })
            .collect();
        expected.sort_by_key(|set| (set.len(), set.clone()));
        let line = |set: &Vec<usize>| {
            let items = set
                .iter()
                .map(|item| format!("{}.{}", item / items, item % items));
            items.collect::<Vec<_>>().join(" ") + "\n"
        };
        let mut text: String = expected.iter().map(line).collect();
        if text.is_empty() {
            text = "no items\n".to_owned();
        }
        let mut arguments = format!(
            "--local {shops} -q --transport memory --customers {customers} --items {items} --support {support}"
        );
        for shop in 0..shops {
            let places = (0..customers).flat_map(|c| (0..items).map(move |i| (c, i)));
            let table: Vec<&str> = places
                .map(|(customer, item)| ["0", "1"][usize::from(bought(shop, customer, item))])
                .collect();
            arguments += &format!(" -i bought{shop}={}", table.join(","));
        }
        let run = |more: &str| {
            let words = format!("frequent_sets {arguments} {more}");
            let words: Vec<String> = words.split(' ').map(Into::into).collect();
            frequent_sets::command().run(words.into_iter().filter(|word| !word.is_empty()))
        };
        let mixes: &[&str] = if shops == 3 {
            &["A+B", "R"]
        } else {
            &["A+B", "B"]
        };
        for mix in mixes {
            assert_eq!(run(&format!("--mix {mix}")).unwrap(), text, "{mix}");
        }
        let json: serde_json::Value = serde_json::from_str(&run("--json").unwrap()).unwrap();
        assert_eq!(json["result"], text.trim_end());
        let stages = json["stages"].as_array().unwrap();
        let largest = expected.last().map_or(0, Vec::len);
        assert!(
            (largest.max(1)..=largest + 1).contains(&stages.len()),
            "{json}"
        );
        let sent = |of: &serde_json::Value| of["setup"]["bytes_sent"].as_u64().unwrap();
        let sum: u64 = stages.iter().map(|stage| sent(&stage["parties"][0])).sum();
        assert_eq!(sent(&json["parties"][0]), sum);
        lengths.insert(stages.len());
    }
    assert!(lengths.len() > 1, "{lengths:?}");
}

#[test]
fn percentiles_by_the_nearest_rank() {
    let app = percentiles::command();
    let line = "--local 3 --length 2 -i numbers0=31,45 -i numbers1=28,52 -i numbers2=39,47";
    in_all_mixes(&app, line, "median 39, percentile 90: 52\n");
    in_all_mixes(
        &app,
        &format!("{line} --percent 1"),
        "median 39, percentile 1: 28\n",
    );
}

#[test]
fn each_record_is_scored_by_its_own_rule() {
    let (income, debt) = ([52u32, 31, 78, 90, 20, 61], [5u32, 40, 2, 11, 30, 7]);
    let (age, late) = ([31u32, 58, 44, 27, 70, 39], [0u32, 3, 1, 2, 9, 0]);
    let rules = [0u32, 5, 15, 2, 14, 7];
    let score = |at: usize| {
        let (income, debt, age, late) = (income[at], debt[at], age[at], late[at]);
        let strict = rules[at] / 4 + 1;
        match rules[at] % 4 {
            0 => income * 100 / (debt + late * strict + 1),
            1 => age * 300 / (debt * 100 * strict / (income + 1) + 10),
            2 => {
                let (points, minus) = (income * 3 + age * 2 + 500, debt * 2 * strict + late * 25);
                if points > minus {
                    points - minus
                } else {
                    late.min(1)
                }
            }
            _ => {
                let square = (income.max(80) - 80).pow(2) + debt.pow(2) * strict + late.pow(2);
                1000 - square.isqrt().min(1000)
            }
        }
    };
    let scores: Vec<String> = (0..6).map(|at| score(at).to_string()).collect();
    let list = |numbers: [u32; 6]| numbers.map(|number| number.to_string()).join(",");
    let line = format!(
        "--records 6 -i rule={} -i income={} -i debt={} -i age={} -i late={}",
        list(rules),
        list(income),
        list(debt),
        list(age),
        list(late)
    );
    let expected = format!("scores: {}\n", scores.join(","));
    // The agency gets none. Sixteen rules with divisions and a root are large, and half of all mixes suffice.
    let app = scoring::command();
    let mixes = [("A+B", 2), ("B", 3), ("R", 3), ("A+B+Y2", 2)];
    in_mixes(&mixes, &app, &line, &expected);
    let told = run(
        &app,
        "explain --local 2 --records 10000 --network motif-shared-lan",
    );
    let told = told.expect("an explanation");
    assert!(
        told.contains("10000 choices among 16 branches, at the cost of one"),
        "{told}"
    );
    assert!(
        told.contains("with all branches computed and multiplexed"),
        "{told}"
    );
}

#[test]
fn groups_of_those_in_both_lists() {
    let app = cross_table::command();
    let line = "--patients 6 --insured 5 -i patient=11,12,13,14,15,16 -i group=0,1,2,0,1,2 \
                -i insured=16,14,12,10,8 -i cost=5,70,900,1,1";
    let expected =
        "group 0: 1 in both, cost 70\ngroup 1: 1 in both, cost 900\ngroup 2: 1 in both, cost 5\n";
    in_all_mixes(&app, line, expected);
}

/// Of the shared tables 40 rows each, against the same in the clear.
#[test]
fn a_cross_table_of_real_lists() {
    let Some(tables) = shared_data().map(|data| data.join("data/tables")) else {
        return;
    };
    let read = |name| -> Vec<Vec<u32>> {
        let text = std::fs::read_to_string(tables.join(name)).unwrap();
        let rows = text.lines().skip(1);
        let mut rows: Vec<Vec<u32>> = rows
            .map(|line| line.split(',').map(|word| word.parse().unwrap()).collect())
            .collect();
        rows.sort();
        rows.truncate(40);
        rows
    };
    let (hospital, insurer) = (read("hospital_a.csv"), read("insurer_b.csv"));
    let column = |rows: &[Vec<u32>], at: usize| {
        let words: Vec<_> = rows.iter().map(|row| row[at].to_string()).collect();
        words.join(",")
    };
    let mut expected = String::new();
    for group in 0..10 {
        let of_group = hospital.iter().filter(|row| row[2] == group);
        let both = of_group.filter_map(|row| insurer.iter().find(|other| other[0] == row[0]));
        let costs: Vec<u32> = both.map(|row| row[1]).collect();
        let (count, sum) = (costs.len(), costs.iter().sum::<u32>());
        expected += &format!("group {group}: {count} in both, cost {sum}\n");
    }
    let line = format!(
        "--local 3 --mix R --transport memory -q --patients 40 --insured 40 --groups 10 \
         -i patient={} -i group={} -i insured={} -i cost={}",
        column(&hospital, 0),
        column(&hospital, 2),
        column(&insurer, 0),
        column(&insurer, 1)
    );
    assert_eq!(run(&cross_table::command(), &line).unwrap(), expected);
}

#[test]
fn listing_1_of_the_paper() {
    let line = "--length 4 -i a=17 -i v=3,99,20,1";
    in_all_mixes(&listing1::command(), line, "least: 9\n");
}

#[test]
fn listing_2_of_the_paper() {
    let line = "--length 3 -i weights=10,200,3000 -i numbers=5,1,4 -i threshold=4";
    in_all_mixes(&listing2::command(), line, "weight: 3010\n");
}

/// The plan's choice takes at most the time of the best mix of one sharing of bits, near and far.
fn chosen_well<H>(app: &App<H>, arguments: &str) {
    for network in ["lan", "wan"] {
        let line = format!("explain --json --mix auto --network {network} --local 2 {arguments}");
        let told = run(app, &line).unwrap_or_else(|error| panic!("{line}: {error}"));
        let told: serde_json::Value = serde_json::from_str(&told).expect("JSON");
        let [single, chosen] = ["seconds", "chosen_seconds"].map(|name| {
            let seconds = told["single"][name].as_f64();
            seconds.unwrap_or_else(|| panic!("{line}: {told}"))
        });
        assert!(
            chosen <= single,
            "{line}: {chosen} s, {single} s in {}",
            told["single"]["mix"]
        );
    }
}

#[test]
fn the_plan_chooses_no_worse_than_the_best_single_mix() {
    chosen_well(&millionaires::command(), "");
    chosen_well(&auction::command(), "");
    chosen_well(&listing1::command(), "");
    chosen_well(&listing2::command(), "");
    chosen_well(&nearest::command(), "");
    chosen_well(&scoring::command(), "--records 4");
    chosen_well(&inner_product::command(), "");
}

#[test]
fn numbers_go_through_garbled_circuits_in_constant_rounds() {
    for parties in [2, 3, 5] {
        let [few, more, most] = through_garbled::table(parties).expect("plans that can be");
        assert!(
            few[1] == more[1] && more[1] == most[1],
            "{few:?} {more:?} {most:?}"
        );
        assert!(
            few[0] < more[0] && more[0] < most[0],
            "{few:?} {more:?} {most:?}"
        );
    }
}

#[test]
fn the_nearest_entries_of_a_file() {
    let app = nearest::command();
    let tables = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/tables");
    let line = format!(
        "--entries 12 --samples 2 -i table=@{tables}/faces.csv -i sample=@{tables}/samples.csv"
    );
    let expected = "entry 7, at a squared distance of 0\nentry 3, at a squared distance of 16\n";
    in_all_mixes(&app, &line, expected);
}

/// Entries and distances as the table's authors computed them.
#[test]
fn one_and_sixteen_samples_among_4096() {
    let Some(tables) = shared_data().map(|data| data.join("data/tables")) else {
        return;
    };
    let table = tables.join("biomatch_db_4096.csv");
    let samples = std::fs::read_to_string(tables.join("biomatch_samples_4096.csv")).unwrap();
    let entries: Vec<Vec<i64>> = std::fs::read_to_string(&table)
        .unwrap()
        .lines()
        .map(|line| line.split(',').map(|word| word.parse().unwrap()).collect())
        .collect();
    for (count, mix) in [(1, "A+B"), (16, "R")] {
        let samples: Vec<&str> = samples.lines().take(count).collect();
        let expected: String = samples
            .iter()
            .map(|sample| {
                let sample: Vec<i64> = sample
                    .split(',')
                    .map(|word| word.parse().unwrap())
                    .collect();
                let distance = |entry: &Vec<i64>| -> i64 {
                    let pairs = entry.iter().zip(&sample);
                    pairs.map(|(a, b)| (a - b) * (a - b)).sum()
                };
                let found = entries.iter().map(distance).enumerate();
                let (entry, distance) = found.min_by_key(|&(at, distance)| (distance, at)).unwrap();
                format!("entry {entry}, at a squared distance of {distance}\n")
            })
            .collect();
        let line = format!(
            "--local 3 --mix {mix} -q --transport memory --entries 4096 --samples {count} \
             -i table=@{} -i sample={}",
            table.display(),
            samples.join(",")
        );
        assert_eq!(
            run(&nearest::command(), &line).unwrap(),
            expected,
            "{count} in {mix}"
        );
    }
}

/// Before, each of these lines gave a wrong result: persons listed twice the XOR of two costs, a group that there is not
/// no line at all, numbers that are too long what is left of them modulo a power of two.
#[test]
fn owners_refuse_what_would_give_a_wrong_result() {
    fn refused<H>(app: &App<H>, line: &str, words: &[&str]) {
        for line in [
            format!("--local 2 -q {line}"),
            format!("check --local 2 {line}"),
        ] {
            let told = run(app, &line).unwrap_err();
            for words in words {
                assert!(told.contains(words), "{line}: {told}");
            }
        }
    }
    let table = |patient: &str, group: &str, insured: &str, cost: &str| {
        format!(
            "--patients 3 --insured 3 --groups 2 -i patient={patient} -i group={group} -i insured={insured} -i cost={cost}"
        )
    };
    let app = cross_table::command();
    for (line, words) in [
        (
            table("1,2,3", "0,1,0", "7,3,7", "5,1,7"),
            ["insured", "elements 1 and 3 are equal", "each person once"],
        ),
        (
            table("1,2,2", "0,1,0", "1,2,3", "5,1,7"),
            ["patient", "elements 2 and 3 are equal", "each person once"],
        ),
        (
            table("1,2,3", "0,1,2", "1,2,3", "5,1,7"),
            ["group", "element 3 is further than 1", "--groups"],
        ),
        (
            table("1,2,3", "0,1,0", "1,2,3", "5,1,4294967290"),
            ["cost", "more than 4294967295", "larger unit"],
        ),
    ] {
        refused(&app, &line, &words);
    }
    let line = "--length 2 -i left=2147483648,1 -i right=1,1";
    refused(
        &inner_product::command(),
        line,
        &["left", "element 1", "64 bits"],
    );
    let line = "--length 2 -i a=1 -i v=3,65536";
    refused(&listing1::command(), line, &["v=", "element 2", "32 bits"]);
    let most = u64::MAX;
    let line = format!("--length 2 -i weights={most},1 -i numbers=9,9 -i threshold=0");
    refused(&listing2::command(), &line, &["weights", "64 bits"]);
    let line = "--entries 1 --dimensions 2 -i table=46341,0 -i sample=0,0";
    refused(
        &nearest::command(),
        line,
        &["table", "element 1", "32 bits"],
    );
    let score = |column: &str, value: u32| {
        let of = |name| if name == column { value } else { 1 };
        let columns = ["rule", "income", "debt", "age", "late"];
        let inputs = columns.map(|name| format!("-i {name}={}", of(name)));
        format!("--records 1 {}", inputs.join(" "))
    };
    for (column, value, words) in [
        ("rule", 16, "rules are numbered from 0"),
        ("income", 30_001, "32 bits"),
        ("debt", 25_001, "32 bits"),
        ("age", 1001, "32 bits"),
        ("late", 1001, "32 bits"),
    ] {
        refused(&scoring::command(), &score(column, value), &[column, words]);
    }
}

/// At the ends of what owners let pass, results are those of integers that have no end.
#[test]
fn nothing_wraps_at_the_ends_of_what_owners_allow() {
    let line = "--length 2 -i left=2147483647,-2147483647 -i right=2147483647,-2147483647";
    let product = 2 * 2_147_483_647_i128.pow(2);
    let told = run(&inner_product::command(), &format!("--local 2 -q {line}"));
    assert_eq!(told, Ok(format!("product: {product}\n")));
    let line = "--length 2 -i a=65535 -i v=0,0";
    let told = run(&listing1::command(), &format!("--local 2 -q {line}"));
    assert_eq!(told, Ok(format!("least: {}\n", 65_535_u64.pow(2))));
    let most = u64::MAX - 1;
    let line = format!("--length 2 -i weights={most},1 -i numbers=9,9 -i threshold=0");
    let told = run(&listing2::command(), &format!("--local 2 -q {line}"));
    assert_eq!(told, Ok(format!("weight: {}\n", u64::MAX)));
    let line = "--entries 1 --dimensions 2 -i table=46340,0 -i sample=0,46340";
    let told = run(&nearest::command(), &format!("--local 2 -q {line}"));
    let distance = 2 * 46_340_u64.pow(2);
    assert_eq!(
        told,
        Ok(format!("entry 0, at a squared distance of {distance}\n"))
    );
    let line = "--patients 2 --insured 2 --groups 1 -i patient=0,1 -i group=0,0 -i insured=0,1 -i cost=4294967294,1";
    let told = run(&cross_table::command(), &format!("--local 2 -q {line}"));
    let most = u32::MAX;
    assert_eq!(told, Ok(format!("group 0: 2 in both, cost {most}\n")));
    // Their squares alone have more than 64 bits, and a square times the count, too.
    let numbers = [[u32::MAX, 0, 1], [u32::MAX, u32::MAX, 7]];
    let all = numbers.concat().into_iter().map(f64::from);
    let mean = all.clone().sum::<f64>() / 6.0;
    let variance = all.map(|x| (x - mean).powi(2)).sum::<f64>() / 6.0;
    let list = |numbers: [u32; 3]| numbers.map(|number| number.to_string()).join(",");
    let [first, second] = numbers.map(list);
    let line = format!("--local 2 --length 3 -i numbers0={first} -i numbers1={second}");
    let told = run(&statistics::command(), &format!("-q {line}")).unwrap();
    let numbers: Vec<f64> = told
        .split([' ', ','])
        .filter_map(|word| word.trim().parse().ok())
        .collect();
    assert!((numbers[0] - mean).abs() < 1e-3, "{told}");
    assert!((numbers[1] / variance - 1.0).abs() < 1e-9, "{told}");
    // The greatest distance to an ideal record.
    let line = "--local 2 -q --records 1 -i rule=15 -i income=30000 -i debt=25000 -i age=1000 -i late=1000";
    assert_eq!(run(&scoring::command(), line).as_deref(), Ok("scores: 0\n"));
}

#[test]
fn each_example_is_a_test_of_itself() {
    fn right<H>(app: &App<H>, line: &str) {
        let told = run(app, &format!("check --seed 5 {line}")).unwrap();
        assert!(told.starts_with("right: "), "{told}");
    }
    right(&millionaires::command(), "");
    right(&auction::command(), "--local 3");
    right(&inner_product::command(), "--length 7");
    right(&statistics::command(), "--local 3");
    right(&percentiles::command(), "");
    right(&cross_table::command(), "");
    right(&scoring::command(), "--records 12");
    right(&listing1::command(), "--local 3");
    right(&listing2::command(), "--length 9");
    right(&nearest::command(), "--entries 5 --samples 2");
    let arguments = "frequent_sets check --seed 5 --local 3 --customers 9 --support 2";
    let told = frequent_sets::command().run(arguments.split(' ')).unwrap();
    assert!(
        told.starts_with("right: ") && told.contains("random"),
        "{told}"
    );
}
