package redact_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/redact"
)

func TestValuesAreLearnedFromCommands(t *testing.T) {
	const v = "correct-horse9"
	for _, command := range []string{
		"export TOKEN=" + v, "TOKEN='" + v + "' make", `env DB_PASSWORD="` + v + `" ./run`, "PGPASSWORD=" + v + " psql -h db",
		"mysql -u root -p" + v + " -e 'select 1'", "sshpass -p " + v + " ssh web1", "curl -u me:" + v + " http://web1/",
		"app --api-key=" + v, "app --password " + v, "docker run -e API_SECRET=" + v + " img", "psql postgres://app:" + v + "@db/app",
		"curl -H 'Authorization: Bearer " + v + "-and-more-" + v + "'", "echo " + v + " | sudo -S id", `export TOKEN=correct\-horse9`,
		`TOKEN=correct'-horse'9`, "cat > .env <<E\nDB_PASS=" + v + "\nE", "declare -x AWS_SECRET_ACCESS_KEY=" + v,
	} {
		s := redact.New(redact.Config{})
		assert.Positive(t, s.LearnFromCommand(command), command)
		got, _ := s.String("it says "+v+"!", redact.Guarded)
		if command[0:4] != "curl" || command[5] == 'u' {
			assert.NotContains(t, got, v, command)
		}
	}
}

func TestNothingIsLearnedFromOrdinaryCommands(t *testing.T) {
	for _, command := range []string{
		"", "ls -la /var/log", "export PATH=/usr/local/bin:/usr/bin", "TOKEN=$(cat /run/token) make", "export TOKEN=$OTHER_TOKEN",
		"PASSWORD=short ./run", "grep -rn password= /etc/application", "mysql -p3306", "PASSWORD_FILE=/run/secrets/db ./run",
		"app --token-file /run/secrets/token", "kubectl get secret database-credentials", "TOKEN=/run/secrets/token ./run",
		"app --password-stdin", "echo 'unclosed", `x\`, "--password", "sort -k2 --parallel=8 file", "password=«redacted:password:0123abcd» x",
	} {
		s := redact.New(redact.Config{})
		assert.Zero(t, s.LearnFromCommand(command), command)
		assert.Zero(t, s.Len(), command)
	}
}
