// Receives commands such as {"led":true,"period":500} on the serial line, one message at a time, and answers each with the state,
// or with {"error":2,"offset":3}: the number is that of dn_error, 2 is DN_MALFORMED. Unknown keys are skipped.
#include <dn_pson.h>

bool led = false;
uint16_t period = 1000;  // ms

uint8_t input[64];
size_t received = 0;
unsigned long last_byte = 0;  // ms

void answer_state() {
  uint8_t buffer[24];
  dn_writer w;
  dn_writer_init(&w, buffer, sizeof buffer);
  dn_write_map(&w, 2);
  DN_WRITE_KEY(&w, "led");
  dn_write_bool(&w, led);
  DN_WRITE_KEY(&w, "period");
  dn_write_uint(&w, period);
  Serial.write(buffer, dn_written(&w));
}

void answer_error(dn_error kind, size_t offset) {
  uint8_t buffer[24];
  dn_writer w;
  dn_writer_init(&w, buffer, sizeof buffer);
  dn_write_map(&w, 2);
  DN_WRITE_KEY(&w, "error");
  dn_write_uint(&w, kind);
  DN_WRITE_KEY(&w, "offset");
  dn_write_uint(&w, offset);
  Serial.write(buffer, dn_written(&w));
}

// Executes the command in `input`, completely or not at all.
void execute_command(dn_reader *r) {
  bool new_led = led;
  uint16_t new_period = period;
  dn_reader_init(r, input, received);
  dn_read_map(r);
  while (dn_read_key(r)) {
    if (DN_KEY_IS(r, "led")) new_led = dn_read_bool(r);
    else if (DN_KEY_IS(r, "period")) new_period = dn_read_u16(r);
    else dn_skip(r);
  }
  if (!dn_done(r)) return;
  led = new_led;
  period = new_period;
  digitalWrite(LED_BUILTIN, led);
}

void setup() {
  pinMode(LED_BUILTIN, OUTPUT);
  Serial.begin(115200);
}

void loop() {
  while (Serial.available() && received < sizeof input) {
    input[received++] = Serial.read();
    last_byte = millis();
  }
  if (received == 0) return;

  dn_reader r;
  execute_command(&r);
  bool more_may_come = received < sizeof input && millis() - last_byte < 50;
  if (r.error == DN_TRUNCATED && more_may_come) return;
  if (r.error) answer_error(r.error, dn_error_offset(&r));
  else answer_state();
  received = 0;
}
