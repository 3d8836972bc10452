//! Text that stands in a page.

use madrigal_core::text::is_plain;

/// The most characters of a name.
const LETTERS: usize = 100;

/// A text as it is, whatever it holds: nothing of it is read as HTML. What a reader could not see is replaced.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other if !is_plain(other) => safe.push('\u{fffd}'),
            other => safe.push(other),
        }
    }
    safe
}

/// A name out of a file: as text, and its beginning alone where it is long.
pub(crate) fn name(text: &str) -> String {
    match text.chars().count() > LETTERS {
        true => escaped(&text.chars().take(LETTERS).collect::<String>()) + "…",
        false => escaped(text),
    }
}

/// A row of a table: cells of HTML.
pub(crate) fn row(cells: impl IntoIterator<Item = String>) -> String {
    let cells: String = cells
        .into_iter()
        .map(|cell| format!("<td>{cell}</td>"))
        .collect();
    format!("<tr>{cells}</tr>\n")
}

/// A table with a header.
pub(crate) fn table(class: &str, header: &[&str], rows: &str) -> String {
    let header: String = header
        .iter()
        .map(|cell| format!("<th scope=\"col\">{cell}</th>"))
        .collect();
    format!(
        "<div class=\"wide\"><table class=\"{class}\"><thead><tr>{header}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_text_is_markup() {
        let hostile = "<img src=x onerror='a()'>&\"\u{0}\u{202e}\u{2028}";
        assert_eq!(
            escaped(hostile),
            "&lt;img src=x onerror=&#39;a()&#39;&gt;&amp;&quot;\u{fffd}\u{fffd}\u{fffd}"
        );
        let long = name(&"<".repeat(1000));
        assert_eq!(long, "&lt;".repeat(100) + "…");
    }
}
