/* SPDX-License-Identifier: Apache-2.0 */
/* Files with a secret: only their owner may read them. */
#pragma once

#include "base/diag.h"

#define SECRET_FILE_MAX 16384 /* bytes */

/*
 * 0; -EPERM with diag when other users can read @path; a missing file is not an error. Also fine is
 * a credential that systemd passes to this service.
 */
int secret_file_check(const char *path, struct diag *diag);
/*
 * The first line of the file @path, without its end, given to the caller: a token, a password. With
 * the path "" the secret is empty. 0; -EPERM as above; -errno with a diagnosis if the file cannot
 * be read or has more than SECRET_FILE_MAX bytes.
 */
int secret_file_read(const char *path, char **ret, struct diag *diag);
