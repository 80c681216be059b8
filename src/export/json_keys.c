// SPDX-License-Identifier: Apache-2.0
#include "export/json_keys.h"

#include <math.h>
#include <string.h>

#include "base/num.h"
#include "export/text_sink.h"

static bool begins(const struct strbuf *out)
{
	char last = out->len ? out->data[out->len - 1] : '{';

	return last == '{' || last == '[' || last == ':';
}

void json_add_key(struct strbuf *out, const char *key)
{
	bool is_first = begins(out);
	size_t len = strlen(key);
	char *at;

	if (!strbuf_reserve(out, len + 4))
		return;
	at = out->data + out->len;
	if (!is_first)
		*at++ = ',';
	*at++ = '"';
	memcpy(at, key, len);
	at += len;
	*at++ = '"';
	*at++ = ':';
	*at = '\0';
	out->len = (size_t)(at - out->data);
}

void json_add_text(struct strbuf *out, const char *key, const char *text)
{
	json_add_key(out, key);
	strbuf_add_char(out, '"');
	strbuf_add_json(out, text);
	strbuf_add_char(out, '"');
}

void json_add_value(struct strbuf *out, double value)
{
	char digits[FORMAT_DOUBLE_MAX];

	if (!begins(out))
		strbuf_add_char(out, ',');
	if (isfinite(value))
		strbuf_add(out, digits, format_double(digits, value));
	else
		strbuf_add_str(out, "null");
}

void json_add_number(struct strbuf *out, const char *key, double value)
{
	json_add_key(out, key);
	json_add_value(out, value);
}

void json_add_scaled(struct strbuf *out, const char *key, uint64_t value, unsigned decimals)
{
	char digits[FORMAT_SCALED_MAX];

	json_add_key(out, key);
	strbuf_add(out, digits, format_scaled(digits, value, decimals));
}

void json_add_flag(struct strbuf *out, const char *key, bool flag)
{
	json_add_key(out, key);
	strbuf_add_str(out, flag ? "true" : "false");
}

void json_begin_item(struct strbuf *out)
{
	strbuf_add_str(out, begins(out) ? "\n{" : ",\n{");
}
