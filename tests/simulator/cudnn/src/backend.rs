//! The six functions of the backend API.

use std::ffi::c_void;

use abi::Status;
use abi::cudnn::{Attribute, AttributeType, Descriptor as Raw, DescriptorType, Handle};
use simulator::Stop;
use simulator::backend::{Descriptor, Execution, Finished, execute};

use crate::answer::answer;
use crate::attribute::{finished, null, read, write};
use crate::driver::Driver;
use crate::version::script;

const DESCRIPTOR_TYPE: i32 = 2012;

/// The descriptor behind a pointer that an exported function was given.
fn descriptor<'a>(raw: Raw) -> Result<&'a mut Descriptor, Stop> {
    if raw.is_null() {
        return Err(null("descriptor"));
    }
    // SAFETY: the caller of the exported function owes a descriptor that was created and not destroyed.
    Ok(unsafe { &mut *raw.cast::<Descriptor>() })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudnnBackendCreateDescriptor(kind: DescriptorType, made: *mut Raw) -> Status {
    let create = || {
        if made.is_null() {
            return Err(null("descriptor"));
        }
        let descriptor: Raw = Box::into_raw(Box::new(Descriptor::new(kind)?)).cast();
        // SAFETY: the caller owes a pointer to a writable descriptor handle.
        unsafe { made.write_unaligned(descriptor) };
        Ok(())
    };
    answer("cudnnBackendCreateDescriptor", create())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudnnBackendDestroyDescriptor(raw: Raw) -> Status {
    if !raw.is_null() {
        // SAFETY: the caller owes a descriptor that was created and not destroyed before.
        drop(unsafe { Box::from_raw(raw.cast::<Descriptor>()) });
    }
    Status::SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudnnBackendSetAttribute(
    raw: Raw,
    name: Attribute,
    kind: AttributeType,
    count: i64,
    elements: *const c_void,
) -> Status {
    let set = || {
        let descriptor = descriptor(raw)?;
        descriptor.may_set(name, kind, count)?;
        let data = read(kind, usize::try_from(count).unwrap_or(0), elements)?;
        descriptor.set(name, data);
        Ok(())
    };
    answer("cudnnBackendSetAttribute", set())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudnnBackendFinalize(raw: Raw) -> Status {
    let finalize = || {
        let devices = || Driver::attached().is_ok();
        let descriptor = descriptor(raw)?;
        // Only device properties ask for a device, so nothing else looks for one.
        let asks = descriptor.kind() == DescriptorType::DEVICE_PROPERTIES;
        descriptor.finalize(script()?, asks && devices())
    };
    answer("cudnnBackendFinalize", finalize())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudnnBackendGetAttribute(
    raw: Raw,
    name: Attribute,
    kind: AttributeType,
    requested: i64,
    count: *mut i64,
    elements: *mut c_void,
) -> Status {
    let get = || {
        let data = descriptor(raw)?.get(name, kind)?;
        let total = write(&data, usize::try_from(requested).unwrap_or(0), elements)?;
        if !count.is_null() {
            // SAFETY: the caller owes null or a pointer to a writable count.
            unsafe { count.write_unaligned(total as i64) };
        }
        Ok(())
    };
    answer("cudnnBackendGetAttribute", get())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudnnBackendExecute(handle: Handle, plan: Raw, pack: Raw) -> Status {
    let run = || {
        if handle.is_null() {
            return Err(null("handle"));
        }
        let (plan, pack) = (finished(plan)?, finished(pack)?);
        let (Finished::Plan(plan), Finished::Pack(pack)) = (&*plan, &*pack) else {
            return Err(Stop::Status(DESCRIPTOR_TYPE, "a plan and a variant pack are expected".to_owned()));
        };
        let driver = Driver::ready()?;
        execute(&Execution { plan, pack, script: script()? }, driver)
    };
    answer("cudnnBackendExecute", run())
}
