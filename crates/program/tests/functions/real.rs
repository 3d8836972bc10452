//! Functions in real numbers, by other means than the program's tables: the system's library,
//! and for erf a series and a continued fraction.

/// 1 - erf x.
fn erfc(x: f64) -> f64 {
    if x < 0.0 {
        return 2.0 - erfc(-x);
    }
    if x < 2.5 {
        // 2 / sqrt(pi) times the sum of (-1)^n x^(2 n + 1) / (n! (2 n + 1)).
        let (mut power, mut sum) = (x, x);
        for n in 1..60 {
            power *= -x * x / f64::from(n);
            sum += power / f64::from(2 * n + 1);
        }
        return 1.0 - std::f64::consts::FRAC_2_SQRT_PI * sum;
    }
    // e^(-x^2) / sqrt(pi) / (x + (1/2) / (x + 1 / (x + (3/2) / (x + ...)))).
    let tail = (1..100)
        .rev()
        .fold(x, |below, n| x + f64::from(n) / 2.0 / below);
    (-x * x).exp() * std::f64::consts::FRAC_2_SQRT_PI / 2.0 / tail
}

pub(super) fn erf(x: f64) -> f64 {
    1.0 - erfc(x)
}

pub(super) fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

pub(super) fn gelu(x: f64) -> f64 {
    0.5 * x * erfc(-x / 2f64.sqrt())
}

pub(super) fn gelu_tanh(x: f64) -> f64 {
    let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x * x * x);
    0.5 * x * (1.0 + inner.tanh())
}

pub(super) fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

#[test]
fn erf_has_its_known_values() {
    // Abramowitz and Stegun, "Handbook of mathematical functions", table 7.1.
    for (x, value) in [
        (0.0, 0.0),
        (0.5, 0.520_499_877_8),
        (1.0, 0.842_700_792_9),
        (2.0, 0.995_322_265_0),
        (3.0, 0.999_977_909_5),
    ] {
        assert!((erf(x) - value).abs() < 1e-10, "{x}");
        assert!((erf(-x) + value).abs() < 1e-10, "{x}");
    }
}
