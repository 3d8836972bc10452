//! Newcomers: those who have dialed us and have not shown yet who they are. Their number is bounded, and no place has more
//! than its share.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::pin::Pin;

use futures_util::StreamExt;
use futures_util::future::{AbortHandle, Abortable, Future};
use futures_util::stream::FuturesUnordered;

/// Number of newcomers that may be there at once, beside the parties' connections: each has a descriptor and some tens of kilobytes.
const MOST: usize = 128;

/// Connections on which nobody has shown yet who is there. Where there is no room for one more, the oldest of
/// the place that has the most goes: whoever fills the room from one place pushes out none but itself.
pub(super) struct Newcomers<'a, T> {
    most: usize,
    all: FuturesUnordered<Pin<Box<dyn Future<Output = Introduced<T>> + Send + 'a>>>,
    /// Newcomers in the order in which they came.
    held: Vec<Held>,
    next: u64,
}

/// A newcomer whose introduction is over, and how it ended unless it was pushed out.
type Introduced<T> = (u64, SocketAddr, Option<T>);

struct Held {
    number: u64,
    place: IpAddr,
    handle: AbortHandle,
}

impl<'a, T: Send + 'a> Newcomers<'a, T> {
    /// Makes room for `expected` connections of parties, and some more.
    pub(super) fn new(expected: usize) -> Self {
        Self {
            most: MOST + expected,
            all: FuturesUnordered::new(),
            held: Vec::new(),
            next: 0,
        }
    }

    /// One more, who introduces itself.
    pub(super) fn admit(
        &mut self,
        from: SocketAddr,
        introduction: impl Future<Output = T> + Send + 'a,
    ) {
        if self.held.len() >= self.most {
            self.push_out();
        }
        let (handle, registration) = AbortHandle::new_pair();
        let number = self.next;
        self.next += 1;
        let place = place(from.ip());
        self.held.push(Held {
            number,
            place,
            handle,
        });
        let introduction = Abortable::new(introduction, registration);
        let done = async move { (number, from, introduction.await.ok()) };
        self.all.push(Box::pin(done));
    }

    fn push_out(&mut self) {
        let count = |one: &Held| {
            let same = |other: &&Held| other.place == one.place;
            self.held.iter().filter(same).count()
        };
        // The first of several that have as many is the oldest.
        let most = self.held.iter().map(count).max();
        let oldest = self.held.iter().position(|one| Some(count(one)) == most);
        if let Some(oldest) = oldest {
            self.held.remove(oldest).handle.abort();
        }
    }

    /// Waits for the next introduction to end, and tells how; `None` if nobody is there.
    pub(super) async fn next(&mut self) -> Option<(SocketAddr, T)> {
        loop {
            let (number, from, ended) = self.all.next().await?;
            self.held.retain(|held| held.number != number);
            if let Some(ended) = ended {
                return Some((from, ended));
            }
        }
    }
}

/// Gives the place of an address: whoever has one address of IPv6 usually has the 2^64 beside it.
fn place(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use futures_util::future::{pending, ready};

    use super::*;

    fn at(host: u8) -> SocketAddr {
        ([192, 0, 2, host], 1).into()
    }

    /// A place that opens connections without end does not keep others from being heard.
    #[test]
    fn who_fills_the_room_pushes_out_none_but_itself() {
        let mut newcomers: Newcomers<'_, u8> = Newcomers::new(3);
        newcomers.admit(at(1), pending());
        for _ in 0..10_000 {
            newcomers.admit(at(2), pending());
            assert!(newcomers.next().now_or_never().is_none());
        }
        assert_eq!(newcomers.all.len(), MOST + 3);
        newcomers.admit(at(3), ready(7));
        let heard = newcomers.next().now_or_never();
        assert_eq!(heard, Some(Some((at(3), 7))));
        assert!(newcomers.held.iter().any(|held| held.place == at(1).ip()));
        assert_eq!(newcomers.held.len(), MOST + 2);
    }

    #[test]
    fn neighbours_are_one_place() {
        let of = |text: &str| place(text.parse().expect("an address"));
        assert_eq!(of("2001:db8:1:2:3:4:5:6"), of("2001:db8:1:2::"));
        assert_ne!(of("2001:db8:1:2::"), of("2001:db8:1:3::"));
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
        assert_ne!(of("192.0.2.2"), of("192.0.2.1"));
    }
}
