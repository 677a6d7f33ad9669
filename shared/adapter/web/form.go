package web

import (
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"

	"vitrine/shared/platform/limits"
)

const formType = "application/x-www-form-urlencoded"

// Form holds the parameters of a form. Each occurs at most once.
type Form map[string]string

// ReadForm reads a form from the body, of at most limits.FormBody, and ignores the query. Its errors may be shown to
// the sender; the causes that they wrap may not.
func ReadForm(r *http.Request) (Form, error) {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != formType {
		return nil, &unreadableBody{said: "send the parameters as " + formType}
	}
	raw, err := readShort(r)
	if err != nil {
		return nil, err
	}
	parsed, err := url.ParseQuery(string(raw))
	if err != nil {
		return nil, &unreadableBody{said: "the body is not a form"}
	}
	form := make(Form, len(parsed))
	for name, values := range parsed {
		if len(values) > 1 && name != resourceParameter {
			return nil, &unreadableBody{said: "a parameter stands twice"}
		}
		form[name] = values[0]
	}
	if len(parsed[resourceParameter]) > 1 {
		return nil, errResources
	}
	return form, nil
}

// resourceParameter is the only parameter that its standard allows to occur several times (RFC 8707).
const resourceParameter = "resource"

// errResources refuses several resources, because a token is for one resource.
var errResources = &unreadableBody{said: "ask for one resource"}

// readShort reads a body of at most limits.FormBody.
func readShort(r *http.Request) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(r.Body, limits.FormBody+1))
	switch {
	case len(raw) > limits.FormBody:
		return nil, &unreadableBody{said: fmt.Sprintf("the body is larger than %d bytes", limits.FormBody)}
	case err != nil:
		return nil, &unreadableBody{"the body did not arrive as a whole", err}
	}
	return raw, nil
}

// unreadableBody says why a body cannot be read, in words for its sender.
type unreadableBody struct {
	said  string
	cause error // not shown to the sender; may be nil
}

func (u *unreadableBody) Error() string { return u.said }

func (u *unreadableBody) Unwrap() error { return u.cause }
