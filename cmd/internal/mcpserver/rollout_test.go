package mcpserver_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestARunGoesInBatches(t *testing.T) {
	c := example(t, "").start(t, nil, "--allow-all")
	dir := t.TempDir()
	t.Run("and stops once too many have failed", func(t *testing.T) {
		r := c.call("run", args{"targets": "@demo", "command": "exit 3", "rollout": args{"batches": []string{"1"}, "max_fail": "1"}})
		assert.Equal(t, map[string]string{"exit": "demo[1-2]", "canceled": "demo3"}, r.Statuses, r.Raw)
		assert.Contains(t, r.Raw, `"rollout":{"batches":3,"done":1,"notrun":"demo3","stopped":"max-fail","why":"2 of 3 hosts failed, and max-fail is 1"}`)
		assert.Contains(t, r.Text, "1 of 3 batches done; stopped by max-fail: 2 of 3 hosts failed, and max-fail is 1; not run: demo3")
		again := c.call("session_output", args{"exec_id": r.Run})
		assert.Contains(t, again.Raw, `"stopped":"max-fail"`)
		assert.NotContains(t, r.Text, "waits for it", "it has ended")
	})
	t.Run("from a canary on, each verified", func(t *testing.T) {
		log := filepath.Join(dir, "log")
		r := c.call("run", args{"targets": "@demo", "command": "echo ran >>" + log, "rollout": args{
			"canary": "demo2", "verify": "grep -c ran " + log + " | grep -qx 1", "batch_max_fail": "0", "retry": 1, "deadline_s": 60,
		}})
		assert.Equal(t, map[string]string{"ok": "demo2", "verify_failed": "demo[1,3]"}, r.Statuses, r.Raw)
		assert.Contains(t, r.Raw, `"stopped":"batch-max-fail"`)
		require.Len(t, r.Groups, 2)
		require.NotNil(t, r.Groups[0].Error, r.Raw)
		whole := c.call("session_output", args{"exec_id": r.Groups[0].Error.Exec})
		assert.Equal(t, 1, *whole.ExitCode, whole.Raw)
	})
	t.Run("until its deadline", func(t *testing.T) {
		r := c.call("run", args{"targets": "@demo", "command": "sleep 60", "rollout": args{"batches": []string{"2"}, "deadline_s": 3}})
		assert.Equal(t, map[string]string{"timeout": "demo[1-2]", "canceled": "demo3"}, r.Statuses, r.Raw)
		assert.Contains(t, r.Raw, `"stopped":"deadline"`)
	})
}

func TestMistakesOfARolloutSendNothing(t *testing.T) {
	c := example(t, "").start(t, nil)
	file := filepath.Join(t.TempDir(), "f")
	for name, rollout := range map[string]args{
		"batches: 0 picks no host":                {"batches": []string{"0"}},
		"max_fail: \"x\" is neither":              {"max_fail": "x"},
		"batch_max_fail: 200% is more":            {"batch_max_fail": "200%"},
		"canary":                                  {"canary": "nowhere"},
		"rollout: canary: ":                       {"canary": ""},
		"no host of the run is a canary":          {"canary": "here"},
		"deadline_s must be more than 0":          {"deadline_s": 0},
		"retry must be between 0 and 100":         {"retry": 101},
		"unknown argument confirm":                {"confirm": true},
		"that the policy allows without approval": {"verify": "touch " + file},
	} {
		r := c.call("run", args{"targets": "@demo", "command": "touch " + file, "wait_s": 0, "rollout": rollout})
		require.NotNil(t, r.Error, "%s: %s", name, r.Raw)
		assert.Contains(t, r.Error.Message, name)
	}
	_, err := os.Stat(file)
	require.Error(t, err)
	assert.Equal(t, "invalid", c.call("look", args{"targets": "@demo", "command": "true", "rollout": args{}}).Error.Code)
}
