//! Row operations byte by byte; the compiler makes vectors of these loops.

#[inline(always)]
pub(crate) fn xor_into(dst: &mut [u8], src: &[u8]) {
    for (dst, src) in dst.iter_mut().zip(src) {
        *dst ^= src;
    }
}

#[inline(always)]
pub(crate) fn xor(dst: &mut [u8], a: &[u8], b: &[u8]) {
    for (dst, (a, b)) in dst.iter_mut().zip(a.iter().zip(b)) {
        *dst = a ^ b;
    }
}

#[inline(always)]
pub(crate) fn and(dst: &mut [u8], a: &[u8], b: &[u8]) {
    for (dst, (a, b)) in dst.iter_mut().zip(a.iter().zip(b)) {
        *dst = a & b;
    }
}

#[inline(always)]
pub(crate) fn not_into(dst: &mut [u8]) {
    for dst in dst {
        *dst = !*dst;
    }
}

#[inline(always)]
pub(crate) fn beaver<const LEADER: bool>(
    z: &mut [u8],
    a: &[u8],
    b: &[u8],
    c: &[u8],
    d: &[u8],
    e: &[u8],
) {
    let n = z.len();
    let (a, b, c, d, e) = (&a[..n], &b[..n], &c[..n], &d[..n], &e[..n]);
    for i in 0..n {
        let own = c[i] ^ (d[i] & b[i]) ^ (e[i] & a[i]);
        z[i] = if LEADER { own ^ (d[i] & e[i]) } else { own };
    }
}
