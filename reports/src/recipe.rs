//! A library set in the forms by which others get the same one: a Dockerfile, a conda environment, requirements for
//! pip, plain text. Knows these forms; which wheels they are is the caller's matter. Runs nothing.

mod text;

use std::fmt::Write;

use case::Environment;

use crate::escape::for_program;
use crate::read::Bundle;
use crate::simulated::is_simulated;
use crate::title::Title;
use crate::vendor::{dispatcher_build, wheel_place};

/// Image that the container starts from where nobody names another one.
const BASE: &str = "python:3.12-slim-bookworm";

/// Folder that wheels are unpacked into within the container.
const LIBRARIES: &str = "/opt/libraries";

/// Where the container's list of wheels is.
const LIST: &str = "/opt/requirements.txt";

/// What shows that the container has the right library, without a GPU.
const SHOW: &str = "import ctypes; print(ctypes.CDLL('libcudnn.so.9').cudnnGetVersion())";

/// The forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A Dockerfile that needs no other file.
    Docker,
    /// A conda environment, whose libraries come from the same wheels.
    Conda,
    /// Requirements for pip, each with its hash.
    Pip,
    /// The environment in plain words.
    Text,
}

/// A published wheel, as the forms name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pinned {
    /// Its package.
    pub package: String,
    /// Its version, all numbers.
    pub version: String,
    /// Its file's name.
    pub file: String,
    /// Its size.
    pub bytes: u64,
    /// SHA-256 of the file, hexadecimal.
    pub sha256: String,
    /// Folder of its libraries within the folder of packages.
    pub libraries: String,
    /// False where only the packages' own data ask for it, and the libraries do without.
    pub is_needed: bool,
}

/// What a recipe is written from.
#[derive(Clone, Debug)]
pub struct Recipe<'a> {
    /// The set's name, such as `9.19.0-full`.
    pub set: String,
    /// CUDA major that its wheels are built for.
    pub cuda: u32,
    /// Oldest driver that serves it, where that is known.
    pub oldest_driver: Option<&'a str>,
    /// cuDNN first, then what it needs or asks for; none where nothing is published.
    pub wheels: Vec<Pinned>,
    /// What is not certain, a sentence each.
    pub notes: Vec<String>,
    /// The bundle that the set was read from.
    pub bundle: Option<&'a Bundle>,
    /// Version of convict.
    pub tool_version: &'a str,
}

/// Why there is no recipe.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecipeError {
    /// Nothing can be installed.
    #[error("no published wheel is known to hold the library set {0}; --kind text tells what is known of it")]
    NoWheel(String),
    /// A value that could mean something to a shell or a package client.
    #[error("'{0}' can't be written into a recipe")]
    Value(String),
}

impl Recipe<'_> {
    /// The recipe's text in that form.
    ///
    /// # Errors
    /// `NoWheel` in every form but text, and `Value` for a wheel that is no plain one.
    pub fn render(&self, form: Form) -> Result<String, RecipeError> {
        if let Some(value) = self.wheels.iter().find_map(Pinned::odd) {
            return Err(RecipeError::Value(value.chars().take(80).flat_map(char::escape_debug).collect()));
        }
        if self.wheels.is_empty() && form != Form::Text {
            return Err(RecipeError::NoWheel(case::one_line(&self.set).into_owned()));
        }
        Ok(match form {
            Form::Docker => self.docker(),
            Form::Conda => self.conda(),
            Form::Pip => self.pip(),
            Form::Text => text::render(self),
        })
    }

    fn needed(&self) -> impl Iterator<Item = &Pinned> {
        self.wheels.iter().filter(|wheel| wheel.is_needed)
    }

    /// Comment lines in front: our own words first, since a first line of another kind could be a directive.
    fn head(&self, usage: &[String]) -> String {
        let mut lines = vec![
            format!("cuDNN {}, for CUDA {}, by convict {}.", self.set, self.cuda, self.tool_version),
            format!("For x86-64 Linux with glibc 2.28 or newer and {}.", self.driver_words()),
        ];
        if let Some(bundle) = self.bundle {
            lines.push(format!("The libraries of: {}", self.title(bundle)));
        }
        lines.extend(self.notes.iter().map(|note| format!("Note: {note}")));
        lines.extend(usage.iter().cloned());
        lines.iter().map(|line| format!("# {}\n", for_program(line))).collect()
    }

    fn driver_words(&self) -> String {
        match self.oldest_driver {
            Some(release) => format!("an NVIDIA driver {release} or newer"),
            None => "an NVIDIA driver".to_owned(),
        }
    }

    fn title(&self, bundle: &Bundle) -> String {
        Title::new(&bundle.environment, &bundle.verdict.sameness, &bundle.case).to_string()
    }

    fn pip(&self) -> String {
        let usage = [
            "Nothing but what the libraries need is listed, so that pip may not follow what their packages ask for:".to_owned(),
            "  python3 -m pip install --no-deps --require-hashes --requirement THIS_FILE".to_owned(),
        ];
        let mut text = self.head(&usage);
        text.push_str("--require-hashes\n--only-binary :all:\n");
        for wheel in self.needed() {
            // Writing into a String cannot fail.
            let _ =
                writeln!(text, "{}=={} \\\n    --hash=sha256:{}", wheel.package, wheel.version, wheel.sha256);
        }
        text
    }

    fn conda(&self) -> String {
        let usage = [
            "Packages of conda's own are other builds; these are NVIDIA's wheels, checked by hash:"
                .to_owned(),
            "  conda env create --file THIS_FILE".to_owned(),
        ];
        let mut text = self.head(&usage);
        text.push_str(
            "name: cudnn\nchannels:\n  - conda-forge\n  - nodefaults\ndependencies:\n  - python=3.12\n  - pip\n  - pip:\n",
        );
        // conda's pip resolves what packages ask for, so that all of it has to be there with a hash.
        for wheel in &self.wheels {
            let _ = writeln!(text, "      - \"{}\"", wheel.line());
        }
        text
    }

    fn docker(&self) -> String {
        let usage = [
            "The driver is the host's. The file needs no other; run, it prints the version that is loaded:"
                .to_owned(),
            "  docker build --tag cudnn - < THIS_FILE && docker run --rm --gpus all cudnn".to_owned(),
            "Any image with Python and pip will do; pin it by digest with --build-arg BASE=NAME@sha256:..."
                .to_owned(),
        ];
        let mut text = self.head(&usage);
        let lines: String = self.needed().map(|wheel| format!("      '{}' \\\n", wheel.line())).collect();
        let _ = write!(
            text,
            "ARG BASE={BASE}\n\
             FROM ${{BASE}}\n\
             RUN printf '%s\\n' \\\n\
             {lines}      > {LIST}\n\
             RUN python3 -m pip install --no-cache-dir --no-deps --only-binary :all: --require-hashes \\\n\
             \x20     --target {LIBRARIES} --requirement {LIST}\n"
        );
        let sums = self.bundle.map(|bundle| sums(&bundle.environment)).unwrap_or_default();
        if !sums.is_empty() {
            let lines: String = sums.iter().map(|line| format!("      '{line}' \\\n")).collect();
            let _ = write!(
                text,
                "# The very files that the failure was seen with.\n\
                 WORKDIR {LIBRARIES}\n\
                 RUN printf '%s\\n' \\\n{lines}      | sha256sum --check --strict\n"
            );
        }
        let mut folders: Vec<String> = Vec::new();
        for wheel in self.needed() {
            let folder = format!("{LIBRARIES}/{}", wheel.libraries);
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        let _ = write!(
            text,
            "ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility\n\
             ENV LD_LIBRARY_PATH={}\n\
             CMD [\"python3\", \"-c\", \"{SHOW}\"]\n",
            folders.join(":")
        );
        text
    }
}

impl Pinned {
    /// The requirement on one line.
    fn line(&self) -> String {
        format!("{}=={} --hash=sha256:{}", self.package, self.version, self.sha256)
    }

    /// What of it is no plain text of its kind.
    fn odd(&self) -> Option<&str> {
        let word = |text: &str, more: &[u8]| {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || more.contains(&byte);
            !text.is_empty() && !text.starts_with('-') && text.bytes().all(plain)
        };
        let is_hash = self.sha256.len() == 64 && self.sha256.bytes().all(|byte| byte.is_ascii_hexdigit());
        let table = [
            (self.package.as_str(), word(&self.package, b"-_.")),
            (self.version.as_str(), word(&self.version, b".")),
            (self.file.as_str(), word(&self.file, b"-_.")),
            (self.libraries.as_str(), word(&self.libraries, b"-_./") && !self.libraries.contains("..")),
            (self.sha256.as_str(), is_hash),
        ];
        table.into_iter().find(|(_, is_plain)| !is_plain).map(|(text, _)| text)
    }
}

impl Bundle {
    /// cuDNN's version as far as the bundle tells it: the fourth number is in the library's log alone.
    #[must_use]
    pub fn cudnn_version(&self) -> String {
        let release = self.environment.cudnn_text();
        match dispatcher_build(self.environment.cudnn, &self.library_log) {
            Some(build) => format!("{release}.{build}"),
            None => release,
        }
    }

    /// True for a bundle of the simulator, whose libraries nobody can install.
    #[must_use]
    pub fn is_simulated(&self) -> bool {
        is_simulated(&self.environment)
    }
}

/// Lines for `sha256sum --check` over the files of cuDNN that came from a wheel. Its companions may be of another
/// version than the wheels that are listed.
fn sums(environment: &Environment) -> Vec<String> {
    let of_cudnn = environment.files.iter().filter(|file| file.name.starts_with("libcudnn"));
    of_cudnn
        .filter_map(|file| {
            let is_hash = file.sha256.len() == 64 && file.sha256.bytes().all(|byte| byte.is_ascii_hexdigit());
            Some(format!("{}  {}", file.sha256, wheel_place(file).filter(|_| is_hash)?))
        })
        .collect()
}

#[cfg(test)]
mod tests;
