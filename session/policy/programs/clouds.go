package programs

import "strings"

// clouds talk to somebody else's computers: never reads.
var clouds = []program{
	{name: "aws|gcloud|gsutil|bq|az|doctl|hcloud|oci|ibmcloud|linode-cli|openstack|flyctl|fly|heroku|vercel|netlify|wrangler|s3cmd|exo|scw|civo",
		raw: true, class: write, why: "opens network connections", check: cloud, env: "AWS_* GOOGLE_* CLOUDSDK_* AZURE_* OS_*", alone: "--version"},
	{name: "terraform|tofu|terragrunt|pulumi|cdk|serverless|sls|crossplane|nixops|chef|knife|inspec",
		class: unknown, why: "runs providers that a project names", raw: true, check: func(c *call) {
			if c.given("destroy") || c.given("down") || c.given("-auto-approve") {
				c.say(danger, "destroys machines")
			}
		}},
	{name: "cloud-init", style: exact, sub: []program{
		{name: "status", style: exact, opts: `-l,--long -w,--wait!ask --format=text`},
		{name: "analyze", style: exact, args: "text..."},
		{name: "schema", style: exact, opts: `--system --annotate -c,--config-file=read`},
		{name: "query|collect-logs", class: secret, args: "text..."},
		{name: "clean|init|modules|single|devel", class: danger, args: "text..."},
	}},
	{name: "cloud-id|ec2metadata|ec2-metadata", class: write, why: "asks the cloud's own service", args: "text..."},
}

func cloud(c *call) {
	for _, a := range c.args {
		s := a.Text
		if !a.certain() {
			c.say(unknown, "has a word that isn't literal")
		}
		for _, verb := range [...]string{"delete", "terminate", "destroy", "remove", "stop", "reboot", "purge", "rb", "rm", "detach", "deregister", "revoke"} {
			if s == verb || strings.HasPrefix(s, verb+"-") {
				c.say(danger, "stops or removes what others rely on")
			}
		}
	}
}
