package judge_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy"
)

// Each test is named after a published advisory about a tool that judged commands by their text, and holds the trick
// that it taught. None of them may run unasked in any shell.
func neverAllowed(t *testing.T, scripts ...string) {
	t.Helper()
	for _, s := range scripts {
		for _, shell := range shells {
			v, r := verdict(s, shell)
			assert.NotEqual(t, policy.Allow, v, "%q for %q: %s", s, shell, r.Reason)
		}
	}
}

func TestCVE_2025_54795_EchoArgumentsAreParsedAsTheShellDoes(t *testing.T) {
	neverAllowed(t, `echo "\"; touch x; echo \""; touch x`, `echo "a"; touch x; echo "b"`, `echo '' ; touch x #'`)
}

func TestCVE_2025_58764_RipgrepOptionsThatRunPrograms(t *testing.T) {
	neverAllowed(t, "rg --pre ./x a .", "rg --pre=./x a .", "rg --hostname-bin ./x a", `rg "--pre" sh a .`)
}

func TestCVE_2025_64755_SedWritesAndExecutes(t *testing.T) {
	neverAllowed(t, "sed -n '1w x' f", "sed '1e touch x' f", "sed 's/a/b/w x' f", "sed 's/a/touch x/e' f", "sed --in-place s/a/b/ f")
}

func TestCVE_2025_66032_IFSAndShortOptions(t *testing.T) {
	neverAllowed(t, "cat$IFS/etc/hostname>x", "sort$IFS-ox f", "rg$IFS--pre=sh${IFS}a", "sort -nrox f", "man -Hx ls")
}

func TestCVE_2026_24053_ZshClobber(t *testing.T) {
	neverAllowed(t, "ls >! x", "ls >>! x", "ls >| x", "ls >&! x", "ls &>! x")
}

func TestCVE_2026_24887_Find(t *testing.T) {
	neverAllowed(t, `find . -exec touch x \;`, "find . -fprintf x %p", "find . -delete", `find . \( -name a -o -execdir touch x \; \)`, "find . -ok touch x ';'")
}

func TestCVE_2026_25722_ChangeDirectoryThenWrite(t *testing.T) {
	neverAllowed(t, "cd .claude && echo x > settings.json", "cd /etc; echo x > passwd", "cd ~/.ssh && tee authorized_keys < k")
}

func TestCVE_2026_25723_EchoIntoSed(t *testing.T) {
	neverAllowed(t, "echo x | sed 'w x'", "echo x | sed -n '/x/w x'", "echo 'w x' | sed -f - f", "echo touch x | sed e")
}

func TestCVE_2026_35020_SubstitutionInAQuotedPath(t *testing.T) {
	neverAllowed(t, `cat "/tmp/$(touch x)"`)
}

func TestCVE_2026_35021_BackticksInAQuotedPath(t *testing.T) {
	neverAllowed(t, "cat \"/tmp/`touch x`\"")
}

func TestCVE_2026_35022_SubstitutionNestedInAQuotedPath(t *testing.T) {
	neverAllowed(t, `cat "/tmp/${x:-$(touch x)}"`, "ls \"a`echo \\`touch x\\``\"")
}

func TestBrokensec_2_1_177_AwkIsNoRead(t *testing.T) {
	neverAllowed(t, `awk 'BEGIN{system("touch x")}'`, `awk '{print > "x"}' f`, `awk 'BEGIN{"touch x" | getline}'`, `awk '{print | "sh"}' f`)
}

func TestGHSA_wpqr_6v78_jr5g_AnAllowedPrefixAllowsNothingElse(t *testing.T) {
	neverAllowed(t, "ls; touch x", "ls\ntouch x", "ls & touch x", "ls || touch x", "ls | sh", "git status; touch x")
}

func TestCVE_2026_22708_BuiltinsPoisonTheEnvironment(t *testing.T) {
	neverAllowed(t, "export PATH=/x", "typeset -x PAGER=x", "declare -x BASH_ENV=x", "readonly PATH=/x", "local PATH=/x", "set -a", "alias ls=x")
}

func TestCVE_2026_26268_GitHooksAndConfiguration(t *testing.T) {
	neverAllowed(t, "git commit -m x", "git checkout main", "git -c core.hooksPath=x status", "git config core.fsmonitor x", "git merge x")
}

func TestCVE_2026_28363_SortAbbreviations(t *testing.T) {
	neverAllowed(t, "sort --compress-prog ./x f", "sort --compress-p=./x f", "sort --comp ./x f", "sort --outp=x f")
}

func TestCVE_2026_31996_SortOutputAndGrepBelow(t *testing.T) {
	neverAllowed(t, "sort -o x f", "sort f -ox", "grep -r password /etc", "grep -R x /")
}

func TestCVE_2026_27566_EnvRunsItsArguments(t *testing.T) {
	neverAllowed(t, "env touch x", "env A=b touch x", "env -u A touch x", "env -i sh -c 'touch x'")
}

func TestCVE_2026_31992_EnvSplitString(t *testing.T) {
	neverAllowed(t, "env -S 'touch x'", "env -S'touch x'", "env --split-string='touch x'", "env -vS 'touch x'")
}

func TestCVE_2026_27183_WrappersAreUnwrappedToTheEnd(t *testing.T) {
	neverAllowed(t, "env env env env nice timeout 5 env touch x", "nice nohup env setsid touch x", "command command command touch x")
}

func TestCVE_2026_28460_ContinuedSubstitution(t *testing.T) {
	neverAllowed(t, "echo \"$\\\n(touch x)\"", "echo $\\\n(touch x)", "cat <<EOF\n$\\\n(touch x)\nEOF", "ls \\\r\ntouch x\r\ntouch y")
}

func TestCVE_2026_28463_GlobsInOperandsThatMayBeOptions(t *testing.T) {
	neverAllowed(t, "sort *", "find *", "rg a *", "tar tf *")
}

func TestCVE_2026_28470_SubstitutionWithinQuotes(t *testing.T) {
	neverAllowed(t, `echo "$(touch x)"`, `grep "$(touch x)" f`, `head -n "$(touch x)" f`)
}

func TestCVE_2026_44115_UnquotedHeredoc(t *testing.T) {
	neverAllowed(t, "cat <<EOF\n$(touch x)\nEOF", "cat <<EOF\n`touch x`\nEOF", "wc -l <<-A <<B\n\t$(touch x)\n\tA\nB\n")
}

func TestCVE_2026_53861_ClusteredShellOptions(t *testing.T) {
	neverAllowed(t, "bash -xc 'touch x'", "sh -ec 'touch x'", "bash --norc -lc 'touch x'", "bash -o errexit -c 'touch x'")
}

func TestCVE_2026_32052_ScriptFromItsArguments(t *testing.T) {
	neverAllowed(t, `sh -c '$0 "$1"' touch x`, `bash -c '"$@"' _ touch x`, `sh -c 'eval "$1"' _ 'touch x'`)
}

func TestCVE_2026_32003_ShelloptsAndPS4(t *testing.T) {
	neverAllowed(t, `SHELLOPTS=xtrace PS4='$(touch x)' bash -c true`, `env SHELLOPTS=xtrace PS4='$(touch x)' ls`, `PS4='$(touch x)'; set -x; ls`)
}

func TestCVE_2026_32065_TrailingSpaceInTheCommandWord(t *testing.T) {
	neverAllowed(t, `'ls ' -l`, `"ls "`, `ls\ `, "ls\u00a0", "'ls\n'")
}

func TestCVE_2026_53822_TheWordsThatRunAreTheWordsThatAreJudged(t *testing.T) {
	neverAllowed(t, "$CMD -l", "ls $(cat args) > x", `"$@"`, "ls ${x:=y}")
}

func TestGHSA_xww8_gqvh_92x9_ALongCommandIsJudgedToItsEnd(t *testing.T) {
	long := make([]byte, 60<<10)
	for i := range long {
		long[i] = ' '
	}
	neverAllowed(t, "ls "+string(long)+"; touch x", "ls #"+string(long)+"\ntouch x", "ls "+string(long)+string(long)+"; touch x")
}

func TestGHSA_j425_whc4_4jgc_EnvironmentPrefixes(t *testing.T) {
	neverAllowed(t, "GIT_SSH_COMMAND=x git fetch", "EDITOR=x git status", "PAGER=x git log", "GIT_CONFIG_COUNT=1 git status",
		"NPM_CONFIG_PREFIX=x npm ls", "npm_config_script_shell=x npm ls", "LD_PRELOAD=x ls", "FOO=x ls")
}

func TestCVE_2026_55582_GitAliasFromTheCommandLine(t *testing.T) {
	neverAllowed(t, "git -c alias.x='!touch x' x", "git --config-env=alias.x=X x", "git -calias.x='!id' x")
}

func TestCVE_2026_85660_Substitution(t *testing.T) {
	neverAllowed(t, "ls $(touch x)", "ls `touch x`", "ls $(ls $(touch x))")
}

func TestCVE_2025_11490_AbsolutePathOfACommand(t *testing.T) {
	neverAllowed(t, "/usr/bin/touch x", "/bin/sh -c 'touch x'", "/usr/bin/../bin/touch x")
}

func TestCVE_2025_11491_SubstitutionBesideAnAllowedCommand(t *testing.T) {
	neverAllowed(t, "echo $(/usr/bin/touch x)", "pwd `id > x`", `echo "a $(sh -c 'touch x') b"`)
}

func TestCVE_2024_6091_PathAliasOfACommand(t *testing.T) {
	neverAllowed(t, "/bin/./whoami", "/bin//whoami", "/usr/../bin/whoami", "./whoami")
}

func TestGHSA_r8hm_vpm8_cfh6_ASecondCommandBehindANewline(t *testing.T) {
	neverAllowed(t, "ls\ntouch x", "ls\r\ntouch x", "ls\rtouch x", "ls;\n\n\ntouch x")
}

func TestGHSA_6f54_mjqq_2jp8_QuotesDoNotEndTheJudging(t *testing.T) {
	neverAllowed(t, "echo 'a'\\''b'; touch x", `echo "it's"; touch x`, `ls '`+"\n"+`'; touch x`, "su -c 'touch x'", "sudo -u root id")
}

func TestGHSA_rfxw_26h6_7w42_PrefixAndSemicolon(t *testing.T) {
	neverAllowed(t, "ls; rm -rf x", "ls;rm x", "cat f;:>f", "uptime&&rm x", "systemctl status x; systemctl stop x")
}
