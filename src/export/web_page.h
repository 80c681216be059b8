/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The document of src/export/web/, as tools/embed-page puts it together: its parts before and after
 * the place for what landing_page() writes, compressed together by zlib.
 */
#pragma once

extern const unsigned char web_page_data[];
extern const unsigned web_page_size; /* compressed */
extern const unsigned web_page_head; /* bytes before the place */
extern const unsigned web_page_tail; /* and after it */
/* The Content-Security-Policy: this style and this script alone, by their hashes. */
extern const char web_page_policy[];
