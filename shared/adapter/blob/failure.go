package blob

import (
	"errors"
	"regexp"
	"slices"

	"github.com/aws/smithy-go"

	"vitrine/shared/platform/fault"
)

// notFoundCodes are the codes of S3 for a missing object. S3 answers AccessDenied for a missing
// object to a role that may not list the bucket, as the hosts' roles may not. That cannot be told
// from a missing right to read, so the meter puts object_denied into the log line of the request.
// The answer to HeadObject has no body, so its code is the status.
var notFoundCodes = []string{"NoSuchKey", "NotFound", "AccessDenied", "Forbidden"}

// failure classifies why an object could not be read: it does not exist, or S3 did not answer.
func failure(err error) error {
	if hasCode(err, notFoundCodes...) {
		return fault.NewCode(fault.NotFound)
	}
	return unavailable(err)
}

// hasCode reports whether S3 answered with one of these error codes.
func hasCode(err error, codes ...string) bool {
	api, ok := errors.AsType[smithy.APIError](err)
	return ok && slices.Contains(codes, api.ErrorCode())
}

// unavailable wraps a failure of S3 as storage_unavailable.
func unavailable(err error) error {
	return fault.Wrap(fault.StorageUnavailable, redacted{err},
		"the file store does not answer; repeat the request in a moment")
}

// redacted is an error without URLs in its text: net/http prints them, and a signed one is a
// credential. errors.Is finds the hidden error, but errors.As and Unwrap do not return it.
type redacted struct{ cause error }

var urls = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"]*|[^\s"]*[?&]X-Amz-[^\s"]*`)

func (r redacted) Error() string { return urls.ReplaceAllString(r.cause.Error(), "(URL)") }

func (r redacted) Is(target error) bool { return errors.Is(r.cause, target) }
