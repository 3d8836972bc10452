//! Frames: the unit that travels. Each carries its own address, so that any transport that delivers
//! bytes will do, in any order. The layout is specified in `schema/WIRE.md`.

use bytes::{Buf, Bytes, BytesMut};
use madrigal_kernels::Crc32;

/// Version of the frame layout and of the session protocol.
pub const WIRE_VERSION: u8 = 9;
/// Bytes of a frame's header.
pub const HEADER_BYTES: usize = 32;
/// The longest payload of one frame, in bytes; longer messages are split.
pub const MAX_PAYLOAD: usize = 256 * 1024;

/// Bytes that a frame counts towards windows beside its payload: no less than what it costs its
/// receiver to keep it, so that who sends the smallest messages makes nobody keep more than who sends
/// the largest.
pub const FRAME_COST: usize = 256;

/// Bytes that a message of this many bytes counts towards windows: its frames and what they hold.
pub const fn message_cost(bytes: usize) -> usize {
    let frames = if bytes == 0 {
        1
    } else {
        bytes.div_ceil(MAX_PAYLOAD)
    };
    frames.saturating_mul(FRAME_COST).saturating_add(bytes)
}

// A queue that grows has room for twice as many as are in it, and while it moves for half of that once
// more; a node of a B-tree has room for 11, of which 5 or more are there. A payload of its own takes 32
// bytes at least.
const _: () = assert!(3 * size_of::<Frame>() + 32 <= FRAME_COST);
const _: () = assert!((11 * (size_of::<Frame>() + 4) + 112) / 5 + 32 <= FRAME_COST);

const MAGIC: u8 = b'M';

/// Kinds of payloads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FrameKind {
    /// A part of a protocol message.
    Data,
    /// Permission to send more on one channel: a little-endian `u64`, the total so far allowed.
    Credit,
    /// A message of `schema/control.proto`.
    Control,
    /// The sender would send more on one channel than it may: a little-endian `u64`, the total that it
    /// was allowed.
    Blocked,
}

/// A frame's address and description.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// Kind of the payload.
    pub kind: FrameKind,
    /// Whether this frame ends its message.
    pub last: bool,
    /// The job; 0 is the session itself.
    pub job: u32,
    /// The step within the job, see [`step_id`](crate::context::step_id).
    pub step: u64,
    /// Place of the frame among those of its kind on (job, step), from 0.
    pub sequence: u32,
    /// Length of the chain of messages that ends with this one, for counting rounds.
    pub round: u32,
}

/// One frame.
#[derive(Clone, PartialEq, Eq)]
pub struct Frame {
    /// Header, which says where the frame belongs.
    pub header: Header,
    /// Payload of at most [`MAX_PAYLOAD`] bytes.
    pub payload: Bytes,
}

/// Shares travel in payloads: only their length is shown.
impl std::fmt::Debug for Frame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Frame({:?}, {} bytes)", self.header, self.payload.len())
    }
}

/// Reasons why bytes are not a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// The first byte is not that of a frame.
    #[error(
        "bytes that are not a Madrigal frame (first byte {got:#04x}, expected {MAGIC:#04x}): is something else speaking on this port?"
    )]
    Magic {
        /// The byte that came.
        got: u8,
    },
    /// The peer speaks another version.
    #[error(
        "wire version {got}, we speak {WIRE_VERSION}: install the same version of madrigal at both parties"
    )]
    Version {
        /// The version that came.
        got: u8,
    },
    /// A kind that this version does not have.
    #[error("unknown frame kind {got} (expected 0 to 3)")]
    Kind {
        /// The kind that came.
        got: u8,
    },
    /// Bits set that must be zero.
    #[error("unknown frame flags {got:#06x}")]
    Flags {
        /// The flags that came.
        got: u16,
    },
    /// Longer than a frame may be.
    #[error("a frame announces {got} payload bytes, at most {MAX_PAYLOAD} are allowed")]
    TooLong {
        /// The announced length in bytes.
        got: u32,
    },
    /// The checksum does not fit: the bytes were changed on the way.
    #[error("a frame was damaged on the way (checksum {got:08x}, computed {computed:08x})")]
    Checksum {
        /// The checksum in the frame.
        got: u32,
        /// The checksum of what came.
        computed: u32,
    },
    /// A part of a message that is neither its end nor full: without this rule a message could
    /// have any number of parts.
    #[error("a part of a message with {got} bytes (expected {MAX_PAYLOAD} in all but the last)")]
    Part {
        /// The part's bytes.
        got: usize,
    },
    /// A packet ends in the middle of a frame.
    #[error("a packet ends in the middle of a frame: {got} bytes of {expected}")]
    Truncated {
        /// Number of bytes that the frame needs.
        expected: usize,
        /// Number of bytes that there are.
        got: usize,
    },
}

/// Part of a frame that its checksum is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Checked {
    /// The header and the payload.
    All,
    /// The header alone: the transport vouches for every byte, as TLS does.
    #[cfg(any(feature = "sockets", test))]
    Header,
}

impl Frame {
    /// The header as it travels, followed on the wire by the payload.
    ///
    /// # Panics
    /// If the payload is longer than [`MAX_PAYLOAD`].
    pub(crate) fn encode_header(&self, checked: Checked) -> [u8; HEADER_BYTES] {
        assert!(
            self.payload.len() <= MAX_PAYLOAD,
            "long messages are split before they are framed"
        );
        let h = &self.header;
        let mut out = [0; HEADER_BYTES];
        out[0] = MAGIC;
        out[1] = WIRE_VERSION;
        out[2] = match h.kind {
            FrameKind::Data => 0,
            FrameKind::Credit => 1,
            FrameKind::Control => 2,
            FrameKind::Blocked => 3,
        };
        out[3] = u8::from(h.last);
        out[4..8].copy_from_slice(&(self.payload.len() as u32).to_le_bytes());
        out[8..12].copy_from_slice(&h.job.to_le_bytes());
        out[12..16].copy_from_slice(&h.round.to_le_bytes());
        out[16..24].copy_from_slice(&h.step.to_le_bytes());
        out[24..28].copy_from_slice(&h.sequence.to_le_bytes());
        let checksum = checksum(&out, &self.payload, checked);
        out[28..32].copy_from_slice(&checksum.to_le_bytes());
        out
    }

    /// Appends header and payload to `out`, with the checksum of both.
    ///
    /// # Panics
    /// If the payload is longer than [`MAX_PAYLOAD`].
    pub fn encode_to(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.encode_header(Checked::All));
        out.extend_from_slice(&self.payload);
    }

    /// Checks what holds for every frame, whatever came before it.
    ///
    /// # Errors
    /// [`FrameError::TooLong`], [`FrameError::Part`].
    pub fn check(&self) -> Result<(), FrameError> {
        let got = self.payload.len();
        if got > MAX_PAYLOAD {
            let got = u32::try_from(got).unwrap_or(u32::MAX);
            return Err(FrameError::TooLong { got });
        }
        if self.header.kind == FrameKind::Data && !self.header.last && got < MAX_PAYLOAD {
            return Err(FrameError::Part { got });
        }
        Ok(())
    }

    /// Bytes that the frame counts towards windows.
    pub(crate) fn cost(&self) -> u64 {
        (FRAME_COST + self.payload.len()) as u64
    }

    /// Bytes on the wire.
    pub fn wire_bytes(&self) -> usize {
        HEADER_BYTES + self.payload.len()
    }
}

/// Gives the number of bytes that the frame at the start of `bytes` takes, or `None` while its header is not
/// complete. Checks all that can be checked before the payload is there, so that a reader allocates
/// for sound lengths alone.
pub fn frame_length(bytes: &[u8]) -> Result<Option<usize>, FrameError> {
    // Magic and version first: the rest of the layout is only known once they fit.
    match *bytes {
        [magic, ..] if magic != MAGIC => return Err(FrameError::Magic { got: magic }),
        [_, version, ..] if version != WIRE_VERSION => {
            return Err(FrameError::Version { got: version });
        }
        _ => {}
    }
    if bytes.len() < HEADER_BYTES {
        return Ok(None);
    }
    let length = u32_at(bytes, 4);
    if length as usize > MAX_PAYLOAD {
        return Err(FrameError::TooLong { got: length });
    }
    Ok(Some(HEADER_BYTES + length as usize))
}

/// The frame that these bytes are, of the length that [`frame_length`] told.
fn decode_one(mut payload: Bytes, checked: Checked) -> Result<Frame, FrameError> {
    let head: [u8; HEADER_BYTES] = payload[..HEADER_BYTES]
        .try_into()
        .expect("the header is complete");
    payload.advance(HEADER_BYTES);
    let got = u32_at(&head, 28);
    let computed = checksum(&head, &payload, checked);
    if got != computed {
        return Err(FrameError::Checksum { got, computed });
    }
    let kind = match head[2] {
        0 => FrameKind::Data,
        1 => FrameKind::Credit,
        2 => FrameKind::Control,
        3 => FrameKind::Blocked,
        got => return Err(FrameError::Kind { got }),
    };
    if head[3] > 1 {
        return Err(FrameError::Flags {
            got: head[3].into(),
        });
    }
    let header = Header {
        kind,
        last: head[3] == 1,
        job: u32_at(&head, 8),
        round: u32_at(&head, 12),
        step: u64::from(u32_at(&head, 16)) | u64::from(u32_at(&head, 20)) << 32,
        sequence: u32_at(&head, 24),
    };
    Ok(Frame { header, payload })
}

/// Takes all frames out of a packet, which must hold whole ones.
///
/// Frames of a packet that wait take at most four times the memory that they count, as
/// [`FRAME_COST`] says: long payloads share the packet's.
pub fn decode_packet(mut bytes: Bytes) -> Result<Vec<Frame>, FrameError> {
    let short = bytes.len() / 4;
    let (frames, missing) = decode_whole(&mut bytes, short, Checked::All)?;
    match missing {
        None => Ok(frames),
        Some(missing) => Err(FrameError::Truncated {
            expected: bytes.len() + missing,
            got: bytes.len(),
        }),
    }
}

/// Takes the whole frames off the front of `bytes`. How many bytes the next one lacks, as far as that
/// is known; `None` if nothing is left.
///
/// Payloads share the memory of `bytes`, but for those below `short` bytes, which are copied: else a
/// peer could have a few bytes wait, and all that came with them. So what waits takes no more than
/// `bytes` has room for, divided by `short`, times what it counts.
pub(crate) fn decode_whole(
    bytes: &mut impl Front,
    short: usize,
    checked: Checked,
) -> Result<(Vec<Frame>, Option<usize>), FrameError> {
    let mut frames = Vec::new();
    while !bytes.is_empty() {
        let length = frame_length(bytes)?.unwrap_or(HEADER_BYTES);
        if bytes.len() < length {
            return Ok((frames, Some(length - bytes.len())));
        }
        let mut frame = decode_one(bytes.take_front(length), checked)?;
        if frame.payload.len() < short {
            frame.payload = Bytes::copy_from_slice(&frame.payload);
        }
        frames.push(frame);
    }
    Ok((frames, None))
}

/// Bytes from whose front frames are taken.
pub(crate) trait Front: std::ops::Deref<Target = [u8]> {
    /// The first `length` bytes, not copied.
    fn take_front(&mut self, length: usize) -> Bytes;
}

impl Front for Bytes {
    fn take_front(&mut self, length: usize) -> Bytes {
        self.split_to(length)
    }
}

impl Front for BytesMut {
    fn take_front(&mut self, length: usize) -> Bytes {
        self.split_to(length).freeze()
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// CRC-32 (IEEE) of the header without its last four bytes, then, if that is `checked` too, the payload.
/// It catches accidents; an attacker is kept out by the transport (TLS). Payloads are secret, hence the
/// kernels' implementation, which looks nothing up in tables.
fn checksum(header: &[u8; HEADER_BYTES], payload: &[u8], checked: Checked) -> u32 {
    let mut crc = Crc32::new();
    crc.update(&header[..28]);
    if checked == Checked::All {
        crc.update(payload);
    }
    crc.value()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    prop_compose! {
        fn frames()(
            kind in prop::sample::select(vec![FrameKind::Data, FrameKind::Credit, FrameKind::Control, FrameKind::Blocked]),
            last: bool, job: u32, step: u64, sequence: u32, round: u32,
            payload in prop::collection::vec(any::<u8>(), 0..300),
        ) -> Frame {
            Frame { header: Header { kind, last, job, step, sequence, round }, payload: payload.into() }
        }
    }

    proptest! {
        #[test]
        fn frames_survive_the_wire(sent in prop::collection::vec(frames(), 0..4)) {
            let mut wire = Vec::new();
            sent.iter().for_each(|frame| frame.encode_to(&mut wire));
            prop_assert_eq!(decode_packet(wire.into()).unwrap(), sent);
        }

        #[test]
        fn one_changed_bit_is_noticed(frame in frames(), at: prop::sample::Index, bit in 0u8..8) {
            let mut wire = Vec::new();
            frame.encode_to(&mut wire);
            let at = at.index(wire.len());
            wire[at] ^= 1 << bit;
            prop_assert!(decode_packet(wire.into()).is_err());
        }

        /// The header is still checked where the transport vouches for the bytes.
        #[test]
        fn frames_without_a_checksum_of_payloads(frame in frames(), at in 0..28usize, bit in 0u8..8) {
            let read = |header: &[u8]| {
                let wire = [header, &frame.payload].concat();
                decode_whole(&mut Bytes::from(wire), 0, Checked::Header)
            };
            let mut header = frame.encode_header(Checked::Header);
            prop_assert_eq!(read(&header).unwrap(), (vec![frame.clone()], None));
            header[at] ^= 1 << bit;
            // A length too large waits for more.
            prop_assert!(!matches!(read(&header), Ok((_, None))));
        }

        #[test]
        fn a_cut_packet_is_noticed(frame in frames(), at: prop::sample::Index) {
            let mut wire = Vec::new();
            frame.encode_to(&mut wire);
            wire.truncate(at.index(wire.len()));
            prop_assert!(wire.is_empty() || decode_packet(wire.into()).is_err());
        }

        #[test]
        fn anything_decodes_or_is_refused(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = decode_packet(bytes.into());
        }
    }

    /// The example of `schema/WIRE.md`.
    #[test]
    fn the_checksum_under_tls_is_that_of_the_document() {
        let header = Header {
            kind: FrameKind::Data,
            last: true,
            job: 1,
            step: crate::context::step_id("job/hello"),
            sequence: 0,
            round: 1,
        };
        let payload = vec![1, 2, 3].into();
        let frame = Frame { header, payload };
        let checksum = frame.encode_header(Checked::Header)[28..].to_vec();
        let hex: Vec<String> = checksum.iter().map(|byte| format!("{byte:02x}")).collect();
        let said = format!("Under TLS its checksum is `{}`.", hex.join(" "));
        assert!(
            include_str!("../../../schema/WIRE.md").contains(&said),
            "{said}"
        );
        assert_eq!(checksum, [0xb0, 0xf4, 0xed, 0xe1]);
    }

    #[test]
    fn another_version_is_named_as_such() {
        assert_eq!(
            frame_length(&[MAGIC, WIRE_VERSION + 1]),
            Err(FrameError::Version {
                got: WIRE_VERSION + 1
            })
        );
        assert_eq!(frame_length(b"GET /"), Err(FrameError::Magic { got: b'G' }));
    }
}
