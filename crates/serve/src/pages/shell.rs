//! What all pages have around them.

const SHELL: &str = include_str!("assets/shell.html");

/// A page.
#[derive(Debug)]
pub(super) struct PageFile {
    /// The path at which it is served.
    pub path: &'static str,
    /// The name of its script, without the ending.
    name: &'static str,
    /// Its name in the navigation and in the title of the window.
    title: &'static str,
    /// What stands in `main`.
    main: &'static str,
}

/// All pages, in the order of the navigation.
pub(super) const PAGES: &[PageFile] = &[
    PageFile { path: "/", name: "search", title: "Search", main: include_str!("assets/search.html") },
    PageFile { path: "/document", name: "document", title: "Document", main: include_str!("assets/document.html") },
    PageFile { path: "/compare", name: "compare", title: "Compare", main: include_str!("assets/compare.html") },
    PageFile { path: "/status", name: "status", title: "Status", main: include_str!("assets/status.html") },
];

/// Returns the whole page.
pub(super) fn html(page: &PageFile) -> String {
    let link = |other: &PageFile| {
        let address = if other.path == "/" { "./" } else { other.path.trim_start_matches('/') };
        let current = if other.path == page.path { " aria-current=\"page\"" } else { "" };
        format!("<a href=\"{address}\"{current}>{}</a>", other.title)
    };
    let nav: Vec<String> = PAGES.iter().map(link).collect();
    SHELL
        .replace("{{title}}", page.title)
        .replace("{{name}}", page.name)
        .replace("{{nav}}", &nav.join("\n"))
        .replace("{{main}}", page.main.trim_end())
}
