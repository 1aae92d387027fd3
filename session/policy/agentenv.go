package policy

import "strings"

// gitSettings are Git's ways to run what a repository's own configuration names, which a setting of a fixed name closes. Hooks
// stay: reads start none, and what an operator approved should find them.
var gitSettings = []string{
	"core.fsmonitor=false",
	"log.showSignature=false",
	"safe.bareRepository=explicit", // a bare repository within a clone brings its own configuration
	"format.pretty=medium",         // a format may name what checks signatures
	"diff.submodule=short",         // else a diff runs another one within a submodule
	"status.submoduleSummary=false",
}

// gitEnviron closes them, and what else has a name of its own. Every Git obeys the settings (safe.bareRepository from 2.38 on), in
// the form that it hands them to its own programs in; no lazy fetch from 2.39.4 on.
var gitEnviron = [][2]string{
	{"GIT_CONFIG_PARAMETERS", "'" + strings.Join(gitSettings, "' '") + "'"},
	{"GIT_NO_LAZY_FETCH", "1"},
	{"GIT_OPTIONAL_LOCKS", "0"}, // writing the index back starts a hook
	{"GIT_PAGER", "cat"},
	{"GIT_TERMINAL_PROMPT", "0"},
}

// AgentEnviron returns the variables that shells of agents get, but for those that start with a clean environment, where
// [AgentPrelude] alone does it: Git's, and that Python from 3.11 on imports nothing from the directory that it runs in.
func AgentEnviron() []string {
	env := []string{"PYTHONSAFEPATH=1"}
	for _, kv := range gitEnviron {
		env = append(env, kv[0]+"="+kv[1])
	}
	return env
}

// AgentPrelude is what shells of agents run before anything else: it defines git as a function, which sets gitEnviron, and as
// functions curl, wget and dig, which keep these from the account's settings for them: those may name files to write and data to
// send. python3 takes json.tool from nowhere but its library. Reads that would run what the
// repository's own configuration names say so instead, and changes within submodules, which are repositories of their own,
// are not looked for. A program that is named in the account's configuration or the host's runs: whoever wrote that may decide it.
//
// It means the same to every shell of ours, leaves no variable behind, and does nothing that a read does not. (In mksh and
// zsh "exec git" would call the function again.)
var AgentPrelude = strings.Replace(gitFunction, "@", exports(), 1) + readFunctions

func exports() string {
	var b strings.Builder
	for _, kv := range gitEnviron {
		b.WriteString(" " + kv[0] + `="` + kv[1] + `"`)
	}
	return b.String()
}

const readFunctions = `if \command -v curl; then curl() { \command curl -q "$@"; }; fi >/dev/null 2>&1
if \command -v wget; then wget() ( export HOME="/dev/null"; \command wget "$@" ); fi >/dev/null 2>&1
if \command -v dig; then dig() ( export HOME="/dev/null"; \command dig "$@" ); fi >/dev/null 2>&1
if \command -v python3; then
	python3() { case "${1-} ${2-}" in ("-m json.tool") \command python3 -I "$@";; (*) \command python3 "$@";; esac; }
fi >/dev/null 2>&1
`

const gitFunction = `git() (
	export@
	_fl_s= _fl_v=
	for _fl_a in "$@"; do
		shift
		set -- "$@" "$_fl_a"
		case $_fl_s,$_fl_v,$_fl_a in
		(,,-C) _fl_v=y;;
		(,,-P|,,--no-pager) ;;
		(,,*) _fl_s=$_fl_a; case $_fl_a in (status|diff) set -- "$@" --ignore-submodules=dirty;; esac;;
		(,*) _fl_v=;;
		esac
	done
	case $_fl_s in
	(status|diff|blame|annotate) _fl_v='filter\..*\.(clean|smudge|process)|';;
	(show|log) _fl_v=;;
	(*) \command git "$@"; exit;;
	esac
	_fl_a=$(
		while :; do case $1 in
		(-C) case $2 in (/*) cd -P "$2";; (?*) cd -P "./$2";; esac 2>/dev/null || exit 0; shift 2;;
		(-*) shift;;
		(*) break;;
		esac; done
		\command git config --show-scope --includes --name-only --get-regexp "^(${_fl_v}diff\.(external|.*\.(command|textconv))|core\.worktree|blame\.ignorerevsfile)$" </dev/null 2>/dev/null
	) && _fl_v=0 || _fl_v=$?
	case $_fl_v,$_fl_a in
	([01],*local"	"*|[01],*worktree"	"*)
		printf '%s\n' "git $_fl_s: the repository's own configuration may run programs or show other files, so this needs approval: command git $_fl_s" "$_fl_a" >&2
		exit 126;;
	([01],*) ;;
	(*)
		printf '%s\n' "git $_fl_s: this Git cannot say what the repository's configuration names, so this needs approval: command git $_fl_s" >&2
		exit 126;;
	esac
	\command git "$@"
)
`
