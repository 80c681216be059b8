/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A second Kepler that the validator starts itself, to judge its estimates by this machine's
 * meters: with its own meters switched off, one model, no configuration file and no state, on a
 * free port of 127.0.0.1. It ends with the validator, however that ends.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"

struct model_exporter {
	pid_t pid;     /* 0: none */
	char url[256]; /* of its page; the fragment names the model */
	/* How its page names the place of the model that was asked for; "": a built-in one. */
	char place[256];
};

struct model_exporter_options {
	const char *kepler; /* the program; "": next to this one, else in PATH */
	/* "builtin", the URL of a model or of a model server, or the file of a model. */
	const char *model;
	const char *sysfs, *procfs;
};

/*
 * Starts it and waits up to 60 s until it serves its first interval. 0, or -errno with a diagnosis
 * that has the last line of its log; nothing runs then.
 */
int model_exporter_start(const struct model_exporter_options *options, struct model_exporter *ret,
			 struct diag *diag);
/* Ends it, after 10 s by SIGKILL. Does nothing to one that was not started. */
void model_exporter_stop(struct model_exporter *exporter);
