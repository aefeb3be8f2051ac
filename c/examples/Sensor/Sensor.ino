// Reads an analog sensor once a second and sends {"sensor":"A0","n":1,"mv":2497} over the serial line: 20 bytes. Messages
// are self-delimiting, so that they can follow one another directly.
#include <dn_pson.h>

const uint32_t SUPPLY_MV = 5000;  // mV at a reading of 1023

uint32_t n = 0;

void setup() {
  Serial.begin(115200);
}

void loop() {
  uint8_t buffer[32];
  dn_writer w;
  dn_writer_init(&w, buffer, sizeof buffer);
  dn_write_map(&w, 3);
  DN_WRITE_KEY(&w, "sensor");
  dn_write_str(&w, "A0");
  DN_WRITE_KEY(&w, "n");
  dn_write_uint(&w, ++n);
  DN_WRITE_KEY(&w, "mv");
  dn_write_uint(&w, analogRead(A0) * SUPPLY_MV / 1023);
  if (!w.error) Serial.write(buffer, dn_written(&w));  // one check is enough: errors stick
  delay(1000);
}
