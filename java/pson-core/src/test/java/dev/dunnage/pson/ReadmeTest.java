package dev.dunnage.pson;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Compiles and runs the examples of the README as they are. The comment after a {@code println} is its expected output. */
class ReadmeTest {
    private static final Pattern EXAMPLE = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);
    private static final Pattern PRINTED = Pattern.compile("println\\(.*\\); // (.*)");

    @TempDir
    Path folder;

    @Test
    void theExamplesPrintWhatTheirCommentsSay() throws Exception {
        List<String> examples = found(EXAMPLE, Files.readString(Path.of("README.md")));
        assertEquals(2, examples.size());
        for (String example : examples) {
            assertEquals(found(PRINTED, example), run(example));
        }
    }

    private static List<String> found(Pattern pattern, String text) {
        return pattern.matcher(text).results().map((MatchResult result) -> result.group(1)).collect(Collectors.toList());
    }

    private List<String> run(String example) throws Exception {
        Path source = Files.writeString(folder.resolve("Example.java"), example);
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        Process process = new ProcessBuilder(java, "--class-path", "target/classes", source.toString()).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), output);
        return output.lines().collect(Collectors.toList());
    }
}
