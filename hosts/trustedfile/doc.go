// Package trustedfile checks that only root and the account that Fairlead runs as can change a file.
package trustedfile
