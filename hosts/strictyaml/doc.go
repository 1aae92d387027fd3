// Package strictyaml reads YAML files that people write and that must mean one thing: one document, one mapping, no anchors, tags
// or merges, no key twice, no key that nobody knows, no character that cannot be seen. What is wrong is collected with its line,
// so that a file is complained about once and in full.
package strictyaml
