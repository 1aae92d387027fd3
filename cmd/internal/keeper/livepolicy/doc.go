// Package livepolicy owns what decides for the keeper's sessions: the policy as its files say now, and an operator's consent that came
// with a request.
package livepolicy
