import { signal } from '@preact/signals'

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

/** Opens a path of the dashboard, after asking the guard if the path changes. `replace` adds no history entry; `isSure`
 *  skips the guard. */
export function go(
  path: string,
  query?: Record<string, string | undefined>,
  { replace = false, isSure = false } = {},
): void {
  const to = href(path, query)
  const before = place.value
  const isElsewhere = path !== before.path
  if (isElsewhere && guard !== null && !isSure) {
    void mayLeave().then((may) => may && go(path, query, { replace }))
    return
  }
  if (isElsewhere) left = { path: before.path, queries: { ...left.queries, [before.path]: before.query } }
  window.history[replace ? 'replaceState' : 'pushState'](null, '', to)
  place.value = placeOf(window.location)
  if (isElsewhere) window.scrollTo(0, 0)
}

/** The page before this one, and the last query of each page. */
let left: { path: string; queries: Record<string, Record<string, string>> } = { path: '', queries: {} }

/** Opens a list with the filters that it had when the user left it. */
export function goBackTo(path: string): void {
  go(path, left.queries[path])
}

/** URL of the page before this one: the list marks its row. '' after a reload. */
export const cameFrom = () => (left.path === '' ? '' : href(left.path))

/** Changes part of the query without a history entry, for filters, tabs and ranges. */
export function setQuery(change: Record<string, string | undefined>): void {
  go(place.value.path, { ...place.value.query, ...change }, { replace: true })
}

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

/** Starts handling clicks on links and the browser's back and forward buttons. Call it once, at start. */
export function startRouter(): void {
  window.addEventListener('popstate', () => {
    const to = placeOf(window.location)
    if (guard === null || to.path === place.value.path) {
      place.value = to
      return
    }
    const { path, query } = place.value
    window.history.pushState(null, '', href(path, query))
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
