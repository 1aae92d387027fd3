package sinks_test

import (
	"context"
	"testing"

	"github.com/fairlead-ssh/fairlead/audit/sinks"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/straced"
)

// A place that is required says with its acknowledgement that the head outlives the machine.
func TestAHeadIsOnTheDiskBeforeItIsAcknowledged(t *testing.T) {
	dir, tr := straced.Run(t, func(dir string) {
		p, a := place(t, sinks.Config{File: dir + "/heads"}), head(t)
		straced.Mark("begins")
		for _, done := range []string{"first", "second"} {
			if err := p.Anchor(context.Background(), a); err != nil {
				panic(err)
			}
			straced.Mark(done)
		}
	})
	first := tr.Between(t, "begins", "first")
	first.Synced(t, dir+"/heads")
	first.NamesSynced(t, dir, "create", dir+"/heads")
	tr.Between(t, "first", "second").Synced(t, dir+"/heads")
}
