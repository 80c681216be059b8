/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals of input and output, by cgroup: softirqs of network and block devices, their time, bytes,
 * pages of the page cache (bpf/io.bpf.c). They belong to the cgroup that has caused the work, not
 * to the task that an interrupt met.
 *
 * Each signal needs some of the object's programs. A program that the kernel refuses, or a
 * tracepoint that it lacks, costs the signals that need it and no other. io_signals_open() is the
 * only part that needs privileges; a reading takes two calls of bpf().
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "activity/activity_reader.h"

struct io_signals;

/*
 * Loads and attaches the programs. Libbpf's messages are set up by bpf_programs_load(). 0, or
 * -errno: none of the signals can be had.
 */
int io_signals_open(const struct activity_options *options, struct io_signals **ret);
void io_signals_close(struct io_signals *io);
/*
 * Adds the amounts since the last call to a pass. They belong to @io and are valid until the next
 * call. Without memory, or where a read fails, they come later.
 */
void io_signals_read(struct io_signals *io, struct activity *activity);
void io_signals_get_info(const struct io_signals *io, struct io_info *ret);
