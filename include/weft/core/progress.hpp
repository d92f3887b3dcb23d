// SPDX-License-Identifier: BSL-1.0
/// The progress of an anytime algorithm, and the callable that is called with it.
#pragma once

#include "weft/core/config.hpp"
#include "weft/core/explained.hpp"

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace weft {

/// The state of an anytime algorithm: its effort so far, and the best solution.
struct progress {
  std::uint64_t moves = 0;
  double seconds = 0;
  double best = 0; ///< the objective of the best solution so far
};

namespace why_not {
template <class F>
struct progress_listener {
  static constexpr bool is_callable = requires(const progress& x, std::decay_t<F>& f) { f(x); };
  static constexpr bool is_pointer_to_one = !is_callable && requires(const progress& x, F& f) { (*f)(x); };
  static_assert(!is_callable, "weft: on_progress keeps its callable, and this one cannot be copied: pass a temporary, "
                              "std::move(f), or std::ref(f)");
  static_assert(!is_pointer_to_one, "weft: on_progress takes the callable itself, not a pointer to it; std::ref(f) "
                                    "passes one that must not be copied");
  static_assert(is_callable || is_pointer_to_one,
                "weft: on_progress takes what can be called with a const weft::progress&, such as "
                "[&](const weft::progress& x) { last = x.best; }; this cannot");
};
} // namespace why_not

namespace must_be {
template <class F>
concept progress_listener = (requires(const progress& x, std::decay_t<F>& f) {
  f(x);
} && std::constructible_from<std::decay_t<F>, F>) || explained<why_not::progress_listener<F>>;
} // namespace must_be

/// Any callable of `(const progress&)`, or none. It owns the callable, and copies share it: they call the same one.
/// None is a constant expression, so that strategies with a budget can be constants.
class progress_callback {
public:
  constexpr progress_callback() = default;
  constexpr progress_callback(std::nullptr_t) {}

  /// An empty `std::function` or a null pointer is none.
  template <class F>
    requires(!std::same_as<std::remove_cvref_t<F>, progress_callback> &&
             !std::same_as<std::remove_cvref_t<F>, std::nullptr_t>) && must_be::progress_listener<F>
  progress_callback(F&& f) {
    using callable = std::decay_t<F>;
    constexpr bool is_function = std::is_function_v<std::remove_reference_t<F>>;
    if constexpr (std::constructible_from<callable, std::nullptr_t> && !is_function && requires {
                    { f == nullptr } -> std::convertible_to<bool>;
                  }) {
      if (f == nullptr) {
        return;
      }
    }
    held_ = new holder<callable>{std::forward<F>(f)};
  }

  constexpr progress_callback(const progress_callback& other) noexcept : held_{other.held_} {
    if (held_ != nullptr) {
      held_->users.fetch_add(1, std::memory_order_relaxed);
    }
  }
  constexpr progress_callback(progress_callback&& other) noexcept : held_{std::exchange(other.held_, nullptr)} {}
  constexpr progress_callback& operator=(progress_callback other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }
  constexpr ~progress_callback() {
    if (held_ != nullptr) {
      release();
    }
  }

  /// Calls it. There must be one.
  void operator()(const progress& x) const {
    WEFT_ASSERT(held_ != nullptr);
    held_->call(x);
  }
  constexpr explicit operator bool() const { return held_ != nullptr; }

private:
  struct any {
    std::atomic<std::uint32_t> users{1};
    virtual ~any() = default;
    virtual void call(const progress& x) = 0;
  };
  template <class F>
  struct holder final : any {
    template <class G>
    explicit holder(G&& g) : f(std::forward<G>(g)) {}
    void call(const progress& x) override { static_cast<void>(f(x)); }
    F f;
  };

  void release() {
    if (held_->users.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      delete held_;
    }
  }

  any* held_ = nullptr;
};

} // namespace weft
