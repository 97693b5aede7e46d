//! What a verdict says where a check proves nothing: plain lines, no shape of Rust.

use crate::{Untrusted, WorkspaceFill};

#[test]
fn an_untrusted_check_says_why_in_a_plain_line() {
    for (why, line) in [
        (
            Untrusted::Vacuous { non_zero: 0, with_products: 32 },
            "only 0 of 32 outputs with products have a right answer other than 0, too few to tell anything",
        ),
        (
            Untrusted::Reference { sampled: 64, disagreeing: 3 },
            "the references on the device and on the CPU disagree at 3 of 64 sampled outputs",
        ),
        (Untrusted::Skipped("nothing was executed".to_owned()), "nothing was executed"),
    ] {
        assert_eq!(why.to_string(), line);
    }
}

#[test]
fn workspace_contents_print_as_the_case_line_spells_them() {
    let printed =
        [WorkspaceFill::Zero, WorkspaceFill::Ones, WorkspaceFill::Random(7)].map(|fill| fill.to_string());
    assert_eq!(printed, ["00", "ff", "rand:7"]);
}

#[test]
fn another_library_set_is_noticed_in_the_history_too() {
    let case = |line: &str| line.parse::<crate::Case>().unwrap();
    let (plain, here) = ("fprop f32 nchw n1 c1 k1 i1 f1", "9.19.0-full");
    assert_eq!(case(plain).other_set(here), None);
    assert_eq!(case(&format!("{plain} set=9.19.0-full ; {plain} set=9.19.0-full")).other_set(here), None);
    assert_eq!(case(&format!("{plain} set=9.14.0-full ; {plain}")).other_set(here), Some("9.14.0-full"));
    assert_eq!(case(&format!("{plain} ; {plain} set=9.14.0-full")).other_set(here), Some("9.14.0-full"));
}
