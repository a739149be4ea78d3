#!/usr/bin/env bash
# The comparison of codecs on a store: DB=path for one that exists, else one is made.
case ${DB:-} in "" | /*) ;; *) DB=$PWD/$DB ;; esac
. "$(dirname "$0")/env.sh"
# Building takes minutes; a wrong path should not have to wait for that.
[ -z "${DB:-}" ] || [ -e "$DB" ] || fail "no such file: $DB"
. "$(dirname "$0")/bench-env.sh"
say "comparing"
exec "$BIN/python" benches/demo.py ${DB:+"$DB"} "$@"
