package cmdutil

import (
	"path/filepath"

	"github.com/fairlead-ssh/fairlead/cmd/internal/config"
)

// ConfigFile is where the settings are.
func (f *Factory) ConfigFile() (string, error) {
	return f.place("XDG_CONFIG_HOME", ".config", config.FileName)
}

// Config reads the settings, once. Where there is no file, or no home, they are the usual ones. Mistakes in the file are usage
// errors.
func (f *Factory) Config() (config.Config, error) {
	f.settings.once.Do(func() { f.settings.config, f.settings.err = f.readConfig() })
	return f.settings.config, f.settings.err
}

func (f *Factory) readConfig() (config.Config, error) {
	file, err := f.ConfigFile()
	if err != nil {
		return config.Config{}, nil
	}
	c, err := config.Load(filepath.Clean(file), f.Commands...)
	if err != nil {
		return c, &UsageError{Err: err}
	}
	return c, nil
}
