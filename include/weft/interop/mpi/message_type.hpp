// SPDX-License-Identifier: BSL-1.0
/// MPI datatypes for messages of any size.
#pragma once

#include "weft/interop/mpi/call_error.hpp"

#include <cstddef>
#include <limits>
#include <utility>

#include <mpi.h>

namespace weft::mpi {

/// So many bytes in one piece, as a count and a datatype. What an `int` can count is `count()` times `MPI_BYTE`. More
/// than that, for which MPI has no counts before version 4, is one of a derived type, made of large blocks and a rest;
/// so a tensor is one message, whatever its size. A receive whose type has more bytes than were sent gets what was
/// sent. May end before its messages do, which MPI allows.
class message_type {
public:
  static constexpr std::size_t max_of_int = static_cast<std::size_t>(std::numeric_limits<int>::max());

  /// `largest`: of how many bytes a block is, at most 2^31 - 1.
  explicit message_type(std::size_t bytes, std::size_t largest = max_of_int) {
    if (bytes <= largest) {
      count_ = static_cast<int>(bytes);
      return;
    }
    // In two steps, so that neither count is beyond an int.
    MPI_Datatype block = MPI_DATATYPE_NULL, blocks = MPI_DATATYPE_NULL;
    check(MPI_Type_contiguous(static_cast<int>(largest), MPI_BYTE, &block), "MPI_Type_contiguous");
    check(MPI_Type_contiguous(static_cast<int>(bytes / largest), block, &blocks), "MPI_Type_contiguous");
    const int lengths[] = {1, static_cast<int>(bytes % largest)};
    const MPI_Aint offsets[] = {0, static_cast<MPI_Aint>(bytes - bytes % largest)};
    const MPI_Datatype types[] = {blocks, MPI_BYTE};
    const int made = MPI_Type_create_struct(2, lengths, offsets, types, &type_);
    MPI_Type_free(&blocks);
    MPI_Type_free(&block);
    check(made, "MPI_Type_create_struct");
    owns_ = true;
    check(MPI_Type_commit(&type_), "MPI_Type_commit");
  }
  ~message_type() {
    if (owns_) {
      MPI_Type_free(&type_);
    }
  }
  message_type(message_type&& other) noexcept
      : count_{other.count_}, type_{other.type_}, owns_{std::exchange(other.owns_, false)} {}
  message_type& operator=(message_type&& other) noexcept {
    std::swap(count_, other.count_);
    std::swap(type_, other.type_);
    std::swap(owns_, other.owns_);
    return *this;
  }

  int count() const { return count_; }
  MPI_Datatype type() const { return type_; }

private:
  int count_ = 1;
  MPI_Datatype type_ = MPI_BYTE;
  bool owns_ = false;
};

} // namespace weft::mpi
