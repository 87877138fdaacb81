#!/bin/sh
# /usr/local/bin/cgos-server: every command with the configuration of cgos-server.service, unless CGOS_CONFIG names another.
CGOS_CONFIG="${CGOS_CONFIG-/etc/cgos/cgos.toml}" exec /opt/cgos-server/current/bin/cgos-server "$@"
