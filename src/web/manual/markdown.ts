import { Marked, type MarkedExtension, type Token, type Tokens } from 'marked'
import type { Reference } from '../reference/ui/document.ts'
import { codeHtml } from './code-html.ts'
import { escapeHtml } from './escape.ts'
import { withLanguages } from './request-examples.ts'

/** One parsed page. */
export interface ManualPage {
  topic: string
  title: string
  /** The first paragraph, as plain text. */
  summary: string
  /** The sections of the page for search and outline; the first is the beginning of the page, without an anchor. */
  sections: Section[]
  html: string
  /** For a terminal: headings at the margin, everything else indented. */
  text: string
  /** For programs: the source without comments, and without links to files that a server does not have. */
  markdown: string
}

export interface Section {
  anchor: string
  heading: string
  level: number
  words: string
}

/** Markdown of the manual → page. Its requests appear in several languages, as operations of `reference`
 *  (request-examples.ts). Throws for Markdown that is not in ALLOWED, such as raw HTML. */
export function readPage(topic: string, markdown: string, reference: Reference | null = null): ManualPage {
  const anchorOf = createAnchors()
  const marked = new Marked(NO_BARE_LINKS)
  const tokens = withLanguages(marked.lexer(markdown), reference)
  marked.walkTokens(tokens, requireAllowed)
  const [first, ...rest] = tokens.filter(({ type }) => type !== 'space')
  if (first?.type !== 'heading') throw new Error(`${topic}: a page begins with its title`)
  const paragraph = rest.find(({ type }) => type === 'paragraph')
  const summary = paragraph === undefined ? '' : plainOf(paragraph)
  let section: Section = { anchor: '', heading: first.text, level: 1, words: '' }
  const sections = [section]
  for (const token of rest) {
    if (token.type === 'heading') {
      section = { anchor: anchorOf(plainOf(token)), heading: plainOf(token), level: token.depth, words: '' }
      sections.push(section)
    } else if (token.type !== 'html') {
      section.words = `${section.words} ${plainOf(token)}`.trim()
    }
  }
  const { text: title } = first
  return { topic, title, summary, sections, html: htmlOf(tokens), text: textOf(tokens), markdown: markdownOf(tokens) }
}

/** What the manual uses. Of `html`, only comments pass (withoutComment), and of links only those of `pathOf`. */
const ALLOWED = new Set(
  'heading paragraph text escape space strong codespan link image list list_item table code html'.split(' '),
)
const PICTURE = /^images\/[\w-]+\.(?:png|svg)$/

function requireAllowed(token: Token): void {
  const isAllowed = ALLOWED.has(token.type) && (token.type !== 'image' || PICTURE.test(token.href))
  if (!isAllowed) throw new Error(`${token.type} is not supported in the manual: ${token.raw}`)
}

/** A URL in plain text, such as an example, is not a link. */
const NO_BARE_LINKS: MarkedExtension = { tokenizer: { url: () => undefined } }

/** Heading → its anchor, as GitHub generates it; the second one with the same text gets `-1`. */
export function createAnchors(): (heading: string) => string {
  const counts = new Map<string, number>()
  return (heading) => {
    const name = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(/\s/g, '-')
    const count = counts.get(name) ?? 0
    counts.set(name, count + 1)
    return count === 0 ? name : `${name}-${count}`
  }
}

/** `tls.md#renewal` → `tls#renewal`; null for a source file, which a server does not have. */
function pathOf(href: string): string | null {
  if (/^(?:https?:|#)/.test(href)) return href
  const [, topic, anchor = ''] = /^([\w-]+)\.md(#.*)?$/.exec(href) ?? []
  return topic === undefined ? null : `${topic}${anchor}`
}

function htmlOf(tokens: Token[]): string {
  const anchorOf = createAnchors()
  const marked = new Marked({
    renderer: {
      html: ({ text }: Tokens.HTML | Tokens.Tag) => withoutComment(text),
      heading(token) {
        const inner = this.parser.parseInline(token.tokens)
        if (token.depth === 1) return `<h1>${inner}</h1>\n`
        const anchor = anchorOf(plainOf(token))
        const link = `<a class="anchor" href="#${anchor}" aria-label="Link to “${escapeHtml(plainOf(token))}”">#</a>`
        return `<h${token.depth} id="${anchor}">${inner} ${link}</h${token.depth}>\n`
      },
      link({ href, tokens: inner }) {
        const path = pathOf(href)
        const words = this.parser.parseInline(inner)
        return path === null ? words : `<a href="${escapeHtml(path)}">${words}</a>`
      },
      image: ({ href, text }) => `<img src="${escapeHtml(href)}" alt="${escapeHtml(text)}">`,
      code: (token) => codeHtml(token),
      table(token) {
        const cells = (row: Tokens.TableCell[], tag: string) =>
          row.map(({ tokens: inner }) => `<${tag}>${this.parser.parseInline(inner)}</${tag}>`).join('')
        const head = `<thead><tr>${cells(token.header, 'th scope="col"').replaceAll('</th scope="col">', '</th>')}</tr></thead>`
        const rows = token.rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n')
        const name = plainInline(token.header[0]?.tokens ?? [])
        if (token.header.some(({ text }) => text === '')) throw new Error(`a column without a name: ${token.raw}`)
        return `<div class="scroll" role="group" aria-label="Table: ${escapeHtml(name)}" tabindex="0"><table>${head}<tbody>${rows}</tbody></table></div>\n`
      },
    },
  })
  return marked.parser(tokens)
}

/** Comments control the tests and are not displayed; other raw HTML is not supported. */
function withoutComment(text: string): string {
  const trimmed = text.trim()
  if (!trimmed.startsWith('<!--') || !trimmed.endsWith('-->')) throw new Error(`raw HTML in the manual: ${text}`)
  return ''
}

function markdownOf(tokens: Token[]): string {
  const blocks = tokens.map((token) => {
    if (token.type === 'html') return withoutComment(token.raw)
    return token.type === 'code' ? token.raw : token.raw.replaceAll(LINK, withoutSourceFile)
  })
  return `${blocks
    .join('')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim()}\n`
}

const LINK = /(?<!!)\[([^\][]*)\]\(([^()\s]*)\)/g

const withoutSourceFile = (link: string, words: string, href: string) => (pathOf(href) === null ? words : link)

const TEXT_WIDTH = 78
const INDENT = '  '

/** Tokens → lines for a terminal. */
function textOf(tokens: Token[]): string {
  return tokens
    .map((token) => blockText(token, INDENT))
    .filter((block) => block !== '')
    .join('\n\n')
}

function blockText(token: Token, indent: string): string {
  switch (token.type) {
    case 'heading':
      return plainOf(token)
    case 'paragraph':
    case 'text':
      return wrapped(plainOf(token, withTopic), indent)
    case 'code':
      return lines(token.text, `${indent}  `)
    case 'table':
      return tableText(token as Tokens.Table, indent)
    case 'list':
      return (token as Tokens.List).items.map((item, at) => itemText(item, token as Tokens.List, at, indent)).join('\n')
    default:
      return '' // space, comments
  }
}

function itemText(item: Tokens.ListItem, list: Tokens.List, at: number, indent: string): string {
  const mark = list.ordered ? `${Number(list.start) + at}. ` : '- '
  const inner = `${indent}${' '.repeat(mark.length)}`
  const blocks = item.tokens.map((token) => blockText(token, inner)).filter((block) => block !== '')
  return `${indent}${mark}${blocks.join('\n').slice(inner.length)}`
}

/** A row becomes its first cell with the other cells below, because most tables are wider than a terminal. */
function tableText({ header, rows }: Tokens.Table, indent: string): string {
  const heads = header.map(({ tokens }) => plainInline(tokens))
  return rows
    .map((row) => {
      const [name = '', ...others] = row.map(({ tokens }) => plainInline(tokens, withTopic))
      const rest = others.flatMap((cell, at) => {
        if (cell === '') return []
        const label = others.length > 1 ? `${heads[at + 1]}: ` : ''
        return [wrapped(`${label}${cell}`, `${indent}    `)]
      })
      return [wrapped(name, indent), ...rest].join('\n')
    })
    .join('\n')
}

function wrapped(text: string, indent: string): string {
  const rows: string[] = []
  for (const word of text.split(/\s+/).filter((each) => each !== '')) {
    const last = rows.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= TEXT_WIDTH) rows[rows.length - 1] = `${last} ${word}`
    else rows.push(`${indent}${word}`)
  }
  return rows.join('\n')
}

const lines = (text: string, indent: string) => text.replaceAll(/^(?=.)/gm, indent)

/** Plain text of a link. */
type LinkWords = (words: string, href: string) => string
const onlyWords: LinkWords = (words) => words
/** The link text with its topic, for `postrider manual`. */
const withTopic: LinkWords = (words, href) => {
  const topic = pathOf(href)?.replace(/#.*/, '') ?? ''
  return topic === '' || /^https?:/.test(topic) ? words : `${words} [${topic}]`
}

/** Block token → its plain text. */
export function plainOf(token: Token, link: LinkWords = onlyWords): string {
  switch (token.type) {
    case 'heading':
    case 'paragraph':
      return plainInline(token.tokens ?? [], link)
    case 'table': {
      const { header, rows } = token as Tokens.Table
      return [header, ...rows]
        .flat()
        .map(({ tokens }) => plainInline(tokens, link))
        .join(' ')
    }
    case 'list':
      return (token as Tokens.List).items
        .map(({ tokens }) => tokens.map((each) => plainOf(each, link)).join(' '))
        .join(' ')
    case 'text':
      return 'tokens' in token && token.tokens ? plainInline(token.tokens, link) : unescaped(token.text)
    case 'code':
      return token.text
    default:
      return ''
  }
}

function plainInline(tokens: readonly Token[], link: LinkWords = onlyWords): string {
  return tokens
    .map((token) => {
      if (token.type === 'link') return link(plainInline(token.tokens ?? [], link), token.href)
      if (token.type === 'image') return ''
      if ('tokens' in token && token.tokens) return plainInline(token.tokens, link)
      return 'text' in token ? unescaped(token.text) : ''
    })
    .join('')
}

const ENTITIES: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&amp;': '&' }
const unescaped = (text: string) => text.replaceAll(/&(?:lt|gt|quot|#39|amp);/g, (each) => ENTITIES[each] ?? each)
