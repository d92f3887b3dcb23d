# shellcheck shell=bash
# SPDX-License-Identifier: BSL-1.0
# For the other scripts, to be sourced: long steps that keep a log and show that they are alive.

steps_logs=build/logs
steps_begin=$SECONDS

steps_clock() { printf '%d:%02d' $(((SECONDS - steps_begin) / 60)) $(((SECONDS - steps_begin) % 60)); }

# step NAME COMMAND...: runs the command with its output in build/logs/NAME.log; says when it begins and ends, and
# every 20 seconds how far it is. On failure shows the end of the log, without the tests that passed. Returns the
# command's exit status.
step() {
  local name=$1 log="$steps_logs/$1.log" begin=$SECONDS status=0 command_pid
  shift
  mkdir -p "$steps_logs"
  printf '[%s] %s …\n' "$(steps_clock)" "$name"
  "$@" >"$log" 2>&1 &
  command_pid=$!
  trap 'kill "$command_pid" 2>/dev/null; exit 130' INT TERM
  while kill -0 "$command_pid" 2>/dev/null; do
    local waited=0
    while [ $waited -lt 40 ] && kill -0 "$command_pid" 2>/dev/null; do
      sleep 0.5
      waited=$((waited + 1))
    done
    if [ $waited = 40 ]; then
      printf '[%s] %s … %d s: %s\n' "$(steps_clock)" "$name" $((SECONDS - begin)) "$(tail -n 1 "$log" | cut -c 1-100)"
    fi
  done
  wait "$command_pid" || status=$?
  trap - INT TERM
  if [ $status = 0 ]; then
    printf '[%s] %s done in %d s\n' "$(steps_clock)" "$name" $((SECONDS - begin))
  else
    printf '[%s] %s FAILED (%d) after %d s; the end of %s:\n' \
      "$(steps_clock)" "$name" $status $((SECONDS - begin)) "$log"
    grep -vE '^ *Start +[0-9]+: |\.\.\. +Passed ' "$log" | tail -n 60 | sed 's/^/    /'
  fi
  return $status
}
