// Package jobs runs commands that outlive the connection.
//
// Begin with [On], which gives the jobs on a host that a pool reaches. On, [Host], [Spec], [Job], [Look] and the codes are stable;
// [Work] and what makes one are Fairlead's own and may change.
//
// [Host.Start] has a command started on a host detached from everything of ours: in a session of its own, with nothing on
// its standard input, and with its two outputs and its exit code kept in a private directory on the host. From then on the
// job needs nobody: the connection may be cut and the controller killed. [Host.Look], [Host.Stop], [Host.Remove] and
// [Host.List] find it again from anywhere, by its id, because all there is to know of it is on the host. What is left there
// is the directory, until Remove.
//
// A job's command passes the gate of its session as the same command would in [session.Session.Run]: judged as it is,
// approved and recorded with the job's id, in the session's directory, with its exported variables, by the same shell. What
// is done to a job later passes the gate as looking at its files does, which the policy may deny; stopping and removing a
// job of one's own takes no more than that, as stopping a command does not, and is on record before it is sent. A principal
// finds its own jobs; an operator those of agents too.
//
// A host needs sh, and perl or setsid(1). Of each output the first [DefaultLimit] bytes are kept; what comes after is counted
// and thrown away, so that a flood fills no disk. The command's text is on the host's disk until its shell has read it.
//
// There is no global state, and no goroutine stays. A Host and its methods may be used concurrently.
package jobs
