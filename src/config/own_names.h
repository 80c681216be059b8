/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names by which scrapers may know this machine: the names of the host, the node and the
 * pod, and the namespace in Kubernetes. Reverse look-ups (service/name_finder.h) add others later.
 */
#pragma once

#include "config/config.h"
#include "net/server/http_own_names.h"

#define OWN_NAMES 5 /* at most: of the host, the node and the pod */

/* Calls @add with each name; a name may be "". */
void own_names_each(const struct config *config, void (*add)(void *userdata, const char *name),
		    void *userdata);
/* Those names, and the namespace, for a server that other machines can connect to. */
void own_names_collect(const struct config *config, struct http_own_names *ret);
