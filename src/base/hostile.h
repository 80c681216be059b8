/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A build in which nothing is lucky (-Dhostile=true, ./check --hostile). Sizes, speeds and chances
 * take their worst values: an array has no spare room and moves when it grows, a read returns a
 * part, keys share their hashes, a cache never has the entry, a buffer is not used again, so that
 * the address sanitizer sees a late reader. Results are the same, and the tests pass: these values
 * must not affect any result.
 */
#pragma once

#ifdef KEPLER_HOSTILE
#define HOSTILE 1
#else
#define HOSTILE 0
#endif
#define HOSTILE_OR(worst, usual) (HOSTILE ? (worst) : (usual))

/* The size of arrays is exact up to here; beyond, each addition would copy all of it. */
#define HOSTILE_EXACT 4096U

/* Most bytes that a read returns: for files that the kernel renders at each read, and others. */
#define HOSTILE_PROC_READ          512U
#define HOSTILE_READ               1U
#define HOSTILE_LEAST(least, size) HOSTILE_OR((size) < (least) ? (size) : (least), (size))
