//! How many parts a model has, before any is read: what takes two bytes in the file may take two hundred in memory.
//! Knows the wire's form and which fields hold parts; what they mean is `schema`'s. Source of the wire's form: the
//! encoding page of Protocol Buffers.

/// Most parts of a model that is read. A node has some ten: a model of a hundred thousand nodes is within it.
pub(super) const PARTS_MAX: u64 = 4_000_000;

/// A message of the schema, with the fields of it that hold others.
#[derive(Clone, Copy)]
enum Message {
    Model,
    Graph,
    Node,
    Attribute,
    Tensor,
    ValueInfo,
    Kind,
    TensorKind,
    Shape,
    /// Text or numbers, of which each byte may become one.
    Numbers,
    /// Text, or numbers that take no more room than in the file.
    Leaf,
}

impl Message {
    /// What a field of it holds; `None` for one that is passed over.
    fn field(self, tag: u64) -> Option<Self> {
        Some(match (self, tag) {
            (Self::Model, 7) => Self::Graph,
            (Self::Graph, 1) => Self::Node,
            (Self::Graph, 5) | (Self::Attribute, 5) => Self::Tensor,
            (Self::Graph, 11..=13) => Self::ValueInfo,
            (Self::Node, 5) => Self::Attribute,
            (Self::ValueInfo, 2) => Self::Kind,
            (Self::Kind, 1) => Self::TensorKind,
            (Self::TensorKind, 2) => Self::Shape,
            (Self::Attribute, 8) | (Self::Tensor, 1 | 7) => Self::Numbers,
            (Self::Node, 1 | 2) | (Self::Shape, 1) => Self::Leaf,
            _ => return None,
        })
    }
}

/// Parts of a model, counted up to one more than the most; what is broken ends the count, and is told by who reads it.
pub(super) fn count(bytes: &[u8]) -> u64 {
    let mut sum = 0;
    add(bytes, Message::Model, &mut sum);
    sum
}

/// `None` where the bytes are no message, or where there are too many parts.
fn add(mut bytes: &[u8], message: Message, sum: &mut u64) -> Option<()> {
    while !bytes.is_empty() {
        let key = varint(&mut bytes)?;
        let held = message.field(key >> 3);
        let length = match key & 7 {
            0 => {
                varint(&mut bytes)?;
                0
            }
            1 => 8,
            2 => usize::try_from(varint(&mut bytes)?).ok()?,
            5 => 4,
            _ => return None,
        };
        let (field, rest) = bytes.split_at_checked(length)?;
        bytes = rest;
        let Some(held) = held else { continue };
        *sum += 1;
        match held {
            Message::Numbers => *sum += field.len() as u64,
            Message::Leaf => {}
            Message::Model
            | Message::Graph
            | Message::Node
            | Message::Attribute
            | Message::Tensor
            | Message::ValueInfo
            | Message::Kind
            | Message::TensorKind
            | Message::Shape => add(field, held, sum)?,
        }
        if *sum > PARTS_MAX {
            return None;
        }
    }
    Some(())
}

/// A number of seven bits a byte, the lowest first.
fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for place in 0..10 {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f).checked_shl(7 * place)?;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A field of a length.
    fn field(tag: u8, bytes: &[u8]) -> Vec<u8> {
        let mut length = bytes.len();
        let mut field = vec![tag << 3 | 2];
        while length >= 0x80 {
            field.push(u8::try_from(length & 0x7f).expect("seven bits") | 0x80);
            length >>= 7;
        }
        field.push(u8::try_from(length).expect("the rest"));
        field.extend(bytes);
        field
    }

    #[test]
    fn parts_are_counted_wherever_they_lie() {
        let attribute = field(5, &[field(8, &[1, 2, 3]), field(1, b"name")].concat());
        let node = field(1, &[field(1, b"x"), field(2, b"y"), attribute].concat());
        // Graph, node, two names, attribute, its list of three.
        assert_eq!(count(&[vec![0x08, 0x07], field(7, &node)].concat()), 1 + 1 + 2 + 1 + 1 + 3);
    }

    #[test]
    fn millions_of_empty_nodes_are_no_model() {
        let nodes = field(7, &[0x0a, 0].repeat(usize::try_from(PARTS_MAX).expect("small")));
        assert!(count(&nodes) > PARTS_MAX);
        let error = super::super::read(&mut nodes.as_slice(), 1).expect_err("refused");
        assert!(error.to_string().contains("more than 4000000"), "{error}");
    }

    #[test]
    fn what_is_broken_is_counted_to_where_it_breaks() {
        assert_eq!(count(&[0x3a, 0x05, 0x0a]), 0, "a length beyond the end");
        assert_eq!(count(&[0xff; 32]), 0, "a number without an end");
        assert_eq!(count(&[0x3b]), 0, "a group");
    }
}
