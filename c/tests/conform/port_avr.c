/* The serial line of an ATmega328P. A byte 4 ends the input. */
#include "conform.h"

#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>

void port_begin(void)
{
    UCSR0A = _BV(U2X0);
    UBRR0 = 0;
    UCSR0B = _BV(RXEN0) | _BV(TXEN0);
}

int port_get(void)
{
    while (!(UCSR0A & _BV(RXC0))) {}
    uint8_t byte = UDR0;
    return byte == 4 ? -1 : byte;
}

void port_put(char c)
{
    while (!(UCSR0A & _BV(UDRE0))) {}
    UDR0 = (uint8_t)c;
}

void port_flush(void) {}

/* Sleeps without interrupts, which ends the simulation. */
void port_end(void)
{
    while (!(UCSR0A & _BV(UDRE0))) {}
    cli();
    sleep_mode();
}
