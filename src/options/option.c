// SPDX-License-Identifier: Apache-2.0
/* One option's value: from text, to text, compared, described. */
#include "options/option.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "base/num.h"
#include "base/text/utf8.h"

#define VALUE_MAX 4096 /* bytes with the terminator: PATH_MAX */
#define KIB       1024U
#define MICRO     1e6

size_t option_char_len(const char *text, size_t len)
{
	static const char *const refused[] = { "\u2028", "\u2029", "\ufeff", "\xef\xbf\xbe",
					       "\xef\xbf\xbf" };
	size_t n = utf8_char_len(text, len);
	unsigned char c = (unsigned char)text[0];

	if (n == 0 || c < 0x20 || c == 0x7f)
		return 0;
	if (n == 2 && c == 0xc2 && (unsigned char)text[1] < 0xa0)
		return 0; /* C1 controls: a line end, the start of terminal commands */
	for (size_t i = 0; n == 3 && i < ARRAY_SIZE(refused); i++) {
		if (memcmp(text, refused[i], 3) == 0)
			return 0;
	}
	return n;
}

const char *option_printable(char *buf, size_t size, const char *text)
{
	static const char more[] = "…";
	size_t len = strlen(text), n = 0;

	for (size_t i = 0; i < len;) {
		size_t part = option_char_len(text + i, len - i);

		if (n + 4 + sizeof(more) > size) {
			memcpy(buf + n, more, sizeof(more));
			return buf;
		}
		if (part == 0) {
			part = utf8_char_len(text + i, len - i);
			buf[n++] = '?';
		} else {
			memcpy(buf + n, text + i, part);
			n += part;
		}
		i += part ? part : 1;
	}
	buf[n] = '\0';
	return buf;
}

static void *member(const struct option *option, void *part)
{
	return (char *)part + option->offset;
}

static const void *member_const(const struct option *option, const void *part)
{
	return (const char *)part + option->offset;
}

bool option_is_list(const struct option *option)
{
	return option->type == OPTION_STRINGS || option->type == OPTION_AMOUNTS;
}

bool option_is_outside_file(const struct option *option)
{
	return option->not_in_file || option->only_flag;
}

static size_t *list_count(const struct option *option, void *part)
{
	return (size_t *)(void *)((char *)part + option->count_offset);
}

size_t option_list_count(const struct option *option, const void *part)
{
	return *(const size_t *)(const void *)((const char *)part + option->count_offset);
}

/* "must be WHAT, not "TEXT"" */
static int refuse(const struct option *option, const char *text, struct diag *diag)
{
	struct strbuf what = STRBUF_INIT;
	char shown[96];

	option_describe(option, &what);
	(void)diag_set(diag, 0, "must be %s, not \"%s\"", what.data ? what.data : "valid",
		       option_printable(shown, sizeof(shown), text));
	strbuf_release(&what);
	return -EINVAL;
}

static bool is_plain_text(const char *text, size_t len)
{
	for (size_t i = 0; i < len;) {
		size_t n = option_char_len(text + i, len - i);

		if (n == 0)
			return false;
		i += n;
	}
	return true;
}

static int check_string(const struct option *option, const char *text, struct diag *diag)
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

static int set_string(const struct option *option, char **slot, const char *text, struct diag *diag)
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

static int set_bool(const struct option *option, bool *value, const char *text, struct diag *diag)
{
	if (strcmp(text, "true") == 0)
		*value = true;
	else if (strcmp(text, "false") == 0)
		*value = false;
	else
		return refuse(option, text, diag);
	return 0;
}

static const struct option_choice *choice_called(const struct option *option, const char *text)
{
	const struct option_choice *choice = option->choices;

	while (choice && choice->name && strcmp(choice->name, text) != 0)
		choice++;
	return choice && choice->name ? choice : NULL;
}

static int set_enum(const struct option *option, int *value, const char *text, struct diag *diag)
{
	const struct option_choice *choice = choice_called(option, text);

	if (!choice)
		return refuse(option, text, diag);
	*value = choice->value;
	return 0;
}

static int set_u64(const struct option *option, int parsed, uint64_t value, uint64_t *ret,
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

static int set_u32(const struct option *option, uint32_t *ret, const char *text, struct diag *diag)
{
	uint64_t value = 0;
	/* parse_u64() takes a line's end, as files have it. */
	int r = strchr(text, '\n') ? -EINVAL : parse_u64(text, strlen(text), &value);

	r = set_u64(option, r, value, &value, text, diag);
	if (r == 0)
		*ret = (uint32_t)value;
	return r;
}

static int set_size(const struct option *option, uint32_t *ret_bytes, const char *text,
		    struct diag *diag)
{
	uint64_t kib = 0;
	int r = parse_kib(text, &kib);

	if (r == 0 && (kib > UINT32_MAX / KIB || (kib & (kib - 1))))
		r = -EINVAL;
	r = set_u64(option, r, kib, &kib, text, diag);
	if (r == 0)
		*ret_bytes = (uint32_t)(kib * KIB);
	return r;
}

static int set_duration(const struct option *option, uint64_t *ret, const char *text,
			struct diag *diag)
{
	const struct option_choice *word = choice_called(option, text);
	uint64_t value = 0;
	int r;

	if (word) {
		*ret = (uint64_t)word->value;
		return 0;
	}
	r = parse_duration_ns(text, &value);
	return set_u64(option, r, value, ret, text, diag);
}

static int set_micro(const struct option *option, uint64_t *ret, const char *text,
		     struct diag *diag)
{
	double value;

	if (parse_double(text, &value) < 0 || value < (double)option->min ||
	    value > (double)option->max)
		return refuse(option, text, diag);
	*ret = (uint64_t)llround(value * MICRO);
	return 0;
}

static bool is_amount_name(const char *name, size_t len)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789_-";

	return len > 0 && len < AMOUNT_NAME_MAX && strspn(name, allowed) >= len && name[0] >= 'a' &&
	       name[0] <= 'z';
}

static int set_amount(const struct option *option, struct named_amount *ret, size_t count,
		      const char *text, struct diag *diag)
{
	struct named_amount value = { 0 };
	const char *equals = strchr(text, '=');
	size_t len = equals ? (size_t)(equals - text) : 0;

	if (!is_amount_name(text, len) || parse_double(equals + 1, &value.amount) < 0 ||
	    value.amount < (double)option->min || value.amount > (double)option->max)
		return refuse(option, text, diag);
	value.amount += 0.0;
	memcpy(value.name, text, len);
	for (size_t i = 0; i < count; i++) {
		if (strcmp(ret[i].name, value.name) == 0)
			return diag_set(diag, -EINVAL, "names %s twice", value.name);
	}
	ret[count] = value;
	return 0;
}

static int add_item(const struct option *option, void *part, const char *text, struct diag *diag)
{
	size_t *count = list_count(option, part);
	int r;

	if (*count == option->list_max)
		return diag_set(diag, -EINVAL, "must have at most %zu items", option->list_max);
	if (option->type == OPTION_STRINGS)
		r = set_string(option, (char **)member(option, part) + *count, text, diag);
	else
		r = set_amount(option, member(option, part), *count, text, diag);
	if (r == 0)
		(*count)++;
	return r;
}

int option_parse(const struct option *option, void *part, const char *text, struct diag *diag)
{
	void *value = member(option, part);

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
		return set_u32(option, value, text, diag);
	case OPTION_SIZE:
		return set_size(option, value, text, diag);
	case OPTION_MICRO:
		return set_micro(option, value, text, diag);
	case OPTION_STRINGS:
	case OPTION_AMOUNTS:
		return add_item(option, part, text, diag);
	}
	return -EINVAL;
}

void option_clear(const struct option *option, void *part)
{
	if (!option_is_list(option))
		return;
	if (option->type == OPTION_STRINGS) {
		char **items = member(option, part);

		for (size_t i = 0; i < option->list_max; i++) {
			free(items[i]);
			items[i] = NULL;
		}
	}
	*list_count(option, part) = 0;
}

void option_release(const struct option *option, void *part)
{
	option_clear(option, part);
	if (option->type == OPTION_STRING) {
		char **text = member(option, part);

		free(*text);
		*text = NULL;
	}
}

static bool format_choice(const struct option *option, int value, struct strbuf *out)
{
	for (const struct option_choice *choice = option->choices; choice->name; choice++) {
		if (choice->value == value) {
			strbuf_add_str(out, choice->name);
			return true;
		}
	}
	return false;
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

static void format_duration_or_word(const struct option *option, uint64_t ns, struct strbuf *out)
{
	if (!option->choices || ns <= INT64_MAX || !format_choice(option, (int)(int64_t)ns, out))
		add_duration(out, ns);
}

void option_format(const struct option *option, const void *part, size_t item, struct strbuf *out)
{
	const void *value = member_const(option, part);
	const struct named_amount *amount = value;

	switch (option->type) {
	case OPTION_STRING:
	case OPTION_STRINGS:
		strbuf_add_str(out, ((char *const *)value)[item]);
		break;
	case OPTION_BOOL:
		strbuf_add_str(out, *(const bool *)value ? "true" : "false");
		break;
	case OPTION_ENUM:
		(void)format_choice(option, *(const int *)value, out);
		break;
	case OPTION_DURATION:
		format_duration_or_word(option, *(const uint64_t *)value, out);
		break;
	case OPTION_U32:
		strbuf_add_u64(out, *(const uint32_t *)value);
		break;
	case OPTION_SIZE:
		strbuf_addf(out, "%uKiB", *(const uint32_t *)value / KIB);
		break;
	case OPTION_MICRO:
		add_double(out, (double)*(const uint64_t *)value / MICRO);
		break;
	case OPTION_AMOUNTS:
		strbuf_addf(out, "%s=", amount[item].name);
		add_double(out, amount[item].amount);
		break;
	}
}

static bool same_text(const struct option *option, const void *a, const void *b, size_t item)
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

static size_t value_size(const struct option *option)
{
	switch (option->type) {
	case OPTION_STRING:
		return sizeof(char *);
	case OPTION_BOOL:
		return sizeof(bool);
	case OPTION_ENUM:
		return sizeof(int);
	case OPTION_DURATION:
	case OPTION_MICRO:
		return sizeof(uint64_t);
	case OPTION_U32:
	case OPTION_SIZE:
		return sizeof(uint32_t);
	case OPTION_STRINGS:
		return option->list_max * sizeof(char *);
	case OPTION_AMOUNTS:
		return option->list_max * sizeof(struct named_amount);
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

void option_swap(const struct option *option, void *a, void *b)
{
	swap_bytes(member(option, a), member(option, b), value_size(option));
	if (option_is_list(option))
		swap_bytes(list_count(option, a), list_count(option, b), sizeof(size_t));
}

bool option_equal(const struct option *option, const void *a, const void *b)
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

static void describe_range(const struct option *option, struct strbuf *out)
{
	if (option->type == OPTION_DURATION) {
		for (const struct option_choice *word = option->choices; word && word->name; word++)
			strbuf_addf(out, "%s or ", word->name);
		strbuf_add_str(out, "a duration from ");
		add_duration(out, option->min);
		strbuf_add_str(out, " to ");
		add_duration(out, option->max);
		strbuf_add_str(out, ", such as 500ms, 5s or 1m30s");
		return;
	}
	if (option->type == OPTION_SIZE) {
		strbuf_addf(out, "a power of two from %lluKiB to %lluMiB, such as 512KiB or 1MiB",
			    (unsigned long long)option->min,
			    (unsigned long long)option->max / 1024);
		return;
	}
	strbuf_addf(out, "a %snumber from %llu to %llu", option->type == OPTION_U32 ? "whole " : "",
		    (unsigned long long)option->min, (unsigned long long)option->max);
}

static void describe_choices(const struct option *option, struct strbuf *out)
{
	for (const struct option_choice *choice = option->choices; choice->name; choice++) {
		if (choice != option->choices)
			strbuf_add_str(out, choice[1].name ? ", " : " or ");
		strbuf_add_str(out, choice->name);
	}
}

void option_describe(const struct option *option, struct strbuf *out)
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
	case OPTION_SIZE:
	case OPTION_MICRO:
		describe_range(option, out);
		break;
	case OPTION_AMOUNTS:
		strbuf_addf(out, "%s, such as %s, with %s from %llu to %llu", option->metavar,
			    option->example, strchrnul(option->metavar, '=') + 1,
			    (unsigned long long)option->min, (unsigned long long)option->max);
		break;
	}
}
