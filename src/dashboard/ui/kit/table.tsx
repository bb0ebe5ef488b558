import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import type { Loaded, Pages } from './load.ts'
import { ErrorNotice } from './pieces.tsx'
import { go } from './router.ts'

/** A column of a Table. */
export interface Column<T> {
  /** Heading, and label of the value in a card. '' for a column of buttons. */
  name: string
  show: (row: T) => ComponentChildren
  /** Sort key. The table sorts only the rows of the current page. */
  by?: (row: T) => string | number
  isNumber?: boolean
  /** Does not wrap. */
  isShort?: boolean
  /** In a card: has the full width and no label. */
  isWhole?: boolean
}

/** Rows with headings, shown as cards on narrow screens. `link` is the page that a click on a row or Enter opens; `j`
 *  and `k` move between rows (keys.tsx). Put a link into the first column too, for keyboard users who press Tab.
 *
 *  `loaded` contains rows, loading state and errors. `whenEmpty` replaces an empty table. Put `<Pager pages={pages} />`
 *  below it. */
export function Table<T>({
  name,
  columns,
  loaded,
  keyOf,
  link,
  whenEmpty,
}: {
  name: string
  columns: readonly Column<T>[]
  loaded: Loaded<T[]>
  keyOf: (row: T) => string
  link?: (row: T) => string
  whenEmpty: ComponentChildren
}) {
  const [sorted, setSorted] = useState<{ at: number; isUp: boolean } | null>(null)
  const body = useRef<HTMLTableSectionElement>(null)
  const { data, error, isLoading, reload } = loaded
  const rows = sorted === null ? data : sort(data, columns[sorted.at]?.by, sorted.isUp)
  const open = (row: T, event: MouseEvent | KeyboardEvent) => {
    if (link === undefined) return
    if (event.target instanceof Element && event.target.closest('a, button, input, select, summary')) return
    if (window.getSelection()?.toString()) return // text of the row is selected
    go(...placeOf(link(row)))
  }
  return (
    <div class="stack tight">
      <ErrorNotice error={error} onRetry={reload} />
      <div class="table" aria-busy={isLoading}>
        {rows?.length === 0 ? (
          whenEmpty
        ) : (
          <table class={`cards ${link ? 'linked' : ''}`}>
            <caption class="hidden">{name}</caption>
            <thead>
              <tr>
                {columns.map(({ name, by, isNumber }, at) => (
                  <th
                    key={name}
                    scope="col"
                    class={isNumber ? 'num' : undefined}
                    aria-sort={sorted?.at === at ? (sorted.isUp ? 'ascending' : 'descending') : undefined}
                  >
                    {by === undefined ? (
                      name || <span class="hidden">Actions</span>
                    ) : (
                      <button
                        type="button"
                        onClick={() => setSorted({ at, isUp: !(sorted?.at === at && sorted.isUp) })}
                      >
                        {name}
                        {sorted?.at === at ? (sorted.isUp ? ' ↑' : ' ↓') : ''}
                      </button>
                    )}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody ref={body}>
              {rows === undefined && error === undefined && (
                <tr>
                  <td colSpan={columns.length} class="muted wholly">
                    Loading…
                  </td>
                </tr>
              )}
              {rows?.map((row) => (
                <tr
                  key={keyOf(row)}
                  data-row
                  tabIndex={link ? -1 : undefined}
                  onClick={(event) => open(row, event)}
                  onKeyDown={(event) => event.key === 'Enter' && open(row, event)}
                >
                  {columns.map(({ name, show, isNumber, isShort, isWhole }) => (
                    <td
                      key={name}
                      data-label={name}
                      class={[isNumber && 'num', isShort && 'short', isWhole && 'wholly'].filter(Boolean).join(' ')}
                    >
                      <div>{show(row)}</div>
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </div>
    </div>
  )
}

/** Buttons for newer and older rows; nothing if all rows fit on one page. */
export function Pager<T>({ pages }: { pages: Pages<T> }) {
  const { hasNewer, hasOlder, newer, older } = pages
  if (!hasNewer && !hasOlder) return null
  return (
    <nav class="pager" aria-label="Pagination">
      <button type="button" disabled={!hasNewer} onClick={newer}>
        ← Newer
      </button>
      <button type="button" disabled={!hasOlder} onClick={older}>
        Older →
      </button>
    </nav>
  )
}

/** Link of the dashboard → path and query for `go`. */
function placeOf(link: string): [string, Record<string, string>] {
  const url = new URL(link, window.location.origin)
  return [url.pathname.replace(/^\/dashboard/, '') || '/', Object.fromEntries(url.searchParams)]
}

function sort<T>(rows: T[] | undefined, by: Column<T>['by'], isUp: boolean): T[] | undefined {
  if (rows === undefined || by === undefined) return rows
  const direction = isUp ? 1 : -1
  return rows.toSorted((a, b) => {
    const [left, right] = [by(a), by(b)]
    return left === right ? 0 : (left < right ? -1 : 1) * direction
  })
}
