import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Icon } from './icon.tsx'
import type { Loaded, Pages } from './load.ts'
import { Empty, ErrorNotice, useOneAtATime } from './pieces.tsx'
import { cameFrom, go, noteRows } from './router.ts'

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
  /** CSS width. If a column has one, the widths are fixed, and text that does not fit ends with an ellipsis. */
  width?: string
  /** Hidden below 1000 px, where the other columns need the width. */
  isExtra?: boolean
  /** Corner of the two-line row on narrow screens. If a column has one, the other columns are shown there in the opened row,
   *  which a button beside `end` or a tap opens; rows with a link open their page instead. */
  phone?: 'top-left' | 'end' | 'sub' | 'last'
}

/** Actions on the selected rows of a Table. */
export interface Bulk<T> {
  /** Name of a row, for the label of its checkbox. */
  nameOf: (row: T) => string
  actions: readonly BulkAction<T>[]
}

interface BulkAction<T> {
  name: string
  isDangerous?: boolean
  /** The rows that it applies to, by default all. It is offered if there is one, and gets only those. */
  isFor?: (row: T) => boolean
  /** Resolves with false if the user decided against it. */
  run: (rows: T[]) => Promise<unknown>
}

/** Few, since a list that is shorter than its skeleton moves what is below it. */
const SKELETON_ROWS = 3

/** Rows with headings; two-line rows or cards on narrow screens. `link` is the page that a click on a row or Enter
 *  opens; `j` and `k` move between rows (keys.tsx). Put a link into the first column too, for keyboard users who press
 *  Tab. After Escape from a record its row has the focus.
 *
 *  `loaded` contains rows, loading state and errors. `whenEmpty` replaces an empty table, unless older rows were not
 *  searched yet. `bulk` adds checkboxes. Put `<Pager pages={pages} />` below it. */
export function Table<T>(props: {
  name: string
  columns: readonly Column<T>[]
  loaded: Loaded<T[]> & Partial<Pick<Pages<T>, 'isCut' | 'older'>>
  keyOf: (row: T) => string
  link?: (row: T) => string
  bulk?: Bulk<T>
  whenEmpty: ComponentChildren
}) {
  const { name, columns, loaded, keyOf, link, bulk, whenEmpty } = props
  const [sorted, setSorted] = useState<Sorted | null>(null)
  const [chosen, setChosen] = useState<readonly string[]>([])
  const [opened, setOpened] = useState<string | null>(null)
  const lastChosen = useRef<string | null>(null)
  const body = useRef<HTMLTableSectionElement>(null)
  const { data, error, isLoading, reload } = loaded
  const rows = sorted === null ? data : sort(data, columns[sorted.at]?.by, sorted.isUp)
  const picked = (data ?? []).filter((row) => chosen.includes(keyOf(row)))
  useEffect(() => {
    if (!document.activeElement?.matches('body, main')) return // the user did not wait for the rows
    const from = cameFrom()
    const at = link === undefined || from === '' ? -1 : (data?.findIndex((row) => link(row) === from) ?? -1)
    const row = body.current?.rows[at]
    row?.querySelector<HTMLElement>('td a')?.focus({ preventScroll: true })
    row?.scrollIntoView({ block: 'nearest' })
  }, [data === undefined])
  useEffect(() => {
    if (link !== undefined && data !== undefined) noteRows(data.map(link))
  }, [data])
  /** Selects or deselects a row; with Shift, also those between it and the last one. */
  const choose = (key: string, isRange: boolean) => {
    const keys = (rows ?? []).map(keyOf)
    const [from, to] = [keys.indexOf(lastChosen.current ?? ''), keys.indexOf(key)].sort((a, b) => a - b)
    const range = isRange && from !== undefined && from >= 0 ? keys.slice(from, (to ?? from) + 1) : [key]
    const others = chosen.filter((each) => !range.includes(each))
    setChosen(chosen.includes(key) ? others : [...others, ...range])
    lastChosen.current = key
  }
  const toggle = (row: T) => setOpened(opened === keyOf(row) ? null : keyOf(row))
  const open = (row: T, event: MouseEvent | KeyboardEvent) => {
    if (event.target instanceof Element && event.target.closest('a, button, input, select, summary, [popover]')) return
    if (window.getSelection()?.toString()) return // text of the row is selected
    if (link === undefined) toggle(row)
    else go(...placeOf(link(row)))
  }
  const isFixed = columns.some(({ width }) => width !== undefined)
  const hasMore = link === undefined && columns.some(({ phone }) => phone === undefined)
  const form = columns.some(({ phone }) => phone !== undefined) ? 'lines' : 'cards'
  return (
    <div class="stack tight">
      <ErrorNotice error={error} onRetry={reload} />
      <div class="table" aria-busy={isLoading}>
        {rows?.length === 0 ? (
          loaded.isCut ? (
            <Empty name="Nothing found among the newest">
              <p>Older ones are not searched yet.</p>
              <button type="button" class="primary" onClick={loaded.older}>
                Search older
              </button>
            </Empty>
          ) : (
            whenEmpty
          )
        ) : (
          <table class={`${form} ${link ? 'linked' : ''} ${isFixed ? 'fixed' : ''}`}>
            <caption class="hidden">{name}</caption>
            {isFixed && (
              <colgroup>
                {bulk && <col style={{ width: '40px' }} />}
                {columns.map(({ name, width, isExtra }) => (
                  <col key={name} class={isExtra ? 'extra' : undefined} style={width === undefined ? {} : { width }} />
                ))}
              </colgroup>
            )}
            <thead>
              <tr>
                {bulk && (
                  <th scope="col">
                    <input
                      type="checkbox"
                      aria-label="Select all rows"
                      checked={picked.length > 0 && picked.length === data?.length}
                      onChange={(event) => setChosen(event.currentTarget.checked ? (data ?? []).map(keyOf) : [])}
                    />
                  </th>
                )}
                {columns.map((column, at) => (
                  <HeadCell key={column.name} column={column} at={at} sorted={sorted} onSort={setSorted} />
                ))}
              </tr>
            </thead>
            <tbody ref={body} class={loaded.isOld ? 'old' : ''} onPointerOver={titleIfCut}>
              {rows === undefined && error === undefined && (
                <Skeleton columns={columns.length + (bulk ? 1 : 0)} label={`Loading ${name.toLowerCase()}`} />
              )}
              {rows?.map((row) => (
                <tr
                  key={keyOf(row)}
                  data-row
                  class={classOfRow(chosen.includes(keyOf(row)), opened === keyOf(row))}
                  tabIndex={link ? -1 : undefined}
                  onClick={(event) => open(row, event)}
                  onKeyDown={(event) => event.key === 'Enter' && open(row, event)}
                >
                  {bulk && (
                    <td class="select">
                      <input
                        type="checkbox"
                        aria-label={`Select ${bulk.nameOf(row)}`}
                        data-select
                        checked={chosen.includes(keyOf(row))}
                        onClick={(event) => choose(keyOf(row), event.shiftKey)}
                      />
                    </td>
                  )}
                  {columns.map((column) => (
                    <td key={column.name} data-label={column.name} class={classOf(column)}>
                      <div>
                        {column.phone === 'end' && hasMore && (
                          <MoreButton isOpen={opened === keyOf(row)} onPress={() => toggle(row)} />
                        )}
                        {column.show(row)}
                      </div>
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </div>
      {bulk && picked.length > 0 && <BulkBar bulk={bulk} rows={picked} onDone={() => setChosen([])} />}
    </div>
  )
}

interface Sorted {
  at: number
  isUp: boolean
}

function HeadCell<T>({
  column: { name, by, isNumber, isExtra },
  at,
  sorted,
  onSort,
}: {
  column: Column<T>
  at: number
  sorted: Sorted | null
  onSort: (sorted: Sorted) => void
}) {
  const isUp = sorted?.at === at ? sorted.isUp : null
  return (
    <th
      scope="col"
      class={[isNumber && 'num', isExtra && 'extra'].filter(Boolean).join(' ') || undefined}
      aria-sort={isUp === null ? undefined : isUp ? 'ascending' : 'descending'}
    >
      {by === undefined ? (
        name || <span class="hidden">Actions</span>
      ) : (
        <button type="button" onClick={() => onSort({ at, isUp: isUp !== true })}>
          {name}
          {isUp === null ? '' : isUp ? ' ↑' : ' ↓'}
        </button>
      )}
    </th>
  )
}

/** Rows of the height that the loaded rows have, so that the page does not jump. */
function Skeleton({ columns, label }: { columns: number; label: string }) {
  return Array.from({ length: SKELETON_ROWS }, (_, row) => (
    <tr key={row} class="skeleton" aria-hidden={row > 0}>
      <td colSpan={columns}>
        <span class="bone" />
        {row === 0 && <span class="hidden">{label}</span>}
      </td>
    </tr>
  ))
}

/** At the bottom of the window, where it is in sight wherever the selected rows are. */
function BulkBar<T>({ bulk, rows, onDone }: { bulk: Bulk<T>; rows: T[]; onDone: () => void }) {
  /** An action may resend many messages, and takes a request for each. */
  const act = useOneAtATime(async (work: () => Promise<unknown>) => {
    if ((await work()) !== false) onDone()
  })
  return (
    <div class="bulk row" role="toolbar" aria-label="Selected rows">
      <span class="num" role="status">
        {rows.length} selected
      </span>
      {bulk.actions.map(({ name, isDangerous, isFor = () => true, run }) => {
        const own = rows.filter(isFor)
        return (
          own.length > 0 && (
            <button
              key={name}
              type="button"
              class={`tiny ${isDangerous ? 'danger' : ''}`}
              onClick={() => act(() => run(own))}
            >
              {name}
            </button>
          )
        )
      })}
      <button type="button" class="tiny plain" aria-label="Clear selection" onClick={onDone}>
        <Icon name="x" />
      </button>
    </div>
  )
}

/** Shows the columns that a narrow screen has no room for. */
function MoreButton({ isOpen, onPress }: { isOpen: boolean; onPress: () => void }) {
  return (
    <button
      type="button"
      class="plain icon-only more-button"
      aria-label="Details"
      aria-expanded={isOpen}
      onClick={onPress}
    >
      <Icon name="chevron-down" />
    </button>
  )
}

const classOfRow = (isChosen: boolean, isOpen: boolean) =>
  [isChosen && 'chosen', isOpen && 'open'].filter(Boolean).join(' ') || undefined

function classOf({ isNumber, isShort, isWhole, isExtra, phone }: Column<never>): string {
  return [isNumber && 'num', isShort && 'short', isWhole && 'wholly', isExtra && 'extra', phone]
    .filter(Boolean)
    .join(' ')
}

/** Text that is cut off gets a title with the whole of it. */
function titleIfCut(event: Event): void {
  const cell = event.target instanceof Element ? event.target.closest<HTMLElement>('td > div') : null
  if (cell === null || cell.title !== '' || cell.scrollWidth <= cell.clientWidth) return
  cell.title = cell.textContent?.trim() ?? ''
}

/** A small table inside a card, which is neither sorted nor linked; cards on narrow screens. */
export function PlainTable<T>({
  name,
  columns,
  rows,
  keyOf,
}: {
  name: string
  columns: readonly Pick<Column<T>, 'name' | 'show' | 'isNumber'>[]
  rows: readonly T[]
  keyOf: (row: T) => string
}) {
  return (
    <table class="plain cards">
      <caption class="hidden">{name}</caption>
      <thead>
        <tr>
          {columns.map(({ name, isNumber }) => (
            <th key={name} scope="col" class={isNumber ? 'num' : undefined}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)}>
            {columns.map(({ name, show, isNumber }) => (
              <td key={name} data-label={name} class={isNumber ? 'num' : undefined}>
                <div class="break">{show(row)}</div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** Buttons for newer and older rows; nothing if all rows fit on one page. */
export function Pager<T>({ pages }: { pages: Pages<T> }) {
  const { hasNewer, hasOlder, isCut, newer, older } = pages
  if (!hasNewer && (!hasOlder || (isCut && pages.data?.length === 0))) return null
  return (
    <nav class="pager" aria-label="Pagination">
      <button type="button" disabled={!hasNewer} onClick={newer}>
        ← Newer
      </button>
      <button type="button" disabled={!hasOlder} onClick={older}>
        {isCut ? 'Search older' : 'Older'} →
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
