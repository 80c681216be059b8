/* SPDX-License-Identifier: Apache-2.0 */
/* The machine that a model is for: from a file, or this one. */
#pragma once

#include "base/diag.h"
#include "model/trained_model.h"

/*
 * Reads upstream's spec.json: {"vendor", "processor", "cores", …}; "" is this machine. 0, or -errno
 * with a diagnosis.
 */
int machine_file_read(const char *path, struct machine_spec *ret, struct diag *diag);
/* This machine, from /proc and /sys; unknown facts are left empty. */
void machine_file_discover(struct machine_spec *ret);
