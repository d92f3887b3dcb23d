// SPDX-License-Identifier: BSL-1.0
/// Some ranks that talk to each other, and apart from everybody else.
#pragma once

#include "weft/core/error.hpp"
#include "weft/interop/mpi/call_error.hpp"
#include "weft/interop/mpi/message_type.hpp"
#include "weft/interop/mpi/session.hpp"

#include <cstddef>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <mpi.h>

namespace weft::mpi {

/// A type whose values may be sent as their bytes.
template <class T>
concept sendable = std::is_trivially_copyable_v<T>;

/// A copy of a communicator: its messages meet no others, and its errors are thrown, not fatal. Every member says who
/// must call it; "collective" is every rank of it, in the same order. All throw `call_error`. Moves, does not copy.
class communicator {
public:
  /// Collective over `all`, which stays the caller's.
  explicit communicator(MPI_Comm all = MPI_COMM_WORLD) { adopt(MPI_Comm_dup(all, &comm_), "MPI_Comm_dup"); }
  ~communicator() {
    if (comm_ != MPI_COMM_NULL && !session::is_over()) {
      MPI_Comm_free(&comm_);
    }
  }
  communicator(communicator&& other) noexcept
      : comm_{std::exchange(other.comm_, MPI_COMM_NULL)}, rank_{other.rank_}, size_{other.size_} {}
  communicator& operator=(communicator&& other) noexcept {
    std::swap(comm_, other.comm_);
    std::swap(rank_, other.rank_);
    std::swap(size_, other.size_);
    return *this;
  }

  int rank() const { return rank_; }
  int size() const { return size_; }
  MPI_Comm handle() const { return comm_; } ///< stays this object's

  /// The largest tag that messages may have, at least 32767.
  int max_tag() const {
    void* value = nullptr;
    int known = 0;
    check(MPI_Comm_get_attr(comm_, MPI_TAG_UB, static_cast<void*>(&value), &known), "MPI_Comm_get_attr");
    return known != 0 ? *static_cast<int*>(value) : 32767;
  }

  /// Sends bytes, of which there may be more than 2^31; returns when they may change.
  void send(std::span<const std::byte> bytes, int to, int tag) const {
    const message_type m{bytes.size()};
    if (const int code = MPI_Send(bytes.data(), m.count(), m.type(), to, tag, comm_); code != MPI_SUCCESS) {
      throw call_error{"MPI_Send to rank " + std::to_string(to), code};
    }
  }
  /// Receives a message of at most as many bytes.
  void receive(std::span<std::byte> bytes, int from, int tag) const {
    const message_type m{bytes.size()};
    if (const int code = MPI_Recv(bytes.data(), m.count(), m.type(), from, tag, comm_, MPI_STATUS_IGNORE);
        code != MPI_SUCCESS) {
      throw call_error{"MPI_Recv from rank " + std::to_string(from), code};
    }
  }
  /// The same without waiting: the request is the caller's to complete, and the bytes stay until then.
  [[nodiscard]] MPI_Request begin_send(std::span<const std::byte> bytes, int to, int tag) const {
    const message_type m{bytes.size()};
    MPI_Request r = MPI_REQUEST_NULL;
    if (const int code = MPI_Isend(bytes.data(), m.count(), m.type(), to, tag, comm_, &r); code != MPI_SUCCESS) {
      throw call_error{"MPI_Isend to rank " + std::to_string(to), code};
    }
    return r;
  }
  [[nodiscard]] MPI_Request begin_receive(std::span<std::byte> bytes, int from, int tag) const {
    const message_type m{bytes.size()};
    MPI_Request r = MPI_REQUEST_NULL;
    if (const int code = MPI_Irecv(bytes.data(), m.count(), m.type(), from, tag, comm_, &r); code != MPI_SUCCESS) {
      throw call_error{"MPI_Irecv from rank " + std::to_string(from), code};
    }
    return r;
  }

  /// Returns when all ranks have called it. Collective.
  void barrier() const { check(MPI_Barrier(comm_), "MPI_Barrier"); }

  /// The values of every rank, by rank. Collective; each rank may give another number of values.
  template <sendable T>
  std::vector<std::vector<T>> all_gather(std::span<const T> mine) const {
    const auto n = static_cast<std::size_t>(size_);
    std::vector<int> lengths(n), first(n, 0);
    const int length = bytes_of<T>(mine.size());
    check(MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, comm_), "MPI_Allgather");
    const auto all = std::accumulate(lengths.begin(), lengths.end(), std::size_t{0}) / sizeof(T);
    bytes_of<T>(all);
    std::exclusive_scan(lengths.begin(), lengths.end(), first.begin(), 0);
    std::vector<T> values(all);
    check(MPI_Allgatherv(mine.data(), length, MPI_BYTE, values.data(), lengths.data(), first.data(), MPI_BYTE, comm_),
          "MPI_Allgatherv");
    std::vector<std::vector<T>> by_rank;
    by_rank.reserve(n);
    for (auto next = values.begin(); const int bytes : lengths) {
      const auto end = next + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(bytes) / sizeof(T));
      by_rank.emplace_back(next, end);
      next = end;
    }
    return by_rank;
  }
  /// The same with one value of each rank.
  template <sendable T>
  std::vector<T> all_gather(const T& mine) const {
    std::vector<T> values(static_cast<std::size_t>(size_));
    const int length = bytes_of<T>(1);
    check(MPI_Allgather(&mine, length, MPI_BYTE, values.data(), length, MPI_BYTE, comm_), "MPI_Allgather");
    return values;
  }
  std::vector<std::string> all_gather(const std::string& mine) const {
    std::vector<std::string> texts;
    for (const auto& text : all_gather(std::span<const char>{mine})) {
      texts.emplace_back(text.begin(), text.end());
    }
    return texts;
  }

  /// Gives every rank the values of `root`. Collective; what other ranks had before does not matter.
  template <sendable T>
  void broadcast(std::vector<T>& values, int root = 0) const {
    int length = bytes_of<T>(values.size());
    check(MPI_Bcast(&length, 1, MPI_INT, root, comm_), "MPI_Bcast");
    values.resize(static_cast<std::size_t>(length) / sizeof(T));
    check(MPI_Bcast(values.data(), length, MPI_BYTE, root, comm_), "MPI_Bcast");
  }

private:
  template <class T>
  static int bytes_of(std::size_t count) {
    if (count > std::numeric_limits<int>::max() / sizeof(T)) {
      throw error("mpi: more than 2 GiB in a collective operation; send them by messages instead");
    }
    return static_cast<int>(count * sizeof(T));
  }

  void adopt(int made, const char* call) {
    check(made, call);
    check(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 0;
};

/// The name of the host that this rank runs on.
inline std::string host_name() {
  char name[MPI_MAX_PROCESSOR_NAME + 1] = {};
  int length = 0;
  check(MPI_Get_processor_name(name, &length), "MPI_Get_processor_name");
  return std::string(name, static_cast<std::size_t>(length));
}

/// The same of each rank, by rank. Collective.
inline std::vector<std::string> host_names(const communicator& all) {
  return all.all_gather(host_name());
}

} // namespace weft::mpi
