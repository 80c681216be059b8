/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A new file that is to be removed if the rest of a start fails, although the process gives up the
 * right to remove files meanwhile (service/landlock.h): a process that keeps this right waits for
 * the outcome.
 */
#pragma once

#include <stdbool.h>

#include "base/diag.h"

struct file_guard {
	int fd; /* to the guard; -1: there is none */
};

/*
 * Begins to guard @path: 0, or -errno with a diagnosis. It is removed if this process ends
 * before it calls file_guard_end().
 */
int file_guard_begin(struct file_guard *self, const char *path, struct diag *diag);
/* Keeps the file, or has it removed when this returns. Does nothing to a guard that never began. */
void file_guard_end(struct file_guard *self, bool keep);
