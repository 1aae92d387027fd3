package audit_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/straced"
)

// must ends a traced test that went wrong.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

func opened(dir string, cfg audit.Config) *audit.File {
	f, err := audit.Open(dir, cfg)
	must(err)
	return f
}

func TestWhatIsAcknowledgedIsOnTheDisk(t *testing.T) {
	dir, tr := straced.Run(t, func(dir string) {
		ctx := context.Background()
		f := opened(dir+"/audit", audit.Config{})
		straced.Mark("opened")
		must(f.Record(ctx, request("e_1", false)))
		straced.Mark("acknowledged")
		must(f.Record(ctx, request("e_2", true)))
		must(f.Close())
		straced.Mark("closed")
		always := opened(dir+"/audit", audit.Config{Sync: audit.SyncAlways})
		straced.Mark("always")
		must(always.Record(ctx, result("e_2")))
		straced.Mark("always acknowledged")
		must(always.Close())
	})
	dir += "/audit"
	data, head := dir+"/000001.jsonl", dir+"/head"

	created := tr.Between(t, "", "opened")
	created.Synced(t, dir+"/key")
	created.Synced(t, head)
	created.NamesSynced(t, dir, "create", data)
	created.NamesSynced(t, dir, "create", dir+"/key")
	assert.GreaterOrEqual(t, created.Last("sync", filepath.Dir(dir)), 0, "the directory's own name is on the disk")

	tr.Between(t, "opened", "acknowledged").Synced(t, data)
	closed := tr.Between(t, "acknowledged", "closed")
	closed.Synced(t, data)
	closed.Synced(t, head)
	tr.Between(t, "always", "always acknowledged").Synced(t, data)
}

func TestARotationAndAPurgeAreOnTheDisk(t *testing.T) {
	at := time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC)
	dir, tr := straced.Run(t, func(dir string) {
		cfg := audit.Config{MaxSize: -1, MaxAge: time.Hour, Now: func() time.Time { return at }}
		f := opened(dir+"/audit", cfg)
		must(f.Record(context.Background(), request("e_1", false)))
		at = at.Add(2 * time.Hour)
		straced.Mark("rotates")
		must(f.Record(context.Background(), request("e_2", false)))
		straced.Mark("rotated")
		_, err := f.PurgeRecords(at.Add(time.Minute), audit.Event{Principal: "operator/ada"})
		must(err)
		straced.Mark("purged")
		must(f.Close())
	})
	dir += "/audit"
	rotated := tr.Between(t, "rotates", "rotated")
	rotated.Synced(t, dir+"/000001.jsonl")
	rotated.Synced(t, dir+"/000002.jsonl")
	rotated.NamesSynced(t, dir, "create", dir+"/000002.jsonl")
	next := rotated.Last("create", dir+"/000002.jsonl")
	assert.Greater(t, rotated.Last("sync", dir+"/head"), next, "head leads to the new file before that is used")
	assert.Greater(t, next, rotated[:next].Last("sync", dir+"/000001.jsonl"))
	assert.GreaterOrEqual(t, rotated[:next].Last("sync", dir+"/000001.jsonl"), 0, "the old file is on the disk before the new one is made")

	purged := tr.Between(t, "rotated", "purged")
	purged.NamesSynced(t, dir, "unlink", dir+"/000001.jsonl")
	purged[:max(purged.Last("unlink", dir+"/000001.jsonl"), 0)].Synced(t, dir+"/000002.jsonl")
}

// What another process left unfinished is on the disk before it is taken for the chain's end.
func TestWhatIsResumedIsOnTheDisk(t *testing.T) {
	dir, tr := straced.Run(t, func(dir string) {
		ctx, dir := context.Background(), dir+"/audit"
		f := opened(dir, audit.Config{})
		must(f.Record(ctx, request("e_1", false)))
		must(f.Close())
		head, err := os.ReadFile(dir + "/head")
		must(err)
		f = opened(dir, audit.Config{})
		must(f.Record(ctx, request("e_2", false)))
		must(f.Close())
		must(os.WriteFile(dir+"/head", head, 0o600)) // as if the one who wrote e_2 had died before head was moved
		straced.Mark("behind")
		f = opened(dir, audit.Config{})
		straced.Mark("caught up")
		must(f.Close())

		torn, err := os.OpenFile(dir+"/000001.jsonl", os.O_APPEND|os.O_WRONLY, 0)
		must(err)
		_, err = torn.WriteString(`{"v":1,"se`)
		must(err)
		must(torn.Close())
		straced.Mark("torn")
		f = opened(dir, audit.Config{})
		straced.Mark("sealed")
		must(f.Close())
	})
	data, head := dir+"/audit/000001.jsonl", dir+"/audit/head"
	behind := tr.Between(t, "behind", "caught up")
	behind.Synced(t, head)
	moved := behind.Last("write", head)
	assert.Positive(t, moved)
	assert.GreaterOrEqual(t, behind[:max(moved, 0)].Last("sync", data), 0, "records are on the disk before head says that they are the end")
	tr.Between(t, "torn", "sealed").Synced(t, data)
}

func TestAnOutputIsOnTheDiskBeforeItHasItsName(t *testing.T) {
	dir, tr := straced.Run(t, func(dir string) {
		d := audit.NewOutputDir(dir+"/outputs", time.Now)
		_, err := d.Put(context.Background(), []byte("x"))
		must(err)
		straced.Mark("kept")
	})
	kept := tr.Between(t, "", "kept")
	var name string
	for _, c := range kept {
		if c.Name == "rename" && strings.HasPrefix(c.Paths[1], dir) {
			name = c.Paths[1]
		}
	}
	kept.Replaced(t, "rename", name)
	kept.NamesSynced(t, filepath.Dir(name), "rename", name)
}
