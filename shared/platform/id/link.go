package id

// NewLink returns a random access link id.
func NewLink() Link { return Link("al_" + encode128(random())) }

// Public returns the id in the link's URL: the last 80 bits of the id, so that one read finds a link by either. It
// fails with ErrMalformed if l is not a link id.
func (l Link) Public() (Public, error) {
	if _, err := unpack(string(l), "al_"); err != nil {
		return "", err
	}
	return Public(l[len(l)-publicLen:]), nil
}
