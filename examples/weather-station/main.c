/* A weather station: fills the generated struct, packs it, and sends the bytes as a line of hexadecimal digits. A real station passes
 * them to its radio. */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>

#include "station.h"

#define BAUD 57600UL

static void send(char c)
{
    loop_until_bit_is_set(UCSR0A, UDRE0);
    UDR0 = (uint8_t)c;
}

static void send_hex(uint8_t byte)
{
    send("0123456789abcdef"[byte >> 4]);
    send("0123456789abcdef"[byte & 15]);
}

/* Sets the measurements of the sensors: integers, so that no float is needed. */
static void measure(Station *s)
{
    s->time = 1774785600UL - STATION_TIME_EPOCH; /* 2026-03-29T12:00:00Z, from its clock */
    s->temperature_is_null = false;
    s->temperature = STATION_TEMPERATURE(14.3); /* a constant */
    s->humidity = 62;
    s->pressure = STATION_PRESSURE_FROM_DECIMAL(101680L, 2); /* a sensor that measures Pa */
    s->has_wind = true;
    s->wind.speed = 34; /* in the schema's steps of 0.1 m/s */
    s->wind.has_gust = true;
    s->wind.gust = 71;
    s->wind.has_from = true;
    s->wind.from = STATION_WIND_FROM_SW;
    s->has_rain = true;
    s->rain = 1; /* in tips of 0.2 mm */
    s->battery = STATION_BATTERY_FROM_DECIMAL(3910, 3); /* mV */
}

int main(void)
{
    Station station = STATION_INIT;
    dunnage_fault fault;
    uint8_t buffer[STATION_MAX_SIZE];

    UBRR0 = F_CPU / 16 / BAUD - 1;
    UCSR0B = _BV(TXEN0);

    measure(&station);
    size_t size = Station_encode(&station, buffer, sizeof buffer, &fault);
    for (size_t i = 0; i < size; i++) send_hex(buffer[i]);
    send('\n');

    UCSR0A |= _BV(TXC0);
    loop_until_bit_is_set(UCSR0A, UDRE0);
    cli();
    sleep_enable();
    sleep_cpu(); /* the simulator ends here */
    return 0;
}
