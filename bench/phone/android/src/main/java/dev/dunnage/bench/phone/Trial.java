package dev.dunnage.bench.phone;

import dev.dunnage.bench.Difference;
import dev.dunnage.bench.Serializer;
import dev.dunnage.bench.mobile.BookAndVideo;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;

/** The paper's procedure: two sets of iterations directly after each other; the smaller mean counts. */
final class Trial {
    /** The iterations of a set in the paper's batch mode. */
    static final int BATCH = 1000;

    private final Serializer serializer;
    private final Object message;
    private final File file;
    private final byte[] bytes;

    /**
     * Checks that the object comes back with equal values.
     *
     * @param name "Book" or "Video"
     * @param file where the message is written and read; null to keep it in memory
     */
    Trial(Serializer serializer, String name, File file) throws Exception {
        this.serializer = serializer;
        this.file = file;
        message = BookAndVideo.object(name);
        bytes = serializer.serialize(message);
        String difference = Difference.between(message, serializer.deserialize(bytes, message.getClass()));
        if (difference != null) {
            throw new IOException(name + ": " + difference);
        }
        serialize();
    }

    /** The size of the message. */
    int bytes() {
        return bytes.length;
    }

    /** The nanoseconds of an iteration in each of the two sets. */
    double[] run(boolean serialize, int iterations) throws Exception {
        return new double[] {set(serialize, iterations), set(serialize, iterations)};
    }

    private double set(boolean serialize, int iterations) throws Exception {
        long start = System.nanoTime();
        for (int i = 0; i < iterations; i++) {
            if (serialize) {
                serialize();
            } else {
                deserialize();
            }
        }
        return (double) (System.nanoTime() - start) / iterations;
    }

    private void serialize() throws Exception {
        byte[] written = serializer.serialize(message);
        if (file != null) {
            Files.write(file.toPath(), written);
        }
    }

    private void deserialize() throws Exception {
        byte[] read = file == null ? bytes : Files.readAllBytes(file.toPath());
        serializer.deserialize(read, message.getClass());
    }
}
