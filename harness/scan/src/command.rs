//! What to type next: the steps of a cause, fit for the cuDNN that the log shows and for the log at hand. Knows shells,
//! the variables of cuDNN's own log and which versions convict runs; runs nothing.

use std::fmt::Write;

use crate::guide::Cause;
use crate::status::Version;

/// Where a run with cuDNN's own log is written to.
const TRACED: &str = "traced.log";

/// The list that `--cases` writes.
const CASES: &str = "cases.txt";

/// The cuDNN of the Python at hand: that of the job, where it is run from the same place.
const LIBRARY: &str =
    "--library \"$(python -c 'import nvidia.cudnn as m; print(m.__path__[0] + \"/lib\")')\"";

/// What a guide's command asks to be put in place of: a run with cuDNN's own log on, and a hunt around its cases.
const TRACE: &str = "{trace}";
const AROUND: &str = "{around}";
const CASE: &str = "'CASE'";
const SINCE: &str = "{since}";

/// First minor version of cuDNN 8 whose numbers convict knows; of 9 it runs all.
const EIGHT_MINOR: u32 = 9;

/// What is known of the log that commands have to fit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Setting {
    /// The cuDNN that it shows.
    pub(crate) version: Option<Version>,
    /// The log that cases can be made of, as a shell takes its name.
    pub(crate) log: Option<String>,
}

impl Setting {
    /// Fills in the steps of a cause, or the note on why there are none.
    pub(crate) fn fill(&self, cause: &mut Cause, suspect: Option<&str>) {
        let template = cause.template.as_str();
        let needs_ours = template.contains(CASE) || template.contains(AROUND);
        let is_bisection = template.contains(SINCE);
        if let Some(version) = self.version.filter(|version| needs_ours && !runs(*version)) {
            cause.note = Some(format!("convict runs cuDNN 8.9 and later; the log shows {version}"));
            return;
        }
        if let Some(version) = self.version.filter(|version| is_bisection && version.major < 9) {
            cause.note =
                Some(format!("convict searches published wheels of cuDNN 9; the log shows {version}"));
            return;
        }
        cause.commands = self.steps(template, suspect);
    }

    fn steps(&self, template: &str, suspect: Option<&str>) -> Vec<String> {
        if template == TRACE {
            return match suspect {
                // The log at hand holds what a run with cuDNN's own log would show.
                Some(case) if self.version.is_none_or(runs) => {
                    vec![format!("convict check '{case}' {LIBRARY}")]
                }
                Some(_) | None => self.traced(),
            };
        }
        if template == AROUND {
            let (mut steps, log) = match &self.log {
                Some(log) => (Vec::new(), log.as_str()),
                None => (vec![self.trace()], TRACED),
            };
            steps.push(format!("convict scan {log} --cases {CASES}"));
            steps.push(format!("convict hunt --around {CASES} {LIBRARY} --time 10m"));
            return steps;
        }
        if template.contains(CASE) {
            let Some(case) = suspect else { return self.traced() };
            let command = template.replace(CASE, &format!("'{case}'"));
            return vec![match self.version {
                _ if !command.contains(SINCE) => format!("{command} {LIBRARY}"),
                Some(Version { major, minor, .. }) => command.replace(SINCE, &format!("{major}.{minor}..")),
                None => command.replace(SINCE, "9.1.."),
            }];
        }
        template.lines().map(str::to_owned).collect()
    }

    /// The run that writes cuDNN's own log between its own lines, and the scan of it, which names the convolution with
    /// the command that tries it.
    fn traced(&self) -> Vec<String> {
        let mut steps = vec![self.trace()];
        // The cases of a version that convict does not run are of no use; what the log says of it is.
        steps.push(format!("convict scan {TRACED}"));
        steps
    }

    fn trace(&self) -> String {
        let variables = match self.version {
            Some(version) if version.major >= 9 => "CUDNN_LOGLEVEL_DBG=3",
            Some(_) => "CUDNN_LOGINFO_DBG=1 CUDNN_LOGWARN_DBG=1 CUDNN_LOGERR_DBG=1",
            // Each version takes its own ones of these and passes over the others.
            None => "CUDNN_LOGLEVEL_DBG=3 CUDNN_LOGINFO_DBG=1 CUDNN_LOGWARN_DBG=1 CUDNN_LOGERR_DBG=1",
        };
        // What is written to standard error is not held back, so that lines stand in their order at the end.
        format!("{variables} CUDNN_LOGDEST_DBG=stderr python train.py > {TRACED} 2>&1")
    }
}

/// True for versions that convict runs.
fn runs(version: Version) -> bool {
    version.major > 8 || (version.major == 8 && version.minor >= EIGHT_MINOR)
}

/// A file's name as a shell takes it in one word, whatever its bytes are, and with nothing in it that a terminal obeys.
#[must_use]
pub fn shell_word(name: &[u8]) -> String {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-+=:@%,".contains(byte);
    // A name that begins with a dash would be taken for an option.
    let lead = if name.first() == Some(&b'-') { "./" } else { "" };
    let text = std::str::from_utf8(name).ok().filter(|text| !text.contains(case::is_wild));
    match text {
        Some(text) if !name.is_empty() && name.iter().all(is_plain) => format!("{lead}{text}"),
        Some(text) => format!("{lead}'{}'", text.replace('\'', "'\\''")),
        None => {
            let mut word = format!("{lead}$'");
            for byte in name {
                match byte {
                    b'\'' | b'\\' => word.extend(['\\', char::from(*byte)]),
                    b' '..=b'~' => word.push(char::from(*byte)),
                    // Writing to a string does not fail. Octal ends after three digits, hexadecimal at no letter.
                    _ => drop(write!(word, "\\{byte:03o}")),
                }
            }
            word + "'"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Setting, shell_word};
    use crate::guide::Cause;
    use crate::status::Version;

    fn steps(template: &str, version: Option<&str>, log: Option<&str>, suspect: Option<&str>) -> Cause {
        let mut cause = Cause { template: template.to_owned(), ..Cause::default() };
        let setting = Setting { version: version.and_then(Version::read), log: log.map(str::to_owned) };
        setting.fill(&mut cause, suspect);
        cause
    }

    #[test]
    fn each_version_has_its_own_variables_and_what_it_has_not_is_left_out() {
        let trace = |version| steps("{trace}", version, None, None).commands[0].clone();
        assert!(trace(Some("9.19.0")).starts_with("CUDNN_LOGLEVEL_DBG=3 CUDNN_LOGDEST_DBG=stderr python"));
        for old in ["8.9.7", "7.6.2"] {
            let command = trace(Some(old));
            assert!(
                command.starts_with("CUDNN_LOGINFO_DBG=1 CUDNN_LOGWARN_DBG=1 CUDNN_LOGERR_DBG=1 "),
                "{command}"
            );
            assert!(!command.contains("LOGLEVEL"), "{command}");
        }
        assert!(trace(None).contains("LOGLEVEL_DBG=3") && trace(None).contains("LOGINFO_DBG=1"));
        let bisect = "convict bisect 'CASE' --versions {since}";
        let case = "fprop f32 nchw n1 c1 k1 i1 f1";
        let one = |version| steps(bisect, version, None, Some(case));
        assert_eq!(one(Some("9.12.0")).commands, [format!("convict bisect '{case}' --versions 9.12..")]);
        for (version, words) in
            [("8.9.7", "wheels of cuDNN 9"), ("7.6.2", "8.9 and later; the log shows 7.6.2")]
        {
            let left = one(Some(version));
            assert!(
                left.commands.is_empty() && left.note.as_ref().is_some_and(|note| note.contains(words)),
                "{left:?}"
            );
        }
        assert!(steps("{around}", Some("8.5.0"), None, None).commands.is_empty());
    }

    #[test]
    fn what_a_command_needs_is_made_by_the_one_before_it_or_is_the_log_at_hand() {
        let around = |log| steps("{around}", Some("9.19.0"), log, None).commands;
        assert!(around(None)[0].ends_with("python train.py > traced.log 2>&1"));
        assert_eq!(around(None)[1], "convict scan traced.log --cases cases.txt");
        assert_eq!(around(Some("'a b.log'"))[0], "convict scan 'a b.log' --cases cases.txt");
        assert!(around(Some("a"))[1].starts_with("convict hunt --around cases.txt --library \"$(python -c"));
        let check = |suspect| steps("convict check 'CASE'", None, None, suspect).commands;
        assert!(check(None)[1] == "convict scan traced.log");
        assert!(check(Some("fprop f32"))[0].starts_with("convict check 'fprop f32' --library "));
    }

    #[test]
    fn names_of_files_are_one_word_of_a_shell_and_hide_nothing() {
        for (name, word) in [
            (&b"runs/a-1.log"[..], "runs/a-1.log"),
            (b"a b; rm -rf x", "'a b; rm -rf x'"),
            (b"it's", "'it'\\''s'"),
            (b"-rf", "./-rf"),
            (b"", "''"),
            (b"a\nb\x1b\xff'", "$'a\\012b\\033\\377\\''"),
            ("a\u{202e}".as_bytes(), "$'a\\342\\200\\256'"),
        ] {
            assert_eq!(shell_word(name), word);
            let echoed =
                std::process::Command::new("bash").arg("-c").arg(format!("printf %s {word}")).output();
            let echoed = echoed.expect("bash").stdout;
            assert_eq!(echoed.strip_prefix(b"./").unwrap_or(&echoed), name);
        }
    }
}
