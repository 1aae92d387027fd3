package jobwork

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/jobs"
)

// Hosts that are one machine, or share a home directory, all have the jobs of a group: each tells only of its own, and of no others
// that are there.
func TestAHostOfAGroupTellsOfItsOwnJob(t *testing.T) {
	b, start := book(t)
	single := start("true")
	var hs []hosts.Host
	for n := 1; n <= 4; n++ {
		hs = append(hs, hosts.Host{Name: fmt.Sprintf("web%d", n), Transport: hosts.Local, Shell: "bash"})
	}
	group := func() string {
		cmd, id := session.Command{Script: "true"}, jobs.NewID()
		_, err := jobs.StartOnEach(&cmd, id, "operator/ada", hs)
		require.NoError(t, err)
		for h, r := range b.cfg.Pool.Each(t.Context(), hs, cmd) {
			require.Equal(t, session.StatusOK, r.Status, h.Name)
		}
		return id
	}
	id := group()
	group()
	list := func(hs []hosts.Host, id string) (all []string) {
		found, err := b.ListGroup(t.Context(), hs, id, "")
		require.NoError(t, err)
		for _, j := range found {
			all = append(all, j.Host+"/"+j.ID)
		}
		return all
	}
	var own, everywhere []string
	for n, h := range hs {
		own = append(own, fmt.Sprintf("%s/%s-%d", h.Name, id, n+1))
		for m := range hs[:2] {
			everywhere = append(everywhere, fmt.Sprintf("%s/%s-%d", hs[m].Name, id, n+1))
		}
	}
	assert.Equal(t, own, list(hs, id))
	assert.ElementsMatch(t, everywhere, list(hs[:2], id), "whose they are is not known")
	assert.Equal(t, []string{"web1/" + id + "-3", "web4/" + id + "-3"}, list([]hosts.Host{hs[0], hs[3]}, id+"-3"))
	assert.Equal(t, []string{"web1/" + single.ID, "web2/" + single.ID}, list(hs[:2], single.ID))
	assert.Empty(t, list(hs, jobs.NewID()))
	_, err := b.ListGroup(t.Context(), hs, "j_../..", "")
	assert.Error(t, err)
}
