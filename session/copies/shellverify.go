package copies

import (
	"bytes"
	"context"
	"crypto/sha256"
)

// verify reads a file back.
func (b *overShell) verify(ctx context.Context, name string, in incoming) error {
	again := sha256.New()
	if err := b.read(ctx, name, again); err != nil {
		return err
	}
	if want := in.sum(); !bytes.Equal(again.Sum(nil), want) {
		return errStored
	}
	return nil
}

// sum is the hash of the content, which has been read.
func (in *incoming) sum() []byte {
	if s, ok := in.r.(interface{ sum() []byte }); ok {
		return s.sum()
	}
	one := sha256.Sum256(in.data)
	return one[:]
}
