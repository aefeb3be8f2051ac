// Prints a message as JSON, and converts JSON to a message, both in small pieces, so that the text needs no buffer.
#include <dn_json.h>

// {"station":"north","temp":[21.5,-3],"ok":true}, as a radio would receive it.
const uint8_t message[] = {
  0xc3, 0x87, 's', 't', 'a', 't', 'i', 'o', 'n', 0x85, 'n', 'o', 'r', 't', 'h',
  0x84, 't', 'e', 'm', 'p', 0xe2, 0x40, 0x00, 0x00, 0xac, 0x41, 0x23,
  0x82, 'o', 'k', 0x61,
};

bool print(void *context, const uint8_t *bytes, size_t size) {
  Print *line = (Print *)context;
  return line->write(bytes, size) == size;
}

void message_to_json() {
  dn_reader r;
  dn_reader_init(&r, message, sizeof message);
  bool ok = dn_json_write(&r, print, (Print *)&Serial) && dn_done(&r);
  Serial.println(ok ? F("") : F(" failed"));
}

void json_to_message() {
  uint8_t buffer[32];
  dn_writer w;
  dn_json_reader j;
  dn_writer_init(&w, buffer, sizeof buffer);
  dn_json_reader_init(&j, &w);
  dn_json_read(&j, "{\"interval\": 600, \"ala", 22);
  dn_json_read(&j, "rm\": false}", 11);
  if (!dn_json_finish(&j)) {
    Serial.println(F("not JSON"));
    return;
  }
  for (size_t i = 0; i < dn_written(&w); i++) {
    if (buffer[i] < 0x10) Serial.print('0');
    Serial.print(buffer[i], HEX);
  }
  Serial.println();
}

void setup() {
  Serial.begin(115200);
  message_to_json();
  json_to_message();
}

void loop() {
}
