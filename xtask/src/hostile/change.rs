//! Files changed at random, so that they look like what they were.

/// A generator of numbers; each file has one of its own (splitmix64).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64, file: u64) -> Self {
        let mut random = Self(seed);
        random.0 ^= random
            .next()
            .wrapping_add(file.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        random
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below this one, which is not 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    pub(crate) fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// What tends to go wrong in a text.
const WORDS: [&str; 16] = [
    "0",
    "-1",
    "1",
    "65536",
    "2147483647",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "99999999999999999999999999",
    "1e999",
    "nan",
    "\u{1b}[2J\u{7}\r",
    "\u{202e}gnp.\u{2028}",
    "\n",
    "../../etc/passwd",
];

/// And among bytes.
const BYTES: [&[u8]; 9] = [
    &[0xff],
    &[0],
    &[0x7f],
    &[0x80, 0x80, 0x80, 0x80, 0x10],
    &[0xff, 0xff, 0xff, 0xff, 0x0f],
    &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
    &[0xff, 0xff, 0xff, 0x7f],
    &[0, 0, 0, 0x80],
    &[0x1b, b'[', b'2', b'J'],
];

/// Changes a file in one to four places; `other` is one of the same kind.
pub(crate) fn change(file: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    for _ in 0..1 + random.below(4) {
        one(file, other, random);
    }
}

fn one(file: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    if file.is_empty() {
        file.extend_from_slice(other);
        return;
    }
    let at = random.below(file.len());
    let length = 1 + random.below(64.min(file.len() - at));
    match random.below(12) {
        0 => file[at] ^= 1 << random.below(8),
        1 => file[at] = random.below(256) as u8,
        2 => file[at] = file[at].wrapping_add(1),
        3 => file.truncate(at),
        4 => drop(file.drain(at..at + length)),
        // The same again, once or often.
        5 => {
            let part = file[at..at + length].to_vec();
            let times = *random.of(&[1, 2, 100, 5000]);
            file.splice(at..at, part.repeat(times));
        }
        6 => drop(file.splice(at..at, random.of(&WORDS).bytes())),
        7 => drop(file.splice(at..at, random.of(&BYTES).iter().copied())),
        8 => {
            let bytes = *random.of(&BYTES);
            let end = (at + bytes.len()).min(file.len());
            file.splice(at..end, bytes.iter().copied());
        }
        9 => number(file, at, random),
        10 => number(file, at, random),
        // The end of another one.
        _ => {
            let from = random.below(other.len().max(1)).min(other.len());
            file.truncate(at);
            file.extend_from_slice(&other[from..]);
        }
    }
}

/// Another number in the place of the next one that is written in digits.
fn number(file: &mut Vec<u8>, at: usize, random: &mut Random) {
    let digit = |byte: &u8| byte.is_ascii_digit();
    let Some(start) = file[at..].iter().position(digit) else {
        return;
    };
    let start = at + start;
    let end = file[start..].iter().position(|byte| !digit(byte));
    let end = end.map_or(file.len(), |end| start + end);
    file.splice(start..end, random.of(&WORDS[..12]).bytes());
}
