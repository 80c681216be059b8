/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A virtual machine that this program starts: QEMU with a kernel and guest_program.c, without disk
 * or network, whose serial line is its console. It ends with this program, however that ends.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"
#include "trial/load_kind.h"

#define GUEST_NAME      "kepler-validator"
#define GUEST_UUID_SIZE 37
#define GUEST_LINE_MAX  200

/* The load of a phase in which all CPUs of the machine are busy; it has no workers. */
extern const struct load_kind load_guest;

enum guest_accel { GUEST_ACCEL_AUTO, GUEST_ACCEL_KVM, GUEST_ACCEL_TCG };

struct guest_options {
	const char *kernel; /* "": /boot/vmlinuz-RELEASE of the running kernel */
	const char *initrd; /* "": the program's own; another one has to speak guest_words.h */
	const char *append; /* to the kernel's command line */
	enum guest_accel accel;
	uint32_t cpus, memory_mib;
};

struct guest_machine {
	pid_t pid;   /* 0: not started, or waited for */
	int console; /* -1: none */
	uint32_t cpus;
	bool is_ready;
	char line[GUEST_LINE_MAX]; /* of the console and of QEMU's own messages, not yet ended */
	size_t line_len;
	char last[GUEST_LINE_MAX]; /* the last line that ended; "": none */
};

/* A random one, as RFC 9562 has them. */
void guest_uuid_make(char ret[static GUEST_UUID_SIZE]);
/* Does not wait for the guest. 0, or -errno with a diagnosis. */
int guest_machine_start(const struct guest_options *options, const char *uuid,
			struct guest_machine *ret, struct diag *diag);
/* Reads what its console has by now, and so sets @machine->is_ready. */
void guest_machine_listen(struct guest_machine *machine);
/* Has QEMU ended by itself? False of one that was not started. */
bool guest_machine_has_ended(const struct guest_machine *machine);
/* Makes all of its CPUs busy, or none. */
void guest_machine_work(struct guest_machine *machine, bool is_busy);
/* Does nothing to a machine that was not started. */
void guest_machine_stop(struct guest_machine *machine);
