package judge_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

func TestTheNewestFileOfAListingMayBeRead(t *testing.T) {
	for _, script := range []string{
		`tail -50 "$(ls -t /var/log/app/*.log | head -1)"`,
		`tail -50 $(ls -t /var/log/app/*.log | head -1)`,
		`tail -100 "$(ls -1t /var/log/app/*.log 2>/dev/null | head -n 1)"`,
		`grep -c ERROR "$(ls -t /var/log/app/*.log | head -1)"`,
		`latest=$(ls -t /var/log/app/*.log | head -1); echo "$latest"; grep ERROR "$latest" | tail`,
		`cat "$(ls -td /srv/app/releases/*.txt | head -1)"`,
	} {
		r := judge.Judge(judge.Request{Script: script, Shell: "bash"})
		assert.Equal(t, policy.Allow, agent(r.Class), "%s: %s: %s", script, r.Rule, r.Reason)
	}
}

func TestAListingThatMayNameASecretOrAnythingElseAsks(t *testing.T) {
	for _, script := range []string{
		`cat "$(ls -t /etc/sha* | head -1)"`,
		`cat "$(ls -t /etc/* | head -1)"`,
		`cat "$(ls -t ~/.ssh/* | head -1)"`,
		`cat "$(ls /home/*/.ssh/id_rsa | head -1)"`,
		`cat "$(ls -R /srv | head -1)"`,
		`cat "$(ls -l /srv | head -1)"`,
		`cat "$(ls -t $d/*.log | head -1)"`,
		`cat "$(ls -t /srv/*/x.log | head -1)"`,
		`cat "$(ls -t /srv/{a,b} | head -1)"`,
		`cat "$(ls -t /srv/*.log)"`,
		`cat "$(find / -name '*.log' | head -1)"`,
		`cat "$(ls -t /srv/*.log | head -1 | cut -c3-)"`,
		`cat "$(ls -t /srv/*.log | head -1 | sed s,srv,etc,)"`,
		`cat "$(ls -t /srv/*.log; echo /etc/shadow)"`,
		`cat "$(echo /etc/shadow | head -1)"`,
		`cat "/etc/$(ls /srv/app | head -1)"`,
		`cat "$(ls /srv/app | head -1)/shadow"`,
		`cd /etc; cat "$(ls /srv/app | head -1)"`,
		`f=$(ls /srv/app | head -1); cd /etc; cat "$f"`,
		`f=$(ls -t /etc/* | head -1); cat "$f"`,
		`f=$(ls -t /srv/*.log | head -1); cat "$f/../../etc/shadow"`,
		`f=$(ls -t /srv/*.log | head -1); cat /etc/$f`,
		`f=$(ls -t /srv/*.log | head -1); $f`,
		`f=$(ls -t /srv/*.log | head -1); sh "$f"`,
		`f=$(ls -t /srv/*.log | head -1); rm "$f"`,
		`f=$(ls -t /srv/*.log | head -1); echo $((f))`,
		`f=$(ls -t /srv/*.log | head -1); find $f`,
		`sort $(ls -t /srv/*.log | head -1)`,
		`sort "$(ls -t /srv/*.log | head -1)"`,
		`$(ls -t /srv/*.log | head -1)`,
		`sh "$(ls -t /srv/*.log | head -1)"`,
		`rm "$(ls -t /srv/*.log | head -1)"`,
		`echo x > "$(ls -t /srv/*.log | head -1)"`,
		`find "$(ls -t /srv/*.log | head -1)"`,
		`cat < "$(ls -t /etc/* | head -1)"`,
		`grep -r x "$(ls -td /etc/* | head -1)"`,
		`awk -f "$(ls -t /srv/*.awk | head -1)" x`,
		`cat "$(ls -t /srv/*.log /etc/shadow | head -1)"`,
		`ls -d /etc/shadow | head -1 | xargs cat`,
		`tar xf "$(ls -t /srv/*.tgz | head -1)"`,
		`bash -c "$(ls /srv | head -1)"`,
		`X=$(ls -t /srv/*.log | head -1) cat "$X"`,
		`f=$(ls -t /var/backups/* | head -1); cat "$f"`,
		`while read -r n; do echo "$n"; done < "$(ls -t /etc/* | head -1)"`,
		`xargs cat <<< "$(ls -d /etc/* | head -1)"`,
		`echo "$(ls -d /etc/* | head -1)" | xargs cat`,
		`for n in "$(ls -d /etc/* | head -1)"; do cat "$n"; done`,
		`f=$(ls -d /etc/* | head -1); echo "$f" | xargs cat`,
		`a=("$(ls -d /etc/* | head -1)"); for n in "${a[@]}"; do cat "$n"; done`,
		`cat "${x:-$(ls -d /etc/* | head -1)}"`,
		`declare a="$(ls -d /etc/* | head -1)"; cat "$a"`,
		`read -r f <<< "$(ls -d /etc/* | head -1)"; cat "$f"`,
		`ls "$(ls -d /etc/* | head -1)" | head -1 | xargs cat`,
		`show() { cat "$1"; }; show "$(ls -d /etc/* | head -1)"; ls`,
		`{ cat "$(ls -d /etc/* | head -1)"; } | sort`,
		`timeout 5 cat "$(ls -d /etc/* | head -1)"`,
		`cat "$(cat "$(ls -d /srv/* | head -1)")"`,
		`cat "$(ls -d /srv/* | head -1)" "$(ls -d /etc/* | head -1)"`,
		`cat "$(ls -d /srv/* | head -1 > x)"`,
		`cat "$(ls -d /srv/* | head -2)"`,
		`cat "$(ls -d /srv/* |& head -1)"`,
		`a="$(ls -d /etc/* | head -1)" ; b=$a; cat "$b"`,
	} {
		for _, shell := range []string{"bash", "zsh", "dash", ""} {
			r := judge.Judge(judge.Request{Script: script, Shell: shell})
			assert.NotEqual(t, policy.Allow, agent(r.Class), "%s in %q: %s", script, shell, r.Reason)
		}
	}
}

// What a pipeline within a group, a loop or a function writes is read by whoever stands behind it.
func TestNamesThatAPipelineWithinAGroupWritesCount(t *testing.T) {
	for _, script := range []string{
		`{ ls -d /etc/shadow | sort; } | xargs cat`,
		`(ls -d /etc/* | head -1) | xargs cat`,
		`{ ls -d /etc/shadow; } | xargs cat`,
		`if true; then ls -d /etc/sha* | sort; fi | xargs cat`,
		`for i in 1; do ls -d /etc/* | head -5; done | xargs cat`,
		`{ find /etc -maxdepth 1 | sort; } | xargs cat`,
		`cat $(ls -d /etc/* | head -1)`,
		`{ printf '%s%s\n' /etc/sha dow | cat; } | xargs cat`,
		`{ printf '%s%s\n' /etc/sha dow; echo x; } | xargs cat`,
		`cat <(ls -d /etc/shadow | sort) | xargs cat`,
		`cat $(echo /etc/sha | cat)dow`,
		`hr() { ls -d /etc/shadow | sort; }; hr | xargs cat; ls`,
		`{ docker ps | sort; ls -d /etc/shadow | sort; } | xargs cat`,
	} {
		r := judge.Judge(judge.Request{Script: script, Shell: "bash"})
		assert.NotEqual(t, policy.Allow, agent(r.Class), "%s: %s", script, r.Reason)
	}
	for _, script := range []string{
		`{ printf '%s\n' /etc/fstab; echo x; } | xargs cat`,
		`{ ls /var/log/*.log | sort; } | xargs tail -n1`,
		`{ find /etc/nginx -name '*.conf' | sort; } | xargs cat`,
		`ls /var/log | { head -3 | sort; } | xargs -I{} tail -n1 /var/log/{}`,
	} {
		r := judge.Judge(judge.Request{Script: script, Shell: "bash"})
		assert.Equal(t, policy.Allow, agent(r.Class), "%s: %s: %s", script, r.Rule, r.Reason)
	}
}
