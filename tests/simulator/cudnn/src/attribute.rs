//! Elements of attributes between raw memory and values. Knows how wide each attribute type is.

use std::ffi::c_void;
use std::rc::Rc;

use abi::cudnn::AttributeType as T;
use simulator::Stop;
use simulator::backend::{Data, Descriptor, Finished};

const NULL_POINTER: i32 = 2002;
const BAD_PARAM: i32 = 2000;

pub(crate) fn null(what: &str) -> Stop {
    Stop::Status(NULL_POINTER, format!("{what} is null"))
}

/// That many elements. Only for pointers that an exported function was given, and after `may_set` took the count.
fn copies<E: Copy>(from: *const c_void, count: usize) -> Vec<E> {
    let from = from.cast::<E>();
    // SAFETY: the caller of the exported function owes so many elements of the type that it names.
    (0..count).map(|index| unsafe { from.add(index).read_unaligned() }).collect()
}

fn store<E>(to: *mut c_void, values: impl Iterator<Item = E>) {
    let to = to.cast::<E>();
    for (index, value) in values.enumerate() {
        // SAFETY: the caller of the exported function owes room for as many elements as it requests.
        unsafe { to.add(index).write_unaligned(value) };
    }
}

/// What a finalized descriptor stands for.
pub(crate) fn finished(descriptor: *const c_void) -> Result<Rc<Finished>, Stop> {
    if descriptor.is_null() {
        return Err(null("descriptor"));
    }
    // SAFETY: the caller of the exported function owes a descriptor that was created and not destroyed.
    let descriptor = unsafe { &*descriptor.cast::<Descriptor>() };
    descriptor.finished().cloned()
}

/// Reads `count` elements of a type.
pub(crate) fn read(kind: T, count: usize, from: *const c_void) -> Result<Data, Stop> {
    if from.is_null() {
        return Err(null("array of elements"));
    }
    Ok(match kind {
        T::INT64 => Data::Longs(copies(from, count)),
        // Numerator and denominator, one pair after the other.
        T::FRACTION => Data::Longs(copies(from, 2 * count)),
        T::FLOAT => Data::Reals(copies::<f32>(from, count).into_iter().map(f64::from).collect()),
        T::DOUBLE => Data::Reals(copies(from, count)),
        T::HANDLE | T::VOID_POINTER => Data::Pointers(copies(from, count)),
        T::BOOLEAN => Data::Ints(copies::<u8>(from, count).into_iter().map(i32::from).collect()),
        T::CHAR => {
            let bytes: Vec<u8> = copies(from, count);
            let text = bytes.into_iter().take_while(|byte| *byte != 0).collect();
            Data::Text(String::from_utf8(text).map_err(|_| Stop::Status(BAD_PARAM, "text".to_owned()))?)
        }
        T::DESCRIPTOR => {
            let parts: Vec<*const c_void> = copies(from, count);
            Data::Descriptors(parts.into_iter().map(finished).collect::<Result<_, _>>()?)
        }
        _ => Data::Ints(copies(from, count)),
    })
}

/// Writes at most `room` elements and tells how many there are.
pub(crate) fn write(data: &Data, room: usize, to: *mut c_void) -> Result<usize, Stop> {
    if room > 0 && to.is_null() {
        return Err(null("array of elements"));
    }
    match data {
        Data::Longs(values) => store(to, values.iter().take(room).copied()),
        Data::Ints(values) => store(to, values.iter().take(room).copied()),
        Data::Reals(values) => store(to, values.iter().take(room).copied()),
        Data::Pointers(values) => store(to, values.iter().take(room).copied()),
        Data::Text(text) => store(to, text.bytes().chain([0]).take(room)),
        Data::Descriptors(parts) => hand_over(parts, room, to)?,
    }
    Ok(match data {
        Data::Longs(values) => values.len(),
        Data::Ints(values) => values.len(),
        Data::Reals(values) => values.len(),
        Data::Pointers(values) => values.len(),
        Data::Text(text) => text.len() + 1,
        Data::Descriptors(parts) => parts.len(),
    })
}

/// Fills descriptors that the caller created for it.
fn hand_over(parts: &[Rc<Finished>], room: usize, to: *mut c_void) -> Result<(), Stop> {
    let count = parts.len().min(room);
    let targets: Vec<*mut Descriptor> = copies(to, count);
    for (part, target) in parts.iter().zip(targets) {
        if target.is_null() {
            return Err(null("descriptor to fill"));
        }
        // SAFETY: the caller of the exported function owes descriptors that were created and not destroyed.
        let target = unsafe { &mut *target };
        target.receive(Rc::clone(part))?;
    }
    Ok(())
}
