/* A weather station that sends the fewest bytes: deltas against the last reading that the gateway keeps. Its serial line stands for a modem:
 *
 *     to it    HEX SIZE   a message, and the bytes that its plain form takes, as a line
 *     from it  N          the clock: measure reading N and send it, a line of digits
 *              +          the gateway keeps the last message (2.04)
 *              !          the gateway does not have the reference of the last message (4.09): send it again
 *              end of transmission (4): switch off
 *
 * A message that was not answered brings nothing, and is not sent again. */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/pgmspace.h>
#include <avr/sleep.h>

#include "station.h"

#define BAUD 57600UL

enum { END_OF_TRANSMISSION = 4 };

/* What the sensors give at one time, in their integers. */
typedef struct {
    uint32_t seconds; /* since 1970 */
    uint8_t failed;   /* the thermometer */
    int16_t tenths;   /* of a degree */
    uint8_t humidity;
    uint32_t pascals;
    uint16_t wind; /* 0.1 m/s */
    uint16_t gust;
    uint8_t vane; /* N, NE, E, ... */
    uint8_t calm; /* too little wind for the vane */
    uint16_t tips; /* of 0.2 mm */
    uint16_t millivolts;
} Sensors;

#include "readings.h"

static Station_state state;

static void put(char c)
{
    loop_until_bit_is_set(UCSR0A, UDRE0);
    UDR0 = (uint8_t)c;
}

static void put_hex(uint8_t byte)
{
    put("0123456789abcdef"[byte >> 4]);
    put("0123456789abcdef"[byte & 15]);
}

static uint8_t get(void)
{
    loop_until_bit_is_set(UCSR0A, RXC0);
    return UDR0;
}

static void measure(Station *s, uint8_t number)
{
    Sensors sensors;
    memcpy_P(&sensors, &readings[number], sizeof sensors);
    s->time = sensors.seconds - STATION_TIME_EPOCH;
    s->temperature_is_null = sensors.failed;
    s->temperature = STATION_TEMPERATURE_FROM_DECIMAL(sensors.tenths, 1);
    s->humidity = sensors.humidity;
    s->pressure = STATION_PRESSURE_FROM_DECIMAL(sensors.pascals, 2);
    s->has_wind = true;
    s->wind.speed = sensors.wind;
    s->wind.has_gust = true;
    s->wind.gust = sensors.gust;
    s->wind.has_from = !sensors.calm;
    s->wind.from = sensors.vane;
    s->has_rain = true;
    s->rain = sensors.tips;
    s->battery = STATION_BATTERY_FROM_DECIMAL(sensors.millivolts, 3);
}

static void send(const Station *station)
{
    uint8_t buffer[STATION_MAX_SIZE];
    dunnage_fault fault;
    uint8_t plain = (uint8_t)Station_encode(station, buffer, sizeof buffer, &fault);
    uint8_t size = (uint8_t)Station_send(&state, station, buffer);
    for (uint8_t i = 0; i < size; i++) put_hex(buffer[i]);
    put(' ');
    put_hex(plain);
    put('\n');
}

static void obey(uint8_t byte, Station *station, uint8_t *number)
{
    switch (byte) {
    case '\n':
        measure(station, *number);
        *number = 0;
        send(station);
        break;
    case '+':
        Station_acked_last(&state);
        break;
    case '!':
        Station_forget(&state);
        send(station);
        break;
    default:
        *number = (uint8_t)(*number * 10 + (byte - '0'));
    }
}

int main(void)
{
    Station station = STATION_INIT;
    uint8_t byte, number = 0;

    UBRR0 = F_CPU / 16 / BAUD - 1;
    UCSR0B = _BV(TXEN0) | _BV(RXEN0);
    while ((byte = get()) != END_OF_TRANSMISSION) obey(byte, &station, &number);

    cli();
    sleep_enable();
    sleep_cpu(); /* the simulator ends here */
    return 0;
}
