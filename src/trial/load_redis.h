/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replicas of redis-server, each with 50,000 requests a second from the worker, half of them SET
 * and half of them GET, in pipelines every 2 ms. They listen at Unix sockets in a folder of their
 * own below /tmp and write no data.
 */
#pragma once

#include "trial/load_kind.h"

extern const struct load_kind load_redis;
