package dev.dunnage.bench.smartgrid;

import dev.dunnage.bench.Description;
import dev.dunnage.bench.record.Figure;
import dev.dunnage.bench.record.Figure.Subject;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * The comparisons of the paper's section IV, computed from our figures for the paper's serializers. The paper prints these numbers; its bar
 * charts have no others. JAXB counts with a cached context.
 */
final class Comparisons {
    private static final String BOTH_WAYS = "serialize and deserialize";

    private final List<Description> serializers;
    private final Map<String, Subject> subjects;
    private final List<Figure> measured;
    private final String options;

    /** @param subjects the serializers that were measured, by id */
    Comparisons(Map<String, Subject> subjects, List<Figure> measured, String options) {
        this.subjects = subjects;
        this.measured = measured;
        this.options = options;
        this.serializers = subjects.keySet().stream()
                .map(Description::of)
                .filter(row -> row.paper() != null && !row.id().equals("xml-jaxb-uncached"))
                .toList();
    }

    List<Figure> figures() {
        List<Figure> figures = new ArrayList<>();
        Predicate<Description> text = row -> row.encoding().equals("Text");
        Predicate<Description> neutralBinary = row -> !text.test(row) && row.languageNeutral().equals("Yes");
        addTimeRatio(figures, "json", row -> row.format().equals("json"));
        addTimeRatio(figures, "text", text);
        addTimeRatio(figures, "language-neutral binary", neutralBinary);
        DoubleSummaryStatistics sizes = sizes(neutralBinary);
        figures.add(figure("language-neutral binary", "largest to smallest", "serialize", "size_ratio", "1")
                .value(sizes.getMax() / sizes.getMin()));
        sizes = sizes(text.and(row -> !row.id().equals("json-protostuff")));
        figures.add(figure("text", "largest to smallest", "serialize", "saving", "%")
                .value(100 * (1 - sizes.getMin() / sizes.getMax())));
        addJavaSpecific(figures);
        addMemory(figures);
        // A group in which no serializer could be measured has no ratio.
        figures.removeIf(figure -> !Double.isFinite(figure.value()));
        return figures;
    }

    private void addTimeRatio(List<Figure> figures, String group, Predicate<Description> members) {
        DoubleSummaryStatistics times = times(members);
        figures.add(figure(group, "slowest to fastest", BOTH_WAYS, "time_ratio", "1").value(times.getMax() / times.getMin()));
    }

    private void addJavaSpecific(List<Figure> figures) {
        Predicate<Description> jdk = row -> row.id().equals("jsa");
        Predicate<Description> kryo = row -> row.id().equals("kryo");
        figures.add(figure("java-specific", "JDK to Kryo", "serialize", "size_ratio", "1")
                .value(sizes(jdk).getMax() / sizes(kryo).getMax()));
        figures.add(figure("java-specific", "JDK to Kryo", BOTH_WAYS, "time_ratio", "1")
                .value(times(jdk).getMax() / times(kryo).getMax()));
    }

    private DoubleSummaryStatistics sizes(Predicate<Description> members) {
        return serializers.stream().filter(members).mapToDouble(row -> value(row, "serialize", "bytes")).summaryStatistics();
    }

    private DoubleSummaryStatistics times(Predicate<Description> members) {
        return serializers.stream()
                .filter(members)
                .mapToDouble(row -> value(row, "serialize", "ns") + value(row, "deserialize", "ns"))
                .summaryStatistics();
    }

    /** The least and the most memory after the paper's 1000 runs, with the options of that measurement. */
    private void addMemory(List<Figure> figures) {
        List<Subject> ours = serializers.stream().map(row -> subjects.get(row.id())).toList();
        List<Figure> held = measured.stream()
                .filter(figure -> figure.metric().equals("held") && figure.operation().equals("serialize") && ours.contains(figure.subject()))
                .sorted(Comparator.comparingDouble(Figure::value))
                .toList();
        if (!held.isEmpty()) {
            add(figures, "smallest", held.get(0));
            add(figures, "largest", held.get(held.size() - 1));
        }
    }

    private void add(List<Figure> figures, String compared, Figure held) {
        figures.add(figure("all", compared, "serialize", "memory", "MB").value(held.value()).options(held.options()));
    }

    private double value(Description row, String operation, String metric) {
        return measured.stream()
                .filter(figure -> figure.payload().equals("average") && figure.subject().equals(subjects.get(row.id())))
                .filter(figure -> figure.operation().equals(operation) && figure.metric().equals(metric))
                .mapToDouble(Figure::value)
                .findFirst()
                .orElse(Double.NaN);
    }

    private Figure figure(String group, String compared, String operation, String metric, String unit) {
        return Figure.of(SmartGridSuite.NAME, "average", new Subject(group, compared, null), operation, metric, unit).options(options);
    }
}
