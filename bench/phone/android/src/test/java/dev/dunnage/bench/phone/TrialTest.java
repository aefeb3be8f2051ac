package dev.dunnage.bench.phone;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.dunnage.bench.Serializer;
import dev.dunnage.bench.mobile.BookAndVideo;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TrialTest {
    @Test
    void everyFormatIsTimedInBothDirections() throws Exception {
        for (Serializer serializer : BookAndVideo.serializers()) {
            for (String name : BookAndVideo.names()) {
                Trial trial = new Trial(serializer, name, null);
                for (boolean serialize : new boolean[] {true, false}) {
                    double[] sets = trial.run(serialize, 10);
                    assertTrue(sets.length == 2 && sets[0] > 0 && sets[1] > 0, serializer.description().format());
                }
            }
        }
    }

    @Test
    void aFileHasTheMessage(@TempDir Path folder) throws Exception {
        File file = folder.resolve("message").toFile();
        Serializer json = BookAndVideo.serializer("mobile-json");
        Trial trial = new Trial(json, "Video", file);
        byte[] expected = json.serialize(BookAndVideo.object("Video"));
        assertArrayEquals(expected, Files.readAllBytes(file.toPath()));
        assertEquals(expected.length, trial.bytes());
        assertTrue(trial.run(false, 10)[0] > 0);
    }
}
