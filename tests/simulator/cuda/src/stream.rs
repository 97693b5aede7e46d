//! Streams and events. Everything runs at once, so a stream is a number and an event a moment.

use std::ffi::{c_int, c_uint, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use abi::cuda::{CuResult, Stream};

use crate::{code, driver, put};

/// `CUDA_ERROR_INVALID_HANDLE`.
const INVALID_HANDLE: CuResult = CuResult(400);

static STREAMS: AtomicUsize = AtomicUsize::new(1);
static EVENTS: Mutex<Vec<Option<Instant>>> = Mutex::new(Vec::new());

fn handle(number: usize) -> *mut c_void {
    std::ptr::without_provenance_mut(number)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamCreate(stream: *mut Stream, _flags: c_uint) -> CuResult {
    // Small numbers are the driver's own names of default streams.
    let number = 0x1000 + 16 * STREAMS.fetch_add(1, Ordering::Relaxed);
    code(driver().ready().and_then(|()| put(stream, handle(number))))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamCreateWithPriority(
    stream: *mut Stream,
    flags: c_uint,
    _priority: c_int,
) -> CuResult {
    // SAFETY: the same contract.
    unsafe { cuStreamCreate(stream, flags) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamDestroy_v2(_stream: Stream) -> CuResult {
    code(driver().ready())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamSynchronize(_stream: Stream) -> CuResult {
    code(driver().synchronize())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamQuery(_stream: Stream) -> CuResult {
    code(driver().synchronize())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamWaitEvent(_stream: Stream, _event: *mut c_void, _flags: c_uint) -> CuResult {
    code(driver().ready())
}

fn event(event: *mut c_void) -> Option<Instant> {
    let events = EVENTS.lock().unwrap_or_else(PoisonError::into_inner);
    events.get(event.addr().checked_sub(1)?).copied().flatten()
}

fn set_event(event: *mut c_void, moment: Option<Instant>) -> Result<(), CuResult> {
    let mut events = EVENTS.lock().unwrap_or_else(PoisonError::into_inner);
    let slot = event.addr().checked_sub(1).and_then(|index| events.get_mut(index)).ok_or(INVALID_HANDLE)?;
    *slot = moment;
    Ok(())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventCreate(event: *mut *mut c_void, _flags: c_uint) -> CuResult {
    let create = || {
        driver().ready()?;
        let mut events = EVENTS.lock().unwrap_or_else(PoisonError::into_inner);
        events.push(None);
        put(event, handle(events.len()))
    };
    code(create())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventRecord(event: *mut c_void, _stream: Stream) -> CuResult {
    let ready = driver().ready();
    code(ready.and_then(|()| set_event(event, Some(Instant::now()))))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventSynchronize(_event: *mut c_void) -> CuResult {
    code(driver().synchronize())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventQuery(_event: *mut c_void) -> CuResult {
    code(driver().synchronize())
}

fn elapsed(milliseconds: *mut f32, start: *mut c_void, end: *mut c_void) -> CuResult {
    let between = event(start).zip(event(end)).map(|(start, end)| end.saturating_duration_since(start));
    let between = between.ok_or(INVALID_HANDLE);
    code(between.and_then(|duration| put(milliseconds, duration.as_secs_f32() * 1000.0)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventElapsedTime(
    milliseconds: *mut f32,
    start: *mut c_void,
    end: *mut c_void,
) -> CuResult {
    elapsed(milliseconds, start, end)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventElapsedTime_v2(
    milliseconds: *mut f32,
    start: *mut c_void,
    end: *mut c_void,
) -> CuResult {
    elapsed(milliseconds, start, end)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventDestroy_v2(event: *mut c_void) -> CuResult {
    code(set_event(event, None))
}
