//! The command line of `import`, and what other commands take of it. Knows names and help texts.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Forms of a file, as `--format` names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// Whichever the file's beginning shows.
    Auto,
    /// cuDNN's own log.
    Log,
    /// cudnn-frontend's graphs as JSON, or its own log.
    Frontend,
    /// An ONNX model.
    Onnx,
    /// A table of shapes.
    Csv,
}

/// `convict import`.
#[derive(Debug, Args)]
#[command(after_long_help = after_help())]
pub(crate) struct Import {
    /// Logs, graphs, models or tables of what is really run; - is standard input.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Form of the files.
    #[arg(long, value_enum, default_value_t = Form::Auto)]
    pub(crate) format: Form,
    /// The batch of a model that leaves it open.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(i64).range(1..=1 << 30))]
    pub(crate) batch: i64,
    /// Write the case lines into this file instead of standard output.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Print one JSON object instead of case lines.
    #[arg(long)]
    pub(crate) json: bool,
}

fn after_help() -> String {
    format!("{FORMS}{}\n\nUnknown columns are named and passed over. {LAST}", import::COLUMNS)
}

const FORMS: &str = "\
WHAT IS READ
  log       what a process writes under CUDNN_LOGLEVEL_DBG=3 CUDNN_LOGDEST_DBG=FILE, of cuDNN 8 and 9; executions are
            counted, or plans where the log ends before any
  frontend  cudnn-frontend's graphs as JSON: a file each, one a line, or within the log of CUDNN_FRONTEND_LOG_INFO=1,
            whose plain dump is read too where it is of single convolutions
  onnx      Conv and ConvTranspose, MaxPool and AveragePool (Global too), MatMul and Gemm, RMSNormalization, with the
            extents that follow from the model's inputs
  csv       a table with a header, separated by commas, semicolons or tabs, of these columns in any order:
";

const LAST: &str = "What convict writes itself is read too.

What is written goes into `convict hunt --cases-from FILE`, which runs just these, or `--around FILE`, which goes on
to their neighbours.";
