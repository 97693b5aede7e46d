//! Fetches a wheel by the package client into the cache: checked by hash, unpacked beside, renamed into place. Knows
//! pip's options and complaints; knows nothing of what libraries do.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use case::Exit;
use exec::{HarnessError, Interrupt, Program, ProgramEnd, run_program};
use sha2::{Digest, Sha256};

use crate::cache::{Cache, is_whole};
use crate::error::WheelError;
use crate::table::Wheel;
use crate::unpack::unpack;

/// Begin of the name of a folder that is no wheel yet.
const DRAFT: &str = ".draft-";

/// Age at which a draft is what a killed command left.
const DRAFT_AGE_MAX: Duration = Duration::from_secs(24 * 3600);

/// Most time for one wheel: the largest has 800 MB.
const TIME: Duration = Duration::from_secs(3600);

/// Room for a wheel and what is in it, as a multiple of its size.
const ROOM: u64 = 3;

/// What pip says where the index can't be reached; it then goes on to say that there is no such version.
const UNREACHABLE: [&str; 5] =
    ["NewConnectionError", "NameResolutionError", "Max retries", "ConnectTimeout", "ProxyError"];

/// How the package client is started.
#[derive(Clone, Debug)]
pub struct Client {
    /// Convict's own executable, whose command `kept` lets the client end with it.
    pub keeper: Option<PathBuf>,
    /// The client's whole environment; `python3` is looked up in its `PATH`.
    pub environment: Vec<(OsString, OsString)>,
    /// Ends a fetch.
    pub interrupt: Interrupt,
}

impl Client {
    /// The folder of a wheel's libraries; fetches the wheel where the cache does not hold it yet. Parallel calls are
    /// safe: the first that is done puts its folder in place.
    ///
    /// # Errors
    /// Whatever keeps the wheel from being there, whole and as published; nothing of it is left then.
    pub fn fetch(&self, cache: &Cache, wheel: &Wheel) -> Result<PathBuf, WheelError> {
        let folder = cache.folder(wheel);
        if !cache.holds(wheel) {
            self.bring(cache, wheel, &folder)?;
        }
        Ok(cache.libraries(wheel))
    }

    fn bring(&self, cache: &Cache, wheel: &Wheel, folder: &Path) -> Result<(), WheelError> {
        let root = cache.root();
        let failed = |place: &Path| {
            let place = place.to_owned();
            move |source| WheelError::Io { place, source }
        };
        fs::create_dir_all(root).map_err(failed(root))?;
        remove_old_drafts(root);
        check_room(root, wheel)?;
        let draft = tempfile::Builder::new().prefix(DRAFT).tempdir_in(root).map_err(failed(root))?;
        let (fetched, unpacked) = (draft.path().join("fetched"), draft.path().join("unpacked"));
        fs::create_dir(&unpacked).map_err(failed(&unpacked))?;
        let wants = draft.path().join("requirements.txt");
        let line = format!("{}=={} --hash=sha256:{}\n", wheel.package, wheel.version, wheel.sha256);
        fs::write(&wants, line).map_err(failed(&wants))?;
        self.download(wheel, (draft.path(), &wants, &fetched))?;
        let file = fetched.join(&wheel.file);
        check_hash(wheel, &file)?;
        unpack(&file, &unpacked).map_err(|why| WheelError::Archive { file: wheel.file.clone(), why })?;
        if !is_whole(&unpacked) {
            let why = "it lacks files that its list names, or the list".to_owned();
            return Err(WheelError::Archive { file: wheel.file.clone(), why });
        }
        if folder.exists() && !is_whole(folder) {
            // Something was done to it since it was put there; it goes with the draft.
            fs::rename(folder, draft.path().join("damaged")).map_err(failed(folder))?;
        }
        match fs::rename(&unpacked, folder) {
            // Another call was faster; its folder holds the same files.
            Err(_) if is_whole(folder) => Ok(()),
            moved => moved.map_err(failed(folder)),
        }
    }

    /// Has pip download the one file.
    fn download(&self, wheel: &Wheel, (draft, wants, into): (&Path, &Path, &Path)) -> Result<(), WheelError> {
        let fixed = "-m pip download --quiet --disable-pip-version-check --no-input --no-deps --only-binary :all: \
                     --require-hashes";
        let mut arguments: Vec<OsString> = fixed.split_whitespace().map(OsString::from).collect();
        // The wheel is for this machine's libraries, whatever its Python would take.
        for platform in wheel.platforms() {
            arguments.extend(["--platform".into(), platform.into()]);
        }
        arguments.extend(["--requirement".into(), wants.into(), "--dest".into(), into.into()]);
        let program = Program {
            keeper: self.keeper.clone(),
            program: PathBuf::from("python3"),
            arguments,
            folder: draft.to_owned(),
            environment: self.environment.clone(),
            timeout: TIME,
        };
        match run_program(&program, &self.interrupt) {
            Ok(ProgramEnd { exit: Exit::Exited(0), .. }) => Ok(()),
            Ok(end) => Err(complaint(wheel, &end)),
            Err(HarnessError::Spawn { .. }) => {
                Err(WheelError::NoClient { file: wheel.file.clone(), why: "there is no python3".to_owned() })
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// What an unhappy pip means.
fn complaint(wheel: &Wheel, end: &ProgramEnd) -> WheelError {
    let file = wheel.file.clone();
    let says = |words: &str| end.stderr.contains(words);
    if says("No module named pip") {
        return WheelError::NoClient { file, why: "python3 has no pip".to_owned() };
    }
    if says("DO NOT MATCH THE HASHES") {
        let found = end.stderr.lines().find_map(|line| line.trim().strip_prefix("Got"));
        let found = found.unwrap_or("another one").trim().to_owned();
        return WheelError::OtherHash { file, found, expected: wheel.sha256.clone() };
    }
    if UNREACHABLE.iter().any(|words| says(words)) {
        return WheelError::NoNetwork { file };
    }
    let how = match end.exit {
        Exit::Exited(code) => format!("ended with code {code}"),
        Exit::Signalled(signal) => format!("was ended by signal {signal}"),
        Exit::Answered | Exit::TimedOut(_) | Exit::TooSlow(_) => {
            format!("took longer than {} s", TIME.as_secs())
        }
    };
    let words = end.stderr.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no words").trim();
    WheelError::Client { file, how, words: words.to_owned() }
}

fn check_room(root: &Path, wheel: &Wheel) -> Result<(), WheelError> {
    let Ok(system) = rustix::fs::statvfs(root) else { return Ok(()) };
    let free = system.f_bavail.saturating_mul(system.f_frsize);
    let needed = wheel.bytes.saturating_mul(ROOM);
    if free >= needed {
        return Ok(());
    }
    let megabytes = |bytes: u64| bytes.div_ceil(1_000_000);
    Err(WheelError::NoRoom {
        file: wheel.file.clone(),
        needed: megabytes(needed),
        free: free / 1_000_000,
        place: root.to_owned(),
    })
}

/// The client checks it, too; what is unpacked here is what was hashed here.
fn check_hash(wheel: &Wheel, file: &Path) -> Result<(), WheelError> {
    let found = sha256(file).map_err(|source| WheelError::Io { place: file.to_owned(), source })?;
    if found == wheel.sha256 {
        return Ok(());
    }
    Err(WheelError::OtherHash { file: wheel.file.clone(), found, expected: wheel.sha256.clone() })
}

fn sha256(file: &Path) -> io::Result<String> {
    let mut file = File::open(file)?;
    let mut hasher = Sha256::new();
    let mut bytes = vec![0; 1 << 20];
    loop {
        match file.read(&mut bytes)? {
            0 => break,
            read => hasher.update(&bytes[..read]),
        }
    }
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Removes what killed commands left; what can't be removed hinders nobody.
fn remove_old_drafts(root: &Path) {
    let old = |entry: &fs::DirEntry| {
        let data = entry.metadata().ok().filter(fs::Metadata::is_dir);
        let age = data.and_then(|data| SystemTime::now().duration_since(data.modified().ok()?).ok());
        entry.file_name().to_string_lossy().starts_with(DRAFT) && age.is_some_and(|age| age > DRAFT_AGE_MAX)
    };
    for entry in fs::read_dir(root).into_iter().flatten().filter_map(Result::ok).filter(old) {
        let _ = fs::remove_dir_all(entry.path());
    }
}

#[cfg(test)]
mod tests;
