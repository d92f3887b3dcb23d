// SPDX-License-Identifier: BSL-1.0
// What refers to a problem takes none that will be gone when it is asked, whether its type is deduced or written.
#include "weft/concurrency/moldable.hpp"
#include "weft/concurrency/strategy.hpp"
#include "weft/cost/staged.hpp"
#include "weft/evaluate/any_evaluator.hpp"
#include "weft/evaluate/evaluation.hpp"
#include "weft/evaluate/sampled_runs.hpp"
#include "weft/partition/list/schedule_builder.hpp"
#include "weft/platform/machine.hpp"
#include "weft/platform/platform.hpp"
#include "weft/refine/incremental_schedule.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/schedule/queue_end.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/fair_sharing.hpp"
#include "weft/simulate/manycore.hpp"
#include "weft/simulate/memory.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/simulate/under.hpp"
#include "weft/throughput/latency.hpp"
#include "weft/workload/workload.hpp"

#include <type_traits>

using namespace weft;

namespace {

using some_problem = problem<workload, platform<>>;
using on_network = simulate::under<schedule::fifo, simulate::fair_sharing>;

/// T can be made of a problem that has a name, and of no other.
template <class T, class... More>
inline constexpr bool refuses_temporaries =
  std::is_constructible_v<T, const some_problem&, More...> && std::is_constructible_v<T, some_problem&, More...> &&
  !std::is_constructible_v<T, some_problem, More...> && !std::is_constructible_v<T, const some_problem, More...>;

using simulator_of_fifo = simulator<some_problem, schedule::fifo>;
static_assert(refuses_temporaries<simulator_of_fifo> && refuses_temporaries<simulator_of_fifo, schedule::fifo>);
static_assert(refuses_temporaries<simulator<some_problem, schedule::fifo, simulate::fair_sharing>, schedule::fifo,
                                  simulate::fair_sharing>);
static_assert(refuses_temporaries<simulator<const some_problem, schedule::fifo>, schedule::fifo>);
static_assert(refuses_temporaries<simulate::engine<on_network, some_problem>::type, on_network>);
static_assert(refuses_temporaries<evaluator<some_problem, schedule::static_order>, schedule::static_order>);
static_assert(refuses_temporaries<any_evaluator<some_problem>> &&
              refuses_temporaries<any_evaluator<some_problem>, schedule::static_order>);
static_assert(refuses_temporaries<simulate::memory_tracker<some_problem>>);
static_assert(refuses_temporaries<refine::incremental_schedule<some_problem>>);
static_assert(refuses_temporaries<sampled_runs<some_problem, schedule::static_order>, schedule::static_order,
                                  cost::uncertainty, cost::sampling>);

using on_cores = problem<workload, with_machines<platform<>>, concurrency::moldable<>>;
using of_teams = manycore_simulator<on_cores, std::remove_const_t<decltype(concurrency::s1)>>;
static_assert(std::is_constructible_v<of_teams, const on_cores&, decltype(concurrency::s1)>);
static_assert(!std::is_constructible_v<of_teams, on_cores, decltype(concurrency::s1)>);
using builder = partition::list::schedule_builder<some_problem, schedule::queue_end>;
static_assert(refuses_temporaries<builder>);
using staged = problem<workload, platform<>, cost::staged>;
static_assert(std::is_constructible_v<throughput::latency_evaluator<staged>, const staged&>);
static_assert(!std::is_constructible_v<throughput::latency_evaluator<staged>, staged>);

template <class Problem>
concept makes_simulator = requires(Problem&& p) { simulator{static_cast<Problem&&>(p), schedule::fifo{}}; };
template <class Problem>
concept makes_evaluator = requires(Problem&& p) { evaluator{static_cast<Problem&&>(p), schedule::static_order{}}; };
static_assert(makes_simulator<const some_problem&> && !makes_simulator<some_problem>);
static_assert(makes_evaluator<const some_problem&> && !makes_evaluator<some_problem>);

} // namespace
