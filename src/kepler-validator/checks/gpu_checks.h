/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each GPU's energy by that GPU's own meter, as node/gpu/INDEX: energy of one GPU under the name of
 * another leaves their sum (node/gpu) right. GPUs are paired by UUID or, if an exporter shows none,
 * by the driver's number.
 */
#pragma once

#include "kepler-validator/checks/checking.h"

/* 0, -ENOMEM or -ENOSPC. Nothing is added without a meter of a GPU, or without the zone "gpu". */
int check_gpus(const struct checking *checking);
