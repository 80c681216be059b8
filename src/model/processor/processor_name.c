// SPDX-License-Identifier: Apache-2.0
#include "model/processor/processor_name.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/macro.h"
#include "base/text/ascii.h"

/* Length of "2.30GHz", "933 mhz" at @text, or 0. */
static size_t frequency_len(const char *text)
{
	size_t digits = strspn(text, "0123456789.");
	const char *unit = text + digits + (text[digits] == ' ');

	if (!digits || !ascii_is_alnum(text[0]) || strlen(unit) < 3)
		return 0;
	return strchr("gGmM", unit[0]) && strncasecmp(unit + 1, "hz", 2) == 0
		       ? (size_t)(unit + 3 - text)
		       : 0;
}

/* Length of "64-Bit Multi-Core" at @text, or 0. */
static size_t bits_len(const char *text)
{
	static const char words[] = "-Bit Multi-Core";
	size_t digits = strspn(text, "0123456789");

	return digits && strncasecmp(text + digits, words, sizeof(words) - 1) == 0
		       ? digits + sizeof(words) - 1
		       : 0;
}

/* Length of a word that names nothing, at the beginning of a word; or 0. */
static size_t filler_len(const char *text)
{
	static const char *const words[] = { "CPU", "Processor" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		size_t len = strlen(words[i]);

		if (strncasecmp(text, words[i], len) == 0 && !ascii_is_alnum(text[len]))
			return len;
	}
	return bits_len(text) ? bits_len(text) : frequency_len(text);
}

/* Returns the length of marks inside words, or of a text in brackets. */
static size_t mark_len(const char *text)
{
	if (strncasecmp(text, "(R)", 3) == 0)
		return 3;
	if (strncasecmp(text, "(TM)", 4) == 0)
		return 4;
	if (strncmp(text, "\xc2\xae", 2) == 0) /* ® */
		return 2;
	if (*text == '(' || *text == '[') {
		size_t inside = strcspn(text, *text == '(' ? ")" : "]");

		return inside + (text[inside] != '\0');
	}
	return *text == '@' || *text == ',' ? 1 : 0;
}

void processor_name(const char *text, char *buf, size_t size)
{
	bool begins = true;
	size_t len = 0;

	while (*text && len + 1 < size) {
		size_t skipped = mark_len(text);
		char c = *text;

		if (!skipped && begins)
			skipped = filler_len(text);
		if (skipped) {
			text += skipped;
			continue;
		}
		text++;
		begins = !ascii_is_alnum(c) && c != '.' && c != '+';
		if (!begins)
			buf[len++] = ascii_lower(c);
		else if (len && buf[len - 1] != '_')
			buf[len++] = '_';
		/* A version is part of the word before it: "2686 v4". */
		if (len > 1 && buf[len - 1] == 'v' && buf[len - 2] == '_' && isdigit(*text))
			buf[--len - 1] = 'v';
	}
	while (len && buf[len - 1] == '_')
		len--;
	if (size)
		buf[len] = '\0';
}
