package judge_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

// A number or an identifier that a program prints may be missing: then what stands behind it begins the word.
func TestWhatMayBeEmptyDoesNotBeginAWord(t *testing.T) {
	neverAllowed(t,
		`journalctl "$(pgrep -o nosuch)--vacuum-time=1s"`,
		`journalctl "$(pidof -s nosuch)"--vacuum-time=1s`,
		`journalctl "$(pidof -s nosuch)"'--vacuum-time=1s'`,
		`journalctl "$(pidof -s nosuch)"""--vacuum-time=1s`,
		`journalctl "$(pidof -s nosuch)"\--vacuum-time=1s`,
		`journalctl "$(pidof -s nosuch)$x"`,
		`journalctl "$(pidof -s nosuch)$(echo --vacuum-time=1s)"`,
		`journalctl "$(pidof -s nosuch)"[-]-vacuum-time=1s`,
		`n=$(pgrep -o nosuch); journalctl "$n--vacuum-time=1s"`,
		`n=$(pgrep -o nosuch); journalctl "${n}--vacuum-time=1s"`,
		`n=$(grep -c x /nosuch); journalctl "$n--vacuum-time=1s"`,
		`n=$(systemctl show -p MainPID --value nosuch); systemctl status "$n-Hroot@evil"`,
		`docker ps -q | { read -r n; journalctl "$n--vacuum-time=1s"; }`,
		`docker ps -q | { read -r n; journalctl $n--vacuum-time=1s; }`,
		`docker ps -q | while read -r n; do read -r n; journalctl "$n--vacuum-time=1s"; done`,
	)
	for _, script := range []string{
		`journalctl "_PID=$(pgrep -o nginx)"`,
		`n=$(pgrep -o nginx); cat "/proc/$n/status"`,
		`n=$(pidof -s nginx); systemctl status "$n"`,
		`docker ps -q | while read -r n; do docker logs --tail 5 "$n"; done`,
		`docker ps -q | while read -r n; do docker inspect -f '{{.Name}}' "${n}_1"; done`,
	} {
		r := judge.Judge(judge.Request{Script: script, Shell: "bash"})
		assert.Equal(t, policy.Allow, agent(r.Class), "%s: %s: %s", script, r.Rule, r.Reason)
	}
}
