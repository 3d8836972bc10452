//! Images (`.png`) as networks take them: channel by channel, row by row.
//!
//! Read are images of 8 bits a channel, grey or red, green and blue. Of an animation it is the image that viewers show
//! who know of none. What the file says of colours beside (gamma, profiles, transparency) is passed over: networks are
//! trained on the bytes.

use std::io::Cursor;

use png::{BitDepth, ColorType, Decoder, DecodingError, Limits};

use crate::tensor::sizes;

/// The most pixels that an image may have: 64 Mi.
pub const MOST_PIXELS: u64 = 1 << 26;

/// Bytes that the decoder may take beside the pixels: for a row, and for what the file notes beside its pixels.
const MEMORY: usize = 16 << 20;
/// How such files begin.
const MAGIC: &[u8] = b"\x89PNG\r\n\x1a\n";
/// The most bytes that a byte of the file can become: DEFLATE repeats 258 bytes by two bits at best.
const INFLATED: u64 = 1032;

/// Why a file is no image, or none that can be read or fits.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ImageError {
    /// It does not begin as such files do.
    #[error("this is no PNG image: convert it to one")]
    Magic,
    /// The file ends before the last pixel.
    #[error("the PNG image ends before its last pixel: it is damaged")]
    Cut,
    /// What the decoder says is wrong with the file.
    #[error("the PNG image is damaged: {0}")]
    Damaged(String),
    /// Too many pixels.
    #[error("{width} x {height} pixels; at most {most} are read: scale the image", most = MOST_PIXELS)]
    Size {
        /// How many in a row.
        width: u32,
        /// How many rows.
        height: u32,
    },
    /// More pixels than the file can have.
    #[error(
        "the PNG image announces {width} x {height} pixels, which its {found} bytes cannot hold: it is damaged"
    )]
    Short {
        /// How many in a row.
        width: u32,
        /// How many rows.
        height: u32,
        /// The file's length in bytes.
        found: usize,
    },
    /// A row is too long, or there is too much beside the pixels.
    #[error(
        "the PNG image has rows, or notes beside its pixels, of more than {most} MiB: scale it, or save it without notes",
        most = MEMORY >> 20
    )]
    Memory,
    /// Pixels of another kind.
    #[error(
        "its pixels are {kind} of {bits} bits; expected 8 bits of grey, or of red, green and blue: convert the image"
    )]
    Pixels {
        /// What a pixel consists of.
        kind: &'static str,
        /// Bits of each part.
        bits: u8,
    },
    /// Another number of scalings than of channels.
    #[error(
        "there are {found} scalings, and the image's channels are {expected}: give one for each"
    )]
    Scalings {
        /// How many channels there are.
        expected: usize,
        /// How many scalings came.
        found: usize,
    },
    /// A scaling that makes a byte infinite.
    #[error(
        "({byte} * {} - {}) / {} of channel {channel} is no finite number: give another scaling",
        .scaling.factor, .scaling.mean, .scaling.deviation
    )]
    Infinite {
        /// A byte that occurs in the image.
        byte: u8,
        /// Its channel, counted from 1.
        channel: usize,
        /// The channel's scaling.
        scaling: Scaling,
    },
    /// Other sizes than an input takes.
    #[error(
        "it has {width} x {height} pixels of {} (channels x rows x columns: {channels} x {height} x {width}); \
         the model's input {name:?} takes {}: scale or convert the image",
        kind(*.channels), wanted(.shape)
    )]
    Fit {
        /// How many channels the image has.
        channels: usize,
        /// How many rows.
        height: usize,
        /// How many pixels in a row.
        width: usize,
        /// The input's name.
        name: String,
        /// The input's dimensions, the batch first.
        shape: Vec<usize>,
    },
}

impl From<DecodingError> for ImageError {
    fn from(error: DecodingError) -> Self {
        match error {
            // Bytes in memory have no other fault than their end.
            DecodingError::IoError(_) => Self::Cut,
            DecodingError::LimitsExceeded => Self::Memory,
            other => Self::Damaged(other.to_string()),
        }
    }
}

fn kind(channels: usize) -> &'static str {
    match channels {
        1 => "grey",
        _ => "red, green and blue",
    }
}

/// As in 3 x 4 x 4, and 2 of them.
fn wanted(shape: &[usize]) -> String {
    let one = sizes(shape.get(1..).unwrap_or(&[]));
    match shape.first() {
        Some(1) | None => one,
        Some(count) => format!("{one}, and {count} of them"),
    }
}

/// How the bytes of a channel become numbers: `(byte * factor - mean) / deviation`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scaling {
    /// What bytes are multiplied with.
    pub factor: f64,
    /// What is subtracted then.
    pub mean: f64,
    /// What the difference is divided by.
    pub deviation: f64,
}

/// From 0 to 1.
impl Default for Scaling {
    fn default() -> Self {
        Self {
            factor: 1.0 / 255.0,
            mean: 0.0,
            deviation: 1.0,
        }
    }
}

/// An image of one or three channels of bytes.
#[derive(Clone, PartialEq, Eq)]
pub struct Image {
    channels: usize,
    height: usize,
    width: usize,
    /// By row, column and channel.
    bytes: Vec<u8>,
}

/// How large it is; the pixels may be secret.
impl std::fmt::Debug for Image {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (channels, height, width) = (self.channels, self.height, self.width);
        write!(f, "Image({channels} x {height} x {width})")
    }
}

/// Reads an image. Memory follows what the file can hold, at most [`MOST_PIXELS`], not what its header announces.
///
/// # Errors
/// If it is no such file, or has pixels of another kind or too many of them.
pub fn read(file: &[u8]) -> Result<Image, ImageError> {
    if !file.starts_with(MAGIC) {
        return Err(ImageError::Magic);
    }
    let mut decoder = Decoder::new_with_limits(Cursor::new(file), Limits { bytes: MEMORY });
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    let header = decoder.read_header_info()?;
    let (width, height) = (header.width, header.height);
    let count = u64::from(width) * u64::from(height);
    if count > MOST_PIXELS {
        return Err(ImageError::Size { width, height });
    }
    let channels = match (header.color_type, header.bit_depth) {
        (ColorType::Grayscale, BitDepth::Eight) => 1,
        (ColorType::Rgb, BitDepth::Eight) => 3,
        (color, depth) => {
            return Err(ImageError::Pixels {
                kind: match color {
                    ColorType::Grayscale => "grey",
                    ColorType::Rgb => "red, green and blue",
                    ColorType::Indexed => "places in a palette",
                    ColorType::GrayscaleAlpha => "grey and alpha",
                    ColorType::Rgba => "red, green, blue and alpha",
                },
                bits: depth as u8,
            });
        }
    };
    let length = count * channels;
    if length / INFLATED > file.len() as u64 {
        return Err(ImageError::Short {
            width,
            height,
            found: file.len(),
        });
    }
    let mut reader = decoder.read_info()?;
    let mut bytes = vec![0; length as usize];
    reader.next_frame(&mut bytes)?;
    Ok(Image {
        channels: channels as usize,
        height: height as usize,
        width: width as usize,
        bytes,
    })
}

impl Image {
    /// How many channels: 1 of grey, or 3 of red, green and blue.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// How many rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// How many pixels in a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Its numbers by channel, row and column, with a scaling for each channel.
    ///
    /// # Errors
    /// If there are more scalings or fewer, or one of them makes a byte infinite.
    pub fn numbers(&self, scalings: &[Scaling]) -> Result<Vec<f64>, ImageError> {
        if scalings.len() != self.channels {
            return Err(ImageError::Scalings {
                expected: self.channels,
                found: scalings.len(),
            });
        }
        let mut numbers = Vec::with_capacity(self.bytes.len());
        for (channel, &scaling) in scalings.iter().enumerate() {
            for &byte in self.bytes.iter().skip(channel).step_by(self.channels) {
                let number = (f64::from(byte) * scaling.factor - scaling.mean) / scaling.deviation;
                if !number.is_finite() {
                    return Err(ImageError::Infinite {
                        byte,
                        channel: channel + 1,
                        scaling,
                    });
                }
                numbers.push(number);
            }
        }
        Ok(numbers)
    }

    /// Its numbers for an input of this name and shape, whose first dimension is the batch and must be 1: by channel, row
    /// and column; without channels if it is grey; or all in a row.
    ///
    /// # Errors
    /// If the input takes other sizes, or as [`Image::numbers`].
    pub fn for_input(
        &self,
        name: &str,
        shape: &[usize],
        scalings: &[Scaling],
    ) -> Result<Vec<f64>, ImageError> {
        let own = [self.channels, self.height, self.width];
        let fits = match *shape {
            [1, channels, height, width] => own == [channels, height, width],
            [1, height, width] => own == [1, height, width],
            [1, all] => all == self.bytes.len(),
            _ => false,
        };
        if fits {
            return self.numbers(scalings);
        }
        Err(ImageError::Fit {
            channels: self.channels,
            height: self.height,
            width: self.width,
            name: name.to_owned(),
            shape: shape.to_owned(),
        })
    }
}
