package runtime

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
)

// maxErrorBody is more than any runtime sends about an error.
const maxErrorBody = 1 << 20

// api serves the Runtime API, version 2018-06-01, to one process.
func (p *process) api() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /2018-06-01/runtime/invocation/next", p.handleNext)
	mux.HandleFunc("POST /2018-06-01/runtime/invocation/{id}/response", p.handleResponse)
	mux.HandleFunc("POST /2018-06-01/runtime/invocation/{id}/error", p.handleError)
	return mux
}

func (p *process) handleNext(w http.ResponseWriter, r *http.Request) {
	i := p.function.await(r.Context(), p)
	if i == nil {
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Lambda-Runtime-Aws-Request-Id", i.id)
	h.Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(i.deadline.UnixMilli(), 10))
	h.Set("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:us-east-1:000000000000:function:"+p.function.Name)
	h.Set("Lambda-Runtime-Trace-Id", "Root=1-00000000-000000000000000000000000;Parent=0000000000000000;Sampled=0")
	_, _ = w.Write(i.event) // a process that has ended is seen by watch
}

// invocation returns the process's invocation, if the request names it.
func (p *process) invocation(w http.ResponseWriter, r *http.Request) *invocation {
	p.function.mu.Lock()
	i := p.current
	p.function.mu.Unlock()
	if i == nil || i.id != r.PathValue("id") {
		respond(w, http.StatusBadRequest, &Failure{"InvalidRequestID", "Invalid request ID"})
		return nil
	}
	return i
}

// handleResponse blocks the function until its answer is read, so that the answer is not buffered.
func (p *process) handleResponse(w http.ResponseWriter, r *http.Request) {
	i := p.invocation(w, r)
	if i == nil {
		return
	}
	a := &Answer{
		ContentType: r.Header.Get("Content-Type"),
		process:     p,
		request:     r,
		body:        &paced{Reader: r.Body},
		invocation:  i,
		closed:      make(chan struct{}),
	}
	if !i.begin(a, nil) {
		respond(w, http.StatusBadRequest, &Failure{"InvalidStateTransition", "the invocation is answered already"})
		return
	}
	select {
	case <-a.closed:
	case <-i.left: // without the answer
	}
	_, _ = io.Copy(io.Discard, r.Body) // the function may end in the middle
	if a.refused {
		respond(w, http.StatusRequestEntityTooLarge, tooLarge)
		return
	}
	respond(w, http.StatusAccepted, accepted)
}

func (p *process) handleError(w http.ResponseWriter, r *http.Request) {
	i := p.invocation(w, r)
	if i == nil {
		return
	}
	why := readFailure(r)
	p.release()
	i.begin(nil, why)
	respond(w, http.StatusAccepted, accepted)
}

func readFailure(r *http.Request) *Failure {
	f := &Failure{Type: "Runtime.Unknown"}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxErrorBody))
	if err = errors.Join(err, json.Unmarshal(body, f)); err != nil {
		f.Message = string(body)
	}
	return f
}

// accepted is what the process gets for an answer that was taken.
var accepted = map[string]string{"status": "OK"}

func respond(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // a process that has ended is seen by watch
}
