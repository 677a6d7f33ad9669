package feedback

import (
	"time"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/text"
)

// Act is what an author does to a thread, in this order.
type Act struct {
	By        Author
	Reopen    bool
	Reply     string // empty: none
	Addressed Address
	Resolve   bool
	Delete    bool
	At        time.Time
}

// Change is what an act makes of a thread and of the counts of its artifact.
type Change struct {
	Before, After Counts
	Was, Thread   Thread
	Messages      []Message // that were written, or lost their words
	Waits         *Held     // what a guest wrote and nobody has let through; nil: nothing
	Released      []Held    // what waits no longer
}

// Changes reports whether the act had any effect.
func (c Change) Changes() bool { return c.After != c.Before }

// Changed reports whether the thread changed, and not only what waits.
func (c Change) Changed() bool { return c.After.Seq != c.Before.Seq }

// Begin makes a thread of which everything is set but what its first message, by First.Author at First.At, says. It fails
// with forbidden where threads are off, and with feedback_conflict where the artifact has too many.
func Begin(counts Counts, t Thread, body string) (Change, error) {
	if err := counts.admit(); err != nil {
		return Change{}, err
	}
	c := unchanged(counts, Thread{})
	c.Thread = t
	c.Thread.State, c.Thread.UpdatedAt = Open, t.First.At
	c.After.Threads++
	c.After.Open++
	if err := c.write(t.First.Author, body, t.First.At); err != nil {
		return Change{}, err
	}
	c.count()
	return c, nil
}

// admit refuses a new thread.
func (c Counts) admit() error {
	if c.Off {
		return fault.New(fault.Forbidden, "feedback about this artifact is off; ask a person of its workspace to turn it on")
	}
	return c.room()
}

// room refuses a thread more than an artifact may have.
func (c Counts) room() error {
	switch {
	case c.Threads >= maxThreads:
		return conflict("the artifact has %d threads, deleted ones included, and takes no more; go on in another artifact",
			c.Threads)
	case c.Open >= maxOpen:
		return conflict("the artifact has %d open threads; resolve or address some first", c.Open)
	}
	return nil
}

// Apply does an act. It fails with feedback_conflict where the state of the thread or the counts do not allow it, with
// forbidden where an agent does what people do, and with not_found for a tombstone.
func Apply(counts Counts, t Thread, a Act) (Change, error) {
	c := unchanged(counts, t)
	switch {
	case t.State == Deleted:
		return c, NotFound()
	case (a.Reopen || a.Delete) && a.By.Kind != Member:
		return c, fault.New(fault.Forbidden, "a person opens threads again and deletes them; reply, or begin another one")
	}
	c.Thread.UpdatedAt = a.At
	if a.Delete {
		c.bury()
		return c, nil
	}
	changed := false
	for _, step := range []func(Act) (bool, error){c.reopen, c.reply, c.address, c.resolve} {
		did, err := step(a)
		if err != nil {
			return c, err
		}
		changed = changed || did
	}
	if changed {
		c.count()
	} else {
		c.Thread = t
	}
	return c, nil
}

// DeleteMessage takes the words of a message away, and those that its thread repeats. Its place stays. A thread without
// replies is deleted with its message. It fails with forbidden for others than the person who wrote the message, and with
// not_found for a tombstone.
func DeleteMessage(counts Counts, t Thread, m Message, by Author, at time.Time) (Change, error) {
	c := unchanged(counts, t)
	switch {
	case t.State == Deleted:
		return c, NotFound()
	case by.Kind != Member || m.Author.Kind != Member || m.Author.ID != by.ID:
		return c, fault.New(fault.Forbidden, "the person who wrote a message deletes it; reply, or delete the whole thread")
	case m.Deleted:
		return c, nil
	}
	c.Thread.UpdatedAt = at
	if t.Messages == 1 {
		c.bury()
		return c, nil
	}
	c.After.Text -= int64(len(m.Body))
	m.Body, m.Deleted = "", true
	c.Messages = []Message{m}
	switch m.Number {
	case 1:
		c.Thread.First = m.excerpt()
		a := &c.Thread.Anchor
		a.Exact = ""
		a.Prefix, a.Suffix = "", ""
	case t.Messages:
		c.Thread.Newest = m.excerpt()
	}
	c.count()
	return c, nil
}

func unchanged(counts Counts, t Thread) Change {
	return Change{
		Before: counts,
		After:  counts,
		Was:    t,
		Thread: t,
	}
}

// count gives the change its place in the order of changes.
func (c *Change) count() {
	c.After.Seq++
	c.Thread.Seq = c.After.Seq
}

// turn moves the thread to another state.
func (c *Change) turn(to State) {
	if c.Thread.State == Open {
		c.After.Open--
	}
	if to == Open {
		c.After.Open++
	}
	c.Thread.State = to
}

// bury leaves a tombstone. What its messages counted goes with the job that removes them.
func (c *Change) bury() {
	c.turn(Deleted)
	was := c.Thread
	c.Thread = Thread{
		ID:        was.ID,
		Artifact:  was.Artifact,
		State:     Deleted,
		Messages:  was.Messages,
		First:     Excerpt{Author: was.First.Author, At: was.First.At},
		UpdatedAt: was.UpdatedAt,
	}
	c.count()
}

func (c *Change) reopen(a Act) (bool, error) {
	if !a.Reopen || c.Thread.State == Open {
		return false, nil
	}
	if c.After.Open >= maxOpen {
		return false, conflict("the artifact has %d open threads; resolve or address some first", c.After.Open)
	}
	c.turn(Open)
	return true, nil
}

// reply appends a message. That of a person to an addressed thread opens it again, because it was not dealt with.
func (c *Change) reply(a Act) (bool, error) {
	switch {
	case a.Reply == "":
		return false, nil
	case c.Thread.State == Resolved:
		return false, conflict("the thread is resolved; begin another one, or have a person reopen it")
	case c.Thread.Messages > maxReplies:
		return false, conflict("the thread has %d messages, and takes no more; begin another one", c.Thread.Messages)
	}
	if c.Thread.State == Addressed && a.By.Kind != Agent {
		if _, err := c.reopen(Act{Reopen: true}); err != nil {
			return false, err
		}
	}
	return true, c.write(a.By, a.Reply, a.At)
}

func (c *Change) write(by Author, body string, at time.Time) error {
	switch {
	case c.After.Messages >= maxMessages:
		return conflict("the artifact has %d messages, deleted ones included, and takes no more; go on in another artifact",
			c.After.Messages)
	case c.After.Text+int64(len(body)) > maxText:
		return conflict("the messages of the artifact have %d MiB, and there is no room for more; delete some threads", maxText>>20)
	}
	c.After.Messages++
	c.After.Text += int64(len(body))
	c.Thread.Messages++
	m := Message{
		ID:     id.NewMessage(),
		Thread: c.Thread.ID,
		Number: c.Thread.Messages,
		Author: by,
		Body:   body,
		At:     at,
	}
	c.Messages = append(c.Messages, m)
	if c.Thread.Messages == 1 {
		c.Thread.First = m.excerpt()
	} else {
		c.Thread.Newest = m.excerpt()
	}
	return nil
}

// excerpt cuts a message between characters.
func (m Message) excerpt() Excerpt {
	return Excerpt{
		Author: m.Author,
		Text:   text.Clip(m.Body, MaxExcerpt),
		Cut:    len(m.Body) > MaxExcerpt,
		At:     m.At,
	}
}

func (c *Change) address(a Act) (bool, error) {
	switch by := a.Addressed; {
	case by.Revision == "":
		return false, nil
	case c.Thread.State == Resolved:
		return false, conflict("the thread is resolved")
	case c.Thread.State == Addressed && by.Revision == c.Thread.Addressed.Revision:
		return false, nil
	case c.Thread.State == Addressed && by.Number <= c.Thread.Addressed.Number:
		return false, conflict("revision %s, which is newer, has addressed the thread", c.Thread.Addressed.Revision)
	}
	c.turn(Addressed)
	c.Thread.Addressed = a.Addressed
	return true, nil
}

func (c *Change) resolve(a Act) (bool, error) {
	switch {
	case !a.Resolve || c.Thread.State == Resolved:
		return false, nil
	case a.By.Kind != Member && !c.Before.AgentsResolve:
		return false, fault.New(fault.Forbidden, "a person resolves threads of this artifact; say what you did in a reply, "+
			"or address the thread with a revision")
	}
	c.turn(Resolved)
	return true, nil
}

func conflict(format string, args ...any) error {
	return fault.New(fault.FeedbackConflict, format, args...)
}

// NotFound is the refusal of a thread that the artifact does not have.
func NotFound() error { return fault.New(fault.NotFound, "the artifact has no such thread") }
