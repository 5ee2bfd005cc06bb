# Sourced by checks that need packages of PyPI: `python_with NAME==VERSION...` installs them into an environment below the
# target folder and sets PYTHON. Where they cannot be had, the check says so and is skipped. Needs $root.
python_with() {
    local folder wanted="$*"
    folder=${CARGO_TARGET_DIR:-$root/target}/ci-python/$(basename "$0")
    PYTHON=$folder/bin/python
    if [ ! -x "$PYTHON" ] || [ "$(cat "$folder/wanted" 2>/dev/null)" != "$wanted" ]; then
        rm -rf "$folder"
        mkdir -p "$(dirname "$folder")"
        if ! python3 -m venv "$folder" >"$folder.log" 2>&1 \
            || ! "$PYTHON" -m pip install --quiet --disable-pip-version-check "$@" >>"$folder.log" 2>&1; then
            echo "SKIPPED: $(basename "$0"): $wanted cannot be installed: $(tail -n 1 "$folder.log")" >&2
            exit 0
        fi
        printf '%s\n' "$wanted" >"$folder/wanted"
    fi
    export PYTHON
}
