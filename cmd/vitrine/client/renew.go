package client

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

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

// delivery is what the workers of one upload share.
type delivery struct {
	account *Account
	permits *renewed // nil if URLs cannot be signed again
	sent    func(int64)
	stored  atomic.Int64 // files
}

// upload sends a file, with a new URL if its own has expired. As long as other files arrive, it does not give up on a
// broken connection.
func (d *delivery) upload(ctx context.Context, p upload) error {
	round := 0
	if d.permits != nil {
		round = d.permits.latest(&p)
	}
	for try := 0; ; try++ {
		err := d.account.caller.keepOn(ctx, d.stored.Load, func(ctx context.Context) error {
			return d.account.caller.put(ctx, p, d.sent)
		})
		_, refused := errors.AsType[errForbidden](err)
		if !refused || d.permits == nil || try == maxRenewals {
			return err
		}
		target, now, err := d.permits.after(ctx, round, p.file)
		if err != nil {
			return err
		}
		if target.Status == "reused" { // an earlier attempt has stored it, but its answer was lost
			d.sent(p.file.Size)
			return nil
		}
		p.target, round = target, now
	}
}

// latest gives a file the target of the last round, and returns that round.
func (r *renewed) latest(p *upload) (round int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t := r.targets[p.file.Path]; t.Status == "upload_required" && r.account.usable(p.file, t) == nil {
		p.target = t
	}
	return r.round
}

// after returns a target for a file that was signed after the given round, and the round of that target. It asks the
// server unless another worker has already done so. The server may have the file by now.
func (r *renewed) after(ctx context.Context, round int, f File) (t contract.UploadTarget, now int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.round == round {
		if err := r.renew(ctx); err != nil {
			return t, round, err
		}
	}
	switch t = r.targets[f.Path]; t.Status {
	case "upload_required":
		err = r.account.usable(f, t)
	case "reused":
	default:
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
