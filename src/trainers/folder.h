/* SPDX-License-Identifier: Apache-2.0 */
/* Folders that a worker leaves: as an archive, and removed. Links are not followed. */
#pragma once

#include "base/diag.h"
#include "base/strbuf.h"

#define FOLDER_PATH_MAX 256

/* Makes a new folder for our own use, below $TMPDIR or /tmp: 0 or -errno. */
int folder_make(char ret[FOLDER_PATH_MAX]);
/*
 * All files below @folder as a zip, by their paths below it, in an order that depends on these
 * alone. 0; -ENOSPC beyond what archives may have (archive.h); -errno with a diagnosis.
 */
int folder_zip(const char *folder, struct strbuf *out, struct diag *diag);
/* Removes @folder with all that is in it, as far as possible. */
void folder_remove(const char *folder);
