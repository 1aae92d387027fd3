package proof

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"sync"
)

// archives are packed files of some kinds, for the programs that list them. A file that cannot be made here is left out:
// nothing in memory fails.
var archives = sync.OnceValue(func() map[string][]byte {
	var packed, plain, zipped bytes.Buffer
	t := tar.NewWriter(&plain)
	_ = t.WriteHeader(&tar.Header{Name: "a/b", Mode: 0o644, Size: 2})
	_, _ = t.Write([]byte("x\n"))
	_ = t.WriteHeader(&tar.Header{Name: "--checkpoint-action=exec=touch pwned", Mode: 0o644})
	_ = t.Close()
	g := gzip.NewWriter(&packed)
	_, _ = g.Write(plain.Bytes())
	_ = g.Close()
	z := zip.NewWriter(&zipped)
	if f, err := z.Create("a/b"); err == nil {
		_, _ = f.Write([]byte("x\n"))
	}
	_ = z.Close()
	return map[string][]byte{"x.tar": plain.Bytes(), "x.tar.gz": packed.Bytes(), "x.gz": packed.Bytes(), "x.zip": zipped.Bytes(), "x.jar": zipped.Bytes()}
})
