//! What a job asks of its machine before it starts, and whether a machine meets it. Knows versions, bytes and the form
//! of a file of thresholds; opens nothing and runs nothing.

mod file;
mod values;

use std::fmt;

use case::Environment;

pub use file::{ThresholdError, parse};
pub use values::{Bytes, Capability, Release, SetName};

/// Share of the device's memory that must be free where nobody says how much.
const FREE_PART: u64 = 10;

/// Who asked for something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A flag of that name.
    Flag(&'static str),
    /// A line of a file, counted from 1.
    Line {
        /// The file, as it was named.
        file: String,
        /// The line.
        line: usize,
    },
}

impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(name) => write!(formatter, "--{name}"),
            Self::Line { file, line } => write!(formatter, "{file} line {line}"),
        }
    }
}

/// Something that is asked, and by whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked<T> {
    /// What.
    pub value: T,
    /// By whom.
    pub source: Source,
}

impl<T> Asked<T> {
    /// A value that a flag asks for.
    #[must_use]
    pub fn by_flag(value: T, name: &'static str) -> Self {
        Self { value, source: Source::Flag(name) }
    }
}

/// Everything that is asked of a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thresholds {
    /// Oldest driver release.
    pub min_driver: Option<Asked<Release>>,
    /// Oldest CUDA that the driver has to serve.
    pub min_cuda: Option<Asked<Release>>,
    /// Oldest cuDNN.
    pub min_cudnn: Option<Asked<Release>>,
    /// Newest cuDNN, with everything that it begins.
    pub max_cudnn: Option<Asked<Release>>,
    /// Least compute capability.
    pub min_capability: Option<Asked<Capability>>,
    /// Least free device memory; a tenth of the device's where nobody asks.
    pub min_free_memory: Option<Asked<Bytes>>,
    /// Library sets, one of which it must be; none allows any.
    pub allow_set: Vec<Asked<SetName>>,
}

/// A threshold that a machine does not meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmet {
    /// The threshold's name, as a flag and in a file.
    pub name: &'static str,
    /// What is wrong, with the source, on one line.
    pub words: String,
}

impl Thresholds {
    /// These, and the others where these ask for nothing.
    #[must_use]
    pub fn over(self, others: Self) -> Self {
        Self {
            min_driver: self.min_driver.or(others.min_driver),
            min_cuda: self.min_cuda.or(others.min_cuda),
            min_cudnn: self.min_cudnn.or(others.min_cudnn),
            max_cudnn: self.max_cudnn.or(others.max_cudnn),
            min_capability: self.min_capability.or(others.min_capability),
            min_free_memory: self.min_free_memory.or(others.min_free_memory),
            allow_set: if self.allow_set.is_empty() { others.allow_set } else { self.allow_set },
        }
    }

    /// What of it a machine does not meet, in the order of the fields.
    #[must_use]
    pub fn unmet(&self, environment: &Environment) -> Vec<Unmet> {
        let all = [
            ("min-driver", self.driver(environment)),
            ("min-cuda", self.cuda(environment)),
            ("min-cudnn", self.oldest_cudnn(environment)),
            ("max-cudnn", self.newest_cudnn(environment)),
            ("min-capability", self.capability(environment)),
            ("min-free-memory", self.memory(environment)),
            ("allow-set", self.set(environment)),
        ];
        all.into_iter().filter_map(|(name, words)| words.map(|words| Unmet { name, words })).collect()
    }

    fn driver(&self, environment: &Environment) -> Option<String> {
        let asked = self.min_driver.as_ref()?;
        let found: Result<Release, _> = environment.driver.parse();
        match found {
            Ok(found) if found >= asked.value => None,
            Ok(_) => {
                let found = &environment.driver;
                Some(format!("driver {found} is older than {} ({})", asked.value, asked.source))
            }
            // A threshold that can't be looked at is not met.
            Err(_) => Some(format!(
                "the driver does not tell its release, so that {} can't be checked ({})",
                asked.value, asked.source
            )),
        }
    }

    fn cuda(&self, environment: &Environment) -> Option<String> {
        let asked = self.min_cuda.as_ref()?;
        let found = Release::of_driver_cuda(environment);
        (found < asked.value).then(|| {
            format!("the driver serves CUDA {found}, which is older than {} ({})", asked.value, asked.source)
        })
    }

    fn oldest_cudnn(&self, environment: &Environment) -> Option<String> {
        let asked = self.min_cudnn.as_ref()?;
        let found = Release::of_cudnn(environment);
        (found < asked.value)
            .then(|| format!("cuDNN {found} is older than {} ({})", asked.value, asked.source))
    }

    fn newest_cudnn(&self, environment: &Environment) -> Option<String> {
        let asked = self.max_cudnn.as_ref()?;
        let found = Release::of_cudnn(environment);
        (found > asked.value && !asked.value.begins(&found))
            .then(|| format!("cuDNN {found} is newer than {} ({})", asked.value, asked.source))
    }

    fn capability(&self, environment: &Environment) -> Option<String> {
        let asked = self.min_capability.as_ref()?;
        let found = Capability(environment.compute_capability);
        (found < asked.value)
            .then(|| format!("compute capability {found} is below {} ({})", asked.value, asked.source))
    }

    fn memory(&self, environment: &Environment) -> Option<String> {
        let (free, all) = (Bytes(environment.memory_free_bytes), Bytes(environment.memory_bytes));
        let Some(asked) = &self.min_free_memory else {
            return (free.0 < all.0 / FREE_PART).then(|| {
                format!(
                    "free memory {free} is below a tenth of {all}: another process holds the rest \
                     (--min-free-memory sets another limit)"
                )
            });
        };
        (free < asked.value)
            .then(|| format!("free memory {free} is below {} ({})", asked.value, asked.source))
    }

    fn set(&self, environment: &Environment) -> Option<String> {
        let first = self.allow_set.first()?;
        if self.allow_set.iter().any(|asked| asked.value.takes(environment)) {
            return None;
        }
        let allowed: Vec<String> = self.allow_set.iter().map(|asked| asked.value.to_string()).collect();
        Some(format!(
            "library set {} is none of {} ({})",
            environment.set(),
            allowed.join(", "),
            first.source
        ))
    }
}

#[cfg(test)]
mod tests;
