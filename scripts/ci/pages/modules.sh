# Sourced by the tests of pages: finds Chromium, node and npm, and fetches playwright-core and axe-core into $work. Chromium is
# installed where it is missing and the system's packages may be changed: by root, with apt-get. Where one of them cannot be had,
# the test says so and is skipped. Sets CHROMIUM; needs $root and $work.
skip() { echo "SKIPPED: $(basename "$0"): $1" >&2; exit 0; }

find_browser() { command -v chromium || command -v chromium-browser || command -v google-chrome; }
CHROMIUM=${CHROMIUM:-$(find_browser || true)}
if [ -z "$CHROMIUM" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "$(basename "$0"): installing chromium"
    mkdir -p "$work"
    {
        apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends chromium
    } >"$work/chromium.log" 2>&1 || echo "$(basename "$0"): chromium cannot be installed: $(tail -n 1 "$work/chromium.log")"
    CHROMIUM=$(find_browser || true)
fi
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
