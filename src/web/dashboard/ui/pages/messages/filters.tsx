import { useState } from 'preact/hooks'
import { Dialog } from '../../kit/dialog.tsx'
import { Field, Form } from '../../kit/form.tsx'
import { Icon } from '../../kit/icon.tsx'
import { Choice, FilterChips, Filters } from '../../kit/pieces.tsx'
import { go, place, setQuery, setSearch } from '../../kit/router.ts'

const NAMES = ['q', 'status', 'since', 'after', 'before', 'to', 'from', 'tag', 'stream'] as const
const STATUSES = [
  ['', 'Any status'],
  ...['delivered', 'queued', 'deferred', 'bounced', 'scheduled', 'suppressed', 'partial', 'cancelled'].map(
    (word) => [word, word.charAt(0).toUpperCase() + word.slice(1)] as const,
  ),
] as const
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const TIMES = [
  ['', 'Any time'],
  ['1', 'Last hour'],
  ['24', 'Last 24 hours'],
  ['168', 'Last 7 days'],
  ['720', 'Last 30 days'],
] as const

/** Query of the page → query of `GET /v1/messages`, without mode and limit. */
export function apiQueryOf({ q, status, to, from, tag, stream, since, after, before }: Record<string, string>) {
  const created_after = sinceOf(since) ?? dayOf(after, 0)
  return { q, status, to, from, tag, stream, created_after, created_before: dayOf(before, DAY_MS) }
}

/** Whether the page's query has a filter. */
export const isFiltered = (query: Record<string, string>) => NAMES.some((name) => Boolean(query[name]))

/** Hours before now → ISO 8601, rounded down to the minute, so that a refresh requests the same list. */
function sinceOf(hours: string | undefined): string | undefined {
  if (!TIMES.some(([id]) => id !== '' && id === hours)) return undefined
  const minute = Math.floor((Date.now() - Number(hours) * HOUR_MS) / 60_000) * 60_000
  return new Date(minute).toISOString()
}

/** `2026-11-21` → ISO 8601 of its start in the browser's time zone, moved by `plusMs`; undefined for other text. */
function dayOf(day: string | undefined, plusMs: number): string | undefined {
  if (day === undefined || !/^\d{4}-\d\d-\d\d$/.test(day)) return undefined
  const at = Date.parse(`${day}T00:00:00`)
  return Number.isNaN(at) ? undefined : new Date(at + plusMs).toISOString()
}

/** Search field, status, time, further filters, and a chip for each active one. A message ID opens its message. */
export function MessageFilters() {
  const { query } = place.value
  const [isAdding, setAdding] = useState(false)
  const search = (text: string) => (/^msg_[0-9a-z]{26}$/.test(text) ? go(`/messages/${text}`) : setSearch({ q: text }))
  return (
    <>
      <Filters search={query.q} onSearch={search} placeholder="Search subject, address or msg_…">
        <Choice
          name="Status"
          value={query.status ?? ''}
          options={STATUSES}
          onChange={(value) => setQuery({ status: value })}
        />
        <Choice
          name="Time"
          value={query.since ?? ''}
          options={TIMES}
          onChange={(value) => setQuery({ since: value, after: '', before: '' })}
        />
        <button type="button" onClick={() => setAdding(true)}>
          <Icon name="plus" />
          Filter
        </button>
      </Filters>
      <FilterChips
        filters={chipsOf(query)}
        onRemove={(ids) => setQuery(Object.fromEntries(ids.map((id) => [id, ''])))}
      />
      {isAdding && <MoreFilters onClose={() => setAdding(false)} />}
    </>
  )
}

const LABELS: Record<string, string> = { q: 'Search', status: 'Status', after: 'From', before: 'Until' }

function chipsOf(query: Record<string, string>): (readonly [string, string])[] {
  return NAMES.filter((name) => Boolean(query[name])).map((name) => {
    const value = query[name] ?? ''
    if (name === 'since') return [name, TIMES.find(([id]) => id === value)?.[1] ?? value]
    const label = LABELS[name] ?? { to: 'To', from: 'Sender', tag: 'Tag', stream: 'Stream' }[name as string]
    return [name, `${label}: ${value}`]
  })
}

function MoreFilters({ onClose }: { onClose: () => void }) {
  const { query } = place.value
  const fields: [name: string, label: string, type: 'text' | 'date'][] = [
    ['to', 'To', 'text'],
    ['from', 'From', 'text'],
    ['tag', 'Tag', 'text'],
    ['stream', 'Stream', 'text'],
    ['after', 'First day', 'date'],
    ['before', 'Last day', 'date'],
  ]
  return (
    <Dialog name="Filter messages" onClose={onClose}>
      <Form
        action="Apply"
        onCancel={onClose}
        onSubmit={async (values) => {
          const change = Object.fromEntries(fields.map(([name]) => [name, values[name]?.trim() ?? '']))
          setQuery(change.after || change.before ? { ...change, since: '' } : change)
        }}
        onDone={onClose}
      >
        {fields.map(([name, label, type]) => (
          <Field key={name} name={name} label={label}>
            {(control) =>
              type === 'date' ? (
                <input {...control} type="date" defaultValue={query[name] ?? ''} />
              ) : (
                <input {...control} type="text" defaultValue={query[name] ?? ''} autocomplete="off" />
              )
            }
          </Field>
        ))}
      </Form>
    </Dialog>
  )
}
