package dev.dunnage.packed;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What an exported layout has around its tree. {@code spec/packed.md}, "Fingerprints" and "Exported layouts". */
final class Export {
    private static final int VERSION = 1;
    private static final int MAX_RANK = 255;
    private static final List<String> MEMBERS = List.of("packed", "slot", "check", "statistics", "layout", "definitions");

    final int slot;
    final byte[] hash;
    final String fingerprint;
    final boolean hasSlotByte;
    /** The bytes of the check, or 0 without one. */
    final int checkBytes;
    final boolean hasStatistics;
    final Object tree;
    final Object definitions;
    /** The ranks of the properties that a writer may leave out, by the numbers of their nodes. */
    final Map<Integer, Integer> ranks = new LinkedHashMap<>();
    private final Map<?, ?> canonical;
    private final Object rounded;

    Export(Object json) {
        Map<?, ?> export = object(json);
        Map<?, ?> packed = object(export.get("packed"));
        canonical = object(export.get("layout"));
        slot = NodeReader.whole(packed.get("slot"), 1, Layout.MAX_SLOT).intValue();
        hash = sha256(canonical);
        fingerprint = hex(hash);
        if (!fingerprint.equals(packed.get("fingerprint"))) {
            throw new LayoutException("the layout does not have its fingerprint: it was changed after the export");
        }
        requireVersion();
        hasSlotByte = !canonical.containsKey("slot");
        checkBytes = canonical.containsKey("check") ? NodeReader.whole(canonical.get("check"), 1, 2).intValue() : 0;
        hasStatistics = canonical.containsKey("statistics");
        tree = canonical.get("layout");
        definitions = canonical.containsKey("definitions") ? canonical.get("definitions") : List.of();
        rounded = export.get("rounded");
        if (export.containsKey("dropped")) {
            for (Object pair : NodeReader.list(export.get("dropped"))) {
                List<?> parts = NodeReader.list(pair, 2);
                ranks.put(NodeReader.whole(parts.get(0), 0, Integer.MAX_VALUE).intValue(), NodeReader.whole(parts.get(1), 1, MAX_RANK).intValue());
            }
        }
    }

    /** Returns the members of an object around the tree. A schema does not have these objects. */
    private static Map<?, ?> object(Object json) {
        if (!(json instanceof Map)) {
            throw new LayoutException("not an exported layout: run `dunnage schema layout SCHEMA --json`");
        }
        return (Map<?, ?>) json;
    }

    private void requireVersion() {
        if (!Values.same(canonical.get("packed"), (long) VERSION)) {
            throw new LayoutException("a layout of another version of packed than " + VERSION);
        }
        if (canonical.containsKey("slot") && !"port".equals(canonical.get("slot"))) {
            throw new LayoutException("a slot from something else than the port");
        }
        for (Object member : canonical.keySet()) {
            if (!MEMBERS.contains(member)) {
                throw new LayoutException("a layout with the unknown member \"" + member + "\"");
            }
        }
    }

    /** Returns the leaves of the tree below {@code root} with their statistics. */
    Leaves statistics(Node root) {
        Map<Object, Object> untrained = new LinkedHashMap<>(canonical);
        Object text = untrained.remove("statistics");
        byte[] bytes;
        try {
            bytes = Base64.getDecoder().decode(NodeReader.text(text));
        } catch (IllegalArgumentException e) {
            throw new LayoutException("statistics that are not Base64");
        }
        return Statistics.read(bytes, root, sha256(untrained));
    }

    /** Makes the numbers of {@code rounded} round, which are among {@code nodes}. */
    void round(List<Node> nodes) {
        if (rounded == null) {
            return;
        }
        if (!(rounded instanceof List)) {
            throw new LayoutException("rounded must be an array of numbers of nodes");
        }
        for (Object number : (List<?>) rounded) {
            Node node = nodes.get(NodeReader.whole(number, 0, nodes.size() - 1).intValue());
            if (!(node instanceof NumbersNode) || !((NumbersNode) node).round()) {
                throw new LayoutException("only numbers with decimals are rounded");
            }
        }
    }

    private static byte[] sha256(Map<?, ?> canonical) {
        StringBuilder text = new StringBuilder();
        Json.write(canonical, text);
        try {
            return MessageDigest.getInstance("SHA-256").digest(text.toString().getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String hex(byte[] bytes) {
        StringBuilder hex = new StringBuilder();
        for (byte b : bytes) {
            hex.append(String.format("%02x", b));
        }
        return hex.toString();
    }
}
