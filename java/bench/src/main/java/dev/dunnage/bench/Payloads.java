package dev.dunnage.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** The messages that are measured, as Maps and Lists: those of js/bench. */
final class Payloads {
    static final List<String> NAMES = List.of("paper", "container", "document");
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int LARGE = 1_000_000;

    private Payloads() {}

    /** Returns the messages of a payload, which are gone through one after another. {@code corpus} is bench/corpus. */
    static List<Object> of(String name, Path corpus) throws IOException {
        Map<?, ?> container = read(corpus, "container.json");
        switch (name) {
            case "paper":
                return new ArrayList<>(((Map<?, ?>) read(corpus, "pson-paper.json").get("payloads")).values());
            case "container":
                return List.of(container);
            default:
                List<Object> readings = new ArrayList<>();
                Random random = new Random(1);
                for (int size = 0; size < LARGE; ) {
                    Object reading = varied(container, random);
                    readings.add(reading);
                    size += JSON.writeValueAsBytes(reading).length + 1;
                }
                return List.of(Map.of("version", 1, "readings", readings));
        }
    }

    private static Map<?, ?> read(Path corpus, String file) throws IOException {
        return JSON.readValue(corpus.resolve(file).toFile(), Map.class);
    }

    /** Returns the message with other digits in its texts. Keys stay as they are. */
    private static Map<String, Object> varied(Map<?, ?> message, Random random) {
        Map<String, Object> varied = new LinkedHashMap<>();
        message.forEach((key, value) -> varied.put((String) key, digits((String) value, random)));
        return varied;
    }

    private static String digits(String text, Random random) {
        StringBuilder out = new StringBuilder(text);
        for (int i = 0; i < out.length(); i++) {
            if (Character.isDigit(out.charAt(i))) {
                out.setCharAt(i, (char) ('0' + random.nextInt(10)));
            }
        }
        return out.toString();
    }
}
