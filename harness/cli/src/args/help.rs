//! Texts of the help that several commands share: the case line, the exit codes. Knows words; parses nothing.

/// The case line, the same text for every command that takes one.
pub(super) const CASE_LINE: &str = "\
THE CASE LINE
  PASS TYPES LAYOUTS SIZES [OPTIONS], separated by blanks; what is left out has its default.

  PyTorch's Conv2d(64, 128, 3, stride=2, padding=1) in fp16, channels_last, on a batch of 8 images of 56x56:

      fprop f16 nhwc n8 c64 k128 i56x56 f3x3 p1x1 s2x2

  PASS      fprop (forward), dgrad (gradient of the input), wgrad (gradient of the weights); below, what is no
            convolution
  TYPES     f32 f64 f16 bf16, and i8 i32, of which plans alone are judged: one for all tensors, or three as x,w,y
            (input, weights, output of the forward pass, whatever PASS is); then /TYPE for another compute type, as in
            f16/f16
  LAYOUTS   nchw or nhwc (channels last), for any number of axes; one for all tensors, or three as x,w,y; i8 also has
            nchwc4 and nchwc32, in vectors of so many channels
  n c k g   batch, input channels, output channels (both in total), groups (default 1): n8 c64 k128 g2
  i f       extents of input and filter, 1 to 3 axes joined by x: i56x56 f3x3
  p s d     padding (default 0), stride and dilation (default 1) of each axis: p1x2 s2x2 d1x1; where the two ends of an
            axis differ, before:after, as in p0:1 or p0:1x2

  engine=N knobs=T:V,...   this engine, by its global index, with these knobs (default knobs)
  heur=A#0                 the plan at this rank of heuristic list A, B or fallback; the default of a single run
  tf32=off                 drop plans that declare reduced f32 arithmetic
  set=9.19.0-full          the library set whose numbers engine= and knobs= are
  ws=exact +BYTES max:BYTES, each with @ALIGN or without
                           the workspace: what the plan asks for (default), more, or at most so much; its alignment
  wsfill=00 ff rand:SEED   what the workspace holds before the run
  fill=KIND:SEED           data of the inputs: zero one onehot int1 tern int2 sparse index ramp real nan
  keep=x:17,w:0-3          only these elements of the inputs keep that data, every other one is 0; counted from 0,
                           row-major over n c i (w: k c/g f; y: n k and the outputs); needs fill=
  out=nan finite           what the output holds before the run; no meaning where beta is not 0
  alpha=1 beta=0           y = alpha * convolution + beta * y
  repeat=N                 executions that must agree bit for bit
  y=AxB                    an output size that is wrong on purpose; needs expect=refuse
  expect=refuse            a clean refusal is the right outcome

  Other operations, with the same options but alpha= and beta=:
  maxpool, avgpool         maxpool f16 nhwc n8 c64 i56x56 f3x3 p1x1 s2x2: f is the window, larger than its padding,
                           which avgpool counts as zeros; TYPES and LAYOUTS as three words repeat x for w
  matmul                   matmul f16 row,col,row b4 m64 n128 k32: y (m x n) = x (m x k) w (k x n) in a batch of b;
                           LAYOUTS are row or col, and row where left out (nchw in the other three)
  rmsnorm                  rmsnorm f16 nhwc n32 c1024: y = x w / sqrt(mean of squares + 2^-17) along c; w is the scale

  CASE ; CASE              a history: each case runs once in the same new process, and only the last one is judged

  `convict show 'CASE'` says in plain words how a line is read.";

/// Every exit code with its meaning, as the README has it too.
pub(super) const EXIT_CODES: [(u8, &str); 8] = [
    (
        0,
        "nothing wrong was found, or what is informative only (tier C); a case that had to be refused was refused; \
         `minimize` and `explain` did their work on a case that fails; `bisect` could judge a version; what `verify` \
         could run again still holds",
    ),
    (
        1,
        "a failure, or findings: a hunt ends by what it found so far, interrupted or not; `verify`: the bundle is \
         whole, but its case or its program does not show the failure any more; `replay`: a regression; `compare`: \
         something is newly wrong or newly refused; `preflight`: a threshold is not met, or the first plan is wrong \
         where others are right; `scan`: a log shows an error or a warning; `doctor`: an error or a warning; \
         `ladder`: a rung broke",
    ),
    (
        2,
        "usage: a bad case line, a folder that holds another hunt or none to resume, `minimize` or `explain` on a \
         case that does not fail; a bundle with trouble; a log that `scan` cannot read to its end and that shows \
         nothing until there",
    ),
    (3, "this machine can't run it: no driver, no library, a companion missing, mixed library files"),
    (4, "convict itself failed: a full disk, a worker that can't be spawned, a self-test that fails"),
    (75, "the device is in trouble: try elsewhere"),
    (
        77,
        "nothing could be judged: refused by the library, a check that says nothing, a case of another library set, \
         a hunt without a single check, `bisect` without a version that it could judge, a replay or \
         comparison in which nothing was, a comparison that was over before the corpus was, \
         a bundle of the simulator without --simulate, a file to import that holds no case, a \
         bundle of which no recipe can be made, a rung of `ladder` that could not be climbed",
    ),
    (
        130,
        "interrupted before there was an answer, such as a regression; `minimize --out` goes on with --resume",
    ),
];

/// Most characters of a line of a meaning.
const COLUMNS: usize = 104;

/// The table as the help prints it.
pub(super) fn exit_codes() -> String {
    let rows = EXIT_CODES.map(|(code, meaning)| format!("  {code:>3}  {}", wrapped(meaning)));
    format!("Exit codes:\n{}", rows.join("\n"))
}

/// Breaks a text into lines, all but the first of which are indented below it.
fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.len() + word.len() < COLUMNS => {
                line.push_str(if line.is_empty() { "" } else { " " });
                line.push_str(word);
            }
            Some(_) | None => lines.push(word.to_owned()),
        }
    }
    lines.join("\n       ")
}

#[cfg(test)]
mod tests {
    use case::Case;
    use clap::CommandFactory;

    use super::*;
    use crate::args::Arguments;

    fn long_help(command: &str) -> String {
        let mut arguments = Arguments::command();
        let command = arguments.find_subcommand_mut(command).expect("a command of that name");
        command.render_long_help().to_string()
    }

    #[test]
    fn every_command_with_a_case_line_explains_it_and_the_example_is_a_case() {
        let example = "fprop f16 nhwc n8 c64 k128 i56x56 f3x3 p1x1 s2x2";
        assert!(example.parse::<Case>().is_ok_and(|case| case.to_string() == example));
        for command in ["check", "minimize", "explain", "show", "engines"] {
            let help = long_help(command);
            assert!(help.contains(example) && help.contains("THE CASE LINE"), "{command}: {help}");
        }
        assert!(long_help("hunt").contains("convict check --help"));
    }

    #[test]
    fn every_word_of_a_case_line_is_explained() {
        for word in
            ["engine=", "knobs=", "heur=", "tf32=", "set=", "ws=", "wsfill=", "fill=", "keep=", "out="]
        {
            assert!(CASE_LINE.contains(word), "{word}");
        }
        for word in ["alpha=", "beta=", "repeat=", "y=", "expect=", "p1x2", "p0:1", "n c k g", "CASE ; CASE"]
        {
            assert!(CASE_LINE.contains(word), "{word}");
        }
        for operation in case::Operation::ALL {
            assert!(CASE_LINE.contains(operation.name()), "{}", operation.name());
        }
        for line in [
            "maxpool f16 nhwc n8 c64 i56x56 f3x3 p1x1 s2x2",
            "matmul f16 row,col,row b4 m64 n128 k32",
            "rmsnorm f16 nhwc n32 c1024",
        ] {
            assert!(
                CASE_LINE.contains(line) && line.parse::<Case>().is_ok_and(|case| case.to_string() == line)
            );
        }
        for kind in case::FillKind::ALL {
            assert!(CASE_LINE.contains(&format!(" {}", kind.name())), "{}", kind.name());
        }
    }

    #[test]
    fn help_and_readme_give_the_same_exit_codes() {
        let readme = include_str!("../../../../README.md");
        let help = Arguments::command().render_long_help().to_string();
        for (code, meaning) in EXIT_CODES {
            assert!(
                readme.contains(&format!("| {code} | {meaning} |\n")),
                "the README lacks {code}: {meaning}"
            );
            assert!(help.contains(&format!("{code}  ")), "the help lacks {code}");
        }
    }
}
