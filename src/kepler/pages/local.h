/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The local socket: the exporter's pages (pages.h) for users of this machine, over a Unix socket,
 * without TLS or tokens, because the kernel says which user asks (viewer.h). It has a server and a
 * limit on connections of its own, so that local users and scrapes cannot hinder each other.
 */
#pragma once

#include "export/exporter.h"

/* Where another program listens at the default path, or it cannot be made, there is none. */
extern const struct exporter_ops local_exporter;
