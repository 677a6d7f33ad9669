// Package feedback implements threads: remarks of people and agents about an artifact, and what becomes of them.
package feedback

import (
	"cmp"
	"strings"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/member"
	"vitrine/shared/platform/id"
)

// State is the state of a thread.
type State string

// The states of a thread.
const (
	Open      State = "open"
	Addressed State = "addressed" // a revision says that it has dealt with it
	Resolved  State = "resolved"  // a person agreed
	Deleted   State = "deleted"   // a tombstone: its place in the order of changes stays, without words
)

// Kind tells who writes.
type Kind string

// The kinds of authors.
const (
	Member Kind = "member" // a person of the workspace
	Agent  Kind = "agent"  // an API key, or an app that acts for a member
)

// Author is who wrote or did something.
type Author struct {
	Kind Kind
	ID   string // of the member or of the API key
	Name string // as it was then
}

// ByAgent returns a caller with an API key, or the app of a member, as an author.
func ByAgent(by credential.Actor) Author {
	return Author{Kind: Agent, ID: by.Subject(), Name: cmp.Or(by.ClientName, by.Key.Name)}
}

// Person returns a member as an author. The name is a part of the address, so that threads do not spread the address.
func Person(m member.Member) Author {
	name, _, _ := strings.Cut(m.Email, "@")
	return Author{Kind: Member, ID: string(m.ID), Name: name}
}

// Counts is what an artifact's threads are together. Its zero value is that of an artifact without any.
type Counts struct {
	Seq      int64 // rises by one with every change
	Open     int   // threads that are open
	Threads  int   // tombstones included
	Messages int   // deleted ones included
	Text     int64 // bytes of all bodies
	Held     int   // what guests wrote that waits for a member
	HeldSeq  int64 // rises by one with every change of what waits
	Settings
}

// Settings is what people decide about the threads of an artifact. Its zero value is that of a new one.
type Settings struct {
	// Off keeps threads from being begun. Those that exist go on.
	Off bool `json:"off"`
	// Links lets those write, too, who hold an access link with comments.
	Links bool `json:"links,omitempty"`
	// AtOnce lets what guests write through without a member.
	AtOnce bool `json:"at_once,omitempty"`
	// AgentsResolve lets agents resolve threads, which is an act of people otherwise.
	AgentsResolve bool `json:"agents_resolve"`
}

// Thread is one remark with its replies, which are messages.
type Thread struct {
	ID        id.Thread
	Artifact  id.Artifact
	Revision  id.Revision // that it was written about
	Path      string      // empty: about the artifact
	Anchor    Anchor
	State     State
	Addressed Address // zero: no revision says that it has dealt with it
	Seq       int64   // Counts.Seq at its last change
	Messages  int     // numbers that were given to messages
	First     Excerpt // of the first message; of a tombstone without its text
	Newest    Excerpt // of the newest reply; zero: there is none
	UpdatedAt time.Time
}

// Excerpt is the begin of a message, so that a list shows threads without reading messages.
type Excerpt struct {
	Author Author
	Text   string // empty: its author deleted the message
	Cut    bool   // the message has more
	At     time.Time
}

// Address says that a revision has dealt with a thread.
type Address struct {
	Revision id.Revision
	Number   int // of the revision
	By       Author
	Note     string
	At       time.Time
}

// Message is one message of a thread.
type Message struct {
	ID     id.Message
	Thread id.Thread
	Number int // from 1, which is the thread's first
	Author Author
	Body   string
	At     time.Time
	// Deleted reports that its author took the words away.
	Deleted bool
}

// What an artifact may have.
const (
	MaxBody     = 8 << 10 // bytes of a message
	MaxNote     = 500     // bytes of a note
	MaxExcerpt  = 2 << 10 // bytes of a message that a thread itself carries
	maxText     = 8 << 20 // bytes of all messages of an artifact
	maxThreads  = 2_000   // of an artifact
	maxOpen     = 200     // threads of an artifact that are open
	maxMessages = 10_000  // of an artifact
	maxReplies  = 99      // of a thread, so that it has 100 messages
	maxHeld     = 100     // messages that wait, of an artifact
	maxWaiting  = 20      // messages that wait in one thread, so that one transaction lets them through
	MaxName     = 40      // characters of the name of a guest
	maxTalks    = 10      // threads that a guest sees: the last changed
	maxSaid     = 10      // messages of a thread that a guest sees: the first, and the newest

	maxGuestFile = 256 << 10 // bytes of a file in which lines or a quote of a guest are looked up
)
