// SPDX-License-Identifier: BSL-1.0
/// Plans in files: what is written of a plan that was found, and a plan that was read instead of a search.
#pragma once

#include "search.hpp"
#include "tool/model_file.hpp"

#include "weft/io/plan_record.hpp"

#include <string>
#include <vector>

namespace place {

/// The plan of `o.made` for this model and platform, run again. Throws `weft::error` if it is of another model or
/// platform, or breaks a rule; memory that does not suffice the report tells.
answer replay(const options& o, const tool::input& in, const problem& p);

/// What a file says of a plan. `notes` are those of the model and its costs.
weft::io::plan_record record_of(const options& o, const tool::input& in, const problem& p, const answer& a,
                                std::vector<std::string> notes);

} // namespace place
