//! One backend descriptor, destroyed with its owner. Knows attributes by number; knows no operation.

use std::ffi::c_void;
use std::rc::Rc;

use abi::cudnn::{self, Attribute, AttributeType, DescriptorType};
use case::Phase;

use crate::cudnn::Cudnn;
use crate::error::CallError;

/// An owned `cudnnBackendDescriptor_t`.
pub struct Descriptor {
    library: Rc<Cudnn>,
    raw: cudnn::Descriptor,
    phase: Phase,
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        let destroy = self.library.symbols.destroy_descriptor;
        // SAFETY: `raw` came from create and is destroyed once. A status here belongs to no case.
        let _ = self.library.meter.time(|| unsafe { destroy(self.raw) });
    }
}

impl Descriptor {
    /// Creates a descriptor; `phase` is where its errors belong.
    ///
    /// # Errors
    /// cuDNN's status.
    pub fn new(library: &Rc<Cudnn>, kind: DescriptorType, phase: Phase) -> Result<Self, CallError> {
        let mut raw: cudnn::Descriptor = std::ptr::null_mut();
        let create = library.symbols.create_descriptor;
        // SAFETY: `raw` outlives the call.
        let status = library.meter.time(|| unsafe { create(kind, &raw mut raw) });
        library.check(phase, status)?;
        Ok(Self { library: Rc::clone(library), raw, phase })
    }

    /// The raw pointer, for execution.
    pub(crate) fn raw(&self) -> *mut c_void {
        self.raw
    }

    fn set(
        &self,
        name: Attribute,
        kind: AttributeType,
        count: usize,
        data: *const c_void,
    ) -> Result<(), CallError> {
        let set = self.library.symbols.set_attribute;
        // SAFETY: the caller passes `count` elements of the type that `kind` names.
        let status = self.library.meter.time(|| unsafe { set(self.raw, name, kind, count as i64, data) });
        self.library.check(self.phase, status)
    }

    /// Sets 64-bit integers.
    ///
    /// # Errors
    /// cuDNN's status.
    pub fn set_i64(&self, name: Attribute, values: &[i64]) -> Result<(), CallError> {
        self.set(name, AttributeType::INT64, values.len(), values.as_ptr().cast())
    }

    /// Sets one 32-bit integer or enum of that type.
    ///
    /// # Errors
    /// cuDNN's status.
    pub fn set_i32(&self, name: Attribute, kind: AttributeType, value: i32) -> Result<(), CallError> {
        self.set(name, kind, 1, (&raw const value).cast())
    }

    /// Sets one truth value.
    ///
    /// # Errors
    /// cuDNN's status.
    pub fn set_bool(&self, name: Attribute, value: bool) -> Result<(), CallError> {
        self.set(name, AttributeType::BOOLEAN, 1, (&raw const value).cast())
    }

    /// Sets whole numbers where cuDNN takes fractions.
    ///
    /// # Errors
    /// cuDNN's status.
    pub fn set_wholes(&self, name: Attribute, values: &[i64]) -> Result<(), CallError> {
        let fractions: Vec<[i64; 2]> = values.iter().map(|value| [*value, 1]).collect();
        self.set(name, AttributeType::FRACTION, fractions.len(), fractions.as_ptr().cast())
    }

    /// Sets an f32 scale, or an f64 one where `double`.
    ///
    /// # Errors
    /// cuDNN's status.
    pub fn set_scale(&self, name: Attribute, value: f64, double: bool) -> Result<(), CallError> {
        if double {
            return self.set(name, AttributeType::DOUBLE, 1, (&raw const value).cast());
        }
        #[expect(
            clippy::cast_possible_truncation,
            reason = "cuDNN takes f32 scales for types other than f64"
        )]
        let single = value as f32;
        self.set(name, AttributeType::FLOAT, 1, (&raw const single).cast())
    }

    /// Sets descriptors; cuDNN keeps what it needs of them.
    ///
    /// # Errors
    /// cuDNN's status.
    pub fn set_descriptors(&self, name: Attribute, values: &[&Self]) -> Result<(), CallError> {
        let raw: Vec<cudnn::Descriptor> = values.iter().map(|descriptor| descriptor.raw).collect();
        self.set(name, AttributeType::DESCRIPTOR, raw.len(), raw.as_ptr().cast())
    }

    /// Sets device pointers.
    ///
    /// # Errors
    /// cuDNN's status.
    pub fn set_pointers(&self, name: Attribute, values: &[u64]) -> Result<(), CallError> {
        self.set(name, AttributeType::VOID_POINTER, values.len(), values.as_ptr().cast())
    }

    /// Sets the handle.
    ///
    /// # Errors
    /// cuDNN's status.
    pub fn set_handle(&self, name: Attribute, handle: cudnn::Handle) -> Result<(), CallError> {
        self.set(name, AttributeType::HANDLE, 1, (&raw const handle).cast())
    }

    /// Sets text, with the terminator that cuDNN asks for.
    ///
    /// # Errors
    /// cuDNN's status.
    pub fn set_text(&self, name: Attribute, text: &str) -> Result<(), CallError> {
        let mut bytes = text.as_bytes().to_vec();
        bytes.push(0);
        self.set(name, AttributeType::CHAR, bytes.len(), bytes.as_ptr().cast())
    }

    /// Finalizes.
    ///
    /// # Errors
    /// cuDNN's status.
    pub fn finalize(&self) -> Result<(), CallError> {
        let finalize = self.library.symbols.finalize;
        // SAFETY: `raw` is live. What cuDNN does with its attributes is what the worker process exists to risk.
        let status = self.library.meter.time(|| unsafe { finalize(self.raw) });
        self.library.check(self.phase, status)
    }

    /// Reads up to `data.len()` elements and tells how many there are.
    fn get<T>(&self, name: Attribute, kind: AttributeType, data: &mut [T]) -> Result<usize, CallError> {
        let get = self.library.symbols.get_attribute;
        let mut count = 0_i64;
        let target = if data.is_empty() { std::ptr::null_mut() } else { data.as_mut_ptr().cast::<c_void>() };
        // SAFETY: `target` holds `data.len()` elements of the type that `kind` names (each caller pairs them).
        let status = self
            .library
            .meter
            .time(|| unsafe { get(self.raw, name, kind, data.len() as i64, &raw mut count, target) });
        self.library.check(self.phase, status)?;
        Ok(usize::try_from(count).unwrap_or(0))
    }

    /// Reads one 64-bit integer.
    ///
    /// # Errors
    /// cuDNN's status.
    pub fn get_i64(&self, name: Attribute) -> Result<i64, CallError> {
        let mut value = [0_i64];
        self.get(name, AttributeType::INT64, &mut value)?;
        Ok(value[0])
    }

    /// Reads up to `most` 32-bit integers or enums of that type.
    ///
    /// # Errors
    /// cuDNN's status.
    pub fn get_i32s(&self, name: Attribute, kind: AttributeType, most: usize) -> Result<Vec<i32>, CallError> {
        let mut values = vec![0_i32; most];
        let count = self.get(name, kind, &mut values)?;
        values.truncate(count);
        Ok(values)
    }

    /// Reads text of any length.
    ///
    /// # Errors
    /// cuDNN's status.
    pub fn get_text(&self, name: Attribute) -> Result<String, CallError> {
        let length = self.get::<u8>(name, AttributeType::CHAR, &mut [])?;
        let mut bytes = vec![0_u8; length];
        self.get(name, AttributeType::CHAR, &mut bytes)?;
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        Ok(String::from_utf8_lossy(&bytes[..end]).into_owned())
    }

    /// Number of descriptors that an attribute may give: an upper bound.
    ///
    /// # Errors
    /// cuDNN's status.
    pub fn count(&self, name: Attribute) -> Result<usize, CallError> {
        self.get::<cudnn::Descriptor>(name, AttributeType::DESCRIPTOR, &mut [])
    }

    /// Reads descriptors into ones created for it, at most `most`.
    ///
    /// # Errors
    /// cuDNN's status.
    pub fn get_descriptors(
        &self,
        name: Attribute,
        kind: DescriptorType,
        most: usize,
    ) -> Result<Vec<Self>, CallError> {
        let mut owned =
            (0..most).map(|_| Self::new(&self.library, kind, self.phase)).collect::<Result<Vec<_>, _>>()?;
        let mut raw: Vec<cudnn::Descriptor> = owned.iter().map(|descriptor| descriptor.raw).collect();
        let count = self.get(name, AttributeType::DESCRIPTOR, &mut raw)?;
        owned.truncate(count);
        Ok(owned)
    }
}
