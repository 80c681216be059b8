/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State that survives a restart, as a text file in the state directory: lines, each with a key.
 *
 *     kepler-state 1 MACHINE
 *     KEY LINE…
 *     crc32 0a1b2c3d
 *
 * The last line is the CRC-32 of all bytes before it, so that an incomplete file is detected. A
 * file that is broken, of another version or of another machine is treated like a missing one. It
 * is replaced atomically.
 */
#pragma once

#include <stddef.h>

#include "base/diag.h"
#include "base/strbuf.h"
#include "host/host.h"

#define STATE_FILE_NAME   "kepler.state"
#define STATE_ENTRIES_MAX 4096
#define STATE_KEY_MAX     160  /* with the terminator */
#define STATE_LINE_MAX    2048 /* with the terminator */
#define STATE_FILE_MAX    (STATE_ENTRIES_MAX * (STATE_KEY_MAX + STATE_LINE_MAX) + 256)
#define STATE_MACHINE_MAX 32 /* with the terminator */
#define STATE_FACTS_MAX   256
#define MACHINE_ID_PATH   "/etc/machine-id"

struct state_entry {
	char key[STATE_KEY_MAX];   /* no blanks, not empty: "rapl-sysfs/package-0" */
	char line[STATE_LINE_MAX]; /* printable ASCII */
};

/* Large: to be allocated zeroed, so that only the entries that are used become resident. */
struct state {
	size_t count;
	struct state_entry entries[STATE_ENTRIES_MAX];
};

/* The facts of a machine that must stay the same for its state to be used, as one line. */
void state_machine_facts(const struct host_info *host, char ret[static STATE_FACTS_MAX]);
/*
 * A key that stays the same over boots while the machine does not change: hashed from
 * MACHINE_ID_PATH (which is confidential and so not shown) and @facts. Without the file, from the
 * facts alone.
 */
void state_machine_key(const char *machine_id_path, const char *facts, char key[STATE_MACHINE_MAX]);

/* A hash of the boot's id in the file at @boot_id_path; "" where that cannot be read. */
void state_boot_key(const char *boot_id_path, char key[STATE_MACHINE_MAX]);

/* The line of @key, or NULL. */
const char *state_find(const struct state *state, const char *key);
/* 0; -EINVAL for a key or line that the file cannot hold; -ENOSPC. Replaces what was there. */
int state_put(struct state *state, const char *key, const char *line);

/* -EINVAL with the reason why the text is refused; *ret is written only on success. */
int state_parse(const char *text, size_t len, const char *machine, struct state *ret,
		struct diag *diag);
void state_format(const struct state *state, const char *machine, struct strbuf *out);

/*
 * 0, -ENOENT when there is none, another -errno with the reason why it is ignored. *ret is written
 * only on success.
 */
int state_load(const char *dir, const char *machine, struct state *ret, struct diag *diag);
/*
 * Makes @dir if it is missing (0755; only its last part). 0 or -errno with a diagnosis; the old
 * file then stays.
 */
int state_save(const char *dir, const char *machine, const struct state *state, struct diag *diag);
