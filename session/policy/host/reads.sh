# Programs for shells of agents that would read settings of the account, run what stands in the working directory, write a cache or a log,
# or ask somebody on the network, when they only ask or show something. Each function stands only where its program does, so that "command
# not found" stays what it is. See AgentPrelude.
#
#= _fl_a _fl_arg an argument
#= _fl_r _fl_readonly set where -readonly is among them
{
\command -v curl && curl() { \command curl -q "$@"; }
# With WGETRC=/dev/null wget fails.
\command -v wget && wget() ( export HOME="/dev/null"; \command wget "$@" )
\command -v dig && dig() ( export HOME="/dev/null"; \command dig "$@" )
\command -v chronyc && chronyc() { \command chronyc -n "$@"; }
\command -v lsof && lsof() { \command lsof -n "$@"; }
# With this for a cache file, it writes none.
\command -v blkid && blkid() { \command blkid -c /dev/null "$@"; }
\command -v pip && pip() ( export PIP_DISABLE_PIP_VERSION_CHECK="1"; \command pip "$@" )
\command -v pip3 && pip3() ( export PIP_DISABLE_PIP_VERSION_CHECK="1"; \command pip3 "$@" )
# npm makes the directory of its cache, unless there is a file of that name.
\command -v npm && npm() (
	case ${1-} in (ls|list) export npm_config_cache="/dev/null" npm_config_logs_max="0" npm_config_update_notifier="false" npm_config_timing="false";; esac
	\command npm "$@"
)
\command -v go && go() ( case "$#,${1-}" in ("1,version"|*",env") export GOTOOLCHAIN="local";; esac; \command go "$@" )
# A view of the file may run a program, but for -safe, which SQLite knows from 3.37 on. Of the commands with a dot .fullschema asks views.
\command -v sqlite3 && sqlite3() (
	_fl_readonly=
	for _fl_arg in "$@"; do
		case $_fl_arg in (*-readonly) _fl_readonly=y;; esac
	done
	case $_fl_readonly$_fl_arg in
	(y.[!f]*) ;;
	(y*)
		\command sqlite3 -safe -version >/dev/null 2>&1 || {
			echo "sqlite3: this SQLite has no -safe, so this needs approval: command sqlite3" >&2
			exit 126
		}
		set -- -safe "$@";;
	esac
	\command sqlite3 "$@"
)
# The file of a project may include others, of repositories and registries.
\command -v docker && docker() (
	for _fl_arg in "$@"; do
		case $_fl_arg in (ps|logs|top|images|port|config|convert) export COMPOSE_EXPERIMENTAL_GIT_REMOTE="false" COMPOSE_EXPERIMENTAL_OCI_REMOTE="false";; esac
	done
	\command docker "$@"
)
\command -v python3 && python3() {
	case "${1-} ${2-}" in ("-m json.tool") \command python3 -I "$@";; (*) \command python3 "$@";; esac
}
\command -v python && python() {
	case "${1-} ${2-}" in ("-m json.tool") \command python -I "$@";; (*) \command python "$@";; esac
}
:
} >/dev/null 2>&1
