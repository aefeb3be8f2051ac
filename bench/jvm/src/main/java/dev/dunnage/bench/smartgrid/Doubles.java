package dev.dunnage.bench.smartgrid;

import jakarta.xml.bind.annotation.XmlRootElement;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.DoubleStream;
import org.msgpack.annotation.Message;

/**
 * Numbers with all the digits of binary64. The attributes of IEC 61850 are binary32, so they do not show that a library loses the last
 * digits of longer fractions.
 */
@Message
@XmlRootElement(name = "Doubles")
public class Doubles implements Serializable {
    private static final long serialVersionUID = 1;
    private static final int COUNT = 10_000;
    private static final long SEED = 61_850;
    private static final double LIMIT = 1000;

    static final Model MODEL = new Model(List.of(Doubles.class), Set.of(Doubles.class));

    public List<Double> values;

    /** Random numbers below 1000, the same in every run. */
    static Doubles random() {
        SplittableRandom random = new SplittableRandom(SEED);
        Doubles doubles = new Doubles();
        doubles.values = new ArrayList<>(
                DoubleStream.generate(() -> random.nextDouble(LIMIT)).limit(COUNT).boxed().toList());
        return doubles;
    }

    /** The share of the numbers that {@code restored} has unchanged, in percent. */
    double unchanged(Doubles restored) {
        int unchanged = 0;
        for (int i = 0; i < COUNT; i++) {
            if (values.get(i).equals(restored.values.get(i))) {
                unchanged++;
            }
        }
        return 100.0 * unchanged / COUNT;
    }
}
