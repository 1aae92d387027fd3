package programs

import "strings"

// kubectlOptions hold for every verb of kubectl.
const kubectlOptions = `
	-n,--namespace=text --context=text!ask --cluster=text!ask --request-timeout=text -v,--v=text --warnings-as-errors --log-flush-frequency=text
	--match-server-version --kubeconfig=read!unknown -s,--server=text!unknown --token=text!unknown --user=text!unknown --username=text!unknown
	--password=text!unknown --as=text!unknown --as-group=text!unknown --as-uid=text!unknown --certificate-authority=read!unknown
	--client-certificate=read!unknown --client-key=read!unknown --insecure-skip-tls-verify!unknown --tls-server-name=text!unknown
	--cache-dir=text!write --profile=text!write --profile-output=text!write --disable-compression`

// Getting reads from the cluster that the host is set up for; that connection is the program's whole purpose and the
// host's own configuration, so it counts as a read, unlike one to a place that the command names.
var kubectlVerbs = []program{
	{name: "get", style: exact, args: "text...", check: kubeGet, opts: `
		-A,--all-namespaces --allow-missing-template-keys --chunk-size=text --field-selector=text -f,--filename=text!unknown --ignore-not-found
		-k,--kustomize=text!unknown -L,--label-columns=text --no-headers -o,--output=text --output-watch-events --raw=text!secret -R,--recursive
		-l,--selector=text --server-print --show-kind --show-labels --show-managed-fields --sort-by=text --subresource=text
		--template=text!unknown -w,--watch!ask --watch-only!ask`},
	{name: "describe", style: exact, args: "text...", check: kubeDescribe, opts: `-A,--all-namespaces --chunk-size=text -f,--filename=text!unknown -k=text!unknown -R -l,--selector=text --show-events?text`},
	{name: "logs|log", style: exact, args: "text...", opts: `
		--all-containers?text --all-pods -c,--container=text -f,--follow!ask --ignore-errors --insecure-skip-tls-verify-backend!unknown
		--limit-bytes=text --max-log-requests=text --pod-running-timeout=text --prefix?text -p,--previous?text -l,--selector=text --since=text
		--since-time=text --tail=text --timestamps?text`},
	{name: "top", style: exact, args: "text...", opts: `-A,--all-namespaces --containers --field-selector=text --no-headers -l,--selector=text --sort-by=text --sum --use-protocol-buffers --show-capacity`},
	{name: "events", style: exact, opts: `-A,--all-namespaces --chunk-size=text --for=text --no-headers -o,--output=text --types=text -w,--watch!ask`},
	{name: "version|api-resources|api-versions|cluster-info|options|explain", style: exact, args: "text...", opts: `
		--client -o,--output=text --api-group=text --cached --categories=text --namespaced?text --no-headers --sort-by=text --verbs=text
		--api-version=text --recursive --short`, check: func(c *call) {
		if len(c.ops) > 0 && c.ops[0].Text == "dump" {
			c.say(unknown, "writes or shows everything")
		}
	}},
	{name: "rollout", style: exact | inherit, sub: []program{
		{name: "status", style: exact, args: "text...", opts: `-l,--selector=text --revision=text --timeout=text -w,--watch?text -f=text!unknown`},
		{name: "history", style: exact, args: "text...", opts: `-l,--selector=text --revision=text -o,--output=text`},
		{name: "pause|resume", class: write, args: "text..."},
		{name: "restart|undo", class: danger, args: "text..."},
	}},
	{name: "auth", style: exact | inherit, sub: []program{
		{name: "can-i", style: exact, args: "text...", opts: `-A,--all-namespaces --list -q,--quiet --no-headers --subresource=text`},
		{name: "whoami", style: exact, opts: `-o,--output=text`},
	}},
	{name: "config", style: exact | inherit, sub: []program{
		{name: "current-context|get-contexts|get-clusters|get-users", style: exact, args: "text...", opts: `-o,--output=text --no-headers`},
		{name: "view", style: exact, opts: `-o,--output=text --minify --flatten!secret --raw!secret --merge?text --template=text!ask`},
		{name: "use-context|use|set|set-context|set-cluster|set-credentials|unset|delete-context|delete-cluster|delete-user|rename-context", class: write, args: "text..."},
	}},
	{name: "exec", class: unknown, why: "runs a command in a container", style: exact, args: "text rest", opts: `-c,--container=text -i,--stdin -t,--tty -q,--quiet -f,--filename=text --pod-running-timeout=text`, check: kubeExec},
	{name: "run|debug|attach|cp|port-forward|proxy|plugin|kustomize|edit|wait|completion", class: unknown, args: "text...", check: looseTail},
	{name: "apply|create|patch|annotate|label|expose|autoscale|scale|set|diff|certificate|uncordon", class: write, args: "text..."},
	{name: "delete|drain|cordon|replace|taint", class: danger, args: "text..."},
	{name: "help", args: "text..."},
}

// orchestrators look at clusters.
var orchestrators = []program{
	{name: "kubectl|oc|microk8s.kubectl", style: exact | inherit, env: "KUBECONFIG KUBE* HOME", opts: kubectlOptions, sub: kubectlVerbs},
	{name: "k3s|microk8s", style: exact, class: unknown, alone: "--version -v version status", sub: []program{
		{name: "kubectl", style: exact | inherit, env: "KUBECONFIG KUBE* HOME", opts: kubectlOptions, sub: kubectlVerbs}}},
	{name: "kubectx|kubens", class: write, args: "text...", alone: "-c --current"},
	{name: "k9s|stern|kubetail|kustomize|skaffold|tilt|argocd|flux|istioctl|linkerd|cilium|kubeadm|eksctl|kops|velero|etcdctl|calicoctl", class: unknown, args: "text...", alone: "--version"},
	{name: "helm", style: exact | inherit, env: "HELM_* KUBECONFIG", opts: `
		--debug -n,--namespace=text --kube-context=text!ask --kubeconfig=read!unknown --kube-apiserver=text!unknown --kube-token=text!unknown
		--kube-as-user=text!unknown --kube-ca-file=read!unknown --registry-config=read!unknown --repository-config=read!unknown --repository-cache=read!unknown`, sub: []program{
		{name: "list|ls", style: exact, opts: `-A,--all-namespaces -a,--all -d,--date --deployed --failed -f,--filter=text -m,--max=text --offset=text -o,--output=text --pending -r,--reverse -l,--selector=text -q,--short --superseded --time-format=text --uninstalled --uninstalling --no-headers`},
		{name: "status|history|hist", style: exact, args: "text", opts: `-o,--output=text --revision=text --max=text --show-desc --show-resources`},
		{name: "get", style: exact | inherit, opts: `-o,--output=text --revision=text -a,--all --template=text!ask`, sub: []program{
			{name: "notes|metadata|hooks", args: "text"}, {name: "values|manifest|all", class: secret, why: "shows settings, which may hold secrets", args: "text"}}},
		{name: "version|env|help", style: exact, args: "text...", opts: `--short --template=text`},
		{name: "repo", style: exact, sub: []program{{name: "list|ls", style: exact, opts: `-o,--output=text`}, {name: "add|update|remove|index", class: write, args: "text..."}}},
		{name: "search|show|pull|template|lint|package|dependency|create|push|verify|test|plugin|registry", class: unknown, args: "text..."},
		{name: "install|upgrade", class: write, args: "text..."},
		{name: "uninstall|delete|rollback", class: danger, args: "text..."},
	}},
	{name: "nomad", style: exact, env: "NOMAD_*", class: unknown, alone: "version --version", sub: []program{
		{name: "status|version", style: exact | dashlong, args: "text...", opts: `-verbose -short -json -evals -namespace=text`},
		{name: "job|node|alloc|server|deployment|operator", style: exact, sub: []program{
			{name: "status|members|history|list", style: exact | dashlong, args: "text...", opts: `-verbose -short -json -stats -self -detailed -namespace=text`}}}}},
	{name: "consul", style: exact, env: "CONSUL_*", class: unknown, alone: "version --version", sub: []program{
		{name: "members|info|version", style: exact | dashlong, opts: `-detailed -wan -status=text -segment=text`}}},
	{name: "pcs|crm", class: write, args: "text...", alone: "status --version"},
	{name: "crm_mon|corosync-quorumtool|corosync-cfgtool", args: "", opts: `-1,--one-shot -r,--inactive -A -n -f -s -l`, check: func(c *call) {
		if c.node.name == "crm_mon" && !c.has("-1") {
			c.say(unknown, "never ends without -1")
		}
	}},
}

// kubeGet: secrets and the whole of config maps stay for a human to see first.
func kubeGet(c *call) {
	kubeSecrets(c)
	if a, ok := c.val("-o"); ok {
		if !a.certain() {
			c.say(unknown, "has a format that isn't literal")
		} else if s := a.Text; strings.HasPrefix(s, "go-template-file") || strings.HasPrefix(s, "jsonpath-file") || strings.HasPrefix(s, "custom-columns-file") || strings.HasPrefix(s, "templatefile") {
			_, file, _ := strings.Cut(s, "=")
			c.path(word(file), false)
		}
	}
}

func kubeSecrets(c *call) {
	for i, a := range c.ops {
		s := strings.ToLower(a.Text)
		if !a.certain() {
			c.say(unknown, "has a resource that isn't literal")
			continue
		}
		for kind := range strings.SplitSeq(s, ",") {
			kind, _, _ = strings.Cut(kind, "/")
			kind, _, _ = strings.Cut(kind, ".")
			if kind == "secret" || kind == "secrets" || strings.Contains(kind, "secret") && i == 0 {
				c.say(secret, "shows secrets")
			}
		}
	}
}

// kubeDescribe shows of a secret only its size.
func kubeDescribe(c *call) {
	for _, a := range c.ops {
		if !a.certain() {
			c.say(unknown, "has a resource that isn't literal")
		}
	}
	kubeSecrets(c)
}

// kubeExec: the command follows "--", or the pod.
func kubeExec(c *call) { remote(c) }

// looseTail reports what follows "--" as a command elsewhere, so that what is forbidden is seen.
func looseTail(c *call) {
	for i, a := range c.args {
		if a.certain() && a.Text == "--" && i+1 < len(c.args) {
			c.nestRemote(c.args[i+1:])
			return
		}
	}
}
