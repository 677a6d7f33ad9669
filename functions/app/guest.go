package app

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"vitrine/functions/app/pages"
	"vitrine/functions/wire"
	"vitrine/shared/adapter/web"
	"vitrine/shared/identity/pow"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/feedback"
)

// guestRoutes are what pages of access links ask for readers who write. A token of their tab names each.
func (h *Host) guestRoutes() []route {
	const letters = "/api/access-links/feedback"
	return []route{
		{method: "POST", path: letters, handle: handler(withTimeout(feedbackAnswer, h.takeLetter))},
		{method: "POST", path: letters + "/threads", handle: timed(h.correspondence)},
	}
}

// taken is the answer to a letter.
type taken struct {
	Token  string    `json:"token"` // of the guest from now on
	Thread id.Thread `json:"thread_id"`
	Held   bool      `json:"held"` // it waits for a member
}

// takeLetter takes what a guest writes.
func (h *Host) takeLetter(w http.ResponseWriter, r *http.Request) error {
	l, err := sentLetter(w, r)
	if err == nil && h.Guests == nil {
		err = fault.NewCode(fault.NotFound)
	}
	if err != nil {
		return err
	}
	sent, err := h.Guests.Write(r.Context(), l)
	if required, asks := errors.AsType[*pow.Required](err); asks {
		return h.askGuest(w, r, required)
	}
	switch fault.KindOf(err) {
	case fault.KindInvalid, fault.KindUnprocessable, fault.KindConflict:
		f := fault.Of(err)
		return fault.Wrap(f.Code, err, "%s", sentenceOf(f.Message))
	}
	if err != nil {
		return unopened(err)
	}
	web.RedactSecret(r.Context(), sent.Token)
	return writeJSON(w, http.StatusCreated, taken(sent))
}

// askGuest answers with a challenge, which the page solves before it sends the letter again.
func (h *Host) askGuest(w http.ResponseWriter, r *http.Request, required *pow.Required) error {
	web.Failed(r.Context(), required.Code, required)
	web.RetryAfter(w.Header(), required.RetryAfter)
	return writeJSON(w, http.StatusTooManyRequests, contract.Envelope{
		Error: contract.Problem{
			Code:      string(required.Code),
			Message:   required.Message,
			RequestID: web.RequestID(r.Context()),
		},
		Challenge: &required.Challenge,
	})
}

// sentLetter reads a letter from the body of a request, and keeps its secrets out of the log.
func sentLetter(w http.ResponseWriter, r *http.Request) (feedback.Letter, error) {
	members, err := readObject(w, r, limits.FormBody)
	if err != nil {
		return feedback.Letter{}, err
	}
	l, err := guestIn(r, members)
	if err != nil {
		return l, err
	}
	var anchor contract.Anchor
	var challenge *contract.Challenge
	var counter uint64
	for name, to := range map[string]any{
		"name": &l.Name, "key": &l.Key, "thread_id": &l.Thread, "body": &l.Body, "revision_id": &l.Revision, "path": &l.Path,
		"anchor": &anchor, "challenge": &challenge, "counter": &counter,
	} {
		if value, sent := members[name]; sent {
			err = errors.Join(err, json.Unmarshal(value, to))
		}
	}
	if err != nil {
		return l, fault.Wrap(fault.InvalidRequest, err, "A member of the body has another type than it should.")
	}
	l.Anchor = wire.Anchor(anchor)
	if challenge != nil {
		l.Proof = &pow.Proof{
			Challenge: *challenge,
			Solution:  contract.Solution{Nonce: challenge.Nonce, Counter: counter},
		}
	}
	l.From, l.RequestID = web.ClientAddress(r), web.RequestID(r.Context())
	return l, nil
}

// guestIn reads the link and the token of a guest from the members of a body.
func guestIn(r *http.Request, members map[string]json.RawMessage) (feedback.Letter, error) {
	link, err := readLink(members)
	if err != nil {
		return feedback.Letter{}, err
	}
	web.RedactSecret(r.Context(), link.Blob)
	l := feedback.Letter{Public: link.PublicID, Blob: link.Blob}
	if value, sent := members["token"]; sent && json.Unmarshal(value, &l.Token) != nil {
		return l, fault.New(fault.InvalidRequest, "The token must be a string.")
	}
	web.RedactSecret(r.Context(), l.Token)
	return l, nil
}

// letters are what a page of a link shows of threads. Names and texts of others are as pages show them.
type letters struct {
	Seq     int64  `json:"seq"`
	Writes  bool   `json:"writes"` // the guest may write
	Threads []talk `json:"threads"`
	Waiting []talk `json:"waiting"` // for a member, of the guest's own
}

// place is what a thread is about.
type place struct {
	Kind  feedback.AnchorKind `json:"kind"`
	Path  string              `json:"path,omitempty"`
	From  int                 `json:"from,omitempty"`
	To    int                 `json:"to,omitempty"`
	Quote string              `json:"quote,omitempty"`
}

// talk is a thread that a member let through, or what waits in one.
type talk struct {
	ID    id.Thread      `json:"id"`
	State feedback.State `json:"state"`
	Reply bool           `json:"reply,omitempty"` // what waits replies in a thread that is there
	About place          `json:"about"`
	Said  []talkMessage  `json:"messages"`
	// Hidden is how many messages after the first are left out.
	Hidden int  `json:"hidden,omitempty"`
	Own    bool `json:"own"` // the guest has begun it
}

// talkMessage is a message as a page shows it.
type talkMessage struct {
	Author  string        `json:"author"`
	Trust   feedback.Kind `json:"trust"`
	Text    string        `json:"text"`
	At      contract.Time `json:"at"`
	Deleted bool          `json:"deleted,omitempty"`
}

// correspondence tells what a guest may see. It is empty for a link that takes no feedback, as most do, and for one that
// does not open, of which the page learns by its polls.
func (h *Host) correspondence(w http.ResponseWriter, r *http.Request) error {
	members, err := readObject(w, r, limits.FormBody)
	if err != nil {
		return err
	}
	l, err := guestIn(r, members)
	if err != nil {
		return err
	}
	var c feedback.Correspondence
	if h.Guests != nil {
		c, err = h.Guests.Read(r.Context(), l.Public, l.Blob, l.Token, web.ClientAddress(r))
	}
	if err != nil && !absent(err) {
		return unopened(err)
	}
	return writeJSON(w, http.StatusOK, lettersOf(c))
}

func lettersOf(c feedback.Correspondence) letters {
	out := letters{
		Seq:     c.Seq,
		Writes:  c.Writes,
		Threads: []talk{},
		Waiting: []talk{},
	}
	for _, t := range c.Threads {
		row := talk{
			ID:     t.ID,
			State:  t.State,
			About:  placeOf(t.Path, t.Anchor),
			Own:    t.Own,
			Said:   []talkMessage{},
			Hidden: t.Hidden,
		}
		for _, m := range t.Said {
			one := shownTo(m.Author, m.Body, m.At)
			one.Deleted = m.Deleted
			row.Said = append(row.Said, one)
		}
		out.Threads = append(out.Threads, row)
	}
	for _, held := range c.Waiting {
		at := slices.IndexFunc(out.Waiting, func(t talk) bool { return t.ID == held.Thread })
		if at < 0 {
			at, out.Waiting = len(out.Waiting), append(out.Waiting, talk{
				ID:    held.Thread,
				State: heldState,
				Reply: held.Reply,
				About: placeOf(held.Path, held.Anchor),
				Own:   true,
			})
		}
		row := &out.Waiting[at]
		row.Said = append(row.Said, shownTo(held.Author, held.Body, held.At))
	}
	return out
}

func placeOf(path string, a feedback.Anchor) place {
	p := place{
		Kind:  a.Kind,
		From:  a.From,
		To:    a.To,
		Quote: pages.Visible(a.Exact),
	}
	if path != "" {
		p.Path = pages.Plain(path)
	}
	return p
}

func shownTo(by feedback.Author, text string, at time.Time) talkMessage {
	return talkMessage{
		Author: pages.Plain(by.Name),
		Trust:  by.Kind,
		Text:   pages.Visible(text),
		At:     contract.At(at),
	}
}
