import dev.dunnage.packed.Layout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Decodes a packed message with its exported layout: Decode.java LAYOUT HEX. */
class Decode {
    public static void main(String[] arguments) throws Exception {
        Layout layout = Layout.parse(Files.readString(Path.of(arguments[0])));
        System.out.println(json(layout.decode(HexFormat.of().parseHex(arguments[1]))));
    }

    /** Writes the values of this message, whose texts need no escapes. */
    private static String json(Object value) {
        if (value instanceof Map<?, ?> map) {
            return map.entrySet().stream().map(e -> json(e.getKey()) + ":" + json(e.getValue())).collect(Collectors.joining(",", "{", "}"));
        }
        if (value instanceof List<?> list) {
            return list.stream().map(Decode::json).collect(Collectors.joining(",", "[", "]"));
        }
        return value instanceof String ? "\"" + value + "\"" : String.valueOf(value);
    }
}
