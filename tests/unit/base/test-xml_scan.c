// SPDX-License-Identifier: Apache-2.0
#include "base/text/xml_scan.h"

#include <errno.h>

#include "tests/unit/unit.h"

static struct xml_scan scan_of(const char *text)
{
	return (struct xml_scan){ .at = text, .end = text + strlen(text) };
}

/* XML_DONE or -EINVAL. */
static int read_all(const char *text)
{
	struct xml_scan scan = scan_of(text);
	int event = XML_BEGIN;

	while (event > XML_DONE)
		event = xml_scan_next(&scan);
	return event;
}

static void events_have_paths(void **state)
{
	struct xml_scan scan =
		scan_of("<?xml version='1.0'?>\n<!-- <b> --><a x=\"1\" y='&lt;&#65;&#x42;'>"
			" t&amp;u <b/><![CDATA[<b>]]></a >\n");
	char text[8];

	assert_int_equal(xml_scan_next(&scan), XML_BEGIN);
	assert_true(xml_scan_is_at(&scan, "a"));
	assert_true(xml_scan_attribute(&scan, "x", text, sizeof(text)));
	assert_string_equal(text, "1");
	assert_true(xml_scan_attribute(&scan, "y", text, sizeof(text)));
	assert_string_equal(text, "<AB");
	assert_false(xml_scan_attribute(&scan, "y", text, 3));
	assert_false(xml_scan_attribute(&scan, "z", text, sizeof(text)));
	assert_int_equal(xml_scan_next(&scan), XML_TEXT);
	assert_true(xml_scan_text(&scan, text, sizeof(text)));
	assert_string_equal(text, " t&u ");
	assert_int_equal(xml_scan_next(&scan), XML_BEGIN);
	assert_true(xml_scan_is_at(&scan, "a/b"));
	assert_false(xml_scan_is_at(&scan, "a"));
	assert_false(xml_scan_is_at(&scan, "a/b/c"));
	assert_int_equal(xml_scan_next(&scan), XML_END);
	assert_true(xml_scan_is_at(&scan, "a/b"));
	assert_int_equal(xml_scan_next(&scan), XML_END);
	assert_true(xml_scan_is_at(&scan, "a"));
	assert_int_equal(xml_scan_next(&scan), XML_DONE);
}

static void anything_else_is_refused(void **state)
{
	static const char *const wrong[] = {
		"",
		"<a>",
		"<a></b>",
		"</a>",
		"<a/><b/>",
		"text<a/>",
		"<a/>text",
		"<!DOCTYPE a><a/>",
		"<a><!ENTITY b 'c'></a>",
		"<![CDATA[<a/>]]>",
		"<a><![CDATA[</a>",
		"<!-- <a/>",
		"<a x=1/>",
		"<a x='1'y='2'/>",
		"<a x='<'/>",
		"<a x='1/>",
		"<a x/>",
		"<a / >",
		"< a/>",
		"<a",
		"<",
	};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		if (read_all(wrong[i]) != -EINVAL)
			fail_msg("%s is taken", wrong[i]);
	}
}

static void references_of_documents_are_not_followed(void **state)
{
	static const char *const references[] = { "&own;", "&#x100;", "&#;", "&#x;",
						  "&#0;",  "&#9a;",   "&",   "&lt" };
	char document[64], text[32];

	for (size_t i = 0; i < ARRAY_SIZE(references); i++) {
		struct xml_scan scan;

		(void)snprintf(document, sizeof(document), "<a x='%s'/>", references[i]);
		scan = scan_of(document);
		assert_int_equal(xml_scan_next(&scan), XML_BEGIN);
		if (xml_scan_attribute(&scan, "x", text, sizeof(text)))
			fail_msg("%s is read", references[i]);
	}
}

static int read_nested(int depth)
{
	char text[8 * (XML_DEPTH_MAX + 2)];
	size_t len = 0;

	for (int i = 0; i < 2 * depth; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, i < depth ? "<a>" : "</a>");
	return read_all(text);
}

static void depth_is_bounded(void **state)
{
	assert_int_equal(read_nested(XML_DEPTH_MAX), XML_DONE);
	assert_int_equal(read_nested(XML_DEPTH_MAX + 1), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_have_paths),
		cmocka_unit_test(anything_else_is_refused),
		cmocka_unit_test(references_of_documents_are_not_followed),
		cmocka_unit_test(depth_is_bounded),
	};

	return unit_run(tests);
}
