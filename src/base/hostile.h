/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A build in which nothing is lucky (-Dhostile=true, ./check --hostile). What is only a size, a
 * speed or a chance takes its worst value there: an array has no room to spare and moves when it
 * grows, a read returns a part, keys share their hashes, an entry of a cache is never there, a
 * buffer is not used again, so that the address sanitizer sees a reader that comes late. Results
 * are the same, and the tests pass: nothing that a result depends on may be chosen by this.
 */
#pragma once

#ifdef KEPLER_HOSTILE
#define HOSTILE 1
#else
#define HOSTILE 0
#endif
#define HOSTILE_OR(worst, usual) (HOSTILE ? (worst) : (usual))

/* What grows is exact up to here: beyond, each addition would copy all of it. */
#define HOSTILE_EXACT 4096U

/* Bytes that a read returns at most: of files that the kernel renders anew, and of others. */
#define HOSTILE_PROC_READ          512U
#define HOSTILE_READ               1U
#define HOSTILE_LEAST(least, size) HOSTILE_OR((size) < (least) ? (size) : (least), (size))
