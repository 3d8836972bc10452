//! Limits, held against a list of all times.

#![allow(clippy::unwrap_used)] // a test that cannot go on fails

use madrigal_testkit::seed;

use super::*;

/// A generator of choices: splitmix64.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ z >> 31) % bound
    }
}

fn spending(batches: Option<Batches>, note: Option<&[u8]>) -> Spending {
    let allowed = Allowed {
        rule: 1,
        least: 3,
        batches,
        budget: None,
    };
    Spending::new("ages", &Verdict::Allowed(allowed), Privacy::default(), note).unwrap()
}

#[test]
fn limits_hold_whatever_the_clock_and_the_policy_do() {
    let mut random = Random(seed());
    for _ in 0..200 {
        let per = 1 + random.below(50);
        let (mut most, mut changed) = (random.below(6), false);
        let batches = |most| {
            let per = Some(Duration::from_secs(per));
            Some(Batches { most, per })
        };
        let mut spending = spending(batches(most), None);
        let (mut now, mut set_back) = (1000_u64, false);
        let mut all: Vec<u64> = Vec::new();
        for _ in 0..40 {
            match random.below(12) {
                // The clock is set back.
                0 => (now, set_back) = (now - random.below(30), true),
                // The server is started again, at times with another limit.
                1 => {
                    let note = spending.spent().encode();
                    if random.below(3) == 0 {
                        (most, changed) = (random.below(6), true);
                    }
                    spending = self::spending(batches(most), Some(&note));
                }
                _ => now += random.below(per),
            }
            let exact = all.iter().filter(|&&at| at + per > now).count() as u64;
            let counted = spending.spent().within(batches(0).unwrap().per, now);
            assert!(counted >= exact, "{counted} of {exact}");
            if !changed && !set_back {
                assert_eq!(counted, exact);
            }
            assert_eq!(spending.left(now), Some(most.saturating_sub(counted)));
            match spending.refusal(now) {
                None => {
                    assert!(exact < most);
                    spending.spend(now);
                    all.push(now);
                }
                Some(_) => assert!(counted >= most),
            }
            let per = Duration::from_secs(per);
            let free_at = spending.spent().free_at(most, per);
            let spent = spending.spent();
            match free_at {
                None => assert_eq!(most, 0),
                // Where there is no room now, there is none until then.
                Some(at) if spent.within(Some(per), now) >= most => {
                    assert!(at > now && spent.within(Some(per), at) < most);
                    assert!(spent.within(Some(per), at - 1) >= most);
                }
                Some(at) => assert!(spent.within(Some(per), at) < most),
            }
            drop(spent);
        }
    }
}

#[test]
fn a_limit_in_all_counts_what_came_before_there_was_a_policy() {
    let before = Spending::new("ages", &Verdict::NoPolicy, Privacy::default(), None).unwrap();
    assert_eq!((before.least(2), before.left(0)), (2, None));
    before.spend(10);
    let note = before.spend(20);
    assert_eq!(note.len(), 33);
    let (most, per) = (3, None);
    let after = spending(Some(Batches { most, per }), Some(&note));
    assert_eq!((after.least(2), after.least(5)), (3, 5));
    assert_eq!(after.left(u64::MAX), Some(1));
    assert_eq!(after.refusal(u64::MAX), None);
    after.spend(30);
    let reason = after.refusal(u64::MAX).unwrap();
    assert!(reason.contains("3 in all"), "{reason}");
    // Within a time, batches whose times are not known count for as long as one of them may be within.
    let per = Some(Duration::from_secs(100));
    let within = spending(Some(Batches { most, per }), Some(&note));
    assert_eq!((within.left(119), within.left(120)), (Some(1), Some(3)));
    assert_eq!(within.spend(119).len(), 41);
}

/// Epsilons and deltas add up over restarts, to the billionth, and what would pass the budget is refused.
#[test]
fn a_budget_is_spent_to_the_last_billionth() {
    let privacy = |epsilon: f64, delta: f64| Privacy {
        epsilon: Epsilon::new(epsilon).unwrap(),
        delta: Delta::new(delta).unwrap(),
    };
    let each = privacy(0.1, 1e-9);
    for (most, expected) in [
        (privacy(1.0, 1e-6), 10),
        (privacy(0.999_999_999, 1e-6), 9),
        (privacy(5.0, 4e-9), 4),
        (privacy(0.1, 1e-9), 1),
    ] {
        let mut note: Option<Vec<u8>> = None;
        let mut count = 0;
        let reason = loop {
            let allowed = Allowed {
                rule: 1,
                least: 1,
                batches: None,
                budget: Some(Budget { most, each }),
            };
            let verdict = Verdict::Allowed(allowed);
            let spending = Spending::new("ages", &verdict, each, note.as_deref()).unwrap();
            let left = most.epsilon.get() - 0.1 * f64::from(count);
            assert!((spending.epsilon_left().unwrap() - left).abs() < 1e-8);
            if let Some(reason) = spending.refusal(0) {
                break reason;
            }
            note = Some(spending.spend(0));
            count += 1;
        };
        assert_eq!(count, expected);
        assert!(reason.contains("budget of kind `ages`"), "{reason}");
    }
}

/// Times that no calendar has are left out of the reason.
#[test]
fn limits_for_longer_than_the_calendar_are_told() {
    for (per, dated) in [
        (Duration::from_secs(60), true),
        (Duration::from_secs(LAST - 7), true),
        (Duration::from_secs(LAST - 6), false),
        (Duration::MAX, false),
    ] {
        let per = Some(per);
        let spending = spending(Some(Batches { most: 1, per }), None);
        spending.spend(7);
        let reason = spending.refusal(8).unwrap();
        assert_eq!(reason.contains("may begin at"), dated, "{reason}");
    }
}

#[test]
fn other_notes_are_refused() {
    let good = spending(None, None).spend(7);
    assert!(Spent::decode(&good).is_some());
    for length in 0..good.len() {
        assert_eq!(Spent::decode(&good[..length]), None, "{length} bytes");
    }
    let mut other = good.clone();
    other[0] ^= 1;
    assert_eq!(Spent::decode(&other), None);
    // More times than batches.
    let mut more = good;
    more.extend([0; 16]);
    assert_eq!(Spent::decode(&more), None);
    let error =
        Spending::new("ages", &Verdict::NoPolicy, Privacy::default(), Some(&other)).unwrap_err();
    assert!(error.contains("ages"), "{error}");
}
