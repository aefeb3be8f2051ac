package dev.dunnage.bench.record;

/** The interval around a figure, in its unit. {@code of} says what the ends are. */
public record Spread(double low, double high, String of) {}
