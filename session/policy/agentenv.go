package policy

import (
	_ "embed"
	"strings"

	"github.com/fairlead-ssh/fairlead/framing/hostcode"
)

// gitSettings are Git's ways to run what a repository's own configuration names, which a setting of a fixed name closes. Hooks
// stay, for what an operator approved should find them; of reads, diff alone starts one, and host/git.sh closes that.
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
// [AgentPrelude] alone does it: Git's, that Python from 3.11 on imports nothing from the directory that it runs in, and that Compose
// fetches nothing that the project's file includes.
func AgentEnviron() []string {
	env := []string{"PYTHONSAFEPATH=1", "COMPOSE_EXPERIMENTAL_GIT_REMOTE=false", "COMPOSE_EXPERIMENTAL_OCI_REMOTE=false"}
	for _, kv := range gitEnviron {
		env = append(env, kv[0]+"="+kv[1])
	}
	return env
}

// AgentPrelude is what shells of agents run before anything else: it defines git as a function, which sets gitEnviron, and as
// functions curl, wget and dig, which keep these from the account's settings for them: those may name files to write and data to
// send. sqlite3 -readonly lets no view of the file run a program. python3 and python take json.tool from nowhere but their library. lsof and chronyc show numbers and ask no name server; blkid, npm ls, pip,
// go version and docker compose ps write and fetch nothing. Reads that would run, or show
// a file, that the repository's own configuration names say so instead, and changes within submodules, which are repositories of their own,
// are not looked for. A program that is named in the account's configuration or the host's runs: whoever wrote that may decide it.
//
// It means the same to every shell of ours, leaves no variable behind, and does nothing that a read does not. (In mksh and
// zsh "exec git" would call the function again.)
var AgentPrelude = hostcode.Fill(hostcode.Shell(gitSource), "settings", exports()) + "\n" + hostcode.Shell(readsSource) + "\n"

var (
	//go:embed host/git.sh
	gitSource string
	//go:embed host/reads.sh
	readsSource string
)

func exports() string {
	var all []string
	for _, kv := range gitEnviron {
		all = append(all, kv[0]+`="`+kv[1]+`"`)
	}
	return strings.Join(all, " ")
}
