/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elements, attributes and text of an XML document, one after the other, for files that programs
 * write: docs/design/xml.md has the reason for a reader of its own. Allocates nothing, and recurses
 * not at all. Of XML 1.0 it takes elements, attributes, text, the five named references and those
 * to ASCII characters; comments, CDATA sections and processing instructions are skipped. Anything
 * else is refused, above all declarations (<!DOCTYPE>), and so all entities that a document
 * defines. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define XML_DEPTH_MAX 32 /* elements within each other; deeper documents are refused */

/* A part of the document: not terminated, references as they are. */
struct xml_piece {
	const char *text;
	size_t len;
};

enum xml_event {
	XML_DONE,  /* the document is complete */
	XML_BEGIN, /* an element begins */
	XML_TEXT,  /* between two tags, never empty; an element may have several */
	XML_END,   /* an element ends; <a/> begins and ends */
};

/* Begin with { .at = text, .end = text + len }. */
struct xml_scan {
	const char *at, *end;
	struct xml_piece names[XML_DEPTH_MAX]; /* from the root to the element of the event */
	unsigned depth;
	struct xml_piece attributes; /* of XML_BEGIN */
	struct xml_piece text;       /* of XML_TEXT */
	bool is_empty, has_ended, has_root;
};

/* The next enum xml_event, or -EINVAL: not such a document; @at is near the fault. */
int xml_scan_next(struct xml_scan *scan);
/* Returns true if the event's element lies at a path of names: "domstatus/domain/uuid". */
bool xml_scan_is_at(const struct xml_scan *scan, const char *path);
/*
 * The value of an attribute of XML_BEGIN, without references, terminated. False: there is none, or
 * it does not fit into @buf with its terminator, or has another reference.
 */
bool xml_scan_attribute(const struct xml_scan *scan, const char *name, char *buf, size_t size);
/* The same of the text of XML_TEXT. */
bool xml_scan_text(const struct xml_scan *scan, char *buf, size_t size);
