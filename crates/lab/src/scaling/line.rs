//! Rates of the loopback interface without any protocol: of one connection, and of several at once.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use crate::exit::{Failure, Result};
use crate::numbers::rate;
use crate::spread::Spread;

/// Time that a measurement sends.
const TIME: Duration = Duration::from_millis(150);

/// Bytes per second of all connections together, by their number, each time that they were measured.
#[derive(Default)]
pub(crate) struct Line(BTreeMap<usize, Vec<f64>>);

impl Line {
    /// Measures one connection, and this many at once; nothing where there are none.
    pub(crate) fn look(&mut self, connections: usize) -> Result<()> {
        let numbers = match connections {
            0 => vec![],
            1 => vec![1],
            several => vec![1, several],
        };
        for number in numbers {
            let measured = raw(number);
            let rate =
                measured.map_err(Failure::system("cannot measure the loopback interface"))?;
            self.0.entry(number).or_default().push(rate);
        }
        Ok(())
    }

    /// The median rate of this many connections.
    pub(crate) fn of(&self, connections: usize) -> Option<f64> {
        let rates = self.0.get(&connections)?;
        Some(Spread::of(rates.clone()).median)
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (number, rates)) in self.0.iter().enumerate() {
            let rate = rate(Spread::of(rates.clone()).median, "B/s");
            match at {
                0 => write!(f, "; loopback TCP carries {rate} over one connection")?,
                _ => write!(f, ", {rate} over {number} at once")?,
            }
        }
        Ok(())
    }
}

/// Measures the bytes per second that this many connections carry at once, each in one direction, by two threads.
fn raw(connections: usize) -> io::Result<f64> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    let pair = |_| Ok((TcpStream::connect(address)?, listener.accept()?.0));
    let pairs = (0..connections).map(pair).collect::<io::Result<Vec<_>>>()?;
    let together = Barrier::new(2 * connections + 1);
    let together = &together;
    thread::scope(|scope| {
        let receivers: Vec<_> = pairs
            .into_iter()
            .map(|(mut to, mut from)| {
                scope.spawn(move || -> io::Result<()> {
                    let buffer = vec![0; 256 << 10];
                    together.wait();
                    let start = Instant::now();
                    while start.elapsed() < TIME {
                        to.write_all(&buffer)?;
                    }
                    to.shutdown(Shutdown::Write)
                });
                scope.spawn(move || -> io::Result<u64> {
                    let (mut buffer, mut bytes) = (vec![0; 256 << 10], 0);
                    together.wait();
                    loop {
                        match from.read(&mut buffer)? {
                            0 => return Ok(bytes),
                            got => bytes += got as u64,
                        }
                    }
                })
            })
            .collect();
        together.wait();
        let start = Instant::now();
        let mut bytes = 0;
        for receiver in receivers {
            let received = receiver.join();
            bytes += received.unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))?;
        }
        Ok(bytes as f64 / start.elapsed().as_secs_f64())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_connection_and_several_are_measured() {
        let mut line = Line::default();
        line.look(0).unwrap();
        assert_eq!((line.of(1), line.to_string()), (None, String::new()));
        line.look(3).unwrap();
        for number in [1, 3] {
            assert!(line.of(number).is_some_and(|rate| rate > 1e6), "{line}");
        }
        assert!(line.to_string().contains(" over 3 at once"), "{line}");
    }
}
