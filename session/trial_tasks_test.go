package session_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

// repairs are what an agent runs to mend three faults of a small service, with the service's own programs, which no table knows.
var repairs = map[string][]string{
	"the service does not start": {
		"ls -l", "cat app.conf", "./app check", "./app version", `perl -ne 'print if /error/' app.log`, "awk -F= '{print $1}' app.conf | sort | uniq -d",
		"sed -i s/prot/port/ app.conf", "./app check", "./app start", "./app status",
	},
	"the disk is full": {
		"df -h .", "du -s data", "./report data", `perl -e 'print -s, " $_\n" for glob "data/*"'`, "tail -n 3 app.log", "./app version", "rm data/old.log", "./report data",
	},
	"a certificate is about to expire": {
		"ls certs", "./certs.sh list", "./certs.sh check", "cat app.conf", `perl -ne 'print if /cert/' app.conf`, "cp certs/new.crt certs/app.crt", "./certs.sh check", "./app reload", "./app status",
	},
}

// Held first, an agent's repairs need at most half of the approvals.
func TestHeldFirstHalvesTheRequestsForApprovalOfRepairs(t *testing.T) {
	total := map[string]int{}
	for _, unknown := range []string{rules.UnknownAsks, rules.UnknownHeldFirst} {
		file, err := rules.Parse([]byte("version: 1\nprincipals:\n  - {name: role=agent, unknown: "+unknown+"}\n"), "policy.yaml")
		require.NoError(t, err)
		for task, commands := range repairs {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			require.NoError(t, err)
			for name, text := range map[string]string{
				"app.conf":      "prot=80\ncert=certs/app.crt\n",
				"app.log":       "started\nerror: prot\n",
				"data/old.log":  "old\n",
				"certs/app.crt": "old\n",
				"certs/new.crt": "new\n",
				"app":           "#!/bin/sh\ncase $1 in (check) grep -q port= app.conf;; (version) echo 1.0;; (start|reload) echo $$ >app.pid;; (status) cat app.pid;; esac\n",
				"report":        "#!/bin/sh\nls -S \"$1\"\n",
				"certs.sh":      "#!/bin/sh\ncase $1 in (list) ls certs;; (check) grep -c new certs/app.crt;; esac\n",
			} {
				require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
				require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755))
			}
			by := &asked{}
			s := holding(t, bashHere, session.Config{Policy: rules.New(rules.Config{User: file}), Principal: "agent/a", Approver: by})
			by.questions = nil
			for _, command := range append([]string{"cd " + dir}, commands...) {
				_, err := s.Run(t.Context(), session.Command{Script: command})
				require.NoError(t, err, command)
			}
			t.Logf("%s: %s: %d requests in %d commands", unknown, task, len(by.questions), len(commands))
			total[unknown] += len(by.questions)
		}
	}
	t.Logf("requests for approval: %d, held first %d", total[rules.UnknownAsks], total[rules.UnknownHeldFirst])
	assert.LessOrEqual(t, 2*total[rules.UnknownHeldFirst], total[rules.UnknownAsks])
}
