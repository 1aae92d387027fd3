package keeper

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/hosts"
)

// A page of a list of jobs asks no host again that has been told of whole.
func TestAPageOfJobsAsksOnlyHostsThatComeAfterTheCursor(t *testing.T) {
	all := []hosts.Host{{Name: "web2"}, {Name: "web"}, {Name: "web10"}, {Name: "db"}}
	for cursor, want := range map[string][]string{
		"":          {"web2", "web", "web10", "db"},
		"db/j_a":    {"web2", "web", "web10", "db"},
		"web/j_a":   {"web2", "web", "web10"},
		"web10/j_a": {"web2", "web10"},
		"web2/j_a":  {"web2"},
		"zz/j_a":    nil,
	} {
		var got []string
		for _, h := range after(all, cursor) {
			got = append(got, h.Name)
		}
		assert.Equal(t, want, got, cursor)
	}
	assert.Len(t, all, 4)
}
