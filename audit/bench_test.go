package audit_test

import (
	"strconv"
	"sync"
	"testing"

	"github.com/fairlead-ssh/fairlead/audit"
)

func BenchmarkRecord(b *testing.B) {
	for _, bb := range []struct {
		name  string
		event audit.Event
	}{
		{"read-only request", request("e_1", true)},
		{"result", result("e_1")},
		{"request with fsync", request("e_1", false)},
	} {
		b.Run(bb.name, func(b *testing.B) {
			f := open(b, newDir(b), audit.Config{})
			b.ReportAllocs()
			for b.Loop() {
				if err := f.Record(b.Context(), bb.event); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(f.Syncs())/float64(b.N), "fsyncs/op")
		})
	}
}

// One operation is 100 requests at the same time, each of which waits for the disk.
func BenchmarkRecord100Parallel(b *testing.B) {
	f := open(b, newDir(b), audit.Config{})
	e := request("e_1", false)
	for b.Loop() {
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				if err := f.Record(b.Context(), e); err != nil {
					b.Error(err)
				}
			})
		}
		wg.Wait()
	}
	b.ReportMetric(float64(f.Syncs())/float64(b.N), "fsyncs/op")
}

func BenchmarkRecordAll100(b *testing.B) {
	f := open(b, newDir(b), audit.Config{})
	events := make([]audit.Event, 100)
	for i := range events {
		events[i] = request("e_"+strconv.Itoa(i), false)
	}
	for b.Loop() {
		if err := f.RecordAll(b.Context(), events); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkVerify(b *testing.B) {
	dir := chainOf(b, 10_000, audit.Config{})
	n := whole(b, dir).Bytes
	b.SetBytes(n)
	for b.Loop() {
		if r, err := audit.Verify(dir); err != nil || !r.OK() {
			b.Fatal(r.Problem, err)
		}
	}
}
