package screen

import (
	"fmt"
	"io"
	"time"

	"vitrine/cmd/vitrine/failure"
)

// Problem is the JSON form of a failure.
type Problem struct {
	Code              string `json:"code"`
	Message           string `json:"message"`
	Docs              string `json:"docs,omitempty"`
	RequestID         string `json:"request_id,omitempty"`
	RetryAfterSeconds int64  `json:"retry_after_seconds,omitempty"`
	Hint              string `json:"hint,omitempty"`
}

// ProblemOf returns the JSON form of a failure, without secrets.
func ProblemOf(f *failure.Failure) Problem {
	return Problem{
		Code:              string(f.Code),
		Message:           Scrub(f.Message),
		Docs:              f.Docs,
		RequestID:         f.RequestID,
		RetryAfterSeconds: int64(f.RetryAfter / time.Second),
		Hint:              Scrub(f.Hint),
	}
}

// Warn writes one line to stderr about a failure that does not end the command. With --json it does not write.
func (s *Screen) Warn(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mode == JSON {
		return
	}
	s.wipe()
	fmt.Fprintln(s.err, wrong.Render(Clean(Scrub(text))))
}

// Fail writes a failure to stderr. Its last line for people is the hint.
func (s *Screen) Fail(f *failure.Failure) {
	p := ProblemOf(f)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wipe()
	if s.mode != JSON {
		p.print(s.err)
		return
	}
	text, err := encode(map[string]Problem{"error": p})
	if err == nil {
		_, err = s.err.Write(text)
	}
	if err != nil {
		p.print(s.err)
	}
}

func (p Problem) print(w io.Writer) {
	fmt.Fprintf(w, "%s %s: %s\n", wrong.Render("error"), strong.Render(Clean(p.Code)), Clean(p.Message))
	for _, r := range []Row{{"docs", p.Docs}, {"request", p.RequestID}} {
		if r.Value != "" {
			fmt.Fprintf(w, "  %-7s  %s\n", r.Name, Clean(r.Value))
		}
	}
	if p.Hint != "" {
		fmt.Fprintln(w, Clean(p.Hint))
	}
}
