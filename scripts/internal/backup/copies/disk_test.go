package copies

import (
	"math"
	"testing"

	"vitrine/scripts/testkit/expect"
)

func TestADiskWithoutRoomIsRefused(t *testing.T) {
	dir := t.TempDir()
	expect.OK(t, haveRoom(dir, 0))
	expect.Error(t, haveRoom(dir, math.MaxInt64/2), dir, "make room", "another disk")
}
