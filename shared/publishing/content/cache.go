package content

import (
	"container/list"
	"sync"

	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/tree"
)

// maxCachedTrees bounds the cache: 512 trees of 100 files with the longest paths are some 60 MB, and usually 2 MB.
const maxCachedTrees = 512

// treeCache keeps the trees that were read last. Trees never change; whether one may be shown is checked at every read.
type treeCache struct {
	mu    sync.Mutex
	items map[id.Revision]*list.Element
	order list.List // newest first
}

type cachedTree struct {
	key  id.Revision
	tree tree.Tree
}

func (c *treeCache) get(r id.Revision) (tree.Tree, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.items[r]
	if !ok {
		return nil, false
	}
	c.order.MoveToFront(e)
	return e.Value.(cachedTree).tree, true
}

func (c *treeCache) put(r id.Revision, t tree.Tree) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.items == nil {
		c.items = make(map[id.Revision]*list.Element)
	}
	if _, ok := c.items[r]; ok {
		return
	}
	c.items[r] = c.order.PushFront(cachedTree{r, t})
	if c.order.Len() > maxCachedTrees {
		oldest := c.order.Remove(c.order.Back()).(cachedTree)
		delete(c.items, oldest.key)
	}
}
