import { get, type Json, type Paged } from './api.ts'
import { ago } from './format.ts'
import { go } from './router.ts'
import { mode } from './state.ts'

/** A row of the palette. */
export interface Entry {
  key: string
  group: string
  icon: string
  text: string
  /** Other words that find it. */
  words?: string
  detail?: string
  run: () => void
}

/** True if the text contains every word of the query, in any order. */
export const fits = (text: string, wanted: string): boolean => {
  const lower = text.toLowerCase()
  return wanted
    .toLowerCase()
    .split(/\s+/)
    .every((word) => lower.includes(word))
}

/** Pages of records by the prefix of their id. */
const RECORDS: Record<string, [name: string, path: string, icon: string]> = {
  msg: ['Open message', '/messages/', 'send'],
  dom: ['Open domain', '/domains/', 'globe'],
  whk: ['Open webhook', '/webhooks/', 'webhook'],
  tpl: ['Open template', '/templates/', 'file-text'],
  inb: ['Open inbound message', '/inbound/', 'inbox'],
}

export function byId(text: string): Entry[] {
  const [, prefix = ''] = /^([a-z]{3})_[0-9a-z]+$/.exec(text) ?? []
  const record = RECORDS[prefix]
  if (record === undefined) return []
  const [name, path, icon] = record
  return [{ key: text, group: 'ID', icon, text: name, detail: text, run: () => go(`${path}${text}`) }]
}

/** At most five records of each kind, then pages of the manual. A kind that fails is left out. */
export async function search(text: string, signal: AbortSignal): Promise<Entry[]> {
  const list = (path: string, query: Record<string, string>): Promise<Json[]> =>
    get<Paged>(path, query, signal).then(
      ({ data }) => data,
      () => [],
    )
  const [messages, domains, templates, suppressions, pages] = await Promise.all([
    list('/v1/messages', { q: text, mode: mode.peek(), limit: '5' }),
    list('/v1/domains', { limit: '100' }),
    list('/v1/templates', { limit: '100' }),
    list('/v1/suppressions', { q: text, limit: '5' }),
    inManual(text, signal).catch(() => []),
  ])
  const named = (all: Json[], group: string, icon: string, path: string): Entry[] =>
    all
      .filter(({ name }) => fits(name, text))
      .slice(0, 5)
      .map(({ id, name }) => ({ key: id, group, icon, text: name, run: () => go(`${path}${id}`) }))
  return [
    ...named(domains, 'Domain', 'globe', '/domains/'),
    ...named(templates, 'Template', 'file-text', '/templates/'),
    // The bounced message says why; the suppression only follows from it.
    ...messages.map(({ id, subject, recipients, status, created_at }) => ({
      key: id,
      group: 'Message',
      icon: 'send',
      text: subject || '(no subject)',
      // Mail of one kind has one subject. On a phone, the end of the line is cut.
      detail: [status, ago(created_at), recipients[0]?.email].filter(Boolean).join(' · '),
      run: () => go(`/messages/${id}`),
    })),
    ...suppressions.map(({ id, email }) => ({
      key: id,
      group: 'Suppression',
      icon: 'ban',
      text: email,
      run: () => go('/suppressions', { email }),
    })),
    ...pages,
  ]
}

/** An entry of the manual's search index. */
type Section = readonly [path: string, page: string, heading: string, words: string, ...rest: unknown[]]
const MOST_SECTIONS = 3
let sections: Promise<readonly Section[]> | undefined

/** Sections of the manual that match, first those whose headings do. The index is loaded at the first search; the first
 *  page names it. */
async function inManual(text: string, signal: AbortSignal): Promise<Entry[]> {
  sections ??= loadSections()
  sections.catch(() => {
    sections = undefined
  })
  const all = await sections
  if (signal.aborted) return []
  const inHeading = all.filter(([, page, heading]) => fits(`${page} ${heading}`, text))
  const inWords = all.filter((section) => !inHeading.includes(section) && fits(section[3], text))
  return [...inHeading, ...inWords].slice(0, MOST_SECTIONS).map(([path, page, heading]) => ({
    key: `manual ${path}`,
    group: 'Manual',
    icon: 'book-open',
    text: heading || page,
    detail: heading === page || heading === '' ? 'Manual' : `Manual, ${page}`,
    run: () => window.open(new URL(path, `${window.location.origin}/manual/`), '_blank', 'noopener'),
  }))
}

async function loadSections(): Promise<readonly Section[]> {
  const address = new URL('/manual/', window.location.origin)
  const page = await (await fetch(address)).text()
  const index = new DOMParser().parseFromString(page, 'text/html').querySelector('search')?.getAttribute('data-index')
  if (!index) return []
  return (await fetch(new URL(index, address))).json()
}
