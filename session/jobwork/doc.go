// Package jobwork starts jobs in sessions of a registry, and shows their output as its readers may see it.
//
// A [Book] belongs to one principal. It remembers which jobs it has heard of, on which hosts, and what became of those whose
// start waits for an approval. What it reads of a job's output it keeps, without the secrets that its audience must not see:
// offsets are those of the text as it is shown, a secret is taken out wherever a page begins, and what has been read once is
// not read from the host again. The output of a job that was removed from its host can be read on until Close.
//
// There is no global state, and no goroutine stays. A Book may be used concurrently.
package jobwork
