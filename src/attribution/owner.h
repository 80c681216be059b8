/* SPDX-License-Identifier: Apache-2.0 */
/* Owners as rows keep them: a copy of their own, cleaned, and compared by what they are called. */
#pragma once

#include "attribution/ledger.h"

/*
 * A copy of @owner with clean strings (label_text.h; pod_labels: label_list_text()), in one piece
 * of memory to be freed. NULL without memory.
 */
struct ledger_owner *owner_copy(const struct ledger_owner *owner);
/* Are these the labels of one container's series? Both clean. */
bool owner_is_same_series(const struct ledger_owner *a, const struct ledger_owner *b);
/*
 * Keeps of a clean owner what names its @group; false when it has none. Strings are borrowed.
 */
bool owner_of_group(const struct ledger_owner *owner, enum ledger_group group,
		    struct ledger_owner *ret);
/* All strings, both clean. */
bool owner_is_equal(const struct ledger_owner *a, const struct ledger_owner *b);
/* Of all strings (FNV-1a, 64 bits); of one. */
uint64_t owner_hash(const struct ledger_owner *owner);
uint64_t owner_text_hash(const char *text);
