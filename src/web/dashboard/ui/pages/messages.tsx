import { useEffect, useState } from 'preact/hooks'
import type { Json } from '../kit/api.ts'
import { authorOf } from '../kit/format.ts'
import { useEvents } from '../kit/live.ts'
import { usePages } from '../kit/load.ts'
import { CopyButton, Empty, Head, Time } from '../kit/pieces.tsx'
import { may } from '../kit/rights.ts'
import { amendQuery, href, place } from '../kit/router.ts'
import { mode } from '../kit/state.ts'
import { Chip } from '../kit/status.tsx'
import { type Column, Pager, Table } from '../kit/table.tsx'
import { outcomeOf } from './message-outcome.ts'
import { Export } from './messages/export.tsx'
import { apiQueryOf, isFiltered, MessageFilters } from './messages/filters.tsx'
import { BULK, RowMenu, recipientsOf } from './messages/row-actions.tsx'
import { NewMessage } from './new-message.tsx'

/** All messages: search, filters, live updates, and export as CSV or JSON. The URL contains the filters, so users can
 *  share a filtered list. */
export default function Messages() {
  const given = place.value.query
  const query = { ...apiQueryOf(given), mode: mode.value, limit: '50' }
  const pages = usePages('/v1/messages', query, { everyMs: 5_000 })
  const isLive = useEvents({ mode: mode.value }, pages.reload)
  const isLost = useOffline() || pages.error?.status === 0
  return (
    <>
      <Head
        name="Messages"
        about={
          <span class="row">
            {mode.value === 'test' && 'Test messages are never delivered.'}
            <span class={`chip ${isLive && !isLost ? 'good' : ''}`} data-mark={isLive && !isLost ? '●' : '○'}>
              {isLost ? 'Reconnecting…' : isLive ? 'Updating live' : 'Updating…'}
            </span>
          </span>
        }
      >
        <Export query={query} />
        {may('messages_send') && (
          <button type="button" class="primary" onClick={() => amendQuery({ compose: 'yes' })}>
            New message
          </button>
        )}
      </Head>
      <MessageFilters />
      <Table
        name="Messages"
        columns={columnsOf(pages.data ?? [])}
        loaded={pages}
        keyOf={({ id }) => id}
        link={({ id }) => href(`/messages/${id}`)}
        {...(may('messages_resend') ? { bulk: BULK } : {})}
        whenEmpty={isFiltered(given) || pages.hasNewer ? <Empty name="No messages match" /> : <NoMessages />}
      />
      <Pager pages={pages} />
      {given.compose && may('messages_send') && <NewMessage onClose={() => amendQuery({ compose: '' })} />}
    </>
  )
}

/** Without the sender if all rows have the same one. */
function columnsOf(rows: Json[]): Column<Json>[] {
  const isOneSender = new Set(rows.map(({ from }) => from)).size < 2
  return COLUMNS.filter(({ name }) => name !== 'From' || !isOneSender)
}

const COLUMNS: Column<Json>[] = [
  {
    name: 'To',
    width: '22%',
    phone: 'top-left',
    show: ({ recipients }) => <bdi>{recipientsOf(recipients)}</bdi>,
  },
  {
    name: 'Status',
    width: '28%',
    phone: 'last',
    show: (message) => (
      <span class="row status">
        <Chip word={message.status} />
        <span class="muted ellipsis">{whyOf(message)}</span>
      </span>
    ),
  },
  {
    name: 'Subject',
    phone: 'sub',
    show: ({ id, subject }) => (
      <a class="ellipsis" href={href(`/messages/${id}`)} dir="auto">
        {subject || '(no subject)'}
      </a>
    ),
  },
  {
    name: 'From',
    width: '12%',
    isExtra: true,
    show: ({ from }) => <bdi class="muted">{authorOf(from)}</bdi>,
  },
  { name: 'Sent', width: '124px', phone: 'end', isNumber: true, show: ({ created_at }) => <Time at={created_at} /> },
  { name: '', width: '52px', show: (message) => <RowMenu message={message} /> },
]

/** Why a message has its status: of the first recipient that did not get it. Of one that was delivered, whether it was
 *  opened or clicked. */
function whyOf(message: Json): string {
  const { recipients, status } = message
  const trouble = recipients.find((each: Json) => ['bounced', 'deferred', 'scheduled'].includes(each.status))
  if (trouble !== undefined) return outcomeOf(trouble, message)
  if (status !== 'delivered') return ''
  if (recipients.some(({ clicks }: Json) => clicks > 0)) return 'Clicked'
  return recipients.some(({ opens }: Json) => opens > 0) ? 'Opened' : ''
}

/** Whether the browser has no network. */
function useOffline(): boolean {
  const [isOffline, setOffline] = useState(!navigator.onLine)
  useEffect(() => {
    const note = () => setOffline(!navigator.onLine)
    const ended = new AbortController()
    for (const event of ['online', 'offline']) window.addEventListener(event, note, { signal: ended.signal })
    return () => ended.abort()
  }, [])
  return isOffline
}

function NoMessages() {
  const call = `curl ${window.location.origin}/v1/messages/send -H "authorization: Bearer $POSTRIDER_KEY" \\
  -H "content-type: application/json" \\
  -d '{"from": "hello@your-domain", "to": "you@example.com", "subject": "Hello", "text": "It works"}'`
  return (
    <Empty name="No messages yet">
      <p>
        Send one here, or from your app with an <a href={href('/api-keys')}>API key</a>:
      </p>
      <pre>{call}</pre>
      <CopyButton text={call} label="command" />
    </Empty>
  )
}
