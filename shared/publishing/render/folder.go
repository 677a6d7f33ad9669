package render

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/tree"
)

func init() {
	views[media.DirectoryView] = viewer{show: folderView, version: 1}
	views[media.ImageView] = viewer{show: imageView}
	views[media.AudioView] = viewer{show: audioView}
	views[media.VideoView] = viewer{show: videoView}
}

// entry is a file or a folder of a listing.
type entry struct {
	name   string
	path   string
	folder bool
	files  int // of a folder
	size   int64
}

// entries returns the direct children of a folder: folders first, then files, by name.
func (s Source) entries() []entry {
	prefix := ""
	if s.Path != "" {
		prefix = s.Path + "/"
	}
	found := map[string]*entry{}
	for _, f := range s.Files {
		rest, below := strings.CutPrefix(f.Path, prefix)
		if !below || rest == "" {
			continue
		}
		name, _, deeper := strings.Cut(rest, "/")
		key := name
		if deeper {
			key += "/"
		}
		e := found[key]
		if e == nil {
			e = &entry{name: name, path: prefix + name, folder: deeper}
			found[key] = e
		}
		e.files++
		e.size += f.Size
	}
	out := make([]entry, 0, len(found))
	for _, e := range found {
		out = append(out, *e)
	}
	slices.SortFunc(out, func(a, b entry) int {
		return cmp.Or(bit(b.folder)-bit(a.folder), strings.Compare(a.name, b.name))
	})
	return out
}

// maxEntries is how many files and folders a page of a listing shows.
const maxEntries = 500

// folderView lists a part of a folder, and leads to the parts before and after it. The images of the part are a gallery.
func folderView(_ context.Context, s Source, b *body, q Query) error {
	entries := s.entries()
	steps := ""
	if all := len(entries); all > maxEntries {
		pages := (all-1)/maxEntries + 1
		number := numberOf(q.Page, pages)
		entries = entries[(number-1)*maxEntries : min(number*maxEntries, all)]
		steps = s.steps(number, pages, all)
	}
	var images []entry
	for _, e := range entries {
		if !e.folder && media.ViewOf(e.name) == media.ImageView {
			images = append(images, e)
		}
	}
	b.printf("%s", steps)
	s.gallery(b, images)
	b.printf(`<div class="v-wide" tabindex="0"><table class="v-list"><thead><tr><th scope="col">Name</th><th scope="col" class="v-num">Size</th>` +
		`</tr></thead><tbody>`)
	for _, e := range entries {
		to, name := s.page(e.path), e.name
		if e.folder {
			to, name = s.pageOf(e.path), name+"/"
		}
		b.printf(`<tr><td><a href="%s">%s</a></td><td class="v-num">%s</td></tr>`, escape(to), escape(clip(name, 300)), size(e.size))
	}
	b.printf("</tbody></table></div>%s", steps)
	return nil
}

// numberOf returns the number of a page, from 1. A text that is not the number of one of the pages means the first.
func numberOf(text string, pages int) int {
	n, err := strconv.Atoi(text)
	if err != nil || strconv.Itoa(n) != text || n < 1 || n > pages {
		return 1
	}
	return n
}

// steps returns links to the pages of a folder before and after one, and between them how far that one goes.
func (s Source) steps(number, pages, all int) string {
	folder, out := escape(s.pageOf(s.Path)), `<p class="v-steps">`
	switch number {
	case 1:
	case 2:
		out += `<a href="` + folder + `">Previous page</a> `
	default:
		out += fmt.Sprintf(`<a href="%s?page=%d">Previous page</a> `, folder, number-1)
	}
	out += fmt.Sprintf("<span>%d to %d of %d</span>", (number-1)*maxEntries+1, min(number*maxEntries, all), all)
	if number < pages {
		out += fmt.Sprintf(` <a href="%s?page=%d">Next page</a>`, folder, number+1)
	}
	return out + "</p>"
}

// lazily has the attributes of an image that loads when it comes near the part of the page that its reader sees.
const lazily = `loading="lazy" decoding="async"`

// gallery writes images as a grid. A link opens a large image below its row, without a script. It is not an overlay,
// because that would cover the whole page, and a page in a viewer frame is longer than the part that its reader sees.
func (s Source) gallery(b *body, images []entry) {
	if len(images) == 0 {
		return
	}
	b.printf(`<div class="v-gallery">`)
	for i, e := range images {
		b.printf(`<a class="v-thumb" id="t%d" href="#i%d"><img src="%s" alt="%s" %s width="160" height="120"></a>`, i+1, i+1,
			escape(s.raw(e.path)), escape(clip(e.name, 300)), lazily)
		b.printf(`<figure class="v-large" id="i%d"><img src="%s" alt="%s" %s width="1600" height="1200"><figcaption>`,
			i+1, escape(s.raw(e.path)), escape(clip(e.name, 300)), lazily)
		if i > 0 {
			b.printf(`<a href="#i%d">Previous</a> `, i)
		}
		b.printf(`<a href="%s">%s</a> `, escape(s.pageOf(e.path)), escape(clip(e.name, 120)))
		if i < len(images)-1 {
			b.printf(`<a href="#i%d">Next</a> `, i+2)
		}
		b.printf(`<a href="#t%d">Close</a></figcaption></figure>`, i+1)
	}
	b.printf("</div>")
}

// imageView shows an image in an img element, in which an SVG runs no script.
func imageView(_ context.Context, s Source, b *body, _ Query) error {
	b.printf(`<p class="v-stage"><img src="%s" alt="%s"></p>`, escape(s.raw(s.Path)), escape(path.Base(s.Path)))
	s.siblings(b)
	return nil
}

// siblings writes links to the images before and after this one in its folder.
func (s Source) siblings(b *body) {
	folder := s
	folder.File = tree.File{}
	if folder.Path = path.Dir(s.Path); folder.Path == "." {
		folder.Path = ""
	}
	var images []string
	for _, e := range folder.entries() {
		if !e.folder && media.ViewOf(e.name) == media.ImageView {
			images = append(images, e.path)
		}
	}
	at := slices.Index(images, s.Path)
	if len(images) < 2 || at < 0 {
		return
	}
	b.printf(`<p class="v-steps">`)
	if at > 0 {
		b.printf(`<a href="%s">Previous: %s</a> `, escape(s.pageOf(images[at-1])), escape(clip(path.Base(images[at-1]), 120)))
	}
	if at < len(images)-1 {
		b.printf(`<a href="%s">Next: %s</a>`, escape(s.pageOf(images[at+1])), escape(clip(path.Base(images[at+1]), 120)))
	}
	b.printf("</p>")
}

func audioView(_ context.Context, s Source, b *body, _ Query) error {
	b.printf(`<p class="v-stage"><audio controls preload="metadata" src="%s" aria-label="%s"></audio></p>`, escape(s.raw(s.Path)),
		escape(path.Base(s.Path)))
	return nil
}

func videoView(_ context.Context, s Source, b *body, _ Query) error {
	b.printf(`<p class="v-stage"><video controls preload="metadata" src="%s" aria-label="%s"></video></p>`, escape(s.raw(s.Path)),
		escape(path.Base(s.Path)))
	return nil
}
