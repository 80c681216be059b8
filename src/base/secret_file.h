/* SPDX-License-Identifier: Apache-2.0 */
/* Files with a secret: only their owner may read them. */
#pragma once

#include "base/diag.h"

/*
 * 0; -EPERM with diag when other users can read @path; a missing file is not an error. Also fine is
 * a credential that systemd passes to this service.
 */
int secret_file_check(const char *path, struct diag *diag);
