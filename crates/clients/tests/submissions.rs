//! Files of several clients taken together, outputs combined, and what is refused there.
#![allow(
    clippy::unwrap_used,
    reason = "test helpers; a failed unwrap is a failed test"
)]

use madrigal_clients::{Field, Named, Received, ShareFault, ShareFile, combine, deal, gather};
use madrigal_core::Party;
use madrigal_engine::{Element, Shares, Sharing, Width};
use madrigal_operations::CombineError;

use crate::common::{bytes_of, dealt, generator, named, received, value};

fn of_client(client: &str, seed: u64) -> Vec<ShareFile> {
    let named = Named {
        client: client.into(),
        ..named(&[5])
    };
    let value = value(Element::Ring(Width::W64), 5, seed);
    deal(named, &value, Sharing::R, 3, &mut generator(seed)).unwrap()
}

fn to_server(server: usize, submissions: &[&[ShareFile]]) -> Vec<Received> {
    let files: Vec<_> = submissions
        .iter()
        .map(|files| files[server].clone())
        .collect();
    received(&files)
}

#[test]
fn all_servers_come_to_the_same_order() {
    let (a, b, c) = (of_client("a", 1), of_client("b", 2), of_client("c", 3));
    let ids = |server, order: [&[ShareFile]; 3]| {
        let gathered = gather(to_server(server, &order)).unwrap();
        let ids = gathered
            .iter()
            .map(|received| received.share.header().submission());
        ids.collect::<Vec<_>>()
    };
    let first = ids(0, [&a, &b, &c]);
    assert_eq!(first, ids(1, [&c, &a, &b]));
    assert_eq!(first, ids(2, [&b, &c, &a]));
    assert_eq!(first[0], a[0].header().submission());
}

#[test]
fn a_submission_counts_once() {
    let (a, b) = (of_client("a", 1), of_client("b", 2));
    let error = gather(to_server(0, &[&a, &b, &a])).unwrap_err();
    assert!(
        matches!(*error.fault, ShareFault::Duplicate { .. }),
        "{error}"
    );
    let error = gather(to_server(0, &[&a, &of_client("a", 3)])).unwrap_err();
    assert!(matches!(*error.fault, ShareFault::Twice { .. }), "{error}");
    // The generator gives both the same nonce.
    let error = gather(to_server(0, &[&a, &of_client("b", 1)])).unwrap_err();
    assert!(
        matches!(
            *error.fault,
            ShareFault::Nonce {
                field: Field::Client,
                ..
            }
        ),
        "{error}"
    );
}

/// A client that gives two servers different copies has two submissions, which the servers see when they compare.
#[test]
fn different_copies_are_different_submissions() {
    let (one, other) = (of_client("a", 1), of_client("a", 2));
    assert_ne!(one[0].header().submission(), other[1].header().submission());
}

fn outputs(sharing: Sharing, servers: usize, run: u8) -> (Shares, Vec<ShareFile>) {
    let value = value(Element::Ring(Width::W64), 5, 4);
    let kept = &madrigal_operations::Backend::of(sharing).kept;
    let shares = kept.deal(&value, servers, &mut generator(5));
    let files = Party::all(servers).zip(shares).map(|(place, share)| {
        ShareFile::of_output(named(&[5]), share, place, servers, [run; 32]).unwrap()
    });
    (value, files.collect())
}

#[test]
fn outputs_are_combined_in_any_order() {
    for (sharing, servers) in [(Sharing::A, 2), (Sharing::A, 5), (Sharing::R, 3)] {
        let (value, mut files) = outputs(sharing, servers, 1);
        files.rotate_left(1);
        let (header, combined) = combine(received(&files)).unwrap();
        assert_eq!(header.nonce(), &[1; 32]);
        assert_eq!(bytes_of(&combined), bytes_of(&value));
    }
}

#[test]
fn outputs_that_do_not_go_together_are_refused() {
    let (_, files) = outputs(Sharing::R, 3, 1);
    let fault = |files: &[ShareFile]| *combine(received(files)).unwrap_err().fault;
    let missing = fault(&files[..2]);
    assert!(
        matches!(
            missing,
            ShareFault::Missing {
                server: 2,
                servers: 3
            }
        ),
        "{missing}"
    );
    let again = fault(&[files[0].clone(), files[1].clone(), files[1].clone()]);
    assert!(
        matches!(again, ShareFault::Again { server: 1, .. }),
        "{again}"
    );
    let (_, other) = outputs(Sharing::R, 3, 2);
    let run = fault(&[files[0].clone(), files[1].clone(), other[2].clone()]);
    assert!(
        matches!(
            run,
            ShareFault::Apart {
                field: Field::Nonce,
                ..
            }
        ),
        "{run}"
    );
    // An input of another client's is no output.
    let input = fault(&[files[0].clone(), dealt(Sharing::R, 3, 1)[1].clone()]);
    assert!(
        matches!(
            input,
            ShareFault::Apart {
                field: Field::Purpose,
                ..
            }
        ),
        "{input}"
    );
}

/// A server that leaves another share than it has is named, with the one that holds the copy.
#[test]
fn a_server_that_leaves_a_wrong_copy_is_named() {
    let (_, files) = outputs(Sharing::R, 3, 1);
    for liar in 0..3 {
        let mut files = files.clone();
        let mut share = files[liar].shares().clone();
        share.component_mut::<u64>(1)[3] ^= 1;
        files[liar] =
            ShareFile::of_output(named(&[5]), share, Party::new(liar), 3, [1; 32]).unwrap();
        let error = combine(received(&files)).unwrap_err();
        let ShareFault::Combine(CombineError::Copies {
            first,
            second,
            element,
            ..
        }) = *error.fault
        else {
            panic!("{error}");
        };
        assert!([first.index(), second.index()].contains(&liar) && element == 3);
    }
}

/// In A and B a client cannot share wrongly: whatever its files hold is some value.
#[test]
fn any_shares_are_a_value_where_parts_are_at_one_server() {
    for sharing in [Sharing::A, Sharing::B] {
        let files = dealt(sharing, 3, 1);
        assert!(files[0].header().commitments().is_empty());
        combine(received(&files)).unwrap();
    }
}
