//! What a shared library says of itself: names, search paths, needs, build-id, and the version that parts of cuDNN
//! export. Knows the format through bounded reads; runs nothing and trusts no number in a file.

use std::fs::File;

use object::read::elf::{Dyn, FileHeader, ProgramHeader, SectionHeader};
use object::read::{ReadCache, ReadRef, StringTable};
use object::{Endianness, elf};

use crate::version::Version;

/// Most bytes of one table that are read: the largest of cuDNN's has 4 MB.
const TABLE_MAX: u64 = 32 << 20;

/// Most symbols that are looked at, and the longest path list that is taken.
const SYMBOLS_MAX: usize = 500_000;
const TEXT_MAX: usize = 4096;

/// Symbols whose four bytes are the version of the part that exports them: measured in 9.12, 9.19, 9.20 and 9.27.
const VERSION_SYMBOLS: [&[u8]; 3] =
    [b"cudnn_graph_version", b"cudnn_ops_infer_version", b"cudnn_adv_infer_version"];

/// Facts of one library.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Elf {
    /// The name that others ask for it by.
    pub soname: Option<String>,
    /// DT_RPATH: comes before LD_LIBRARY_PATH.
    pub rpath: Vec<String>,
    /// DT_RUNPATH: comes after it.
    pub runpath: Vec<String>,
    /// The libraries that it needs at load.
    pub needed: Vec<String>,
    /// The linker's build-id, hexadecimal.
    pub build_id: Option<String>,
    /// The version that a part of cuDNN exports.
    pub version: Option<Version>,
    /// What the headers claim beyond the file's end, in words.
    pub cut: Option<String>,
}

/// A file whose tables are read piece by piece, none larger than its limit.
#[derive(Clone, Copy)]
struct Bounded<'a>(&'a ReadCache<File>);

impl<'a> ReadRef<'a> for Bounded<'a> {
    fn len(self) -> Result<u64, ()> {
        self.0.len()
    }

    fn read_bytes_at(self, offset: u64, size: u64) -> Result<&'a [u8], ()> {
        if size > TABLE_MAX { Err(()) } else { self.0.read_bytes_at(offset, size) }
    }

    fn read_bytes_at_until(self, range: std::ops::Range<u64>, delimiter: u8) -> Result<&'a [u8], ()> {
        self.0.read_bytes_at_until(range, delimiter)
    }
}

/// Reads a 64-bit library; an error says in words what is wrong with it. `wants_version` looks through its symbols,
/// too.
pub(crate) fn read(file: File, wants_version: bool) -> Result<Elf, String> {
    let cache = ReadCache::new(file);
    let data = Bounded(&cache);
    let wrong = |error: object::read::Error| error.to_string();
    let magic = data.read_bytes_at(0, 5).map_err(|()| "is too short for a library".to_owned())?;
    if magic[..4] != elf::ELFMAG {
        return Err("is no ELF file".to_owned());
    }
    if magic[4] != elf::ELFCLASS64.0 {
        return Err("is a 32-bit file".to_owned());
    }
    let header = elf::FileHeader64::<Endianness>::parse(data).map_err(wrong)?;
    let endian = header.endian().map_err(wrong)?;
    let segments = header.program_headers(endian, data).map_err(wrong)?;
    let mut found = Elf { cut: cut(header, segments, (endian, data)), ..Elf::default() };
    for segment in segments {
        if found.build_id.is_none() && segment.p_type(endian) == elf::PT_NOTE {
            found.build_id = build_id(segment, endian, data);
        }
        if let Ok(Some(entries)) = segment.dynamic(endian, data) {
            dynamic(entries, segments, (endian, data), &mut found);
        }
    }
    if wants_version {
        found.version = version(header, (endian, data));
    }
    Ok(found)
}

type Segment = elf::ProgramHeader64<Endianness>;

/// What the headers claim beyond the file's end: a loader maps such a library, and the process ends at the first page
/// that is not there.
fn cut(
    header: &elf::FileHeader64<Endianness>,
    segments: &[Segment],
    (endian, data): (Endianness, Bounded<'_>),
) -> Option<String> {
    let bytes = data.len().ok()?;
    let loaded = segments.iter().filter(|segment| segment.p_filesz(endian) > 0);
    let segments = loaded.map(|segment| segment.p_offset(endian).checked_add(segment.p_filesz(endian)));
    let table = u64::from(header.e_shnum(endian)) * u64::from(header.e_shentsize(endian));
    let sections = if table == 0 { Some(0) } else { header.e_shoff(endian).checked_add(table) };
    let mut claimed = 0;
    for end in segments.chain([sections]) {
        let Some(end) = end else {
            return Some(format!("has {bytes} bytes, and its headers claim more than 64 bits can count"));
        };
        claimed = claimed.max(end);
    }
    (claimed > bytes).then(|| format!("is cut short: it has {bytes} bytes, and its headers claim {claimed}"))
}

fn build_id(segment: &Segment, endian: Endianness, data: Bounded<'_>) -> Option<String> {
    let mut notes = segment.notes(endian, data).ok()??;
    while let Ok(Some(note)) = notes.next() {
        if note.name() == elf::ELF_NOTE_GNU && note.n_type(endian) == elf::NT_GNU_BUILD_ID {
            return Some(crate::hash::hexadecimal(&note.desc()[..note.desc().len().min(64)]));
        }
    }
    None
}

/// Reads the dynamic section of a library.
fn dynamic(
    entries: &[elf::Dyn64<Endianness>],
    segments: &[Segment],
    (endian, data): (Endianness, Bounded<'_>),
    found: &mut Elf,
) {
    let value = |tag: elf::DynamicTag| {
        entries.iter().find(|entry| entry.tag(endian) == tag).map(|entry| entry.val(endian))
    };
    let (Some(address), Some(size)) = (value(elf::DT_STRTAB), value(elf::DT_STRSZ)) else { return };
    // The table is named by its address in memory.
    let place =
        segments.iter().filter(|segment| segment.p_type(endian) == elf::PT_LOAD).find_map(|segment| {
            let (start, bytes) = (segment.p_vaddr(endian), segment.p_filesz(endian));
            let inside = address.checked_sub(start).filter(|inside| *inside < bytes)?;
            segment.p_offset(endian).checked_add(inside)
        });
    let Some(place) = place else { return };
    let Some(end) = place.checked_add(size) else { return };
    let strings = StringTable::new(data, place, end);
    let text = |offset: u64| {
        let bytes = strings.get(u32::try_from(offset).ok()?).ok()?;
        (bytes.len() <= TEXT_MAX).then(|| String::from_utf8_lossy(bytes).into_owned())
    };
    let list = |text: String| text.split(':').filter(|part| !part.is_empty()).map(str::to_owned).collect();
    for entry in entries {
        let Some(text) = text(entry.val(endian)) else { continue };
        match entry.tag(endian) {
            elf::DT_SONAME => found.soname = Some(text),
            elf::DT_NEEDED => found.needed.push(text),
            elf::DT_RPATH => found.rpath = list(text),
            elf::DT_RUNPATH => found.runpath = list(text),
            _ => {}
        }
    }
}

/// The version symbol's four bytes.
fn version(
    header: &elf::FileHeader64<Endianness>,
    (endian, data): (Endianness, Bounded<'_>),
) -> Option<Version> {
    use object::read::elf::Sym;
    let sections = header.sections(endian, data).ok()?;
    let symbols = sections.symbols(endian, data, elf::SHT_DYNSYM).ok()?;
    let found = symbols.iter().take(SYMBOLS_MAX).find(|symbol| {
        let name = symbol.name(endian, symbols.strings());
        symbol.st_size(endian) == 4 && name.is_ok_and(|name| VERSION_SYMBOLS.contains(&name))
    })?;
    let section = sections.section(object::SectionIndex(usize::from(found.st_shndx(endian).0))).ok()?;
    let inside = found.st_value(endian).checked_sub(section.sh_addr(endian))?;
    let bytes = data.read_bytes_at(section.sh_offset(endian).checked_add(inside)?, 4).ok()?;
    Version::of_packed(bytes.try_into().ok()?)
}

#[cfg(test)]
mod tests;
