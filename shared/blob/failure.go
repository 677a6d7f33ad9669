package blob

import (
	"errors"
	"regexp"

	"github.com/aws/smithy-go"

	"vitrine/shared/fault"
)

// failure says why an object could not be had: it is not there, or S3 did not answer.
func failure(err error) error {
	if api := smithy.APIError(nil); errors.As(err, &api) && (api.ErrorCode() == "NoSuchKey" || api.ErrorCode() == "NotFound") {
		return fault.Bare(fault.NotFound)
	}
	return unavailable(err)
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
