/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes the picture: copies what is to be seen into one buffer, in which every array is one run of
 * memory.
 *
 * Process rows are the own series, in their order, then one "other" for each container. Their
 * values are copied as a block; what has not settled is then moved to `pending`, row by row.
 */
#pragma once

#include "snapshot/publication.h"

/*
 * Fills and publishes a snapshot, with which series settle whose time has come. @zones as
 * publisher_publish() has them. 0 or -ENOMEM.
 */
int snapshot_build(struct publication *publication, const struct moment *at,
		   const struct snapshot_zone *zones, const struct snapshot_node *node);
