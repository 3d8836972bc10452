//! Finds which instructions this machine has, and gives the handle that runs every kernel at one level.

use core::fmt;
use core::str::FromStr;
use std::sync::OnceLock;

use thiserror::Error;

/// The environment variable that lowers the level: `portable`, `aesni`, `avx2`, `vaes256`, `vaes512`,
/// `neon`.
pub const LEVEL_VARIABLE: &str = "MADRIGAL_LEVEL";

/// A set of processor instructions that kernels are written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Level {
    /// Plain Rust, everywhere; AES is bitsliced, hence constant time and slow.
    Portable,
    /// x86-64 with SSE4.1, SSSE3, AES-NI and PCLMULQDQ.
    AesNi,
    /// AES-NI with AVX2: one AES block per instruction, vectors of 32 bytes for all that is not AES.
    Avx2,
    /// x86-64 with AVX2, VAES and VPCLMULQDQ: two AES blocks per instruction.
    Vaes256,
    /// x86-64 with AVX-512 (F, BW, DQ, VL), VAES, VPCLMULQDQ and GFNI: four AES blocks per instruction.
    Vaes512,
    /// AArch64 with NEON and the AES extension.
    Neon,
}

impl Level {
    /// Every level, from the slowest to the fastest.
    pub const ALL: [Self; 6] = [
        Self::Portable,
        Self::Neon,
        Self::AesNi,
        Self::Avx2,
        Self::Vaes256,
        Self::Vaes512,
    ];

    /// The name that [`LEVEL_VARIABLE`] takes.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::AesNi => "aesni",
            Self::Avx2 => "avx2",
            Self::Vaes256 => "vaes256",
            Self::Vaes512 => "vaes512",
            Self::Neon => "neon",
        }
    }

    /// Whether this machine has the level's instructions.
    #[must_use]
    pub fn is_available(self) -> bool {
        match self {
            Self::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Self::AesNi => crate::x86::has_aesni(),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => crate::x86::has_avx2(),
            #[cfg(target_arch = "x86_64")]
            Self::Vaes256 => crate::x86::has_vaes256(),
            #[cfg(target_arch = "x86_64")]
            Self::Vaes512 => crate::x86::has_vaes512(),
            #[cfg(target_arch = "aarch64")]
            Self::Neon => crate::aarch64::has_neon_aes(),
            #[allow(
                unreachable_patterns,
                reason = "which arms exist depends on the target"
            )]
            _ => false,
        }
    }

    /// The levels this machine has, from the slowest to the fastest; never empty.
    pub fn available() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|level| level.is_available())
    }

    fn best() -> Self {
        Self::available().last().unwrap_or(Self::Portable)
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Level {
    type Err = LevelError;

    fn from_str(name: &str) -> Result<Self, LevelError> {
        let level = Self::ALL.into_iter().find(|level| level.name() == name);
        level.ok_or_else(|| LevelError::Unknown {
            value: name.to_owned(),
        })
    }
}

/// Reasons why [`LEVEL_VARIABLE`] cannot be followed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LevelError {
    /// The variable's value names no level.
    #[error(
        "the environment variable MADRIGAL_LEVEL is {value:?}, which is no level: set it to portable, \
         aesni, avx2, vaes256, vaes512 or neon, or unset it to use the best this machine has"
    )]
    Unknown {
        /// Value of the variable.
        value: String,
    },
    /// The level exists, but this machine lacks its instructions.
    #[error(
        "the environment variable MADRIGAL_LEVEL asks for {requested}, whose instructions this \
         machine lacks: the best it has is {best}; set MADRIGAL_LEVEL to that or unset it"
    )]
    Unavailable {
        /// The level asked for.
        requested: Level,
        /// The fastest level of this machine.
        best: Level,
    },
}

/// The level that the environment asks for, or the machine's best when [`LEVEL_VARIABLE`] is unset.
///
/// # Errors
/// [`LevelError`] if the variable names no level, or one that this machine lacks.
pub fn level_from_env() -> Result<Level, LevelError> {
    let Some(value) = std::env::var_os(LEVEL_VARIABLE) else {
        return Ok(Level::best());
    };
    let requested: Level = value.to_string_lossy().parse()?;
    if requested.is_available() {
        Ok(requested)
    } else {
        Err(LevelError::Unavailable {
            requested,
            best: Level::best(),
        })
    }
}

/// The level that free functions and default constructors use: [`level_from_env`], decided once, or
/// the machine's best when that fails (programs should call [`level_from_env`] at start to tell).
#[must_use]
pub fn level() -> Level {
    Kernels::detect().level
}

/// A handle that runs every kernel at one level. Copy it freely: it is one byte.
///
/// Having one is the proof that the machine has the level's instructions; all `unsafe` calls into
/// the kernels rest on that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernels {
    // Invariant: `level.is_available()`.
    pub(crate) level: Level,
}

impl Kernels {
    /// The handle for [`level`]. The machine is examined on the first call only.
    #[must_use]
    pub fn detect() -> Self {
        static DEFAULT: OnceLock<Kernels> = OnceLock::new();
        *DEFAULT.get_or_init(|| Self {
            level: level_from_env().unwrap_or_else(|_| Level::best()),
        })
    }

    /// The handle for `level`, or `None` if this machine lacks its instructions.
    #[must_use]
    pub fn at(level: Level) -> Option<Self> {
        level.is_available().then_some(Self { level })
    }

    /// The level this handle runs at.
    #[must_use]
    pub const fn level(self) -> Level {
        self.level
    }
}

/// Calls one kernel at the level of a [`Kernels`] handle. Every level module has the same functions.
macro_rules! dispatch {
    ($kernels:expr, $kernel:ident $(::<$parameter:tt>)? ( $($argument:expr),* $(,)? )) => {
        match $kernels.level {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a `Kernels` of this level exists only where SSSE3, SSE4.1, AES-NI and PCLMULQDQ
            // were detected.
            $crate::dispatch::Level::AesNi => unsafe { $crate::x86::aesni::$kernel $(::<$parameter>)? ($($argument),*) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a `Kernels` of this level exists only where what `AesNi` needs and AVX2 were
            // detected.
            $crate::dispatch::Level::Avx2 => unsafe { $crate::x86::avx2::$kernel $(::<$parameter>)? ($($argument),*) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a `Kernels` of this level exists only where AVX2, VAES and VPCLMULQDQ were
            // detected.
            $crate::dispatch::Level::Vaes256 => unsafe { $crate::x86::vaes256::$kernel $(::<$parameter>)? ($($argument),*) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a `Kernels` of this level exists only where AVX-512, VAES, VPCLMULQDQ and
            // GFNI were detected.
            $crate::dispatch::Level::Vaes512 => unsafe { $crate::x86::vaes512::$kernel $(::<$parameter>)? ($($argument),*) },
            #[cfg(target_arch = "aarch64")]
            // SAFETY: a `Kernels` of this level exists only where NEON and AES were detected.
            $crate::dispatch::Level::Neon => unsafe { $crate::aarch64::neon::$kernel $(::<$parameter>)? ($($argument),*) },
            _ => $crate::portable::$kernel $(::<$parameter>)? ($($argument),*),
        }
    };
}
pub(crate) use dispatch;
