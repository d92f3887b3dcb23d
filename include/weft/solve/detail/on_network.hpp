// SPDX-License-Identifier: BSL-1.0
/// The network that plans are to run on, whatever its type, as a search sees it.
#pragma once

#include "weft/core/random.hpp"
#include "weft/core/workspace.hpp"
#include "weft/cost/lowered.hpp"
#include "weft/evaluate/any_evaluator.hpp"
#include "weft/evaluate/evaluation.hpp"
#include "weft/instance.hpp"
#include "weft/partition/concepts.hpp"
#include "weft/partition/heft.hpp"
#include "weft/partition/list/bookings.hpp"
#include "weft/partition/peft.hpp"
#include "weft/plan/infeasibility.hpp"
#include "weft/plan/plan.hpp"
#include "weft/plan/trace.hpp"
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/schedule/path_completion_time.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/any_network.hpp"
#include "weft/simulate/contention.hpp"
#include "weft/simulate/fair_sharing.hpp"
#include "weft/simulate/plan_of.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"

#include <concepts>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace weft::solve::detail {

/// Plans are those of Problem, an instance.
template <class Problem>
class on_network {
public:
  /// An evaluator of runs in the plan's order without contention, for the same objective. `slower`: the problem with
  /// other transfer times; it must outlive the evaluator.
  virtual any_evaluator<Problem> alone(const Problem& slower) const = 0;
  /// The plans of heuristics that book links, if they can book those of this network.
  virtual std::optional<outcome<plan>> heft(rng& random, workspace& scratch) const = 0;
  virtual std::optional<outcome<plan>> peft(rng& random, workspace& scratch) const = 0;
  /// A plan with the order in which it runs by path completion time.
  virtual plan by_path(const plan& x) const = 0;
  virtual ~on_network() = default;
};

/// A network of the library, as one type.
inline simulate::any_network as_any_network(const simulate::any_network& network) { return network; }
inline simulate::any_network as_any_network(const simulate::fair_sharing& network) {
  return {contention_model::fair, network.weights};
}
inline simulate::any_network as_any_network(const simulate::port_contention&) { return {contention_model::port}; }

template <class Network>
concept network_of_library = std::same_as<Network, simulate::any_network> ||
                             std::same_as<Network, simulate::fair_sharing> ||
                             std::same_as<Network, simulate::port_contention>;

/// The plan of a heuristic that books links, if it can book those of the network.
template <class Heuristic, class Problem, class Network>
std::optional<outcome<plan>> booked([[maybe_unused]] const Problem& p, [[maybe_unused]] const Network& network,
                                    [[maybe_unused]] rng& random, [[maybe_unused]] workspace& scratch) {
  if constexpr (partition::bookable_network_for<Network, Problem>) {
    auto decided = partition::run(Heuristic{}.on(network), p, random, scratch);
    return decided ? outcome<plan>{std::move(decided->plan)} : outcome<plan>{decided.error()};
  } else {
    return std::nullopt;
  }
}

/// The plan in the order in which it runs by path completion time.
template <class Problem, class Network>
plan in_path_order(const Problem& p, const Network& network, const plan& x) {
  simulator by_path{p, schedule::path_completion_time{}, network};
  trace run;
  by_path.run(x, simulate::recorder{run});
  return simulate::plan_of(p, run);
}

/// The network of an evaluation of runs on one. `p`: what `lowered` was made of, with the same demands.
template <class Problem, class Original, class E>
class on_network_of final : public on_network<Problem> {
public:
  on_network_of(const Problem& lowered, const Original& p, const E& how, const tensor_numbers& tensors)
      : lowered_{lowered}, p_{p}, how_{how}, tensors_{tensors} {}

  any_evaluator<Problem> alone(const Problem& slower) const override {
    if constexpr (std::same_as<weft::detail::objective_of<E>, objective::makespan>) {
      return any_evaluator<Problem>{slower};
    } else {
      // The slower times, asked for by the numbers that the problem's tensors have.
      const auto costs = cost::lower(slower.cost(), slower.workload(), slower.platform(), tensors_.of_originals());
      const auto p = p_.with_costs(costs);
      return {slower, std::make_shared<decltype(p)>(p),
              evaluation{schedule::static_order{}, weft::detail::objective_in(how_)}, tensors_};
    }
  }
  std::optional<outcome<plan>> heft(rng& random, workspace& scratch) const override {
    return planned([&](const auto& p, const auto& on) { return booked<partition::heft>(p, on, random, scratch); });
  }
  std::optional<outcome<plan>> peft(rng& random, workspace& scratch) const override {
    return planned([&](const auto& p, const auto& on) { return booked<partition::peft>(p, on, random, scratch); });
  }
  plan by_path(const plan& x) const override {
    if constexpr (knows_links) {
      return in_path_order(lowered_, as_any_network(network()), x);
    } else {
      return tensors_.lowered(in_path_order(p_, network(), tensors_.original(x)));
    }
  }

private:
  const auto& network() const { return weft::detail::policy_in(how_).network; }
  /// The lowered problem has all that the network asks for.
  static constexpr bool knows_links =
    network_of_library<std::remove_cvref_t<decltype(std::declval<weft::detail::run_of<E>>().network)>> &&
    std::same_as<typename Original::platform_type, platform<>>;

  template <class Plan>
  std::optional<outcome<plan>> planned(Plan by) const {
    if constexpr (knows_links) {
      return by(lowered_, as_any_network(network()));
    } else {
      auto x = by(p_, network());
      if (x && *x) {
        **x = tensors_.lowered(std::move(**x));
      }
      return x;
    }
  }

  const Problem& lowered_;
  const Original& p_;
  const E& how_;
  const tensor_numbers& tensors_;
};

} // namespace weft::solve::detail
