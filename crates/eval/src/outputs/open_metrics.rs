use pericope_util::sound;

/// Figures in the text format of OpenMetrics 1.0, gauges only. Prometheus's older text format reads the same file.
///
/// ```
/// use pericope_eval::outputs::{OpenMetrics, label};
/// let mut figures = OpenMetrics::default();
/// figures.gauge("pericope_questions", "Questions asked.");
/// figures.sample(&[label("experiment", "docs")], 80.0);
/// assert_eq!(
///     figures.finish(),
///     "# TYPE pericope_questions gauge\n# HELP pericope_questions Questions asked.\n\
///      pericope_questions{experiment=\"docs\"} 80.0\n# EOF\n"
/// );
/// ```
#[derive(Debug, Clone, Default)]
pub struct OpenMetrics {
    text: String,
    name: &'static str,
    head: Option<String>,
}

/// A label: a name of letters, digits and `_`, and any value.
pub type Label = (&'static str, String);

/// Returns a label.
#[must_use]
pub fn label(name: &'static str, value: impl Into<String>) -> Label {
    (name, value.into())
}

impl OpenMetrics {
    /// Begins a family of gauges: its name (letters, digits and `_`; in base units, `_seconds` at its end where it is a
    /// time), and what it is. A family without samples leaves nothing.
    pub fn gauge(&mut self, name: &'static str, help: &str) {
        self.name = name;
        let mut head = format!("# TYPE {name} gauge\n");
        if name.ends_with("_seconds") {
            head.push_str(&format!("# UNIT {name} seconds\n"));
        }
        head.push_str(&format!("# HELP {name} {}\n", escaped(help)));
        self.head = Some(head);
    }

    /// Adds a sample to the family begun last. Labels must differ from those of its other samples. A value that is not
    /// finite is left out: it was not measured.
    pub fn sample(&mut self, labels: &[Label], value: f64) {
        if !value.is_finite() {
            return;
        }
        if let Some(head) = self.head.take() {
            self.text.push_str(&head);
        }
        self.text.push_str(self.name);
        if !labels.is_empty() {
            let pairs: Vec<String> =
                labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
            self.text.push_str(&format!("{{{}}}", pairs.join(",")));
        }
        self.text.push_str(&format!(" {value:?}\n"));
    }

    /// Returns the file.
    #[must_use]
    pub fn finish(mut self) -> String {
        self.text.push_str("# EOF\n");
        self.text
    }
}

/// A text within quotes, on one line.
fn escaped(text: &str) -> String {
    sound(text).replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('\r', " ")
}
