import { VERSION } from '../../version.ts'
import { methodName, nameOf, type Reference } from '../reference/ui/document.ts'
import { CONTENTS } from './contents.ts'
import { escapeHtml } from './escape.ts'
import type { ManualPage } from './markdown.ts'

/** What every page of manual and API reference shows around its content. */
export interface Site {
  /** By topic. */
  pages: ReadonlyMap<string, ManualPage>
  reference: Reference
  assets: Assets
}

/** Paths of files, with a content hash in the name. */
export interface Assets {
  style: string
  script: string
  /** Of the API reference. */
  operations: string
  search: string
  icon: string
  /** Loaded before the page is drawn: text that changes its font moves what is below it. */
  font: string
}

export interface Shown {
  title: string
  /** The part that search results replace. */
  content: string
  /** A topic, or `docs`; null for a page that the navigation does not list. */
  current: string | null
  /** Links to the sections of the page; '' for none. */
  outline: string
  /** The same for programs. */
  alternate: { type: string; href: string } | null
}

/** Content → the whole document: the only one for manual, API reference and wrong addresses. It is complete without
 *  JavaScript, except for search, theme and the content of the API reference. */
export function shellHtml(shown: Shown, site: Site): string {
  const { title, content, current, outline, alternate } = shown
  const { assets } = site
  const isReference = current === 'docs'
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="${assets.icon}" type="image/svg+xml">
${alternate === null ? '' : `<link rel="alternate" type="${alternate.type}" href="${alternate.href}">\n`}<link rel="preload" href="${assets.font}" as="font" type="font/woff2" crossorigin>
<link rel="stylesheet" href="${assets.style}">
<script src="${assets.script}"></script>
${isReference ? `<script type="module" src="${assets.operations}"></script>\n` : ''}</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<div class="frame shell">
<nav class="side" id="navigation" aria-label="Pages" popover>
<a class="brand" href="/manual/"><img src="${assets.icon}" alt=""><span class="strong">Postrider</span> <span class="muted small">${VERSION}</span></a>
<div class="grow">${groupsHtml(site, current)}</div>
<ul><li><a href="/dashboard/">Dashboard</a></li><li><a href="/openapi.json">openapi.json</a></li><li><a href="/llms.txt">llms.txt</a></li></ul>
<fieldset class="segments" id="theme" hidden><legend class="hidden">Theme</legend>${THEMES}</fieldset>
</nav>
<div>
<header class="top">
<button type="button" class="menu plain" popovertarget="navigation">Menu</button>
<search class="find" hidden data-index="${assets.search}"><input type="search" aria-label="Search manual and API" placeholder="Search manual and API" autocomplete="off" spellcheck="false"><kbd>/</kbd></search>
<span class="links"><a href="/manual/">Manual</a> <a href="/docs">API reference</a></span>
</header>
<div class="columns-of-page${isReference ? ' reference' : ''}">
<main id="main" tabindex="-1">
<div id="page">${content}</div>
<section id="results" aria-label="Search results" hidden><h1>Search results</h1><p role="status"></p><ol></ol></section>
</main>
${outline}</div>
</div>
</div>
</body>
</html>
`
}

const THEMES = ['auto', 'light', 'dark']
  .map((id) => `<button type="button" value="${id}">${id.charAt(0).toUpperCase()}${id.slice(1)}</button>`)
  .join('')

/** All pages and resources by group. Only the group of the current page is open. */
function groupsHtml({ pages, reference }: Site, current: string | null): string {
  const group = (name: string, isOpen: boolean, items: string[]) =>
    `<details${isOpen ? ' open' : ''}><summary>${name}</summary><ul>${items.join('')}</ul></details>`
  const manual = CONTENTS.map(({ name, topics }) => {
    const items = topics.map((topic) => item(`/manual/${topic}`, pages.get(topic)!.title, topic === current))
    return group(
      name,
      topics.some((topic) => topic === current),
      items,
    )
  })
  const isReference = current === 'docs'
  const tags = reference.tags.map(({ name, slug, operations }) => {
    const links = operations.map((operation) => {
      const { id, method } = operation
      const words = `<span class="grow break">${withBreaks(nameOf(operation))}</span><span class="method ${method}">${methodName(method)}</span>`
      return `<li><a href="/docs#${id}">${words}</a></li>`
    })
    // The script of the API reference shows the operations of the current resource.
    const inner = isReference ? `<ul class="operations" hidden>${links.join('')}</ul>` : ''
    return `<li><a href="/docs#${slug}">${escapeHtml(name)}</a>${inner}</li>`
  })
  return [...manual, group('API reference', isReference, [item('/docs', 'Overview', false), ...tags])].join('')
}

const item = (href: string, title: string, isCurrent: boolean) =>
  `<li><a href="${href}"${isCurrent ? ' aria-current="page"' : ''}>${escapeHtml(title)}</a></li>`

/** A path or name with places to break a line after its punctuation. */
const withBreaks = (text: string) =>
  text
    .split(/(?<=[/_.:=@?&])(?=[\w{])/)
    .map(escapeHtml)
    .join('<wbr>')
