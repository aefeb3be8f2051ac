package dev.dunnage.bench.record;

/** A measured figure: a line of bench/results, as bench/record.schema.json specifies it. */
public record Figure(
        String suite,
        String payload,
        Subject subject,
        String operation,
        String metric,
        double value,
        String unit,
        Long repetitions,
        Spread spread,
        String options,
        String note) {

    /** The subject of the figure: the format, and the library that wrote it. A comparison of libraries has no version. */
    public record Subject(String format, String library, String version) {}

    /** A figure without a value yet. */
    public static Figure of(String suite, String payload, Subject subject, String operation, String metric, String unit) {
        return new Figure(suite, payload, subject, operation, metric, Double.NaN, unit, null, null, null, null);
    }

    public Figure value(double value) {
        return new Figure(suite, payload, subject, operation, metric, value, unit, repetitions, spread, options, note);
    }

    public Figure repeated(long repetitions, Spread spread) {
        return new Figure(suite, payload, subject, operation, metric, value, unit, repetitions, spread, options, note);
    }

    public Figure options(String options) {
        return new Figure(suite, payload, subject, operation, metric, value, unit, repetitions, spread, options, note);
    }

    public Figure note(String note) {
        return new Figure(suite, payload, subject, operation, metric, value, unit, repetitions, spread, options, note);
    }
}
