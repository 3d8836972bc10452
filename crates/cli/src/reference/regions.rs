//! Parts of a page that are made, between two comments that no reader sees.

const BEGIN: &str = "<!-- begin ";
const END: &str = "<!-- end -->";

/// The name of the region that a line begins.
pub fn begins(line: &str) -> Option<&str> {
    line.strip_prefix(BEGIN)?.strip_suffix(" -->")
}

/// The page with what `make` gives for the name of each region in its place.
pub fn fill(page: &str, make: impl Fn(&str) -> String) -> String {
    let mut made = String::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        made += line;
        made.push('\n');
        if let Some(region) = begins(line) {
            made += &make(region);
            assert!(lines.any(|line| line == END), "{region} has no end");
            made += END;
            made.push('\n');
        }
    }
    made
}

#[test]
fn what_lies_between_the_marks_is_replaced() {
    let page = "a\n<!-- begin x -->\nold\n<!-- end -->\nb\n";
    let made = fill(page, |region| format!("new {region}\n"));
    assert_eq!(made, "a\n<!-- begin x -->\nnew x\n<!-- end -->\nb\n");
    assert_eq!(fill(&made, |region| format!("new {region}\n")), made);
}
