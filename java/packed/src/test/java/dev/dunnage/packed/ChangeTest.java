package dev.dunnage.packed;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigInteger;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ChangeTest {
    private final Random random = new Random(11);

    /** Returns a number from {@code least} to 2^62, of any length. */
    private long number(long least) {
        return Math.max(random.nextLong() >>> 2 + random.nextInt(62), least);
    }

    @Test
    void everyIndexHasOneNumber() {
        for (int i = 0; i < 100_000; i++) {
            long count = number(2);
            long value = number(0) % count;
            long predicted = number(0) % count;
            // A leaf may have more values than the index.
            long half = (count + Math.min(random.nextInt(1000), (1L << 62) - count)) / 2;
            long number = Change.number(value, predicted, half, count);
            assertTrue(number >= 0 && number <= 2 * half);
            assertEquals(value, Change.value(number, predicted, half, count));
            long any = random.nextLong() >> random.nextInt(64);
            long other = Change.value(any, predicted, half, count);
            assertTrue(other < 0 || Change.number(other, predicted, half, count) == any);
        }
        assertEquals(182, Change.number(1, 359, 180, 360));
    }

    @Test
    void aNumberHasGrownByStepsAndARest() {
        for (int i = 0; i < 100_000; i++) {
            long count = number(2);
            long every = number(1);
            long values = 2 * (count / every + 1) + 1;
            long value = number(0) % count;
            long was = number(0) % count;
            long steps = Change.steps(value, was, every, values);
            long rest = Change.rest(value, was, every);
            assertTrue(Long.compareUnsigned(steps, values) < 0 && rest >= 0 && rest < every);
            assertEquals(value, Change.grown(steps, rest, was, every, values));
        }
        assertEquals(-1, Change.grown(3, 0, (1L << 62) - 1, (1L << 62) - 1, 3));
    }

    @Test
    void predictionsTendToTheCentre() {
        for (int i = 0; i < 100_000; i++) {
            long count = number(2);
            long was = number(0) % count;
            long centre = number(0);
            int weight = random.nextInt(17);
            BigInteger nearest = BigInteger.valueOf(Math.min(centre, count - 1));
            BigInteger expected = BigInteger.valueOf(was).subtract(nearest).multiply(BigInteger.valueOf(weight)).shiftRight(4).add(nearest);
            long predicted = new Tables.Table(weight, 0, new int[1], new int[1]).predict(was, centre, count);
            assertEquals(expected.longValueExact(), predicted);
            assertTrue(predicted >= 0 && predicted < count);
        }
    }
}
