package stdio

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math"

	"vitrine/cmd/vitrine/failure"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

const toolName = "publish_path"

// tool describes publish_path, as the list of tools shows it.
var tool = json.RawMessage(`{"name":"publish_path","title":"Publish a file or folder of this machine",` +
	`"description":"Publish a file or a whole folder from this machine's disk as an artifact and get its link. ` +
	`Files go straight to storage, so size does not matter here. Ignored files and files that look like secrets stay here.",` +
	`"inputSchema":{"type":"object","properties":{` +
	`"path":{"type":"string","minLength":1,"maxLength":4096,` +
	`"description":"A file or folder: absolute, or below the folder that the client works in."},` +
	`"artifact_id":{"type":"string","pattern":"^art_[0-9A-HJKMNP-TV-Z]{26}$",` +
	`"description":"Publish a new revision of this artifact, which has exactly these files, under the same link."},` +
	`"title":{"type":"string","minLength":1,"maxLength":160,"description":"Default: that of the first page."},` +
	`"entrypoint":{"type":"string","minLength":1,"maxLength":4096,` +
	`"description":"The file that opens first, as a path below the folder. Default: index.html and the like."},` +
	`"addresses":{"type":"array","minItems":1,"maxItems":20,"description":"Threads that the revision has dealt with, with seq ` +
	`as catch_up told it.","items":{"type":"object","properties":{"thread_id":{"type":"string"},"seq":{"type":"integer"},` +
	`"note":{"type":"string","maxLength":500}},"required":["thread_id","seq"],"additionalProperties":false}}},` +
	`"required":["path"],"additionalProperties":false},` +
	`"annotations":{"title":"Publish a file or folder of this machine","readOnlyHint":false,"destructiveHint":false,` +
	`"idempotentHint":false,"openWorldHint":false}}`)

// Arguments are those of publish_path.
type Arguments struct {
	Path       string      `json:"path"`
	Artifact   id.Artifact `json:"artifact_id"`
	Title      *string     `json:"title"`
	Entrypoint string      `json:"entrypoint"`
	// Addresses are threads that the revision has dealt with.
	Addresses []contract.AddressThread `json:"addresses"`
}

// Published is what publish_path answers.
type Published struct {
	Value json.RawMessage // an object
	Line  string          // for a person, with the link
	Nudge string          // what should be known besides; "" for no remark
}

// result is the result of a tool.
type result struct {
	Type    string          `json:"resultType,omitempty"` // of revisions without a handshake
	Content []content       `json:"content"`
	Value   json.RawMessage `json:"structuredContent,omitempty"`
	IsError bool            `json:"isError,omitempty"`
}

type content struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// resultOf returns the result with these texts. The first one repeats the value, because some clients pass on the texts
// only.
func resultOf(m message, value json.RawMessage, texts ...string) result {
	out := result{Value: value, Content: []content{{"text", string(value)}}}
	if m.stateless() {
		out.Type = "complete"
	}
	for _, t := range texts {
		if t != "" {
			out.Content = append(out.Content, content{"text", t})
		}
	}
	return out
}

// facts are what a client learns of a failure.
type facts struct {
	Code       fault.Code `json:"code"`
	Message    string     `json:"message"`
	Hint       string     `json:"hint,omitempty"`
	RequestID  string     `json:"request_id,omitempty"`
	RetryAfter int        `json:"retry_after_seconds,omitempty"`
}

func factsOf(f *failure.Failure) facts {
	return facts{
		Code:       f.Code,
		Message:    f.Message,
		Hint:       f.Hint,
		RequestID:  f.RequestID,
		RetryAfter: int(math.Ceil(f.RetryAfter.Seconds())),
	}
}

// failed returns the result of a tool that failed. The model sees what to do next.
func failed(m message, f *failure.Failure) result {
	value, _ := encode(map[string]facts{"error": factsOf(f)}) // strings and numbers always marshal
	out := resultOf(m, value)
	out.IsError = true
	return out
}

// publish runs publish_path.
func (s *Server) publish(ctx context.Context, m message) result {
	in, err := arguments(m.params["arguments"])
	var folders []string
	if err == nil {
		folders, err = s.folders(ctx)
	}
	var made Published
	if err == nil {
		made, err = s.Publish(ctx, in, folders)
	}
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		return resultOf(m, made.Value, made.Line, cmp.Or(made.Nudge, s.short))
	}
	f := failure.Of(err)
	if f.Exit == failure.Auth {
		f = s.signedOut(f)
	}
	s.Log("%s fails: %s", toolName, f.Message)
	return failed(m, f)
}

// arguments reads the arguments of publish_path.
func arguments(text json.RawMessage) (in Arguments, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err = d.Decode(&in)
	if err == nil && in.Path == "" {
		err = errors.New("path is missing or empty")
	}
	if _, malformed := in.Artifact.Bits(); err == nil && in.Artifact != "" && malformed != nil {
		err = errors.New("artifact_id is not the id of an artifact, which begins with art_")
	}
	if err != nil {
		return in, failure.New(failure.Invalid, fault.InvalidRequest, "the arguments of %s do not fit: %v", toolName, err).
			Advise("Send path, and if needed artifact_id, title and entrypoint, as the list of tools describes them.")
	}
	return in, nil
}
