//! Costs of a query's steps.

use madrigal_app::steps::{Step, costs};
use madrigal_core::Party;
use madrigal_core::time::{Link, Rates};
use madrigal_program::Everyone;
use madrigal_program::lower::Mix;
use madrigal_sql::files::Schema;
use madrigal_sql::plan;
use madrigal_tables::{Frame, Query};

/// What all steps send online is what the whole query does, at every party.
#[test]
fn steps_send_together_what_the_query_does() {
    let schema = "name = \"t\"\nrows = 20\n[columns]\na = \"i8\"\nb = \"i16\"\n";
    let schema = Schema::parse(schema).unwrap();
    let text = "select a, sum(b) as s, count(*) from t where b > 5 group by a order by s limit 3";
    for (mix, parties) in [(Mix::R, 3), (Mix::AB, 2), (Mix::AB, 3)] {
        let table = Frame::table(schema.table(Party::new(1))).unwrap();
        let frame = plan(text, &[("t".to_owned(), table)]).unwrap();
        let query = Query::new(&frame, parties, Everyone).unwrap();
        let planned = query.computation().plan(mix, None, &|_| {}).unwrap();
        let steps = Step::all(query.steps());
        let costs = costs(&steps, &planned, &Rates::ZEN_5, &Link::default());
        let names = costs.iter().map(|one| &*one.step);
        assert!(names.eq(steps.iter().map(|one| &*one.name)), "{costs:?}");
        for party in Party::all(parties) {
            let sent = costs.iter().map(|one| one.online_bytes_sent[party.index()]);
            let whole = planned.plan.cost(party).online.bytes_sent;
            assert!(whole > 0);
            assert_eq!(sent.sum::<u64>(), whole, "{mix}, {party}");
        }
        let setup = costs.iter().any(|one| one.setup.bytes_sent > 0);
        assert_eq!(setup, mix != Mix::R, "{mix}");
    }
}
