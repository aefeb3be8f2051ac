package dev.dunnage.bench.smartgrid;

import dev.dunnage.bench.record.Figure;
import dev.dunnage.bench.record.Figure.Subject;
import dev.dunnage.bench.record.Spread;
import dev.dunnage.bench.smartgrid.compress.Compressor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.IntSummaryStatistics;
import java.util.List;

/** The sizes of messages, as they are and compressed one by one. */
final class Sizes {
    /** The classes that have figures of their own beside the average. */
    static final List<String> SHOWN = List.of("LPHD", "MMXU", "XCBR");

    private final Subject subject;
    private final Messages messages;
    private final String options;

    Sizes(Subject subject, Messages messages, String options) {
        this.subject = subject;
        this.messages = messages;
        this.options = options;
    }

    List<Figure> figures() throws Exception {
        List<Figure> figures = new ArrayList<>(ofOperation(subject, "serialize", messages.bytes));
        for (Compressor compressor : Compressor.all()) {
            byte[][] compressed = new byte[messages.bytes.length][];
            for (int i = 0; i < compressed.length; i++) {
                compressed[i] = compress(compressor, messages.bytes[i]);
            }
            figures.addAll(ofOperation(compressed(subject, compressor), compressor.name(), compressed));
        }
        return figures;
    }

    /** The subject of a serializer's output after compression. */
    static Subject compressed(Subject subject, Compressor compressor) {
        return new Subject(subject.format() + "+" + compressor.name(), subject.library(), subject.version());
    }

    private List<Figure> ofOperation(Subject subject, String operation, byte[][] bytes) {
        List<Figure> figures = new ArrayList<>();
        for (int i = 0; i < bytes.length; i++) {
            String name = messages.types[i].getSimpleName();
            if (SHOWN.contains(name)) {
                figures.add(figure(subject, name, operation).value(bytes[i].length).repeated(1, null));
            }
        }
        IntSummaryStatistics sizes = Arrays.stream(bytes).mapToInt(message -> message.length).summaryStatistics();
        Spread range = new Spread(sizes.getMin(), sizes.getMax(), "range of the classes");
        figures.add(figure(subject, "average", operation).value(sizes.getAverage()).repeated(1, range));
        return figures;
    }

    private Figure figure(Subject subject, String payload, String operation) {
        return Figure.of(SmartGridSuite.NAME, payload, subject, operation, "bytes", "B").options(options);
    }

    private static byte[] compress(Compressor compressor, byte[] bytes) throws Exception {
        byte[] compressed = compressor.compress(bytes);
        if (!Arrays.equals(bytes, compressor.decompress(compressed, bytes.length))) {
            throw new IllegalStateException(compressor.name() + " does not restore the bytes");
        }
        return compressed;
    }
}
