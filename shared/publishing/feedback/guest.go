package feedback

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/netip"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/pow"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/async"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/text"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/link"
	"vitrine/shared/publishing/readaccess"
)

// Guest is a person who came through an access link. Author.ID is a digest of the token by which the guest is known.
const Guest Kind = "guest"

// Held is what a guest wrote and no member has let through. Its words are in no thread, so that nothing that agents read
// can have them.
type Held struct {
	Artifact id.Artifact
	Number   int64     // Counts.HeldSeq as it was then
	Thread   id.Thread // that it replies in, or that it begins
	Reply    bool      // the thread was there
	Revision id.Revision
	Path     string
	Anchor   Anchor
	Author   Author
	Body     string
	At       time.Time
}

// Letter is what a guest sends.
type Letter struct {
	Public id.Public // of the access link
	Blob   string
	Token  string // by which the guest is known; empty: it is the first letter
	Name   string
	Key    string // makes a repetition of the letter harmless
	Thread id.Thread
	Remark            // to a Thread only its body
	Proof  *pow.Proof // nil: none
	From   netip.Addr

	RequestID string
}

// Sent is what becomes of a letter.
type Sent struct {
	Token  string // of the guest from now on
	Thread id.Thread
	Held   bool // no member has let it through
}

// Correspondence is what a guest may see: what guests wrote and members let through, with the replies in these threads, and
// what waits of the guest's own.
type Correspondence struct {
	Artifact *artifact.Artifact
	Seq      int64
	Writes   bool // the guest may write
	Threads  []Talk
	Waiting  []Held
}

// Talk is a thread with its messages.
type Talk struct {
	Thread
	Said   []Message // the first and the newest
	Hidden int       // messages between them that are left out
	Own    bool      // the guest has begun it
}

// Guests lets people write about an artifact who hold an access link that takes comments.
type Guests struct {
	*Service
	*pow.Gate
	States    readaccess.Store
	Addresses *address.URLBuilder
	Peppers   keyring.Derived // of tokens and of networks
}

// NoComments is the only refusal of a link by which nobody may write, so that it does not tell why.
func NoComments() error { return fault.New(fault.NotFound, "this link takes no feedback") }

// visit is what a link opens for a guest.
type visit struct {
	by       credential.Actor // may read what the link shows
	artifact *artifact.Artifact
	link     *link.Link
}

// open refuses a link that does not open, or that takes no comments.
func (g *Guests) open(ctx context.Context, public id.Public, blob, requestID string) (visit, error) {
	claims, err := g.Addresses.Links.Parse(public, blob, g.now())
	if err != nil {
		return visit{}, NoComments()
	}
	q := readaccess.Query{Workspace: claims.Workspace, Artifact: claims.Artifact, Link: public}
	state, err := readaccess.Read(ctx, g.States, q)
	switch {
	case err != nil:
		return visit{}, err
	case !state.Allows(q, g.now()) || !state.Link.Comments || state.Workspace.Tier() == limits.Ephemeral:
		return visit{}, NoComments()
	}
	return visit{
		by: credential.Actor{
			Scopes:    []credential.Scope{credential.Read},
			Workspace: *state.Workspace,
			Policy:    g.Service.Limits.Tiers[state.Workspace.Tier()],
			RequestID: requestID,
		},
		artifact: state.Artifact,
		link:     state.Link,
	}, nil
}

// Write takes a letter. Errors: not_found (the link does not open or takes no comments, or there is no such thread, revision
// or file), invalid_request, invalid_idempotency_key, feedback_conflict, rate_limited_actor, rate_limited_artifact,
// *pow.Required, pow_invalid, database_unavailable.
func (g *Guests) Write(ctx context.Context, l Letter) (Sent, error) {
	who, body, err := g.read(l)
	if err != nil {
		return Sent{}, err
	}
	v, err := g.open(ctx, l.Public, l.Blob, l.RequestID)
	if err != nil {
		return Sent{}, err
	}
	own := pow.Count{Rate: g.Gate.Limits.Letter, Subject: string(l.Public) + "/" + address.Subject(l.From, g.Peppers)}
	all := pow.Count{Rate: g.Gate.Limits.Letters, Subject: string(v.artifact.ID)}
	if err := g.Admit(ctx, own, all, l.Proof); err != nil {
		return Sent{}, err
	}
	t := Target{
		Command:     l.command(),
		RequestedID: v.artifact.ID,
		Artifact:    v.artifact,
		Thread:      l.Thread,
	}
	h := Held{
		Thread:   l.Thread,
		Reply:    l.Thread != "",
		Artifact: v.artifact.ID,
		Author:   who,
		Body:     body,
		At:       g.now(),
	}
	if h.Thread == "" {
		h.Thread = id.NewThread()
	}
	sent, err := repeatable(ctx, g.Service, v.by, t, func(a *artifact.Artifact) (Sent, error) {
		return g.attempt(ctx, v, a, t, l.Remark, h)
	}, func(first Sent) (Sent, error) { return first, nil })
	sent.Token = l.token(g.Peppers)
	return sent, err
}

// read checks the words of a letter.
func (g *Guests) read(l Letter) (who Author, body string, err error) {
	if err = idempotency.CheckClient(l.Key); err != nil {
		return who, "", err
	}
	name := strings.Join(strings.Fields(text.Visible(l.Name)), " ")
	if n := utf8.RuneCountInString(name); n == 0 || n > MaxName {
		return who, "", fault.New(fault.InvalidRequest, "give a name of 1 to %d characters", MaxName)
	}
	if l.Token != "" && len(l.Token) != tokenLength {
		return who, "", fault.New(fault.InvalidRequest, "the token is not one of ours; leave it out")
	}
	if l.Thread != "" && !l.Thread.Valid() {
		return who, "", NotFound()
	}
	body, err = text.Clean(l.Body, MaxBody)
	return Author{Kind: Guest, ID: digest(g.Peppers, "guest", l.token(g.Peppers)), Name: name}, body, err
}

// tokenLength is that of a token: base64url of 24 bytes.
const tokenLength = 32

// token returns the token of the guest. That of the first letter comes from its key, so that a repetition has the same, and
// no record has to keep it.
func (l Letter) token(peppers keyring.Derived) string {
	if l.Token != "" {
		return l.Token
	}
	return digest(peppers, "token", string(l.Public)+"\x00"+l.Key)
}

// digest hides a value from who reads the tables.
func digest(peppers keyring.Derived, kind, value string) string {
	_, key := peppers.Active()
	m := hmac.New(sha256.New, key)
	m.Write([]byte("feedback " + kind + "\x00" + value))
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil)[:24])
}

// command identifies a letter by the link and its key.
func (l Letter) command() idempotency.Command {
	said, _ := json.Marshal([]any{l.Name, l.Thread, l.Remark})
	return idempotency.Command{
		Key: idempotency.Key{
			Actor:     "guest",
			Operation: idempotency.GuestFeedback,
			Target:    string(l.Public),
			Client:    l.Key,
		},
		Fingerprint: idempotency.FingerprintOf("POST", string(idempotency.GuestFeedback), said),
	}
}

// attempt keeps a letter, or lets it through where members do not want to read it first.
func (g *Guests) attempt(
	ctx context.Context, v visit, a *artifact.Artifact, t Target, r Remark, h Held,
) (Sent, error) {
	if err := g.readable(v.by, a); err != nil || !a.LinksOpen(v.link.CreatedAt) {
		return Sent{}, NoComments()
	}
	counts, thread, err := g.Store.Thread(ctx, a.ID, h.Thread)
	if err != nil {
		return Sent{}, err
	}
	if counts.Off || !counts.Links {
		return Sent{}, NoComments()
	}
	waiting, err := g.Store.Waiting(ctx, a.ID)
	if err == nil {
		err = g.place(ctx, v, a, thread, waiting, r, &h)
	}
	if err != nil {
		return Sent{}, err
	}
	what := event.FeedbackHeld
	change, err := Hold(counts, thread, waiting, h)
	if counts.AtOnce && err == nil {
		what = event.FeedbackCreated
		if thread != nil {
			what = event.FeedbackReplied
		}
		change, err = Deliver(counts, thread, []Held{h}, h.At)
	}
	if err != nil {
		return Sent{}, err
	}
	e := v.by.Record(h.At, what, event.OnThread, string(h.Thread), "")
	e.Actor = event.ByGuest()
	sent := Sent{Thread: h.Thread, Held: change.Waits != nil}
	c := commitOf(a, t, change, e, sent)
	c.Link = v.link
	return sent, g.Store.Commit(ctx, c)
}

// place says where a letter belongs. Guests reply in threads that guests began, and go on in what waits of their own.
func (g *Guests) place(
	ctx context.Context, v visit, a *artifact.Artifact, thread *Thread, waiting []Held, r Remark, h *Held,
) (err error) {
	mine := func(w Held) bool { return w.Thread == h.Thread && w.Author.ID == h.Author.ID }
	switch n := slices.IndexFunc(waiting, mine); {
	case thread != nil && thread.State != Deleted && thread.First.Author.Kind == Guest:
		h.Revision, h.Path = thread.Revision, thread.Path
		h.Anchor = thread.Anchor
	case n >= 0 && thread == nil:
		h.Revision, h.Path = waiting[n].Revision, waiting[n].Path
		h.Anchor = waiting[n].Anchor
	case h.Reply:
		return NotFound()
	case r.Revision != "" && r.Revision != a.Current: // an older one may not be looked into
		return conflict("there is a newer revision than the one that you wrote about; look at it, then send this again")
	default:
		h.Revision, h.Path = a.Current, r.Path
		h.Anchor, err = g.check(ctx, v.by, a, h.Revision, r, maxGuestFile)
	}
	return err
}

// Read returns what a guest may see; token may be empty. Errors: not_found, rate_limited_actor, database_unavailable.
func (g *Guests) Read(
	ctx context.Context, public id.Public, blob, token string, from netip.Addr,
) (out Correspondence, err error) {
	v, err := g.open(ctx, public, blob, "")
	if err != nil {
		return out, err
	}
	subject := string(public) + "/" + address.Subject(from, g.Peppers)
	if err := g.Service.Limiter.Take(ctx, g.Gate.Limits.Correspondence, subject); err != nil {
		return out, err
	}
	counts, _, err := g.Store.Threads(ctx, v.artifact.ID, nil)
	if err != nil {
		return out, err
	}
	if counts.Off || !counts.Links {
		return out, NoComments()
	}
	out = Correspondence{Artifact: v.artifact, Seq: counts.Seq, Writes: counts.Held < maxHeld}
	guest := ""
	if token != "" {
		guest = digest(g.Peppers, "guest", token)
	}
	return out, async.All(
		func() error {
			all, err := g.Store.Waiting(ctx, v.artifact.ID)
			out.Waiting = slices.DeleteFunc(all, func(h Held) bool { return h.Author.ID != guest })
			return err
		},
		func() (err error) { out.Threads, err = g.talks(ctx, v.artifact.ID, guest); return err },
	)
}

// talks returns the threads that guests began, with their messages.
func (g *Guests) talks(ctx context.Context, a id.Artifact, guest string) ([]Talk, error) {
	threads, err := g.Store.Guests(ctx, a, maxTalks)
	if err != nil {
		return nil, err
	}
	talks := make([]Talk, len(threads))
	reads := make([]func() error, len(threads))
	for n, t := range threads {
		talks[n] = Talk{Thread: t, Own: t.First.Author.ID == guest}
		reads[n] = func() (err error) {
			talks[n].Said, talks[n].Hidden, err = g.said(ctx, t)
			return err
		}
	}
	return talks, async.All(reads...)
}

// said returns the first and the newest messages of a thread, and how many are left out, because an answer has an end.
func (g *Guests) said(ctx context.Context, t Thread) (said []Message, hidden int, err error) {
	if t.Messages <= maxSaid {
		said, err = g.Store.Messages(ctx, t.Artifact, t.ID, 0, maxSaid)
		return said, 0, err
	}
	after := t.Messages - (maxSaid - 1)
	newest, err := g.Store.Messages(ctx, t.Artifact, t.ID, after, maxSaid-1)
	first := Message{
		Number:  1,
		Author:  t.First.Author,
		Body:    t.First.Text,
		At:      t.First.At,
		Deleted: t.First.Text == "",
	}
	return append([]Message{first}, newest...), after - 1, err
}
