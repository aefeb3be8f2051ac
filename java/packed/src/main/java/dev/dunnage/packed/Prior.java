package dev.dunnage.packed;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** The model that has coded the texts and numbers that it knows before a message: {@code spec/packed-prior.txt}. */
final class Prior {
    /** Does not change. */
    static final Model MODEL = model();

    /** The number of the first group, which no node of a layout has. */
    private static final int FIRST_NODE = 1 << 31;

    private Prior() {}

    private static Model model() {
        Model model = new Model();
        NumberCoder numbers = new NumberCoder(model, DecisionCoder.NOWHERE);
        TextCoder texts = new TextCoder(model, DecisionCoder.NOWHERE);
        int node = FIRST_NODE;
        for (String group : text().split("\n\n")) {
            String[] lines = group.split("\n");
            for (int i = 0; i < lines.length; i++) {
                // The first line of a group is a key, the others are values that may belong to it.
                long key = Part.key(node, i == 0 ? Part.KEY : Part.VALUE);
                if (i > 0 && lines[i].matches("[0-9]{1,18}")) {
                    numbers.sized(key, Long.parseLong(lines[i]));
                } else {
                    texts.write(key, lines[i], 0, Bounds.OPEN);
                }
            }
            node++;
        }
        return model;
    }

    private static String text() {
        try (InputStream in = Prior.class.getResourceAsStream("packed-prior.txt")) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
