// Fills a struct from a message by a table with one row per field, in flash. Absent fields keep their defaults.
#include <dn_bind.h>

struct Settings {
  uint32_t present;  // bit i: the field of row i was present
  char name[12];
  uint16_t interval;  // s
  float limits[4];    // degrees C
  uint16_t limits_count;
  bool alarm;
};

enum { NAME, INTERVAL, LIMITS, ALARM };

DN_TABLE(settings_table, Settings, present,
  DN_FIELD(name, "name", chars),
  DN_FIELD(interval, "interval", u16),
  DN_FIELD_ARRAY(limits, limits_count, "limits", float),
  DN_FIELD(alarm, "alarm", bool));

// {"name":"north","limits":[-20,4.5],"interval":600}, as a radio would receive it.
const uint8_t message[] = {
  0xc3, 0x84, 'n', 'a', 'm', 'e', 0x85, 'n', 'o', 'r', 't', 'h',
  0x86, 'l', 'i', 'm', 'i', 't', 's', 0xe2, 0x34, 0x40, 0x00, 0x00, 0x90, 0x40,
  0x88, 'i', 'n', 't', 'e', 'r', 'v', 'a', 'l', 0x1f, 0xd8, 0x04,
};

void setup() {
  Serial.begin(115200);

  Settings settings = {};
  settings.alarm = true;
  dn_reader r;
  if (!dn_bind(&r, message, sizeof message, &settings_table, &settings)) {
    Serial.print(dn_error_text(r.error));
    Serial.print(F(" at "));
    Serial.println(dn_error_offset(&r));
    return;
  }
  Serial.print(F("name "));
  Serial.println(settings.name);
  Serial.print(F("interval "));
  Serial.println(settings.interval);
  for (uint16_t i = 0; i < settings.limits_count; i++) {
    Serial.print(F("limit "));
    Serial.println(settings.limits[i]);
  }
  Serial.print(F("alarm "));
  Serial.print(settings.alarm);
  Serial.println(settings.present & DN_BIT(ALARM) ? F("") : F(", by default"));
}

void loop() {
}
