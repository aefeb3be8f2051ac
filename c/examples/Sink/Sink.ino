// Sends a message that is longer than the buffer: 40 samples in one array, in chunks of 16 bytes.
#include <dn_pson.h>

const uint8_t SAMPLES = 40;

// Called when the chunk is full, and at the end. A radio would send it as a frame; false ends the message.
bool send(void *context, const uint8_t *bytes, size_t size) {
  Print *line = (Print *)context;
  return line->write(bytes, size) == size;
}

void setup() {
  Serial.begin(115200);

  uint8_t chunk[16];
  dn_sink sink;
  dn_sink_init(&sink, chunk, sizeof chunk, send, (Print *)&Serial);
  dn_writer *w = &sink.writer;
  dn_write_map(w, 2);
  DN_WRITE_KEY(w, "unit");
  dn_write_str(w, "mV");
  DN_WRITE_KEY(w, "samples");
  dn_write_array(w, SAMPLES);
  for (uint8_t i = 0; i < SAMPLES; i++) {
    dn_write_uint(w, analogRead(A0) * 5000UL / 1023 + i);
  }
  if (!dn_sink_finish(&sink)) Serial.println(F("not sent"));
}

void loop() {
}
