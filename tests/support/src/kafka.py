"""Confluent's client, of librdkafka: kafka.py BROKER COMMAND TOPIC ..."""

import json
import sys

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer
from confluent_kafka.serialization import MessageField, SerializationContext

BROKER, COMMAND, TOPIC, *REST = sys.argv[1:]
WAIT = 20
# Results arrive only while it exists.
ADMIN = AdminClient({"bootstrap.servers": BROKER})


def done(futures):
    for future in futures.values():
        future.result(WAIT)


def create(partitions, replicas, settings):
    config = dict(pair.split("=") for pair in settings.split(",") if pair)
    topic = NewTopic(TOPIC, int(partitions), int(replicas), config=config)
    done(ADMIN.create_topics([topic]))


def grow(partitions):
    done(ADMIN.create_partitions([NewPartitions(TOPIC, int(partitions))]))


def leaders():
    topic = ADMIN.list_topics(TOPIC, WAIT).topics[TOPIC]
    print(json.dumps({index: partition.leader for index, partition in topic.partitions.items()}))


def write(*keys):
    """Writes a record for each key, with the partitioner of Java's clients."""
    producer = Producer({"bootstrap.servers": BROKER, "partitioner": "murmur2_random"})
    for key in keys:
        producer.produce(TOPIC, b"0", key.encode())
    assert producer.flush(WAIT) == 0


def records():
    """Yields the records that the topic has now."""
    consumer = Consumer({"bootstrap.servers": BROKER, "group.id": "reader", "enable.auto.commit": False})
    topic = consumer.list_topics(TOPIC, WAIT).topics[TOPIC]
    for index in topic.partitions:
        partition = TopicPartition(TOPIC, index, 0)
        _, end = consumer.get_watermark_offsets(partition, WAIT)
        consumer.assign([partition])
        at = 0
        while at < end:
            record = consumer.poll(WAIT)
            assert record is not None and record.error() is None, record and record.error()
            at = record.offset() + 1
            yield record


def read():
    for record in records():
        line = {
            "partition": record.partition(),
            "key": record.key().decode(),
            "value": record.value().hex(),
            "headers": {key: value.decode() for key, value in record.headers() or []},
        }
        print(json.dumps(line))


def decode(registry):
    """Prints the values of the topic, decoded with the schemas in the registry."""
    decoder = AvroDeserializer(SchemaRegistryClient({"url": registry}))
    context = SerializationContext(TOPIC, MessageField.VALUE)
    for record in records():
        print(json.dumps({"key": record.key().decode(), "value": decoder(record.value(), context)}))


{"create": create, "grow": grow, "leaders": leaders, "write": write, "read": read, "decode": decode}[COMMAND](*REST)
