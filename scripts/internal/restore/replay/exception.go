package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"vitrine/shared/platform/event"
)

// Exception names events that are not done again: those that match every field that is given.
type Exception struct {
	Actor     string    `json:"actor,omitempty"` // id of the actor, without its type
	Request   string    `json:"request,omitempty"`
	Workspace string    `json:"workspace,omitempty"`
	From      time.Time `json:"from,omitzero"` // the first instant
	To        time.Time `json:"to,omitzero"`   // the first instant after
	// Deletions limits the exception to what deletes, and to what opens or gives away, so that what was revoked or
	// locked in the same time stays so. After a theft that is what one wants: a thief may have forged events, and those
	// that only close do no harm.
	Deletions bool `json:"deletions,omitempty"`
}

// ReadExceptions reads a file with a JSON list of exceptions. An empty list is a decision too: all is done again.
func ReadExceptions(file string) ([]Exception, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	var all []Exception
	if err := d.Decode(&all); err != nil {
		return nil, fmt.Errorf("%s is no list of exceptions: %w; write one such as "+
			`[{"actor": "mem_…", "from": "2026-01-31T10:00:00Z"}]`, file, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s goes on after its list of exceptions; write one list", file)
	}
	if all == nil { // the text null
		return nil, fmt.Errorf("%s holds no list; write [] to leave out nothing", file)
	}
	for n, x := range all {
		if err := x.check(); err != nil {
			return nil, fmt.Errorf("%s, exception %d: %w", file, n+1, err)
		}
	}
	return all, nil
}

// check refuses what would match every event or none.
func (e Exception) check() error {
	if e == (Exception{}) {
		return errors.New("an exception without a field would leave out everything; give it an actor, a request, " +
			"a workspace, from, to or deletions")
	}
	if !e.From.IsZero() && !e.To.IsZero() && !e.From.Before(e.To) {
		return errors.New("an exception ends before it begins; exchange from and to")
	}
	return nil
}

// matches reports whether an event has every given property.
func (e Exception) matches(of event.Event) bool {
	return (e.Actor == "" || e.Actor == of.Actor.ID) &&
		(e.Request == "" || e.Request == of.RequestID) &&
		(e.Workspace == "" || e.Workspace == string(of.Workspace)) &&
		(e.From.IsZero() || !of.At.Before(e.From)) &&
		(e.To.IsZero() || of.At.Before(e.To)) &&
		(!e.Deletions || slices.Contains(deletions, of.Action) || slices.Contains(openings, of.Action))
}
