package blob

import (
	"errors"
	"regexp"
	"slices"

	"github.com/aws/smithy-go"

	"vitrine/shared/platform/fault"
)

// notFoundCodes are S3's codes for a missing object. S3 answers AccessDenied if the caller may not list the bucket,
// which is so for the roles of the hosts. A missing right to read looks the same, so the meter writes object_denied
// into the log line of the request. An answer to HeadObject has no body, so the SDK makes the code from the status.
var notFoundCodes = []string{"NoSuchKey", "NotFound", "AccessDenied", "Forbidden"}

// failure classifies why an object could not be read: the object is missing (not_found), or S3 failed.
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

// redacted hides the text of an error, because net/http prints URLs and a signed URL is a credential. errors.Is finds
// the hidden error; errors.As and Unwrap do not return it.
type redacted struct{ cause error }

var urls = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"]*|[^\s"]*[?&]X-Amz-[^\s"]*`)

func (r redacted) Error() string { return urls.ReplaceAllString(r.cause.Error(), "(URL)") }

func (r redacted) Is(target error) bool { return errors.Is(r.cause, target) }
