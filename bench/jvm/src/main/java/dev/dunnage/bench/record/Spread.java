package dev.dunnage.bench.record;

/** The interval around a figure, in its unit. {@code of} is the meaning of the ends. */
public record Spread(double low, double high, String of) {}
