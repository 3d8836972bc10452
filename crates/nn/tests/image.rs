//! Images: read, and refused.

use madrigal_nn::image::{Image, ImageError, Layout, Scaling, read};
use png::{BitDepth, ColorType};

const BYTES: Scaling = Scaling {
    factor: 1.0,
    mean: 0.0,
    deviation: 1.0,
};

fn file(color: ColorType, depth: BitDepth, size: [u32; 2], bytes: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, size[0], size[1]);
    encoder.set_color(color);
    encoder.set_depth(depth);
    if color == ColorType::Indexed {
        encoder.set_palette(vec![0; 3]);
    }
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(bytes).unwrap();
    writer.finish().unwrap();
    file
}

fn grey(size: [u32; 2], bytes: &[u8]) -> Vec<u8> {
    file(ColorType::Grayscale, BitDepth::Eight, size, bytes)
}

fn rgb(size: [u32; 2], bytes: &[u8]) -> Vec<u8> {
    file(ColorType::Rgb, BitDepth::Eight, size, bytes)
}

fn chunk(kind: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let mut crc = u32::MAX;
    for &byte in kind.iter().chain(data) {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
        }
    }
    let length = (data.len() as u32).to_be_bytes();
    [&length, &kind[..], data, &(!crc).to_be_bytes()].concat()
}

/// A header for bytes of this type, then these chunks.
fn made(size: [u32; 2], color: u8, interlaced: u8, chunks: &[Vec<u8>]) -> Vec<u8> {
    let [width, height] = size.map(u32::to_be_bytes);
    let header = [&width[..], &height, &[8, color, 0, 0, interlaced]].concat();
    let magic = b"\x89PNG\r\n\x1a\n";
    [&magic[..], &chunk(b"IHDR", &header), &chunks.concat()].concat()
}

/// Bytes that are not packed, of up to 65535.
fn stored(bytes: &[u8]) -> Vec<u8> {
    let length = bytes.len() as u16;
    let [mut low, mut high] = [1_u32, 0];
    for &byte in bytes {
        low = (low + u32::from(byte)) % 65521;
        high = (high + low) % 65521;
    }
    let parts = [
        &[0x78, 0x01, 1][..],
        &length.to_le_bytes(),
        &(!length).to_le_bytes(),
        bytes,
        &((high << 16) | low).to_be_bytes(),
    ];
    chunk(b"IDAT", &parts.concat())
}

#[test]
fn channels_come_one_after_the_other() {
    let image = read(&rgb([2, 1], &[255, 0, 51, 0, 255, 102])).unwrap();
    assert_eq!((image.channels(), image.height(), image.width()), (3, 1, 2));
    assert_eq!(format!("{image:?}"), "Image(3 x 1 x 2)");
    let usual = [Scaling::default(); 3];
    let numbers = [1.0, 0.0, 0.0, 1.0, 0.2, 0.4];
    assert_eq!(image.numbers(&usual), Ok(numbers.to_vec()));
    for shape in [&[1, 3, 1, 2][..], &[1, 6]] {
        assert_eq!(
            image.for_input("x", shape, &usual),
            Ok(numbers.to_vec()),
            "{shape:?}"
        );
    }
    let scaled = |deviation| Scaling {
        mean: 0.5,
        deviation,
        ..Scaling::default()
    };
    let found = image.numbers(&[scaled(0.5), scaled(1.0), scaled(2.0)]);
    assert_eq!(found.unwrap()[..3], [1.0, -1.0, -0.5]);
    let image = read(&grey([2, 3], &[1, 2, 3, 4, 5, 6])).unwrap();
    for shape in [&[1, 1, 3, 2][..], &[1, 3, 2], &[1, 6]] {
        let found = image.for_input("x", shape, &[BYTES]);
        assert_eq!(found, Ok(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    }
}

/// Two by two, of which the first of seven passes has the first pixel, the sixth the one right of it, and the last
/// the row below.
#[test]
fn interlaced_images() {
    let packed = stored(&[0, 10, 0, 20, 0, 30, 40]);
    let image = read(&made([2, 2], 0, 1, &[packed, chunk(b"IEND", b"")])).unwrap();
    assert_eq!(image.numbers(&[BYTES]), Ok(vec![10.0, 20.0, 30.0, 40.0]));
}

/// Notes, profiles and transparency do not change what is read, broken ones neither.
#[test]
fn what_stands_beside_the_pixels_is_passed_over() {
    let beside = [
        chunk(b"gAMA", &45455_u32.to_be_bytes()),
        chunk(b"iCCP", b"x\0\0no profile"),
        chunk(b"zTXt", b"x\0\0no text"),
        chunk(b"tRNS", &[0, 7]),
        stored(&[0, 7]),
        chunk(b"IEND", b""),
    ];
    let image = read(&made([1, 1], 0, 0, &beside)).unwrap();
    assert_eq!(image.numbers(&[BYTES]), Ok(vec![7.0]));
}

/// Forms of colours that were refused before, with the advice to convert the image.
#[test]
fn all_forms_of_colours_are_read() {
    use BitDepth::{Eight, One, Sixteen, Two};
    for (color, depth, bytes, numbers) in [
        (
            ColorType::Rgba,
            Eight,
            &[1, 2, 3, 4, 5, 6, 7, 8][..],
            &[1.0, 5.0, 2.0, 6.0, 3.0, 7.0][..],
        ),
        (ColorType::GrayscaleAlpha, Eight, &[1, 0, 3, 9], &[1.0, 3.0]),
        (
            ColorType::Grayscale,
            Sixteen,
            &[255, 255, 1, 1],
            &[255.0, 1.0],
        ),
        (
            ColorType::GrayscaleAlpha,
            Sixteen,
            &[2, 2, 0, 7, 1, 1, 0, 7],
            &[2.0, 1.0],
        ),
        (ColorType::Grayscale, One, &[0b0100_0000], &[0.0, 255.0]),
        (ColorType::Grayscale, Two, &[0b0111_0000], &[85.0, 255.0]),
        (
            ColorType::Rgb,
            Sixteen,
            &[1, 1, 2, 2, 3, 3, 0, 0, 255, 255, 0, 1],
            &[1.0, 0.0, 2.0, 255.0, 3.0, 1.0 / 257.0],
        ),
        (
            ColorType::Rgba,
            Sixteen,
            &[1, 1, 2, 2, 3, 3, 9, 9, 4, 4, 5, 5, 6, 6, 9, 9],
            &[1.0, 4.0, 2.0, 5.0, 3.0, 6.0],
        ),
    ] {
        let image = read(&file(color, depth, [2, 1], bytes)).unwrap();
        let scalings = vec![BYTES; image.channels()];
        assert_eq!(
            image.numbers(&scalings),
            Ok(numbers.to_vec()),
            "{color:?} {depth:?}"
        );
    }
    // Two places in a palette of two colours, with transparency beside and without.
    for transparency in [vec![], vec![chunk(b"tRNS", &[0, 9])]] {
        let beside = [
            vec![chunk(b"PLTE", &[1, 2, 3, 4, 5, 6])],
            transparency,
            vec![stored(&[0, 1, 0]), chunk(b"IEND", b"")],
        ];
        let image = read(&made([2, 1], 3, 0, &beside.concat())).unwrap();
        assert_eq!(
            image.numbers(&[BYTES; 3]),
            Ok(vec![4.0, 1.0, 5.0, 2.0, 6.0, 3.0])
        );
    }
}

/// Networks that were made with TensorFlow have the channels last.
#[test]
fn channels_may_come_last() {
    let image = read(&rgb([2, 1], &[1, 2, 3, 4, 5, 6])).unwrap();
    assert_eq!(image.sizes(Layout::Pixels), [1, 2, 3]);
    let found = image.for_input("x", &[1, 1, 2, 3], &[BYTES; 3]);
    assert_eq!(found, Ok(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    // Where both fit it is as before.
    let square = read(&rgb([3, 3], &(0..27).collect::<Vec<u8>>())).unwrap();
    let found = square.for_input("x", &[1, 3, 3, 3], &[BYTES; 3]).unwrap();
    assert_eq!(found[..3], [0.0, 3.0, 6.0]);
}

#[test]
fn damaged_images_are_refused() {
    for file in [
        &b""[..],
        b"no image",
        b"\x89PNG\r\n\x1a",
        b"\x89PNG\n\x1a\n_",
    ] {
        assert_eq!(read(file), Err(ImageError::Magic));
    }
    let good = rgb([5, 4], &(0..60).collect::<Vec<u8>>());
    let pixels = good.len() - chunk(b"IEND", b"").len();
    for cut in 8..pixels {
        assert_eq!(read(&good[..cut]), Err(ImageError::Cut), "{cut}");
    }
    for at in 8..good.len() {
        for bit in 0..8 {
            let mut file = good.clone();
            file[at] ^= 1 << bit;
            // In what follows the pixels nothing is looked for.
            let found = read(&file);
            assert!(found.is_err() || at >= pixels, "{at}, {bit}");
        }
    }
    for chunks in [
        vec![chunk(b"IEND", b"")],
        vec![stored(&[0, 1])],
        vec![stored(&[0, 1, 0]), chunk(b"IEND", b"")],
        vec![stored(&[9, 1, 0, 1]), chunk(b"IEND", b"")],
        vec![chunk(b"IDAT", b""), chunk(b"IEND", b"")],
        vec![chunk(b"fcTL", &[0; 26]), stored(&[0, 1, 0, 1])],
    ] {
        let found = read(&made([1, 2], 0, 0, &chunks)).unwrap_err();
        assert!(
            matches!(found, ImageError::Damaged(_) | ImageError::Cut),
            "{found}"
        );
    }
    for size in [[0, 1], [1, 0], [1 << 31, 1]] {
        let found = read(&made(size, 0, 0, &[])).unwrap_err();
        assert!(
            matches!(found, ImageError::Damaged(_) | ImageError::Size { .. }),
            "{found}"
        );
    }
}

/// Headers that announce more than there is.
#[test]
fn sizes_are_limited_before_memory_is_taken() {
    let most = i32::MAX as u32;
    for [width, height] in [[most, most], [most, 1], [1 << 13, (1 << 13) + 1]] {
        let found = read(&made([width, height], 2, 0, &[])).unwrap_err();
        assert_eq!(found, ImageError::Size { width, height });
        assert!(found.to_string().contains("at most 67108864"), "{found}");
    }
    let [width, height] = [1 << 13, 1 << 13];
    let file = made([width, height], 2, 0, &[stored(&[0; 100])]);
    let found = read(&file).unwrap_err();
    let short = ImageError::Short {
        width,
        height,
        found: file.len(),
    };
    assert_eq!(found, short);
    assert!(found.to_string().contains("8192 x 8192"), "{found}");
}

#[test]
fn what_the_decoder_takes_is_limited() {
    // A row of 24 MiB, with enough behind it to make that possible.
    let file = made([1 << 23, 1], 2, 0, &[stored(&[0; 60000])]);
    assert_eq!(read(&file), Err(ImageError::Memory));
    assert!(ImageError::Memory.to_string().contains("16 MiB"));
}

/// The best that packing does is not taken for damage.
#[test]
fn plain_images_are_read() {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, 2048, 2048);
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(png::Compression::High);
    encoder.set_filter(png::Filter::NoFilter);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(&vec![0; 3 << 22]).unwrap();
    writer.finish().unwrap();
    let ratio = (3 << 22) / bytes.len();
    assert!(ratio > 1000, "{ratio}");
    assert_eq!(read(&bytes).unwrap().width(), 2048);
}

fn fit(image: &Image, shape: &[usize]) -> ImageError {
    let scalings = vec![BYTES; image.channels()];
    image.for_input("x", shape, &scalings).unwrap_err()
}

#[test]
fn what_does_not_fit_is_told() {
    let image = read(&grey([2, 3], &[0; 6])).unwrap();
    for shape in [
        &[][..],
        &[1],
        &[1, 5],
        &[6],
        &[2, 6],
        &[1, 2, 3],
        &[2, 3, 2],
        &[1, 3, 3, 2],
        &[2, 1, 3, 2],
        &[1, 1, 3, 2, 1],
    ] {
        let expected = ImageError::Fit {
            channels: 1,
            height: 3,
            width: 2,
            name: "x".to_owned(),
            shape: shape.to_owned(),
        };
        assert_eq!(fit(&image, shape), expected);
    }
    let told = fit(&image, &[2, 3, 4, 4]).to_string();
    for part in [
        "2 x 3 pixels of grey",
        "1 x 3 x 2",
        "\"x\" takes 3 x 4 x 4, and 2",
    ] {
        assert!(told.contains(part), "{part} is not in {told}");
    }
    let colour = read(&rgb([2, 3], &[0; 18])).unwrap();
    let told = fit(&colour, &[1, 3, 2]).to_string();
    assert!(
        told.contains("red, green and blue") && told.contains("takes 3 x 2:"),
        "{told}"
    );
}

#[test]
fn scalings_are_one_for_each_channel_and_finite() {
    let image = read(&rgb([1, 1], &[0, 3, 0])).unwrap();
    for found in [0, 1, 2, 4] {
        let error = image.numbers(&vec![BYTES; found]).unwrap_err();
        assert_eq!(error, ImageError::Scalings { expected: 3, found });
    }
    let scaling = Scaling {
        factor: 1e308,
        ..BYTES
    };
    let error = image.numbers(&[BYTES, scaling, BYTES]).unwrap_err();
    let expected = ImageError::Infinite {
        value: 3.0,
        channel: 2,
        scaling,
    };
    assert_eq!(error, expected);
    assert!(error.to_string().contains("of channel 2 is no finite"));
    let nothing = Scaling {
        deviation: 0.0,
        ..BYTES
    };
    let error = image.numbers(&[nothing; 3]).unwrap_err();
    assert!(matches!(error, ImageError::Infinite { channel: 1, .. }));
}
