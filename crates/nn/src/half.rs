//! Floats of 16 bits, from and to their bits: IEEE 754 binary16, and bfloat16.

/// The number with these bits as binary16.
pub(crate) fn f16_value(bits: u16) -> f32 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let exponent = i32::from(bits >> 10 & 31);
    let fraction = f32::from(bits & 1023);
    match (exponent, bits & 1023) {
        (31, 0) => sign * f32::INFINITY,
        (31, _) => f32::NAN,
        // Subnormal: multiples of 2^-24.
        (0, _) => sign * fraction * 2f32.powi(-24),
        _ => sign * (1.0 + fraction / 1024.0) * 2f32.powi(exponent - 15),
    }
}

/// The number with these bits as bfloat16.
pub(crate) fn bf16_value(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// The nearest binary16, ties to even; beyond the greatest it is infinite.
pub(crate) fn round_to_f16(value: f32) -> f32 {
    if !value.is_finite() || value == 0.0 {
        return value;
    }
    let exponent = (value.to_bits() >> 23 & 255) as i32 - 127;
    // The distance of neighbouring numbers of binary16 there, a power of two: dividing by it is exact.
    let unit = 2f64.powi(exponent.max(-14) - 10);
    let rounded = (f64::from(value) / unit).round_ties_even() * unit;
    match rounded.abs() > 65504.0 {
        true => f32::INFINITY.copysign(value),
        false => (rounded as f32).copysign(value),
    }
}

/// The nearest bfloat16, ties to even.
pub(crate) fn round_to_bf16(value: f32) -> f32 {
    if value.is_nan() {
        return value;
    }
    let bits = value.to_bits();
    let odd = bits >> 16 & 1;
    f32::from_bits(bits.wrapping_add(0x7fff + odd) & 0xffff_0000)
}
