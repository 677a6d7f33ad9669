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

// Progress shows the progress of work with bytes: a bar on a terminal, a note at the start elsewhere, no output with
// --json.
type Progress struct {
	screen *Screen
	doing  string // "Uploading"
	done   string // what is noted at the end, if all files were stored; "" for nothing
	files  int    // 0 for a download
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
		note += "; " + Number(int64(there)) + " are there already"
	}
	return s.begin(&Progress{
		doing: "Uploading",
		done:  "Uploaded " + Count(files, "file"),
		files: files,
		bytes: bytes,
	}, note)
}

// Hashing begins to show the reading of files before an upload. Elsewhere than on a terminal it notes only large
// folders. Stop ends it.
func (s *Screen) Hashing(files int, bytes int64) *Progress {
	note := ""
	if files > manyFiles || bytes > manyBytes {
		note = fmt.Sprintf("Hashing %s (%s)", Count(files, "file"), Bytes(bytes))
	}
	return s.begin(&Progress{doing: "Hashing", files: files, bytes: bytes}, note)
}

// A folder with more than these is large.
const (
	manyFiles = 100
	manyBytes = 100 << 20
)

// Download begins to show the download of one file. Done updates it, and Stop ends it.
func (s *Screen) Download(bytes int64) *Progress {
	return s.begin(&Progress{doing: "Downloading", bytes: bytes}, "Downloading "+Bytes(bytes))
}

func (s *Screen) begin(p *Progress, note string) *Progress {
	p.screen, p.end = s, make(chan struct{})
	switch {
	case s.bars:
		p.bar.Go(p.draw)
	case s.mode == Plain && note != "":
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

// Stop removes the bar, and notes the end of an upload that stored all files.
func (p *Progress) Stop() {
	close(p.end)
	p.bar.Wait()
	p.screen.mu.Lock()
	p.screen.wipe()
	p.screen.mu.Unlock()
	if p.done != "" && p.screen.mode != JSON && p.stored.Load() == int64(p.files) {
		p.screen.Note("%s", p.done)
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
		return p.doing
	}
	return fmt.Sprintf("%s %s of %s", p.doing, Number(p.stored.Load()), Count(p.files, "file"))
}

// barWriter writes a bar such that notes do not overwrite it.
type barWriter struct{ *Screen }

func (w barWriter) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drawn = true
	return w.err.Write(text)
}
