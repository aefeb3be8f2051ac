package dev.dunnage.bench.smartgrid;

import dev.dunnage.bench.Serializer;
import dev.dunnage.bench.smartgrid.serializers.Registry;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.lang.management.MemoryPoolMXBean;
import java.util.List;

/**
 * Measures the memory that one serializer holds, as the paper does. {@link Memory} starts a JVM for each serializer, and reads a line for each
 * operation: its name, and the bytes of {@link Growth}.
 */
final class MemoryProbe {
    static final int RUNS = 1000;

    private static final MemoryMXBean MEMORY = ManagementFactory.getMemoryMXBean();
    private static final List<GarbageCollectorMXBean> COLLECTORS = ManagementFactory.getGarbageCollectorMXBeans();
    private static final MemoryPoolMXBean METASPACE = ManagementFactory.getMemoryPoolMXBeans().stream()
            .filter(pool -> pool.getName().equals("Metaspace"))
            .findFirst()
            .orElseThrow();

    private final String id;
    private final Model model;
    private final Object[] objects;
    private final byte[][] bytes;
    private Serializer serializer;
    /** The result of the last call, which stays reachable as it does in an application. */
    private Object last;

    private MemoryProbe(String id, Model model, Fill fill) {
        this.id = id;
        this.model = model;
        objects = model.logicalNodes().stream().map(node -> Payloads.of(node, fill)).toArray();
        bytes = new byte[objects.length][];
    }

    /** Arguments: the serializer's id, the fill, and the names of the logical nodes, none for all. */
    public static void main(String[] arguments) throws Exception {
        List<String> names = List.of(arguments).subList(2, arguments.length);
        new MemoryProbe(arguments[0], Model.named(names), Fill.valueOf(arguments[1])).run();
    }

    private void run() throws Exception {
        prepare();
        print("serialize", grow(this::serialize));
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = serializer.serialize(objects[i]);
        }
        print("deserialize", grow(this::deserialize));
    }

    /** Loads what all serializers share: the list of serializers, and the directories of all jars, which take more than 5 MB. */
    private static void prepare() {
        Registry.ids();
        if (ClassLoader.getSystemResource("a name that no jar has") != null) {
            throw new IllegalStateException("the search stopped before the last jar");
        }
    }

    /** The first call sets the serializer up, so that what it keeps counts. */
    private void serialize() throws Exception {
        if (serializer == null) {
            serializer = Registry.create(id, model);
        }
        for (Object object : objects) {
            last = serializer.serialize(object);
        }
    }

    private void deserialize() throws Exception {
        for (int i = 0; i < bytes.length; i++) {
            last = serializer.deserialize(bytes[i], objects[i].getClass());
        }
    }

    /** A run: an operation on every message. */
    private interface Run {
        void once() throws Exception;
    }

    /**
     * What an operation adds to the memory of the JVM, in bytes.
     *
     * @param held heap in use after the last run, with a collection after the last but one: the paper's figure
     * @param live heap in use after another collection: what the library keeps
     * @param metaspace metadata of the classes that were loaded
     */
    record Growth(long held, long live, long metaspace) {}

    private Growth grow(Run run) throws Exception {
        collect();
        long heap = heap();
        long metadata = METASPACE.getUsage().getUsed();
        for (int i = 1; i < RUNS; i++) {
            run.once();
        }
        collect();
        long collections = collections();
        run.once();
        long held = heap() - heap;
        if (collections() != collections) {
            throw new IllegalStateException("the last run does not fit the young generation, so its garbage is not counted");
        }
        last = null;
        collect();
        return new Growth(held, heap() - heap, METASPACE.getUsage().getUsed() - metadata);
    }

    /** Requests a full collection, and makes sure that there was one. */
    private static void collect() {
        long before = collections();
        System.gc();
        if (collections() == before) {
            throw new IllegalStateException("System.gc() did not collect");
        }
    }

    private static long collections() {
        return COLLECTORS.stream().mapToLong(GarbageCollectorMXBean::getCollectionCount).sum();
    }

    private static long heap() {
        return MEMORY.getHeapMemoryUsage().getUsed();
    }

    private static void print(String operation, Growth growth) {
        System.out.printf("%s %d %d %d%n", operation, growth.held, growth.live, growth.metaspace);
    }
}
