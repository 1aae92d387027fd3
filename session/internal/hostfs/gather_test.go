package hostfs

import (
	"archive/tar"
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func archiveOf(t testing.TB, heads ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range heads {
		if h.Typeflag == tar.TypeReg {
			h.Size = int64(len(h.Name))
		}
		require.NoError(t, w.WriteHeader(&h))
		if h.Typeflag == tar.TypeReg {
			_, err := w.Write([]byte(h.Name))
			require.NoError(t, err)
		}
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

func TestAnArchiveHoldsWhatWasAskedForOrIsRefused(t *testing.T) {
	names := []string{"./a/b", "./a/c"}
	first := tar.Header{Typeflag: tar.TypeReg, Name: "./a/b"}
	for name, second := range map[string]tar.Header{
		"":                               {Typeflag: tar.TypeReg, Name: "./a/c"},
		"another file":                   {Typeflag: tar.TypeReg, Name: "./a/d"},
		"not the file any more":          {Typeflag: tar.TypeSymlink, Name: "./a/c", Linkname: "/etc/passwd"},
		"it is not the file":             {Typeflag: tar.TypeFifo, Name: "./a/c"},
		"a file that is not in it":       {Typeflag: tar.TypeLink, Name: "./a/c", Linkname: "./a/x"},
		"refers to a file":               {Typeflag: tar.TypeLink, Name: "./a/c", Linkname: "./a/c"},
		"the archive of the host holds":  {Typeflag: tar.TypeReg, Name: "./a/b"},
		"of the host holds another file": {Typeflag: tar.TypeReg, Name: "/etc/passwd"},
	} {
		all, err := unpack(bytes.NewReader(archiveOf(t, first, second)), names)
		if name == "" {
			require.NoError(t, err)
			assert.Equal(t, [][]byte{[]byte("./a/b"), []byte("./a/c")}, all)
		} else {
			assert.ErrorContains(t, err, name)
		}
	}
	all, err := unpack(bytes.NewReader(archiveOf(t, first, tar.Header{Typeflag: tar.TypeLink, Name: "./a/c", Linkname: "./a/b"})), names)
	require.NoError(t, err)
	assert.Equal(t, [][]byte{[]byte("./a/b"), []byte("./a/b")}, all)
	_, err = unpack(bytes.NewReader(archiveOf(t, first)), names)
	assert.ErrorContains(t, err, "ends early")
}

// An archive comes from another machine.
func FuzzUnpack(f *testing.F) {
	f.Add(archiveOf(f, tar.Header{Typeflag: tar.TypeReg, Name: "./a"}, tar.Header{Typeflag: tar.TypeLink, Name: "./b", Linkname: "./a"}))
	f.Add([]byte(strings.Repeat("x", 1024)))
	f.Fuzz(func(t *testing.T, archive []byte) {
		all, err := unpack(bytes.NewReader(archive), []string{"./a", "./b"})
		if err == nil && (len(all) != 2 || len(all[0])+len(all[1]) > 2*len(archive)) {
			t.Fatalf("%d files, %d and %d bytes", len(all), len(all[0]), len(all[1]))
		}
	})
}
