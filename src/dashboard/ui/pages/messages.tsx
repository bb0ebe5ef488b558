import { useEffect, useRef, useState } from 'preact/hooks'
import { get, type Json, type Paged, save } from '../kit/api.ts'
import { authorOf, when } from '../kit/format.ts'
import { useEvents } from '../kit/live.ts'
import { usePages } from '../kit/load.ts'
import { Choice, Empty, Filters, Head } from '../kit/pieces.tsx'
import { ask, href, place } from '../kit/router.ts'
import { mode } from '../kit/state.ts'
import { Chip } from '../kit/status.tsx'
import { type Column, Pager, Table } from '../kit/table.tsx'
import { toast, toastError } from '../kit/toast.tsx'
import { NewMessage } from './new-message.tsx'

/** What was sent: found by words, status, addresses, tag and time; as it happens; and to be taken away as CSV or JSON. What
 *  is filtered stands in the address, to be sent to somebody else. */
export default function Messages() {
  const { q, status, to, from, tag, since, compose } = place.value.query
  const query = { q, status, to, from, tag, created_after: sinceOf(since), mode: mode.value, limit: '50' }
  const pages = usePages('/v1/messages', query, { everyMs: 5_000 })
  const isLive = useSoon(pages.reload, mode.value)
  const isFiltered = [q, status, to, from, tag, since].some(Boolean)
  return (
    <>
      <Head name="Messages" about={mode.value === 'live' ? 'Live mail' : 'Sandbox mail: nothing of it left the house.'}>
        <span class="chip" data-mark={isLive ? '●' : '○'}>
          {isLive ? 'as it happens' : 'looking every few seconds'}
        </span>
        <Export query={query} />
        <button type="button" class="primary" onClick={() => ask({ compose: 'yes' })}>
          New message
        </button>
      </Head>
      <Filters search={q} onSearch={(text) => ask({ q: text })} placeholder="Search subject and addresses">
        <Choice name="Status" value={status ?? ''} options={STATUSES} onChange={(value) => ask({ status: value })} />
        <Choice name="Time" value={since ?? ''} options={TIMES} onChange={(value) => ask({ since: value })} />
        <details class="more" open={Boolean(to || from || tag)}>
          <summary>More filters</summary>
          <div class="row">
            <Narrow name="To" value={to} onGive={(value) => ask({ to: value })} />
            <Narrow name="From" value={from} onGive={(value) => ask({ from: value })} />
            <Narrow name="Tag" value={tag} onGive={(value) => ask({ tag: value })} />
          </div>
        </details>
        {isFiltered && (
          <button type="button" class="plain" onClick={() => ask(NOTHING)}>
            Clear
          </button>
        )}
      </Filters>
      <Table
        name="Messages"
        columns={COLUMNS}
        loaded={pages}
        keyOf={({ id }) => id}
        link={({ id }) => href(`/messages/${id}`)}
        whenEmpty={isFiltered || pages.hasNewer ? <Empty name="Nothing fits these filters" /> : <NothingSent />}
      />
      <Pager pages={pages} />
      {compose && <NewMessage onClose={() => ask({ compose: '' })} />}
    </>
  )
}

const NOTHING = { q: '', status: '', to: '', from: '', tag: '', since: '' }
const STATUSES = [
  ['', 'Any status'],
  ...['delivered', 'queued', 'deferred', 'bounced', 'scheduled', 'suppressed', 'partial', 'cancelled'].map(
    (word) => [word, word.charAt(0).toUpperCase() + word.slice(1)] as const,
  ),
] as const
const HOUR_MS = 3_600_000
const TIMES = [
  ['', 'Any time'],
  ['1', 'Last hour'],
  ['24', 'Last 24 hours'],
  ['168', 'Last 7 days'],
  ['720', 'Last 30 days'],
] as const

/** To the minute, so that a list that is asked for again is the same list. */
function sinceOf(hours: string | undefined): string | undefined {
  if (!TIMES.some(([id]) => id !== '' && id === hours)) return undefined
  const minute = Math.floor((Date.now() - Number(hours) * HOUR_MS) / 60_000) * 60_000
  return new Date(minute).toISOString()
}

const COLUMNS: Column<Json>[] = [
  {
    name: 'Subject',
    isWhole: true,
    show: ({ id, subject }) => <a href={href(`/messages/${id}`)}>{subject || '(no subject)'}</a>,
  },
  { name: 'To', show: ({ recipients }) => recipientsOf(recipients) },
  { name: 'Status', show: ({ status }) => <Chip word={status} /> },
  { name: 'From', show: ({ from }) => <span class="muted small">{authorOf(from)}</span> },
  {
    name: 'Sent',
    show: ({ created_at }) => (
      <time class="muted small num" dateTime={created_at} title={created_at}>
        {when(created_at)}
      </time>
    ),
  },
]

function recipientsOf(recipients: Json[]) {
  const [first, ...others] = recipients
  return (
    <>
      {first?.email}
      {others.length > 0 && <span class="muted"> and {others.length} more</span>}
    </>
  )
}

/** Asks again soon after something happened, however much did. Answers whether that is heard at once. */
function useSoon(reload: () => void, about: string): boolean {
  const timer = useRef(0)
  useEffect(() => () => window.clearTimeout(timer.current), [])
  return useEvents({ mode: about }, () => {
    window.clearTimeout(timer.current)
    timer.current = window.setTimeout(reload, 250)
  })
}

function Narrow({
  name,
  value = '',
  onGive,
}: {
  name: string
  value: string | undefined
  onGive: (value: string) => void
}) {
  return (
    <input
      key={value}
      aria-label={name}
      placeholder={name}
      size={18}
      defaultValue={value}
      onChange={(event) => onGive(event.currentTarget.value.trim())}
    />
  )
}

/** All that fits the filters, as far as ten thousand. */
function Export({ query }: { query: Record<string, string | undefined> }) {
  const [isBusy, setBusy] = useState(false)
  const take = async (format: 'csv' | 'json') => {
    setBusy(true)
    try {
      const all = await everything({ ...query, limit: '100' })
      const name = `messages-${new Date().toISOString().slice(0, 10)}.${format}`
      if (format === 'json') save(name, 'application/json', JSON.stringify(all, null, 2))
      else save(name, 'text/csv', csvOf(all))
      toast(`${all.length} messages saved${all.length >= MOST ? '; there are more: narrow the filters' : ''}`)
    } catch (thrown) {
      toastError(thrown)
    }
    setBusy(false)
  }
  return (
    <>
      <button type="button" disabled={isBusy} onClick={() => take('csv')}>
        Save as CSV
      </button>
      <button type="button" disabled={isBusy} onClick={() => take('json')}>
        JSON
      </button>
    </>
  )
}

const MOST = 10_000

async function everything(query: Record<string, string | undefined>): Promise<Json[]> {
  const all: Json[] = []
  for (let cursor: string | undefined; ; ) {
    const page: Paged = await get<Paged>('/v1/messages', { ...query, cursor })
    all.push(...page.data)
    if (page.next_cursor === null || all.length >= MOST) return all
    cursor = page.next_cursor
  }
}

const CSV = [
  'id',
  'created_at',
  'status',
  'mode',
  'from',
  'recipient',
  'type',
  'recipient_status',
  'subject',
  'tags',
] as const

/** A line a recipient (RFC 4180). What a spreadsheet would take for a formula is text. */
function csvOf(messages: Json[]): string {
  const lines = messages.flatMap((message) =>
    message.recipients.map(({ email, type, status }: Json) => {
      const line = { ...message, tags: message.tags.join(' '), recipient: email, type, recipient_status: status }
      return CSV.map((name) => cell(String(line[name] ?? ''))).join(',')
    }),
  )
  return [CSV.join(','), ...lines, ''].join('\r\n')
}

function cell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

function NothingSent() {
  return (
    <Empty name="Nothing was sent yet">
      <p>Write one here, or have a program of yours hand one in with a key of this organization.</p>
    </Empty>
  )
}
