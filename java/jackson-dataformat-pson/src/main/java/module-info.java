/** PSON for Jackson. */
module dev.dunnage.pson.jackson {
    requires transitive com.fasterxml.jackson.databind;
    requires transitive dev.dunnage.pson;

    exports dev.dunnage.pson.jackson;

    provides com.fasterxml.jackson.core.JsonFactory with
            dev.dunnage.pson.jackson.PsonFactory;
    provides com.fasterxml.jackson.core.ObjectCodec with
            dev.dunnage.pson.jackson.PsonMapper;
}
