package judge_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

// Identifiers stay identifiers in a variable and within quotes, however many there are.
func TestIdentifiersInVariablesAndQuotes(t *testing.T) {
	for _, script := range []string{
		`c=$(docker ps -q | head -1); docker logs --tail 5 "$c"`,
		`c="$(docker ps -q | head -1)"; docker logs --tail 5 $c`,
		`CONTAINER=$(docker ps -q --filter name=web); docker logs --tail 5 "$CONTAINER" 2>&1 | tail`,
		`POD=$(kubectl get pods -n prod -o name | grep api | head -1); kubectl logs -n prod "$POD" --tail=20`,
		`POD=$(kubectl get pods -n prod -l app=api -o jsonpath='{.items[*].metadata.name}'); kubectl logs -n prod "$POD"`,
		`kubectl logs -n prod "$(kubectl get pods -n prod -o name | grep api | head -1)" --tail 5`,
		`docker logs --tail 5 "$(docker ps -q | head -1)"`,
		`c=$(docker ps -q) && docker inspect -f '{{.Name}}' $c`,
	} {
		r := judge.Judge(judge.Request{Script: script, Shell: "bash"})
		assert.Equal(t, policy.Allow, agent(r.Class), "%s: %s: %s", script, r.Rule, r.Reason)
	}
	neverAllowed(t,
		`c=$(docker ps -q); docker logs "$c-f"`,
		`c=$(docker ps -q); docker logs $c-f`,
		`c=$(docker ps -q); docker logs "$c"-f`,
		`c=$(docker ps -q); journalctl "x $c"--vacuum-time=1s $c--vacuum-time=1s`,
		`c=$(docker ps -q); journalctl "${c#a}"`,
		`c=$(docker ps -q); journalctl "${c:1}"`,
		`c=$(docker ps -q); journalctl "${c//a/-}"`,
		`c=$(docker ps -q); journalctl "${c:--x}"`,
		`c=$(docker ps -q); c=$(cat f); journalctl "$c"`,
		`c=$(cat f); journalctl "$c"`,
		`if [ -e f ]; then c=$(docker ps -q); fi; journalctl "$c"`,
		`[ -e f ] && c=$(docker ps -q); journalctl "$c"`,
		`(c=$(docker ps -q)); journalctl "$c"`,
		`c=$(docker ps -q) journalctl "$c"`,
		`c+=$(docker ps -q); journalctl "$c"`,
		`c=x$(docker ps -q); journalctl "${c#x}"`,
		`c=-$(docker ps -q); journalctl $c`,
		`c=$(docker ps --format '{{.Names}} -x'); journalctl $c`,
		`c=$(docker ps --format '{{.Command}}'); journalctl "$c"`,
		`c=$(docker ps -q); cat $c`,
		`c=$(docker ps -q); cat "$c"`,
		`c=$(docker ps -q); cat "/proc/$c/environ"`,
		`c=$(docker ps -q); docker rm $c`,
		`c=$(docker ps -q); docker rm "$c"`,
		`c=$(docker ps -q); docker exec "$c" id`,
		`c=$(docker ps -q); $c`,
		`c=$(docker ps -q); echo $((c))`,
		`c=$(docker ps -q); (( c > 1 ))`,
		`c=$(docker ps -q); kubectl get $c`,
		`c=$(docker ps -q); kubectl get "$c" -o yaml`,
		`c=$(kubectl get secrets -o name); kubectl get "$c" -o yaml`,
		`c=$(docker ps -q); git -C "$c" log`,
		`docker inspect "$(docker ps -q | head -1)"`,
		`docker logs "$(docker ps -q)-f"`,
		`docker logs "$(docker ps -q)"-f`,
		`docker logs "$(docker ps --format '{{.Command}}')"`,
	)
}

// Names in capitals, too, if they mean nothing to shells and programs.
func TestVariablesInCapitalsThatMeanNothing(t *testing.T) {
	for _, script := range []string{
		`LATEST=$(ls -t /opt/app/releases | head -1); echo "$LATEST"; ls -la "/opt/app/releases/$LATEST"`,
		`LOG_FILE=/var/log/syslog; tail -n 5 "$LOG_FILE"`,
		`ERRORS=$(grep -c ERROR /var/log/app.log); echo "$ERRORS"`,
	} {
		r := judge.Judge(judge.Request{Script: script, Shell: "bash"})
		assert.Equal(t, policy.Allow, agent(r.Class), "%s: %s: %s", script, r.Rule, r.Reason)
	}
	neverAllowed(t, `HOST=x; ls`, `PAGER=x; ls`, `GREP=./x; zgrep a f.gz`, `LATEST=-opwned; sort $LATEST f`, `LATEST=/etc/shadow; cat $LATEST`, `POSIXLY_CORRECT=1; ls`, `CONTAINER_HOST=x; podman ps`, `MAIL=x`, `IFS=x`, `ENV=x`)
}
