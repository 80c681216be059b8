/* SPDX-License-Identifier: Apache-2.0 */
/* The options --local.…: the socket for users of this machine. */
#pragma once

#include <stddef.h>

#include "options/option_set.h"

#define LOCAL_SOCKET_DEFAULT "/run/kepler/kepler.sock"
#define LOCAL_GROUP_DEFAULT  "kepler"

/* The view of users other than root and the group. */
enum local_everyone { EVERYONE_NONE, EVERYONE_OWN, EVERYONE_ALL };

struct local_options {
	char *socket;                 /* LOCAL_SOCKET_DEFAULT; "": there is none */
	char *group;                  /* LOCAL_GROUP_DEFAULT: a name or number; "" none */
	enum local_everyone everyone; /* none */
};

/* The sections of the options over struct local_options, by index; NULL after the last. */
const struct option_section *local_options_at(size_t index);
