# Programs for shells of agents that would read settings of the account, or run what stands in the working directory, when they only
# ask or show something. Each function stands only where its program does, so that "command not found" stays what it is. See AgentPrelude.
if \command -v curl; then curl() { \command curl -q "$@"; }; fi >/dev/null 2>&1
# With WGETRC=/dev/null wget fails.
if \command -v wget; then wget() ( export HOME="/dev/null"; \command wget "$@" ); fi >/dev/null 2>&1
if \command -v dig; then dig() ( export HOME="/dev/null"; \command dig "$@" ); fi >/dev/null 2>&1
if \command -v python3; then
	python3() { case "${1-} ${2-}" in ("-m json.tool") \command python3 -I "$@";; (*) \command python3 "$@";; esac; }
fi >/dev/null 2>&1
