package screen

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
)

// Work that takes less time than patience shows no bar. redraw is how often a bar is drawn.
const (
	barDelay = 300 * time.Millisecond
	redraw   = 100 * time.Millisecond
)

// Progress shows the progress of a transfer: a bar on a terminal, a note at the start elsewhere, no output with --json.
type Progress struct {
	screen *Screen
	files  int // 0 for a download
	bytes  int64

	sent   atomic.Int64
	stored atomic.Int64
	end    chan struct{}
	bar    sync.WaitGroup
}

// Progress begins to show an upload. there is how many files the server has already. Stop ends it.
func (s *Screen) Progress(files int, bytes int64, there int) *Progress {
	note := fmt.Sprintf("Uploading %s (%s)", Count(files, "file"), Bytes(bytes))
	switch {
	case there == 1:
		note += "; 1 is there already"
	case there > 1:
		note += fmt.Sprintf("; %d are there already", there)
	}
	return s.begin(files, bytes, note)
}

// Download begins to show the download of one file. Done updates it, and Stop ends it.
func (s *Screen) Download(bytes int64) *Progress {
	return s.begin(0, bytes, "Downloading "+Bytes(bytes))
}

func (s *Screen) begin(files int, bytes int64, note string) *Progress {
	p := &Progress{
		screen: s,
		files:  files,
		bytes:  bytes,
		end:    make(chan struct{}),
	}
	switch {
	case s.bars:
		p.bar.Go(p.draw)
	case s.mode == Plain:
		s.Note("%s", note)
	}
	return p
}

// Done sets how many bytes have been transferred.
func (p *Progress) Done(bytes int64) { p.sent.Store(bytes) }

// Sent adds bytes. A negative number takes those of a failed attempt back.
func (p *Progress) Sent(bytes int64) { p.sent.Add(bytes) }

// Stored counts a stored file.
func (p *Progress) Stored() { p.stored.Add(1) }

// Stop removes the bar, and reports whether all files of an upload were stored.
func (p *Progress) Stop() {
	close(p.end)
	p.bar.Wait()
	p.screen.mu.Lock()
	p.screen.wipe()
	p.screen.mu.Unlock()
	if p.files > 0 && p.screen.mode != JSON && p.stored.Load() == int64(p.files) {
		p.screen.Note("Uploaded %s", Count(p.files, "file"))
	}
}

func (p *Progress) draw() {
	select {
	case <-time.After(barDelay):
	case <-p.end:
		return
	}
	// One byte more, because a full bar disappears and the last file may not be stored yet.
	bar := progressbar.NewOptions64(p.bytes+1,
		progressbar.OptionSetWriter(barWriter{p.screen}), progressbar.OptionUseANSICodes(true),
		progressbar.OptionShowBytes(true), progressbar.OptionSetWidth(24))
	tick := time.NewTicker(redraw)
	defer tick.Stop()
	for {
		bar.Describe(p.label())
		bar.Set64(min(max(p.sent.Load(), 0), p.bytes))
		select {
		case <-tick.C:
		case <-p.end:
			return
		}
	}
}

func (p *Progress) label() string {
	if p.files == 0 {
		return "Downloading"
	}
	return fmt.Sprintf("Uploading %d/%d files", p.stored.Load(), p.files)
}

// barWriter writes a bar such that notes do not overwrite it.
type barWriter struct{ *Screen }

func (w barWriter) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drawn = true
	return w.err.Write(text)
}
