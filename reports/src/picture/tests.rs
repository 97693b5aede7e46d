//! Pictures: what they mark, what they have in common, and what they say they leave out.

use case::{Case, Kind};

use super::{ErrorMap, Picture, ReductionPath, RegionMap};
use crate::sample::Sample;

const LINE: &str = "fprop f32 nchw n1 c1 k4 i6x8 f1x1 engine=25 fill=int2:1";

/// The map of an output of extents 1, 4, 6, 8 with those positions listed.
fn map_of(listed: &[u64], differing: u64) -> ErrorMap {
    let mut sample = Sample::new(Kind::Wrong, LINE);
    let execution = &mut sample.outcome.observation.as_mut().unwrap().executions[0];
    execution.excerpt = listed.iter().map(|at| (*at, "1".to_owned(), "2".to_owned())).collect();
    execution.census.checked = 192;
    execution.census.differing = differing;
    execution.census.first_differing = *listed.first().unwrap_or(&0);
    execution.census.last_differing = *listed.last().unwrap_or(&0);
    let finding = sample.finding();
    ErrorMap::of(finding.case, finding.telling_execution().unwrap()).unwrap()
}

#[test]
fn the_error_map_marks_the_listed_elements_plane_by_plane() {
    // k1 h0 w7, k1 h5 w7, k2 h0 w7
    let text = Picture::Errors(map_of(&[55, 95, 103], 3)).text();
    let planes: Vec<&str> = text.split("\n\n").collect();
    assert_eq!(planes[0], "h 0 to 5 downwards, w 0 to 7 across");
    assert_eq!(planes[1], "n0 k1\n.......#\n........\n........\n........\n........\n.......#");
    assert!(planes[2].starts_with("n0 k2\n.......#"), "{text}");
    assert_eq!(planes.len(), 3);
}

#[test]
fn what_listed_elements_share_is_told_and_nothing_else() {
    let says = |listed: &[u64], differing| map_of(listed, differing).pattern().join("; ");
    assert_eq!(
        says(&[55, 95, 103], 3),
        "k is between 1 and 2; all lie on the border of h: 0 or 5; all have w = 7, the last one"
    );
    assert_eq!(
        says(&[0, 1, 2], 3),
        "all have k = 0, the first one; all have h = 0, the first one; w is between 0 and 2; they follow one another \
         in the output's order"
    );
    assert_eq!(says(&[1, 3, 5, 105, 111, 191], 6), "all have w mod 2 = 1");
    assert_eq!(says(&[7], 1), "");
}

#[test]
fn the_caption_tells_when_more_is_wrong_than_is_drawn() {
    let all = Picture::Errors(map_of(&[1, 2], 2)).caption();
    assert!(all.starts_with("All 2 elements"), "{all}");
    let some = Picture::Errors(map_of(&[1, 2], 90)).caption();
    assert!(some.starts_with("Drawn are the first 2 of the 90"), "{some}");
}

#[test]
fn a_large_output_is_drawn_in_cells_of_several_elements() {
    let mut sample = Sample::new(Kind::Wrong, "fprop f32 nchw n1 c1 k1 i500x100 f1x1 engine=25");
    sample.outcome.observation.as_mut().unwrap().executions[0].excerpt =
        vec![(49_999, "1".to_owned(), "2".to_owned())];
    let finding = sample.finding();
    let picture = Picture::Errors(ErrorMap::of(finding.case, finding.telling_execution().unwrap()).unwrap());
    assert!(picture.caption().contains("A cell stands for 11 x 3 elements."), "{}", picture.caption());
    let lines: Vec<String> = picture.text().lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), 3 + 46);
    assert!(lines.last().unwrap().ends_with("#"), "{lines:?}");
}

#[test]
fn a_failure_that_shows_in_no_values_has_no_error_map() {
    let mut sample = Sample::new(Kind::Wrong, LINE);
    sample.outcome.observation.as_mut().unwrap().executions[0].excerpt.clear();
    let finding = sample.finding();
    assert_eq!(ErrorMap::of(finding.case, finding.telling_execution().unwrap()), None);
}

#[test]
fn the_region_map_shows_each_cell_and_where_the_case_lies() {
    let sample = Sample::new(Kind::Wrong, "dgrad f16 nchw n2 c16 k32 i14x14 f3x3 p1x1 engine=25");
    let map = sample.explanation.as_ref().and_then(|explanation| explanation.map.as_ref()).unwrap();
    let text = Picture::Region(RegionMap::of(map, &sample.case)).text();
    let expected = "c downwards, input[-1] across\n\n   12  13  14  15  16\n \
                    4  \u{b7}   \u{b7}   \u{b7}   \u{b7}   \u{b7}\n \
                    7  \u{b7}   \u{b7}   \u{b7}   \u{b7}   \u{b7}\n \
                    8  \u{b7}   \u{b7}   \u{d7}   \u{b7}   \u{b7}\n16  \u{b7}   \u{b7}   \u{d7}<  \u{b7}   \u{b7}";
    assert_eq!(text, expected);
}

#[test]
fn the_reduction_path_leads_from_the_original_over_what_was_adopted() {
    let sample = Sample::new(Kind::Wrong, LINE);
    let log = sample.minimization.log.join("\n");
    let path = ReductionPath::of(&sample.original, &log).unwrap();
    assert_eq!(path.steps.len(), 5);
    assert_eq!(path.steps[0].case, sample.original.to_string());
    assert!(path.steps.windows(2).all(|pair| pair[0].bytes > pair[1].bytes && pair[0].call < pair[1].call));
    assert!(Picture::Path(path).caption().contains("over 31 calls"));
}

#[test]
fn a_log_of_another_make_leaves_lines_out_and_breaks_nothing() {
    let original: Case = LINE.parse().unwrap();
    let log = "no json\n{\"call\":1}\n{\"call\":\"x\",\"accepted\":true,\"case\":\"fprop\"}\n\
               {\"call\":7,\"accepted\":true,\"case\":\"fprop f32 nchw n1 c1 k1 i1x4 f1x1\"}\n";
    assert_eq!(ReductionPath::of(&original, log).unwrap().steps[1].call, 7);
    assert_eq!(ReductionPath::of(&original, "{\"call\":1,\"accepted\":false}"), None);
    assert_eq!(ReductionPath::of(&original, ""), None);
}

#[test]
fn a_picture_file_stands_alone_and_says_why_where_there_is_none() {
    let file = Picture::file(Some(&Picture::Errors(map_of(&[1], 1))), "none");
    assert!(file.starts_with("<svg ") && file.trim_end().ends_with("</svg>"));
    assert_eq!(file.matches("<style>").count(), 1);
    assert!(Picture::file(None, "not <checked>").contains(">not &lt;checked&gt;</text>"));
}
