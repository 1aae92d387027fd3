package registry_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

func TestASessionTakesNoCommandOnceItsHostIsListedInAnotherWay(t *testing.T) {
	was := hosts.Host{Name: "web1", Addr: "192.0.2.1", User: "ada", Tier: "dev", Via: []string{"bastion"}, Env: []string{"A=1"}}
	now, err := was, error(nil)
	bubble(t, registry.Config{Listed: func(name string) (hosts.Host, error) {
		if name != was.Name {
			return hosts.Host{}, hosts.ErrNotFound
		}
		return now, err
	}}, func(t *testing.T, w *world) {
		w.dialer.On("true", reply{})
		e, other := w.open("web1", "build"), w.open("unlisted", "other")
		for _, tt := range []struct {
			change func()
			want   string // "" runs it
		}{
			{func() {}, ""},
			{func() { now.User = "bob" }, "user: ada, now bob"},
			{func() { now.Addr = "" }, "addr: 192.0.2.1, now not set"},
			{func() { now.Port = 2222 }, "port: not set, now 2222"},
			{func() { now.Via = []string{"bastion", "inner"} }, "via: bastion, now bastion, inner"},
			{func() { now.Tier = "" }, "tier: dev, now "},
			{func() { now.Become.User = "root" }, "become: not set, now root"},
			{func() { now.NoLogin = "no credentials" }, "credentials"},
			{func() { now.Transport = hosts.Local }, "transport: ssh, now local"},
			{func() { err = hosts.ErrNotFound }, "it is not listed any more"},
			{func() { err = errors.New("the file is being written") }, ""},
			{func() { now.Env, now.Groups, now.Labels = nil, []string{"web"}, map[string]string{"role": "web"} }, ""},
		} {
			now, err = was, nil
			tt.change()
			x, failed := e.Start(t.Context(), registry.Command{Script: "true"})
			if tt.want == "" {
				require.NoError(t, failed)
				require.NoError(t, x.Wait(t.Context()))
				continue
			}
			require.Equal(t, registry.CodeChanged, codeOf(t, failed), tt.want)
			assert.ErrorContains(t, failed, tt.want)
			assert.ErrorContains(t, failed, "fairlead sessions close build")
			w.run(other, "true")
		}
	})
}
