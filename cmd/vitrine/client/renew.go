package client

import (
	"context"
	"errors"
	"sync"

	"vitrine/cmd/vitrine/failure"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
)

// maxRenewals is how often one file gets a new signed URL. One is enough unless a file takes as long as a URL is valid.
const maxRenewals = 3

// errForbidden marks a refused signed URL. Such a URL expires soon, so a new one may help.
type errForbidden struct{ *failure.Failure }

func (e errForbidden) Unwrap() error { return e.Failure }

// renewed holds upload targets that were signed again. All workers share them.
type renewed struct {
	account *Account
	session id.Session
	repeat  func(context.Context) (contract.Session, error)

	mu      sync.Mutex
	round   int
	targets map[string]contract.UploadTarget // targets of the last round
}

// uploadFile sends a file, with a new URL if its own has expired.
func (a *Account) uploadFile(ctx context.Context, all *renewed, p upload, sent func(int64)) error {
	round := 0
	for try := 0; ; try++ {
		err := a.caller.put(ctx, p, sent)
		_, refused := errors.AsType[errForbidden](err)
		if !refused || all == nil || try == maxRenewals {
			return err
		}
		target, now, renewed := all.after(ctx, round, p.file)
		if renewed != nil {
			return renewed
		}
		p.target, round = target, now
	}
}

// after returns a target for a file that was signed after the given round, and the round of that target. It asks the
// server unless another worker has already done so.
func (r *renewed) after(ctx context.Context, round int, f File) (t contract.UploadTarget, now int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.round == round {
		if err := r.renew(ctx); err != nil {
			return t, round, err
		}
	}
	t = r.targets[f.Path]
	if t.Status == "upload_required" {
		err = r.account.usable(f, t)
	} else {
		err = r.account.caller.badResponse(r.account.Hosts.UploadURL,
			"the upload session no longer says how to send %q", f.Path)
	}
	return t, r.round, err
}

func (r *renewed) renew(ctx context.Context) error {
	s, err := r.repeat(ctx)
	if err == nil && s.UploadSessionID != r.session {
		err = r.account.caller.badResponse(r.account.Hosts.UploadURL, "the upload session has become another one")
	}
	if err != nil {
		return err
	}
	r.targets = make(map[string]contract.UploadTarget, len(s.Files))
	for _, t := range s.Files {
		r.targets[t.Path] = t
	}
	r.round++
	return nil
}
