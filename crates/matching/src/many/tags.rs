//! Tags of all lists, compared.

use madrigal_core::Zeroizing;

/// Says of each of a list's own tags whether it is among the tags of every other list. Tags of others are put in order.
pub(super) fn in_all(own: &[u128], others: &mut [Zeroizing<Vec<u128>>]) -> Vec<bool> {
    let mut order: Vec<u32> = (0..own.len() as u32).collect();
    order.sort_unstable_by_key(|&place| own[place as usize]);
    let mut found = vec![true; own.len()];
    for tags in others {
        tags.sort_unstable();
        let mut tags = tags.iter().peekable();
        for &place in &order {
            let tag = own[place as usize];
            while tags.next_if(|&&other| other < tag).is_some() {}
            found[place as usize] &= tags.peek() == Some(&&tag);
        }
    }
    found
}
