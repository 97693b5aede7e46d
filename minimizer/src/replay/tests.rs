//! What a log gives back, whole, torn and broken.

use super::*;

fn parse(line: &str) -> Case {
    line.parse().expect("an example is a case")
}

fn log(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn answers_come_back_once_each_and_in_order() {
    let case = parse("fprop f32 nchw n2 c1 k1 i1 f1");
    let answers = [Answer::Same, Answer::Other("slug".to_owned()), Answer::Infra("lost".to_owned())];
    let lines: Vec<String> =
        answers.iter().flat_map(|answer| [Replay::running(&case), Replay::answered(&case, answer)]).collect();
    let mut replay = Replay::read(&log(&lines)).expect("a sound log");
    assert_eq!(replay.recall(&case), Recall::Answer(Answer::Same));
    assert_eq!(replay.recall(&case), Recall::Answer(Answer::Other("slug".to_owned())));
    assert_eq!(replay.recall(&case), Recall::Nothing, "trouble of the machine is no answer");
}

#[test]
fn a_run_that_was_cut_off_is_asked_again_once_and_then_blamed() {
    let case = parse("fprop f32 nchw n2 c1 k1 i1 f1");
    let once = log(&[Replay::running(&case)]);
    let mut replay = Replay::read(&once).expect("a sound log");
    assert_eq!([replay.recall(&case), replay.recall(&case)], [Recall::CutOff, Recall::Nothing]);
    let mut replay = Replay::read(&once.repeat(2)).expect("a sound log");
    assert!(matches!(replay.recall(&case), Recall::Answer(Answer::Other(_))));
    let answered = once.repeat(2) + &log(&[Replay::answered(&case, &Answer::Pass)]);
    let mut replay = Replay::read(&answered).expect("a sound log");
    assert_eq!(replay.recall(&case), Recall::Answer(Answer::Pass));
}

#[test]
fn a_torn_last_line_is_passed_over_and_any_other_is_named() {
    let case = parse("fprop f32 nchw n2 c1 k1 i1 f1");
    let whole = log(&[Replay::running(&case), Replay::answered(&case, &Answer::Same)]);
    let torn = whole.clone() + r#"{"running":"fprop f3"#;
    assert_eq!(Replay::read(&torn).expect("a torn log"), Replay::read(&whole).expect("a sound log"));
    for (broken, line) in [("{\"running\":\"nonsense\"}\n", 1), ("\n[]\n", 2)] {
        assert_eq!(Replay::read(broken).expect_err("a broken log").line, line);
    }
    assert!(Replay::read("").expect("an empty log").is_empty());
}

#[test]
fn a_log_says_what_it_is_about() {
    let [case, other] = ["n2", "n3"].map(|n| parse(&format!("fprop f32 nchw {n} c1 k1 i1 f1")));
    let replay = Replay::read(&log(&[Replay::began(&case)])).expect("a sound log");
    assert_eq!([replay.is_about(&case), replay.is_about(&other)], [true, false]);
    let old = Replay::began(&case).replace(EDIT_LIST, "v0");
    assert!(!Replay::read(&log(&[old])).expect("a sound log").is_about(&case), "other questions");
    assert!(!Replay::default().is_about(&case));
}
