/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One option: its allowed values, and the member of a struct that holds its value. A row describes
 * an option completely; flag, environment variable, YAML key, help, man page, reference, sample and
 * schema are made from it.
 *
 * Values from every source (flag, environment, file, default) are parsed by option_parse(), so that
 * the same values are allowed and errors have the same text. Text must be UTF-8 without control
 * characters: it goes into logs, YAML and terminals.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/option_choice.h"
#include "base/strbuf.h"
#include "base/text/named_amount.h"

#define OPTION_NAME_MAX 64 /* longest name of an option, with room */

enum option_type {
	OPTION_STRING,   /* char * or const char *, owned, never NULL once it is set */
	OPTION_BOOL,     /* bool */
	OPTION_ENUM,     /* int or an enum of its size, a choice's value */
	OPTION_DURATION, /* uint64_t ns */
	OPTION_U32,      /* uint32_t */
	OPTION_SIZE,     /* uint32_t bytes, a power of two of KiB */
	OPTION_MICRO,    /* uint64_t millionths: a number with a fraction, in µJ for J */
	OPTION_STRINGS,  /* char *[], and its size_t count */
	OPTION_AMOUNTS,  /* struct named_amount[], and its size_t count */
};

/* A row's member of a part's struct; a list with its count; a range. */
#define OPTION_MEMBER(part, member) .offset = offsetof(part, member)
#define OPTION_LIST(part, member, count, max_items)                                                \
	OPTION_MEMBER(part, member), .count_offset = offsetof(part, count), .list_max = (max_items)
#define OPTION_RANGE(low, high) .min = (low), .max = (high)

struct option {
	const char *name;  /* in full, "web.listen-address": flag and path of the YAML key */
	const char *alias; /* another YAML key ("web.listenAddresses"), or NULL */
	enum option_type type;
	size_t offset;       /* in the struct that the row's section is about */
	size_t count_offset; /* of a list's count */
	size_t list_max;
	uint64_t min, max;                   /* inclusive; ns, KiB or as in the text */
	const struct option_choice *choices; /* of a duration, or NULL: words in place of one */
	const char *default_text; /* as in the environment: a list's items separated by commas */
	const char *metavar;
	const char *example; /* of an amount: "package=12.5" */
	const char *help;    /* sentences, without the default and range */
	/* further rule for a string, or NULL: 0 or -EINVAL with a diagnosis */
	int (*check)(const char *text, struct diag *diag);
	bool may_be_empty;    /* strings */
	bool reloadable;      /* may change while running */
	bool not_in_file;     /* says where the file is */
	bool only_flag;       /* of one call: neither in the file nor in the environment */
	const char *bare;     /* value of the flag alone; NULL: the next word, or true */
	const char *known_as; /* elsewhere ("port"), for "did you mean", or NULL */
	const char *also; /* another flag, which other programs have ("web.config.file"), or NULL */
};

/*
 * Rows of options for one call only: a text, which may be empty if its default is, and a switch
 * that is off by default. @place is OPTION_MEMBER() or an initialiser like it.
 */
#define TEXT_FLAG(option_name, place, usual, variable, text)                                       \
	{                                                                                          \
		option_name, NULL, OPTION_STRING, place,                                           \
			.default_text = usual, .metavar = variable,                                \
			.may_be_empty = sizeof(usual) == 1, .only_flag = true, .help = text        \
	}
#define SWITCH_FLAG(option_name, place, text)                                                      \
	{                                                                                          \
		option_name, NULL, OPTION_BOOL, place, .default_text = "false", .only_flag = true, \
						       .help = text                                \
	}

/*
 * @part is the struct that @option's offset is in. Reads @text into the member; a list gets one
 * item more. -EINVAL with "must be …, not …" in @diag, or -ENOMEM. The member is unchanged on
 * failure.
 */
int option_parse(const struct option *option, void *part, const char *text, struct diag *diag);
/* The value (of list item @item) as text that option_parse() reads back to the same value. */
void option_format(const struct option *option, const void *part, size_t item, struct strbuf *out);
/*
 * Empties a list, so that items replace the items of the layer below; leaves other types alone.
 */
void option_clear(const struct option *option, void *part);
/* Frees what the member owns. */
void option_release(const struct option *option, void *part);
/* Exchanges the values of two structs; cannot fail. */
void option_swap(const struct option *option, void *a, void *b);
bool option_equal(const struct option *option, const void *a, const void *b);
bool option_is_list(const struct option *option);
bool option_is_outside_file(const struct option *option);
size_t option_list_count(const struct option *option, const void *part);
/* "a duration from 100ms to 1h, such as 500ms, 5s or 1m30s": completes "must be". */
void option_describe(const struct option *option, struct strbuf *out);

/*
 * Length of the character at @text, or 0 when it is not UTF-8 or cannot stand in one line of YAML:
 * controls, line separators, byte order marks.
 */
size_t option_char_len(const char *text, size_t len);
/*
 * Untrusted text for a message: control characters and invalid UTF-8 as "?", long text cut with
 * "…". Returns @buf.
 */
const char *option_printable(char *buf, size_t size, const char *text);
