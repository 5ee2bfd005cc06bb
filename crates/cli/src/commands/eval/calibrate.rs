//! `pericope eval calibrate`

use pericope_eval::calibrate::{BiasTrend, Calibration, Figure, read};
use pericope_eval::metric::Metric;
use pericope_eval::record::FEW_DOCUMENTS;

use super::args::CalibrateArgs;
use crate::commands::print_json;
use crate::input;
use crate::status::{Failure, Outcome, Status};

pub fn run(args: CalibrateArgs) -> Outcome {
    let metric = metric(&args.metric)?;
    let labelled = read(&args.labels, args.run.as_deref(), &metric).map_err(Failure::usage)?;
    let left_out = input::report(&labelled.left_out);
    let found = labelled.calibrate(args.seed);
    if args.json {
        print_json(&found)?;
    } else {
        show(&found)?;
    }
    Ok(if left_out > 0 { Status::Incomplete } else { Status::Done })
}

/// What holds the judge's scores: a metric, or the lexical judge beside a model.
fn metric(name: &str) -> Result<Metric, Failure> {
    const LEXICAL: &str = "judge_lexical";
    if name == LEXICAL {
        return Ok(Metric::named(name));
    }
    name.parse::<Metric>().map_err(|unknown| Failure::usage(format!("--metric {unknown}, {LEXICAL}")))
}

fn show(found: &Calibration) -> std::io::Result<()> {
    if let Some(judge) = &found.judge {
        say!("Judge: {judge}");
    }
    say!(
        "{} that a person and the judge scored, {}\n",
        plural(found.labels, "answer"),
        plural(found.clusters, found.unit)
    );
    say!("{:44} {:>7}  95 % interval", "", "");
    let rows = [
        ("Cohen's kappa, quadratic weights", found.kappa_quadratic),
        ("Cohen's kappa, linear weights", found.kappa_linear),
        ("Pearson's correlation", found.pearson),
        ("Spearman's correlation", found.spearman),
        ("share with the same whole score", found.same),
        ("share within 1 point", found.within_one),
        ("judge less person, points of 10", found.bias),
    ];
    for (name, value) in rows {
        line(name, value)?;
    }
    if let Some(trend) = &found.by_length {
        say!("\nBy length of the answer, {}", plural(trend.labels, "answer"));
        line("correlation of judge less person with length", trend.spearman)?;
        line("points for every 100 words more", trend.slope)?;
        groups(trend, "words")?;
    }
    if let Some(trend) = &found.by_position {
        say!("\nBy position of the answer, {}", plural(trend.labels, "answer"));
        line("correlation of judge less person with it", trend.spearman)?;
        line("points for every position further down", trend.slope)?;
        groups(trend, "position")?;
    }
    if !found.pairwise.is_empty() {
        say!("\nComparisons pair by pair: verdicts that changed with the order of the answers");
        for row in &found.pairwise {
            let bias = row.position_bias().map_or_else(|| "-".to_owned(), |share| format!("{:.1} %", 100.0 * share));
            say!(
                "  {} against {}, {}, {}: {bias} ({} of {}; {} of them towards the first)",
                row.chunker,
                row.baseline,
                row.cutoff.label().replace('\u{a0}', " "),
                row.mode,
                row.order_changes,
                row.n - row.same.min(row.n),
                row.towards_first
            );
        }
    }
    if found.clusters < FEW_DOCUMENTS {
        say!("\nFewer than {FEW_DOCUMENTS} {}s: no interval can be trusted.", found.unit);
    }
    Ok(())
}

fn line(name: &str, figure: Figure) -> std::io::Result<()> {
    say!("{name:44} {:>7}  {}", number(figure.value), interval(figure));
    Ok(())
}

fn groups(trend: &BiasTrend, what: &str) -> std::io::Result<()> {
    say!("  {:>13} {:>8} {:>8} {:>8} {:>8}  95 % interval", what, "answers", "person", "judge", "less");
    for group in &trend.groups {
        let range =
            if group.from == group.to { group.from.to_string() } else { format!("{}-{}", group.from, group.to) };
        say!(
            "  {range:>13} {:>8} {:>8} {:>8} {:>8}  {}",
            group.labels,
            number(group.human),
            number(group.judge),
            number(group.bias.value),
            interval(group.bias)
        );
    }
    Ok(())
}

/// `3 answers`, with a plain space.
fn plural(n: usize, noun: &str) -> String {
    pericope_eval::format::plural(n, noun).replace('\u{a0}', " ")
}

fn number(x: f64) -> String {
    if x.is_finite() { format!("{x:.2}") } else { "-".to_owned() }
}

fn interval(figure: Figure) -> String {
    figure.interval.map_or_else(|| "-".to_owned(), |[low, high]| format!("{low:.2} to {high:.2}"))
}
