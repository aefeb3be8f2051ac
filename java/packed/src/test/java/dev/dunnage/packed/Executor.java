package dev.dunnage.packed;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;

/**
 * Answers the requests of the driver in {@code conform}, a line each.
 *
 * <p>{@code load EXPORT}, {@code encode VALUE} and {@code decode HEX KNOWN}; the export and the known texts are JSON.
 */
final class Executor {
    private Layout layout;

    private Executor() {}

    public static void main(String[] arguments) throws IOException {
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream answers = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        Executor executor = new Executor();
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            if (!line.isEmpty()) {
                answers.println(executor.answer(line));
            }
            if (!requests.ready()) {
                answers.flush();
            }
        }
        answers.flush();
    }

    private String answer(String line) {
        String[] parts = line.split(" ", 2);
        if (layout == null && !parts[0].equals("load")) {
            return "skip";
        }
        switch (parts[0]) {
            case "load":
                return load(parts[1]);
            case "encode":
                return encode(parts[1]);
            case "decode":
                return decode(parts[1].split(" ", 2));
            default:
                return "skip";
        }
    }

    private String load(String export) {
        try {
            layout = Layout.parse(export);
            return "ok";
        } catch (LayoutException e) {
            layout = null;
            return "refused " + e.getMessage();
        }
    }

    private String encode(String words) {
        try {
            return "ok " + Words.hex(layout.encode(Words.read(Arrays.asList(words.split(" ")).iterator())));
        } catch (PackedException e) {
            return "error " + e.kind() + ' ' + Words.hex(e.pointer().getBytes(StandardCharsets.UTF_8));
        }
    }

    @SuppressWarnings("unchecked")
    private String decode(String[] request) {
        Map<String, String> known = request.length < 2 ? Map.of() : (Map<String, String>) Json.parse(request[1]);
        try {
            StringBuilder out = new StringBuilder("ok");
            Words.write(layout.decode(Words.bytes(request[0]), known), out);
            return out.toString();
        } catch (PackedException e) {
            return "error " + e.kind() + ' ' + e.offset();
        }
    }
}
