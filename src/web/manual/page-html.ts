import type { CONTENTS } from './contents.ts'
import { escapeHtml, type ManualPage } from './markdown.ts'

/** Paths relative to `/manual/`, with a content hash in the name. */
export interface Assets {
  style: string
  script: string
  search: string
  icon: string
}

type Pages = ReadonlyMap<string, ManualPage>

/** Page → the whole document. All paths are relative to `/manual/`. */
export function pageHtml(page: ManualPage, contents: typeof CONTENTS, pages: Pages, assets: Assets): string {
  const order = [...pages.keys()]
  const at = order.indexOf(page.topic)
  const pageLink = (topic: string | undefined, label: string, rel: string) =>
    topic === undefined ? '' : `<a rel="${rel}" href="${topic}">${label}: ${escapeHtml(pages.get(topic)!.title)}</a>`
  const foot = [pageLink(order[at - 1], 'Previous', 'prev'), pageLink(order[at + 1], 'Next', 'next')]
  return documentHtml({
    title: `${page.title} · Postrider manual`,
    main: `${page.html}<nav class="turn" aria-label="Neighbouring pages">${foot.join(' ')}</nav>`,
    navigation: navigation(contents, pages, page),
    alternate: { type: 'text/markdown', href: `${page.topic}.md` },
    assets,
  })
}

/** `/manual/`: all pages with their summaries and sections. */
export function contentsHtml(contents: typeof CONTENTS, pages: Pages, assets: Assets): string {
  const groups = contents.map(({ name, topics }) => {
    const items = topics.map((topic) => {
      const { title, summary } = pages.get(topic)!
      return `<dt><a href="${topic}">${escapeHtml(title)}</a></dt><dd>${escapeHtml(summary)}</dd>`
    })
    return `<h2>${name}</h2><dl>${items.join('')}</dl>`
  })
  const intro =
    '<h1>Postrider manual</h1><p>How to run Postrider and send, receive and track mail with it. <a href="../docs">API reference</a> documents every request and response.</p>'
  return documentHtml({
    title: 'Postrider manual',
    main: `${intro}${groups.join('')}`,
    navigation: navigation(contents, pages, null),
    alternate: { type: 'text/plain', href: '../llms.txt' },
    assets,
  })
}

/** All pages by group; the sections of the current page appear below it. */
function navigation(contents: typeof CONTENTS, pages: Pages, current: ManualPage | null): string {
  return contents
    .map(({ name, topics }) => {
      const items = topics.map((topic) => {
        const isCurrent = topic === current?.topic
        const link = `<a href="${topic}"${isCurrent ? ' aria-current="page"' : ''}>${escapeHtml(pages.get(topic)!.title)}</a>`
        return `<li>${link}${isCurrent ? outline(current) : ''}</li>`
      })
      return `<h2>${name}</h2><ul>${items.join('')}</ul>`
    })
    .join('')
}

function outline({ sections }: ManualPage): string {
  const items = sections
    .filter(({ level }) => level === 2)
    .map(({ anchor, heading }) => `<li><a href="#${anchor}">${escapeHtml(heading)}</a></li>`)
  return items.length === 0 ? '' : `<ul>${items.join('')}</ul>`
}

function documentHtml({
  title,
  main,
  navigation,
  alternate,
  assets,
}: {
  title: string
  main: string
  navigation: string
  /** The same for programs. */
  alternate: { type: string; href: string }
  assets: Assets
}) {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="${assets.icon}" type="image/svg+xml">
<link rel="alternate" type="${alternate.type}" href="${alternate.href}">
<link rel="stylesheet" href="${assets.style}">
<script src="${assets.script}"></script>
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header class="top">
<a class="brand" href="./"><img src="${assets.icon}" alt=""> Postrider manual</a>
<search hidden data-index="${assets.search}"><input type="search" aria-label="Search the manual" placeholder="Search ( / )" autocomplete="off" spellcheck="false"></search>
<span class="links"><a class="narrow" href="#pages">Pages</a> <a href="../docs">API reference</a> <a href="../dashboard/">Dashboard</a></span>
</header>
<div class="frame">
<main id="main" tabindex="-1">
<section id="results" aria-label="Search results" hidden><h1>Search results</h1><p role="status"></p><ol></ol></section>
<article>${main}</article>
</main>
<nav class="side" id="pages" aria-label="Pages">${navigation}</nav>
</div>
</body>
</html>
`
}
