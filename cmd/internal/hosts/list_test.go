package hosts

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/inventory"
)

// fleet writes an inventory of Ansible's with 10 000 hosts in 100 groups.
func fleet(tb testing.TB) string {
	tb.Helper()
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, "[rack%02d]\nnode%02d-[001:100].example.com ansible_port=22%02d\n", i, i, i)
	}
	b.WriteString("[site:children]\n")
	for i := range 100 {
		fmt.Fprintf(&b, "rack%02d\n", i)
	}
	b.WriteString("[site:vars]\nansible_user=ops\n")
	path := filepath.Join(tb.TempDir(), "hosts.ini")
	require.NoError(tb, os.WriteFile(path, []byte(b.String()), 0o600))
	return path
}

func listed(tb testing.TB, path, selector string, how func(*ListOptions)) string {
	tb.Helper()
	ios, _, out, _ := iostreams.Test()
	o := &ListOptions{IO: ios, Selector: selector, Inventory: func() (*hosts.Inventory, error) {
		inv, _, err := inventory.Load(path, inventory.Options{Environ: []string{}})
		return inv, err
	}}
	how(o)
	require.NoError(tb, listRun(tb.Context(), o))
	return out.String()
}

func TestTenThousandHostsAreSelectedAndListed(t *testing.T) {
	path := fleet(t)
	out := listed(t, path, "@site & !node00-*", func(o *ListOptions) { o.JSON = true })
	assert.Equal(t, 9_900, strings.Count(out, "\n"))
	assert.Contains(t, out, `"source":"`+path+`:4"`)
	assert.Equal(t, "node07-001.example.com\nnode07-003.example.com\n",
		listed(t, path, "node07-[001-004/2].example.com", func(o *ListOptions) { o.Names = true }))
	assert.Equal(t, 10_000, strings.Count(listed(t, path, "all", func(*ListOptions) {}), "\n"))
}

// What reading 10 000 hosts of Ansible's, selecting and printing them costs.
func BenchmarkListTenThousandHosts(b *testing.B) {
	path := fleet(b)
	var size int
	for b.Loop() {
		size = len(listed(b, path, "@site & ~example & !node00-*", func(o *ListOptions) { o.JSON = true }))
	}
	b.SetBytes(int64(size))
}
