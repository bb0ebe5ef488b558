import { useEffect, useRef } from 'preact/hooks'
import type { Json } from '../kit/api.ts'
import { authorOf } from '../kit/format.ts'
import { useEvents } from '../kit/live.ts'
import { usePages } from '../kit/load.ts'
import { CopyButton, Empty, Head, Time } from '../kit/pieces.tsx'
import { may } from '../kit/rights.ts'
import { href, place, setQuery } from '../kit/router.ts'
import { mode } from '../kit/state.ts'
import { Chip } from '../kit/status.tsx'
import { type Column, Pager, Table } from '../kit/table.tsx'
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
  const isLive = useLiveReload(pages.reload, mode.value)
  return (
    <>
      <Head
        name="Messages"
        about={
          <span class="row">
            {mode.value === 'live' ? 'Live messages' : 'Test messages are never delivered.'}
            <span class={`chip ${isLive ? 'good' : ''}`} data-mark={isLive ? '●' : '○'}>
              {isLive ? 'Live' : 'Refreshing every 5 s'}
            </span>
          </span>
        }
      >
        <Export query={query} />
        {may('messages_send') && (
          <button type="button" class="primary" onClick={() => setQuery({ compose: 'yes' })}>
            New message
          </button>
        )}
      </Head>
      <MessageFilters />
      <Table
        name="Messages"
        columns={COLUMNS}
        loaded={pages}
        keyOf={({ id }) => id}
        link={({ id }) => href(`/messages/${id}`)}
        {...(may('messages_resend') ? { bulk: BULK } : {})}
        whenEmpty={isFiltered(given) || pages.hasNewer ? <Empty name="No messages match" /> : <NoMessages />}
      />
      <Pager pages={pages} />
      {given.compose && may('messages_send') && <NewMessage onClose={() => setQuery({ compose: '' })} />}
    </>
  )
}

const COLUMNS: Column<Json>[] = [
  {
    name: 'To',
    width: '28%',
    phone: 'top-left',
    show: ({ recipients }) => recipientsOf(recipients),
  },
  { name: 'Status', width: '124px', phone: 'last', show: ({ status }) => <Chip word={status} /> },
  {
    name: 'Subject',
    phone: 'sub',
    show: ({ id, subject }) => <a href={href(`/messages/${id}`)}>{subject || '(no subject)'}</a>,
  },
  { name: 'From', width: '14%', isExtra: true, show: ({ from }) => <span class="muted">{authorOf(from)}</span> },
  { name: 'Sent', width: '104px', phone: 'end', isNumber: true, show: ({ created_at }) => <Time at={created_at} /> },
  { name: '', width: '52px', show: (message) => <RowMenu message={message} /> },
]

/** Reloads 250 ms after the last event. Returns whether the event stream is connected. */
function useLiveReload(reload: () => void, mode: string): boolean {
  const timer = useRef(0)
  useEffect(() => () => window.clearTimeout(timer.current), [])
  return useEvents({ mode }, () => {
    window.clearTimeout(timer.current)
    timer.current = window.setTimeout(reload, 250)
  })
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
