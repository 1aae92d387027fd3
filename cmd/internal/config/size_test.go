package config_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/config"
)

func TestSizesAreCountedInTheirUnits(t *testing.T) {
	for text, want := range map[string]int64{"1024": 1024, "4096": 4096, "1KiB": 1 << 10, "3KiB": 3 << 10, "16MiB": 16 << 20, "1GiB": 1 << 30, "2GiB": 2 << 30, "never": -1} {
		c, err := config.Parse("c.yaml", []byte("audit: {rotate: {size: "+text+"}}"))
		require.NoError(t, err, text)
		assert.Equal(t, want, c.Audit.MaxSize, text)
	}
	for _, text := range []string{"1023", "0", "-1", "1kib", "1K", "1 KiB", "1.5MiB", "9999999999", "0x400", "1TiB"} {
		_, err := config.Parse("c.yaml", []byte("audit: {rotate: {size: "+text+"}}"))
		assert.ErrorContains(t, err, "must be a size like 256MiB, of at least 1KiB, or never", text)
	}
}
