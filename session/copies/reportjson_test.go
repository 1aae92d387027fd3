package copies_test

import (
	"encoding/json"
	"io"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/copies"
)

// A reader of the JSON can open the file, whatever bytes its name has.
func TestAReportHasTheBytesOfNamesThatAreNotUTF8(t *testing.T) {
	r := copies.Report{Done: copies.Copied, Path: "/srv/\xff\xfe", Name: "\xff\xfe"}
	text, err := json.Marshal(r)
	require.NoError(t, err)
	assert.JSONEq(t, `{"done":"copied","path":"/srv/\ufffd","path_b64":"L3Nydi///g==","name":"\ufffd","name_b64":"//4="}`, string(text))
	var again copies.Report
	require.NoError(t, json.Unmarshal(text, &again))
	assert.Equal(t, r, again)
	assert.Error(t, json.Unmarshal([]byte(`{"name":"a","name_b64":"//4="}`), &again), "two names")

	ways(t, func(t *testing.T, s *site, dir string) {
		src := filepath.Join(tempDir(t), "f\xff")
		write(t, src, []byte("f"), 0o644)
		local, err := copies.NewLocal([]string{src})
		require.NoError(t, err)
		_, reports := s.run(&copies.Copy{Plan: copies.Plan{Op: copies.Upload, Path: dir, Entries: local.Entries}, Source: func(hosts.Host) io.Reader { return local.Reader() }})
		require.Len(t, reports, 1)
		assert.Equal(t, "f\xff", reports[0].Name)
		assert.Equal(t, dir+"/f\xff", reports[0].Path)
	})
}
