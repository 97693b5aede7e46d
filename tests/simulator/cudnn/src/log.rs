//! The library's own log, by the real library's variables. Knows where lines go; knows nothing of calls.

use std::fmt::Arguments;
use std::io::Write;
use std::sync::LazyLock;

use crate::version::version;

/// Where lines go, and up to which level: 1 errors, 2 warnings, 3 every call.
static TARGET: LazyLock<Option<(u32, String)>> = LazyLock::new(|| {
    let level = std::env::var("CUDNN_LOGLEVEL_DBG").ok()?.parse::<u32>().ok().filter(|level| *level > 0)?;
    Some((level, std::env::var("CUDNN_LOGDEST_DBG").ok()?))
});

/// Writes a line where the level is asked for. A log that cannot be written is no reason to fail.
pub(crate) fn log(level: u32, line: Arguments<'_>) {
    let Some((most, target)) = &*TARGET else { return };
    if level > *most {
        return;
    }
    let kind = ["", "E!", "W!", "I!"].get(level as usize).unwrap_or(&"I!");
    let line = format!("{kind} CuDNN (v{} simulated) {line}\n", version());
    let _ = match target.as_str() {
        "stdout" => std::io::stdout().write_all(line.as_bytes()),
        "stderr" => std::io::stderr().write_all(line.as_bytes()),
        path => std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .and_then(|mut file| file.write_all(line.as_bytes())),
    };
}
