#!/bin/sh
# Cargo calls this instead of the linker. It links the agent a second time with its
# symbols, as $ASSIZE_AGENT_SYMBOLS: `assize why` names the agent's functions by them.
# Nothing else differs, so code lies where it lies in the agent.
set -e
cc "$@"
for word; do
	shift
	case $word in
	*/assize_agent-*.o | *.rlib | *.a) ;;
	*/assize_agent-*) word=$ASSIZE_AGENT_SYMBOLS agent=yes ;;
	-Wl,--strip-all) word=-Wl,--strip-debug ;;
	esac
	set -- "$@" "$word"
done
[ -z "$agent" ] || cc "$@"
