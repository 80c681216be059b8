/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcrypt (libxcrypt), loaded only where a server has users with passwords. A program that
 * confines itself can load no library later, so loading is a step of its own.
 */
#pragma once

#include <crypt.h>

#include "base/diag.h"

struct crypt_library {
	__typeof__(crypt_rn) *crypt_rn;
};

/*
 * Loads it, once for the life of the process, from any thread. 0; -ENOENT when it is not installed
 * (diag names the package), -ENOSYS when it has no bcrypt.
 */
int crypt_library_load(struct diag *diag);
/* The library, or NULL if it was not loaded. */
const struct crypt_library *crypt_library_get(void);
