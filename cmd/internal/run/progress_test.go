package run

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/outcome"
	"github.com/fairlead-ssh/fairlead/hosts"
)

func TestTheProgressLineFitsAndNamesTheLastOnes(t *testing.T) {
	var many []string
	for i := range 40 {
		many = append(many, fmt.Sprintf("host%d.of.another.domain%d", i, i*7))
	}
	for name, tt := range map[string]struct {
		done, total int
		running     []string
		width       int
		want        string
	}{
		"nobody runs":      {0, 3, nil, 80, "0/3 done"},
		"one":              {2, 3, []string{"web3"}, 80, "2/3 done; waiting for web3"},
		"a range":          {1, 9, []string{"web1", "web2", "db1"}, 80, "1/9 done; waiting for db1,web[1-2]"},
		"too many to name": {1, 41, many, 79, "1/41 done; waiting for host0.of.another.domain0 and 39 more"},
		"too narrow for a name": {1, 41, many, 40,
			"1/41 done; waiting for 40 hosts"},
		"far too narrow": {1, 41, many, 7, "1/41 do"},
		"no width":       {1, 41, many, -1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tt.want, progressLine(tt.done, tt.total, tt.running, tt.width))
		})
	}
}

func TestTheProgressLineComesAfterASecondAndGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		errOut := &lockedBuffer{}
		ios := iostreams.New(strings.NewReader(""), io.Discard, errOut)
		ios.ErrTTY = true
		r := newReport(&Options{IO: ios}, []hosts.Host{{Name: "a"}, {Name: "b"}}, outcome.NewGate(ios, nil))
		stop := r.watch(t.Context())
		r.start(hosts.Host{Name: "b"})
		time.Sleep(progressAfter - time.Millisecond)
		synctest.Wait()
		assert.Empty(t, errOut.String())
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		assert.Equal(t, "0/2 done; waiting for b", errOut.String())
		stop()
		assert.Equal(t, "0/2 done; waiting for b\r\x1b[K", errOut.String())
	})
}

func TestTheProgressLineLeavesAQuestionAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		errOut := &lockedBuffer{}
		ios := iostreams.New(strings.NewReader(""), io.Discard, errOut)
		ios.ErrTTY = true
		r := newReport(&Options{IO: ios}, []hosts.Host{{Name: "a"}, {Name: "b"}}, outcome.NewGate(ios, nil))
		stop := r.watch(t.Context())
		answered := r.ask()
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Empty(t, errOut.String())
		answered()
		time.Sleep(progressEvery)
		synctest.Wait()
		assert.Equal(t, "0/2 done", errOut.String())
		stop()
	})
}

// lockedBuffer may be read while somebody writes.
type lockedBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func TestNothingComesBetweenTheBytesOfASingleHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ios, _, _, errOut := iostreams.Test()
		ios.ErrTTY = true
		r := newReport(&Options{IO: ios}, []hosts.Host{{Name: "a"}}, outcome.NewGate(ios, nil))
		stop := r.watch(t.Context())
		r.start(hosts.Host{Name: "a"})
		time.Sleep(time.Minute)
		stop()
		assert.Empty(t, errOut.String())
	})
}
