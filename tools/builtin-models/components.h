/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builtin-models components: the component model, from RAPL readings of five machines: nx12, and
 * four bare-metal machines of EC2.
 */
#pragma once

#include "base/diag.h"
#include "base/strbuf.h"
#include "tools/builtin-models/options.h"

/*
 * Fits the model to the files ec2/ec2_*_Basic_*.csv and nx12/preprocess_abs_default_rapl_Basic.csv
 * in folder @path, writes the file that @config names, and prints errors on machines held out to
 * @out. 0, or -errno with a diagnosis.
 */
int builtin_components_train(const struct builtin_config *config, const char *path,
			     struct strbuf *out, struct diag *diag);
