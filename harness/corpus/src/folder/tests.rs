//! Folders of entries, good and bad. Knows no expectation.

use super::*;

fn entry(line: &str) -> Entry {
    Entry::new(&line.parse().expect("a case"), None, Vec::new())
}

fn put(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, text).expect("a file");
}

#[test]
fn entries_lie_one_a_file_and_one_a_bundle_and_nothing_else_is_taken_for_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    put(root, "seeds/b.json", &entry("fprop f32 nchw n1 c1 k1 i4 f1").print());
    put(root, "seeds/README.md", "no entry");
    put(root, "known.json", "{}");
    put(root, "regressions/a/regression.case.json", &entry("dgrad f32 nchw n1 c1 k1 i4 f1").print());
    put(root, "regressions/a/verdict.json", "{}");
    let corpus = Corpus::read(&[root.to_owned(), root.join("seeds")]);
    assert!(corpus.troubles.is_empty(), "{:?}", corpus.troubles);
    let ids: Vec<&str> = corpus.listed.iter().map(|listed| listed.id.as_str()).collect();
    assert_eq!(ids, ["regressions/a", "seeds/b"]);
    assert_eq!(corpus.listed[0].bundle(), Some(root.join("regressions/a").as_path()));
    assert_eq!(corpus.listed[1].bundle(), None);
}

#[test]
fn what_cannot_be_read_is_told_and_the_rest_is_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    put(root, "a.json", &entry("fprop f32 nchw n1 c1 k1 i4 f1").print());
    put(root, "b.json", &entry("fprop f32 nchw n1 c1 k1 i4 f1").print());
    put(root, "c.json", "{");
    put(root, "d.json", &"x".repeat(2 << 20));
    fs::write(root.join("e.json"), [0xff, 0xfe]).expect("a file");
    let empty = root.join("empty");
    fs::create_dir(&empty).expect("a folder");
    let corpus = Corpus::read(&[root.to_owned(), root.join("gone"), empty]);
    assert_eq!(corpus.listed.len(), 1);
    let troubles: Vec<String> = corpus.troubles.iter().map(ToString::to_string).collect();
    let all = troubles.join("\n");
    assert_eq!(troubles.len(), 6, "{all}");
    for words in
        ["c.json: ", "d.json: more than", "e.json: is no UTF-8", "gone: ", "empty: no entry of a corpus"]
    {
        assert!(all.contains(words), "{words}: {all}");
    }
    assert!(all.contains("b.json: the same case as ") && all.contains("a.json"), "{all}");
}

#[test]
fn another_entry_takes_the_place_of_the_first_at_one_stroke() {
    let folder = tempfile::tempdir().expect("a folder");
    put(folder.path(), "a.json", &entry("fprop f32 nchw n1 c1 k1 i4 f1").print());
    let listed = Corpus::read(&[folder.path().join("a.json")]).listed.remove(0);
    let other = entry("wgrad f32 nchw n1 c1 k1 i4 f1");
    listed.replace(&other).expect("replaced");
    assert_eq!(Corpus::read(std::slice::from_ref(&listed.path)).listed[0].entry, other);
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
}
