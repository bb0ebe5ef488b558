import { signal } from '@preact/signals'
import { type Entry, entry, keepScroll, restoreScroll, startScroll } from './scroll.ts'

/** The current address: `/dashboard/messages/msg_…?status=bounced` is path `/messages/msg_…` and query
 *  `{status: 'bounced'}`. Plain links (`<a href={href('/messages')}>`) change it without loading a page. */

const BASE = '/dashboard'

/** An address of the dashboard. */
export interface Place {
  path: string
  query: Record<string, string>
}

/** The current address. Change it with `go` or `setQuery`. */
export const place = signal<Place>(placeOf(window.location))

/** Path below the dashboard and query → URL for a link. Omits empty values. */
export function href(path: string, query: Record<string, string | undefined> = {}): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]))
  const text = new URLSearchParams(given).toString()
  return `${BASE}${path === '/' ? '/' : path}${text === '' ? '' : `?${text}`}`
}

let guard: (() => Promise<boolean>) | null = null

/** Calls `ask` before the user leaves the page, until the caller calls the returned function. For unsaved
 *  changes (unsaved.ts). */
export function guardLeaving(ask: () => Promise<boolean>): () => void {
  guard = ask
  return () => {
    if (guard === ask) guard = null
  }
}

/** Whether the page may be left. Asks the user if there is a guard, and removes the guard if the answer is yes. */
export async function mayLeave(): Promise<boolean> {
  if (guard !== null && !(await guard())) return false
  guard = null
  return true
}

/** Opens a path of the dashboard, after asking the guard if the path changes. `replace` adds no history entry, and the
 *  present address never adds a second one; `isSure` skips the guard. `newer`: see turnPage. */
export function go(
  path: string,
  query?: Record<string, string | undefined>,
  { replace = false, isSure = false, newer }: { replace?: boolean; isSure?: boolean; newer?: Entry['newer'] } = {},
): void {
  const to = href(path, query)
  const { pathname, search } = window.location
  const isElsewhere = path !== place.value.path
  if (isElsewhere && guard !== null && !isSure) {
    void mayLeave().then((may) => may && go(path, query, { replace }))
    return
  }
  if (isElsewhere) noteLeaving(entry().newer)
  keepScroll()
  const now: Entry = { scroll: isElsewhere ? 0 : window.scrollY, newer }
  const isSame = to === `${pathname}${search}`
  window.history[replace || isSame ? 'replaceState' : 'pushState'](now, '', to)
  place.value = placeOf(window.location)
  if (isElsewhere) restoreScroll(0)
}

/** The page before this one, and how the user left each page. */
const left: { path: string; pages: Record<string, Entry & { query: Record<string, string> }> } = { path: '', pages: {} }

function noteLeaving(newer: Entry['newer']): void {
  const { path, query } = place.value
  left.path = path
  left.pages[path] = { query, scroll: window.scrollY, newer }
}

/** Opens a list as it was when the user left it: filters, page and scroll position. */
export function goBackTo(path: string): void {
  const before = left.pages[path]
  go(path, before?.query, { newer: before?.newer })
  if (before !== undefined && place.value.path === path) restoreScroll(before.scroll)
}

/** URL of the page before this one: the list marks its row. '' after a reload. */
export const cameFrom = () => (left.path === '' ? '' : href(left.path))

let listed: readonly string[] = []

/** Notes the links of the rows of the list that is shown, for goToNeighbour. */
export function noteRows(links: readonly string[]): void {
  listed = links
}

/** Opens the record after (1) or before (-1) the open one in the list that it came from, in its history entry: Back still
 *  returns to the list. Does nothing at the end of the list and outside of it. */
export function goToNeighbour(step: 1 | -1): void {
  const at = listed.indexOf(href(place.value.path))
  const next = at < 0 ? undefined : listed[at + step]
  if (next !== undefined) go(placeOf(new URL(next, window.location.origin)).path, {}, { replace: true })
}

/** Whether the page of now is still open, for what follows an answer: `const isStillHere = notePage()`, then a request, then
 *  `if (isStillHere()) go(…)`. */
export function notePage(): () => boolean {
  const { path } = place.peek()
  return () => place.peek().path === path
}

/** Changes part of the query, for filters, tabs and ranges: Back returns to the ones before. A list begins again with its
 *  first page. */
export function setQuery(change: Record<string, string | undefined>): void {
  go(place.value.path, { ...place.value.query, page: '', ...change })
}

/** Like setQuery, for text that is being typed: only the first letters of a search add a history entry. */
export function setSearch(change: Record<string, string>): void {
  const isContinued = Object.entries(change).some(([name, text]) => text !== '' && place.value.query[name])
  if (isContinued) amendQuery({ page: '', ...change })
  else setQuery(change)
}

/** Changes part of the query within the history entry, for what Back should not undo: open dialogs, selected rows. */
export function amendQuery(change: Record<string, string | undefined>): void {
  go(place.value.path, { ...place.value.query, ...change }, { replace: true, newer: entry().newer })
}

/** Opens another page of a list, whose cursor is the query parameter `name`. `newer` are the cursors of its newer pages. */
export function turnPage(name: string, cursor: string, newer: readonly string[]): void {
  const { path, query } = place.value
  go(path, { ...query, [name]: cursor }, { newer: { ...entry().newer, [name]: [...newer] } })
  window.scrollTo(0, 0)
}

/** Cursors of the pages before the present one, newest first; [] on the first page, and after a shared link. */
export const newerPages = (name: string): readonly string[] => entry().newer?.[name] ?? []

/** Matches a path against a pattern such as `/messages/:id` → `{id}`, or null. Pages put the id into API paths,
 *  so it may contain only letters, digits, `_` and `-`: a crafted link such as `..%2fapi-keys` must not reach
 *  another endpoint. */
export function match(pattern: string, path: string): Record<string, string> | null {
  const [wanted, given] = [pattern.split('/'), path.split('/')]
  if (wanted.length !== given.length) return null
  const params: Record<string, string> = {}
  for (const [at, part] of wanted.entries()) {
    const value = given[at] ?? ''
    if (!part.startsWith(':')) {
      if (part !== value) return null
    } else if (!/^[\w-]+$/.test(value)) return null
    else params[part.slice(1)] = value
  }
  return params
}

/** Starts handling clicks on links and the browser's back and forward buttons, and restores the scroll position after a
 *  reload. Call it once, at start. */
export function startRouter(): void {
  startScroll()
  window.addEventListener('popstate', () => {
    const to = placeOf(window.location)
    if (guard === null || to.path === place.value.path) {
      if (to.path !== place.value.path) noteLeaving(undefined)
      place.value = to
      restoreScroll(entry().scroll)
      return
    }
    const { path, query } = place.value
    window.history.pushState({ scroll: window.scrollY }, '', href(path, query))
    go(to.path, to.query)
  })
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0) return
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>('a[href]') : null
    if (link === null || link.target !== '' || link.hasAttribute('download')) return
    if (link.origin !== window.location.origin || !`${link.pathname}/`.startsWith(`${BASE}/`)) return
    if (link.hash !== '') return
    event.preventDefault()
    const { path, query } = placeOf(link)
    go(path, query)
  })
}

function placeOf({ pathname, search }: { pathname: string; search: string }): Place {
  let end = pathname.length
  while (end > BASE.length && pathname[end - 1] === '/') end--
  const path = pathname.slice(BASE.length, end) || '/'
  return { path, query: Object.fromEntries(new URLSearchParams(search)) }
}
