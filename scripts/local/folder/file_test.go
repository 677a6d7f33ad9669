package folder

import (
	"math"
	"testing"

	"vitrine/scripts/testkit/expect"
)

func TestADiskWithoutRoomIsRefused(t *testing.T) {
	dir := t.TempDir()
	expect.OK(t, HaveRoom(dir, 0))
	expect.Error(t, HaveRoom(dir, math.MaxInt64/2), dir, "make room", "another disk")
}
