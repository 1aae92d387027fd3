package programs_test

import "testing"

func TestSecretsAreNotReadUnasked(t *testing.T) {
	table(t, `
		sensitive-read | gpg --export-secret-keys
		sensitive-read | gpg -d x.gpg
		unknown | gpg --list-keys
		unknown | gpg --import x
		unknown | gpg --list-keys --options evil
		read-only | openssl x509 -in a.pem -noout -text
		write | openssl x509 -in a.pem -out pwned
		unknown | openssl rsa -in key.pem
		write | openssl s_client -connect host:443
		unknown | openssl version -engine ./evil
		unknown | vault read secret/x
		write | aws s3 ls
		dangerous | aws ec2 terminate-instances --instance-ids i-1
		unknown | terraform plan
		dangerous | terraform destroy
		unknown | go env GOPROXY
		unknown | go env -w A=b
		unknown | go build
	`)
}
