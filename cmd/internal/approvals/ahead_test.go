package approvals

import (
	"bufio"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
)

func TestWhatWasTypedBeforeAQuestionDoesNotAnswerIt(t *testing.T) {
	for name, ask := range map[string]func(b *Base) (string, error){
		"a question": func(b *Base) (string, error) { return b.ask(t.Context(), "Really (y/N) ?") },
		"a passphrase": func(b *Base) (string, error) {
			said, err := b.secret(t.Context(), "Passphrase?")
			return string(said), err
		},
	} {
		t.Run(name, func(t *testing.T) {
			master, tty, err := pty.Open()
			require.NoError(t, err)
			defer master.Close()
			_, err = master.WriteString("yes\nyes\ny")
			require.NoError(t, err)
			done := make(chan struct{})
			go func() {
				defer close(done)
				if _, err := bufio.NewReader(master).ReadString('?'); err != nil {
					return
				}
				_, _ = master.WriteString("no\n")
			}()
			ios, _, _, _ := iostreams.Test()
			b := &Base{IO: ios, Terminal: func() (cmdutil.Terminal, error) { return tty, nil }}
			said, err := ask(b)
			require.NoError(t, err)
			assert.Equal(t, "no", strings.TrimSpace(said))
			<-done
		})
	}
}
