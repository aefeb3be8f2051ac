package dev.dunnage.packed;

/** The three kinds of bodies, which differ in a few parts. */
enum Body { PLAIN, CODED, MODELLED }
