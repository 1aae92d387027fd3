package programs_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

func TestContainersAreLookedAt(t *testing.T) {
	table(t, `
		read-only | docker ps -a
		read-only | docker logs --tail 100 web
		sensitive-read | docker inspect web
		read-only | docker history web
		read-only | docker image history -q --no-trunc web
		sensitive-read | docker history --no-trunc web
		write | podman image history --no-trunc web
		unknown | docker compose config
		unknown | docker compose config --services
		unknown | docker compose -p shop config -q
		unknown | docker compose ps
		unknown | docker compose logs --tail 5 api
		read-only | docker compose -p shop ps
		read-only | docker compose --project-name=shop logs --tail 5 api
		read-only | docker compose ls
		unknown | docker-compose ps
		read-only | docker-compose -p shop top
		unknown | docker --host tcp://192.0.2.1 ps
		unknown | docker -H tcp://192.0.2.1 ps
		unknown | docker --context other ps
		dangerous | docker exec web sh -c 'rm -rf /data'
		forbidden | docker exec -it web rm -rf /
		dangerous | docker run -v /:/h alpine id
		dangerous | docker run --privileged alpine id
		unknown | docker run --rm alpine id
		dangerous | docker system prune -af
		dangerous | docker rm -f web
		write | docker pull x
		unknown | docker compose -f evil.yml ps
		dangerous | docker compose down
		unknown | docker stats
		unknown | docker events
		write | docker cp web:/a b
		write | docker save -o pwned x
	`)
}

func TestClustersAreLookedAt(t *testing.T) {
	table(t, `
		read-only | kubectl get pods -A
		read-only | kubectl -n web get pods
		sensitive-read | kubectl get secret
		sensitive-read | kubectl get pods,secrets -A
		sensitive-read | kubectl get secret/db
		sensitive-read | kubectl get sealedsecrets
		sensitive-read | kubectl get --raw /api
		unknown | kubectl get $X
		unknown | kubectl --kubeconfig evil get pods
		unknown | kubectl get pods --kubeconfig=evil
		unknown | kubectl -s http://x get pods
		unknown | kubectl exec web -- ls
		dangerous | kubectl exec web -- rm -rf /data
		forbidden | kubectl exec web -- rm -rf /
		write | kubectl apply -f x.yml
		dangerous | kubectl delete pod web
		unknown | kubectl get pods -w
		unknown | kubectl logs -f web
		unknown | helm template x
		dangerous | helm uninstall x
		sensitive-read | kubectl config view --raw
	`)
}

func TestWhatRunsInAContainerIsRemote(t *testing.T) {
	arg := func(s string) programs.Arg { return programs.Arg{Text: s, Literal: true, Source: s} }
	got := programs.Judge(programs.Call{Name: "kubectl", Args: []programs.Arg{arg("exec"), arg("web"), arg("-c"), arg("app"), arg("--"), arg("ls"), arg("-l")}})
	require.Len(t, got.Nested, 1)
	assert.True(t, got.Nested[0].Remote)
	assert.Equal(t, "ls", got.Nested[0].Argv[0].Text)
	assert.Len(t, got.Nested[0].Argv, 2)
}
