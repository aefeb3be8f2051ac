package dev.dunnage.bench;

import java.security.CodeSource;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads the version of a library from the name of its file, which cannot differ from what runs. */
public final class LibraryVersion {
    private static final Pattern FILE = Pattern.compile("-(\\d[^/]*)\\.jar$");

    private LibraryVersion() {}

    /** The version of the library that contains {@code type}: that of the file, or of Java itself. */
    public static String of(Class<?> type) {
        CodeSource source = type.getProtectionDomain().getCodeSource();
        if (source == null) {
            return "JDK " + System.getProperty("java.version");
        }
        Matcher file = FILE.matcher(source.getLocation().getPath());
        if (!file.find()) {
            throw new IllegalStateException(source.getLocation() + ": the name of the file has no version");
        }
        return file.group(1);
    }
}
