#!/usr/bin/env bash
# Installs what the tests need beyond Python, where it may: Debian's chromium and fonts for the
# browser tests, the pinned npm agents for the real-agent tests. What cannot be had is said here,
# and the tests that miss it are skipped by name.
set -euo pipefail
cd "$(dirname "$0")/.."

debian_packages=(chromium fonts-liberation fonts-dejavu-core)
npm_agents=tests/agents/npm

say() { echo "test tools: $*"; }

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo -n "$@"; fi
}

may_be_root() {
  [ "$(id -u)" -eq 0 ] || { command -v sudo && sudo -n true; } >/dev/null 2>&1
}

install_debian_packages() {
  say "installing ${debian_packages[*]}"
  as_root apt-get update -qq &&
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
      "${debian_packages[@]}" </dev/null >/dev/null
}

have_browser() {
  if command -v chromium >/dev/null; then
    return
  elif ! command -v apt-get >/dev/null; then
    say "no chromium, and no apt-get to install it: browser tests will be skipped"
  elif ! may_be_root; then
    say "no chromium, and no right to install it: browser tests will be skipped"
  elif ! install_debian_packages; then
    say "chromium could not be installed: browser tests will be skipped"
  fi
}

node_is_current() {
  command -v npm >/dev/null && command -v node >/dev/null &&
    [ "$(node -p 'process.versions.node.split(".")[0]')" -ge 20 ]
}

have_npm_agents() {
  [ -f "$npm_agents/package-lock.json" ] || return 0
  if [ "$npm_agents/node_modules/.package-lock.json" -nt "$npm_agents/package-lock.json" ]; then
    return
  elif ! node_is_current; then
    say "no node >= 20 with npm: real-agent tests will be skipped"
  else
    say "installing the pinned agents of $npm_agents"
    npm ci --prefix "$npm_agents" --no-audit --no-fund --no-update-notifier --loglevel=error \
      </dev/null ||
      say "the npm agents could not be installed: real-agent tests will be skipped"
  fi
}

have_browser
have_npm_agents
