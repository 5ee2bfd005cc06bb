#![allow(clippy::unwrap_used, clippy::expect_used)]
use super::is_under;

#[test]
fn roots_hold_what_lies_below_them() {
    for (name, root) in
        [("docs/a.md", "docs"), ("docs", "docs"), ("a/b/c", "a/b"), ("/x/y", "/"), ("a", ""), ("..a", "")]
    {
        assert!(is_under(name, root), "{name} in {root:?}");
    }
    for (name, root) in [("docs2/a.md", "docs"), ("doc", "docs"), ("/x", ""), ("../x", ""), ("..", ""), ("x", "/")] {
        assert!(!is_under(name, root), "{name} in {root:?}");
    }
}
