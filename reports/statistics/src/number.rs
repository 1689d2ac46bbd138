//! Numbers as people read them: three significant digits and a prefix.

/// Rounds to three significant digits, so that 999.7 becomes 1000 before a prefix is chosen.
fn three_digits(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let scale = 10_f64.powi(2 - value.abs().log10().floor() as i32);
    let rounded = (value * scale).round() / scale;
    // Near the ends of floating point there is no such scale.
    if rounded.is_finite() { rounded } else { value }
}

fn digits(value: f64) -> String {
    match value.abs() {
        v if v >= 1e9 => format!("{value:.2e}"),
        v if v >= 99.95 => format!("{value:.0}"),
        v if v >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

fn prefixed(value: f64, steps: &[(f64, &str)]) -> String {
    let value = three_digits(value);
    let &(size, prefix) = steps
        .iter()
        .find(|(size, _)| value.abs() >= *size)
        .or(steps.last())
        .expect("there is always a step");
    format!("{} {prefix}", digits(value / size))
        .trim_end()
        .to_owned()
}

/// With an SI prefix: `12.3 M`, `950 k`, `0.25`.
pub fn si(value: f64) -> String {
    prefixed(value, &[(1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")])
}

/// A time given in nanoseconds: `850 ns`, `1.23 µs`, `79.1 ms`.
pub fn nanos(value: f64) -> String {
    prefixed(value, &[(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")])
}

/// Whether that unit is nanoseconds, possibly per something or of something: `ns`, `ns/op`, `ns CPU`.
fn is_nanos(unit: &str) -> bool {
    unit == "ns" || unit.starts_with("ns/") || unit.starts_with("ns ")
}

/// The unit of a makespan, divided by the ideal one. Shown is its excess over the ideal, in percent.
const IDEAL: &str = "x ideal";

/// A value in a scenario's unit, without the part of the unit that the prefix does not include: `12.3 M` of messages/s,
/// `850 ns`.
pub fn value(value: f64, unit: &str) -> String {
    if is_nanos(unit) {
        nanos(value)
    } else if unit == IDEAL {
        let percent = (value - 1.0) * 100.0;
        let percent = if percent.abs() < 0.05 { 0.0 } else { percent };
        format!("{percent:.1} %")
    } else {
        si(value)
    }
}

/// A value with its whole unit: `12.3 M messages/s`, `850 ns`.
pub fn value_with_unit(value: f64, unit: &str) -> String {
    if is_nanos(unit) {
        format!("{}{}", nanos(value), unit.trim_start_matches("ns"))
    } else if unit == IDEAL {
        format!("{} over ideal", self::value(value, unit))
    } else {
        format!("{} {unit}", si(value))
    }
}

/// A round value on an axis: `10 M`, `2.5 k`, `500 ns`.
pub fn tick(of: f64, unit: &str) -> String {
    if of == 0.0 {
        return "0".to_owned();
    }
    let text = value(of, unit);
    match text.split_once(' ') {
        Some((number, prefix)) => format!("{} {prefix}", trimmed(number)),
        None => trimmed(&text).to_owned(),
    }
}

/// Without trailing zeros.
fn trimmed(number: &str) -> &str {
    if number.contains('.') {
        number.trim_end_matches('0').trim_end_matches('.')
    } else {
        number
    }
}

/// The name of an axis, column or row with numbers that include the prefix: `messages/s`. Nanoseconds include the unit,
/// too: `time`, `time per op`, `CPU time`.
pub fn axis_name(unit: &str) -> String {
    match unit.strip_prefix("ns") {
        Some(of) if is_nanos(unit) => match of.strip_prefix(' ') {
            Some(what) => format!("{what} time"),
            None => format!("time{}", of.replace('/', " per ")),
        },
        _ if unit == IDEAL => "over ideal".to_owned(),
        _ => unit.to_owned(),
    }
}

/// An interval in a scenario's unit: `12.1–12.6 M` when both ends share a prefix.
pub fn interval(lo: f64, hi: f64, unit: &str) -> String {
    let (lo, hi) = (value(lo, unit), value(hi, unit));
    match (lo.split_once(' '), hi.split_once(' ')) {
        (Some((number, prefix)), Some((_, other))) if prefix == other => format!("{number}–{hi}"),
        _ => format!("{lo}–{hi}"),
    }
}

/// A ratio: two decimals, more where it is small.
pub fn ratio(value: f64) -> String {
    match value {
        v if v >= 0.0995 => format!("{v:.2}"),
        v if v >= 0.00995 => format!("{v:.3}"),
        v => format!("{v:.4}"),
    }
}

/// A ratio as a sort key, in as few characters as four decimals need: a page has thousands of them.
pub fn sorted(ratio: f64) -> String {
    let text = format!("{ratio:.4}");
    match text.trim_start_matches('0').trim_end_matches('0') {
        "." => "0".to_owned(),
        short => short.trim_end_matches('.').to_owned(),
    }
}

/// An interval of ratios.
pub fn ratio_interval(lo: f64, hi: f64) -> String {
    format!("{}–{}", ratio(lo), ratio(hi))
}

/// A share as percent: `3 %`, `0.4 %`.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent >= 9.95 {
        format!("{percent:.0} %")
    } else {
        format!("{percent:.1} %")
    }
}

/// A percentile's name: `p50`, `p99.9`, `p99.985`.
pub fn percentile(quantile: f64) -> String {
    let mut text = format!("{:.6}", quantile * 100.0);
    while text.ends_with('0') {
        text.pop();
    }
    let text = text.trim_end_matches('.');
    // Between the round ones, as many digits as distinguish it from the next ones.
    let nines = text.bytes().filter(|&b| b == b'9').count();
    let short: String = text.chars().take(nines + 4).collect();
    format!("p{}", short.trim_end_matches('.'))
}

/// Bytes: `8 B`, `32 KiB`.
pub fn bytes(value: u64) -> String {
    let steps = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match steps.iter().find(|(size, _)| value >= *size) {
        Some((size, prefix)) if value.is_multiple_of(*size) => format!("{} {prefix}", value / size),
        Some((size, prefix)) => format!("{:.1} {prefix}", value as f64 / *size as f64),
        None => format!("{value} B"),
    }
}

/// A count with thin groups: `10 000`.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) && digits.len() > 4 {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_and_a_prefix() {
        assert_eq!(si(12_345_678.0), "12.3 M");
        assert_eq!(si(999_960.0), "1.00 M");
        assert_eq!(si(950.0), "950");
        assert_eq!(si(0.25), "0.25");
        assert_eq!(nanos(849.7), "850 ns");
        assert_eq!(nanos(79_100.0), "79.1 µs");
        assert_eq!(si(f64::MAX), "1.80e299 G");
        assert_eq!(nanos(5e-324), "0.00 ns");
    }

    #[test]
    fn a_unit_follows_its_number() {
        assert_eq!(value_with_unit(12.3e6, "messages/s"), "12.3 M messages/s");
        assert_eq!(value_with_unit(123.0, "messages/s"), "123 messages/s");
        assert_eq!(value_with_unit(850.0, "ns"), "850 ns");
        assert_eq!(value_with_unit(25.0, "ns/op"), "25.0 ns/op");
        assert_eq!(value_with_unit(2_300.0, "ns CPU"), "2.30 µs CPU");
    }

    #[test]
    fn a_head_has_no_unit_that_its_numbers_have() {
        let heads = ["ns", "ns/op", "ns CPU", "messages/s", "nsx"].map(axis_name);
        let expected = ["time", "time per op", "CPU time", "messages/s", "nsx"];
        assert_eq!(heads, expected);
    }

    #[test]
    fn an_interval_says_its_prefix_once() {
        assert_eq!(interval(12.1e6, 12.6e6, "messages/s"), "12.1–12.6 M");
        assert_eq!(interval(0.9e6, 1.2e6, "messages/s"), "900 k–1.20 M");
        assert_eq!(interval(850.0, 900.0, "ns"), "850–900 ns");
        assert_eq!(ratio_interval(0.82, 0.881), "0.82–0.88");
    }

    #[test]
    fn what_is_sorted_by_has_no_digit_too_many() {
        let ratios = [1.0, 0.85, 0.98764, 0.00001, 12.5];
        assert_eq!(ratios.map(sorted), ["1", ".85", ".9876", "0", "12.5"]);
    }

    #[test]
    fn a_tick_has_no_empty_digits() {
        assert_eq!(tick(10e6, "messages/s"), "10 M");
        assert_eq!(tick(2_500.0, "messages/s"), "2.5 k");
        assert_eq!(tick(500.0, "ns"), "500 ns");
        assert_eq!(tick(0.0, "ns"), "0");
        assert_eq!(tick(200.0, "messages/s"), "200");
    }

    #[test]
    fn percentiles_keep_the_digits_that_matter() {
        assert_eq!(percentile(0.5), "p50");
        assert_eq!(percentile(0.99), "p99");
        assert_eq!(percentile(0.999), "p99.9");
        assert_eq!(percentile(1.0 - 1.0 / 650.0), "p99.846");
        assert_eq!(percentile(0.0), "p0");
    }

    #[test]
    fn bytes_and_counts() {
        assert_eq!(bytes(8), "8 B");
        assert_eq!(bytes(32 * 1024), "32 KiB");
        assert_eq!(bytes(1536), "1.5 KiB");
        assert_eq!(count(1_234_567), "1\u{202f}234\u{202f}567");
        assert_eq!(count(1234), "1234");
    }
}
