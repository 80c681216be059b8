/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The user side of bpf/switches.bpf.h: it decides what is to be counted at context switches, opens
 * the events, and says which CPUs share a core and a socket. bpf_programs.h loads the programs;
 * what the switches have shown is handed over by the passes of bpf_kernel_side.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "activity/activity_reader.h"

struct switch_reader;
struct kepler_bpf;
struct bpf_program;

/*
 * Sets *ret to NULL, and says in @why the reason, where nothing is to be counted. @why also has the
 * events that are left out, with a reader. 0 or -ENOMEM.
 */
int switch_reader_plan(const struct activity_options *options, struct switch_reader **ret,
		       char *why, size_t why_size);
void switch_reader_close(struct switch_reader *reader);
/*
 * Prepares an object that is not loaded yet; NULL: nothing is counted, and its maps for that are
 * left out. 0 or -errno.
 */
int switch_reader_configure(const struct switch_reader *reader, struct kepler_bpf *skeleton);
/*
 * Opens the events and begins to count, with the loaded programs; without @flush what runs is
 * charged late. 0 or -errno.
 */
int switch_reader_start(struct switch_reader *reader, struct kepler_bpf *skeleton,
			const struct bpf_program *switches, const struct bpf_program *flush);
/* Before the programs are unloaded; it may be started again. */
void switch_reader_stop(struct switch_reader *reader);
uint32_t switch_reader_signals(const struct switch_reader *reader); /* SIGNAL_BIT() */
/*
 * Before each pass: charges the threads that run now, and follows CPUs that came or went. Makes a
 * system call for each busy CPU, and one more.
 */
void switch_reader_flush(struct switch_reader *reader);
/* Online CPUs on which some event is not counted. */
unsigned switch_reader_uncounted_cpus(const struct switch_reader *reader);
/* True if a running thread is charged only when it leaves its CPU: before Linux 5.10. */
bool switch_reader_is_late(const struct switch_reader *reader);
/* Cores have more than two threads; two at a time are taken as a pair. */
bool switch_reader_has_wide_cores(const struct switch_reader *reader);
