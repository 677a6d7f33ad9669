package client

import (
	"context"
	"encoding/json"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"vitrine/cmd/vitrine/failure"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/text"
)

// Parallel is how many files are uploaded at a time.
const Parallel = 6

// File is a file to upload. Each attempt calls Open, whose reader returns Size bytes.
type File struct {
	Path string
	Size int64
	Open func() (io.ReadCloser, error)
}

// Progress observes an upload. It is called from several goroutines.
type Progress interface {
	// Sent adds bytes. A negative number takes those of a failed attempt back.
	Sent(bytes int64)
	// Stored counts a stored file.
	Stored()
}

// Plan pairs the files with their upload targets.
type Plan struct {
	Stats contract.UploadStats

	uploads []upload
	permits *renewed
}

// upload is a file with its target.
type upload struct {
	file   File
	target contract.UploadTarget
}

// Open opens a session for a manifest and plans the upload of the declared files. The signed URLs expire within
// minutes. Upload renews them by repeating the call with idem, which returns the same session. The call says from the
// first time that it may be resumed, because a repetition must have the same body.
func (a *Account) Open(
	ctx context.Context,
	idem string,
	m contract.CreateSession,
	files []File,
) (contract.Session, Plan, error) {
	m.Resumable = true
	if err := checkLength(m); err != nil {
		return contract.Session{}, Plan{}, err
	}
	s, err := a.CreateSession(ctx, idem, m)
	if err != nil {
		return s, Plan{}, err
	}
	plan, err := a.Plan(s, files)
	plan.permits = &renewed{
		account: a,
		session: s.UploadSessionID,
		repeat: func(ctx context.Context) (contract.Session, error) {
			return a.CreateSession(ctx, idem, m)
		},
	}
	return s, plan, err
}

// checkLength refuses a manifest that is longer than what a server reads.
func checkLength(m contract.CreateSession) error {
	body, err := json.Marshal(m)
	if err != nil || len(body) <= limits.JSONBody {
		return err
	}
	return failure.New(failure.Invalid, fault.FileCountCapExceeded,
		"the list of %s files has %s bytes; a server reads at most %s", text.Number(int64(len(m.Files)+len(m.DeletedPaths))),
		text.Number(int64(len(body))), text.Number(limits.JSONBody)).
		Advise("Publish fewer files, or shorten their paths.")
}

// Plan checks that the session is for exactly these files.
func (a *Account) Plan(session contract.Session, files []File) (plan Plan, err error) {
	targets := make(map[string]contract.UploadTarget, len(session.Files))
	for _, t := range session.Files {
		targets[t.Path] = t
	}
	if len(targets) != len(files) || len(session.Files) != len(files) {
		return plan, a.caller.badResponse(a.Hosts.UploadURL, "the upload session is for other files")
	}
	for _, f := range files {
		if err := a.add(&plan, f, targets[f.Path]); err != nil {
			return Plan{}, err
		}
	}
	return plan, nil
}

func (a *Account) add(plan *Plan, f File, t contract.UploadTarget) error {
	s := &plan.Stats
	s.TotalFiles++
	s.TotalBytes += f.Size
	switch {
	case t.Status == "reused":
		s.ReusedFiles++
		s.ReusedBytes += f.Size
	case t.Status == "upload_required":
		if err := a.usable(f, t); err != nil {
			return err
		}
		s.UploadedFiles++
		s.UploadedBytes += f.Size
		plan.uploads = append(plan.uploads, upload{f, t})
	default:
		return a.unsendable(f)
	}
	return nil
}

// usable refuses a target unless it is an upload of just this file, over a connection as well protected as the
// session's own. Otherwise a malicious server could make the command send arbitrary requests to other servers.
func (a *Account) usable(f File, t contract.UploadTarget) error {
	u, err := url.Parse(t.PutURL)
	if err != nil || u.Host == "" || u.User != nil || (u.Scheme != "https" && u.Scheme != "http") ||
		!keepsTLS(t.PutURL, a.Hosts.UploadURL) {
		return a.unsendable(f)
	}
	if err := a.caller.encrypted(t.PutURL); err != nil {
		return err
	}
	if own, err := url.Parse(a.Hosts.UploadURL); err != nil || isLoopback(u) && !isLoopback(own) {
		return a.caller.badResponse(a.Hosts.UploadURL, "it asks to send %q to this machine itself", f.Path)
	}
	for name, value := range t.RequiredHeaders {
		if !isUploadHeader(name) {
			return a.caller.badResponse(a.Hosts.UploadURL,
				"it asks to send %q with the header %q, which belongs to no upload", f.Path, name)
		}
		if strings.EqualFold(name, "Content-Length") && value != strconv.FormatInt(f.Size, 10) {
			return a.unsendable(f)
		}
	}
	return nil
}

// unsendable returns the failure for a session without a usable target for a file.
func (a *Account) unsendable(f File) error {
	return a.caller.badResponse(a.Hosts.UploadURL, "the upload session does not say how to send %q", f.Path)
}

// checksumForm matches the header of a checksum that S3 verifies.
var checksumForm = regexp.MustCompile(`(?i)^x-amz-checksum-[a-z0-9]+$`)

// isUploadHeader reports whether a signed URL may require this header.
func isUploadHeader(name string) bool {
	return slices.ContainsFunc([]string{"Content-Length", "Content-Type", "If-None-Match"}, func(known string) bool {
		return strings.EqualFold(known, name)
	}) || checksumForm.MatchString(name)
}

// Upload sends the files of a plan, Parallel at a time, and stops at the first failure.
func (a *Account) Upload(ctx context.Context, plan Plan, p Progress) error {
	within, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	queue := make(chan upload)
	d := &delivery{account: a, permits: plan.permits, sent: p.Sent}
	var workers sync.WaitGroup
	for range min(Parallel, len(plan.uploads)) {
		workers.Go(func() {
			for next := range queue {
				if err := d.upload(within, next); err != nil {
					stop(err)
					return
				}
				d.stored.Add(1)
				p.Stored()
			}
		})
	}
	feed(within, queue, plan.uploads)
	workers.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return context.Cause(within)
}

// feed sends the uploads to the queue until all are taken or ctx ends.
func feed(ctx context.Context, queue chan<- upload, uploads []upload) {
	defer close(queue)
	for _, p := range uploads {
		select {
		case queue <- p:
		case <-ctx.Done():
			return
		}
	}
}
