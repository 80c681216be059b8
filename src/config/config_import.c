// SPDX-License-Identifier: Apache-2.0
/*
 * Each setting of the source is looked up in a table (import_rows.h). Translated values are set as
 * if they came from a file, so that they are checked in the same way; the output is what was set.
 */
#include "config/config_import.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/text/ascii.h"
#include "config/config.h"
#include "config/import_rows.h"
#include "config/import_source.h"
#include "options/render.h"
#include "options/spelling.h"

#define LISTED_MAX  500                   /* keys without an option; others are only counted */
#define SERVER_NAME "kepler-model-server" /* as classic Kepler completes it */
#define SERVER_PORT "8100"

/* A setting that has to wait for others. */
struct kept {
	const char *key;
	char *value;
	char source[200];
	size_t line, column;
};

struct import {
	struct config config;
	const struct import_row **setters; /* [options]: the row that has set it, or NULL */
	const char **notes;                /* [options]: its key */
	struct kept parts[IMPORT_PARTS];
	struct strbuf left_out, needless, *report;
	struct import_counts counts;
	bool is_classic, is_current;
	bool no_memory;
};

static const char *shown(char *buf, size_t size, const char *text)
{
	return option_printable(buf, size, text);
}

/* ---- keys without an option ---- */

static void tell(struct import *import, const struct import_setting *at, bool is_needless,
		 const char *why)
{
	unsigned *count = is_needless ? &import->counts.needless : &import->counts.left_out;
	struct strbuf *list = is_needless ? &import->needless : &import->left_out;
	char source[200], key[160], value[80];
	bool has_value = at->count == 1 && at->values[0][0];

	if (++*count > LISTED_MAX)
		return;
	(void)shown(key, sizeof(key), at->key);
	(void)shown(value, sizeof(value), has_value ? at->values[0] : "");
	strbuf_addf(list, "#   %s%s%s: %s\n", key, has_value ? ": " : "", value, why);
	strbuf_addf(import->report, "%s:%zu:%zu: %s: %s: %s\n",
		    shown(source, sizeof(source), at->source), at->line, at->column, key,
		    is_needless ? "not needed" : "left out", why);
}

static void tell_unknown(struct import *import, const struct import_setting *at)
{
	struct spelling_nearest best = spelling_begin(at->key);
	char why[200];

	for (size_t i = 0; i < import_row_count; i++)
		spelling_consider(&best, import_rows[i].key, SIZE_MAX);
	if (best.name)
		(void)snprintf(why, sizeof(why), "not an upstream key; did you mean %s?",
			       best.name);
	else
		(void)snprintf(why, sizeof(why), "not an upstream key");
	tell(import, at, false, why);
}

/* ---- setting options ---- */

static void forget(struct import *import, size_t index)
{
	const char *text = option_at(&config_options, index)->default_text;

	if (option_take_all(&config_options, index, &import->config.options, ORIGIN_DEFAULT, text,
			    NULL) < 0)
		import->no_memory = true;
	import->setters[index] = NULL;
	import->notes[index] = NULL;
}

/* false: @text is not allowed, and @diag says why. */
static bool take(struct import *import, size_t index, const char *text, struct diag *diag)
{
	int r = option_take(&config_options, index, &import->config.options, ORIGIN_FILE, text,
			    diag);

	import->no_memory |= r == -ENOMEM;
	return r == 0;
}

/* Sets an option that no row before @row has set. */
static void set(struct import *import, const struct import_row *row,
		const struct import_setting *at, const char *const *values, size_t count)
{
	size_t index = option_find(&config_options, row->option);
	const struct import_row *setter = import->setters[index];
	struct diag why = { 0 };
	char text[DIAG_TEXT_MAX + 80];

	if (setter && setter < row) {
		(void)snprintf(text, sizeof(text), "%s is set by %s", row->option, setter->key);
		tell(import, at, true, text);
		return;
	}
	forget(import, index);
	for (size_t i = 0; i < count; i++) {
		if (take(import, index, values[i], &why))
			continue;
		(void)snprintf(text, sizeof(text), "%s %s", row->option, why.text);
		tell(import, at, false, text);
		forget(import, index);
		return;
	}
	import->setters[index] = row;
	import->notes[index] = row->key;
	import->counts.translated++;
}

static void set_one(struct import *import, const struct import_row *row,
		    const struct import_setting *at, const char *value)
{
	set(import, row, at, &value, 1);
}

static void set_copy(struct import *import, const struct import_row *row,
		     const struct import_setting *at)
{
	const struct option *option =
		option_at(&config_options, option_find(&config_options, row->option));
	char why[160];

	if (at->is_nested || (at->is_list && !option_is_list(option))) {
		(void)snprintf(why, sizeof(why), "%s is not of this form", row->option);
		tell(import, at, false, why);
	} else if (at->count == 0 || (at->count == 1 && !at->values[0][0])) {
		tell(import, at, true, "the value is empty");
	} else {
		set(import, row, at, at->values, at->count);
	}
}

static void set_sysfs(struct import *import, const struct import_row *row,
		      const struct import_setting *at, const char *value)
{
	size_t index = option_find(&config_options, "host.cgroupfs");
	struct strbuf below = STRBUF_INIT;

	set_one(import, row, at, value);
	if (strcmp(value, "/sys") == 0)
		return;
	strbuf_addf(&below, "%s/fs/cgroup", value);
	if (strbuf_error(&below) == 0 && take(import, index, below.data, NULL))
		import->notes[index] = row->key;
	strbuf_release(&below);
}

/* @value in any case of letters. */
static bool is_word(const char *word, const char *value, size_t len)
{
	size_t i = 0;

	while (i < len && ascii_lower(value[i]) == word[i])
		i++;
	return i == len;
}

static bool is_true(const char *text)
{
	return strlen(text) == 4 && is_word("true", text, 4);
}

/*
 * The word in @words that begins with "@value=", up to "="; *ret_to, *ret_len: what follows. In any
 * case of letters.
 */
static bool find_word(const char *words, const char *value, const char **ret_to, size_t *ret_len)
{
	size_t len = strlen(value);

	for (const char *at = words; *at;) {
		size_t word = strcspn(at, " "), from = strcspn(at, "=");

		if (from == len && is_word(at, value, len)) {
			*ret_to = at + from + 1;
			*ret_len = word - from - 1;
			return true;
		}
		at += word + strspn(at + word, " ");
	}
	return false;
}

static void set_word(struct import *import, const struct import_row *row,
		     const struct import_setting *at, const char *value)
{
	char text[32], why[160];
	const char *to;
	size_t len;

	if (!find_word(row->words, value, &to, &len)) {
		(void)snprintf(why, sizeof(why), "%s has no such value", row->option);
		tell(import, at, false, why);
	} else if (len == 0) {
		tell(import, at, true, row->why);
	} else {
		(void)snprintf(text, sizeof(text), "%.*s", (int)len, to);
		set_one(import, row, at, text);
	}
}

static void set_seconds(struct import *import, const struct import_row *row,
			const struct import_setting *at, const char *value)
{
	char text[48], number[40];

	(void)snprintf(text, sizeof(text), "%ss", shown(number, sizeof(number), value));
	set_one(import, row, at, text);
}

/* True if the value of @at is one of the words in @list. */
static bool is_needless(const char *list, const struct import_setting *at)
{
	const char *value = at->count ? at->values[0] : "";
	size_t len = strlen(value);

	if (!list)
		return false;
	if (list[0] == '*' || (!at->is_nested && at->count == 0))
		return true;
	if (at->is_nested || at->count > 1)
		return false;
	if (len == 0)
		return true;
	for (const char *at_word = list; *at_word;) {
		size_t word = strcspn(at_word, " ");

		if (word == len && is_word(at_word, value, len))
			return true;
		at_word += word + strspn(at_word + word, " ");
	}
	return false;
}

/* A list that has each of the words of one comma-separated item of @list asks for nothing, too. */
static bool has_all(const char *list, const struct import_setting *at)
{
	size_t words = strcspn(list ? list : "", " "), found = 0, count = 1;

	for (size_t i = 0; i < words; i++)
		count += list[i] == ',';
	if (count == 1 || at->is_nested)
		return false;
	for (const char *word = list; word < list + words;) {
		size_t len = strcspn(word, ", ");

		for (size_t i = 0; i < at->count; i++) {
			if (strlen(at->values[i]) == len && memcmp(at->values[i], word, len) == 0) {
				found++;
				break;
			}
		}
		word += len + 1;
	}
	return found == count;
}

static void keep_part(struct import *import, const struct import_row *row,
		      const struct import_setting *at)
{
	struct kept *kept = &import->parts[row->part];

	free(kept->value);
	*kept = (struct kept){ .key = row->key,
			       .value = strdup(at->values[0]),
			       .line = at->line,
			       .column = at->column };
	(void)snprintf(kept->source, sizeof(kept->source), "%s", at->source);
	import->no_memory |= !kept->value;
}

static void tell_kept(struct import *import, enum import_part part, const char *why)
{
	const struct kept *kept = &import->parts[part];
	const char *value = kept->value;
	const struct import_setting at = { .source = kept->source,
					   .line = kept->line,
					   .column = kept->column,
					   .key = kept->key,
					   .values = &value,
					   .count = 1 };

	if (value)
		tell(import, &at, true, why);
}

static void follow(struct import *import, const struct import_row *row,
		   const struct import_setting *at)
{
	const char *value = at->count == 1 ? at->values[0] : "";

	if (row->form == IMPORT_NOTHING) {
		tell(import, at, is_needless(row->needless, at) || has_all(row->needless, at),
		     row->why);
	} else if (row->form == IMPORT_COPY) {
		set_copy(import, row, at);
	} else if (at->count != 1 || at->is_list) {
		tell(import, at, false, "must be one value");
	} else if (!value[0]) {
		tell(import, at, true, "the value is empty");
	} else if (row->form == IMPORT_BOOL) {
		set_one(import, row, at, is_true(value) ? "true" : "false");
	} else if (row->form == IMPORT_SECONDS) {
		set_seconds(import, row, at, value);
	} else if (row->form == IMPORT_WORDS) {
		set_word(import, row, at, value);
	} else if (row->form == IMPORT_SYSFS) {
		set_sysfs(import, row, at, value);
	} else {
		keep_part(import, row, at);
	}
}

/* A section without anything in it. */
static bool is_empty_section(const struct import_setting *at)
{
	size_t len = strlen(at->key);

	if (at->is_list || (at->count == 1 && at->values[0][0]))
		return false;
	for (size_t i = 0; i < import_row_count; i++) {
		if (strncmp(import_rows[i].key, at->key, len) == 0 &&
		    import_rows[i].key[len] == '.')
			return true;
	}
	return false;
}

static void take_setting(void *userdata, const struct import_setting *at)
{
	struct import *import = userdata;

	for (size_t i = 0; i < import_row_count; i++) {
		if (strcmp(import_rows[i].key, at->key) != 0)
			continue;
		if (strchr(at->key, '.'))
			import->is_current = true;
		else
			import->is_classic = true;
		follow(import, &import_rows[i], at);
		return;
	}
	if (!is_empty_section(at))
		tell_unknown(import, at);
}

/* ---- the whole ---- */

static bool set_ours(struct import *import, const char *option, const char *text, const char *note)
{
	size_t index = option_find(&config_options, option);
	struct diag diag = { 0 };

	if (take(import, index, text, &diag)) {
		import->notes[index] = note;
		return true;
	}
	forget(import, index);
	import->counts.left_out++;
	strbuf_addf(&import->left_out, "#   %s: %s %s\n", note, option, diag.text);
	strbuf_addf(import->report, "%s: left out: %s %s\n", note, option, diag.text);
	return false;
}

/* Classic Kepler makes the model server's URL of several keys. */
static void set_server(struct import *import)
{
	const struct kept *enable = &import->parts[IMPORT_SERVER_ENABLE];
	const char *url = import->parts[IMPORT_SERVER_URL].value;
	const char *port = import->parts[IMPORT_SERVER_PORT].value;
	bool has_own_url = url && strcmp(url, SERVER_NAME) != 0;
	struct strbuf text = STRBUF_INIT;

	if (!enable->value || !is_true(enable->value)) {
		tell_kept(import, IMPORT_SERVER_ENABLE,
			  "no model server is asked without model.url");
		tell_kept(import, IMPORT_SERVER_URL, "MODEL_SERVER_ENABLE is not true");
		tell_kept(import, IMPORT_SERVER_PORT, "MODEL_SERVER_ENABLE is not true");
		return;
	}
	if (has_own_url) {
		tell_kept(import, IMPORT_SERVER_PORT, "MODEL_SERVER_URL is used as it is");
		strbuf_add_str(&text, url);
	} else {
		strbuf_addf(&text, "http://" SERVER_NAME ":%s", port ? port : SERVER_PORT);
	}
	if (strbuf_error(&text) == 0 &&
	    set_ours(import, "model.url", text.data, "MODEL_SERVER_URL"))
		import->counts.translated += 1U + (url != NULL) + (port && !has_own_url);
	strbuf_release(&text);
}

static void print_list(const struct strbuf *list, unsigned count, const char *head,
		       struct strbuf *out)
{
	if (count == 0)
		return;
	strbuf_addf(out, "\n# %s\n", head);
	if (list->len)
		strbuf_add(out, list->data, list->len);
	if (count > LISTED_MAX)
		strbuf_addf(out, "#   and %u more\n", count - LISTED_MAX);
}

/* The other Kepler's default, if it differs from the default here. */
static void print_defaults(const struct import *import, struct strbuf *out)
{
	static const struct {
		const char *option, *classic, *current;
	} rows[] = {
		{ "monitor.interval", "3s", "5s" },
		{ "web.listen-address", "[\"0.0.0.0:8888\"]", "[\":28282\"]" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		size_t index = option_find(&config_options, rows[i].option);

		if (import->config.options.origins[index] != ORIGIN_FILE)
			strbuf_addf(out, "# %s has the default of this program; Kepler's is %s.\n",
				    rows[i].option,
				    import->is_current ? rows[i].current : rows[i].classic);
	}
}

static void print(const struct import *import, const char *name, struct strbuf *out)
{
	char file[256];

	strbuf_addf(out,
		    "# Configuration of kepler(1), translated from %s by kepler config import.\n",
		    shown(file, sizeof(file), name));
	print_defaults(import, out);
	options_print_file(&config_options, &import->config.options, import->notes, out);
	print_list(&import->left_out, import->counts.left_out, "Left out:", out);
	print_list(&import->needless, import->counts.needless, "Not needed here:", out);
}

static int translate(struct import *import, const char *name, const char *text, size_t len,
		     struct strbuf *out, struct diag *diag)
{
	const struct import_sink sink = { take_setting, import };
	struct diag why = { 0 };
	int r = import_source_read(name, text, len, &sink, diag);

	if (r < 0)
		return r;
	if (!import->is_classic && !import->is_current)
		return diag_set(diag, -EINVAL, "%s: has no key of Kepler's configuration", name);
	set_server(import);
	(void)set_ours(import, "metrics.schema",
		       !import->is_current  ? "classic"
		       : import->is_classic ? "both"
					    : "current",
		       "the names of its metrics");
	print(import, name, out);
	if (import->no_memory || strbuf_error(out) < 0 || strbuf_error(import->report) < 0)
		return diag_set(diag, -ENOMEM, "out of memory");
	r = config_options.check(&import->config.options, &why);
	return r < 0 ? diag_set(diag, r, "%s: %s", name, why.text) : 0;
}

int config_import(const char *name, const char *text, size_t len, struct strbuf *out,
		  struct strbuf *report, struct import_counts *ret, struct diag *diag)
{
	size_t count = option_count(&config_options);
	struct import import = { .report = report };
	int r = config_load_text("", "", 0, &import.config, diag);

	if (r < 0)
		return r;
	import.setters = calloc(count, sizeof(const struct import_row *));
	import.notes = calloc(count, sizeof(import.notes[0]));
	r = import.setters && import.notes ? translate(&import, name, text, len, out, diag)
					   : diag_set(diag, -ENOMEM, "out of memory");
	*ret = import.counts;
	for (size_t i = 0; i < IMPORT_PARTS; i++)
		free(import.parts[i].value);
	free(import.setters);
	free(import.notes);
	strbuf_release(&import.left_out);
	strbuf_release(&import.needless);
	config_release(&import.config);
	return r;
}
