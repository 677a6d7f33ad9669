// Package stdio serves the Model Context Protocol on stdin and stdout for an agent's client on this machine.
//
// It forwards every request unchanged to the MCP host of a deployment and copies the answer, so that it serves every
// revision that the host does. It adds one tool, publish_path, which publishes from this machine's disk. Stdout gets
// messages only. Source: https://modelcontextprotocol.io/specification, revisions 2025-03-26 to 2026-07-28.
package stdio

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"runtime/debug"
	"sync"

	"vitrine/cmd/vitrine/failure"
)

// MaxMessage is the largest message in bytes, without its line feed.
const MaxMessage = 16 << 20

// Server serves one client.
type Server struct {
	Host *Host
	// Publish publishes a path for the tool publish_path.
	Publish func(ctx context.Context, in Arguments, folders []string) (Published, error)
	Places  Places
	// SignIn is the command that signs in.
	SignIn  string
	Version string // of this program
	// Log writes a line for the person who looks for a fault.
	Log func(format string, args ...any)

	out     io.Writer
	writing sync.Mutex
	working sync.WaitGroup

	mu       sync.Mutex
	revision string                        // that initialize answered; "" before
	roots    bool                          // the client tells its folders
	short    string                        // why the client has the short list of tools; "": it has the whole one
	running  map[string]context.CancelFunc // requests by their ids
	asked    chan json.RawMessage          // takes the client's answer to roots/list; nil: no question is open
	asking   sync.Mutex                    // one question at a time
}

// Serve answers messages until in ends, and then until all of them are answered.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s.out, s.running = out, map[string]context.CancelFunc{}
	lines := bufio.NewReaderSize(in, 64<<10)
	ended := make(chan error, 1)
	go func() { ended <- s.read(ctx, lines) }()
	select {
	case err := <-ended:
		s.working.Wait()
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// read takes messages until there are no more.
func (s *Server) read(ctx context.Context, lines *bufio.Reader) error {
	for {
		line, whole, err := readLine(lines)
		line = bytes.TrimSpace(line)
		switch {
		case !whole:
			s.refuse(codeInvalid, "a message has at most 16 MiB; publish files with publish_path")
		case len(line) > 0:
			s.take(ctx, line)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// readLine returns a line, and whether it is whole. It drops a line that is too large.
func readLine(lines *bufio.Reader) (line []byte, whole bool, err error) {
	whole = true
	for {
		part, err := lines.ReadSlice('\n')
		if whole = whole && len(line)+len(part) <= MaxMessage+1; whole {
			line = append(line, part...)
		} else {
			line = nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, whole, err
		}
	}
}

// take begins the work on a message.
func (s *Server) take(ctx context.Context, line []byte) {
	m, ok := parse(line)
	switch {
	case !ok && json.Valid(line):
		s.refuse(codeInvalid, "send one JSON object a line; batches are not supported")
	case !ok:
		s.refuse(codeParse, "the line is no JSON that can be read")
	case m.id == nil && m.method == "notifications/cancelled":
		s.cancel(m)
	case m.method == "" && (m.all["result"] != nil || m.all["error"] != nil):
		s.told(m)
	case m.id == nil && m.method != "":
		// The host is stateless and acts on no notification.
	default:
		ctx, done := s.begin(ctx, m)
		s.working.Go(func() {
			defer done()
			s.answer(ctx, m)
		})
	}
}

// begin makes a request one that can be cancelled.
func (s *Server) begin(ctx context.Context, m message) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running[string(m.id)] = cancel
	return ctx, func() {
		cancel()
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.running, string(m.id))
	}
}

func (s *Server) cancel(m message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.running[string(m.params["requestId"])]; cancel != nil {
		cancel()
	}
}

// answer answers a request. A cancelled one gets no answer. A panic ends the answer and not the process.
func (s *Server) answer(ctx context.Context, m message) {
	defer func() {
		if v := recover(); v != nil {
			s.Log("panic: %v\n%s", v, debug.Stack())
			s.write(reply{ID: m.id, Error: &rpcError{Code: codeInternal, Message: "internal error"}})
		}
	}()
	if m.method == "tools/call" && m.name() == toolName {
		s.write(reply{ID: m.id, Result: s.publish(ctx, m)})
		return
	}
	s.mu.Lock()
	revision := s.revision
	s.mu.Unlock()
	if m.method == "initialize" {
		s.greet(m)
		revision = ""
	}
	line, err := s.Host.send(ctx, m, revision)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		s.without(m, failure.Of(err))
	default:
		s.copy(m, line)
	}
}

// greet remembers whether the client tells its folders. Revisions without a handshake have no way to ask for them.
func (s *Server) greet(m message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.roots = members(members(m.params["capabilities"])["roots"]) != nil
}

// copy writes an answer of the host, with our own tool in the last page of the list of tools.
func (s *Server) copy(m message, line []byte) {
	result := members(members(line)["result"])
	switch m.method {
	case "initialize":
		s.agree(textOf(result["protocolVersion"]))
	case "tools/list":
		s.shorten("")
		if result["nextCursor"] == nil {
			line = insert(line, "tools", tool)
		}
	}
	s.writeLine(line)
}

// agree remembers the revision of the handshake.
func (s *Server) agree(revision string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revision = revision
}

// refuse answers what is no message.
func (s *Server) refuse(code int, why string) {
	s.write(reply{ID: json.RawMessage("null"), Error: &rpcError{Code: code, Message: why}})
}

func (s *Server) write(r any) {
	if own, ok := r.(reply); ok {
		own.Version = "2.0"
		r = own
	}
	line, err := encode(r)
	if err != nil {
		s.Log("an answer cannot be encoded: %v", err)
		return
	}
	s.writeLine(line)
}

// writeLine writes a message whole, between others.
func (s *Server) writeLine(line []byte) {
	s.writing.Lock()
	defer s.writing.Unlock()
	if _, err := s.out.Write(append(line, '\n')); err != nil {
		s.Log("an answer cannot be written: %v", err)
	}
}
