/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The option table, as the files that load and render configurations see it. Nothing outside
 * config*.c includes this.
 *
 * To add an option: a member in struct config (config.h), a row in config_options.c, and a line in
 * CHANGELOG.md. Everything else (flag, environment variable, YAML key, help, man page, reference,
 * sample, schema) follows.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/strbuf.h"
#include "kepler/config.h"

enum option_type {
	OPTION_STRING,     /* char * */
	OPTION_BOOL,       /* bool */
	OPTION_ENUM,       /* int, a choice's value */
	OPTION_DURATION,   /* uint64_t ns */
	OPTION_U32,        /* uint32_t */
	OPTION_KIB,        /* uint32_t KiB, a power of two */
	OPTION_DOUBLE,     /* double */
	OPTION_STRINGS,    /* char *[], and its size_t count */
	OPTION_ZONE_WATTS, /* struct config_idle_watts[], and its size_t count */
};

struct option_choice {
	const char *name; /* NULL ends the list */
	int value;
};

struct config_option {
	const char *name;  /* "web.listen-address": flag and path of the YAML key */
	const char *alias; /* another YAML key ("web.listenAddresses"), or NULL */
	enum option_type type;
	size_t offset;       /* in struct config */
	size_t count_offset; /* of a list's count */
	size_t list_max;
	uint64_t min, max; /* inclusive; ns, KiB or plain */
	const struct option_choice *choices;
	const char
		*default_text; /* as in the environment: a list's items are separated by commas */
	const char *metavar;
	const char *help; /* sentences, without the default and range */
	/* further rule for a string, or NULL: 0 or -EINVAL with what is wrong */
	int (*check)(const char *text, struct diag *diag);
	bool may_be_empty; /* strings */
	bool reloadable;   /* may change on SIGHUP */
	bool not_in_file;  /* config.file itself */
};

/* The table, in the order of sections. */
const struct config_option *config_options(size_t *ret_count);

#define OPTION_NONE SIZE_MAX
/* Index of the option called @name, or OPTION_NONE. */
size_t option_find(const char *name);
/* As option_find, for a YAML path: aliases and camelCase forms of the name count too. */
size_t option_find_key(const char *path);
/* Does any option's name begin with "@path."? */
bool option_is_section(const char *path);
/*
 * The known name most like @text (options, and sections when @with_sections), or NULL when none is
 * near. Static.
 */
const char *option_nearest(const char *text, bool with_sections, char *buf, size_t size);
/* "web.listen-address" → "KEPLER_WEB_LISTEN_ADDRESS". */
void option_environment_name(const struct config_option *option, char *buf, size_t size);

/*
 * Reads @text into the option's member; a list gets one item more. -EINVAL with "must be …, not …"
 * in @diag, or -ENOMEM. The member is unchanged on failure.
 */
int option_set(const struct config_option *option, struct config *config, const char *text,
	       struct diag *diag);
/*
 * Sets @option in layer @origin: the first item of a list in a layer replaces what lower layers
 * had.
 */
int option_set_from(size_t index, struct config *config, enum config_origin origin,
		    const char *text, struct diag *diag);
/* As option_set_from for the comma-separated items of @text, when the option is a list. */
int option_set_all_from(size_t index, struct config *config, enum config_origin origin,
			const char *text, struct diag *diag);
/*
 * Empties a list option, so that items replace those of the layer below; leaves other types alone.
 */
void option_clear(const struct config_option *option, struct config *config);
void option_release(const struct config_option *option, struct config *config);
bool option_is_list(const struct config_option *option);
size_t option_list_count(const struct config_option *option, const struct config *config);
/* The value (of list item @item) as text that option_set reads back to the same value. */
void option_format(const struct config_option *option, const struct config *config, size_t item,
		   struct strbuf *out);
/* Exchanges the option's values of two configs; cannot fail. */
void option_swap(const struct config_option *option, struct config *a, struct config *b);
bool option_equal(const struct config_option *option, const struct config *a,
		  const struct config *b);
/* "a duration from 100ms to 1h, such as 500ms, 5s or 1m30s": completes "must be". */
void option_describe(const struct config_option *option, struct strbuf *out);

/*
 * Layers over a config that has the defaults. Messages name the flag, the variable, or
 * FILE:LINE:COLUMN and the key.
 */
int config_read_flags(struct config *config, int argc, char *const *argv, struct diag *diag);
int config_read_environment(struct config *config, char *const *environ_, struct diag *diag);
int config_read_yaml(struct config *config, const char *name, const char *text, size_t len,
		     struct diag *diag);

/*
 * Length of the character at @text, or 0 when it is not UTF-8 or cannot stand in one line of YAML:
 * controls, line separators, byte order marks.
 */
size_t config_char_len(const char *text, size_t len);
/*
 * Untrusted text for a message: control characters and invalid UTF-8 as "?", long text cut with
 * "…". Returns @buf.
 */
const char *config_printable(char *buf, size_t size, const char *text);
/* @text as a double-quoted YAML scalar. It must be valid UTF-8. */
void config_yaml_quote(struct strbuf *out, const char *text);
