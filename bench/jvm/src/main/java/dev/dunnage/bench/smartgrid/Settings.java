package dev.dunnage.bench.smartgrid;

import dev.dunnage.bench.Schedule;
import dev.dunnage.bench.iec61850.LogicalNodes;
import java.util.List;

/**
 * The settings of a run.
 *
 * @param quick whether the run must end in about five minutes on two cores that do nothing else
 * @param classes the names of the logical nodes; none for all of them
 */
public record Settings(boolean quick, Fill fill, List<String> classes) {
    /** The serializers whose messages a quick run compresses with all compressors: text, and binary with and without names. */
    static final List<String> QUICK_COMPRESSED = List.of("xml-jaxb", "json-jackson", "cbor-jackson", "protobuf-protostuff");

    /** A quick run has three classes unless others are named. */
    public Settings {
        if (quick && classes.isEmpty()) {
            classes = Sizes.SHOWN;
        }
        Model.named(classes);
    }

    Schedule serializerSchedule() {
        return quick ? new Schedule(1, 1, 600, 10, 40) : new Schedule(2, 6, 1000, 5, 1000);
    }

    /** Compressors are native code, which no other code of the JVM makes slower; so a quick run needs no fork for them. */
    Schedule compressorSchedule() {
        return quick ? new Schedule(0, 1, 100, 5, 20) : new Schedule(1, 3, 500, 5, 300);
    }

    /**
     * The settings for the memory, which a thousand runs over all classes would measure for hours: three classes, and one in a quick run. Classes
     * that are named stay.
     */
    Settings ofMemory() {
        if (quick && classes.equals(Sizes.SHOWN)) {
            return new Settings(true, fill, List.of("XCBR"));
        }
        return classes.isEmpty() ? new Settings(false, fill, Sizes.SHOWN) : this;
    }

    /** The names for the benchmarks' parameter. */
    String classNames() {
        return String.join(" ", classes);
    }

    int messages() {
        return classes.isEmpty() ? LogicalNodes.ALL.size() : classes.size();
    }

    String fillOption() {
        return "fill: " + fill.name().toLowerCase();
    }

    /** The options of a figure. */
    String describe() {
        String names = messages() <= 5 ? " (" + classNames() + ")" : "";
        return "%s, classes: %d%s".formatted(fillOption(), messages(), names);
    }
}
