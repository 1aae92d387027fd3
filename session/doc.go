// Package session runs commands on hosts through long-lived shells.
package session
