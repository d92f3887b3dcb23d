// SPDX-License-Identifier: BSL-1.0
/// The inputs of `machine`: files that tools wrote, recognised by content, and figures on the command line.
#pragma once

#include "weft/platform/described_machine.hpp"
#include "weft/platform/inventory.hpp"

#include <string>
#include <vector>

namespace machine_program {

/// All that the files list. Throws `weft::error` of one line for a file that is none of the known lists, and for two
/// that say the same thing.
weft::inventory::listing read_lists(const std::vector<std::string>& files);

/// Keeps only those nodes; or, if no nodes are listed, makes the machine of so many that are alike.
void choose_nodes(weft::inventory::listing& all, const std::string& expression);

/// `NAME=fp32:60,bandwidth:900,…` gives the figures of a GPU, `NAME=OTHER` says which GPU a name or a type of Slurm's
/// means.
void add_gpu(weft::machine_assumptions& assumed, const std::string& text);

/// `fp32:2.5,bandwidth:200,memory:512,watts:400`.
void set_cpu(weft::machine_assumptions& assumed, const std::string& text);

/// Bytes per second of `200Gbit/s`, `25GB/s` and such.
double bandwidth(const std::string& text, const char* option);

} // namespace machine_program
