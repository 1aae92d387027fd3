package cmdutil

import (
	"fmt"
	"path/filepath"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/audit/sinks"
)

// OpenAudit opens the record as the settings say: how it rotates, and which other places learn of its heads. What people
// should know of those is told on standard error. The caller closes it. An error means that nothing may be sent.
func (f *Factory) OpenAudit() (*audit.Tee, error) {
	dir, err := f.AuditDir()
	if err != nil {
		return nil, err
	}
	c, err := f.Config()
	if err != nil {
		return nil, err
	}
	a := c.Audit
	return sinks.Open(dir, audit.Config{Sync: a.Sync, MaxSize: a.MaxSize, MaxAge: a.MaxAge}, a.Sinks, func(text string) {
		fmt.Fprintf(f.IO.Err, "fairlead: warning: %s\n", OneLine(text))
	})
}

// Outputs is where the settings want what commands print to be kept; nil means nowhere.
func (f *Factory) Outputs() (audit.OutputStore, error) {
	c, err := f.Config()
	if err != nil || !c.Audit.Outputs {
		return nil, err
	}
	dir, err := f.AuditDir()
	if err != nil {
		return nil, err
	}
	return audit.NewOutputDir(OutputsOf(dir), nil), nil
}

// OutputsOf is where the outputs of the record in dir are kept.
func OutputsOf(dir string) string { return filepath.Join(filepath.Dir(filepath.Clean(dir)), "outputs") }
