import { CONTENTS } from './contents.ts'
import { escapeHtml } from './escape.ts'
import type { ManualPage } from './markdown.ts'
import { type Site, shellHtml } from './shell.ts'

/** Page → the whole document. Links of its text are relative to `/manual/`. */
export function pageHtml(page: ManualPage, site: Site): string {
  const order = [...site.pages.keys()]
  const at = order.indexOf(page.topic)
  const turn = (topic: string | undefined, label: string, rel: string) =>
    topic === undefined
      ? '<span></span>'
      : `<a rel="${rel}" href="/manual/${topic}"><span class="muted small">${label}</span> ${escapeHtml(site.pages.get(topic)!.title)}</a>`
  const foot = [turn(order[at - 1], 'Previous', 'prev'), turn(order[at + 1], 'Next', 'next')].join(' ')
  const forPrograms = `<p class="muted small for-programs"><a href="/manual/${page.topic}.md">This page as Markdown</a></p>`
  return shellHtml(
    {
      title: `${page.title} · Postrider manual`,
      content: `<article class="prose">${page.html}</article>${forPrograms}<nav class="turn" aria-label="Neighbouring pages">${foot}</nav>`,
      current: page.topic,
      outline: outline(page),
      alternate: { type: 'text/markdown', href: `/manual/${page.topic}.md` },
    },
    site,
  )
}

/** `/manual/`: all pages with their summaries. */
export function contentsHtml(site: Site): string {
  const groups = CONTENTS.map(({ name, topics }) => {
    const items = topics.map((topic) => {
      const { title, summary } = site.pages.get(topic)!
      return `<dt><a href="/manual/${topic}">${escapeHtml(title)}</a></dt><dd>${escapeHtml(summary)}</dd>`
    })
    return `<h2>${name}</h2><dl>${items.join('')}</dl>`
  })
  const intro =
    '<h1>Postrider manual</h1><p>How to run Postrider and send, receive and track mail with it. <a href="/docs">API reference</a> documents every request and response.</p>'
  return shellHtml(
    {
      title: 'Postrider manual',
      content: `<article class="prose">${intro}${groups.join('')}</article>`,
      current: null,
      outline: '',
      alternate: { type: 'text/plain', href: '/llms.txt' },
    },
    site,
  )
}

/** The page for addresses below `/manual/` that do not exist. The script lists the nearest titles in `#nearest`. */
export function missingHtml(site: Site): string {
  const content = `<article class="prose"><h1>Page not found</h1><p>The manual has no page at this address. Search above, or open <a href="/manual/">all pages</a>.</p><div id="nearest"></div></article>`
  return shellHtml(
    { title: 'Page not found · Postrider manual', content, current: null, outline: '', alternate: null },
    site,
  )
}

/** `/docs`: the API reference, which its script fills. */
export function referenceHtml(site: Site): string {
  const content =
    '<noscript>The API reference needs JavaScript. See <a href="/openapi.json">openapi.json</a> or <a href="/manual/api-operations">API operations</a> instead.</noscript>'
  const alternate = { type: 'application/json', href: '/openapi.json' }
  return shellHtml({ title: 'Postrider API', content, current: 'docs', outline: '', alternate }, site)
}

function outline({ sections }: ManualPage): string {
  const shown = sections.filter(({ level }) => level === 2)
  if (shown.length < 2) return ''
  const items = shown.map(({ anchor, heading }) => `<li><a href="#${anchor}">${escapeHtml(heading)}</a></li>`)
  return `<nav class="outline" aria-labelledby="outline"><h2 id="outline">On this page</h2><ul>${items.join('')}</ul></nav>\n`
}
