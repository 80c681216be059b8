/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes names, addresses and secrets out of text that is to be published. Each becomes a pseudonym
 * that is the same for the same original: host-1, user-2, url-1, address-3, path-1, name-4, id-1.
 *
 * Two rules find them. A text that was added with redaction_add() is replaced wherever it stands,
 * also inside a word unless it is short or a user's. The rest is found by its form: URLs, paths
 * outside /sys and /dev, network addresses, words with "@", names with dots, NAMESPACE/NAME, long
 * identifiers, and text in quotation marks; the program's own words are not replaced. A false
 * alarm makes a text harder to read; a name that has none of these forms has to be added.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"

#define REDACTION_ORIGINALS_MAX 1024 /* further ones share a pseudonym: "host-more" */
#define REDACTION_TEXT_MAX      512  /* of an original; a longer one is kept up to there */

enum redaction_kind {
	REDACTED_HOST,
	REDACTED_USER,
	REDACTED_URL,
	REDACTED_ADDRESS,
	REDACTED_PATH,
	REDACTED_NAME,
	REDACTED_ID,
	REDACTION_KIND_COUNT,
};

struct redaction;

/*
 * @is_ours says of a word with dots, without leading "--", whether it is the program's own, such as
 * an option's name. NULL without memory.
 */
struct redaction *redaction_new(bool (*is_ours)(const char *word));
void redaction_free(struct redaction *redaction);
/*
 * @text is a @kind wherever it stands, longer ones before shorter. Words that say nothing
 * ("localhost", "root", the names of zones) and the empty text are ignored. The lack of memory is
 * reported by redaction_text().
 */
void redaction_add(struct redaction *redaction, enum redaction_kind kind, const char *text);
/* The path @prefix is shown as @shown wherever it begins a path: a root that was configured. */
void redaction_add_root(struct redaction *redaction, const char *prefix, const char *shown);
/*
 * Appends @text without what was added, and with @by_form also without what has the form of a name.
 * 0 or -ENOMEM, after which nothing of @text was appended.
 */
int redaction_text(struct redaction *redaction, const char *text, bool by_form, struct strbuf *out);
