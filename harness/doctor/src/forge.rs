//! Libraries that are made up for tests: files that say of themselves what a test wants, and hold no code. Knows the
//! format as far as the doctor reads it.

use std::path::Path;

/// What a made-up library says of itself.
#[derive(Clone, Default)]
pub(crate) struct Forged<'a> {
    pub(crate) soname: &'a str,
    pub(crate) needed: &'a [&'a str],
    pub(crate) rpath: &'a str,
    pub(crate) runpath: &'a str,
    pub(crate) build_id: &'a [u8],
    /// Major, minor, patch as an exported symbol.
    pub(crate) version: Option<[u8; 3]>,
}

const LOAD: u32 = 1;
const DYNAMIC: u32 = 2;
const NOTE: u32 = 4;

impl Forged<'_> {
    /// The bytes of the file.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut strings = vec![0_u8];
        let mut text = |text: &str| {
            let place = strings.len() as u64;
            strings.extend_from_slice(text.as_bytes());
            strings.push(0);
            place
        };
        let mut tags: Vec<(u64, u64)> = self.needed.iter().map(|name| (1, text(name))).collect();
        for (tag, value) in [(14, self.soname), (15, self.rpath), (29, self.runpath)] {
            if !value.is_empty() {
                tags.push((tag, text(value)));
            }
        }
        let symbol = text("cudnn_graph_version");
        let header = 64 + 3 * 56_u64;
        let strings_size = strings.len() as u64;
        tags.extend([(5, header), (10, strings_size), (0, 0)]);
        let mut file = vec![0; 64];
        let dynamic = (header + strings_size).next_multiple_of(8);
        let dynamic_size = tags.len() as u64 * 16;
        let note = dynamic + dynamic_size;
        let note_size = 16 + self.build_id.len() as u64;
        let symbols = (note + note_size).next_multiple_of(8);
        let data = symbols + 48;
        let sections = (data + 4).next_multiple_of(8);
        for (kind, place, size) in
            [(LOAD, 0, sections), (DYNAMIC, dynamic, dynamic_size), (NOTE, note, note_size)]
        {
            file.extend_from_slice(&kind.to_le_bytes());
            file.extend_from_slice(&4_u32.to_le_bytes());
            for value in [place, place, place, size, size, 8] {
                file.extend_from_slice(&value.to_le_bytes());
            }
        }
        file.extend_from_slice(&strings);
        file.resize(at(dynamic), 0);
        tags.iter().for_each(|(tag, value)| put(&mut file, &[*tag, *value]));
        for word in [4, u32::try_from(self.build_id.len()).expect("short"), 3] {
            file.extend_from_slice(&word.to_le_bytes());
        }
        file.extend_from_slice(b"GNU\0");
        file.extend_from_slice(self.build_id);
        file.resize(at(symbols + 24), 0);
        // Global object in the third section.
        file.extend_from_slice(&u32::try_from(symbol).expect("short").to_le_bytes());
        file.extend_from_slice(&[0x11, 0, 3, 0]);
        put(&mut file, &[data, if self.version.is_some() { 4 } else { 0 }]);
        let [major, minor, patch] = self.version.unwrap_or_default();
        file.extend_from_slice(&[patch, minor, major, 0]);
        file.resize(at(sections), 0);
        for (kind, place, size, link, entry) in
            [(0, 0, 0, 0, 0), (3, header, strings_size, 0, 0), (11, symbols, 48, 1, 24), (1, data, 4, 0, 0)]
        {
            put(&mut file, &[kind << 32, 0, place, place, size]);
            file.extend_from_slice(&u64::from(link as u32).to_le_bytes());
            put(&mut file, &[1, entry]);
        }
        self.head(&mut file, sections);
        file
    }

    fn head(&self, file: &mut [u8], sections: u64) {
        let mut head =
            vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 62, 0, 1, 0, 0, 0];
        put(&mut head, &[0, 64, sections]);
        head.extend_from_slice(&0_u32.to_le_bytes());
        for word in [64_u16, 56, 3, 64, 4, 1] {
            head.extend_from_slice(&word.to_le_bytes());
        }
        file[..64].copy_from_slice(&head);
    }

    /// Writes it, with its folder.
    pub(crate) fn write(&self, path: &Path) {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, self.bytes()).expect("written");
    }
}

fn at(place: u64) -> usize {
    usize::try_from(place).expect("short")
}

fn put(file: &mut Vec<u8>, values: &[u64]) {
    values.iter().for_each(|value| file.extend_from_slice(&value.to_le_bytes()));
}
