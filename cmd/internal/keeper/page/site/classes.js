// Classes of commands, as the policy names them. Only names that are known here say how something looks.

const classes = new Set(["read-only", "sensitive-read", "network-read", "write", "unknown", "dangerous", "privileged", "forbidden"]);

/** known is a class, or "" for what is none. */
export const known = (name) => (classes.has(name) ? name : "");
