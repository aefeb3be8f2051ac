package dev.dunnage.packed;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Reads the tree of a layout from its canonical text. {@code spec/packed.md}, "Fingerprints". */
final class NodeReader {
    /** The most characters of a pattern. */
    private static final int MAX_CHARACTERS = 1 << 20;
    /** The most nodes for one value, if a definition is among them. */
    private static final int MAX_SAME = 32;
    private static final int MAX_SEGMENTS = 256;
    private static final long MAX_COUNT = 0xffff_ffffL;
    private static final BigInteger MAX_NUMBER = BigInteger.ONE.shiftLeft(64);

    /** The ranks of the properties that a writer may leave out, by the numbers of their nodes. */
    private final Map<Integer, Integer> ranks;
    /** All nodes by their numbers. */
    final List<Node> nodes = new ArrayList<>();
    /** The trees that refer to themselves. */
    private final List<Node> definitions = new ArrayList<>();
    /** Whether a text is written as a time, as in modelled layouts alone. */
    boolean hasTimes;
    /** Whether an array is a series. */
    boolean hasSeries;

    NodeReader(Map<Integer, Integer> ranks) {
        this.ranks = ranks;
    }

    private static LayoutException fault(String what) {
        return new LayoutException("not a layout of this version: " + what);
    }

    /** Reads a node and those below it. */
    Node node(Object json) {
        int id = nodes.size();
        nodes.add(null);
        Node node = json instanceof String ? named(id, (String) json) : shape(id, json);
        nodes.set(id, node);
        return node;
    }

    /** Reads the trees of the definitions, which are numbered behind the tree of the message. */
    void definitions(Object json) {
        for (Object definition : list(json)) {
            definitions.add(node(definition));
        }
        for (Node node : nodes) {
            if (node instanceof DefinitionNode && ((DefinitionNode) node).tree() == null) {
                throw fault("a definition that is not there");
            }
        }
        Map<Node, Integer> lengths = new HashMap<>();
        for (Node node : nodes) {
            if (node instanceof DefinitionNode) {
                length(node, MAX_SAME, lengths);
            }
        }
    }

    /** Returns the most nodes for one value from this one on, and rejects more than {@code left}: a definition may lead to itself without an array. */
    private static int length(Node node, int left, Map<Node, Integer> lengths) {
        Integer known = lengths.get(node);
        int length = known == null ? 1 : known;
        if (known == null && left > 0) {
            for (Node next : node.same()) {
                length = Math.max(length, 1 + length(next, left - 1, lengths));
            }
            lengths.put(node, length);
        }
        if (length > left) {
            throw fault("a definition that leads to itself, or through more than " + MAX_SAME + " nodes");
        }
        return length;
    }

    private static Node named(int id, String name) {
        switch (name) {
            case "boolean":
                return new Scalars.Bool(id);
            case "float":
                return new FloatNode(id);
            case "known":
                return new Scalars.Known(id, Scalars.Known.DEVICE);
            case "any":
                return new AnyNode(id);
            default:
                throw fault("the node \"" + name + "\"");
        }
    }

    private Node shape(int id, Object json) {
        Map<?, ?> members = map(json);
        String kind = members.isEmpty() ? "" : (String) members.keySet().iterator().next();
        Object first = members.get(kind);
        switch (kind) {
            case "constant":
                return new Scalars.Constant(id, first);
            case "known":
                return new Scalars.Known(id, text(first));
            case "choice":
                return new Scalars.Choice(id, new ArrayList<>(several(first)));
            case "number":
                return new NumbersNode(id, List.of(number(members)), null);
            case "numbers":
                return numbers(id, several(first));
            case "pattern":
                return new PatternNode(id, segments(list(first)));
            case "text":
                return text(id, members);
            case "array":
                return array(id, members);
            case "tuple":
                return new ArrayNode(id, children(list(members.get("items"))), rest(members), bounds(first), false);
            case "object":
                return object(id, members);
            case "nullable":
                return new Alternatives.Nullable(id, node(first));
            case "union":
                return new Alternatives.Union(id, children(several(first)));
            case "definition":
                return new DefinitionNode(id, whole(first, 0, Integer.MAX_VALUE).intValue(), definitions);
            default:
                throw fault("the node \"" + kind + "\"");
        }
    }

    private Node array(int id, Map<?, ?> members) {
        boolean isSeries = members.containsKey("series");
        if (isSeries && !Boolean.TRUE.equals(members.get("series"))) {
            throw fault("an array that is and is not a series");
        }
        hasSeries |= isSeries;
        return new ArrayNode(id, List.of(), node(members.get("item")), bounds(members.get("array")), isSeries);
    }

    private List<Node> children(List<?> all) {
        List<Node> children = new ArrayList<>();
        all.forEach(child -> children.add(node(child)));
        return children;
    }

    private Node rest(Map<?, ?> members) {
        return members.containsKey("rest") ? node(members.get("rest")) : null;
    }

    private Node object(int id, Map<?, ?> members) {
        List<ObjectNode.Property> properties = new ArrayList<>();
        for (Object property : list(members.get("object"))) {
            List<?> parts = list(property, 3);
            if (!(parts.get(1) instanceof Boolean)) {
                throw fault("a property that is neither required nor optional");
            }
            boolean isRequired = (Boolean) parts.get(1);
            int rank = isRequired ? 0 : ranks.getOrDefault(nodes.size(), 0);
            properties.add(new ObjectNode.Property(text(parts.get(0)), isRequired, node(parts.get(2)), rank));
        }
        return new ObjectNode(id, properties, members.containsKey("additional") ? node(members.get("additional")) : null);
    }

    private Node numbers(int id, List<?> parts) {
        List<NumberRange> numbers = new ArrayList<>();
        String separator = text(parts.get(0));
        for (Object part : parts.subList(1, parts.size())) {
            numbers.add(number(map(part)));
            if (!(map(map(part).get("as")).get("text") instanceof List)) {
                throw fault("numbers that are not in text");
            }
        }
        if (numbers.isEmpty() || separator.isEmpty()) {
            throw fault("numbers without a number or a separator");
        }
        return new NumbersNode(id, numbers, separator);
    }

    private NumberRange number(Map<?, ?> members) {
        List<?> range = list(members.get("number"), 3);
        BigInteger min = digits(range.get(0));
        BigInteger max = digits(range.get(1));
        BigInteger step = whole(range.get(2), 1, Long.MAX_VALUE);
        BigInteger[] usual = null;
        if (members.containsKey("usual")) {
            List<?> both = list(members.get("usual"), 2);
            usual = new BigInteger[] {digits(both.get(0)), digits(both.get(1))};
        }
        boolean ascending = usual == null || min.compareTo(usual[0]) <= 0 && usual[0].compareTo(usual[1]) <= 0 && usual[1].compareTo(max) <= 0;
        if (min.compareTo(max) > 0 || !ascending) {
            throw fault("numbers that do not ascend");
        }
        Object every = members.get("every");
        long grows = every == null ? 0 : whole(every, 1, Long.MAX_VALUE >> 1).longValue();
        Notation notation = notation(members);
        if (notation instanceof TimeNotation && !((TimeNotation) notation).holds(min, max)) {
            throw fault("times that the notation does not have");
        }
        return new NumberRange(min, max, step, usual, grows, notation);
    }

    private Notation notation(Map<?, ?> members) {
        Object as = members.get("as");
        if ("integer".equals(as)) {
            return new Notation.Whole();
        }
        Map<?, ?> kind = map(as);
        if (kind.containsKey("time")) {
            List<?> time = list(kind.get("time"), 2);
            BigInteger epoch = digits(time.get(1));
            if (epoch.bitLength() >= Long.SIZE) {
                throw fault("an epoch");
            }
            return new TimeNotation(text(time.get(0)), epoch.longValue());
        }
        if (kind.containsKey("decimal")) {
            int places = whole(kind.get("decimal"), 0, DecimalNotation.MAX_PLACES).intValue();
            return new DecimalNotation(places, quantum(members, places));
        }
        List<?> text = list(kind.get("text"), 2);
        int places = whole(text.get(0), 0, DecimalNotation.MAX_PLACES).intValue();
        int digits = whole(text.get(1), 1, TextNotation.MAX_DIGITS).intValue();
        return new TextNotation(places, digits, quantum(members, places));
    }

    private Quantum quantum(Map<?, ?> members, int places) {
        if (!members.containsKey("quantum")) {
            return null;
        }
        List<?> parts = list(members.get("quantum"));
        boolean isDecimal = parts.size() == 2;
        if (!isDecimal && parts.size() != 4) {
            throw fault("a quantum");
        }
        BigInteger mantissa = digits(parts.get(0));
        int own = whole(parts.get(1), places, DecimalNotation.MAX_PLACES).intValue();
        long divisor = isDecimal ? 1 : whole(parts.get(2), 1, MAX_COUNT).longValue();
        BigInteger offset = isDecimal ? BigInteger.ZERO : digits(parts.get(3));
        if (mantissa.signum() <= 0 || offset.bitLength() >= Long.SIZE) {
            throw fault("a quantum");
        }
        return new Quantum(mantissa, own - places, divisor, offset.longValue());
    }

    private static List<PatternNode.Segment> segments(List<?> all) {
        List<PatternNode.Segment> segments = new ArrayList<>();
        long characters = 0;
        for (Object one : all) {
            List<?> parts = list(one, 3);
            int[] set = text(parts.get(0)).codePoints().toArray();
            long max = whole(parts.get(2), 0, MAX_COUNT).longValue();
            characters += max;
            boolean ascending = set.length > 0;
            for (int i = 1; i < set.length; i++) {
                ascending &= set[i - 1] < set[i];
            }
            if (!ascending || set.length > 256 || segments.size() == MAX_SEGMENTS || characters > MAX_CHARACTERS) {
                throw fault("a pattern that is too long, or whose classes do not ascend");
            }
            segments.add(new PatternNode.Segment(set, whole(parts.get(1), 0, max).intValue(), (int) max));
        }
        return segments;
    }

    private Node text(int id, Map<?, ?> members) {
        boolean isTime = members.containsKey("time");
        if (isTime && !Boolean.TRUE.equals(members.get("time"))) {
            throw fault("a text that is and is not a time");
        }
        hasTimes |= isTime;
        return new TextNode(id, bounds(members.get("text")), isTime);
    }

    private static Bounds bounds(Object json) {
        List<?> both = list(json, 2);
        long min = whole(both.get(0), 0, MAX_COUNT).longValue();
        return new Bounds(min, both.get(1) == null ? Bounds.OPEN : whole(both.get(1), min, MAX_COUNT).longValue());
    }

    /** Reads a number in quotes. */
    private static BigInteger digits(Object json) {
        String digits = text(json);
        if (!digits.matches("0|-?[1-9][0-9]{0,19}")) {
            throw fault("the number \"" + digits + "\"");
        }
        BigInteger n = new BigInteger(digits);
        if (n.abs().compareTo(MAX_NUMBER) >= 0) {
            throw fault("a number of more than 64 bits");
        }
        return n;
    }

    static BigInteger whole(Object json, long min, long max) {
        BigInteger n = Values.whole(json);
        if (n == null || n.compareTo(BigInteger.valueOf(min)) < 0 || n.compareTo(BigInteger.valueOf(max)) > 0) {
            throw fault("expected a number from " + min + " to " + max + ", not " + json);
        }
        return n;
    }

    static String text(Object json) {
        if (!(json instanceof String)) {
            throw fault("expected text");
        }
        return (String) json;
    }

    static Map<?, ?> map(Object json) {
        if (!(json instanceof Map)) {
            throw fault("expected an object");
        }
        return (Map<?, ?>) json;
    }

    static List<?> list(Object json) {
        if (!(json instanceof List)) {
            throw fault("expected an array");
        }
        return (List<?>) json;
    }

    static List<?> list(Object json, int size) {
        if (list(json).size() != size) {
            throw fault("an array of another size than " + size);
        }
        return list(json);
    }

    private static List<?> several(Object json) {
        if (list(json).isEmpty()) {
            throw fault("an empty array");
        }
        return list(json);
    }
}
