//! How a call ends: with a status and the words behind it, or with the process. The only place that kills.

use std::ffi::c_char;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use abi::Status;
use simulator::{Ending, Stop};

use crate::log::log;

static LAST_ERROR: Mutex<String> = Mutex::new(String::new());

/// The end of a call by that name.
pub(crate) fn answer(call: &str, result: Result<(), Stop>) -> Status {
    match result {
        Ok(()) => {
            log(3, format_args!("{call}: CUDNN_STATUS_SUCCESS"));
            Status::SUCCESS
        }
        Err(Stop::Status(status, words)) => {
            log(1, format_args!("{call}: {status} because {words}"));
            *LAST_ERROR.lock().unwrap_or_else(PoisonError::into_inner) = words;
            Status(status)
        }
        Err(Stop::End(ending)) => end(call, ending),
    }
}

/// Takes the last words, leaving none.
pub(crate) fn last_words() -> String {
    std::mem::take(&mut *LAST_ERROR.lock().unwrap_or_else(PoisonError::into_inner))
}

unsafe extern "C" {
    fn raise(signal: i32) -> i32;
}

const SIGILL: i32 = 4;

fn end(call: &str, ending: Ending) -> Status {
    log(1, format_args!("{call}: the process ends here ({ending:?})"));
    match ending {
        Ending::Segfault => {
            let unmapped: *const c_char = std::ptr::without_provenance(8);
            // SAFETY: none is possible: the page at 0 is never mapped, and dying of that is what was asked for.
            let _ = unsafe { unmapped.read_volatile() };
            std::process::abort()
        }
        Ending::Abort => std::process::abort(),
        Ending::IllegalInstruction => {
            // SAFETY: raising a signal touches no memory; its default action ends the process.
            let _ = unsafe { raise(SIGILL) };
            std::process::abort()
        }
        Ending::Hang => loop {
            std::thread::sleep(Duration::from_secs(3600));
        },
        Ending::Exit(code) => std::process::exit(code),
    }
}
