package judge_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

func TestIdentifiersThatAProgramPrintsAreNoOptions(t *testing.T) {
	for _, script := range []string{
		`docker ps -q | xargs docker inspect --format '{{.Name}} {{.State.Status}}'`,
		`docker ps -q | xargs docker inspect --format '{{.Name}} {{.State.Status}}' | sort`,
		`docker ps -aq | head -5 | xargs -n1 docker logs --tail 5`,
		`docker ps --format '{{.Names}}' | while read -r n; do echo "== $n"; docker logs --tail 3 "$n" 2>&1; done`,
		`docker ps --format '{{.Names}}' | grep -v db | while read -r n; do docker logs --tail 3 $n 2>&1; done`,
		`docker ps --format '{{.Names}}' | xargs -I{} docker logs --tail 3 {}`,
		`PID=$(systemctl show -p MainPID --value nginx); cat /proc/$PID/status | head -20`,
		`PID=$(systemctl show nginx --property=MainPID --value); ls -l /proc/$PID/fd | wc -l`,
		`ls /proc/$(systemctl show -p MainPID --value nginx)/fd | wc -l`,
		`for p in $(kubectl get pods -n prod -o name); do echo "$p"; kubectl logs -n prod "$p" --tail=5; done`,
		`for ns in $(kubectl get ns -o name | cut -d/ -f2); do echo "$ns: $(kubectl get pods -n $ns --no-headers 2>/dev/null | wc -l)"; done`,
		`for ns in $(kubectl get ns --no-headers | awk '{print $1}'); do kubectl get pods -n "$ns"; done`,
		`PAGER=cat git log -3`,
		`GIT_PAGER=cat git log -3`,
		`SYSTEMD_PAGER= systemctl status cron`,
		`SYSTEMD_PAGER=cat systemctl status cron`,
		`SYSTEMD_COLORS=0 systemctl list-units --state=failed --no-pager`,
		`arr=(nginx redis postgres); for s in "${arr[@]}"; do systemctl is-active "$s"; done`,
	} {
		r := judge.Judge(judge.Request{Script: script, Shell: "bash"})
		assert.Equal(t, policy.Allow, agent(r.Class), "%s: %s: %s", script, r.Rule, r.Reason)
	}
}

func TestOtherWordsThatAProgramPrintsMayBeOptions(t *testing.T) {
	for _, script := range []string{
		`docker ps --format '{{.Names}} -a' | xargs docker logs`,
		`docker ps --format '{{.ID}} -a' | xargs docker logs`,
		`for c in $(docker ps --format '{{.ID}} -f x=y'); do docker logs $c; done`,
		`docker ps --format '{{.Names}}' | grep -o 'x.*' | xargs docker logs`,
		`docker ps --format '{{.Names}}' | grep web /tmp/names | xargs docker logs`,
		`docker ps --format '{{.Names}}' | sort /tmp/names | xargs docker logs`,
		`docker ps --format '{{.Names}}' | head 5 | xargs docker logs`,
		`docker ps --format '{{.Names}}' | head -c 5 | xargs docker logs`,
		`docker ps --format '{{.Names}}' | tail -c 5 | xargs docker logs`,
		`docker ps --format '{{.Names}}' | cut -c2- | xargs docker logs`,
		`docker ps --format '{{.Names}}' | sed s/a/-/ | xargs docker logs`,
		`docker ps --format '{{.Names}}' |& xargs docker logs`,
		`docker ps --format '{{.Names}}' | xargs -d b docker logs`,
		`docker ps --format '{{.Names}}' | xargs -a /tmp/x docker logs`,
		`docker ps --format '{{.Names}}' | xargs docker rm`,
		`docker ps --format '{{.Names}}' | xargs sh -c`,
		`docker ps --format '{{.Names}}' | xargs docker inspect`,
		`docker ps --format '{{.Names}}' | xargs docker exec`,
		`docker ps --format '{{.Names}}' | xargs cat`,
		`docker ps --format '{{.Command}}' | xargs docker logs`,
		`docker ps --format '{{.Names}}' | while read -d a n; do docker logs $n; done`,
		`docker ps --format '{{.Names}}' | while read -r n m; do docker logs $m; done`,
		`docker ps --format '{{.Names}}' | while read -r n; do docker logs "$n"; done < /tmp/x`,
		`docker ps --format '{{.Names}}' | (cat /tmp/x; echo) | xargs docker logs`,
		`docker ps --format '{{.Names}}' | while read -r n; do cat $n; done`,
		`docker ps | awk '{print $2}' | xargs docker logs`,
		`docker ps | awk '{print $1, "-f"}' | xargs docker logs`,
		`PID=$(systemctl show -p ExecStart --value nginx); cat /proc/$PID/status`,
		`PID=$(systemctl show -p MainPID --value -Hroot@x nginx); cat /proc/$PID/status`,
		`PID=$(systemctl show -p MainPID --value 'nginx*'); cat /proc/$PID/status`,
		`PID=$(systemctl show -p MainPID nginx); cat /proc/$PID/status`,
		`PID=$(systemctl show -p MainPID --value nginx); cat /proc/$PID/environ`,
		`kubectl get secrets -o name | xargs kubectl get -o yaml`,
		`kubectl get pods -o name | xargs kubectl delete`,
		`for r in $(kubectl get clusterroles -o jsonpath='{.items[*].metadata.name}'); do kubectl describe clusterrole $r; done`,
		`for p in $(kubectl get pods -o jsonpath='{.items[*].metadata.annotations.x}'); do kubectl logs $p; done`,
		`kubectl get pods -o jsonpath='{.items[*].metadata.name}' | while read -r n; do kubectl logs $n; done`,
		`PAGER='sh -c id' git log -3`,
		`PAGER=less git log`,
		`PAGER=cat; git log`,
		`SYSTEMD_PAGER=/tmp/x systemctl status cron`,
		`XPAGER=/tmp/x git log`,
		`SYSTEMD_PAGER+=x systemctl status cron`,
		`docker ps | awk 'NR>1 {print $1}' | xargs docker top`,
		`for c in $(docker ps | awk '{print $NF}'); do docker logs --tail 3 $c; done`,
		`docker ps -q | xargs -0 docker logs`,
		`docker ps -q | xargs -I{} docker logs -{}`,
		`docker ps -q | xargs -I{} sh -c 'docker logs {}'`,
		`docker images --format '{{.Repository}}' | xargs docker history`,
		`docker ps -q | grep --color=always a | xargs docker logs`,
		`docker ps -q | uniq -c | xargs docker logs`,
		`docker ps -q & docker ps -q | xargs -n1 docker kill`,
		`kubectl get pods -o name --watch | xargs kubectl logs`,
		`kubectl get pods -o custom-columns=:metadata.annotations.x | xargs kubectl logs`,
		`for ns in $(kubectl get ns --no-headers | awk '{print $2}'); do kubectl get pods -n $ns -o yaml $ns; done`,
		`GIT_PAGER='!touch x' git log`,
		`EDITOR=cat git log`,
		`SYSTEMD_COLORS=$(touch x) systemctl status cron`,
		`SYSTEMD_LESS=cat systemctl status cron`,
	} {
		for _, shell := range []string{"bash", "zsh", "dash", ""} {
			r := judge.Judge(judge.Request{Script: script, Shell: shell})
			assert.NotEqual(t, policy.Allow, agent(r.Class), "%s in %q: %s", script, shell, r.Reason)
		}
	}
}
