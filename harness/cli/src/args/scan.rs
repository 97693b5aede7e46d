//! The command line of `scan`. Knows names and help texts.

use std::path::PathBuf;

use clap::Args;

/// `convict scan`.
#[derive(Debug, Args)]
#[command(after_long_help = NOTES)]
pub(crate) struct Scan {
    /// Logs of one training run, such as one a rank and the kernel's; `-` is standard input.
    #[arg(value_name = "LOG|-", required = true)]
    pub(crate) logs: Vec<PathBuf>,
    /// Write the convolutions that lines of cuDNN's own log describe into this file, as `convict import` does.
    #[arg(long, value_name = "FILE")]
    pub(crate) cases: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

const NOTES: &str = "\
WHAT IS READ
  Text of any size and encoding, streamed: UTF-8, UTF-16, UTF-32, lines that are no text, one endless line, progress
  bars that carriage returns overwrite. gzip is undone; zstd, xz, bzip2, lz4 and zip are not:
  `zstd -dc LOG | convict scan -`. Lines of cuDNN's own log (CUDNN_LOGLEVEL_DBG=3, in cuDNN 8 CUDNN_LOGINFO_DBG=1) may
  stand between those of the program; the convolution that was being planned, or was executed last, is named with an
  error.

WHAT IS TOLD
  What came first, where and when; how often, and in which pattern over the steps that the log shows; what a status
  means in the cuDNN that the log shows; likely causes in order, each with the commands to run
  next, which fit that cuDNN and need nothing but what the ones before them make. They take cuDNN from the packages of
  the `python` at hand; where the job's lies elsewhere, name its folder with --library.

Exit code 0: nothing was found; 1: something was; 2: a log could not be read to its end, and shows nothing until there.";
