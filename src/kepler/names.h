/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who gives containers their names: the directory, and the sources that the configuration asks for.
 * Nothing here can keep the program from starting but a configuration that can never work.
 */
#pragma once

#include <stdbool.h>

#include "base/diag.h"
#include "kepler/config.h"
#include "kube/kube.h"
#include "runtimes/runtimes.h"
#include "workload/directory.h"

struct names {
	struct directory *directory;
	struct kube *kube;         /* NULL: not configured */
	struct runtimes *runtimes; /* NULL: off */
	bool is_away;              /* Kubernetes, as told last */
};

/* The directory alone, empty; sources come by names_start(). 0 or -ENOMEM with a diagnosis. */
int names_open(const struct config *config, struct names *ret, struct diag *diag);
/*
 * Starts the sources' threads: those that talk to a network without any capability. 0, or -errno
 * with a diagnosis of what can never work.
 */
int names_start(const struct config *config, struct names *names, struct diag *diag);
/* After a reload of the configuration: the interval, which is all that may change. */
void names_reconfigure(struct names *names, const struct config *config);
/* Once an interval: the log says when Kubernetes stops answering, why, and when it is back. */
void names_tell(struct names *names);
/* How the sources are doing, for metrics. */
struct snapshot_self;
void names_describe(struct names *names, struct snapshot_self *ret);
void names_close(struct names *names);
/* Does the configuration (and the environment) ask for Kubernetes? */
bool names_want_kubernetes(const struct config *config);
/* Will threads connect to others once the program runs? */
bool names_have_clients(const struct names *names, const struct config *config);
