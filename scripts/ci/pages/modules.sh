# Sourced by the tests of pages: finds Chromium, node and npm, and fetches playwright-core and axe-core into $work. Where
# one of them cannot be had, the test says so and is skipped. Sets CHROMIUM; needs $root and $work.
skip() { echo "SKIPPED: $(basename "$0"): $1" >&2; exit 0; }

CHROMIUM=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
[ -n "$CHROMIUM" ] || skip "no chromium found; install it or set CHROMIUM to its path"
command -v node >/dev/null || skip "no node found"
[ "$(node -p 'process.versions.node.split(".")[0]')" -ge 20 ] || skip "node 20 or newer is needed"
command -v npm >/dev/null || skip "no npm found"
mkdir -p "$work"
cp "$root"/scripts/ci/pages/package.json "$root"/scripts/ci/pages/package-lock.json "$work"
if ! cmp -s "$work/package-lock.json" "$work/node_modules/fetched"; then
    (cd "$work" && npm ci --ignore-scripts --no-audit --no-fund --fetch-retries=1 >npm.log 2>&1) \
        || skip "npm cannot fetch playwright-core and axe-core: $(grep -m 1 'npm error [^c]' "$work/npm.log" || echo 'see npm.log')"
    cp "$work/package-lock.json" "$work/node_modules/fetched"
fi
export CHROMIUM PAGES_TEST_MODULES=$work
