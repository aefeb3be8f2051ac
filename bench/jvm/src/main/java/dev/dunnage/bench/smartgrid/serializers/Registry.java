package dev.dunnage.bench.smartgrid.serializers;

import dev.dunnage.bench.Serializer;
import dev.dunnage.bench.smartgrid.Model;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** All serializers of the suite smart-grid, by the ids of serializers.json. */
public final class Registry {
    private static final Map<String, Factory> FACTORIES = new LinkedHashMap<>();

    static {
        FACTORIES.put("jsa", JavaSerialization::new);
        FACTORIES.put("fst", Fst::new);
        FACTORIES.put("kryo", KryoRegistered::new);
        FACTORIES.put("xml-jaxb", XmlJaxb::new);
        FACTORIES.put("xml-jaxb-uncached", XmlJaxbUncached::new);
        FACTORIES.put("xml-jackson", XmlJackson::new);
        FACTORIES.put("xml-xstream", XmlXStream::new);
        FACTORIES.put("xml-protostuff", XmlProtostuff::new);
        FACTORIES.put("json-jackson", JsonJackson::new);
        FACTORIES.put("json-xstream", JsonXStream::new);
        FACTORIES.put("json-gson", JsonGson::new);
        FACTORIES.put("json-protostuff", JsonProtostuff::new);
        FACTORIES.put("json-genson", JsonGenson::new);
        FACTORIES.put("yaml-snakeyaml", YamlSnakeYaml::new);
        FACTORIES.put("yaml-jackson", YamlJackson::new);
        FACTORIES.put("msgpack-0.6", MsgpackTemplates::new);
        FACTORIES.put("msgpack-jackson", MsgpackJackson::new);
        FACTORIES.put("smile-jackson", SmileJackson::new);
        FACTORIES.put("smile-protostuff", SmileProtostuff::new);
        FACTORIES.put("protobuf-protostuff", ProtobufProtostuff::new);
        FACTORIES.put("bson-jackson", BsonJackson::new);
        FACTORIES.put("hessian", Hessian::new);
        FACTORIES.put("cbor-jackson", CborJackson::new);
        FACTORIES.put("protostuff", ProtostuffNative::new);
        FACTORIES.put("avro-jackson", GeneratedSchema::avro);
        FACTORIES.put("yaml-yamlbeans", YamlBeans::new);
        FACTORIES.put("protobuf-jackson", GeneratedSchema::protobuf);
        FACTORIES.put("fory", ForyRegistered::new);
        FACTORIES.put("json-jackson3", JsonJackson3::new);
        FACTORIES.put("cbor-jackson3", CborJackson3::new);
        FACTORIES.put("smile-jackson3", SmileJackson3::new);
        FACTORIES.put("cbor-jackson3-arrays", CborJackson3Arrays::new);
        FACTORIES.put("smile-jackson3-arrays", SmileJackson3Arrays::new);
        FACTORIES.put("jsonb-fastjson2", JsonbFastjson2::new);
        FACTORIES.put("ion-jackson", IonJackson::new);
        FACTORIES.put("pson-jackson", PsonJackson::new);
        FACTORIES.put("packed-jackson", PackedJackson::new);
    }

    private Registry() {}

    /** Sets a serializer up for the classes of a model. */
    private interface Factory {
        Serializer create(Model model) throws Exception;
    }

    /** The ids: first those of the paper's Table 1, in its order, then the two that failed in 2016, then the newer ones. */
    public static List<String> ids() {
        return List.copyOf(FACTORIES.keySet());
    }

    /** A serializer for the classes of a model. */
    public static Serializer create(String id, Model model) throws Exception {
        return FACTORIES.get(id).create(model);
    }
}
