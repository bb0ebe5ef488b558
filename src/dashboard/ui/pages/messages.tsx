import { useEffect, useRef, useState } from 'preact/hooks'
import { get, type Json, type Paged, save } from '../kit/api.ts'
import { authorOf, number, when } from '../kit/format.ts'
import { useEvents } from '../kit/live.ts'
import { usePages } from '../kit/load.ts'
import { Choice, Empty, Filters, Head } from '../kit/pieces.tsx'
import { href, place, setQuery } from '../kit/router.ts'
import { mode } from '../kit/state.ts'
import { Chip } from '../kit/status.tsx'
import { type Column, Pager, Table } from '../kit/table.tsx'
import { toast, toastError } from '../kit/toast.tsx'
import { NewMessage } from './new-message.tsx'

/** All messages: search, filters, live updates, and export as CSV or JSON. The URL contains the filters, so users can
 *  share a filtered list. */
export default function Messages() {
  const { q, status, to, from, tag, since, compose } = place.value.query
  const query = { q, status, to, from, tag, created_after: sinceOf(since), mode: mode.value, limit: '50' }
  const pages = usePages('/v1/messages', query, { everyMs: 5_000 })
  const isLive = useLiveReload(pages.reload, mode.value)
  const isFiltered = [q, status, to, from, tag, since].some(Boolean)
  return (
    <>
      <Head name="Messages" about={mode.value === 'live' ? 'Live messages' : 'Test messages are never delivered.'}>
        <span class="chip" data-mark={isLive ? '●' : '○'}>
          {isLive ? 'Live' : 'Refreshing every 5 s'}
        </span>
        <Export query={query} />
        <button type="button" class="primary" onClick={() => setQuery({ compose: 'yes' })}>
          New message
        </button>
      </Head>
      <Filters search={q} onSearch={(text) => setQuery({ q: text })} placeholder="Search subject and addresses">
        <Choice
          name="Status"
          value={status ?? ''}
          options={STATUSES}
          onChange={(value) => setQuery({ status: value })}
        />
        <Choice name="Time" value={since ?? ''} options={TIMES} onChange={(value) => setQuery({ since: value })} />
        <details class="more" open={Boolean(to || from || tag)}>
          <summary>More filters</summary>
          <div class="row">
            <TextFilter name="To" value={to} onChange={(value) => setQuery({ to: value })} />
            <TextFilter name="From" value={from} onChange={(value) => setQuery({ from: value })} />
            <TextFilter name="Tag" value={tag} onChange={(value) => setQuery({ tag: value })} />
          </div>
        </details>
        {isFiltered && (
          <button type="button" class="plain" onClick={() => setQuery(NO_FILTERS)}>
            Clear filters
          </button>
        )}
      </Filters>
      <Table
        name="Messages"
        columns={COLUMNS}
        loaded={pages}
        keyOf={({ id }) => id}
        link={({ id }) => href(`/messages/${id}`)}
        whenEmpty={isFiltered || pages.hasNewer ? <Empty name="No messages match" /> : <NoMessages />}
      />
      <Pager pages={pages} />
      {compose && <NewMessage onClose={() => setQuery({ compose: '' })} />}
    </>
  )
}

const NO_FILTERS = { q: '', status: '', to: '', from: '', tag: '', since: '' }
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

/** Hours before now → ISO 8601, rounded down to the minute, so that a refresh requests the same list. */
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

/** Reloads 250 ms after the last event. Returns whether the event stream is connected. */
function useLiveReload(reload: () => void, mode: string): boolean {
  const timer = useRef(0)
  useEffect(() => () => window.clearTimeout(timer.current), [])
  return useEvents({ mode }, () => {
    window.clearTimeout(timer.current)
    timer.current = window.setTimeout(reload, 250)
  })
}

function TextFilter({
  name,
  value = '',
  onChange,
}: {
  name: string
  value: string | undefined
  onChange: (value: string) => void
}) {
  return (
    <input
      key={value}
      aria-label={name}
      placeholder={name}
      size={18}
      defaultValue={value}
      onChange={(event) => onChange(event.currentTarget.value.trim())}
    />
  )
}

/** Exports the messages that match the filters, at most 10,000. */
function Export({ query }: { query: Record<string, string | undefined> }) {
  const [isBusy, setBusy] = useState(false)
  const exportAs = async (format: 'csv' | 'json') => {
    setBusy(true)
    try {
      const all = await loadAll({ ...query, limit: '100' })
      const name = `messages-${new Date().toISOString().slice(0, 10)}.${format}`
      if (format === 'json') save(name, 'application/json', JSON.stringify(all, null, 2))
      else save(name, 'text/csv', csvOf(all))
      toast(
        `${number(all.length)} ${all.length === 1 ? 'message' : 'messages'} exported${all.length >= MAX_EXPORTED ? '. This is the limit: narrow the filters to export the rest.' : ''}`,
      )
    } catch (thrown) {
      toastError(thrown)
    }
    setBusy(false)
  }
  return (
    <>
      <button type="button" disabled={isBusy} onClick={() => exportAs('csv')}>
        Export CSV
      </button>
      <button type="button" disabled={isBusy} onClick={() => exportAs('json')}>
        Export JSON
      </button>
    </>
  )
}

const MAX_EXPORTED = 10_000

async function loadAll(query: Record<string, string | undefined>): Promise<Json[]> {
  const all: Json[] = []
  for (let cursor: string | undefined; ; ) {
    const page: Paged = await get<Paged>('/v1/messages', { ...query, cursor })
    all.push(...page.data)
    if (page.next_cursor === null || all.length >= MAX_EXPORTED) return all
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

/** One line per recipient (RFC 4180). A leading apostrophe keeps spreadsheets from running a value as a formula. */
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

function NoMessages() {
  return (
    <Empty name="No messages yet">
      <p>Compose one here, or send one from your app with an API key of this organization.</p>
    </Empty>
  )
}
