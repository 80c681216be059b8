// SPDX-License-Identifier: Apache-2.0
/*
 * One option's value: from text, to text, compared, described. Every source (flag, environment,
 * file, default) comes through option_set(), so that they agree on what is allowed and on how a
 * refusal reads.
 *
 * Text that a person wrote must be UTF-8 without control characters: it goes into logs, YAML and
 * terminals.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "base/num.h"
#include "kepler/config_options.h"

#define VALUE_MAX 4096 /* bytes with the terminator: PATH_MAX */

static void *member(const struct config_option *option, struct config *config)
{
	return (char *)config + option->offset;
}

static const void *member_const(const struct config_option *option, const struct config *config)
{
	return (const char *)config + option->offset;
}

bool option_is_list(const struct config_option *option)
{
	return option->type == OPTION_STRINGS || option->type == OPTION_ZONE_WATTS;
}

static size_t *list_count(const struct config_option *option, struct config *config)
{
	return (size_t *)(void *)((char *)config + option->count_offset);
}

size_t option_list_count(const struct config_option *option, const struct config *config)
{
	return *(const size_t *)(const void *)((const char *)config + option->count_offset);
}

/* "must be WHAT, not "TEXT"" */
static int refuse(const struct config_option *option, const char *text, struct diag *diag)
{
	struct strbuf what = STRBUF_INIT;
	char shown[96];

	option_describe(option, &what);
	(void)diag_set(diag, 0, "must be %s, not \"%s\"", what.data ? what.data : "valid",
		       config_printable(shown, sizeof(shown), text));
	strbuf_release(&what);
	return -EINVAL;
}

static bool is_plain_text(const char *text, size_t len)
{
	for (size_t i = 0; i < len;) {
		size_t n = config_char_len(text + i, len - i);

		if (n == 0)
			return false;
		i += n;
	}
	return true;
}

static int check_string(const struct config_option *option, const char *text, struct diag *diag)
{
	size_t len = strlen(text);

	if (len >= VALUE_MAX)
		return diag_set(diag, -EINVAL, "must be shorter than %d bytes", VALUE_MAX);
	if (!is_plain_text(text, len))
		return diag_set(diag, -EINVAL, "must be UTF-8 text without control characters");
	if (!*text && !option->may_be_empty)
		return refuse(option, text, diag);
	return option->check ? option->check(text, diag) : 0;
}

static int set_string(const struct config_option *option, char **slot, const char *text,
		      struct diag *diag)
{
	int r = check_string(option, text, diag);
	char *copy;

	if (r < 0)
		return r;
	copy = strdup(text);
	if (!copy)
		return diag_set(diag, -ENOMEM, "out of memory");
	free(*slot);
	*slot = copy;
	return 0;
}

static int set_bool(const struct config_option *option, bool *value, const char *text,
		    struct diag *diag)
{
	if (strcmp(text, "true") == 0)
		*value = true;
	else if (strcmp(text, "false") == 0)
		*value = false;
	else
		return refuse(option, text, diag);
	return 0;
}

static int set_enum(const struct config_option *option, int *value, const char *text,
		    struct diag *diag)
{
	for (const struct option_choice *choice = option->choices; choice->name; choice++) {
		if (strcmp(choice->name, text) == 0) {
			*value = choice->value;
			return 0;
		}
	}
	return refuse(option, text, diag);
}

static int set_u64(const struct config_option *option, int parsed, uint64_t value, uint64_t *ret,
		   const char *text, struct diag *diag)
{
	if (parsed < 0 || value < option->min || value > option->max)
		return refuse(option, text, diag);
	*ret = value;
	return 0;
}

/* A number of KiB, or with its unit: "512", "512KiB", "1MiB". */
static int parse_kib(const char *text, uint64_t *ret_kib)
{
	size_t digits = strspn(text, "0123456789");
	uint64_t value, scale = strcmp(text + digits, "MiB") == 0 ? 1024 : 1;
	int r = parse_u64(text, digits, &value);

	if (r < 0)
		return r;
	if (text[digits] && scale == 1 && strcmp(text + digits, "KiB") != 0)
		return -EINVAL;
	if (__builtin_mul_overflow(value, scale, ret_kib))
		return -ERANGE;
	return 0;
}

static int set_u32(const struct config_option *option, uint32_t *ret, const char *text,
		   struct diag *diag)
{
	bool kib = option->type == OPTION_KIB;
	uint64_t value = 0;
	int r = kib ? parse_kib(text, &value) : parse_u64(text, strcspn(text, "\n"), &value);

	if (r == 0 && (strchr(text, '\n') || (kib && (value & (value - 1)))))
		r = -EINVAL;
	r = set_u64(option, r, value, &value, text, diag);
	if (r == 0)
		*ret = (uint32_t)value;
	return r;
}

static int set_duration(const struct config_option *option, uint64_t *ret, const char *text,
			struct diag *diag)
{
	uint64_t value = 0;
	int r = parse_duration_ns(text, &value);

	return set_u64(option, r, value, ret, text, diag);
}

static int set_double(const struct config_option *option, double *ret, const char *text,
		      struct diag *diag)
{
	double value;

	if (parse_double(text, &value) < 0 || value < (double)option->min ||
	    value > (double)option->max)
		return refuse(option, text, diag);
	*ret = value + 0.0; /* no -0 */
	return 0;
}

static bool is_zone_name(const char *name, size_t len)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789_-";

	return len > 0 && len < CONFIG_ZONE_MAX && strspn(name, allowed) >= len && name[0] >= 'a' &&
	       name[0] <= 'z';
}

static int set_zone_watts(const struct config_option *option, struct config_idle_watts *ret,
			  size_t count, const char *text, struct diag *diag)
{
	struct config_idle_watts value = { 0 };
	const char *equals = strchr(text, '=');
	size_t len = equals ? (size_t)(equals - text) : 0;

	if (!is_zone_name(text, len) || parse_double(equals + 1, &value.watts) < 0 ||
	    value.watts < (double)option->min || value.watts > (double)option->max)
		return refuse(option, text, diag);
	value.watts += 0.0;
	memcpy(value.zone, text, len);
	for (size_t i = 0; i < count; i++) {
		if (strcmp(ret[i].zone, value.zone) == 0)
			return diag_set(diag, -EINVAL, "names zone %s twice", value.zone);
	}
	ret[count] = value;
	return 0;
}

static int add_item(const struct config_option *option, struct config *config, const char *text,
		    struct diag *diag)
{
	size_t *count = list_count(option, config);
	int r;

	if (*count == option->list_max)
		return diag_set(diag, -EINVAL, "must have at most %zu items", option->list_max);
	if (option->type == OPTION_STRINGS)
		r = set_string(option, (char **)member(option, config) + *count, text, diag);
	else
		r = set_zone_watts(option, member(option, config), *count, text, diag);
	if (r == 0)
		(*count)++;
	return r;
}

int option_set(const struct config_option *option, struct config *config, const char *text,
	       struct diag *diag)
{
	void *value = member(option, config);

	switch (option->type) {
	case OPTION_STRING:
		return set_string(option, value, text, diag);
	case OPTION_BOOL:
		return set_bool(option, value, text, diag);
	case OPTION_ENUM:
		return set_enum(option, value, text, diag);
	case OPTION_DURATION:
		return set_duration(option, value, text, diag);
	case OPTION_U32:
	case OPTION_KIB:
		return set_u32(option, value, text, diag);
	case OPTION_DOUBLE:
		return set_double(option, value, text, diag);
	case OPTION_STRINGS:
	case OPTION_ZONE_WATTS:
		return add_item(option, config, text, diag);
	}
	return -EINVAL;
}

void option_clear(const struct config_option *option, struct config *config)
{
	if (!option_is_list(option))
		return;
	if (option->type == OPTION_STRINGS) {
		char **items = member(option, config);

		for (size_t i = 0; i < option->list_max; i++) {
			free(items[i]);
			items[i] = NULL;
		}
	}
	*list_count(option, config) = 0;
}

void option_release(const struct config_option *option, struct config *config)
{
	option_clear(option, config);
	if (option->type == OPTION_STRING) {
		char **text = member(option, config);

		free(*text);
		*text = NULL;
	}
}

int option_set_from(size_t index, struct config *config, enum config_origin origin,
		    const char *text, struct diag *diag)
{
	size_t count;
	const struct config_option *option = &config_options(&count)[index];

	if (config->origins[index] != origin)
		option_clear(option, config);
	config->origins[index] = origin;
	return option_set(option, config, text, diag);
}

int option_set_all_from(size_t index, struct config *config, enum config_origin origin,
			const char *text, struct diag *diag)
{
	size_t count;
	const struct config_option *option = &config_options(&count)[index];
	CLEANUP_FREE char *copy = NULL;
	int r = 0;

	if (!option_is_list(option))
		return option_set_from(index, config, origin, text, diag);
	option_clear(option, config);
	config->origins[index] = origin;
	copy = strdup(text);
	if (!copy)
		return diag_set(diag, -ENOMEM, "out of memory");
	for (char *rest = copy, *item; r == 0 && *copy && (item = strsep(&rest, ","));)
		r = option_set(option, config, item, diag);
	return r;
}

static void format_choice(const struct config_option *option, int value, struct strbuf *out)
{
	for (const struct option_choice *choice = option->choices; choice->name; choice++) {
		if (choice->value == value) {
			strbuf_add_str(out, choice->name);
			return;
		}
	}
}

static void add_double(struct strbuf *out, double value)
{
	char digits[FORMAT_DOUBLE_MAX];

	strbuf_add(out, digits, format_double(digits, value));
}

static void add_duration(struct strbuf *out, uint64_t ns)
{
	char text[64];

	format_duration(text, sizeof(text), ns);
	strbuf_add_str(out, text);
}

void option_format(const struct config_option *option, const struct config *config, size_t item,
		   struct strbuf *out)
{
	const void *value = member_const(option, config);
	const struct config_idle_watts *zone = value;

	switch (option->type) {
	case OPTION_STRING:
	case OPTION_STRINGS:
		strbuf_add_str(out, ((char *const *)value)[item]);
		break;
	case OPTION_BOOL:
		strbuf_add_str(out, *(const bool *)value ? "true" : "false");
		break;
	case OPTION_ENUM:
		format_choice(option, *(const int *)value, out);
		break;
	case OPTION_DURATION:
		add_duration(out, *(const uint64_t *)value);
		break;
	case OPTION_U32:
		strbuf_add_u64(out, *(const uint32_t *)value);
		break;
	case OPTION_KIB:
		strbuf_addf(out, "%uKiB", *(const uint32_t *)value);
		break;
	case OPTION_DOUBLE:
		add_double(out, *(const double *)value);
		break;
	case OPTION_ZONE_WATTS:
		strbuf_addf(out, "%s=", zone[item].zone);
		add_double(out, zone[item].watts);
		break;
	}
}

static bool same_text(const struct config_option *option, const struct config *a,
		      const struct config *b, size_t item)
{
	struct strbuf text_a = STRBUF_INIT, text_b = STRBUF_INIT;
	bool same;

	option_format(option, a, item, &text_a);
	option_format(option, b, item, &text_b);
	same = text_a.len == text_b.len &&
	       (!text_a.len || memcmp(text_a.data, text_b.data, text_a.len) == 0);
	strbuf_release(&text_a);
	strbuf_release(&text_b);
	return same;
}

static size_t value_size(const struct config_option *option)
{
	switch (option->type) {
	case OPTION_STRING:
		return sizeof(char *);
	case OPTION_BOOL:
		return sizeof(bool);
	case OPTION_ENUM:
		return sizeof(int);
	case OPTION_DURATION:
		return sizeof(uint64_t);
	case OPTION_U32:
	case OPTION_KIB:
		return sizeof(uint32_t);
	case OPTION_DOUBLE:
		return sizeof(double);
	case OPTION_STRINGS:
		return option->list_max * sizeof(char *);
	case OPTION_ZONE_WATTS:
		return option->list_max * sizeof(struct config_idle_watts);
	}
	return 0;
}

static void swap_bytes(void *a, void *b, size_t size)
{
	unsigned char *left = a, *right = b;

	for (size_t i = 0; i < size; i++) {
		unsigned char byte = left[i];

		left[i] = right[i];
		right[i] = byte;
	}
}

void option_swap(const struct config_option *option, struct config *a, struct config *b)
{
	swap_bytes(member(option, a), member(option, b), value_size(option));
	if (option_is_list(option))
		swap_bytes(list_count(option, a), list_count(option, b), sizeof(size_t));
}

bool option_equal(const struct config_option *option, const struct config *a,
		  const struct config *b)
{
	size_t count = 1;

	if (option_is_list(option)) {
		count = option_list_count(option, a);
		if (count != option_list_count(option, b))
			return false;
	}
	for (size_t i = 0; i < count; i++) {
		if (!same_text(option, a, b, i))
			return false;
	}
	return true;
}

static void describe_range(const struct config_option *option, struct strbuf *out)
{
	if (option->type == OPTION_DURATION) {
		strbuf_add_str(out, "a duration from ");
		add_duration(out, option->min);
		strbuf_add_str(out, " to ");
		add_duration(out, option->max);
		strbuf_add_str(out, ", such as 500ms, 5s or 1m30s");
		return;
	}
	if (option->type == OPTION_KIB) {
		strbuf_addf(out, "a power of two from %lluKiB to %lluMiB, such as 512KiB or 1MiB",
			    (unsigned long long)option->min,
			    (unsigned long long)option->max / 1024);
		return;
	}
	strbuf_addf(out, "a %snumber from %llu to %llu", option->type == OPTION_U32 ? "whole " : "",
		    (unsigned long long)option->min, (unsigned long long)option->max);
}

static void describe_choices(const struct config_option *option, struct strbuf *out)
{
	for (const struct option_choice *choice = option->choices; choice->name; choice++) {
		if (choice != option->choices)
			strbuf_add_str(out, choice[1].name ? ", " : " or ");
		strbuf_add_str(out, choice->name);
	}
}

void option_describe(const struct config_option *option, struct strbuf *out)
{
	switch (option->type) {
	case OPTION_STRING:
	case OPTION_STRINGS:
		strbuf_add_str(out, option->may_be_empty ? "text" : "text that is not empty");
		break;
	case OPTION_BOOL:
		strbuf_add_str(out, "true or false");
		break;
	case OPTION_ENUM:
		describe_choices(option, out);
		break;
	case OPTION_DURATION:
	case OPTION_U32:
	case OPTION_KIB:
	case OPTION_DOUBLE:
		describe_range(option, out);
		break;
	case OPTION_ZONE_WATTS:
		strbuf_addf(out, "ZONE=WATTS, such as package=12.5, with WATTS from %llu to %llu",
			    (unsigned long long)option->min, (unsigned long long)option->max);
		break;
	}
}
