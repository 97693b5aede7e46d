//! ONNX models: which operations they hold, by the extents that can be known. Knows the graph and counts nodes; the
//! schema is `schema`'s, what operators do to extents is `shapes`'.

mod convolutions;
mod others;
mod parts;
mod schema;
mod shapes;

use std::io::Read;

use prost::Message;

use self::schema::Model;
use self::shapes::Shapes;
use crate::ImportError;
use crate::table::{Evidence, Import, Imported, Ledger, Refusals};

/// Largest model: what the encoding allows.
const MODEL_MAX: u64 = 2 << 30;

/// True for bytes that may begin a model: its first field is the version of the form, a small number. No text begins
/// so: the first byte is a backspace.
pub(crate) fn is_likely(head: &[u8]) -> bool {
    head.len() > 2 && head[0] == 0x08 && head[1] < 0x40
}

/// Reads a model.
pub(crate) fn read(reader: &mut impl Read, batch: i64) -> Result<Import, ImportError> {
    let mut bytes = Vec::new();
    reader.take(MODEL_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MODEL_MAX {
        return Err(ImportError::Form("is larger than the 2 GiB that a model may have".to_owned()));
    }
    if parts::count(&bytes) > parts::PARTS_MAX {
        let why = format!("has more than {} nodes, names and attributes; no model does", parts::PARTS_MAX);
        return Err(ImportError::Form(why));
    }
    // Weights stay where they are: the message only points at them.
    let model = Model::decode(bytes::Bytes::from(bytes))
        .map_err(|error| ImportError::Form(format!("is no sound ONNX model: {error}")))?;
    let graph = model.graph.ok_or_else(|| ImportError::Form("is an ONNX file without a graph".to_owned()))?;
    let (mut ledger, mut refusals) = (Ledger::default(), Refusals::default());
    let mut notes = Vec::new();
    let shapes = Shapes::of(&graph, batch);
    if shapes.symbolic() {
        notes.push(format!("the model leaves its batch open; it was taken as {batch} (--batch)"));
    }
    for (number, node) in (1..).zip(&graph.nodes) {
        let convolution = convolutions::read(node, &shapes);
        let told = convolution.map(|told| told.and_then(|convolution| convolution.case()));
        let Some(told) = told.or_else(|| others::read(node, &shapes)) else { continue };
        match told {
            Ok(case) => {
                let (fused, engines) = (false, Vec::new());
                let found = Imported { case, count: 1, file: 0, first: number, fused, engines };
                ledger.add(found, &mut refusals);
            }
            Err(reason) => refusals.add(reason, number),
        }
    }
    notes.push("a model has no lines: the numbers are those of its nodes, from 1".to_owned());
    Ok(Import { cases: ledger.sorted(), evidence: Evidence::Executed, refused: refusals.sorted(), notes })
}
