package programs

import "strings"

// containers look at and into containers on this host. Docker's and Podman's options are taken together.
var containers = []program{
	{name: "docker|podman|nerdctl", style: exact, alone: "-v", env: "DOCKER_* CONTAINER_* CONTAINERS_* NERDCTL_TOML HOME XDG_CONFIG_HOME", sub: dockerVerbs, opts: `
		-D,--debug -l,--log-level=text -H,--host=text!unknown -c,--context=text!unknown --config=read!unknown --tls!unknown --tlscacert=read!unknown
		--tlscert=read!unknown --tlskey=read!unknown --tlsverify!unknown -r,--remote!unknown --url=text!unknown --connection=text!unknown
		--root=text!unknown --runroot=text!unknown --runtime=text!unknown --conmon=cmd -n,--namespace=text -a,--address=text!unknown`},
	{name: "docker-compose|podman-compose", style: exact, alone: "-v", env: "DOCKER_* COMPOSE_*", sub: composeVerbs, opts: composeOptions},
	{name: "crictl", style: exact, env: "CONTAINER_RUNTIME_ENDPOINT IMAGE_SERVICE_ENDPOINT CRI_CONFIG_FILE", opts: `-c,--config=read!unknown -D,--debug -i,--image-endpoint=text!ask -r,--runtime-endpoint=text!ask -t,--timeout=text`, sub: []program{
		{name: "ps|images|image|img|pods|stats|statsp|info|version|imagefsinfo", style: exact, args: "text...", opts: `-a,--all -q,--quiet -o,--output=text -l,--latest -n,--last=text --name=text --namespace=text --image=text -p,--pod=text --label=text -s,--state=text --no-trunc -v,--verbose --digests -w,--watch!ask`},
		{name: "logs", style: exact, args: "text", opts: `-f,--follow!ask --tail=text --since=text -t,--timestamps -p,--previous -l --latest`},
		{name: "inspect|inspecti|inspectp", class: secret, args: "text...", opts: `-o,--output=text -q,--quiet`, style: exact},
		{name: "exec", class: unknown, args: "text rest", style: exact | first, opts: `-i,--interactive -t,--tty -s,--sync --timeout=text`, check: remote},
		{name: "stop|rm|rmi|stopp|rmp", class: danger, args: "text..."},
		{name: "pull|create|run|runp|start|update|attach|port-forward|checkpoint", class: unknown, args: "text..."},
	}},
	{name: "ctr|buildah|runc|crun|lxc-attach|lxc-execute|lxc-start|toolbox|distrobox", class: unknown, why: "runs a command in a container", raw: true, check: guess, alone: "--version version -v"},
	{name: "skopeo|kind|minikube|k3d|firecracker", class: unknown, args: "text...", alone: "--version version"},
	{name: "lxc|incus", style: exact, sub: []program{
		{name: "list|ls|info|version", args: "text...", style: exact, opts: `-f,--format=text -c,--columns=text --fast --resources --show-log`},
		{name: "exec", class: unknown, args: "text rest", style: exact | first, opts: `-T -t --cwd=text --env=text --user=text --group=text -n`, check: remote},
		{name: "delete|stop|restart|rm", class: danger, args: "text..."},
		{name: "launch|init|start|copy|move|file|config|profile|network|storage|snapshot|restore|publish|import|export", class: write, args: "text..."},
	}},
	{name: "lxc-ls", args: "text...", opts: `-f,--fancy -1 --active --running --stopped --frozen -F,--fancy-format=text`},
	{name: "virsh", style: exact, env: "LIBVIRT_* VIRSH_*", args: "text...", opts: `-c,--connect=text!unknown -q,--quiet -r,--readonly`, sub: []program{
		{name: "list|dominfo|domstate|domstats|domblklist|domiflist|domifaddr|vcpuinfo|vcpucount|nodeinfo|version|net-list|net-info|pool-list|pool-info|vol-list|capabilities|hostname|uri|sysinfo|domblkinfo|dommemstat|snapshot-list|freecell|nodememstats|nodecpustats", style: exact, args: "text...", opts: `--all --inactive --title --table --name --uuid --details --human --source=text --persistent --running --autostart`},
		{name: "dumpxml|secret-get-value|secret-list", class: secret, args: "text..."},
		{name: "destroy|undefine|shutdown|reboot|reset|suspend|vol-delete|pool-destroy|net-destroy|snapshot-delete", class: danger, args: "text..."},
		{name: "start|resume|create|define|attach-disk|detach-disk|migrate|snapshot-create|edit|console|setmem|setvcpus|autostart", class: unknown, args: "text..."},
	}},
	{name: "qemu-img", style: exact, sub: []program{{name: "info|check-info|map", style: exact, args: "read", opts: `--output=text -f=text -U --force-share --backing-chain`}}},
	{name: "buildctl|dive|ctop|lazydocker|dockerd|containerd|kubelet|multipass|vagrant|vboxmanage|VBoxManage", class: unknown, args: "text...", alone: "--version version -v"},
}

const dockerLogs = `-f,--follow!ask --since=text --until=text -n,--tail=text -t,--timestamps --details -l,--latest --names --color`

const dockerPs = `-a,--all -f,--filter=text --format=text -n,--last=text -l,--latest --no-trunc -q,--quiet -s,--size -p,--pod --sort=text --ns --external --noheading -w,--watch=text!ask`

const dockerExec = `
	-d,--detach --detach-keys=text -e,--env=text --env-file=read -i,--interactive --privileged!danger -t,--tty -u,--user=text -w,--workdir=text -l,--latest`

var dockerVerbs = []program{
	{name: "ps", style: exact, opts: dockerPs},
	{name: "images", style: exact, args: "text", opts: `-a,--all --digests -f,--filter=text --format=text --no-trunc -q,--quiet --sort=text --tree --history -n,--noheading`},
	{name: "logs", style: exact, args: "text...", opts: dockerLogs},
	{name: "stats", style: exact, args: "text...", opts: `-a,--all --format=text --no-stream --no-trunc --no-reset -i,--interval=text`, check: noStream, calm: true},
	{name: "top|port|diff|history", style: exact, args: "text...", opts: `-H,--human --no-trunc -q,--quiet --format=text`},
	{name: "version|info", style: exact, opts: `-f,--format=text -D,--debug`},
	{name: "inspect", class: secret, why: "shows the environment of containers, which may hold secrets", style: exact, args: "text...", opts: `-f,--format=text -s,--size --type=text -l,--latest`},
	{name: "events", style: exact, opts: `-f,--filter=text --format=text --since=text --until=text --stream?text`, check: func(c *call) {
		if !c.has("--until") {
			c.say(unknown, "never ends without --until")
		}
	}},
	{name: "exec", class: unknown, why: "runs a command in a container", style: exact | first, args: "text rest", opts: dockerExec, check: remote},
	{name: "run|create", class: unknown, why: "starts a container", style: exact | first, args: "text rest", opts: dockerRun, check: dockerRuns},
	{name: "start|unpause|rename|tag|pull|push|build|commit|login|logout|load|import|update|wait|attach|checkpoint|init|sbom|scout|search", class: write, args: "text..."},
	{name: "cp", class: write, args: "text text", style: exact, opts: `-a,--archive -L,--follow-link -q,--quiet`},
	{name: "save|export", class: secret, args: "text...", style: exact, opts: `-o,--output=write`},
	{name: "stop|restart|kill|rm|rmi|pause", class: danger, args: "text..."},
	{name: "container", style: exact, sub: []program{
		{name: "ls|list|ps", style: exact, opts: dockerPs},
		{name: "logs", style: exact, args: "text...", opts: dockerLogs},
		{name: "stats", style: exact, args: "text...", opts: `-a,--all --format=text --no-stream --no-trunc`, check: noStream, calm: true},
		{name: "top|port|diff", style: exact, args: "text..."},
		{name: "inspect", class: secret, style: exact, args: "text...", opts: `-f,--format=text -s,--size`},
		{name: "exec", class: unknown, why: "runs a command in a container", style: exact | first, args: "text rest", opts: dockerExec, check: remote},
		{name: "run|create", class: unknown, style: exact | first, args: "text rest", opts: dockerRun, check: dockerRuns},
		{name: "prune|rm|stop|restart|kill|pause", class: danger, args: "text..."},
	}},
	{name: "image", style: exact, sub: []program{
		{name: "ls|list", style: exact, args: "text", opts: `-a,--all --digests -f,--filter=text --format=text --no-trunc -q,--quiet --tree`},
		{name: "history", style: exact, args: "text", opts: `-H,--human --no-trunc -q,--quiet --format=text`},
		{name: "inspect", class: secret, style: exact, args: "text...", opts: `-f,--format=text`},
		{name: "prune|rm", class: danger, args: "text..."},
	}},
	{name: "network|volume", style: exact, sub: []program{
		{name: "ls|list", style: exact, opts: `-f,--filter=text --format=text --no-trunc -q,--quiet --cluster`},
		{name: "inspect", style: exact, args: "text...", opts: `-f,--format=text -v,--verbose`},
		{name: "create|connect", class: write, args: "text..."},
		{name: "prune|rm|disconnect", class: danger, args: "text..."},
	}},
	{name: "system", style: exact, sub: []program{
		{name: "df", style: exact, opts: `--format=text -v,--verbose`},
		{name: "info", style: exact, opts: `-f,--format=text`},
		{name: "prune|reset", class: danger, args: "text..."},
	}},
	{name: "context", style: exact, sub: []program{{name: "ls|list|show", style: exact, opts: `--format=text -q,--quiet`}}},
	{name: "compose", style: exact, sub: composeVerbs, opts: composeOptions},
	{name: "service|stack|node|swarm|secret|config", style: exact, sub: []program{
		{name: "ls|list|ps", style: exact, args: "text...", opts: `-f,--filter=text --format=text --no-trunc -q,--quiet --no-resolve`},
		{name: "logs", style: exact, args: "text", opts: dockerLogs + ` --raw --no-resolve --no-task-ids`},
		{name: "inspect", class: secret, style: exact, args: "text...", opts: `-f,--format=text --pretty`},
		{name: "rm|leave|down|rollback|demote", class: danger, args: "text..."},
		{name: "create|update|scale|deploy|init|join|promote|unlock|join-token", class: write, args: "text..."},
	}},
	{name: "pod|machine|healthcheck|generate|play|kube|manifest|buildx|builder|plugin|trust", class: unknown, args: "text..."},
}

const composeOptions = `
	-f,--file=read!unknown -p,--project-name=text --profile=text --env-file=read!unknown --project-directory=read!unknown --ansi=text
	--progress=text --parallel=text --compatibility --verbose -H,--host=text!unknown -c,--context=text!unknown`

var composeVerbs = []program{
	{name: "ps", style: exact, args: "text...", opts: `-a,--all --filter=text --format=text --no-trunc --orphans -q,--quiet --services --status=text`},
	{name: "ls", style: exact, opts: `-a,--all --filter=text --format=text -q,--quiet`},
	{name: "logs", style: exact, args: "text...", opts: `-f,--follow!ask --index=text --no-color --no-log-prefix --since=text -n,--tail=text -t,--timestamps --until=text`},
	{name: "top|images|port|version|volumes", style: exact, args: "text...", opts: `-q,--quiet --format=text --short -f=text --index=text --protocol=text`},
	{name: "config|convert", class: secret, why: "shows the environment of services, which may hold secrets", style: exact, args: "text...", opts: `-q,--quiet --services --images --volumes --profiles --format=text --hash=text -o,--output=write`},
	{name: "exec", class: unknown, style: exact | first, args: "text rest", opts: `-d,--detach -e,--env=text --index=text --privileged -T,--no-TTY,--no-tty -u,--user=text -w,--workdir=text`, check: remote},
	{name: "run", class: unknown, style: exact | first, args: "text rest", opts: `--rm -d,--detach -e,--env=text --entrypoint=text -T,--no-TTY -u,--user=text -v,--volume=text!danger -w,--workdir=text --no-deps --name=text`, check: remote},
	{name: "up|start|build|pull|push|create|unpause|scale|cp|watch|attach|events|wait", class: write, args: "text..."},
	{name: "down|stop|restart|kill|rm|pause", class: danger, args: "text..."},
}

// dockerRun: the options that people use to run one command.
const dockerRun = `
	-d,--detach -i,--interactive -t,--tty --rm --name=text -e,--env=text --env-file=read -v,--volume=text!danger --mount=text!danger
	-p,--publish=text -P,--publish-all --network=text --net=text -u,--user=text -w,--workdir=text --entrypoint=text --privileged!danger
	--pid=text!danger --ipc=text!danger --uts=text!danger --userns=text!danger --cap-add=text!danger --device=text!danger --security-opt=text!danger
	--restart=text -h,--hostname=text --pull=text -l,--label=text --memory=text -m=text --cpus=text --init --platform=text --read-only
	--tmpfs=text --link=text --add-host=text --log-driver=text --log-opt=text -q,--quiet --cidfile=write --volumes-from=text!danger`

// remote: what exec runs, it runs in a container.
func remote(c *call) {
	for i := range c.find.Nested {
		c.find.Nested[i].Remote = true
	}
}

// dockerRuns: a container that sees the root of the host can do what root can.
func dockerRuns(c *call) {
	remote(c)
	for _, a := range c.args {
		if s := a.Text; strings.HasPrefix(s, "/:") || strings.Contains(s, "=/:") || strings.Contains(s, "source=/,") || strings.Contains(s, "src=/,") {
			c.say(danger, "shows the whole host to a container")
		}
	}
	if a, ok := c.val("--entrypoint"); ok && len(c.ops) > 0 {
		c.nestRemote(append([]Arg{a}, c.ops[1:]...))
	}
}

func noStream(c *call) {
	if !c.has("--no-stream") {
		c.say(unknown, "never ends without --no-stream")
	}
}
