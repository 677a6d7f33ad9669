package blob

import (
	"errors"
	"regexp"
	"slices"

	"github.com/aws/smithy-go"

	"vitrine/shared/platform/fault"
)

// absent are the codes of S3 for an object that is not there. It denies to read one to a role that may not list the
// bucket, as ours may not, which nobody can tell from a role that may not read: the meter puts object_denied into the
// log line of the request. The answer to HeadObject has no body, so that its code is the status.
var absent = []string{"NoSuchKey", "NotFound", "AccessDenied", "Forbidden"}

// failure says why an object could not be read: it is not there, or S3 did not answer.
func failure(err error) error {
	if hasCode(err, absent...) {
		return fault.NewCode(fault.NotFound)
	}
	return unavailable(err)
}

// hasCode tells whether S3 answered with one of these error codes.
func hasCode(err error, codes ...string) bool {
	api, ok := errors.AsType[smithy.APIError](err)
	return ok && slices.Contains(codes, api.ErrorCode())
}

// unavailable says that S3 did not do what it was asked for.
func unavailable(err error) error {
	return fault.Wrap(fault.StorageUnavailable, redacted{err}, "the file store does not answer; repeat the request in a moment")
}

// redacted is an error without URLs in its text: net/http prints them, and one that is signed is a credential. What it
// hides can be compared with errors.Is, but not be had.
type redacted struct{ cause error }

var urls = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"]*|[^\s"]*[?&]X-Amz-[^\s"]*`)

func (r redacted) Error() string { return urls.ReplaceAllString(r.cause.Error(), "(URL)") }

func (r redacted) Is(target error) bool { return errors.Is(r.cause, target) }
