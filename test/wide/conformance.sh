#!/usr/bin/env bash
# The official conformance suite against the built package: its four client scenarios, then its three server scenarios.
# Needs SKILLFS_NODE24 (a Node.js >= 22 binary) and SKILLFS_CONFORMANCE (the suite's entry point).
set -uo pipefail
cd "$(dirname "$0")/../.."
passed=0
failed=0
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
suite=("$SKILLFS_NODE24" "$SKILLFS_CONFORMANCE")

for scenario in no-prefetch verify-digest verify-size verify-frontmatter; do
  name=sep-2640-client-$scenario
  if "${suite[@]}" client --command 'node test/wide/conformance-client.mjs' --scenario "$name" -o "$results" >"$results/log" 2>&1; then
    passed=$((passed + 1))
    echo "ok $name"
  else
    failed=$((failed + 1))
    echo "not ok $name"
    cat "$results/log"
  fi
done
echo "conformance-client: $passed passed, $failed failed"
node test/wide/conformance-server.mjs || failed=$((failed + 1))
[ "$failed" -eq 0 ]
