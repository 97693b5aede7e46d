//! Every way in which a device cannot be planned for. Knows words for a user; the place is the caller's matter.

/// Why there is no device to plan for: one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// No profile has that name.
    #[error(
        "'{word}' is no architecture or device that convict has a profile of; it knows {known}; name the architecture of \
             a device that is not there, or describe it with --device-json FILE"
    )]
    Unknown {
        /// What was asked for.
        word: String,
        /// Names that there are.
        known: String,
    },
    /// The text is no JSON object.
    #[error("is no device JSON: {0}")]
    Text(String),
    /// A key has a value of another type.
    #[error("key {key} is {found}, not {wanted}")]
    Value {
        /// The key.
        key: String,
        /// What it holds.
        found: String,
        /// What belongs there.
        wanted: &'static str,
    },
    /// A key is missing and nothing can be assumed in its place.
    #[error(
        "lacks {key}, and no profile of sm_{arch} says what to assume; add it, or name a profile with --arch"
    )]
    Missing {
        /// The key.
        key: &'static str,
        /// Architecture of the device.
        arch: u32,
    },
    /// The properties are those of another architecture.
    #[error("is a device of sm_{found}, and --arch asks for sm_{asked}; leave one of them out")]
    Other {
        /// Architecture of the text.
        found: u32,
        /// Architecture that was asked for.
        asked: u32,
    },
    /// The built-in table is damaged: our own trouble.
    #[error("the built-in device profiles cannot be read: {0}")]
    Table(String),
}
