//! The few shapes that the pictures are made of. Knows SVG's syntax and that text in it must be escaped.

use std::fmt::Write;

use crate::escape::for_html;

/// Width of a character of the small type, in units of the drawing.
const CHARACTER: f64 = 6.7;

/// A drawing that grows shape by shape.
pub(super) struct Drawing {
    width: f64,
    height: f64,
    shapes: String,
}

/// Where a text is held.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Drawing {
    pub(super) fn new(width: f64, height: f64) -> Self {
        Self { width, height, shapes: String::new() }
    }

    pub(super) fn rectangle(&mut self, class: &str, (x, y): (f64, f64), (width, height): (f64, f64)) {
        self.push(format_args!(
            r#"<rect class="{class}" x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}"/>"#
        ));
    }

    pub(super) fn circle(&mut self, class: &str, (x, y): (f64, f64), radius: f64) {
        self.push(format_args!(r#"<circle class="{class}" cx="{x:.1}" cy="{y:.1}" r="{radius:.1}"/>"#));
    }

    pub(super) fn lines(&mut self, class: &str, points: &[(f64, f64)]) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        self.push(format_args!(r#"<polyline class="{class}" points="{}"/>"#, points.join(" ")));
    }

    pub(super) fn text(&mut self, class: &str, (x, y): (f64, f64), anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = for_html(text);
        self.push(format_args!(
            r#"<text class="{class}" x="{x:.1}" y="{y:.1}" text-anchor="{anchor}">{text}</text>"#
        ));
    }

    fn push(&mut self, shape: std::fmt::Arguments<'_>) {
        // Writing into a String cannot fail.
        let _ = self.shapes.write_fmt(shape);
    }

    /// The element, with what a reader who cannot see it is told.
    pub(super) fn finish(self, label: &str) -> String {
        let Self { width, height, shapes } = self;
        format!(
            r#"<svg class="picture" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0} {height:.0}" width="{width:.0}" height="{height:.0}" role="img" aria-label="{}">{shapes}</svg>"#,
            // A `>` is escaped too, so that the first one ends the tag.
            for_html(label)
        )
    }
}

/// Width of a text in small type.
pub(super) fn width_of(text: &str) -> f64 {
    text.chars().count() as f64 * CHARACTER
}

/// A picture of one sentence.
pub(super) fn note(text: &str) -> String {
    let mut drawing = Drawing::new(width_of(text) + 24.0, 36.0);
    drawing.text("label", (12.0, 23.0), Anchor::Start, text);
    drawing.finish(text)
}
