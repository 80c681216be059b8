/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The style sheet of a page with charts (chart.h), light or dark as the reader's system is: text,
 * tables, and a grid of figures. A page with something of its own adds rules after it.
 */
#pragma once

extern const char page_style[];
