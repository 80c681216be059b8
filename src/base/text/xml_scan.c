// SPDX-License-Identifier: Apache-2.0
#include "base/text/xml_scan.h"

#include <errno.h>
#include <string.h>

#include "base/macro.h"
#include "base/text/ascii.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Names of other alphabets are bytes above 127; ':' separates a name space. */
static bool is_of_name(char c)
{
	return ascii_is_alnum(c) || strchr("-_.:", c) || (unsigned char)c > 127;
}

static struct xml_piece take_name(const char **at, const char *end)
{
	const char *begin = *at;

	while (*at < end && **at && is_of_name(**at))
		(*at)++;
	return (struct xml_piece){ begin, (size_t)(*at - begin) };
}

static void skip_blanks(const char **at, const char *end)
{
	while (*at < end && is_blank(**at))
		(*at)++;
}

/* Takes NAME="VALUE"; false at anything else. */
static bool take_attribute(const char **at, const char *end, struct xml_piece *ret_name,
			   struct xml_piece *ret_value)
{
	const char *begin;
	char quote;

	*ret_name = take_name(at, end);
	skip_blanks(at, end);
	if (!ret_name->len || *at == end || *(*at)++ != '=')
		return false;
	skip_blanks(at, end);
	if (*at == end || (**at != '"' && **at != '\''))
		return false;
	quote = *(*at)++;
	begin = *at;
	while (*at < end && **at != quote && **at != '<' && **at)
		(*at)++;
	*ret_value = (struct xml_piece){ begin, (size_t)(*at - begin) };
	return *at < end && *(*at)++ == quote;
}

static bool is_same(struct xml_piece one, struct xml_piece other)
{
	return one.len == other.len && memcmp(one.text, other.text, one.len) == 0;
}

/* ---- tags ---- */

static bool skip_to(struct xml_scan *scan, size_t opening, const char *closing)
{
	const char *from = scan->at + opening;
	const char *found = from < scan->end ? memmem(from, (size_t)(scan->end - from), closing,
						      strlen(closing))
					     : NULL;

	if (found)
		scan->at = found + strlen(closing);
	return found != NULL;
}

static bool starts(const struct xml_scan *scan, const char *text)
{
	size_t len = strlen(text);

	return (size_t)(scan->end - scan->at) >= len && memcmp(scan->at, text, len) == 0;
}

/* 1: something was skipped; 0: an element's tag is next; -EINVAL. */
static int skip_markup(struct xml_scan *scan)
{
	static const char *const pairs[][2] = { { "<!--", "-->" }, { "<?", "?>" } };

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		if (starts(scan, pairs[i][0]))
			return skip_to(scan, strlen(pairs[i][0]), pairs[i][1]) ? 1 : -EINVAL;
	}
	if (scan->depth && starts(scan, "<![CDATA["))
		return skip_to(scan, 9, "]]>") ? 1 : -EINVAL;
	return starts(scan, "<!") ? -EINVAL : 0;
}

static int take_end(struct xml_scan *scan)
{
	struct xml_piece name;

	scan->at += 2;
	name = take_name(&scan->at, scan->end);
	skip_blanks(&scan->at, scan->end);
	if (!scan->depth || !is_same(name, scan->names[scan->depth - 1]) || scan->at == scan->end ||
	    *scan->at++ != '>')
		return -EINVAL;
	scan->has_ended = true;
	return XML_END;
}

/* A blank stands before each attribute. */
static bool take_attributes(struct xml_scan *scan)
{
	struct xml_piece name, value;

	while (scan->at < scan->end && is_blank(*scan->at)) {
		skip_blanks(&scan->at, scan->end);
		if (scan->at == scan->end || *scan->at == '>' || *scan->at == '/')
			return true;
		if (!take_attribute(&scan->at, scan->end, &name, &value))
			return false;
	}
	return true;
}

static int take_begin(struct xml_scan *scan)
{
	struct xml_piece name;
	const char *attributes;

	scan->at++;
	name = take_name(&scan->at, scan->end);
	attributes = scan->at;
	if (!name.len || scan->depth == XML_DEPTH_MAX || (!scan->depth && scan->has_root) ||
	    !take_attributes(scan))
		return -EINVAL;
	scan->attributes = (struct xml_piece){ attributes, (size_t)(scan->at - attributes) };
	scan->is_empty = scan->at < scan->end && *scan->at == '/';
	scan->at += scan->is_empty;
	if (scan->at == scan->end || *scan->at++ != '>')
		return -EINVAL;
	scan->names[scan->depth++] = name;
	scan->has_root = true;
	return XML_BEGIN;
}

/* 1: there is none that counts. Outside of the root only blanks may stand. */
static int take_text(struct xml_scan *scan)
{
	const char *begin = scan->at;

	while (scan->at < scan->end && *scan->at != '<') {
		if (!scan->depth && !is_blank(*scan->at))
			return -EINVAL;
		scan->at++;
	}
	scan->text = (struct xml_piece){ begin, (size_t)(scan->at - begin) };
	return scan->depth && scan->text.len ? XML_TEXT : 1;
}

int xml_scan_next(struct xml_scan *scan)
{
	if (scan->has_ended) {
		scan->has_ended = false;
		scan->depth--;
	}
	if (scan->is_empty) {
		scan->is_empty = false;
		scan->has_ended = true;
		return XML_END;
	}
	while (scan->at < scan->end) {
		int r;

		if (*scan->at != '<') {
			r = take_text(scan);
			if (r != 1)
				return r;
			continue;
		}
		r = skip_markup(scan);
		if (r < 0)
			return r;
		if (r == 0)
			return starts(scan, "</") ? take_end(scan) : take_begin(scan);
	}
	return scan->depth || !scan->has_root ? -EINVAL : XML_DONE;
}

bool xml_scan_is_at(const struct xml_scan *scan, const char *path)
{
	for (unsigned i = 0; i < scan->depth; i++) {
		size_t len = strcspn(path, "/");

		if (!*path || !is_same(scan->names[i], (struct xml_piece){ path, len }))
			return false;
		path += len + (path[len] == '/');
	}
	return scan->depth && !*path;
}

/* ---- values ---- */

/* The character of "&…;" at *at; 0: another reference. */
static char take_reference(const char **at, const char *end)
{
	static const struct {
		const char *text;
		char c;
	} named[] = {
		{ "lt", '<' }, { "gt", '>' }, { "amp", '&' }, { "quot", '"' }, { "apos", '\'' }
	};
	const char *begin = *at + 1, *semicolon = memchr(begin, ';', (size_t)(end - begin));
	size_t len = semicolon ? (size_t)(semicolon - begin) : 0;
	unsigned value = 0;

	if (!semicolon)
		return 0;
	*at = semicolon + 1;
	for (size_t i = 0; i < ARRAY_SIZE(named); i++) {
		if (len == strlen(named[i].text) && memcmp(begin, named[i].text, len) == 0)
			return named[i].c;
	}
	if (len < 2 || len > 6 || *begin != '#')
		return 0;
	for (size_t i = begin[1] == 'x' ? 2 : 1; i < len; i++) {
		int digit = ascii_hex_value(begin[i]);

		if (digit < 0 || (begin[1] != 'x' && digit > 9))
			return 0;
		value = value * (begin[1] == 'x' ? 16 : 10) + (unsigned)digit;
	}
	return value < 128 ? (char)value : 0;
}

static bool decode(struct xml_piece piece, char *buf, size_t size)
{
	const char *at = piece.text, *end = piece.text + piece.len;
	size_t len = 0;

	while (at < end) {
		char c = *at == '&' ? take_reference(&at, end) : *at++;

		if (!c || len + 1 >= size)
			return false;
		buf[len++] = c;
	}
	buf[len] = '\0';
	return true;
}

bool xml_scan_attribute(const struct xml_scan *scan, const char *name, char *buf, size_t size)
{
	const struct xml_piece wanted = { name, strlen(name) };
	const char *at = scan->attributes.text, *end = at + scan->attributes.len;
	struct xml_piece found, value;

	while (at < end) {
		skip_blanks(&at, end);
		if (at == end || !take_attribute(&at, end, &found, &value))
			return false;
		if (is_same(found, wanted))
			return decode(value, buf, size);
	}
	return false;
}

bool xml_scan_text(const struct xml_scan *scan, char *buf, size_t size)
{
	return decode(scan->text, buf, size);
}
