package dev.dunnage.bench;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;

/**
 * A row of serializers.json: the characteristics of a serializer, in the columns of the paper's Table 1.
 *
 * @param id names the serializer in this program
 * @param paper the row's name in the paper, without the version; null for a serializer that is not in the paper
 * @param paperVersion the version that the paper used
 * @param format the format's ID, as in the results
 * @param library the library's name, as in the results
 * @param encoding "Binary" or "Text"
 * @param requirements the schema, annotations or inheritance that the serializer needs or allows
 * @param languageNeutral "Yes" or "No"
 * @param note a remark for the reader
 */
public record Description(
        String id,
        String suite,
        String paper,
        @JsonProperty("paper_version") String paperVersion,
        String format,
        String library,
        String encoding,
        String requirements,
        @JsonProperty("language_neutral") String languageNeutral,
        String note) {

    private static final List<Description> ALL = read();

    /** All rows, in the order of the paper. */
    public static List<Description> all() {
        return ALL;
    }

    /** The row of a serializer. */
    public static Description of(String id) {
        return ALL.stream()
                .filter(row -> row.id.equals(id))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("serializers.json: no row with the id " + id));
    }

    private static List<Description> read() {
        try (InputStream file = Description.class.getResourceAsStream("/serializers.json")) {
            return new ObjectMapper().readValue(file, new TypeReference<>() {});
        } catch (IOException e) {
            throw new UncheckedIOException("serializers.json: " + e.getMessage(), e);
        }
    }
}
