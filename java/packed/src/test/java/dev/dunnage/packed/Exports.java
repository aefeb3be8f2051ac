package dev.dunnage.packed;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.List;

/** The layouts and messages in the resources, which `dunnage schema layout` and `dunnage convert` wrote, and layouts made for a test. */
final class Exports {
    private Exports() {}

    /** A message: its bytes and its JSON text. */
    static final class Message {
        final byte[] bytes;
        final String json;

        Message(String line) {
            String[] parts = line.split(" ", 2);
            bytes = Words.bytes(parts[0]);
            json = parts[1];
        }
    }

    static String text(String name) {
        try (InputStream in = Exports.class.getResourceAsStream(name)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static Layout layout(String name) {
        return Layout.parse(text(name + ".layout.json"));
    }

    static List<Message> messages(String name) {
        List<Message> messages = new ArrayList<>();
        text(name + ".messages").lines().forEach(line -> messages.add(new Message(line)));
        return messages;
    }

    /** Returns an export with this canonical text, its fingerprint and slot 1. */
    static String of(String canonical) {
        return export(canonical, "");
    }

    static String export(String canonical, String more) {
        return "{\"packed\":{\"slot\":1,\"fingerprint\":\"" + Words.hex(sha256(canonical)) + "\"},\"layout\":" + canonical + more + "}";
    }

    /** Returns the layout with this tree. */
    static Layout ofNode(String node) {
        return Layout.parse(of("{\"packed\":1,\"layout\":" + node + "}"));
    }

    static byte[] sha256(String text) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
