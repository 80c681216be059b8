/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A page for clients that may read the pods of one namespace: the rows of its containers and pods,
 * those that have retired to it, and its own row. There is no row of another namespace, no process,
 * no virtual machine, nothing about the node, its zones and the program: no total from which the
 * energy of others would follow.
 *
 * Rows are shown by their labels: all others lose their text, without which a format skips them.
 */
#pragma once

#include <stdbool.h>

#include "export/catalog/catalog.h"

/* The memory of a restricted view; all zero at first. */
struct namespace_view {
	struct row_text *texts[LEVEL_COUNT][2][NAMES_COUNT]; /* owned */
};

/*
 * Can @text name a namespace of Kubernetes? Kepler's own words for owners without a namespace
 * (workload/owner.c) cannot: a namespace with such a name would show the services of the host.
 */
bool namespace_view_is_name(const char *text);
/*
 * Restricts @view, whose rows are filled in, to the namespace @name, which is one. It borrows from
 * @ret until namespace_view_release(), which is due in either case. 0 or -ENOMEM.
 */
int namespace_view_restrict(struct catalog_view *view, const char *name,
			    struct namespace_view *ret);
void namespace_view_release(struct namespace_view *memory);
